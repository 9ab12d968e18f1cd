package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// contract is the OpenAPI document as a validator reads it: each schema of it is
// a JSON Schema (2020-12), as OpenAPI 3.1 has it. Here no schema allows what it does
// not describe: a client bears that, the document must not leave it out.
var contract = sync.OnceValue(func() map[string]any {
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(openAPI()))
	if err != nil {
		panic(err)
	}
	for _, schema := range at(document, "components", "schemas").(map[string]any) {
		if at(schema, "properties") != nil {
			schema.(map[string]any)["additionalProperties"] = false
		}
	}
	return document.(map[string]any)
})

const contractURL = "contract:openapi.json"

// schemas holds the compiled schemas by their place in the document.
var schemas struct {
	sync.Mutex
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema
}

func schemaAt(pointer string) (*jsonschema.Schema, error) {
	schemas.Lock()
	defer schemas.Unlock()
	if schemas.compiler == nil {
		schemas.compiler, schemas.compiled = jsonschema.NewCompiler(), map[string]*jsonschema.Schema{}
		schemas.compiler.DefaultDraft(jsonschema.Draft2020)
		schemas.compiler.AssertFormat()
		if err := schemas.compiler.AddResource(contractURL, contract()); err != nil {
			return nil, err
		}
	}
	if schemas.compiled[pointer] == nil {
		schema, err := schemas.compiler.Compile(contractURL + "#" + pointer)
		if err != nil {
			return nil, err
		}
		schemas.compiled[pointer] = schema
	}
	return schemas.compiled[pointer], nil
}

func escape(token string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(token)
}

// checkContract fails the test where a response is not one that the contract
// allows: its status, its headers in their spelling, its media type and its body. An
// error is a problem with the status and path of the call.
func (r reply) checkContract(method, path string) {
	r.t.Helper()
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	r.checkEvery(path, media)
	if r.Status == http.StatusNoContent || r.Status == http.StatusNotModified {
		return
	}
	if route, err := api.Match(method, path); err == nil && route.Operation != nil {
		r.checkOperation(method, route, media)
	}
}

// checkEvery checks what every response has.
func (r reply) checkEvery(path, media string) {
	r.t.Helper()
	for _, name := range []string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost} {
		if len(r.Header[name]) != 1 || r.Header[name][0] == "" {
			r.t.Errorf("%s: header %s is %q", r.call, name, r.Header[name])
		}
	}
	switch {
	case r.Status == http.StatusNoContent || r.Status == http.StatusNotModified:
		if len(r.Body) > 0 || media != "" {
			r.t.Errorf("%s: status %d with a body of %q: %s", r.call, r.Status, media, r.Body)
		}
		return
	case r.Status >= 400 && media != api.HTML:
		r.checkProblem(path, media)
	case media == "application/json" && r.Header.Get("Content-Type") != "application/json" && r.Header.Get("Content-Type") != "application/json; charset=utf-8":
		r.t.Errorf("%s: Content-Type %q", r.call, r.Header.Get("Content-Type"))
	}
	if r.Status != 200 && (r.Status == 429 || r.Status == 503) != (r.Header.Get("Retry-After") != "") {
		r.t.Errorf("%s: status %d with Retry-After %q", r.call, r.Status, r.Header.Get("Retry-After"))
	}
}

