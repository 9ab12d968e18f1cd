package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Every operation is found by its own path and method, with the parameters that
// were put into it.
func TestEveryOperationIsFound(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range api.Operations() {
		if seen[op.ID] || seen[op.Method+op.Path] {
			t.Errorf("%s is there twice", op.ID)
		}
		seen[op.ID], seen[op.Method+op.Path] = true, true
		path, want := op.Path, map[string]string{}
		for _, segment := range strings.Split(op.Path, "/") {
			if name, ok := strings.CutPrefix(segment, "{"); ok {
				name = strings.TrimSuffix(name, "}")
				want[name] = "a b/" + name
				path = strings.Replace(path, segment, url.PathEscape(want[name]), 1)
			}
		}
		route, err := api.Match(op.Method, api.BasePath+path)
		if err != nil || route.Operation == nil || route.Operation.ID != op.ID || route.Path != op.Path || !slices.Contains(route.Allowed, op.Method) {
			t.Errorf("%s %s leads to %+v, %v", op.Method, path, route, err)
			continue
		}
		for name, value := range want {
			if route.Params[name] != value {
				t.Errorf("%s: %s is %q, want %q", op.ID, name, route.Params[name], value)
			}
		}
		if other, err := api.Match(http.MethodTrace, api.BasePath+path); err != nil || other.Operation != nil || other.Path != op.Path {
			t.Errorf("TRACE %s leads to %+v, %v", path, other, err)
		}
		for _, wrong := range []string{path, api.BasePath + path + "/", api.BasePath + "/" + path, "/v2" + path, "/v1x" + path} {
			if route, err := api.Match(op.Method, wrong); err != nil || route.Path != "" {
				t.Errorf("%s leads to %s, %v", wrong, route.Path, err)
			}
		}
	}
	for _, group := range api.Groups() {
		if len(api.In(group)) == 0 {
			t.Errorf("%s answers nothing", group)
		}
	}
}

// The documented operations are those of the original contract (operations without x-extension), with its names.
func TestDocumentedOperations(t *testing.T) {
	want := []string{
		"GET /courses", "GET /courses/{courseId}", "GET /courses/{courseId}/sections/{sectionId}", "GET /credentials/{credentialId}", "GET /customers/{customerId}/usage",
		"GET /jobs", "GET /transfer-packages", "GET /transfer-packages/{packageId}/courses", "PATCH /credentials/{credentialId}", "POST /credentials/{credentialId}/sections",
		"POST /programs/{programId}/courses", "POST /reports", "POST /transfer-packages/{packageId}/courses",
	}
	var got []string
	for _, op := range api.Operations() {
		if !op.Added {
			got = append(got, op.Method+" "+op.Path)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("documented: %v", got)
	}
}

func TestEveryCodeHasItsStatus(t *testing.T) {
	for code, status := range map[catalog.Code]int{
		catalog.MalformedJSON: 400, catalog.InvalidParameter: 400, catalog.Unauthorized: 401, catalog.Forbidden: 403, catalog.NotFound: 404, catalog.MethodNotAllowed: 405,
		catalog.PayloadTooLarge: 413, catalog.UnsupportedMediaType: 415, catalog.Conflict: 409, catalog.PreconditionFailed: 412, catalog.ValidationFailed: 422,
		catalog.IdempotencyKeyReused: 422, catalog.RateLimitExceeded: 429, catalog.Internal: 500, catalog.Unavailable: 503,
	} {
		p := api.NewProblem("https://x.org", code, "d", "/v1/x", "req_1")
		if api.Status(code) != status || p.Status != status || p.Title == "" || p.Code != code || p.Type != "https://x.org/v1/docs#/problems/"+string(code) {
			t.Errorf("%s: %+v", code, p)
		}
	}
}

func FuzzMatch(f *testing.F) {
	for _, path := range []string{"/v1/courses", "/v1/courses/", "/v1//courses", "/v1/courses/%zz", "/v1/courses/%2F/sections/x", "/v1", "", "/v1/skills/a%20b", "/v1/transfer-packages/x/courses/y/retry"} {
		f.Add("GET", path)
	}
	f.Fuzz(func(t *testing.T, method, path string) {
		route, err := api.Match(method, path)
		if err != nil {
			if _, decodes := url.PathUnescape(path); decodes == nil {
				t.Errorf("%q: %v", path, err)
			}
			return
		}
		if route.Operation != nil && (route.Operation.Method != method || route.Operation.Path != route.Path) {
			t.Errorf("%s %q leads to %s %s", method, path, route.Operation.Method, route.Operation.Path)
		}
		if (route.Path == "") != (len(route.Allowed) == 0) {
			t.Errorf("%q leads to %q, which takes %v", path, route.Path, route.Allowed)
		}
		for name, value := range route.Params {
			if value == "" {
				t.Errorf("%q: %s is empty", path, name)
			}
		}
	})
}
