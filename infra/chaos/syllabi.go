package main

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/pkg/catalog"
)

// library serves syllabi: good ones, and the others.
type library struct {
	server *http.Server
	host   string
	names  []string // of the good documents

	mu    sync.Mutex
	asked map[string]int // by path
}

func openLibrary() (*library, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("library of syllabi: %w", err)
	}
	l := &library{host: listener.Addr().String(), asked: map[string]int{}}
	entries, err := fs.ReadDir(demo.Syllabi(), ".")
	if err != nil {
		return nil, fmt.Errorf("library of syllabi: %w", err)
	}
	for _, e := range entries {
		l.names = append(l.names, e.Name())
	}
	slices.Sort(l.names)
	l.server = &http.Server{Handler: l}
	go func() { _ = l.server.Serve(listener) }()
	return l, nil
}

func (l *library) close() { _ = l.server.Close() }

// shelves are how documents are served, with what may become of an extraction
// next to COMPLETED; a shelf whose documents cannot be read never completes.
var shelves = map[string]struct {
	readable bool
	failures []catalog.FailureCode
}{
	"good":     {readable: true},
	"slow":     {readable: true},
	"flaky":    {readable: true, failures: []catalog.FailureCode{catalog.Unreachable}},
	"missing":  {failures: []catalog.FailureCode{catalog.DocumentNotFound}},
	"login":    {failures: []catalog.FailureCode{catalog.LoginRequired}},
	"broken":   {failures: []catalog.FailureCode{catalog.Unreachable}},
	"inwards":  {failures: []catalog.FailureCode{catalog.ForbiddenAddress}},
	"stalling": {failures: []catalog.FailureCode{catalog.TimedOut, catalog.Unreachable}},
	"hostile":  {readable: true, failures: []catalog.FailureCode{catalog.TimedOut, catalog.TooLarge, catalog.Malformed}},
	// Texts of the records themselves.
	"own": {readable: true},
	// Documents, whose storage has faults; and those that were deleted.
	"uploaded":         {readable: true, failures: []catalog.FailureCode{catalog.Unreachable}},
	"uploaded hostile": {readable: true, failures: []catalog.FailureCode{catalog.Unreachable, catalog.TimedOut, catalog.TooLarge, catalog.Malformed}},
	"withdrawn":        {readable: true, failures: []catalog.FailureCode{catalog.TimedOut, catalog.TooLarge, catalog.Malformed, catalog.Unreachable, catalog.DocumentNotFound}},
}

// hostile documents of about 1 MB are small for what they ask of a reader.
var hostile = []struct {
	name, media string
	text        func() string
}{
	{"cell.html", "text/html", func() string { return "<table><tr><td>" + strings.Repeat("<p>a", 250_000) }},
	{"deep.html", "text/html", func() string { return strings.Repeat("<div>", 200_000) + "a" }},
	{"letters.txt", "text/plain", func() string { return strings.Repeat("R C ", 250_000) }},
	{"pipes.md", "text/markdown", func() string { return strings.Repeat("|a", 500_000) }},
}

// file returns the bytes of a document of the library.
func (l *library) file(name string) []byte {
	if text, ok := hostileFile(name); ok {
		return []byte(text)
	}
	file, err := fs.ReadFile(demo.Syllabi(), name)
	if err != nil {
		panic(err) // the library has it
	}
	return file
}

// hostileFile returns the text of a hostile document; false for any other.
func hostileFile(name string) (string, bool) {
	for _, document := range hostile {
		if document.name == name {
			return document.text(), true
		}
	}
	return "", false
}

func (l *library) href(shelf, name string) string {
	return "http://" + l.host + "/" + shelf + "/" + name
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	shelf, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	l.mu.Lock()
	l.asked[r.URL.Path]++
	times := l.asked[r.URL.Path]
	l.mu.Unlock()
	switch shelf {
	case "slow":
		time.Sleep(2 * time.Second)
	case "flaky":
		if times%2 == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
	case "missing":
		http.NotFound(w, r)
		return
	case "login":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case "broken":
		w.WriteHeader(http.StatusInternalServerError)
		return
	case "inwards":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
		return
	case "stalling":
		<-r.Context().Done()
		return
	case "hostile":
		for _, document := range hostile {
			if document.name == name {
				w.Header().Set("Content-Type", document.media)
				_, _ = w.Write(l.file(name))
			}
		}
		return
	}
	http.ServeFileFS(w, r, demo.Syllabi(), name)
}
