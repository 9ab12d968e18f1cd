package main

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/pkg/catalog"
)

// source is one way in which syllabi are served, and the possible outcomes of their extraction.
type source struct {
	name      string
	weight    int  // per thousand syllabi; 0 if the syllabus has no address
	completes bool // whether an extraction may be COMPLETED
	failures  []catalog.FailureCode
	serve     http.HandlerFunc // nil serves the document
}

var sources = []source{
	{"good", 698, true, nil, nil},
	{"slow", 80, true, nil, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(2 * time.Second)
		serveSyllabus(w, r)
	}},
	{"flaky", 80, true, []catalog.FailureCode{catalog.Unreachable}, nil},
	{"missing", 60, false, []catalog.FailureCode{catalog.DocumentNotFound}, http.NotFound},
	{"login", 30, false, []catalog.FailureCode{catalog.LoginRequired}, status(http.StatusUnauthorized)},
	{"broken", 30, false, []catalog.FailureCode{catalog.Unreachable}, status(http.StatusInternalServerError)},
	{"private", 20, false, []catalog.FailureCode{catalog.ForbiddenAddress}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusFound)
	}},
	{"stalling", 2, false, []catalog.FailureCode{catalog.TimedOut, catalog.Unreachable}, stall},
	{name: "text", completes: true}, // the record's own text
	{name: "document", completes: true, failures: []catalog.FailureCode{catalog.Unreachable}},
	{name: "deleted", completes: true, failures: []catalog.FailureCode{catalog.Unreachable, catalog.DocumentNotFound}},
}

func sourceNamed(name string) source {
	return sources[slices.IndexFunc(sources, func(s source) bool { return s.name == name })]
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func stall(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// library serves syllabi at /<source>/<file>.
type library struct {
	server *httptest.Server
	names  []string // of files

	mu       sync.Mutex
	requests map[string]int // by path
}

func openLibrary() *library {
	l := &library{requests: map[string]int{}}
	l.names, _ = fs.Glob(demo.Syllabi(), "*") // the pattern is valid
	l.server = httptest.NewServer(l)
	return l
}

// file returns the contents of a file of the library.
func (l *library) file(name string) []byte {
	file, err := fs.ReadFile(demo.Syllabi(), name)
	if err != nil {
		panic(err) // names come from the library itself
	}
	return file
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	l.mu.Lock()
	l.requests[r.URL.Path]++
	odd := l.requests[r.URL.Path]%2 == 1
	l.mu.Unlock()
	switch s := sourceNamed(name); {
	case s.serve != nil:
		s.serve(w, r)
	case name == "flaky" && odd:
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		serveSyllabus(w, r)
	}
}

func serveSyllabus(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, demo.Syllabi(), idOf(r.URL.Path))
}
