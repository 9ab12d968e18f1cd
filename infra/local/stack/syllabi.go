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

// serveSyllabi serves the demo's documents.
func (s *stack) serveSyllabi(gateway net.Listener) error {
	if s.Syllabi == nil {
		return nil
	}
	files := http.FileServerFS(s.Syllabi)
	address, err := s.serve(gateway, 1, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if kind := mediaTypes[path.Ext(r.URL.Path)]; kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		files.ServeHTTP(w, r)
	}))
	if err != nil {
		return fmt.Errorf("file server of the syllabi: %w", err)
	}
	s.places.Syllabi = address
	s.Console.Printf("demo syllabi are served at %s", address)
	return nil
}

// serveReceiver serves what takes the messages of the demo's webhook.
func (s *stack) serveReceiver(gateway net.Listener) (err error) {
	if s.Receiver == nil {
		return nil
	}
	if s.places.Receiver, err = s.serve(gateway, 2, s.Receiver); err != nil {
		return fmt.Errorf("receiver of webhooks: %w", err)
	}
	return nil
}

// serve serves on a port some places after the gateway's, so that addresses stored by an
// earlier run still lead somewhere, or on a free one. It returns the address, with a
// slash at the end.
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

// hostOf is the host:port of a URL, "" where there is none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
