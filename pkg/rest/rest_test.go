package rest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/printing"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/rest"
)

func TestMain(m *testing.M) {
	rest.SaveWithoutHaste()
	dynamotest.Main(m)
}

// service is the real handler on a table of its own, with two customers of two
// organizations.
type service struct {
	t      *testing.T
	server *rest.Server
	store  *dynamo.Store
	queue  *jobs
	clock  *clock
	one    client
	two    client
	reader client // a read-only key of customer one
}

// jobs is a queue that only remembers.
type jobs struct {
	mu   sync.Mutex
	sent []catalog.ExtractionJob
	err  error
}

func (q *jobs) Send(_ context.Context, sent []catalog.ExtractionJob) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, sent...)
	return q.err
}

// imports is a queue of imports that nobody reads.
type imports struct{}

func (imports) SendImports(context.Context, catalog.OrgID) error { return nil }

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now catalog.Time
}

func (c *clock) Now() catalog.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Add(ms int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += catalog.Time(ms)
}

// client calls the service with one key.
type client struct {
	s        *service
	key      string
	customer catalog.Customer
}

var ids = catalog.IDs{Random: rand.Reader}

func newService(t *testing.T, options ...func(*rest.Server)) *service {
	t.Helper()
	s := &service{t: t, queue: &jobs{}, clock: &clock{now: 1_795_000_000_000}}
	bucket, err := objects.Server{Now: func() time.Time { return s.clock.Now().Std() }}.Handler()
	if err != nil {
		t.Fatal(err)
	}
	storage := httptest.NewServer(bucket)
	t.Cleanup(storage.Close)
	env := dynamotest.Environment()
	maps.Copy(env, map[string]string{api.EnvRateUnits: "1000000", api.EnvCountTimeout: "20000", api.EnvAllowedHosts: "127.0.0.1:9", api.EnvBucket: objects.Bucket, api.EnvS3Endpoint: storage.URL})
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		t.Fatal(err)
	}
	s.store = config.Store()
	s.store.Now = s.clock.Now
	if err := s.store.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.server = group.New(config, s.store, nil)
	s.server.Pages = page.Pages{}
	s.server.Files = files.New(config)
	printing.Document(config, s.server)
	s.server.Site = fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "console.html": {Data: []byte("<!doctype html>")}, "assets/page.js": {Data: []byte("0")}}
	s.server.Queue, s.server.Imports, s.server.Now = s.queue, imports{}, s.clock.Now
	_, webhooks := newHooks(t)
	webhooks(s.server)
	s.server.Callers = &rest.Callers{Keys: s.store, Now: s.clock.Now}
	for _, option := range options {
		option(s.server)
	}
	s.one, s.two = s.customer("org_one", catalog.WriteScope), s.customer("org_two", catalog.WriteScope)
	s.reader = client{s, s.key(s.one.customer, catalog.ReadScope), s.one.customer}
	return s
}

func (s *service) customer(org catalog.OrgID, scope catalog.Scope) client {
	c := catalog.Customer{ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: org, Name: "Test", CreatedAt: s.clock.Now()}
	if err := s.store.SaveCustomer(s.t.Context(), &c); err != nil {
		s.t.Fatal(err)
	}
	return client{s, s.key(c, scope), c}
}

