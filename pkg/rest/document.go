package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// addedFields are the fields, by schema, that go beyond the original contract there
// and not elsewhere; those that do everywhere have the tag extension.
var addedFields = map[string][]string{
	"Section":             {"processingStatus"},
	"SectionWithEvidence": {"processingStatus"},
}

// alwaysThere are fields that their type leaves out when empty but that these
// schemas always have.
var alwaysThere = map[string][]string{
	"TransferCourse":             {"processingStatus"},
	"TransferCourseWithEvidence": {"processingStatus"},
}

// nullable are fields that hold an object or null, which their type cannot say.
var nullable = map[string][]string{
	"Review": {"extracted"}, "DocumentWithUpload": {"upload"},
	"Articulation": {"decidedBy", "evidence"}, "Move": {"decidedBy"}, "ExtractionStamps": {"transferCourse", "section"},
}

// OpenAPI returns the contract as an OpenAPI 3.1 document, made of the operations
// (pkg/api) and of the Go types that their handlers take and return.
func OpenAPI() []byte {
	d := newDocument()
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: serviceName, Version: Version,
			Description: "An academic catalog and how it relates to skills and jobs. Every operation costs units of its customer's window: " +
				"x-cost, plus x-cost-per-item for each transfer course or new syllabus that the body asks for. " +
				"x-extension marks what goes beyond the original contract.",
			License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		Servers:  []*huma.Server{{URL: api.BasePath}},
		Security: []map[string][]string{{"ApiKey": {}}},
		Components: &huma.Components{
			Responses:       map[string]*huma.Response{},
			SecuritySchemes: map[string]*huma.SecurityScheme{"ApiKey": {Type: "apiKey", In: "header", Name: api.HeaderKey}},
			Headers: map[string]*huma.Header{
				api.HeaderLimit:        header("integer", "units of the customer's window"),
				api.HeaderRemaining:    header("integer", "units that are left after this call"),
				api.HeaderReset:        header("integer", "UNIX second at which the window ends"),
				api.HeaderRequestID:    added(header("string", "names the request in the service's logs")),
				api.HeaderCost:         added(header("integer", "units that this call was charged")),
				api.HeaderETag:         added(header("string", "names these bytes, for If-None-Match and If-Match")),
				"Link":                 added(header("string", "the pages of the list with rel first, prev, next and last")),
				"Location":             added(header("string", "path of the record that was created, or of what a client is led to")),
				"Retry-After":          added(header("integer", "seconds after which to try again")),
				"Idempotency-Replayed": added(header("string", "true where the response is the one that the same Idempotency-Key had before")),
			},
		},
	}
	for _, tag := range api.Tags() {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: tag.Name, Description: tag.Description})
	}
	s := New(&Server{})
	for _, op := range api.Operations() {
		doc.AddOperation(d.describe(s.endpoints[op.ID], doc.Components.Responses))
	}
	for _, op := range api.Operations() {
		d.describeBody(s.endpoints[op.ID], doc.Paths)
	}
	doc.Components.Schemas = d.schemas()
	packed, err := doc.MarshalJSON()
	if err != nil {
		panic(err) // the document holds nothing that JSON cannot say
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, packed, "", "  "); err != nil {
		panic(err)
	}
	indented.WriteByte('\n')
	return indented.Bytes()
}

func header(kind, description string) *huma.Header {
	return &huma.Header{Description: description, Schema: &huma.Schema{Type: kind}}
}

// added marks a header as an extension of the original contract.
func added(h *huma.Header) *huma.Header {
	h.Extensions = map[string]any{"x-extension": true}
	return h
}

// document makes the schemas of the document. A schema of a request forbids what it
// does not know, one of a response does not: clients should bear a field that is
// added later. A type that both have gets a schema for each.
type document struct{ requests, responses huma.Registry }

