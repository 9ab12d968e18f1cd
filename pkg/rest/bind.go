package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"mime"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// endpoint is an operation with its handler bound to it.
type endpoint struct {
	op     api.Operation
	in     reflect.Type // parameters, and a field Body
	out    reflect.Type // the answer's body; nil for none
	serve  func(ctx context.Context, c *call) (answer, error)
	schema func() *huma.Schema // of the body; nil for none
	tagged bool                // the answer has an ETag: a record, or what a GET shows that is no page
	pages  bool                // the answer is a page of a list
}

// call is what a handler knows of its request beside its input.
type call struct {
	*Server
	*exchange
	op       api.Operation
	customer catalog.Customer
	org      catalog.OrgID
	now      catalog.Time
	strong   bool // reads are of the records as they are now: something is decided on them

	// What the handler may say beside its output.
	location    string // of the one record that it created, below BasePath
	links       []string
	contentType string // of a body that is not JSON
	policy      string // what a page may load
}

// none is the output of operations that answer nothing.
type none struct{}

// raw is an output that is encoded already.
type raw []byte

// read binds a handler that saves nothing.
func read[I, O any](s *Server, id string, handler func(ctx context.Context, c *call, in *I) (O, error)) {
	bind[I, O](s, id, func(ctx context.Context, c *call, in *I) (answer, error) {
		if c.op.Idem {
			return c.save(ctx, c.request.URL.Path, in, func(ctx context.Context) (any, *catalog.Change, error) {
				out, err := handler(ctx, c, in)
				return out, &catalog.Change{}, err
			})
		}
		out, err := handler(ctx, c, in)
		if err != nil {
			return answer{}, err
		}
		a := c.encode(out)
		if err := c.fits(a); err != nil {
			return answer{}, err
		}
		if match := c.request.Header.Get("If-None-Match"); match != "" && a.header[api.HeaderETag] != nil && matches(match, a.header[api.HeaderETag][0], true) {
			// The tag that the whole response would have.
			tag := api.CodedTag(a.header[api.HeaderETag][0], api.Coding(c.request.Header.Get("Accept-Encoding"), len(a.body)))
			return answer{status: http.StatusNotModified, header: http.Header{api.HeaderETag: {tag}}}, nil
		}
		return a, nil
	})
}

// write binds a handler that says what is to be saved. It may be called again
// when what it loaded was changed before it could be saved, so it saves nothing
// itself and does not change its input.
func write[I, O any](s *Server, id string, handler func(ctx context.Context, c *call, in *I) (O, *catalog.Change, error)) {
	bind[I, O](s, id, func(ctx context.Context, c *call, in *I) (answer, error) {
		return c.save(ctx, c.request.URL.Path, in, func(ctx context.Context) (any, *catalog.Change, error) {
			out, change, err := handler(ctx, c, in)
			return out, change, err
		})
	})
}

func bind[I, O any](s *Server, id string, serve func(ctx context.Context, c *call, in *I) (answer, error)) {
	e := endpoint{op: api.Of(id), in: reflect.TypeFor[I]()}
	if out := reflect.TypeFor[O](); out != reflect.TypeFor[none]() {
		e.out = out
		e.pages = out.Kind() == reflect.Struct && hasField(out, "Pagination")
		e.tagged = out.Implements(reflect.TypeFor[catalog.Record]()) || out == reflect.TypeFor[*alignment.Result]() || e.op.Method == http.MethodGet && !e.pages
	}
	parameters := sync.OnceValue(func() parameters { return parametersOf(e.in) })
	if body, ok := e.in.FieldByName("Body"); ok {
		e.schema = sync.OnceValue(func() *huma.Schema { return contractSchema(body.Type, requestName(id)) })
	}
	e.serve = func(ctx context.Context, c *call) (answer, error) {
		in := new(I)
		v := reflect.ValueOf(in).Elem()
		if err := parameters().fill(v, c); err != nil {
			return answer{}, err
		}
		if e.schema != nil {
			if err := decodeBody(c, e.schema(), v.FieldByName("Body").Addr().Interface()); err != nil {
				return answer{}, err
			}
		}
		return serve(ctx, c, in)
	}
	s.endpoints[id] = e
}

func hasField(t reflect.Type, name string) bool {
	_, ok := t.FieldByName(name)
	return ok
}

