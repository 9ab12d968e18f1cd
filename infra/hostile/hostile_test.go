// Package hostile tests the service against hostile clients and documents: the real handlers
// behind the real gateway, on DynamoDB Local. It contains only tests.
package hostile

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/notifying"
	"skillscurriculum/pkg/boot/group/printing"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/rest"
)

var seed = flag.Uint64("seed", 1, "chooses the requests of TestEveryOperation")

func TestMain(m *testing.M) { dynamotest.Main(m) }

var ids = catalog.IDs{Random: rand.Reader}

// service is the service as a Lambda function runs it, with a customer.
type service struct {
	config boot.Config
	store  *dynamo.Store
	server *rest.Server
	handle func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)
	logs   *safeBuffer
	key    string
	org    catalog.OrgID

	customerID catalog.CustomerID
	failures   int
}

// jobs is a queue that discards its messages.
type jobs struct{}

func (jobs) Send(context.Context, []catalog.ExtractionJob) error { return nil }

// SendImports discards an import's message.
func (jobs) SendImports(context.Context, catalog.OrgID) error { return nil }

// unheard discards all messages for webhooks.
type unheard struct{ rest.Webhooks }

func (unheard) Send(context.Context, []catalog.WebhookMessage) error { return nil }

func newService(t testing.TB, hooks ...func(*sdk.Options)) *service {
	t.Helper()
	env := dynamotest.Environment()
	maps.Copy(env, map[string]string{
		api.EnvRateUnits: "100000000", api.EnvCountTimeout: "20000", api.EnvAllowedHosts: "127.0.0.1:9", api.EnvSQSEndpoint: "http://127.0.0.1:1", api.EnvQueueURL: "http://127.0.0.1:1/q",
	})
	bucket, err := objects.Server{}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	storage := httptest.NewServer(bucket)
	t.Cleanup(storage.Close)
	env[api.EnvBucket], env[api.EnvS3Endpoint] = objects.Bucket, storage.URL
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	s := &service{config: config, store: config.Store(), logs: &safeBuffer{}, org: catalog.OrgID(ids.New("org_"))}
	if err := s.store.CreateTable(context.Background()); err != nil {
		t.Fatal(err)
	}
	var key *catalog.Key
	s.key, key = s.customer(t, s.org, catalog.WriteScope)
	s.customerID = key.CustomerID
	s.store.Client = sdk.New(s.store.Client.Options(), hooks...)
	s.server = group.New(config, s.store, slog.New(slog.NewJSONHandler(s.logs, nil)))
	s.server.Queue, s.server.Imports = jobs{}, jobs{}
	s.server.Pages = page.Pages{}
	s.server.Files = files.New(config)
	config.WebhookKey = strings.Repeat("key of a test", 3)
	notifying.Webhooks(config, s.server)
	s.server.Webhooks = unheard{s.server.Webhooks}
	printing.Document(config, s.server)
	s.server.Site = fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "console.html": {Data: []byte("<!doctype html>")}, "assets/page.js": {Data: []byte("0")}}
	s.handle = group.Gateway(s.server)
	return s
}

// customer creates a customer of the organization with a key.
func (s *service) customer(t testing.TB, org catalog.OrgID, scope catalog.Scope) (secret string, key *catalog.Key) {
	t.Helper()
	now := catalog.TimeOf(time.Now())
	c := catalog.Customer{ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: org, Name: "Test", CreatedAt: now}
	secret = ids.NewSecret()
	key = &catalog.Key{ID: ids.New("key_"), CustomerID: c.ID, OrganizationID: org, Scope: scope, Hash: catalog.HashSecret(secret), CreatedAt: now}
	if err := s.store.SaveCustomer(context.Background(), &c); err != nil {
		t.Fatal(err)
	}
	if err := s.store.SaveKey(context.Background(), key); err != nil {
		t.Fatal(err)
	}
	return secret, key
}

// request is a client's request as API Gateway passes it on. The path is not decoded and lacks
// the base path.
type request struct {
	method, path, query string
	header              map[string][]string
	body                []byte
}

func (r request) String() string {
	return fmt.Sprintf("%s %.300q ? %.200q %.300q\n%.600q", r.method, r.path, r.query, r.header, r.body)
}

// reply is a response.
type reply struct {
	status int
	header map[string][]string
	body   []byte
}

func (r reply) first(name string) string {
	if len(r.header[name]) == 0 {
		return ""
	}
	return r.header[name][0]
}