func newDocument() document {
	responses := newRegistry(huma.DefaultSchemaNamer)
	requests := newRegistry(func(t reflect.Type, hint string) string {
		name := huma.DefaultSchemaNamer(t, hint)
		if responses.Map()[name] != nil {
			name += "Input"
		}
		return name
	})
	return document{requests, responses}
}

// schemas returns all schemas by name, with what their Go types cannot say.
func (d document) schemas() huma.Registry {
	for name, schema := range d.responses.Map() {
		schema.AdditionalProperties = nil
		for _, f := range reflect.VisibleFields(d.responses.TypeFromRef(schemaPrefix + name)) {
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if instant := reflect.TypeFor[catalog.Time](); f.Type == instant || f.Type == reflect.PointerTo(instant) {
				schema.Properties[field].Format = "date-time"
			}
			if f.Tag.Get("extension") == "true" || slices.Contains(addedFields[name], field) {
				schema.Properties[field].Extensions = map[string]any{"x-extension": true}
			}
		}
		explain(schema, d.responses.TypeFromRef(schemaPrefix+name))
		for _, field := range nullable[name] {
			property := schema.Properties[field]
			schema.Properties[field] = &huma.Schema{Description: property.Description, AnyOf: []*huma.Schema{{Ref: property.Ref}, {Type: "null"}}}
		}
		for _, field := range alwaysThere[name] {
			if !slices.Contains(schema.Required, field) {
				schema.Required = append(schema.Required, field)
			}
		}
	}
	for name, schema := range d.requests.Map() {
		explain(schema, d.requests.TypeFromRef(schemaPrefix+name))
	}
	maps.Copy(d.responses.Map(), d.requests.Map())
	for _, schema := range d.responses.Map() {
		for _, property := range schema.Properties {
			if property.Nullable && property.Enum != nil {
				property.Enum = append(property.Enum, nil)
			}
		}
	}
	return d.responses
}

// describe returns an operation without its body; errors that several have in
// common go to shared.
func (d document) describe(e endpoint, shared map[string]*huma.Response) *huma.Operation {
	op := e.op
	o := &huma.Operation{
		OperationID: op.ID, Summary: op.Summary, Description: op.Description, Tags: []string{op.Group.Tag().Name}, Method: op.Method, Path: op.Path,
		Responses: map[string]*huma.Response{}, Extensions: map[string]any{"x-cost": op.Cost.Base},
	}
	if op.Cost.PerItem > 0 {
		o.Extensions["x-cost-per-item"] = op.Cost.PerItem
	}
	if op.Added {
		o.Extensions["x-extension"] = true
	}
	if op.Access == api.Public {
		o.Security = []map[string][]string{{}}
	}
	for _, p := range parametersOf(e.in) {
		o.Parameters = append(o.Parameters, p.describe())
	}
	if op.Idempotent {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header", Description: "the same key with the same request returns the first response again, for 24 hours",
			Schema: &huma.Schema{Type: "string", MinLength: new(1), MaxLength: new(255)}, Extensions: map[string]any{"x-extension": true},
		})
	}
	for name, taken := range map[string]bool{"If-None-Match": op.Method == http.MethodGet && op.ETag, "If-Match": op.IfMatch != ""} {
		if taken {
			o.Parameters = append(o.Parameters, &huma.Param{
				Name: name, In: "header", Description: "an ETag of the record", Schema: &huma.Schema{Type: "string"}, Extensions: map[string]any{"x-extension": true},
			})
		}
	}
	o.Responses[strconv.Itoa(op.Status)] = d.success(e)
	if op.Method == http.MethodGet && op.ETag {
		o.Responses["304"] = &huma.Response{Description: "Not modified", Headers: headersOf(api.HeaderETag)}
	}
	if op.Leads != "" {
		o.Responses["302"] = &huma.Response{Description: "Found: " + op.Leads + ", for a client that prefers HTML", Headers: headersOf("Location")}
	}
	byStatus := map[int][]string{}
	for _, code := range op.Codes() {
		byStatus[api.Status(code)] = append(byStatus[api.Status(code)], string(code))
	}
	for status, codes := range byStatus {
		slices.Sort(codes)
		name, media, schema := "error_"+strings.Join(codes, "_or_"), api.ProblemMediaType, d.responses.Schema(reflect.TypeFor[api.Problem](), true, "")
		if op.Access == api.Public && op.ShowsPage() {
			name, media, schema = name+"_as_page", api.HTML, &huma.Schema{Type: "string"}
		}
		headers := headersOf()
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			headers = headersOf("Retry-After")
		}
		shared[name] = &huma.Response{
			Description: http.StatusText(status) + ": " + strings.Join(codes, ", "), Headers: headers,
			Content: map[string]*huma.MediaType{media: {Schema: schema}},
		}
		o.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
	return o
}