// decodeBody validates the body, whose strings are trimmed by now, and decodes it.
func decodeBody(c *call, schema *huma.Schema, into any) error {
	tree, err := c.body()
	if err != nil {
		return err
	}
	if _, ok := tree.(map[string]any); !ok {
		return catalog.Invalid(catalog.FieldError{Location: "body", Message: "must be a JSON object"})
	}
	if faults := validate(schema, tree); faults != nil {
		return catalog.Invalid(faults...)
	}
	trimmed, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(trimmed, into); err != nil {
		return catalog.Invalid(catalog.FieldError{Location: "body", Message: "does not fit the schema"})
	}
	return nil
}

// itemsIn counts what a body asks to have extracted: its courses, or its syllabus.
func itemsIn(tree any) int {
	object, _ := tree.(map[string]any)
	if courses, ok := object["courses"].([]any); ok {
		return min(len(courses), maxCoursesInBody)
	}
	if href, ok := object["syllabusHref"].(string); ok && href != "" {
		return 1
	}
	return 0
}

func acceptedMedia(r *http.Request) bool {
	media, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return false
	}
	if charset, ok := params["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return false
	}
	return media == jsonMediaType || r.Method == http.MethodPatch && media == "application/merge-patch+json"
}

// How often and how long a change is decided anew because others changed the same.
const (
	saveAttempts = 60
	savePause    = 15 * time.Millisecond
	saveMaxPause = 400 * time.Millisecond
	saveTime     = 20 * time.Second
)

// save runs a handler and saves what it says, once: under an idempotency key the
// first answer is kept and given again. What was changed by others in the meantime
// is loaded and decided anew.
func (c *call) save(ctx context.Context, path string, in any, handler func(ctx context.Context) (any, *catalog.Change, error)) (answer, error) {
	key, digest, err := c.idempotency(path, in)
	if err != nil {
		return answer{}, err
	}
	deadline := time.Now().Add(saveTime)
	pause := savePause
	for range saveAttempts {
		var out any
		var change *catalog.Change
		var decided error
		_, kept, err := beside(ctx, func(ctx context.Context) (none, error) {
			out, change, decided = handler(ctx)
			return none{}, nil
		}, func(ctx context.Context) (*catalog.IdempotencyRecord, error) {
			if key == "" {
				return nil, nil
			}
			return c.Store.IdempotencyRecord(ctx, c.org, key)
		})
		switch {
		case err != nil:
			return answer{}, err
		case kept != nil:
			// Whatever the handler says now, the first answer stands.
			return c.replay(kept, digest)
		case decided != nil:
			return answer{}, decided
		}
		if err := c.checkIfMatch(ctx); err != nil {
			return answer{}, err
		}
		a := c.encode(out)
		if err := c.fits(a); err != nil {
			return answer{}, err
		}
		if key != "" {
			change.Idempotency = &catalog.IdempotencyRecord{
				Key: key, Request: digest, Status: a.status, Location: c.location, Body: a.body, ExpiresAt: c.now + catalog.IdempotencyTTL,
			}
		}
		if err := c.admission.wait(); err != nil {
			return answer{}, err
		}
		if change.Empty() {
			return a, nil
		}
		err = c.Store.Commit(ctx, c.org, change)
		if err == nil {
			if len(change.Jobs) > 0 {
				if err := c.Queue.Send(ctx, change.Jobs); err != nil {
					// The sweeper sends them again.
					c.Log.WarnContext(ctx, "extractions not queued", "requestId", c.id, "count", len(change.Jobs), "cause", err.Error())
				}
			}
			return a, nil
		}
		if !errors.Is(err, catalog.ErrStale) {
			return answer{}, err
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return answer{}, ctx.Err()
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, saveMaxPause)
	}
	return answer{}, catalog.Errorf(catalog.Unavailable, "Too many others are changing the same at the moment.")
}

// idempotency gives the request's idempotency key, empty for none, and a digest
// of what the request asks for.
func (c *call) idempotency(path string, in any) (key, digest string, err error) {
	values := c.request.Header.Values("Idempotency-Key")
	if !c.op.Idem || len(values) == 0 {
		return "", "", nil
	}
	key = values[0]
	printable := strings.IndexFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0
	if len(values) > 1 || !printable || strings.TrimSpace(key) == "" || len(key) > 255 {
		return "", "", catalog.Errorf(catalog.InvalidParameter, "Idempotency-Key must be 1 to 255 printable characters.")
	}
	sum := sha256.New()
	sum.Write([]byte(c.op.ID + " " + path + "\n"))
	sum.Write(encode(in))
	return key, hex.EncodeToString(sum.Sum(nil)), nil
}

