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
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// address is a host, and perhaps a port, with which an address can begin.
var address = regexp.MustCompile(`^([0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]+)?$`)

// origin returns what the addresses of a host begin with; "" for what is no host.
func origin(host string) string {
	if !address.MatchString(host) {
		return ""
	}
	return "http://" + host
}

// refuse is the gateway's own response in the service's error shape. The gateway
// knows no customer, so the limits are all 0.
func refuse(host string, code catalog.Code, detail, path, id string) response {
	problem := api.NewProblem(origin(host), code, detail, path, id)
	body, err := json.Marshal(problem)
	if err != nil {
		panic(err) // it holds nothing but strings
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

// refusals is a listener whose connections put the service's error shape in the
// place of what net/http sends by itself to requests that it cannot parse, a
// path like /v1/courses/a%zz among them. In AWS, API Gateway does that.
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

// refusing remembers the beginning of what came in since the last response.
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

// CloseWrite lets net/http say goodbye before it hangs up, so that the last response arrives.
func (c *refusing) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// ownResponse follows the status line of responses that net/http makes before any
// handler runs; those of handlers carry a date. Its 417 looks
// like a handler's, but no handler sends one.
var ownResponse = []byte("\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

func (c *refusing) Write(b []byte) (int, error) {
	line, _, _ := bytes.Cut(b, ownResponse[:2])
	if bytes.HasPrefix(line, []byte("HTTP/1.1 ")) && bytes.HasPrefix(b[len(line):], ownResponse) || bytes.HasPrefix(line, []byte("HTTP/1.1 417 ")) {
		if _, err := c.Conn.Write(c.server.unparseable(c.head)); err != nil {
			return 0, err
		}
		return len(b), nil
	}
	c.head = c.head[:0]
	return c.Conn.Write(b)
}

// unparseable responds to a request of which only the beginning is known.
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
		code, detail = catalog.InvalidParameter, "The request is no well-formed HTTP, expects what is not given, or has a path that cannot be decoded."
	}
	a := refuse(http.Header(header).Get("Host"), code, detail, strings.ToValidUTF8(path, "\uFFFD"), id)
	s.Line(fmt.Sprintf("%s %q %d", id, line, a.status))

	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", a.status, http.StatusText(a.status))
	names := make([]string, 0, len(a.header))
	for name := range a.header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&out, "%s: %s\r\n", name, a.header[name][0])
	}
	fmt.Fprintf(&out, "Date: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n", time.Now().UTC().Format(http.TimeFormat), len(a.body))
	out.Write(a.body)
	return out.Bytes()
}