// describeBody adds the request's body to an operation that takes one. It comes
// after all responses are described, whose schemas have the plain names.
func (d document) describeBody(e endpoint, paths map[string]*huma.PathItem) {
	body, ok := e.in.FieldByName("Body")
	if !ok {
		return
	}
	content := &huma.MediaType{Schema: d.requests.Schema(body.Type, true, requestName(e.op.ID))}
	request := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
	for _, media := range e.op.Accepts {
		request.Content[media] = content
	}
	path := paths[e.op.Path]
	map[string]*huma.Operation{http.MethodPost: path.Post, http.MethodPatch: path.Patch, http.MethodPut: path.Put}[e.op.Method].RequestBody = request
}

func (d document) success(e endpoint) *huma.Response {
	op := e.op
	r := &huma.Response{Description: http.StatusText(op.Status), Headers: headersOf()}
	for name, has := range map[string]bool{api.HeaderETag: op.ETag, "Link": op.Pages, "Location": op.Creates != "", "Idempotency-Replayed": op.Idempotent} {
		if has {
			maps.Copy(r.Headers, headersOf(name))
		}
	}
	for _, media := range op.Gives {
		schema := &huma.Schema{Type: "string"}
		if media == api.JSON {
			schema = &huma.Schema{Type: "object"}
			if e.out != reflect.TypeFor[anything]() {
				schema = d.responses.Schema(e.out, true, "")
			}
		}
		if r.Content == nil {
			r.Content = map[string]*huma.MediaType{}
		}
		r.Content[media] = &huma.MediaType{Schema: schema}
	}
	return r
}

// headersOf returns the headers that every response has, and more.
func headersOf(more ...string) map[string]*huma.Param {
	headers := map[string]*huma.Param{}
	for _, name := range append([]string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost}, more...) {
		headers[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return headers
}

// requestName names the schema of an operation's body.
func requestName(id string) string { return strings.ToUpper(id[:1]) + id[1:] + "Request" }

func (p parameter) describe() *huma.Param {
	schema := &huma.Schema{Type: "string", Minimum: p.minimum, Maximum: p.maximum, MinLength: p.minLength}
	switch p.kind {
	case reflect.Int:
		schema.Type = "integer"
	case reflect.Float64:
		schema.Type = "number"
	case reflect.Bool:
		schema.Type = "boolean"
	}
	if p.date {
		schema.Format = "date"
	}
	var enum []any
	for _, value := range p.enum {
		enum = append(enum, value)
	}
	if p.list {
		schema = &huma.Schema{Type: "array", Items: &huma.Schema{Type: "string", Enum: enum}}
	} else {
		schema.Enum = enum
	}
	if p.fallback != "" {
		schema.Default = p.fallback
		if n, err := strconv.Atoi(p.fallback); err == nil && schema.Type == "integer" {
			schema.Default = n
		}
	}
	param := &huma.Param{Name: p.name, In: p.in, Description: cmp.Or(p.doc, meanings[p.name]), Required: p.required, Schema: schema}
	if p.extension {
		param.Extensions = map[string]any{"x-extension": true}
	}
	if p.list {
		param.Explode = new(false)
		param.Style = "form"
	}
	return param
}
