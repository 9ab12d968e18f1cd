package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// addedFields are the fields, by schema, that seed.md does not have.
var addedFields = map[string][]string{
	"Section":                    {"instructorName", "processingStatus", "failure", "warnings"},
	"SectionWithEvidence":        {"instructorName", "processingStatus", "failure", "warnings", "evidence", "extraction"},
	"TransferCourse":             {"failure", "warnings"},
	"TransferCourseWithEvidence": {"failure", "warnings", "evidence", "extraction"},
}

// alwaysThere are fields that their type leaves out when empty but that these
// schemas always have.
var alwaysThere = map[string][]string{
	"TransferCourse":             {"processingStatus"},
	"TransferCourseWithEvidence": {"processingStatus"},
}

const schemaPrefix = "#/components/schemas/"

// OpenAPI gives the contract as an OpenAPI 3.1 document, made of the operations
// (pkg/api) and of the Go types that their handlers take and give.
func OpenAPI() []byte {
	s := New(&Server{})
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title: "Skills Curriculum Service", Version: "1.0.0",
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
				"Location":             added(header("string", "path of the record, where one was created")),
				"Retry-After":          added(header("integer", "seconds after which to try again")),
				"Idempotency-Replayed": added(header("string", "true where the answer is the one that was given before to the same Idempotency-Key")),
			},
		},
	}
	registryMu.Lock()
	defer registryMu.Unlock()
	for _, group := range api.Groups() {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: string(group), Description: "Operations of the function " + string(group)})
	}
	for _, op := range api.Operations() {
		doc.AddOperation(s.describe(op, doc.Components.Responses))
	}
	finishSchemas()
	doc.Components.Schemas = registry()
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

// added marks a header that seed.md does not have.
func added(h *huma.Header) *huma.Header {
	h.Extensions = map[string]any{"x-extension": true}
	return h
}

// describe gives an operation; error answers that several have in common go to
// shared.
func (s *Server) describe(op api.Operation, shared map[string]*huma.Response) *huma.Operation {
	e := s.endpoints[op.ID]
	o := &huma.Operation{
		OperationID: op.ID, Summary: op.Summary, Tags: []string{string(op.Group)}, Method: op.Method, Path: op.Path,
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
	if op.Idem {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: "Idempotency-Key", In: "header", Description: "the same key with the same request gives the first answer again, for 24 hours",
			Schema: &huma.Schema{Type: "string", MinLength: new(1), MaxLength: new(255)}, Extensions: map[string]any{"x-extension": true},
		})
	}
	condition := map[string]string{http.MethodGet: "If-None-Match", http.MethodPatch: "If-Match", http.MethodDelete: "If-Match"}[op.Method]
	if condition != "" && !e.pages {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: condition, In: "header", Description: "an ETag of the record", Schema: &huma.Schema{Type: "string"}, Extensions: map[string]any{"x-extension": true},
		})
	}
	if body, ok := e.in.FieldByName("Body"); ok {
		content := &huma.MediaType{Schema: schemaOf(body.Type, requestName(op.ID))}
		o.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{jsonMediaType: content}}
		if op.Method == http.MethodPatch {
			o.RequestBody.Content["application/merge-patch+json"] = content
		}
	}
	o.Responses[strconv.Itoa(op.Status)] = s.success(op, e)
	if op.Method == http.MethodGet && e.tagged {
		o.Responses["304"] = &huma.Response{Description: "Not modified", Headers: headersOf(api.HeaderETag)}
	}
	byStatus := map[int][]string{}
	for _, code := range op.Codes() {
		byStatus[api.Status(code)] = append(byStatus[api.Status(code)], string(code))
	}
	for status, codes := range byStatus {
		slices.Sort(codes)
		name := "error_" + strings.Join(codes, "_or_")
		headers := headersOf()
		if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
			headers = headersOf("Retry-After")
		}
		shared[name] = &huma.Response{
			Description: http.StatusText(status) + ": " + strings.Join(codes, ", "), Headers: headers,
			Content: map[string]*huma.MediaType{api.ProblemMediaType: {Schema: schemaOf(reflect.TypeFor[api.Problem](), "")}},
		}
		o.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
	return o
}

func (s *Server) success(op api.Operation, e endpoint) *huma.Response {
	r := &huma.Response{Description: http.StatusText(op.Status), Headers: headersOf()}
	for name, given := range map[string]bool{
		api.HeaderETag: e.tagged, "Link": e.pages, "Location": op.Status == http.StatusCreated || op.ID == "createSyllabusExtraction", "Idempotency-Replayed": op.Idem,
	} {
		if given {
			maps.Copy(r.Headers, headersOf(name))
		}
	}
	switch {
	case op.ID == "getOpenAPI":
		r.Content = map[string]*huma.MediaType{jsonMediaType: {Schema: &huma.Schema{Type: "object"}}}
	case op.ID == "getReport":
		r.Content = map[string]*huma.MediaType{
			jsonMediaType: {Schema: schemaOf(reflect.TypeFor[alignment.Result](), "")},
			"text/csv":    {Schema: &huma.Schema{Type: "string"}}, "text/html": {Schema: &huma.Schema{Type: "string"}},
		}
	case e.out != nil:
		r.Content = map[string]*huma.MediaType{jsonMediaType: {Schema: schemaOf(e.out, "")}}
	}
	return r
}

// headersOf gives the headers that every answer has, and more.
func headersOf(more ...string) map[string]*huma.Param {
	headers := map[string]*huma.Param{}
	for _, name := range append([]string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost}, more...) {
		headers[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return headers
}

// requestName names the schema of an operation's body.
func requestName(id string) string { return strings.ToUpper(id[:1]) + id[1:] + "Request" }

// schemaOf gives a reference to the schema of a type, which hint names where the
// type has no name.
func schemaOf(t reflect.Type, hint string) *huma.Schema { return registry().Schema(t, true, hint) }

func (p parameter) describe() *huma.Param {
	schema := &huma.Schema{Type: "string", Minimum: p.minimum, Maximum: p.maximum}
	switch p.kind {
	case reflect.Int:
		schema.Type = "integer"
	case reflect.Float64, reflect.Pointer:
		schema.Type = "number"
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
	param := &huma.Param{Name: p.name, In: p.in, Description: p.doc, Required: p.required, Schema: schema}
	if p.list {
		param.Explode = new(false)
		param.Style = "form"
	}
	return param
}

// finishSchemas adds to the schemas what their Go types cannot say.
func finishSchemas() {
	instant := reflect.TypeFor[catalog.Time]()
	for name, schema := range registry().Map() {
		for _, f := range reflect.VisibleFields(registry().TypeFromRef(schemaPrefix + name)) {
			t := f.Type
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			field, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if property := schema.Properties[field]; property != nil && t == instant {
				property.Format = "date-time"
			}
		}
		for _, field := range addedFields[name] {
			property := schema.Properties[field]
			if property == nil {
				panic(fmt.Sprintf("schema %s has no field %s", name, field))
			}
			property.Extensions = map[string]any{"x-extension": true}
		}
		for _, field := range alwaysThere[name] {
			if !slices.Contains(schema.Required, field) {
				schema.Required = append(schema.Required, field)
			}
		}
	}
}
