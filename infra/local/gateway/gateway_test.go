package gateway

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// toy is the service behind the gateway under test.
type toy struct {
	function string
	event    events.APIGatewayProxyRequest
	response string
	err      error
	delay    time.Duration
}

func (f *toy) invoke(ctx context.Context, function string, event []byte) ([]byte, error) {
	f.function = function
	if err := json.Unmarshal(event, &f.event); err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(f.delay):
	}
	if f.response == "" && f.err == nil {
		return []byte(`{"statusCode":200,"body":"{}"}`), nil
	}
	return []byte(f.response), f.err
}

func known(_ context.Context, apiKey string) (bool, error) {
	if apiKey == "unknowable" {
		return false, errors.New("the store is down")
	}
	return apiKey == "good", nil
}

func serve(t *testing.T, g Gateway) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if g.Known == nil {
		g.Known = known
	}
	g.Console = log.New(io.Discard, "", 0)
	ctx, cancel := context.WithCancel(t.Context())
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

// send writes a raw request and reads the response, keeping the spelling of its header.
func send(t *testing.T, address, raw string) (status int, header map[string][]string, body string) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(5 * time.Minute))
	go func() { _, _ = io.WriteString(c, raw) }()
	r := bufio.NewReader(c)
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("%.80q: %v", raw, err)
	}
	if _, err := fmt.Sscanf(line, "HTTP/1.1 %d", &status); err != nil {
		t.Fatalf("status line %q: %v", line, err)
	}
	header = map[string][]string{}
	length := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		name, value, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			break
		}
		header[name] = append(header[name], value)
		if name == "Content-Length" {
			_, _ = fmt.Sscan(value, &length)
		}
	}
	if strings.HasPrefix(raw, "HEAD ") {
		length = 0
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	return status, header, string(b)
}

func get(target, key string) string {
	raw := "GET " + target + " HTTP/1.1\r\nHost: localhost:3000\r\n"
	if key != "" {
		raw += "x-api-key: " + key + "\r\n"
	}
	return raw + "\r\n"
}

// checkProblem checks an error response of the gateway against the contract.
func checkProblem(t *testing.T, status int, header map[string][]string, body, origin, code, instance string) {
	t.Helper()
	var problem map[string]any
	if err := json.Unmarshal([]byte(body), &problem); err != nil {
		t.Fatalf("body %q: %v", body, err)
	}
	id := header["X-Request-Id"]
	if len(id) != 1 || len(id[0]) != 36 {
		t.Errorf("request id: %v", id)
		return
	}
	want := map[string]any{
		"type": api.ProblemType(origin, catalog.Code(code)), "title": problem["title"], "detail": problem["detail"],
		"status": float64(status), "code": code, "instance": instance, "requestId": id[0],
	}
	if diff := cmp.Diff(want, problem); diff != "" {
		t.Errorf("problem: %s", diff)
	}
	if problem["title"] == "" || problem["detail"] == "" {
		t.Errorf("silent problem: %s", body)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/problem+json", "X-RateLimit-Limit": "0", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0", "X-RateLimit-Cost": "0",
	} {
		if got := header[name]; len(got) != 1 || got[0] != value {
			t.Errorf("%s: %v, want %s", name, got, value)
		}
	}
	if retry := header["Retry-After"]; (status == 429 || status == 503) != (len(retry) == 1) {
		t.Errorf("Retry-After with %d: %v", status, retry)
	}
}

