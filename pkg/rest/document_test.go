package rest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/rest/openapi"
)

// openAPI returns the document with the events' examples.
func openAPI() []byte { return openapi.Document(os.DirFS(filepath.Join("..", "..", "events"))) }

func TestDocumentIsCommitted(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join("..", "..", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, openAPI()) {
		t.Error("openapi.json is stale: run make openapi")
	}
	for _, op := range api.Operations() {
		if !bytes.Contains(committed, []byte(`"operationId": "`+op.ID+`"`)) {
			t.Errorf("%s is missing", op.ID)
		}
	}
}

func TestDocumentIsTheSameEachTime(t *testing.T) {
	if !bytes.Equal(openAPI(), openAPI()) {
		t.Error("two documents differ")
	}
}

// Whatever stands in the document says what it means: an operation in its row of
// pkg/api (described), a parameter or property in its tag doc, or in meanings.
func TestDocumentSaysWhatEverythingMeans(t *testing.T) {
	var document struct {
		Tags       []struct{ Name, Description string }
		Paths      map[string]map[string]json.RawMessage
		Components struct {
			Headers map[string]struct{ Description string }
			Schemas map[string]struct {
				Properties map[string]struct{ Description string }
			}
		}
	}
	if err := json.Unmarshal(openAPI(), &document); err != nil {
		t.Fatal(err)
	}
	says := func(what, text string) {
		if text = strings.TrimSpace(text); len(text) < 4 {
			t.Errorf("%s is described as %q", what, text)
		}
	}
	for _, tag := range document.Tags {
		says("tag "+tag.Name, tag.Description)
	}
	for path, item := range document.Paths {
		for method, packed := range item {
			var operation struct {
				OperationID, Summary, Description string
				Parameters                        []struct{ Name, Description string }
			}
			if err := json.Unmarshal(packed, &operation); err != nil {
				t.Fatal(err)
			}
			says(method+" "+path, operation.Summary)
			says(operation.OperationID, operation.Description)
			if strings.HasSuffix(operation.Summary, ".") || len(operation.Summary) > 60 {
				t.Errorf("the summary of %s is not a short title: %q", operation.OperationID, operation.Summary)
			}
			for _, parameter := range operation.Parameters {
				says(operation.OperationID+"'s parameter "+parameter.Name, parameter.Description)
			}
		}
	}
	for name, header := range document.Components.Headers {
		says("header "+name, header.Description)
	}
	for name, schema := range document.Components.Schemas {
		for property, content := range schema.Properties {
			says(name+"."+property, content.Description)
		}
	}
}

// Every request and response that has a body of JSON has an example, taken from the
// events, which is as its schema says.
func TestDocumentHasTrueExamples(t *testing.T) {
	t.Parallel()
	examples := 0
	valid := func(what, pointer string, content any) {
		for media, described := range content.(map[string]any) {
			if !strings.HasSuffix(media, "json") {
				continue
			}
			values := map[string]any{"": at(described, "example")}
			for name, example := range asMap(at(described, "examples")) {
				delete(values, "")
				values[name] = at(example, "value")
			}
			schema, err := schemaAt(pointer + "/content/" + escape(media) + "/schema")
			if err != nil {
				t.Fatal(err)
			}
			for name, value := range values {
				examples++
				if value == nil {
					t.Errorf("%s has no example of %s: it needs an event and its golden response", what, media)
				} else if err := schema.Validate(value); err != nil {
					t.Errorf("%s: example %s: %v", what, name, err)
				}
			}
		}
	}
	for _, op := range api.Operations() {
		method := strings.ToLower(op.Method)
		place, operation := "/paths/"+escape(op.Path)+"/"+method, at(contract(), "paths", op.Path, method)
		if request := at(operation, "requestBody", "content"); request != nil {
			valid(op.ID+"'s request", place+"/requestBody", request)
		}
		status := fmt.Sprint(op.Status)
		if response := at(operation, "responses", status, "content"); response != nil {
			valid(op.ID+"'s response", place+"/responses/"+status, response)
		}
		for _, parameter := range asList(at(operation, "parameters")) {
			if at(parameter, "required") == true && at(parameter, "example") == nil {
				t.Errorf("%s has no example of %s", op.ID, at(parameter, "name"))
			}
		}
	}
	valid("problem", "/components/responses/Problem", at(contract(), "components", "responses", "Problem", "content"))
	if examples < len(api.Operations()) {
		t.Errorf("only %d examples", examples)
	}
}

// TestDocumentSuitsGenerators: those that know nothing of webhooks find the message at the
// operation that asks for it, and those that take a default for a promise find none.
func TestDocumentSuitsGenerators(t *testing.T) {
	t.Parallel()
	called := at(contract(), "paths", "/webhooks", "post", "callbacks", "message", "{$request.body#/url}", "post", "requestBody", "content", "application/json", "schema", "$ref")
	if called != "#/components/schemas/WebhookMessage" {
		t.Errorf("webhooks are sent %v", called)
	}
	for name, schema := range asMap(at(contract(), "components", "schemas")) {
		for field, property := range asMap(at(schema, "properties")) {
			if at(property, "default") != nil {
				t.Errorf("%s.%s has a default", name, field)
			}
		}
	}
	for _, method := range []string{"get", "post"} {
		status := map[string]string{"get": "200", "post": "201"}[method]
		if at(contract(), "paths", "/transfer-packages/{packageId}/courses", method, "responses", status, "content", "application/json", "schema", "$ref") == nil {
			t.Errorf("transfer courses of %s have no named schema", method)
		}
	}
}

// No schema hides in another: each object has a name that clients can call it by, and
// only what requests are made of forbids what it does not name.
func TestDocumentNamesItsSchemas(t *testing.T) {
	t.Parallel()
	var walk func(where string, v any, top bool)
	walk = func(where string, v any, top bool) {
		for key, value := range asMap(v) {
			walk(where+"/"+key, value, false)
		}
		for i, value := range asList(v) {
			walk(fmt.Sprintf("%s/%d", where, i), value, false)
		}
		if !top && at(v, "type") == "object" && at(v, "properties") != nil {
			t.Errorf("an object without a name: %s", where)
		}
	}
	for name, schema := range asMap(at(parsedDocument(t), "components", "schemas")) {
		walk(name, schema, true)
		request := strings.HasSuffix(name, "Request") || strings.HasSuffix(name, "Input") || name == "CredentialBuilderWeights"
		if forbids := at(schema, "additionalProperties") == false; forbids != request && at(schema, "properties") != nil {
			t.Errorf("%s forbids further properties: %v", name, forbids)
		}
	}
	walk("paths", at(parsedDocument(t), "paths"), true)
}

func parsedDocument(t *testing.T) any {
	t.Helper()
	var document any
	if err := json.Unmarshal(openAPI(), &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func asMap(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}