func (c *call) replay(kept *catalog.IdempotencyRecord, digest string) (answer, error) {
	if kept.Request != digest {
		return answer{}, catalog.Errorf(catalog.IdempotencyKeyReused, "The Idempotency-Key was used for another request.")
	}
	a := answer{status: kept.Status, header: http.Header{"Idempotency-Replayed": {"true"}}, body: kept.Body}
	if kept.Location != "" {
		a.header["Location"] = []string{kept.Location}
	}
	c.tag(a)
	return a, nil
}

// encode gives the answer for a handler's output.
func (c *call) encode(out any) answer {
	a := answer{status: c.op.Status, header: http.Header{}}
	switch out := out.(type) {
	case none:
	case raw:
		a.body = out
	default:
		a.body = encode(out)
	}
	if c.contentType != "" {
		a.header["Content-Type"] = []string{c.contentType}
	}
	if c.policy != "" {
		a.header["Content-Security-Policy"] = []string{c.policy}
	}
	if c.location != "" {
		a.header["Location"] = []string{c.location}
	}
	if len(c.links) > 0 {
		a.header["Link"] = []string{strings.Join(c.links, ", ")}
	}
	c.tag(a)
	return a
}

// tag gives what a client may later ask for conditionally its ETag.
func (c *call) tag(a answer) {
	if c.endpoints[c.op.ID].tagged {
		sum := sha256.Sum256(a.body)
		a.header[api.HeaderETag] = []string{`"` + hex.EncodeToString(sum[:12]) + `"`}
	}
}

// maxAnswer is how long a body may be: a function's answer ends at 6 MB.
const maxAnswer = 5_800_000

// fits refuses an answer that could not be delivered, and says what to ask for.
func (c *call) fits(a answer) error {
	switch {
	case len(a.body) <= maxAnswer:
		return nil
	case c.op.HasBody():
		return catalog.Invalid(catalog.FieldError{Location: "body", Message: fmt.Sprintf("the answer would be longer than %d bytes: ask for less at a time", maxAnswer)})
	}
	return catalog.Errorf(catalog.InvalidParameter, "The answer would be longer than %d bytes: ask for less at a time, or for another format.", maxAnswer)
}

// matches compares an If-Match or If-None-Match header with an ETag, and takes that
// of any content coding for it. Weak tags only match where the comparison is weak.
func matches(header, tag string, weak bool) bool {
	for candidate := range strings.SplitSeq(header, ",") {
		candidate = strings.TrimSpace(candidate)
		if weak {
			candidate = strings.TrimPrefix(candidate, "W/")
		}
		if candidate == "*" || api.PlainTag(candidate) == tag {
			return true
		}
	}
	return false
}

// checkIfMatch compares If-Match with the record as a GET shows it now. It runs
// after the handler has loaded the record and before its change is saved, which
// fails if the record was changed in between: what is compared is what is changed.
func (c *call) checkIfMatch(ctx context.Context) error {
	header := c.request.Header.Get("If-Match")
	if header == "" || c.op.Method == http.MethodPost {
		return nil
	}
	path := c.path
	for {
		route, err := api.Match(http.MethodGet, path)
		if err != nil {
			return err
		}
		if route.Operation != nil {
			// Parameters of the request do not change what the record's GET shows.
			plain := *c.request
			plain.Method, plain.Header = http.MethodGet, http.Header{}
			location := *c.request.URL
			location.RawQuery = ""
			plain.URL = &location
			x := *c.exchange
			x.request, x.route, x.path = &plain, route, path
			current := *c
			current.exchange, current.op, current.location, current.links = &x, *route.Operation, "", nil
			a, err := c.endpoints[route.Operation.ID].serve(ctx, &current)
			if err != nil {
				return err
			}
			if !matches(header, a.header[api.HeaderETag][0], false) {
				return catalog.Errorf(catalog.PreconditionFailed, "The record is not the one that If-Match names.")
			}
			return nil
		}
		// A member of a record, as a program's course, has no GET of its own.
		path = path[:strings.LastIndex(path, "/")]
	}
}

// encode writes JSON as the service sends it.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // outputs hold nothing that JSON cannot say
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
