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

// mediaTypes are the types that net/http may not know by the file extension.
var mediaTypes = map[string]string{
	".md":   "text/markdown; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}

// serveFiles serves the demo's documents and the receiver of its webhook.
func (s *stack) serveFiles(gateway net.Listener) (err error) {
	if s.Syllabi != nil {
		files := http.FileServerFS(s.Syllabi)
		s.places.Syllabi, err = s.serve(gateway, 1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if kind := mediaTypes[path.Ext(r.URL.Path)]; kind != "" {
				w.Header().Set("Content-Type", kind)
			}
			files.ServeHTTP(w, r)
		}))
		if err != nil {
			return fmt.Errorf("file server of the syllabi: %w", err)
		}
		s.Console.Printf("demo syllabi are served at %s", s.places.Syllabi)
	}
	if s.Receiver != nil {
		if s.places.Receiver, err = s.serve(gateway, 2, s.Receiver); err != nil {
			return fmt.Errorf("webhook receiver: %w", err)
		}
	}
	return nil
}

// serve serves on the gateway's port plus after, so that addresses stored by an earlier
// run stay valid, or on a free port. It returns the URL with a trailing slash.
func (s *stack) serve(gateway net.Listener, after int, handler http.Handler) (string, error) {
	port := gateway.Addr().(*net.TCPAddr).Port + after
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return "", err
		}
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, ErrorLog: s.Console, Handler: handler}
	go func() { _ = server.Serve(listener) }()
	s.onStop(func() { _ = server.Close() })
	return "http://" + listener.Addr().String() + "/", nil
}

// hostOf returns the host:port of a URL, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
