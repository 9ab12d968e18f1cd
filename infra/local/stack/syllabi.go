package stack

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"
)

// mediaTypes are those that a machine may not know by the file's name.
var mediaTypes = map[string]string{
	".md":   "text/markdown; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}

// serveSyllabi serves the demo's documents on the port after the gateway's, so
// that addresses stored by an earlier run still lead somewhere, or on a free one.
func (s *stack) serveSyllabi(gateway net.Listener) error {
	if s.Syllabi == nil {
		return nil
	}
	next := gateway.Addr().(*net.TCPAddr).Port + 1
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(next)))
	if err != nil {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return fmt.Errorf("file server of the syllabi: %w", err)
		}
	}
	files := http.FileServerFS(s.Syllabi)
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, ErrorLog: s.Console, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind := mediaTypes[path.Ext(r.URL.Path)]; kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		files.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(listener) }()
	s.onStop(func() { _ = server.Close() })
	s.places.Syllabi = "http://" + listener.Addr().String() + "/"
	s.Console.Printf("demo syllabi are served at %s", s.places.Syllabi)
	return nil
}

// hostOf is the host:port of a URL, "" where there is none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
