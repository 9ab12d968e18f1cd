// Package gateway does on one machine what the deployed API Gateway does in
// front of the functions: it checks the key, throttles, turns HTTP into proxy
// events and back, and responds in the service's error shape where no function
// can. It knows no records. Invariant: every response, also to requests that are
// not HTTP, has the contract's headers or is a function's own.
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
	// Known reports whether a key is one of the service's. Where it cannot say, the
	// request goes on: the function decides.
	Known func(ctx context.Context, apiKey string) (bool, error)
	// Invoke runs a function and returns its response.
	Invoke func(ctx context.Context, function string, event []byte) ([]byte, error)
	// Limit is the time a function has; 0 means API Gateway's 29 s.
	Limit time.Duration
	// Rate and Burst are the usage plan's throttle of one key, in requests per
	// second and in requests; 0 means 500 and 1000.
	Rate  rate.Limit
	Burst int
	// Line takes a line about every request, and about what went wrong with it; may be nil.
	Line func(line string)
	// Console takes what people should see and Invoke has not told them: functions
	// that take too long or return nonsense.
	Console *log.Logger
}

const (
	keyMemory   = 2 * time.Second // how long a known key is believed
	keyPatience = 2 * time.Second // how long the look-up of a key may take
	largestBody = 10 << 20        // bytes, as API Gateway
	largestHead = 10 << 10        // bytes, as API Gateway
)

// Serve accepts requests on the listener until ctx ends, and then lets running requests
// finish for up to two seconds.
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
	functions map[string]string // by path of the contract
	keys      *keys
}

// functions maps every path of the contract to the function of its group.
func functions() map[string]string {
	byPath := map[string]string{}
	for _, o := range api.Operations() {
		byPath[o.Path] = string(o.Group)
	}
	return byPath
}

// catchAll is the function that serves paths that the contract lacks.
const catchAll = string(api.Customers)

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	started, id := time.Now(), uuid.NewString()
	path, query := target(r)
	a, function := s.respond(r, id, path, query)
	// Closing on a client that still sends would make it lose the response.
	_, _ = io.CopyN(io.Discard, r.Body, 4*largestBody)
	a.compressed(r.Header.Get("Accept-Encoding")).write(w)
	s.Line(fmt.Sprintf("%s %s %q %d %q %dms", id, r.Method, path, a.status, function, time.Since(started).Milliseconds()))
}

// target is the request's path and query as they came: net/http's own reading
// of them would already be decoded.
func target(r *http.Request) (path, query string) {
	raw := r.RequestURI
	if !strings.HasPrefix(raw, "/") { // "*", a whole URL, or an authority
		raw = r.URL.RequestURI()
	}
	path, query, _ = strings.Cut(raw, "?")
	return path, query
}

// respond decides as API Gateway does, in its order: key, throttle, resource,
// size, function. The function's name is "" where none was asked.
func (s *server) respond(r *http.Request, id, path, query string) (a response, function string) {
	route, err := api.Match(r.Method, path)
	key := r.Header.Get(api.HeaderKey)
	if route.Operation == nil || route.Operation.Access != api.Public {
		if code, detail := s.keys.admit(r.Context(), key, time.Now()); code != "" {
			return refuse(r.Host, code, detail, path, id), ""
		}
	}
	values, queryErr := parseQuery(query)
	switch {
	case r.Method != strings.ToUpper(r.Method):
		return refuse(r.Host, catalog.InvalidParameter, "A method is written in capital letters.", path, id), ""
	case r.Host != "" && origin(r.Host) == "":
		return refuse("", catalog.InvalidParameter, "The header Host holds no host.", path, id), ""
	case err != nil:
		return refuse(r.Host, catalog.InvalidParameter, "The path cannot be decoded.", path, id), ""
	case queryErr != nil:
		return refuse(r.Host, catalog.InvalidParameter, "The query cannot be decoded.", path, id), ""
	case path != api.BasePath && !strings.HasPrefix(path, api.BasePath+"/"):
		return refuse(r.Host, catalog.NotFound, "There is no such path.", path, id), ""
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, largestBody+1))
	if err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or too slow
	}
	if len(body) > largestBody {
		return refuse(r.Host, catalog.PayloadTooLarge, "The request is larger than the service takes.", path, id), ""
	}
	function = s.functions[route.Path]
	if route.Path == "" {
		function = catchAll
	}
	return s.call(r, request{id: id, path: path, query: values, route: route, key: key, body: body}, function), function
}

// call runs the function. What API Gateway makes of a function that fails (502)
// or takes too long (504) has the service's codes here, as in the deployment.
func (s *server) call(r *http.Request, in request, function string) response {
	event, err := json.Marshal(in.event(r))
	if err != nil {
		s.Console.Printf("gateway: event for %s: %v", function, err)
		return refuse(r.Host, catalog.Internal, "The service failed to respond. The requestId finds the cause.", in.path, in.id)
	}
	// A client that hangs up does not stop the function, as in AWS.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), s.Limit)
	defer cancel()
	out, err := s.Invoke(ctx, function, event)
	if ctx.Err() != nil && err != nil {
		s.Console.Printf("gateway: %s %s: no response of %s within %v", r.Method, in.path, function, s.Limit)
		return refuse(r.Host, catalog.Unavailable, "The response took too long. Try again.", in.path, in.id)
	}
	if err != nil {
		s.Line(in.id + " " + err.Error())
		return refuse(r.Host, catalog.Internal, "The service failed to respond. The requestId finds the cause.", in.path, in.id)
	}
	a, err := parseResponse(out)
	if err != nil {
		s.Console.Printf("gateway: %s %s: %s: %v", r.Method, in.path, function, err)
		return refuse(r.Host, catalog.Internal, "The service failed to respond. The requestId finds the cause.", in.path, in.id)
	}
	return a
}
