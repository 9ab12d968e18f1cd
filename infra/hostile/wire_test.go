package hostile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/infra/local/gateway"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// listen starts the gateway in front of the service.
func (s *service) listen(t *testing.T) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := gateway.Gateway{
		Known: func(ctx context.Context, secret string) (bool, error) {
			key, err := s.store.Key(ctx, catalog.HashSecret(secret))
			return key != nil, err
		},
		Invoke: func(ctx context.Context, _ string, event []byte) ([]byte, error) {
			var in events.APIGatewayProxyRequest
			if err := json.Unmarshal(event, &in); err != nil {
				return nil, err
			}
			out, err := s.handle(ctx, in)
			if err != nil {
				return nil, err
			}
			return json.Marshal(out)
		},
		Console: log.New(io.Discard, "", 0),
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- g.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// patience limits requests that would hang forever.
const patience = 5 * time.Minute

func dial(t *testing.T, address string) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

// responses reads all responses on a connection until it ends or is idle.
func responses(t *testing.T, c net.Conn, n int) (all []reply) {
	t.Helper()
	reader := bufio.NewReader(c)
	for len(all) < n {
		response, err := http.ReadResponse(reader, nil)
		if err != nil {
			return all
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Errorf("the response breaks off: %v", err)
		}
		_ = response.Body.Close()
		header := map[string][]string{}
		for name, values := range response.Header {
			header[name] = values
		}
		for _, name := range []string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost} {
			header[name] = response.Header.Values(name)
		}
		all = append(all, reply{response.StatusCode, header, body})
	}
	return all
}

// Requests that are malformed HTTP or too large get a response of the contract or a closed
// connection, and the service continues.
func TestWire(t *testing.T) {
	t.Parallel()
	s := newService(t)
	address := s.listen(t)
	key := api.HeaderKey + ": " + s.key + "\r\n"
	get := "GET /v1/courses HTTP/1.1\r\nHost: x\r\n" + key
	post := "POST /v1/courses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + key
	body := `{"name":"A","code":"B"}`
	length := func(n int) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n", n) }
	headers := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "X-%d: %s\r\n", i, strings.Repeat("v", 50))
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		raw  string
		want []int // 0 for hanging up
	}{
		"plain":                         {get + "\r\n", []int{200}},
		"pipelined":                     {get + "\r\n" + get + "\r\n", []int{200, 200}},
		"a thousand headers":            {get + headers(1000) + "\r\n", []int{400}},
		"a header of 64 KiB":            {get + "X-Long: " + strings.Repeat("v", 64<<10) + "\r\n\r\n", []int{400}},
		"a path of 64 KiB":              {"GET /v1/courses/" + strings.Repeat("a", 64<<10) + " HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", []int{400, 401}},
		"a body of 2 MiB":               {post + length(2<<20) + strings.Repeat("x", 2<<20), []int{413}},
		"a body of 11 MiB":              {post + length(11<<20) + strings.Repeat("x", 11<<20), []int{413}},
		"a body that is announced bad":  {post + "Content-Length: -1\r\n\r\n", []int{400}},
		"a length that is not a number": {post + "Content-Length: 1e3\r\n\r\n", []int{400}},
		"two lengths":                   {post + "Content-Length: 5\r\nContent-Length: 23\r\n\r\n" + body, []int{400}},
		"length and chunks":             {post + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get + "\r\n", []int{400, 200}}, // chunks win, so that nobody sees other borders
		"chunks that are none":          {post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", []int{0}},
		"another transfer encoding":     {post + "Transfer-Encoding: gzip, chunked\r\n\r\n", []int{400, 501}},
		"header without colon":          {get + "Nonsense\r\n\r\n", []int{400}},
		"header with NUL":               {get + "X-A: a\x00b\r\n\r\n", []int{400}},
		"header name with space":        {get + "X A: a\r\n\r\n", []int{400}},
		"folded header":                 {get + "X-A: a\r\n b\r\n\r\n", []int{200, 400}},
		"bare line feeds":               {strings.ReplaceAll(get, "\r\n", "\n") + "\n", []int{200, 400}},
		"no host":                       {"GET /v1/courses HTTP/1.1\r\n" + key + "\r\n", []int{400}},
		"two hosts":                     {get + "Host: y\r\n\r\n", []int{400}},
		"HTTP/1.0":                      {"GET /v1/courses HTTP/1.0\r\n" + key + "\r\n", []int{200}},
		"HTTP/9.9":                      {"GET /v1/courses HTTP/9.9\r\nHost: x\r\n" + key + "\r\n", []int{400, 505}},
		"HTTP/2 without asking":         {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400, 401, 505}},
		"TLS":                           {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", []int{0, 400, 401}},
		"no HTTP at all":                {"hello\r\n\r\n", []int{400, 401}},
		"a whole URL":                   {"GET http://evil.example/v1/courses HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", []int{200}},
		"CONNECT":                       {"CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", []int{404, 405, 400}},
		"OPTIONS of everything":         {"OPTIONS * HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", []int{404, 405, 400}},
		"TRACE":                         {"TRACE /v1/courses HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", []int{405}},
		"a method of its own":           {"BREW /v1/courses HTTP/1.1\r\nHost: x\r\n" + key + "\r\n", []int{405}},
		"two keys":                      {get + key + "\r\n", []int{200, 401}},
		"a key with a line break":       {"GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: a\rb\r\n\r\n", []int{400, 401}},
		"upgrade":                       {get + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", []int{200}},
		"expecting":                     {post + "Expect: 100-continue\r\n" + length(len(body)) + body, []int{100, 201}},
		"expecting too much":            {post + "Expect: miracles\r\n" + length(len(body)) + body, []int{400}},
	} {
		t.Run(name, func(t *testing.T) {
			c0 := dial(t, address)
			var sending sync.WaitGroup
			sending.Go(func() {
				_, _ = io.WriteString(c0, c.raw)
				_ = c0.CloseWrite()
			})
			got := responses(t, c0, 3)
			_ = c0.Close()
			sending.Wait()
			if len(got) == 0 {
				if c.want[0] != 0 {
					t.Errorf("no response, want %v", c.want)
				}
				return
			}
			for i, a := range got {
				ok := false
				for _, want := range c.want {
					ok = ok || a.status == want
				}
				if !ok {
					t.Errorf("response %d is %d, want one of %v: %.300s", i, a.status, c.want, a.body)
				}
				if a.status >= 400 {
					if err := problem(a); err != nil {
						t.Errorf("response %d: %v: %q %.300s", i, err, a.header, a.body)
					}
				}
			}
		})
	}
	s.call(t, 200, "GET", "/courses", "")
	if strings.Contains(s.logs.String(), "panic") {
		t.Error("a handler panicked")
	}
}

// problem describes the defect of an error response that may come from outside any operation.
func problem(a reply) error {
	var p api.Problem
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("no problem: %w", err)
	}
	if p.Status != a.status || api.Status(p.Code) != a.status || a.first("Content-Type") != api.ProblemMediaType || p.RequestID != a.first(api.HeaderRequestID) {
		return errors.New("the problem does not fit its response")
	}
	for _, name := range []string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost} {
		if len(a.header[name]) != 1 || a.header[name][0] == "" {
			return fmt.Errorf("header %s is %q", name, a.header[name])
		}
	}
	return nil
}