func TestOwnAnswers(t *testing.T) {
	f := &toy{}
	address := serve(t, Gateway{Invoke: f.invoke})
	for name, c := range map[string]struct {
		raw            string
		status         int
		code, instance string
	}{
		"no key":                    {get("/v1/courses?limit=1", ""), 401, "unauthorized", "/v1/courses"},
		"unknown key":               {get("/v1/courses", "bad"), 401, "unauthorized", "/v1/courses"},
		"no key, unknown path":      {get("/v1/nothing", ""), 401, "unauthorized", "/v1/nothing"},
		"no key, outside the stage": {get("/", ""), 401, "unauthorized", "/"},
		"no key, bad path":          {get("/v1/courses/a%zz", ""), 401, "unauthorized", "/v1/courses/a%zz"},
		"unknown key, bad path":     {get("/v1/courses/a%zz", "bad"), 401, "unauthorized", "/v1/courses/a%zz"},
		"outside the stage":         {get("/", "good"), 404, "not_found", "/"},
		"no stage":                  {get("/v1courses", "good"), 404, "not_found", "/v1courses"},
		"another stage":             {get("/v2/courses", "good"), 404, "not_found", "/v2/courses"},
		"bad path":                  {get("/v1/courses/a%zz", "good"), 400, "invalid_parameter", "/v1/courses/a%zz"},
		"bad path with a query":     {get("/v1/courses/%2?x=1", "good"), 400, "invalid_parameter", "/v1/courses/%2"},
		"bad query":                 {get("/v1/courses?limit=%zz", "good"), 400, "invalid_parameter", "/v1/courses"},
		"no host":                   {"GET /v1/courses HTTP/1.1\r\nX-API-Key: good\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"bad header name":           {"GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nb@d: 1\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"header garbage":            {"GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\n: \x00\xff\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"a host in brackets":        {"GET /v1/courses HTTP/1.1\r\nX-API-Key: good\r\nhost: [\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"a host that no URL takes":  {"GET /v1/courses HTTP/1.1\r\nX-API-Key: good\r\nhost: a%zz\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"a host of two words":       {"GET /v1/courses/%zz HTTP/1.1\r\nX-API-Key: good\r\nhost: a b\r\n\r\n", 400, "invalid_parameter", "/v1/courses/%zz"},
		"no HTTP at all":            {"\x16\x03\x01\x02\x00garbage\r\n\r\n", 401, "unauthorized", "/"},
		"too large a head":          {"GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nA: " + strings.Repeat("x", 20000) + "\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"unknown transfer encoding": {"POST /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nTransfer-Encoding: sieve\r\n\r\n", 400, "invalid_parameter", "/v1/courses"},
		"options of nothing":        {"OPTIONS * HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\n\r\n", 404, "not_found", "*"},
		"no key, POST":              {strings.Replace(get("/v1/openapi.json", ""), "GET", "POST", 1), 401, "unauthorized", "/v1/openapi.json"},
		"method in small letters":   {strings.Replace(get("/v1/courses", "good"), "GET", "get", 1), 400, "invalid_parameter", "/v1/courses"},
		"method of both sizes":      {strings.Replace(get("/v1/nothing", "good"), "GET", "Post", 1), 400, "invalid_parameter", "/v1/nothing"},
		"no key, small letters":     {strings.Replace(get("/v1/courses", ""), "GET", "get", 1), 401, "unauthorized", "/v1/courses"},
		"large body":                {"POST /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nContent-Length: 10485761\r\n\r\n" + strings.Repeat("x", 10485761), 413, "payload_too_large", "/v1/courses"},
		"large body without a key":  {"POST /v1/courses HTTP/1.1\r\nHost: x\r\nContent-Length: 10485761\r\n\r\n" + strings.Repeat("x", 10485761), 401, "unauthorized", "/v1/courses"},
		"empty key":                 {"GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key:\r\n\r\n", 401, "unauthorized", "/v1/courses"},
	} {
		t.Run(name, func(t *testing.T) {
			f.function = ""
			status, header, body := send(t, address, c.raw)
			if status != c.status {
				t.Fatalf("status %d, want %d; %s", status, c.status, body)
			}
			origin := ""
			if host := regexp.MustCompile(`\r\nHost: (.+)\r\n`).FindStringSubmatch(c.raw); host != nil {
				origin = "http://" + host[1]
			}
			checkProblem(t, status, header, body, origin, c.code, c.instance)
			if f.function != "" {
				t.Errorf("function %s was asked", f.function)
			}
		})
	}
}

func TestRouting(t *testing.T) {
	f := &toy{}
	address := serve(t, Gateway{Invoke: f.invoke})
	for _, c := range []struct {
		method, target, key          string
		function, resource, pathname string
		parameters                   map[string]string
	}{
		{"GET", "/v1/courses?limit=1", "good", "courses", "/courses", "/courses", nil},
		{"GET", "/v1/courses/a%20b", "good", "courses", "/courses/{courseId}", "/courses/a%20b", map[string]string{"courseId": "a b"}},
		{"PUT", "/v1/courses/c", "good", "courses", "/courses/{courseId}", "/courses/c", map[string]string{"courseId": "c"}},
		{"HEAD", "/v1/jobs", "good", "jobs", "/jobs", "/jobs", nil},
		{"OPTIONS", "/v1/jobs", "good", "jobs", "/jobs", "/jobs", nil},
		{"GET", "/v1/openapi.json", "", "customers", "/openapi.json", "/openapi.json", nil},
		{"GET", "/v1//courses", "good", "customers", "/{proxy+}", "//courses", map[string]string{"proxy": "/courses"}},
		{"GET", "/v1/courses/", "good", "customers", "/{proxy+}", "/courses/", map[string]string{"proxy": "courses/"}},
		{"GET", "/v1", "good", "docs", "/", "/", nil},
		{"GET", "/v1/", "good", "docs", "/", "/", nil},
		{"GET", "/v1/courses/../jobs", "good", "customers", "/{proxy+}", "/courses/../jobs", map[string]string{"proxy": "courses/../jobs"}},
		{"GET", "/v1/courses", "unknowable", "courses", "/courses", "/courses", nil},
		{"GET", "http://elsewhere/v1/courses", "good", "courses", "/courses", "/courses", nil},
	} {
		t.Run(c.method+" "+c.target, func(t *testing.T) {
			f.function, f.event = "", events.APIGatewayProxyRequest{}
			raw := strings.Replace(get(c.target, c.key), "GET", c.method, 1)
			if status, _, body := send(t, address, raw); status != 200 {
				t.Fatalf("status %d: %s", status, body)
			}
			got := []any{f.function, f.event.HTTPMethod, f.event.Resource, f.event.Path, f.event.PathParameters}
			want := []any{c.function, c.method, c.resource, c.pathname, c.parameters}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvent(t *testing.T) {
	f := &toy{}
	address := serve(t, Gateway{Invoke: f.invoke})
	_, header, _ := send(t, address, "POST /v1/courses?a=1&a=2&b=%26+%3B;c&d HTTP/1.1\r\nHost: localhost:3000\r\nX-API-Key: good\r\n"+
		"Accept: text/html\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: 9\r\nUser-Agent: test\r\n\r\n{\"ü\":1}\n")
	e := f.event
	if e.Body != "{\"ü\":1}\n" || e.IsBase64Encoded {
		t.Errorf("body %q, base64 %t", e.Body, e.IsBase64Encoded)
	}
	if diff := cmp.Diff(map[string][]string{"a": {"1", "2"}, "b": {"& ;;c"}, "d": {""}}, e.MultiValueQueryStringParameters); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "2", "b": "& ;;c", "d": ""}, e.QueryStringParameters); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"text/html", "application/json"}, e.MultiValueHeaders["Accept"]); diff != "" {
		t.Error(diff)
	}
	if e.Headers["Accept"] != "application/json" || e.Headers["Host"] != "localhost:3000" || e.Headers["X-Forwarded-For"] != "127.0.0.1" || e.Headers["X-Forwarded-Port"] != "3000" {
		t.Errorf("headers: %v", e.Headers)
	}
	c := e.RequestContext
	if c.Path != "/v1/courses" || c.Stage != "v1" || c.ResourcePath != "/courses" || c.HTTPMethod != "POST" || c.APIID == "" || len(c.RequestID) != 36 ||
		c.Identity.APIKey != "good" || c.Identity.SourceIP != "127.0.0.1" || c.Identity.UserAgent != "test" || c.RequestTimeEpoch == 0 {
		t.Errorf("request context: %+v", c)
	}
	if len(header["X-Request-Id"]) != 0 {
		t.Error("a function's response gets headers it did not give")
	}

	binary := "\x00\xff\xfe binary"
	send(t, address, fmt.Sprintf("POST /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: good\r\nContent-Length: %d\r\n\r\n%s", len(binary), binary))
	if body, err := base64.StdEncoding.DecodeString(f.event.Body); err != nil || string(body) != binary || !f.event.IsBase64Encoded {
		t.Errorf("binary body %q, base64 %t, %v", f.event.Body, f.event.IsBase64Encoded, err)
	}
}

func TestAnswersOfFunctions(t *testing.T) {
	f := &toy{}
	address := serve(t, Gateway{Invoke: f.invoke})
	t.Run("header spelling", func(t *testing.T) {
		f.response = `{"statusCode":201,"headers":{"X-RateLimit-Limit":"9","content-length":"99"},"multiValueHeaders":{"X-RateLimit-Cost":["1"],"link":["<a>","<b>"],"ETag":["\"x\""]},"body":"{\"a\":1}"}`
		status, header, body := send(t, address, get("/v1/courses", "good"))
		delete(header, "Date")
		want := map[string][]string{
			"X-RateLimit-Limit": {"9"}, "X-RateLimit-Cost": {"1"}, "link": {"<a>", "<b>"}, "ETag": {`"x"`},
			"Content-Type": {"application/json"}, "Content-Length": {"7"},
		}
		if diff := cmp.Diff(want, header); diff != "" || status != 201 || body != `{"a":1}` {
			t.Errorf("%d %s %s", status, body, diff)
		}
	})
	t.Run("binary", func(t *testing.T) {
		f.response = `{"statusCode":200,"headers":{"Content-Type":"application/pdf"},"body":"AP/+","isBase64Encoded":true}`
		_, header, body := send(t, address, get("/v1/courses", "good"))
		if body != "\x00\xff\xfe" || header["Content-Type"][0] != "application/pdf" {
			t.Errorf("%q %v", body, header)
		}
	})
	t.Run("no body", func(t *testing.T) {
		f.response = `{"statusCode":204}`
		status, header, body := send(t, address, get("/v1/courses", "good"))
		if delete(header, "Date"); status != 204 || len(header) != 0 || body != "" {
			t.Errorf("%d %v %q", status, header, body)
		}
	})
	t.Run("HEAD", func(t *testing.T) {
		f.response = `{"statusCode":405,"headers":{"Allow":"GET"},"body":"{}"}`
		status, header, _ := send(t, address, strings.Replace(get("/v1/courses", "good"), "GET", "HEAD", 1))
		if status != 405 || header["Allow"][0] != "GET" {
			t.Errorf("%d %v", status, header)
		}
	})
	for name, response := range map[string]string{
		"no JSON": "oops", "no status": `{"body":"x"}`, "odd status": `{"statusCode":42}`, "odd base64": `{"statusCode":200,"body":"%","isBase64Encoded":true}`,
	} {
		t.Run(name, func(t *testing.T) {
			f.response = response
			status, header, body := send(t, address, get("/v1/courses", "good"))
			checkProblem(t, status, header, body, "http://localhost:3000", "internal", "/v1/courses")
		})
	}
	t.Run("failed function", func(t *testing.T) {
		f.response, f.err = "", errors.New("exit status 7")
		status, header, body := send(t, address, get("/v1/courses", "good"))
		checkProblem(t, status, header, body, "http://localhost:3000", "internal", "/v1/courses")
		if strings.Contains(body, "exit") {
			t.Errorf("shows internals: %s", body)
		}
	})
}

func TestSlowFunction(t *testing.T) {
	f := &toy{delay: time.Hour}
	address := serve(t, Gateway{Invoke: f.invoke, Limit: 50 * time.Millisecond})
	status, header, body := send(t, address, get("/v1/courses", "good"))
	checkProblem(t, status, header, body, "http://localhost:3000", "unavailable", "/v1/courses")
	if status != 503 {
		t.Errorf("status %d", status)
	}
}

func TestThrottle(t *testing.T) {
	f := &toy{}
	address := serve(t, Gateway{Invoke: f.invoke, Rate: 0.001, Burst: 2})
	for range 2 {
		if status, _, body := send(t, address, get("/v1/courses", "good")); status != 200 {
			t.Fatalf("%d %s", status, body)
		}
	}
	status, header, body := send(t, address, get("/v1/courses", "good"))
	if status != 429 {
		t.Fatalf("%d %s", status, body)
	}
	checkProblem(t, status, header, body, "http://localhost:3000", "rate_limit_exceeded", "/v1/courses")
	if status, _, _ := send(t, address, get("/v1/openapi.json", "")); status != 200 {
		t.Errorf("the open document is throttled: %d", status)
	}
	if status, _, _ := send(t, address, get("/v1/courses", "bad")); status != 401 {
		t.Errorf("unknown key: %d", status)
	}
}

func TestKeysAreForgotten(t *testing.T) {
	var asked atomic.Int32
	good := true
	k := newKeys(func(context.Context, string) (bool, error) { asked.Add(1); return good, nil }, 1, 2)
	now := time.Unix(0, 0)
	admitted := func() bool {
		code, _ := k.admit(t.Context(), "key", now)
		return code == ""
	}
	for range 2 {
		if !admitted() {
			t.Error("a good key is refused")
		}
	}
	if asked.Load() != 1 {
		t.Errorf("a good key is asked for %d times at once", asked.Load())
	}
	if admitted() {
		t.Error("no throttle")
	}
	now = now.Add(time.Second)
	if got := []bool{admitted(), admitted()}; !got[0] || got[1] {
		t.Errorf("a second after that, of two calls are admitted: %v", got)
	}
	good = false
	now = now.Add(keyMemory)
	if admitted() {
		t.Error("a revoked key works on")
	}
	good = true
	if !admitted() {
		t.Error("a new key has to wait")
	}
}

func TestConnectionIsKept(t *testing.T) {
	f := &toy{}
	address := serve(t, Gateway{Invoke: f.invoke})
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := bufio.NewReader(c)
	for _, key := range []string{"good", "", "good"} {
		if _, err := io.WriteString(c, get("/v1/courses", key)); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
	}
	// Earlier requests on the connection are not taken for the malformed one.
	if _, err := io.WriteString(c, get("/v1/jobs/%zz", "good")); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(response.Body)
	if response.StatusCode != 400 || !bytes.Contains(body, []byte(`"instance":"/v1/jobs/%zz"`)) {
		t.Errorf("%d %s", response.StatusCode, body)
	}
}

func TestEveryPathHasOneFunction(t *testing.T) {
	byPath := functions()
	for _, o := range api.Operations() {
		if byPath[o.Path] != string(o.Group) {
			t.Errorf("%s %s: function %s, but group %s", o.Method, o.Path, byPath[o.Path], o.Group)
		}
	}
}

// FuzzUnparseable checks that every unparseable request gets a problem.
func FuzzUnparseable(f *testing.F) {
	for _, head := range []string{"", "GET", "GET /a%zz HTTP/1.1\r\nX-API-Key: good\r\n\r\n", "GET /\xff%z HTTP/1.1\r\n:\r\n", "\x00\r\n\r\n"} {
		f.Add([]byte(head))
	}
	s := &server{Gateway: Gateway{Line: func(string) {}}, keys: newKeys(known, 0, 0)}
	f.Fuzz(func(t *testing.T, head []byte) {
		response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(s.unparseable(head))), nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil || !json.Valid(body) {
			t.Errorf("body %q: %v", body, err)
		}
	})
}

// FuzzParseResponse checks that a function's response is either rejected or can be written.
func FuzzParseResponse(f *testing.F) {
	for _, out := range []string{`{"statusCode":200}`, `{"statusCode":204,"body":"x"}`, `{"statusCode":200,"headers":{"a\nb":"c\r\nd"},"body":"=","isBase64Encoded":true}`, `[]`, ``} {
		f.Add([]byte(out))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		a, err := parseResponse(out)
		if err == nil && (a.status < 200 || a.status > 599 || a.header == nil) {
			t.Errorf("%q: %+v", out, a)
		}
	})
}

// FuzzParseQuery checks that every name of a valid query has a value.
func FuzzParseQuery(f *testing.F) {
	for _, q := range []string{"", "a", "a=1&a=2", "%zz", "&&=&", "a=b=c;d"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		values, err := parseQuery(q)
		if err != nil {
			return
		}
		if single := last(values); len(single) != len(values) {
			t.Errorf("%q: %v, single %v", q, values, single)
		}
	})
}

// The gateway compresses the same responses as API Gateway.
func TestCompression(t *testing.T) {
	long := strings.Repeat("skills ", api.CompressFrom/7+1)
	for accept, reader := range map[string]func(io.Reader) (io.ReadCloser, error){
		"gzip":    func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
		"deflate": zlib.NewReader,
	} {
		a := response{status: 200, header: map[string][]string{"ETag": {`"t-` + accept + `"`}}, body: []byte(long)}.compressed(accept)
		if a.header["Content-Encoding"][0] != accept || a.header["ETag"] == nil || len(a.body) >= len(long) {
			t.Fatalf("%s: %v, %d bytes", accept, a.header, len(a.body))
		}
		r, err := reader(bytes.NewReader(a.body))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(r); err != nil || string(plain) != long {
			t.Errorf("%s: %v, %d bytes", accept, err, len(plain))
		}
	}
	for _, body := range []string{long, "short"} {
		a := response{status: 200, body: []byte(body)}.compressed(map[bool]string{true: "gzip", false: "br"}[body == "short"])
		if a.header["Content-Encoding"] != nil || string(a.body) != body {
			t.Errorf("%.10s is sent as %v", body, a.header)
		}
	}
}
