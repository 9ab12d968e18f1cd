// Package gateway does locally what the deployed API Gateway does in front of the
// functions: it checks keys, throttles, converts HTTP to proxy events and back, and
// responds in the service's error format where no function does. Every response, even to
// a request that is not valid HTTP, has the contract's headers or comes from a function.
package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Gateway serves the contract.
type Gateway struct {
	// Known reports whether a key is valid. If it returns an error, the function decides.
	Known func(ctx context.Context, apiKey string) (bool, error)
	// Invoke runs a function and returns its response.
	Invoke func(ctx context.Context, function string, event []byte) ([]byte, error)
	// Limit is the time limit of a function; 0 means API Gateway's 29 s.
	Limit time.Duration
	// Rate (requests per second) and Burst (requests) are the usage plan's throttle of
	// each key; 0 means 500 and 1000.
	Rate  rate.Limit
	Burst int
	// Line receives a log line for every request and for its errors; may be nil.
	Line func(line string)
	// Console receives the errors that Invoke does not log: timeouts and malformed
	// responses.
	Console *log.Logger
}

const (
	keyMemory   = 2 * time.Second // how long a valid key is cached
	keyPatience = 2 * time.Second // time limit of the lookup of a key
	largestBody = 10 << 20        // bytes, API Gateway's limit
	largestHead = 10 << 10        // bytes, API Gateway's limit
)

// Serve serves requests on the listener until ctx ends, and then gives running requests
// two seconds to finish.
func (g Gateway) Serve(ctx context.Context, listener net.Listener) error {
	s := &server{Gateway: g, functions: functions(), keys: newKeys(g.Known, g.Rate, g.Burst)}
	if s.Limit == 0 {
		s.Limit = 29 * time.Second
	}
	if s.Line == nil {
		s.Line = func(string) {}
	}
	web := &http.Server{
		Handler:                      s,
		ErrorLog:                     s.Console,
		DisableGeneralOptionsHandler: true,
		MaxHeaderBytes:               largestHead,
		ReadHeaderTimeout:            10 * time.Second,
		ReadTimeout:                  time.Minute,
		WriteTimeout:                 2*time.Minute + s.Limit,
		IdleTimeout:                  time.Minute,
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(refusals{listener, s}) }()
	select {
	case err := <-served:
		return fmt.Errorf("gateway: %w", err)
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if web.Shutdown(grace) != nil {
		_ = web.Close()
	}
	return nil
}

type server struct {
	Gateway
	functions map[string]string // by path in the contract
	keys      *keys
}

// functions maps every path in the contract to the function of its group.
func functions() map[string]string {
	byPath := map[string]string{}
	for _, o := range api.Operations() {
		byPath[o.Path] = string(o.Group)
	}
	return byPath
}

// catchAll is the function that serves paths outside the contract.
const catchAll = string(api.Customers)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started, id := time.Now(), uuid.NewString()
	path, query := target(r)
	a, function := s.respond(r, id, path, query)
	// A client that is still sending would lose the response if the connection closed.
	_, _ = io.CopyN(io.Discard, r.Body, 4*largestBody)
	a.compressed(r.Header.Get("Accept-Encoding")).write(w)
	s.Line(fmt.Sprintf("%s %s %q %d %q %dms", id, r.Method, path, a.status, function, time.Since(started).Milliseconds()))
}

// target returns the request's path and query as received, not decoded as by net/http.
func target(r *http.Request) (path, query string) {
	raw := r.RequestURI
	if !strings.HasPrefix(raw, "/") { // "*", an absolute URL or an authority
		raw = r.URL.RequestURI()
	}
	path, query, _ = strings.Cut(raw, "?")
	return path, query
}

// respond makes API Gateway's decisions in its order: key, throttle, resource, size,
// function. The function's name is "" if none was invoked.
func (s *server) respond(r *http.Request, id, path, query string) (a response, function string) {
	route, err := api.Match(r.Method, path)
	key := r.Header.Get(api.HeaderKey)
	host := r.Host
	var code catalog.Code
	var detail string
	if route.Operation == nil || route.Operation.Access != api.Public {
		code, detail = s.keys.admit(r.Context(), key, time.Now())
	}
	values, queryErr := parseQuery(query)
	switch {
	case code != "":
	case r.Method != strings.ToUpper(r.Method):
		code, detail = catalog.InvalidParameter, "The method must be in capital letters."
	case r.Host != "" && origin(r.Host) == "":
		host, code, detail = "", catalog.InvalidParameter, "The Host header is not a host."
	case err != nil:
		code, detail = catalog.InvalidParameter, "The path cannot be decoded."
	case queryErr != nil:
		code, detail = catalog.InvalidParameter, "The query cannot be decoded."
	case path != api.BasePath && !strings.HasPrefix(path, api.BasePath+"/"):
		code, detail = catalog.NotFound, "The path does not exist."
	}
	if code != "" {
		return refuse(host, code, detail, path, id), ""
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, largestBody+1))
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone or too slow
	}
	if len(body) > largestBody {
		return refuse(host, catalog.PayloadTooLarge, "The request is larger than the service takes.", path, id), ""
	}
	function = s.functions[route.Path]
	if route.Path == "" {
		function = catchAll
	}
	return s.call(r, request{id, path, values, route, key, body}, function), function
}

// call invokes the function. A failure or timeout, a 502 or 504 of API Gateway, becomes one
// of the service's error codes, as in the deployment.
func (s *server) call(r *http.Request, in request, function string) response {
	// As in AWS, the function keeps running if the client disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.Limit)
	defer cancel()
	var a response
	event, err := json.Marshal(in.event(r))
	if err == nil {
		var out []byte
		out, err = s.Invoke(ctx, function, event)
		switch {
		case err != nil && ctx.Err() != nil:
			s.Console.Printf("gateway: %s %s: no response from %s within %v", r.Method, in.path, function, s.Limit)
			return refuse(r.Host, catalog.Unavailable, "The response took too long. Try again.", in.path, in.id)
		case err != nil:
			s.Line(in.id + " " + err.Error())
			return refuse(r.Host, catalog.Internal, internalDetail, in.path, in.id)
		}
		a, err = parseResponse(out)
	}
	if err != nil {
		s.Console.Printf("gateway: %s %s: %s: %v", r.Method, in.path, function, err)
		return refuse(r.Host, catalog.Internal, internalDetail, in.path, in.id)
	}
	return a
}

const internalDetail = "The service failed to respond. The requestId finds the cause."
