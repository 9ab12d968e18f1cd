// Package rest serves the contract over HTTP: the steps that every request goes through exactly once (this file), the
// binding of operations to handlers (bind.go), and one file of handlers for each group.
//
// The steps are, in order: recover, request id and log line, route, caller, scope, quota, decode and validate, handler,
// encode, headers. Quota and the handler's first reads run in parallel; nothing is saved or sent before the quota has
// admitted the call.
package rest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
	"skillscurriculum/pkg/skills"
)

// Server handles the operations of the contract. Its fields are set before the first request and never change.
type Server struct {
	Store     Store
	Callers   *Callers
	Meter     *quota.Meter
	Usage     UsageReader
	Limit     quota.Limit
	Queue     service.Queue // for groups with operations that start extractions
	Imports   ImportQueue   // for the group of imports
	Files     Files         // for groups with operations that take documents
	Webhooks  Webhooks      // for the group of webhooks
	Market    Market
	Taxonomy  func() *skills.Taxonomy // opened on first use
	CheckHref func(href string) error // rejects addresses of syllabi that may not be fetched
	Document  []byte                  // the OpenAPI document
	Pages     Pages                   // for groups with pages
	Site      fs.FS                   // files of GET /docs and GET /console, and their assets
	Uploads   string                  // origin to which the console uploads; "" for none
	Now       func() catalog.Time
	IDs       catalog.IDs
	Log       *slog.Logger
	Groups    []api.Group // groups to serve; nil for all
	// Trace annotates the trace of a request; nil for none.
	Trace func(ctx context.Context, operation string, start time.Time, annotations map[string]string)

	operations    map[string]*api.Operation // of the groups, by id
	routes        api.Routes
	endpoints     map[string]endpoint // one for each operation
	index         service.Index
	search        service.Search
	sectionFinder service.SectionFinder
	outcomeFinder service.OutcomeFinder
	health        service.Health
	ctids         service.CTIDs
	handles       cache[string, catalog.OrgID] // organizations by handle
}

// Pages writes pages. policy is the Content-Security-Policy of the page.
type Pages interface {
	// Report writes a report; address returns the address of a view.
	Report(w io.Writer, m alignment.Masthead, r alignment.Report,
		address func(view string) string) (policy string, err error)
	Map(w io.Writer, m alignment.Masthead, c alignment.Curriculum) (policy string, err error)
	Articulation(w io.Writer, m alignment.Masthead, d alignment.Decision) (policy string, err error)
}

// New binds the operations of the server's groups to their handlers. It panics if an operation has no handler, a
// handler has no operation, or the two disagree.
func New(server *Server) *Server { return newServer(server, api.Operations(), bindings()) }

// bindings maps each group to the function that binds its handlers.
func bindings() map[api.Group]func(*Server) {
	return map[api.Group]func(*Server){
		api.Courses: (*Server).bindCourses, api.Jobs: (*Server).bindJobs, api.Credentials: (*Server).bindCredentials,
		api.Programs:  (*Server).bindPrograms,
		api.Transfers: (*Server).bindTransfers, api.Reports: (*Server).bindReports, api.Labor: (*Server).bindLabor,
		api.Extractions: (*Server).bindExtractions,
		api.Documents:   (*Server).bindDocuments, api.Imports: (*Server).bindImports,
		api.Articulations: (*Server).bindArticulations, api.Webhooks: (*Server).bindWebhooks,
		api.Customers: (*Server).bindCustomers,
		api.Docs:      (*Server).bindDocs, api.Registry: (*Server).bindRegistry,
	}
}

func newServer(s *Server, contract []api.Operation, bindings map[api.Group]func(*Server)) *Server {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	if s.IDs.Random == nil {
		s.IDs.Random = rand.Reader
	}
	if s.Groups == nil {
		s.Groups = api.Groups()
	}
	s.index.Taxonomy = func() *skills.Taxonomy { return s.Taxonomy() }
	s.index.Log = func() *slog.Logger { return s.Log }
	s.routes, s.endpoints, s.operations = api.NewRoutes(contract), map[string]endpoint{}, map[string]*api.Operation{}
	for i := range contract {
		if op := &contract[i]; slices.Contains(s.Groups, op.Group) {
			s.operations[op.ID] = op
		}
	}
	for _, group := range s.Groups {
		bindings[group](s)
	}
	for i := range contract {
		if op := &contract[i]; s.operations[op.ID] != nil {
			if err := s.check(op); err != nil {
				panic(fmt.Sprintf("rest: operation %s %v", op.ID, err))
			}
		}
	}
	return s
}