func (r reply) text(t testing.TB, path ...string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(r.body, &v); err != nil {
		t.Fatalf("%v: %s", err, r.body)
	}
	for _, step := range path {
		if list, ok := v.([]any); ok && len(list) > 0 {
			v = list[0]
			continue
		}
		object, _ := v.(map[string]any)
		v = object[step]
	}
	text, _ := v.(string)
	return text
}

// do sends a request. An error is a response that API Gateway would call malformed.
func (s *service) do(r request) (reply, error) {
	event := events.APIGatewayProxyRequest{
		HTTPMethod: r.method, Path: r.path, MultiValueHeaders: r.header, Body: string(r.body),
		MultiValueQueryStringParameters: parseQuery(r.query),
		RequestContext:                  events.APIGatewayProxyRequestContext{DomainName: "api.example.org", RequestID: "00000000-0000-0000-0000-000000000001"},
	}
	response, err := s.handle(context.Background(), event)
	return reply{response.StatusCode, response.MultiValueHeaders, []byte(response.Body)}, err
}

// parseQuery splits a query without decoding it, so that hostile bytes arrive.
func parseQuery(query string) map[string][]string {
	values := map[string][]string{}
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = append(values[name], value)
		}
	}
	return values
}

// call is do for well-formed requests. It fails the test if the response has another status.
func (s *service) call(t testing.TB, status int, method, path, body string) reply {
	t.Helper()
	path, query, _ := strings.Cut(path, "?")
	r := request{method: method, path: path, query: query, header: map[string][]string{api.HeaderKey: {s.key}}, body: []byte(body)}
	if body != "" {
		r.header["Content-Type"] = []string{"application/json"}
	}
	got, err := s.do(r)
	if err != nil || got.status != status {
		t.Fatalf("%v: %d, want %d: %s %v", r, got.status, status, got.body, err)
	}
	return got
}

// check returns an error if the contract does not document the response for the method and
// path, or if an error response is not a problem.
func check(r request, got reply) error {
	if !statuses(r)[got.status] || got.status >= 500 {
		return fmt.Errorf("status %d", got.status)
	}
	if err := checkHeaders(got); err != nil {
		return err
	}
	if !utf8.Valid(got.body) {
		return fmt.Errorf("the body is not UTF-8")
	}
	media, _, _ := strings.Cut(got.first("Content-Type"), ";")
	route, _ := api.Match(r.method, api.BasePath+r.path)
	page := route.Operation != nil && route.Operation.Access == api.Public && route.Operation.ShowsPage()
	if got.status >= 400 && (!page || media != api.HTML) {
		return checkProblem(media, got)
	}
	if len(got.body) > 0 && media == "application/json" && !json.Valid(got.body) {
		return fmt.Errorf("the body is not JSON")
	}
	return nil
}

// statuses returns the statuses that the contract documents for a request.
func statuses(r request) map[int]bool {
	route, undecodable := api.Match(r.method, api.BasePath+r.path)
	if undecodable != nil || route.Operation == nil {
		return map[int]bool{400: true, 401: true, 404: true, 405: true}
	}
	allowed := map[int]bool{route.Operation.Status: true, http.StatusNotModified: r.method == http.MethodGet}
	for _, code := range route.Operation.Codes() {
		allowed[api.Status(code)] = true
	}
	return allowed
}

func checkHeaders(got reply) error {
	for _, name := range []string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset, api.HeaderCost} {
		if len(got.header[name]) != 1 || got.header[name][0] == "" {
			return fmt.Errorf("header %s is %q", name, got.header[name])
		}
	}
	for name, values := range got.header {
		for _, value := range append(values, name) {
			if i := strings.IndexFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
				return fmt.Errorf("header %q holds a control character: %q", name, values)
			}
		}
	}
	return nil
}

func checkProblem(media string, got reply) error {
	if media != api.ProblemMediaType {
		return fmt.Errorf("media type %q", media)
	}
	var p api.Problem
	d := json.NewDecoder(bytes.NewReader(got.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return fmt.Errorf("the problem: %w", err)
	}
	if p.Status != got.status || api.Status(p.Code) != got.status || p.Type != api.ProblemType("https://api.example.org", p.Code) || p.Title == "" || p.Detail == "" || p.RequestID != got.first(api.HeaderRequestID) {
		return fmt.Errorf("the problem says %+v", p)
	}
	return nil
}

type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
