// Package openapi generates the OpenAPI document from the operations (pkg/api), the Go types of their handlers
// (pkg/rest), and the events with their golden responses, which are its examples. No function links it: `make openapi`
// writes the document, and functions embed it.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/schema"
)

const openAPIVersion = "3.1.0"

// Document returns the contract as an OpenAPI 3.1 document.
func Document(events fs.FS) []byte {
	d := newDocument(events)
	doc := &huma.OpenAPI{
		OpenAPI: openAPIVersion,
		Info: &huma.Info{
			Title: rest.ServiceName, Version: rest.Version,
			Description: "An academic catalog and its relation to skills and jobs. Every operation costs units " +
				"of its customer's window: " +
				"x-cost, plus x-cost-per-item for each x-cost-item (by default a transfer course or new syllabus in the body). " +
				"x-problems lists an operation's problem codes. x-extension marks extensions of the original contract.",
			Contact: &huma.Contact{Name: "The operator of the service"},
			License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"},
		},
		Servers:  []*huma.Server{{URL: api.BasePath}},
		Security: []map[string][]string{{"ApiKey": {}}},
		Components: &huma.Components{
			Responses: d.problemResponses(),
			SecuritySchemes: map[string]*huma.SecurityScheme{"ApiKey": {
				Type: "apiKey", In: "header", Name: api.HeaderKey,
				Description: "API key of a customer. A key of scope read can call only operations that store nothing.",
			}},
			Headers: map[string]*huma.Header{
				api.HeaderLimit:     header("integer", "Units available per window"),
				api.HeaderRemaining: header("integer", "Units left after this call"),
				api.HeaderReset:     header("integer", "Unix second at which the window ends"),
				api.HeaderRequestID: added(header("string", "Id of the request in the service's logs")),
				api.HeaderCost:      added(header("integer", "Units charged for this call")),
				api.HeaderETag:      added(header("string", "Entity tag of the response, for If-None-Match and If-Match")),
				api.HeaderRecordETag: added(header("string",
					"Entity tag of the record for If-Match, where the response is not the record alone, as with include")),
				"Link":     added(header("string", "Pages of the list with rel first, prev, next and last (RFC 8288)")),
				"Location": added(header("string", "Path of the created record, or of the redirect target")),
				"Retry-After": added(header("integer",
					"Seconds to wait before a retry, with 429 and 503; or before the record is read again, while it is worked on")),
				"Idempotency-Replayed": added(header("string",
					"true if this is the stored response of an earlier request with the same Idempotency-Key")),
			},
		},
	}
	for _, tag := range api.Tags() {
		doc.Tags = append(doc.Tags, &huma.Tag{Name: tag.Name, Description: tag.Description})
	}
	endpoints := rest.Endpoints()
	for _, e := range endpoints {
		doc.AddOperation(d.describe(e))
	}
	for _, e := range endpoints {
		d.describeBody(e, doc.Paths)
	}
	message := d.message()
	doc.Webhooks = map[string]*huma.PathItem{"message": {Post: message}}
	// For generators that ignore webhooks, the message is also a callback of createWebhook.
	callback := *message
	callback.OperationID, callback.Description = "receiveMessage", "The webhook message of this document."
	doc.Paths["/webhooks"].Post.Callbacks = map[string]map[string]*huma.PathItem{
		"message": {"{$request.body#/url}": {Post: &callback}},
	}
	doc.Components.Schemas = d.schemas()
	packed, err := doc.MarshalJSON()
	if err != nil {
		panic(err) // every document can be encoded
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

// document makes the parts of the document. Schemas of requests forbid unknown properties; those of responses allow
// them, because fields may be added later. A type used by both has a schema for each.
type document struct {
	requests, responses huma.Registry
	words               map[string]*huma.Schema // enumerations of fields, and lists of records, by schema name
	events              fs.FS
}

// describe returns an operation without its body.
func (d document) describe(e rest.Endpoint) *huma.Operation {
	op := e.Operation
	o := &huma.Operation{
		OperationID: op.ID, Summary: op.Summary, Description: op.Description + "\n\n" + terms(op),
		Tags: []string{op.Group.Tag().Name}, Method: op.Method, Path: op.Path,
		Responses:  map[string]*huma.Response{strconv.Itoa(op.Status): d.success(e), "default": refusal(op, "Problem")},
		Extensions: map[string]any{"x-cost": op.Cost.Base, "x-problems": op.Codes()},
	}
	if op.Begins {
		o.Responses[strconv.Itoa(http.StatusAccepted)] = d.success(e)
		o.Responses[strconv.Itoa(http.StatusAccepted)].Description = http.StatusText(http.StatusAccepted)
	}
	for _, code := range op.Codes() {
		if status := api.Status(code); status != http.StatusInternalServerError {
			o.Responses[strconv.Itoa(status)] = refusal(op, statusName(status))
		}
	}
	if op.Cost.PerItem > 0 {
		o.Extensions["x-cost-per-item"] = op.Cost.PerItem
	}
	if op.Item != "" {
		o.Extensions["x-cost-item"] = op.Item
	}
	if op.Added {
		o.Extensions["x-extension"] = true
	}
	if op.Access == api.Public {
		o.Security = []map[string][]string{{}}
	}
	if op.Method == http.MethodGet && op.ETag {
		o.Responses["304"] = &huma.Response{Description: "The ETag matches If-None-Match.",
			Headers: headersOf(api.HeaderETag)}
	}
	example := d.example(op.ID)
	for _, name := range op.Parameters() {
		described := &huma.Param{
			Name: name, In: "path", Description: meanings[name], Required: true, Schema: &huma.Schema{Type: "string"},
		}
		if value, given := example.params[name]; given {
			described.Example = value
		}
		o.Parameters = append(o.Parameters, described)
	}
	for _, p := range schema.ParametersOf(e.In, op.Formats()) {
		described := describeParameter(p)
		described.Example = exampleOf(p, example.params)
		o.Parameters = append(o.Parameters, described)
	}
	requestHeader := func(name, description, example string, schema *huma.Schema) {
		o.Parameters = append(o.Parameters, &huma.Param{
			Name: name, In: "header", Description: description, Example: example, Schema: schema,
			Extensions: map[string]any{"x-extension": true},
		})
	}
	if op.Idempotent {
		requestHeader("Idempotency-Key", "Repeating a request with the same key returns the first response for 24 hours. 1 "+
			"to 255 printable ASCII characters, not all blank.",
			"3f0c2a4e-1b7d-4c55-9a35-2f5a4f6c1d10",
			&huma.Schema{Type: "string", MinLength: new(1), MaxLength: new(255), Pattern: `^[ -~]*[!-~][ -~]*$`})
	}
	if op.Method == http.MethodGet && op.ETag {
		requestHeader("If-None-Match", "ETag of an earlier response; if it still matches, the response is 304 without a body",
			`"5e1c9a"`, &huma.Schema{Type: "string"})
	}
	if op.IfMatch != "" {
		requestHeader("If-Match", "ETag of the record; if the record has changed since, the response is 412", `"5e1c9a"`,
			&huma.Schema{Type: "string"})
	}
	if op.Leads != "" {
		o.Responses["302"] = &huma.Response{Description: "Redirect to " + op.Leads + ", for a client that prefers HTML",
			Headers: headersOf("Location")}
	}
	return o
}

// terms describes the cost, key and problems of an operation.
func terms(op *api.Operation) string {
	units := func(n int) string {
		if n == 1 {
			return "1 unit"
		}
		return fmt.Sprintf("%d units", n)
	}
	cost := "Costs " + units(op.Cost.Base)
	switch {
	case op.Cost.PerItem > 0 && op.Cost.Base > 0:
		cost += fmt.Sprintf(", and %d for each %s", op.Cost.PerItem, cmp.Or(op.Item, "item"))
	case op.Cost.PerItem > 0:
		cost = "Costs " + units(op.Cost.PerItem) + " for each item"
	case op.Cost.Base == 0:
		cost = "Costs nothing"
	}
	key := map[api.Access]string{api.Read: "Requires any API key.", api.Write: "Requires an API key of scope write.",
		api.Public: "Requires no API key."}[op.Access]
	var problems []string
	for _, code := range op.Codes() {
		problems = append(problems, fmt.Sprintf("%d %s", api.Status(code), code))
	}
	slices.Sort(problems)
	return cost + ". " + key + " Problems: " + strings.Join(problems, ", ") + "."
}

// refusal returns a reference to one of problemResponses.
func refusal(op *api.Operation, name string) *huma.Response {
	if op.Access == api.Public && op.ShowsPage() {
		name = "ProblemPage"
	}
	return &huma.Response{Ref: "#/components/responses/" + name}
}

// statusName names the response of the problems of a status.
func statusName(status int) string { return strings.ReplaceAll(http.StatusText(status), " ", "") }

// problemResponses returns the shared responses: one for each status of problems, Problem for any other, and
// ProblemPage for public pages.
func (d document) problemResponses() map[string]*huma.Response {
	schema := d.responses.Schema(reflect.TypeFor[api.Problem](), true, "")
	problem := func(description string, examples map[string]*huma.Example, headers map[string]*huma.Param) *huma.Response {
		return &huma.Response{
			Description: description, Headers: headers,
			Content: map[string]*huma.MediaType{api.ProblemMediaType: {Schema: schema, Examples: examples}},
		}
	}
	all := d.problems()
	responses := map[string]*huma.Response{
		"Problem": problem(
			"Any other problem (RFC 9457): an error of the service, or of the gateway in front of it", all, nil),
		"ProblemPage": {
			Description: "A page that describes the problem.", Headers: headersOf("Retry-After"),
			Content: map[string]*huma.MediaType{api.HTML: {Schema: &huma.Schema{Type: "string"}}},
		},
	}
	byStatus := map[int]map[string]*huma.Example{}
	for _, op := range api.Operations() {
		for _, code := range op.Codes() {
			status := api.Status(code)
			if byStatus[status] == nil {
				byStatus[status] = map[string]*huma.Example{}
			}
			byStatus[status][string(code)] = all[string(code)]
		}
	}
	delete(byStatus, http.StatusInternalServerError) // covered by Problem
	for status, examples := range byStatus {
		// Only the headers on which clients act are listed, because generators repeat them for each operation.
		var headers map[string]*huma.Param
		switch status {
		case http.StatusTooManyRequests:
			headers = headersOf("Retry-After")
		case http.StatusServiceUnavailable:
			headers = map[string]*huma.Param{"Retry-After": {Ref: "#/components/headers/Retry-After"}}
		}
		codes := strings.Join(slices.Sorted(maps.Keys(examples)), " or ")
		responses[statusName(status)] = problem("A problem with the code "+codes, examples, headers)
	}
	return responses
}

// describeBody adds the request's body to an operation. It runs after all responses are described, so that their
// schemas get the plain names.
func (d document) describeBody(e rest.Endpoint, paths map[string]*huma.PathItem) {
	body, ok := e.In.FieldByName("Body")
	if !ok {
		return
	}
	content := &huma.MediaType{Schema: d.requests.Schema(body.Type, true, rest.RequestName(e.ID)),
		Example: d.example(e.ID).request}
	if e.Method == http.MethodPatch {
		d.requests.SchemaFromRef(content.Schema.Ref).Required = nil
	}
	request := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{}}
	for _, media := range e.Accepts {
		request.Content[media] = content
	}
	path := paths[e.Path]
	map[string]*huma.Operation{http.MethodPost: path.Post, http.MethodPatch: path.Patch,
		http.MethodPut: path.Put}[e.Method].RequestBody = request
}

func (d document) success(e rest.Endpoint) *huma.Response {
	op := e.Operation
	r := &huma.Response{Description: http.StatusText(op.Status), Headers: headersOf(), Links: links(e)}
	for name, has := range map[string]bool{api.HeaderETag: op.ETag, api.HeaderRecordETag: op.Record, "Link": op.Pages,
		"Location": op.Creates != "", "Retry-After": op.Polled, "Idempotency-Replayed": op.Idempotent} {
		if has {
			maps.Copy(r.Headers, headersOf(name))
		}
	}
	for _, media := range op.Gives {
		content := &huma.MediaType{Schema: &huma.Schema{Type: "string"}}
		switch media {
		default:
			content.Example = d.textOf(media)
		case api.HTML: // pages are too long
		case api.LinkedData:
			content.Schema, content.Example = &huma.Schema{Type: "object"}, d.example(op.ID).response
		case api.JSON:
			content.Schema, content.Example = &huma.Schema{Type: "object"}, d.example(op.ID).response
			if e.Out != nil {
				content.Schema = d.named(d.responses.Schema(e.Out, true, ""))
			} else if content.Example == nil { // too long for the events
				content.Example = map[string]any{
					"openapi": openAPIVersion, "info": map[string]any{"title": rest.ServiceName, "version": rest.Version},
					"paths": map[string]any{},
				}
			}
		}
		if r.Content == nil {
			r.Content = map[string]*huma.MediaType{}
		}
		r.Content[media] = content
	}
	return r
}

// named makes a list of records a schema of its own.
func (d document) named(schema *huma.Schema) *huma.Schema {
	if schema.Items == nil || schema.Items.Ref == "" {
		return schema
	}
	name := strings.TrimPrefix(schema.Items.Ref, schemaPrefix) + "s"
	d.words[name] = schema
	return &huma.Schema{Ref: schemaPrefix + name}
}

// links returns the link from a created record to its GET.
func links(e rest.Endpoint) map[string]*huma.Link {
	if e.Creates == "" {
		return nil
	}
	read := api.Of(e.Creates)
	names := read.Parameters()
	own := names[len(names)-1]
	at := idPointer(e.Out, own)
	if at == "" {
		return nil
	}
	parameters := map[string]any{own: "$response.body#" + at}
	for _, name := range names[:len(names)-1] {
		parameters[name] = "$request.path." + name
	}
	return map[string]*huma.Link{read.ID: {OperationID: read.ID, Parameters: parameters, Description: read.Summary}}
}

// idPointer returns the JSON pointer to the id of the created record: a field named like the parameter, id, or the id
// of a nested record. It returns "" for lists.
func idPointer(out reflect.Type, parameter string) string {
	if out.Kind() == reflect.Pointer {
		out = out.Elem()
	}
	if out.Kind() != reflect.Struct {
		return ""
	}
	within := ""
	for _, f := range reflect.VisibleFields(out) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name != "" && (name == parameter || name == "id") {
			return "/" + name
		}
		if inner := f.Type; name != "" && reflect.PointerTo(inner).Implements(reflect.TypeFor[catalog.Record]()) {
			within = "/" + name + "/id"
		}
	}
	return within
}

// headersOf returns the headers of every response, and more.
func headersOf(more ...string) map[string]*huma.Param {
	headers := map[string]*huma.Param{}
	for _, name := range append([]string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset,
		api.HeaderCost}, more...) {
		headers[name] = &huma.Param{Ref: "#/components/headers/" + name}
	}
	return headers
}

func describeParameter(p schema.Parameter) *huma.Param {
	of := *p.Schema
	of.Description = ""
	switch of.Type {
	case huma.TypeInteger:
		if of.Maximum == nil {
			of.Extensions = map[string]any{"maximum": int64(math.MaxInt64)} // not representable as a float64
		}
	case huma.TypeNumber:
		of.Format = ""
	}
	param := &huma.Param{Name: p.Name, In: "query", Description: cmp.Or(p.Schema.Description, meanings[p.Name]),
		Required: p.Required, Schema: &of}
	if p.Extension {
		param.Extensions = map[string]any{"x-extension": true}
	}
	if of.Type == huma.TypeArray {
		param.Explode = new(false)
		param.Style = "form"
	}
	return param
}