// check returns an error if an operation and its handler disagree.
func (s *Server) check(op *api.Operation) error {
	e, bound := s.endpoints[op.ID]
	record, compared := s.operations[op.IfMatch]
	switch {
	case !bound:
		return errors.New("has no handler")
	case op.HasBody() != (e.schema != nil):
		return errors.New("has a body in the contract or in its handler, but not in both")
	case (op.Gives != nil) != (e.Out != nil):
		return errors.New("has a response body in the contract or in its handler, but not in both")
	case op.IfMatch != "" && (!compared || record.Method != http.MethodGet || !record.ETag):
		return fmt.Errorf("compares If-Match with %s, which is not a GET of its group with an ETag", op.IfMatch)
	}
	return nil
}

type requestIDKey struct{}

// WithRequestID sets the id of the context's request.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

type badPathKey struct{}

// WithPath sets the path that the client sent, for paths that do not fit into a URL.
func WithPath(ctx context.Context, path string) context.Context {
	return context.WithValue(ctx, badPathKey{}, path)
}

// exchange is a request in flight.
type exchange struct {
	request   *http.Request
	path      string // as sent by the client
	id        string
	start     time.Time
	route     api.Route
	body      func() (any, error) // parses the body once; nil if the operation takes none
	caller    catalog.Caller
	admission *admission
}

// ServeHTTP handles a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{request: r, path: r.URL.EscapedPath(), start: time.Now()}
	if sent, ok := r.Context().Value(badPathKey{}).(string); ok {
		x.path = sent
	}
	if x.id, _ = r.Context().Value(requestIDKey{}).(string); x.id == "" {
		x.id = s.IDs.New("req_")
	}
	out, err := s.respond(r.Context(), x)
	if err != nil {
		out = s.problem(x, err)
	}
	s.send(w, x, out)
	s.log(x, out, err)
}

// keyHeader is the canonical form of api.HeaderKey.
var keyHeader = http.CanonicalHeaderKey(api.HeaderKey)

// response is a response without the headers that all responses have.
type response struct {
	status int
	header http.Header
	body   []byte
}

func (s *Server) respond(ctx context.Context, x *exchange) (out response, err error) {
	defer func() {
		if x.admission != nil {
			err = x.admission.close(ctx, err)
		}
	}()
	defer parallel.Recover(&err)
	route, badPath := s.routes.Match(x.request.Method, x.path)
	x.route = route
	if route.Operation == nil || route.Operation.Access != api.Public {
		if x.caller, err = s.Callers.Find(ctx, x.request.Header.Get(keyHeader)); err != nil {
			return response{}, err
		}
	}
	switch {
	case badPath != nil:
		s.free(ctx, x)
		return response{}, catalog.Errorf(catalog.InvalidParameter, "The path cannot be decoded.")
	case route.Path == "":
		s.free(ctx, x)
		return response{}, catalog.Errorf(catalog.NotFound, "The path does not exist.")
	case route.Operation == nil:
		s.free(ctx, x)
		return response{}, catalog.Errorf(catalog.MethodNotAllowed, "The path supports %s.",
			strings.Join(route.Allowed, ", "))
	}
	op := route.Operation
	if op.HasBody() {
		x.body = sync.OnceValues(func() (any, error) { return parseBody(x.request, op.Accepts) })
	}
	forbidden := op.Access == api.Write && x.caller.Key.Scope != catalog.WriteScope
	if op.Access != api.Public {
		items := 0
		if !forbidden && (op.ItemsIn != nil || op.Begins) {
			// A body that cannot be parsed has no items.
			tree, _ := x.body()
			items = countItems(tree, op)
		}
		x.admission = s.admit(ctx, x.caller.Customer, op, items)
	}
	if forbidden {
		return response{}, catalog.Errorf(catalog.Forbidden, "The key may only read.")
	}
	if op.Expensive {
		if err := x.admission.wait(); err != nil {
			return response{}, err
		}
	}
	c := &call{Server: s, exchange: x, op: op, customer: x.caller.Customer, org: x.caller.Customer.OrganizationID,
		now: s.Now(), strong: op.Access == api.Write}
	return s.endpoints[op.ID].serve(ctx, c)
}

