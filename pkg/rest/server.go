// Package rest is the HTTP floor: what every request goes through exactly once
// (this file), how an operation of the contract is bound to its handler (bind.go),
// and one file of handlers for each group.
//
// A request passes in this order: recover, request id and log line, route, caller,
// scope, quota, decode and validate, handler, encode, headers. Quota and the
// handler's first reads run side by side; nothing is saved and nothing is answered
// before the quota has admitted the call.
package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/api/metric"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/skills"
)

// Server answers the operations of the contract. All fields are set before the
// first request and never change.
type Server struct {
	Store     Store
	Callers   *Callers
	Meter     *quota.Meter
	Usage     UsageReader
	Limit     quota.Limit
	Queue     Queue // of the groups whose operations have something extracted
	Market    Market
	Taxonomy  func() *skills.Taxonomy                                          // opened when it is first needed
	CheckHref func(href string) error                                          // whether an address of a syllabus may be taken
	WritePage func(w io.Writer, r alignment.Report) (policy string, err error) // of the reports
	Now       func() catalog.Time
	IDs       catalog.IDs
	Log       *slog.Logger
	Groups    []api.Group // that are answered; nil for all
	// Trace annotates the trace of a request; nil for none.
	Trace func(ctx context.Context, operation string, start time.Time, annotations map[string]string)

	endpoints map[string]endpoint
	sections  sectionIndex
}

// Queue takes extractions that are to be run. What it loses, the sweeper finds.
type Queue interface {
	Send(ctx context.Context, jobs []catalog.ExtractionJob) error
}

// New binds the operations of the server's groups.
func New(server *Server) *Server {
	if server.Log == nil {
		server.Log = slog.New(slog.DiscardHandler)
	}
	if server.IDs.Random == nil {
		server.IDs.Random = rand.Reader
	}
	server.endpoints = map[string]endpoint{}
	bind := map[api.Group]func(){
		api.Courses: server.bindCourses, api.Jobs: server.bindJobs, api.Credentials: server.bindCredentials, api.Programs: server.bindPrograms,
		api.Transfers: server.bindTransfers, api.Reports: server.bindReports, api.Labor: server.bindLabor, api.Extractions: server.bindExtractions,
		api.Customers: server.bindCustomers,
	}
	for _, group := range api.Groups() {
		if server.Groups == nil || slices.Contains(server.Groups, group) {
			bind[group]()
		}
	}
	return server
}

type requestIDKey struct{}

// WithRequestID gives requests of this context an id that was made elsewhere.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

type badPathKey struct{}

// WithPath names the path that the client really sent, where it cannot be put
// into a URL.
func WithPath(ctx context.Context, path string) context.Context {
	return context.WithValue(ctx, badPathKey{}, path)
}

// exchange is one request on its way to its answer.
type exchange struct {
	request   *http.Request
	path      string // as the client sent it
	id        string
	start     time.Time
	route     api.Route
	body      func() (any, error) // parses it once; nil where the operation takes none
	caller    catalog.Caller
	admission *admission
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{request: r, path: r.URL.EscapedPath(), start: time.Now()}
	if sent, ok := r.Context().Value(badPathKey{}).(string); ok {
		x.path = sent
	}
	if x.id, _ = r.Context().Value(requestIDKey{}).(string); x.id == "" {
		x.id = s.IDs.New("req_")
	}
	a, err := s.answer(r.Context(), x)
	if err != nil {
		a = s.problem(x, err)
	}
	s.send(w, x, a)
	s.log(x, a, err)
}

// keyHeader is api.HeaderKey as requests spell it.
var keyHeader = http.CanonicalHeaderKey(api.HeaderKey)

// answer is what a handler says, before the headers that every answer has.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (s *Server) answer(ctx context.Context, x *exchange) (a answer, err error) {
	defer func() {
		if x.admission != nil {
			err = x.admission.close(ctx, err)
		}
	}()
	defer caught(&err)
	route, badPath := api.Match(x.request.Method, x.path)
	x.route = route
	if route.Operation == nil || route.Operation.Access != api.Public {
		if x.caller, err = s.Callers.Find(ctx, x.request.Header.Get(keyHeader)); err != nil {
			return answer{}, err
		}
	}
	switch {
	case badPath != nil:
		s.free(ctx, x)
		return answer{}, catalog.Errorf(catalog.InvalidParameter, "The path cannot be decoded.")
	case route.Path == "":
		s.free(ctx, x)
		return answer{}, catalog.Errorf(catalog.NotFound, "There is no such path.")
	case route.Operation == nil:
		s.free(ctx, x)
		return answer{}, catalog.Errorf(catalog.MethodNotAllowed, "The path takes %s.", strings.Join(route.Allowed, ", "))
	}
	op := *route.Operation
	if op.HasBody() {
		x.body = sync.OnceValues(func() (any, error) { return parseBody(x.request) })
	}
	forbidden := op.Access == api.Write && x.caller.Scope != catalog.WriteScope
	if op.Access != api.Public {
		items := 0
		if !forbidden && op.CountsItems() {
			// A body that cannot be parsed asks for nothing.
			tree, _ := x.body()
			items = itemsIn(tree)
		}
		x.admission = s.admit(ctx, x.caller.Customer, op, items)
	}
	if forbidden {
		return answer{}, catalog.Errorf(catalog.Forbidden, "The key may only read.")
	}
	if op.Cost.Base > 2 {
		// What is dear to run waits for its admission.
		if err := x.admission.wait(); err != nil {
			return answer{}, err
		}
	}
	c := &call{Server: s, exchange: x, op: op, customer: x.caller.Customer, org: x.caller.Customer.OrganizationID, now: s.Now(), strong: op.Access == api.Write}
	return s.endpoints[op.ID].serve(ctx, c)
}

