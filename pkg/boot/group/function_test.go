package group

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestEncode: what is written says the same as the response.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		response := events.APIGatewayProxyResponse{
			StatusCode:        rapid.IntRange(100, 599).Draw(t, "status"),
			MultiValueHeaders: rapid.MapOf(text, rapid.SliceOfN(text, 1, 3)).Draw(t, "headers"),
			Body:              text.Draw(t, "body"),
			IsBase64Encoded:   rapid.Bool().Draw(t, "base64"),
		}
		encoded, err := encode(response)
		if err != nil {
			t.Fatal(err)
		}
		var got events.APIGatewayProxyResponse
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatalf("%v: %s", err, encoded)
		}
		if diff := cmp.Diff(response, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestFunction sends an event through a handler and looks at what came and went.
func TestFunction(t *testing.T) {
	var seen *http.Request
	f := Function(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r
		w.Header()["X-RateLimit-Limit"] = []string{"5"}
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(`{"a":"größe"}`))
	}))
	event, err := json.Marshal(events.APIGatewayProxyRequest{
		Path: "/courses", HTTPMethod: http.MethodGet, MultiValueHeaders: map[string][]string{"X-API-Key": {"k"}},
		MultiValueQueryStringParameters: map[string][]string{"limit": {"3"}},
		RequestContext:                  events.APIGatewayProxyRequestContext{Stage: "v1", Authorizer: map[string]any{"principalId": "p"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := f.Invoke(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	if seen.URL.Path != "/v1/courses" || seen.URL.Query().Get("limit") != "3" || seen.Header.Get("X-API-Key") != "k" {
		t.Errorf("the handler saw %s with %v", seen.URL, seen.Header)
	}
	var response events.APIGatewayProxyResponse
	if err := json.Unmarshal(out, &response); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if response.StatusCode != http.StatusTeapot || response.Body != `{"a":"größe"}` || response.MultiValueHeaders["X-RateLimit-Limit"][0] != "5" {
		t.Errorf("answered %s", out)
	}
	if _, err := f.Invoke(t.Context(), []byte(`{"path":`)); err == nil {
		t.Error("half an event was taken")
	}
}

// TestFullPath holds the paths that API Gateway sends at its own address, behind a
// custom domain with a base path mapping, and from sam local.
func TestFullPath(t *testing.T) {
	for _, c := range []struct{ what, path, contextPath, want string }{
		{"own address", "/courses", "/v1/courses", "/v1/courses"},
		{"own address, root", "/", "/v1/", "/v1/"},
		{"own address, a path that begins like the mapping", "/v1/courses", "/v1/v1/courses", "/v1/v1/courses"},
		{"own address, a name that begins like the mapping", "/v1x", "/v1/v1x", "/v1/v1x"},
		{"custom domain", "/v1/courses", "/v1/courses", "/v1/courses"},
		{"custom domain, root", "/v1", "/v1", "/v1"},
		{"custom domain, a path that begins like the mapping", "/v1/v1/courses", "/v1/v1/courses", "/v1/v1/courses"},
		{"sam local", "/courses", "/courses", "/v1/courses"},
		{"no context", "/courses", "", "/v1/courses"},
	} {
		got := fullPath(events.APIGatewayProxyRequest{Path: c.path, RequestContext: events.APIGatewayProxyRequestContext{Path: c.contextPath}})
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// A request's time ends before its function's, so that it can still say that it ended.
func TestRequestsEndBeforeTheirFunction(t *testing.T) {
	ends := time.Now().Add(time.Minute)
	f := Gateway(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
		if got, ok := r.Context().Deadline(); !ok || !got.Equal(ends.Add(-responseTime)) {
			t.Errorf("the request ends at %v, its function at %v", got, ends)
		}
	}))
	ctx, cancel := context.WithDeadline(t.Context(), ends)
	defer cancel()
	if response, err := f(ctx, events.APIGatewayProxyRequest{Path: "/courses", HTTPMethod: http.MethodGet}); err != nil || response.StatusCode != http.StatusNoContent {
		t.Fatal(response.StatusCode, err)
	}
}