// problem returns the response for an error. Details of errors other than catalog.Error are not disclosed.
func (s *Server) problem(x *exchange, err error) response {
	var known *catalog.Error
	switch {
	case errors.As(err, &known):
	case errors.Is(err, context.DeadlineExceeded):
		known = catalog.Errorf(catalog.Unavailable, "The request could not be served in time.")
	default:
		known = catalog.Errorf(catalog.Internal, "The service failed; the error is in its logs.")
	}
	detail, fields := known.Detail, known.Fields
	if len(fields) > schema.MaxErrors {
		detail = fmt.Sprintf("%s There are more errors than the %d that are listed.", detail, schema.MaxErrors)
		fields = fields[:schema.MaxErrors]
	}
	p := api.NewProblem(origin(x.request), known.Code, detail, x.path, x.id, fields...)
	out := response{status: p.Status, header: http.Header{"Content-Type": {api.ProblemMediaType}}, body: encode(p)}
	if op := x.route.Operation; op != nil && op.Access == api.Public && op.ShowsPage() {
		out.header["Content-Type"], out.body = []string{api.HTML + "; charset=utf-8"}, problemPage(p)
		guardPage(out, "default-src 'none'")
	}
	switch known.Code {
	case catalog.MethodNotAllowed:
		out.header["Allow"] = []string{strings.Join(x.route.Allowed, ", ")}
	case catalog.Unavailable:
		out.header["Retry-After"] = []string{"2"}
	case catalog.RateLimitExceeded:
		wait := max(1, x.admission.status.Reset-int64(s.Now())/1000)
		out.header["Retry-After"] = []string{strconv.FormatInt(wait, 10)}
	}
	return out
}

func (s *Server) send(w http.ResponseWriter, x *exchange, out response) {
	header := w.Header()
	for name, values := range out.coded(x.request).header {
		header[name] = values
	}
	var status quota.Status
	cost := 0
	if x.admission != nil {
		status, cost = x.admission.status, x.admission.charged
	}
	if op := x.route.Operation; op != nil && op.Open {
		header["Access-Control-Allow-Origin"] = []string{"*"}
		if op.Method == http.MethodOptions {
			header["Access-Control-Allow-Methods"] = []string{strings.Join(x.route.Allowed, ", ")}
			header["Access-Control-Allow-Headers"] = []string{"*"}
			header["Access-Control-Max-Age"] = []string{"86400"}
		}
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
		{"Content-Type", api.JSON + "; charset=utf-8"},
	}
	values := make([]string, len(fields)) // one allocation for all
	for i, f := range fields {
		if header[f.name] != nil || f.name == "Content-Type" && len(out.body) == 0 {
			continue
		}
		values[i] = f.value
		header[f.name] = values[i : i+1 : i+1]
	}
	w.WriteHeader(out.status)
	if out.status != http.StatusNoContent && out.status != http.StatusNotModified {
		// An error means that the client is gone.
		_, _ = w.Write(out.body)
	}
}

var metrics = metric.New([]string{"Operation", "Kind"}, "Latency:Milliseconds", "Units:Count", "Refused:Count",
	"Errors:Count")

// log writes one line for the request, which is also its metrics (CloudWatch embedded metric format). The line contains
// no key, path parameter, query or body.
func (s *Server) log(x *exchange, out response, err error) {
	operation, kind := "none", string(api.ReadKind)
	if x.route.Operation != nil {
		operation, kind = x.route.Operation.ID, string(x.route.Operation.Kind())
	}
	organization := string(x.caller.Customer.OrganizationID)
	if s.Trace != nil {
		s.Trace(x.request.Context(), operation, x.start,
			map[string]string{"operation": operation, "organization": organization})
	}
	units, refused, failed := 0, 0, 0
	if x.admission != nil {
		units = x.admission.charged
	}
	if out.status == http.StatusTooManyRequests {
		refused = 1
	}
	level := slog.LevelInfo
	if out.status >= 500 {
		failed, level = 1, slog.LevelError
	}
	attributes := append(make([]slog.Attr, 0, 13),
		slog.String("requestId", x.id), slog.String("customer", string(x.caller.Customer.ID)),
		slog.String("organization", organization),
		slog.String("Operation", operation), slog.String("Kind", kind),
		slog.Int("status", out.status), slog.Float64("Latency", float64(time.Since(x.start).Microseconds())/1000),
		slog.Int("Units", units), slog.Int("Refused", refused), slog.Int("Errors", failed), slog.Int("bytes", len(out.body)),
	)
	if failed == 1 && err != nil {
		attributes = append(attributes, slog.String("cause", err.Error()))
	}
	attributes = append(attributes, metrics.At(s.Now()))
	s.Log.LogAttrs(context.Background(), level, "request", attributes...)
}
