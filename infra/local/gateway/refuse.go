package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/textproto"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// address matches a host with an optional port.
var address = regexp.MustCompile(`^([0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// origin returns the URL of a host, or "" if host is not valid.
func origin(host string) string {
	if !address.MatchString(host) {
		return ""
	}
	return "http://" + host
}

// refuse returns an error response in the service's format. The gateway does not know the
// customer, so the limits are 0.
func refuse(host string, code catalog.Code, detail, path, id string) response {
	problem := api.NewProblem(origin(host), code, detail, path, id)
	body, err := json.Marshal(problem)
	if err != nil {
		panic(err) // it contains only strings
	}
	a := response{status: problem.Status, body: body, header: map[string][]string{
		"Content-Type":      {api.ProblemMediaType},
		api.HeaderRequestID: {id},
		api.HeaderLimit:     {"0"},
		api.HeaderRemaining: {"0"},
		api.HeaderReset:     {"0"},
		api.HeaderCost:      {"0"},
	}}
	if code == catalog.RateLimitExceeded || code == catalog.Unavailable {
		a.header["Retry-After"] = []string{"1"}
	}
	return a
}

// refusals is a listener whose connections replace the response that net/http sends to a
// request that it cannot parse, such as one for /v1/courses/a%zz, by an error in the
// service's format. In AWS, API Gateway does this.
type refusals struct {
	net.Listener
	server *server
}

func (l refusals) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &refusing{Conn: c, server: l.server}, nil
}

// refusing keeps the beginning of the input since the last response.
type refusing struct {
	net.Conn
	server *server
	head   []byte
}

func (c *refusing) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if room := largestHead - len(c.head); room > 0 {
		c.head = append(c.head, b[:min(n, room)]...)
	}
	return n, err
}

// CloseWrite lets net/http close its side first, so that the last response arrives.
func (c *refusing) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ownResponse follows the status line of the responses that net/http sends before any
// handler runs; a handler's responses have a date. Its 417 looks like a handler's, but no
// handler sends that status.
var ownResponse = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

func (c *refusing) Write(b []byte) (int, error) {
	line, _, _ := bytes.Cut(b, ownResponse[:2])
	own := bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && bytes.HasPrefix(b[len(line):], ownResponse)
	if own || bytes.HasPrefix(line, []byte("HTTP/1.1 417 ")) {
		if _, err := c.Conn.Write(c.server.unparseable(c.head)); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	c.head = c.head[:0]
	return c.Conn.Write(b)
}

// unparseable returns the response to a request that could not be parsed.
func (s *server) unparseable(head []byte) []byte {
	reader := textproto.NewReader(bufio.NewReader(bytes.NewReader(head)))
	line, _ := reader.ReadLine()
	header, _ := reader.ReadMIMEHeader() // as far as it goes
	path := "/"
	if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(words[1], "/") {
		path, _, _ = strings.Cut(words[1], "?")
	}
	id := uuid.NewString()
	code, detail := s.keys.admit(context.Background(), http.Header(header).Get(api.HeaderKey), time.Now())
	if code == "" {
		code = catalog.InvalidParameter
		detail = "The request is not well-formed HTTP, has an unsupported Expect header, or a path that cannot be decoded."
	}
	a := refuse(http.Header(header).Get("Host"), code, detail, strings.ToValidUTF8(path, "\uFFFD"), id)
	s.Line(fmt.Sprintf("%s %q %d", id, line, a.status))

	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	a.header["Date"] = []string{time.Now().UTC().Format(http.TimeFormat)}
	_ = http.Header(a.header).Write(&out)
	fmt.Fprintf(&out, "Content-Length: %d\r\nConnection: close\r\n\r\n%s", len(a.body), a.body)
	return out.Bytes()
}