// Clients that send slowly, stop in the middle, or half close do not delay others, and the
// service does not wait for them forever.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	s := newService(t)
	address := s.listen(t)
	var slow []*net.TCPConn
	for i := range 300 {
		c := dial(t, address)
		beginning := "GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-A: "
		if i%2 == 1 {
			beginning = "POST /v1/courses HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nX-API-Key: " + s.key + "\r\nContent-Length: 1000\r\n\r\n{"
		}
		if _, err := io.WriteString(c, beginning); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	good := dial(t, address)
	for range 5 {
		if _, err := io.WriteString(good, "GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: "+s.key+"\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if got := responses(t, good, 1); len(got) != 1 || got[0].status != 200 {
			t.Fatalf("next to slow clients: %+v", got)
		}
	}
	// One keeps sending byte by byte, and is disconnected all the same.
	if _, err := io.Copy(io.Discard, slow[0]); err != nil && !errors.Is(err, io.EOF) {
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Error("a client that never ends its header is waited for for ever")
		}
	}
	// Half-closed connections get a response or are closed.
	for _, c := range slow[1:3] {
		_ = c.CloseWrite()
		if _, err := io.Copy(io.Discard, c); err != nil {
			var timeout net.Error
			if errors.As(err, &timeout) && timeout.Timeout() {
				t.Error("a client that half closes is waited for for ever")
			}
		}
	}
	if whole := s.call(t, 200, "GET", "/courses", "").text(t, "data"); whole != "" {
		t.Error("half a body has made a record")
	}
}

// A client that half closes after its request gets the whole response.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := dial(t, s.listen(t))
	if _, err := io.WriteString(c, "GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = c.CloseWrite()
	if got := responses(t, c, 1); len(got) != 1 || got[0].status != 200 || !json.Valid(got[0].body) {
		t.Errorf("%d responses", len(got))
	}
}

// No input of a client becomes a header of its response.
func TestHeadersCannotBeInjected(t *testing.T) {
	t.Parallel()
	s := newService(t)
	evil := "x\r\nX-Evil: 1\r\n\r\n<html>"
	escaped := strings.NewReplacer("\r", "%0d", "\n", "%0a", " ", "%20", "<", "%3c", ">", "%3e").Replace(evil)
	for _, r := range []request{
		{method: "GET", path: "/courses/" + escaped},
		{method: "GET", path: "/courses/" + evil},
		{method: "GET", path: "/" + evil},
		{method: "GET", path: "/courses", query: "limit=1&" + evil + "=" + evil},
		{method: "GET", path: "/courses", query: "limit=1&" + escaped + "=" + escaped},
		{method: "POST", path: "/courses", header: map[string][]string{"Idempotency-Key": {evil}}, body: []byte(`{"name":"A","code":"B"}`)},
		{method: "POST", path: "/courses", header: map[string][]string{"Content-Type": {evil}}, body: []byte(`{"name":"A","code":"B"}`)},
		{method: "GET", path: "/courses", header: map[string][]string{"If-None-Match": {evil}}},
		{method: "GET", path: "/reports/" + escaped, query: "format=" + escaped},
		{method: "GET", path: "/changes", query: "since=" + escaped},
	} {
		if r.header == nil {
			r.header = map[string][]string{}
		}
		r.header[api.HeaderKey] = []string{s.key}
		got, err := s.do(r)
		if err == nil {
			err = check(r, got)
		}
		if err != nil {
			t.Errorf("%v: %v", r, err)
		}
		if len(got.header["X-Evil"]) > 0 || bytes.Contains(got.body, []byte("<html>")) && got.first("Content-Type") != api.ProblemMediaType {
			t.Errorf("%v: injected: %q", r, got.header)
		}
	}
}
