package rest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/rest"
)

func TestDocumentIsCommitted(t *testing.T) {
	committed, err := os.ReadFile(filepath.Join("..", "..", "openapi.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(committed, rest.OpenAPI()) {
		t.Error("openapi.json is stale: run make openapi")
	}
	for _, op := range api.Operations() {
		if !bytes.Contains(committed, []byte(`"operationId": "`+op.ID+`"`)) {
			t.Errorf("%s is missing", op.ID)
		}
	}
}

func TestDocumentIsTheSameEachTime(t *testing.T) {
	if !bytes.Equal(rest.OpenAPI(), rest.OpenAPI()) {
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
	if err := json.Unmarshal(rest.OpenAPI(), &document); err != nil {
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
				t.Errorf("the summary of %s is no short title: %q", operation.OperationID, operation.Summary)
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
