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

// Endpoint is an operation with the types of its handler.
type Endpoint struct {
	*api.Operation
	In  reflect.Type // parameters, and a field Body
	Out reflect.Type // the response's body; nil for none
}

// Endpoints returns those of the contract, in its order. Out is nil also where the
// response is not made of a Go type.
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

// RequestName names the schema of an operation's body.
func RequestName(id string) string { return strings.ToUpper(id[:1]) + id[1:] + "Request" }

// endpoint is an operation with its handler bound to it.
type endpoint struct {
	Endpoint
	serve  func(ctx context.Context, c *call) (response, error)
	schema func() *huma.Schema // of the request's body; nil for none
}

// call is what a handler knows of its request besides its input.
type call struct {
	*Server
	*exchange
	op       *api.Operation
	customer catalog.Customer
	org      catalog.OrgID
	now      catalog.Time
	strong   bool // reads are of the records as they are now: something is decided on them

	// What the handler may set besides its output.
	location string // of the one record that it created, below BasePath
	links    []string
	rendered *rendered // the body instead of the output as JSON
}

// rendered is a body that is encoded already.
type rendered struct {
	contentType string // "" for JSON
	policy      string // what a page may load; "" where it is none
	cache       string // Cache-Control; "" for none
	status      int    // 0 for the operation's
	body        []byte
}

// none is the output of operations whose response has no body.
type none struct{}

// anything is the output of operations that always set call.rendered; all that the
// document can say of it is that it is a JSON object.
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

// body is the input of an operation that has only a body.
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
		e.schema = sync.OnceValue(func() *huma.Schema { return schema.Of(body.Type, RequestName(id)) })
	}
	e.serve = func(ctx context.Context, c *call) (response, error) {
		in := new(I)
		v := reflect.ValueOf(in).Elem()
		if err := parameters().Fill(v, c.route.Params, c.request.URL.RawQuery); err != nil {
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

// encode returns the response for a handler's output.
func (c *call) encode(output any) response {
	out := response{status: c.op.Status, header: http.Header{}}
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
	if len(c.links) > 0 {
		out.header["Link"] = []string{joinLinks(c.links)}
	}
	if c.op.Leads != "" || len(c.op.Gives) > 1 && c.op.Gives[0] == api.JSON {
		out.set("Vary", "Accept")
	}
	c.tag(out)
	return out
}

// guardPage sets the headers of a page: what it may load, and that nobody else frames
// it, is told its address, or lists it.
func guardPage(r response, policy string) {
	r.set("Content-Security-Policy", policy+"; frame-ancestors 'none'")
	r.set("Referrer-Policy", "no-referrer")
	r.set("X-Robots-Tag", "noindex")
}

// set sets a header that has a value.
func (r response) set(name, value string) {
	if value != "" {
		r.header[name] = []string{value}
	}
}
