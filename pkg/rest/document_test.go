package rest_test

import (
	"bytes"
	"os"
	"path/filepath"
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
