package rest

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// endpoint is an operation with its handler bound to it.
type endpoint struct {
	op     *api.Operation
	in     reflect.Type // parameters, and a field Body
	out    reflect.Type // the response's body; nil for none
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

// write binds a handler that returns what is to be saved. It may be called again
// when what it loaded was changed before it could be saved, so it saves nothing
// itself and does not change its input.
func write[I, O any](s *Server, id string, handler func(ctx context.Context, c *call, in *I) (O, *catalog.Change, error)) {
	bind[I, O](s, id, func(ctx context.Context, c *call, in *I) (response, error) {
		return c.save(ctx, func(ctx context.Context) (any, *catalog.Change, error) {
			return handler(ctx, c, in)
		})
	})
}

func bind[I, O any](s *Server, id string, serve func(ctx context.Context, c *call, in *I) (response, error)) {
	op, known := s.operations[id]
	if !known {
		panic(fmt.Sprintf("rest: handler %s has no operation in the contract of its group", id))
	}
	e := endpoint{op: op, in: reflect.TypeFor[I]()}
	if out := reflect.TypeFor[O](); out != reflect.TypeFor[none]() {
		e.out = out
	}
	parameters := sync.OnceValue(func() parameters { return parametersOf(e.in) })
	if body, ok := e.in.FieldByName("Body"); ok {
		e.schema = sync.OnceValue(func() *huma.Schema { return contractSchema(body.Type, requestName(id)) })
	}
	e.serve = func(ctx context.Context, c *call) (response, error) {
		in := new(I)
		v := reflect.ValueOf(in).Elem()
		if err := parameters().fill(v, c); err != nil {
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
