package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/schema"
)

// Endpoint is an operation with its handler's types.
type Endpoint struct {
	*api.Operation
	In  reflect.Type // parameters of the query, and a field Body
	Out reflect.Type // the response's body; nil for none
}

// Endpoints lists the endpoints of the contract, in its order. Out is nil also if the response has no Go type.
func Endpoints() []Endpoint {
	s := New(&Server{})
	contract := api.Operations()
	all := make([]Endpoint, len(contract))
	for i, op := range contract {
		all[i] = s.endpoints[op.ID].Endpoint
		if all[i].Out == reflect.TypeFor[anything]() {
			all[i].Out = nil
		}
	}
	return all
}

// RequestName returns the name of the schema of an operation's body.
func RequestName(id string) string { return strings.ToUpper(id[:1]) + id[1:] + schema.Request }

// endpoint is an operation bound to its handler.
type endpoint struct {
	Endpoint
	serve  func(ctx context.Context, c *call) (response, error)
	schema func() *huma.Schema // of the request's body; nil for none
}

// call is the context of a handler.
type call struct {
	*Server
	*exchange
	op       *api.Operation
	customer catalog.Customer
	org      catalog.OrgID
	now      catalog.Time
	strong   bool // use strong reads, because a decision depends on them

	looked string                        // external id that look has looked up; "" for none
	known  map[string]catalog.ExternalID // what it found

	// Optionally set by the handler.
	location string // path of the created record
	// retryAfter is the number of seconds after which to read the record again; "" for none.
	retryAfter string
	links      []string
	rendered   *rendered // body instead of the output as JSON
	current    any       // what the GET of the record returns, where the response is something else
	begun      bool      // an extraction of an operation that does not always start one; see api.Operation.Begins
}

// rendered is an encoded body.
type rendered struct {
	contentType string // "" for JSON
	policy      string // Content-Security-Policy; "" if it is not a page
	cache       string // Cache-Control; "" for the default
	status      int    // 0 for the operation's status
	body        []byte
}

// none is the input of operations without query and body, and the output of those whose response has no body.
type none struct{}

// anything is the output of operations that always set call.rendered. Its schema is any JSON object.
type anything struct{}

// read binds a handler that saves nothing.
func read[I, O any](s *Server, id string, handler func(ctx context.Context, c *call, in *I) (O, error)) {
	bind[I, O](s, id, func(ctx context.Context, c *call, in *I) (response, error) {
		if c.op.Idempotent {
			return c.save(ctx, func(ctx context.Context) (any, *catalog.Change, error) {
				out, err := handler(ctx, c, in)
				return out, &catalog.Change{}, err
			})
		}
		output, err := handler(ctx, c, in)
		if err != nil {
			return response{}, err
		}
		out := c.encode(output)
		if err := c.fits(out); err != nil {
			return response{}, err
		}
		return c.unlessKnown(out), nil
	})
}

// write binds a handler that returns its change for saving. The handler runs again if a record that it loaded
// changed before the save, so it must not save anything itself or modify its input.
func write[I, O any](
	s *Server, id string, handler func(ctx context.Context, c *call, in *I) (O, *catalog.Change, error),
) {
	bind[I, O](s, id, func(ctx context.Context, c *call, in *I) (response, error) {
		return c.save(ctx, func(ctx context.Context) (any, *catalog.Change, error) {
			return handler(ctx, c, in)
		})
	})
}

// remove binds a handler of an operation without a response body.
func remove[I any](s *Server, id string, handler func(ctx context.Context, c *call, in *I) (*catalog.Change, error)) {
	write(s, id, func(ctx context.Context, c *call, in *I) (none, *catalog.Change, error) {
		change, err := handler(ctx, c, in)
		return none{}, change, err
	})
}

// body is the input of an operation without parameters in its query.
type body[T any] struct{ Body T }

func bind[I, O any](s *Server, id string, serve func(ctx context.Context, c *call, in *I) (response, error)) {
	op, known := s.operations[id]
	if !known {
		panic(fmt.Sprintf("rest: handler %s has no operation in the contract of its group", id))
	}
	e := endpoint{Endpoint: Endpoint{Operation: op, In: reflect.TypeFor[I]()}}
	if out := reflect.TypeFor[O](); out != reflect.TypeFor[none]() {
		e.Out = out
	}
	parameters := sync.OnceValue(func() schema.Parameters { return schema.ParametersOf(e.In, op.Formats()) })
	if body, ok := e.In.FieldByName("Body"); ok {
		e.schema = sync.OnceValue(func() *huma.Schema {
			return schema.Of(body.Type, RequestName(id), op.Method == http.MethodPatch)
		})
	}
	e.serve = func(ctx context.Context, c *call) (response, error) {
		in := new(I)
		v := reflect.ValueOf(in).Elem()
		if err := parameters().Fill(v, c.request.URL.RawQuery); err != nil {
			return response{}, err
		}
		if e.schema != nil {
			if err := c.decodeBody(e.schema(), v.FieldByName("Body")); err != nil {
				return response{}, err
			}
		}
		return serve(ctx, c, in)
	}
	s.endpoints[id] = e
}

// param returns a parameter of the operation's path.
func (c *call) param(name string) string {
	value, ok := c.route.Params[name]
	if !ok {
		panic(fmt.Sprintf("rest: the path of %s has no parameter %s", c.op.ID, name))
	}
	return value
}

// recordID returns the first parameter of the path, which is the id of the record that the operation is about, or of
// the record that owns what it is about.
func (c *call) recordID() string { return c.param(c.op.Parameters()[0]) }

// encode returns the response for a handler's output.
func (c *call) encode(output any) response {
	out := response{status: c.op.Status, header: http.Header{}}
	if c.begun {
		out.status = http.StatusAccepted
	}
	if c.rendered != nil {
		out.body = c.rendered.body
		if c.rendered.status != 0 {
			out.status = c.rendered.status
		}
		out.set("Content-Type", c.rendered.contentType)
		out.set("Cache-Control", c.rendered.cache)
		if c.rendered.policy != "" {
			guardPage(out, c.rendered.policy)
		}
	} else if c.op.Gives != nil {
		out.body = encode(output)
	}
	out.set("Location", c.location)
	out.set("Retry-After", c.retryAfter)
	if len(c.links) > 0 {
		out.header["Link"] = []string{strings.Join(c.links, ", ")}
	}
	if c.op.Leads != "" || len(c.op.Gives) > 1 && c.op.Gives[0] == api.JSON {
		out.set("Vary", "Accept")
	}
	c.tag(out)
	return out
}

// guardPage sets the security headers of a page: it loads only what the policy allows, cannot be framed, sends no
// Referer and is not indexed.
func guardPage(r response, policy string) {
	r.set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	r.set("Referrer-Policy", "no-referrer")
	r.set("X-Robots-Tag", "noindex")
}

// set sets a header unless the value is empty.
func (r response) set(name, value string) {
	if value != "" {
		r.header[name] = []string{value}
	}
}