func (s *service) key(c catalog.Customer, scope catalog.Scope) string {
	secret := ids.NewSecret()
	key := &catalog.Key{ID: ids.New("key_"), CustomerID: c.ID, OrganizationID: c.OrganizationID, Scope: scope, Hash: catalog.HashSecret(secret), CreatedAt: s.clock.Now()}
	if err := s.store.SaveKey(s.t.Context(), key); err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// reply is an answer with its body parsed.
type reply struct {
	t      *testing.T
	Status int
	Header http.Header
	Body   []byte
	call   string
}

// do sends a request; header holds pairs of name and value.
func (c client) do(method, path, body string, header ...string) reply {
	c.s.t.Helper()
	request := httptest.NewRequestWithContext(c.s.t.Context(), method, "/v1"+path, strings.NewReader(body))
	if c.key != "" {
		request.Header.Set("X-API-Key", c.key)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	c.s.server.ServeHTTP(recorder, request)
	r := reply{c.s.t, recorder.Code, recorder.Result().Header, recorder.Body.Bytes(), method + " " + path}
	plain, _, _ := strings.Cut("/v1"+path, "?")
	r.checkContract(method, plain)
	return r
}

// must is do, and fails the test where the answer has another status.
func (c client) must(status int, method, path, body string, header ...string) reply {
	c.s.t.Helper()
	r := c.do(method, path, body, header...)
	if r.Status != status {
		c.s.t.Fatalf("%s: status %d, want %d: %s", r.call, r.Status, status, r.Body)
	}
	return r
}

// get reads a value of the body by its path: data.0.id.
func (r reply) get(path string) any {
	r.t.Helper()
	var v any
	if err := json.Unmarshal(r.Body, &v); err != nil {
		r.t.Fatalf("%s: %v: %s", r.call, err, r.Body)
	}
	for step := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			value, ok := at[step]
			if !ok {
				return absent{}
			}
			v = value
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(at) {
				return absent{}
			}
			v = at[i]
		default:
			return absent{}
		}
	}
	return v
}

// absent is what get gives for a value that is not there.
type absent struct{}

func (r reply) text(path string) string {
	r.t.Helper()
	text, ok := r.get(path).(string)
	if !ok {
		r.t.Fatalf("%s: %s is not text: %s", r.call, path, r.Body)
	}
	return text
}

func (r reply) number(path string) int {
	r.t.Helper()
	n, ok := r.get(path).(float64)
	if !ok {
		r.t.Fatalf("%s: %s is not a number: %s", r.call, path, r.Body)
	}
	return int(n)
}

// want fails the test where a value of the body is another.
func (r reply) want(path string, want any) {
	r.t.Helper()
	got, _ := json.Marshal(r.get(path))
	wanted, _ := json.Marshal(want)
	if !bytes.Equal(got, wanted) {
		r.t.Errorf("%s: %s = %s, want %s", r.call, path, got, wanted)
	}
}

func (c client) course(name string) reply {
	c.s.t.Helper()
	return c.must(201, "POST", "/courses", fmt.Sprintf(`{"name":%q,"code":"C 1"}`, name))
}

func (c client) job(name string) reply {
	c.s.t.Helper()
	return c.must(201, "POST", "/jobs", fmt.Sprintf(`{"name":%q,"employerId":"emp"}`, name))
}

// header sets a header in exactly the spelling of its name.
func (r reply) header(name string) string {
	r.t.Helper()
	if len(r.Header[name]) != 1 {
		r.t.Errorf("%s: header %s is %q", r.call, name, r.Header[name])
		return ""
	}
	return r.Header[name][0]
}

// anonymous is the body without what names the request.
func (r reply) anonymous() string {
	r.t.Helper()
	var body map[string]any
	if err := json.Unmarshal(r.Body, &body); err != nil {
		r.t.Fatalf("%s: %v: %s", r.call, err, r.Body)
	}
	delete(body, "requestId")
	delete(body, "instance")
	rest, _ := json.Marshal(body)
	return string(rest)
}

// locations lists where the field errors of a problem are, in order, each once.
func (r reply) locations() string {
	r.t.Helper()
	var problem struct {
		Errors []struct{ Location, Message string }
	}
	if err := json.Unmarshal(r.Body, &problem); err != nil {
		r.t.Fatalf("%s: %v: %s", r.call, err, r.Body)
	}
	var all []string
	for _, f := range problem.Errors {
		if f.Message == "" {
			r.t.Errorf("%s: a field error without a message: %s", r.call, r.Body)
		}
		all = append(all, f.Location)
	}
	return strings.Join(slices.Compact(all), ",")
}