// checkOperation checks what the contract says of the operation's response.
func (r reply) checkOperation(method string, route api.Route, media string) {
	r.t.Helper()
	pointer := fmt.Sprintf("/paths/%s/%s/responses/%d", escape(route.Path), strings.ToLower(method), r.Status)
	response, ok := at(contract(), "paths", route.Path, strings.ToLower(method), "responses", fmt.Sprint(r.Status)).(map[string]any)
	if r.Status == http.StatusInternalServerError {
		response, ok = at(contract(), "paths", route.Path, strings.ToLower(method), "responses", "default").(map[string]any)
	}
	if r.Status >= 400 {
		r.checkCode(route.Operation, media)
	}
	if !ok {
		r.t.Errorf("%s: %s responds with %d, which the contract does not have: %s", r.call, route.Operation.ID, r.Status, r.Body)
		return
	}
	if ref, ok := response["$ref"].(string); ok {
		pointer = strings.TrimPrefix(ref, "#")
		response, _ = at(contract(), strings.Split(pointer, "/")[1:]...).(map[string]any)
	}
	for name := range at(contract(), "components", "headers").(map[string]any) {
		given, said := len(r.Header[name]) > 0, at(response, "headers", name) != nil
		// Every error has those of any response, which only 429 names.
		unnamed := r.Status >= 400 && r.Status != http.StatusTooManyRequests && (strings.HasPrefix(name, "X-RateLimit-") || name == api.HeaderRequestID)
		sometimes := name == "Location" || name == "Retry-After" || name == api.HeaderRecordETag || name == "Idempotency-Replayed" || name == "Link" && route.Operation.ETag
		if given && !said && !unnamed || said && !given && !sometimes {
			r.t.Errorf("%s: status %d, header %s given: %v, in the contract: %v", r.call, r.Status, name, given, said)
		}
	}
	if at(response, "content", media, "schema") == nil {
		r.t.Errorf("%s: the contract has no %q for %d", r.call, media, r.Status)
		return
	}
	if !strings.HasSuffix(media, "json") {
		return
	}
	schema, err := schemaAt(pointer + "/content/" + escape(media) + "/schema")
	if err != nil {
		r.t.Fatal(err)
	}
	body, err := jsonschema.UnmarshalJSON(bytes.NewReader(r.Body))
	if err == nil {
		err = schema.Validate(body)
	}
	if err != nil {
		r.t.Errorf("%s: the response is not as the contract says: %v\n%s", r.call, err, r.Body)
	}
}

// checkCode checks that the operation has the problem.
func (r reply) checkCode(op *api.Operation, media string) {
	r.t.Helper()
	known := func(code catalog.Code) bool {
		return api.Status(code) == r.Status && (media == api.HTML || r.get("code") == string(code))
	}
	if !slices.ContainsFunc(op.Codes(), known) {
		r.t.Errorf("%s: %s refuses with %d, which the contract does not have: %s", r.call, op.ID, r.Status, r.Body)
	}
}

func (r reply) checkProblem(path, media string) {
	r.t.Helper()
	var p struct {
		Type, Title, Detail, Instance, Code, RequestID string
		Status                                         int
	}
	if err := json.Unmarshal(r.Body, &p); err != nil || media != api.ProblemMediaType {
		r.t.Errorf("%s: status %d is not a problem (%s): %s", r.call, r.Status, media, r.Body)
		return
	}
	if p.Status != r.Status || p.Instance != path || p.Code == "" || p.Title == "" || p.Detail == "" ||
		p.Type != api.ProblemType("https://example.com", catalog.Code(p.Code)) || p.RequestID != r.Header[api.HeaderRequestID][0] {
		r.t.Errorf("%s: status %d: %s", r.call, r.Status, r.Body)
	}
}

// at walks into parsed JSON; nil where there is nothing.
func at(v any, path ...string) any {
	for _, step := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[step]
	}
	return v
}

func TestContractCheckNotices(t *testing.T) {
	schema, err := schemaAt("/paths/~1courses~1%7BcourseId%7D/get/responses/200/content/application~1json/schema")
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]any{
		"id": "crs_1", "organizationId": "org_1", "name": "n", "code": "c", "description": nil, "sections": []any{}, "defaultSectionId": "sec_1",
		"externalId": nil, "ctid": "ce-8dacd167-ee2e-41e4-be2d-d5400092e941", "credits": nil, "level": nil, "lifecycleStatus": "ACTIVE", "effectiveFrom": nil, "effectiveTo": "2026-08-01", "webpage": nil,
		"createdAt": "2026-11-21T08:00:00.000Z", "updatedAt": "2026-11-21T08:00:00.000Z", "deletedAt": nil,
	}
	if err := schema.Validate(good); err != nil {
		t.Fatal(err)
	}
	for field, wrong := range map[string]any{"sections": nil, "name": nil, "ctid": nil, "createdAt": "yesterday", "extra": 1, "description": 5, "level": "x", "lifecycleStatus": nil, "effectiveTo": "soon"} {
		bad := map[string]any{field: wrong}
		for k, v := range good {
			if _, ok := bad[k]; !ok {
				bad[k] = v
			}
		}
		if schema.Validate(bad) == nil {
			t.Errorf("a course whose %s is %v passes", field, wrong)
		}
	}
}
