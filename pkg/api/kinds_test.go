package api_test

import (
	"net/http"
	"slices"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// TestEveryKindIsReadByAnOperation: the change feed leads to it.
func TestEveryKindIsReadByAnOperation(t *testing.T) {
	for _, kind := range catalog.Resources() {
		if !slices.ContainsFunc(api.Operations(), func(o api.Operation) bool {
			return o.Method == http.MethodGet && o.Path == kind.Path()
		}) {
			t.Errorf("%s is read at %q, which is not an operation", kind, kind.Path())
		}
	}
}