// problem turns an error into its answer. What is no catalog.Error is our fault,
// and says nothing about itself.
func (s *Server) problem(x *exchange, err error) answer {
	var known *catalog.Error
	if !errors.As(err, &known) {
		known = catalog.Errorf(catalog.Internal, "Something went wrong on our side.")
	}
	p := api.NewProblem(known.Code, known.Detail, x.path, x.id, known.Fields...)
	a := answer{status: p.Status, header: http.Header{"Content-Type": {api.ProblemMediaType}}, body: encode(p)}
	switch known.Code {
	case catalog.MethodNotAllowed:
		a.header["Allow"] = []string{strings.Join(x.route.Allowed, ", ")}
	case catalog.Unavailable:
		a.header["Retry-After"] = []string{"2"}
	case catalog.RateLimitExceeded:
		wait := max(1, x.admission.status.Reset-int64(s.Now())/1000)
		a.header["Retry-After"] = []string{strconv.FormatInt(wait, 10)}
	}
	return a
}

func (s *Server) send(w http.ResponseWriter, x *exchange, a answer) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	var status quota.Status
	cost := 0
	if x.admission != nil {
		status, cost = x.admission.status, x.admission.charged
	}
	type field struct{ name, value string }
	fields := [...]field{
		{api.HeaderRequestID, x.id},
		{api.HeaderLimit, strconv.Itoa(status.Limit)},
		{api.HeaderRemaining, strconv.Itoa(status.Remaining)},
		{api.HeaderReset, strconv.FormatInt(status.Reset, 10)},
		{api.HeaderCost, strconv.Itoa(cost)},
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"Content-Type", jsonMediaType + "; charset=utf-8"},
	}
	values := make([]string, len(fields)) // of all, in one piece
	for i, f := range fields {
		if f.name == "Content-Type" && (len(a.body) == 0 || header[f.name] != nil) {
			continue
		}
		values[i] = f.value
		header[f.name] = values[i : i+1 : i+1]
	}
	// API Gateway compresses what is long: other bytes, for which the tag has another
	// name (RFC 9110, section 8.8.3.3).
	if tag := header[api.HeaderETag]; len(tag) == 1 && a.status != http.StatusNotModified && len(a.body) >= api.CompressFrom {
		header[api.HeaderETag] = []string{api.CodedTag(tag[0], api.Coding(x.request.Header.Get("Accept-Encoding"), len(a.body)))}
		header["Vary"] = []string{"Accept-Encoding"}
	}
	w.WriteHeader(a.status)
	if a.status != http.StatusNoContent && a.status != http.StatusNotModified {
		// A client that went away needs no answer.
		_, _ = w.Write(a.body)
	}
}

var metrics = metric.New([]string{"Operation", "Kind"}, "Latency:Milliseconds", "Units:Count", "Refused:Count", "Errors:Count")

// log writes the request's one line, which is its metrics as well: CloudWatch
// reads the _aws part (embedded metric format). It holds no key, no path
// parameter, no query and nothing of a body.
func (s *Server) log(x *exchange, a answer, err error) {
	operation, kind := "none", string(api.ReadKind)
	if x.route.Operation != nil {
		operation, kind = x.route.Operation.ID, string(x.route.Operation.Kind())
	}
	units, refused, failed := 0, 0, 0
	if x.admission != nil {
		units = x.admission.charged
	}
	if a.status == http.StatusTooManyRequests {
		refused = 1
	}
	level := slog.LevelInfo
	if a.status >= 500 {
		failed, level = 1, slog.LevelError
	}
	if s.Trace != nil {
		s.Trace(x.request.Context(), operation, x.start, map[string]string{"operation": operation, "organization": string(x.caller.Customer.OrganizationID)})
	}
	attributes := append(make([]slog.Attr, 0, 13),
		slog.String("requestId", x.id), slog.String("customer", string(x.caller.Customer.ID)), slog.String("organization", string(x.caller.Customer.OrganizationID)),
		slog.String("Operation", operation), slog.String("Kind", kind),
		slog.Int("status", a.status), slog.Float64("Latency", float64(time.Since(x.start).Microseconds())/1000),
		slog.Int("Units", units), slog.Int("Refused", refused), slog.Int("Errors", failed), slog.Int("bytes", len(a.body)),
	)
	if failed == 1 && err != nil {
		attributes = append(attributes, slog.String("cause", err.Error()))
	}
	attributes = append(attributes, metrics.At(s.Now()))
	s.Log.LogAttrs(context.Background(), level, "request", attributes...)
}

const (
	jsonMediaType = "application/json"
	maxBody       = 1 << 20
)

// parseBody reads a JSON body of up to 1 MiB.
func parseBody(r *http.Request) (any, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	if err != nil {
		return nil, catalog.Errorf(catalog.MalformedJSON, "The body could not be read.").Because(err)
	}
	if len(body) > maxBody {
		return nil, catalog.Errorf(catalog.PayloadTooLarge, "A body holds at most %d bytes.", maxBody)
	}
	if len(body) > 0 && !acceptedMedia(r) {
		return nil, catalog.Errorf(catalog.UnsupportedMediaType, "The body must be %s.", jsonMediaType)
	}
	return parseJSON(body)
}
