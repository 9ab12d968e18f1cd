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

	"skillscurriculum/infra/bench/budget"
	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/group/filing"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/rest"
)

var tableName = "bench"

var ids = catalog.IDs{Random: rand.Reader}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

// service is the real handler on DynamoDB Local, its calls counted.
type service struct {
	server  *rest.Server
	store   *dynamo.Store
	counter *counter
}

// unqueued is a queue that takes what it is sent.
type unqueued struct{}

func (unqueued) Send(context.Context, []catalog.ExtractionJob) error { return nil }

// startService starts DynamoDB Local, in memory, and the handler on it.
func startService(ctx context.Context) (s *service, stop func(), err error) {
	endpoint, stop, err := dynamodb.Start(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			stop()
		}
	}()
	storage, stopStorage, err := objects.Server{}.Start()
	if err != nil {
		return nil, nil, err
	}
	stopTable := stop
	stop = func() { stopStorage(); stopTable() }
	env := dynamodb.Environment(endpoint, tableName)
	maps.Copy(env, map[string]string{api.EnvRateUnits: "1000000000", api.EnvRateWindow: "86400", api.EnvCountTimeout: "30000", api.EnvAllowedHosts: "127.0.0.1:9", api.EnvBucket: objects.Bucket, api.EnvS3Endpoint: storage})
	config, err := boot.Read(func(name string) string { return env[name] })
	if err != nil {
		return nil, nil, err
	}
	s = &service{store: config.Store()}
	s.store.Client, s.counter = counted(s.store.Client)
	if err := s.store.CreateTable(ctx); err != nil {
		return nil, nil, err
	}
	s.server = group.New(config, s.store, nil)
	s.server.Queue = unqueued{}
	filing.Files(config, s.server)
	return s, stop, nil
}

// client calls the service as one customer of an organization of its own.
type client struct {
	*service
	org catalog.OrgID
	key string
}

func (s *service) client(ctx context.Context) (client, error) {
	return s.customer(ctx, catalog.OrgID(ids.New("org_")))
}

// customer makes one more customer of an organization.
func (s *service) customer(ctx context.Context, org catalog.OrgID) (client, error) {
	c := client{s, org, ids.NewSecret()}
	customer := &catalog.Customer{ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: c.org, Name: "Bench", CreatedAt: now()}
	if err := s.store.SaveCustomer(ctx, customer); err != nil {
		return client{}, err
	}
	return c, s.store.SaveKey(ctx, &catalog.Key{
		ID: ids.New("key_"), CustomerID: customer.ID, OrganizationID: c.org, Scope: catalog.WriteScope, Hash: catalog.HashSecret(c.key), CreatedAt: now(),
	})
}

// request is a call of the service; header holds pairs of name and value.
type request struct {
	method, path, body string
	header             []string
}

func call(method, path, body string, header ...string) request {
	return request{method, path, body, header}
}

// measure returns what a call costs.
func (c client) measure(ctx context.Context, r request) (cost budget.Cost, index float64, err error) {
	calls := c.counter.during(func() { _, err = c.do(ctx, r) })
	cost, index = costOf(calls)
	return cost, index, err
}

// do returns the body of a successful response, as JSON.
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

// create makes a record and returns its id.
func (c client) create(ctx context.Context, path string, body any) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	response, err := c.do(ctx, call(http.MethodPost, path, string(text)))
	id, _ := response["id"].(string)
	return id, err
}

// filler makes a record's row just under 1 KB.
func filler(bytes int) string { return strings.Repeat("skills ", bytes/7) }
