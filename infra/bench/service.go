package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/infra/local/stack"
	pages "skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

var tableName = "bench"

var ids = catalog.IDs{Random: rand.Reader}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

// service is the real handler on DynamoDB Local, with its calls counted.
type service struct {
	server  *rest.Server
	store   stack.Table
	counter *counter
}

// discard is a queue that discards its messages.
type discard struct{}

func (discard) Send(context.Context, []catalog.ExtractionJob) error { return nil }

// startService starts DynamoDB Local, in memory, and the handler.
func startService(ctx context.Context) (s *service, stop func(), err error) {
	endpoint, stopTable, err := dynamodb.Server{}.Start(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			stopTable()
		}
	}()
	env := dynamodb.Environment(endpoint, tableName)
	storage, stopStorage, err := objects.Server{}.Start()
	if err != nil {
		return nil, nil, err
	}
	maps.Copy(env, map[string]string{
		api.EnvRateUnits: "1000000000", api.EnvRateWindow: "86400", api.EnvCountTimeout: "30000",
		api.EnvAllowedHosts: "127.0.0.1:9", api.EnvBucket: objects.Bucket, api.EnvS3Endpoint: storage,
	})
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		return nil, nil, err
	}
	s = &service{store: stack.Table{Store: config.Store()}}
	s.store.Client, s.counter = counted(s.store.Client)
	if err := s.store.CreateTable(ctx); err != nil {
		return nil, nil, err
	}
	s.server = group.New(config, s.store.Store, nil)
	s.server.Queue = discard{}
	s.server.Files = files.New(config)
	s.server.Pages = pages.Pages{}
	return s, func() { stopStorage(); stopTable() }, nil
}

// client calls the service as one customer.
type client struct {
	*service
	org catalog.OrgID
	key string
}

// client returns a customer of a new organization.
func (s *service) client(ctx context.Context) (client, error) {
	return s.customer(ctx, catalog.OrgID(ids.New("org_")))
}

// customer returns a new customer of an organization.
func (s *service) customer(ctx context.Context, org catalog.OrgID) (client, error) {
	customer := &catalog.Customer{ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: org, Name: "Bench"}
	key, err := s.store.Admit(ctx, customer)
	return client{s, org, key}, err
}

// request is a call of the service. header alternates names and values.
type request struct {
	method, path, body string
	header             []string
}

func call(method, path, body string, header ...string) request {
	return request{method, path, body, header}
}

// postOf returns a POST of a value as JSON.
func postOf(path string, body any, header ...string) request {
	packed, err := json.Marshal(body)
	if err != nil {
		panic(err) // bodies consist of strings, numbers and lists
	}
	return call(http.MethodPost, path, string(packed), header...)
}

// measure returns the cost of a call.
func (c client) measure(ctx context.Context, r request) (cost price, err error) {
	calls := c.counter.during(func() { _, err = c.do(ctx, r) })
	return costOf(calls), err
}

// do returns the JSON object of a successful response, or nil if the body is not an object.
func (c client) do(ctx context.Context, r request) (response map[string]any, err error) {
	in := httptest.NewRequestWithContext(ctx, r.method, "/v1"+r.path, strings.NewReader(r.body))
	in.Header.Set("X-API-Key", c.key)
	if r.body != "" {
		in.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(r.header); i += 2 {
		in.Header.Set(r.header[i], r.header[i+1])
	}
	out := httptest.NewRecorder()
	c.server.ServeHTTP(out, in)
	if out.Code < 200 || out.Code > 299 {
		return nil, fmt.Errorf("%s %s: status %d: %s", r.method, r.path, out.Code, out.Body)
	}
	body := out.Body.Bytes()
	if len(body) > 0 && bytes.TrimSpace(body)[0] == '{' {
		err = json.Unmarshal(body, &response)
	}
	return response, err
}

// create creates a record and returns its id.
func (c client) create(ctx context.Context, path string, body any) (string, error) {
	response, err := c.do(ctx, postOf(path, body))
	return text(response, "id"), err
}

// filler returns a description that makes a record's row just under 1 KB.
func filler(bytes int) string { return strings.Repeat("skills ", bytes/7) }
