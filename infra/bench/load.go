package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillscurriculum/infra/load"
	"skillscurriculum/infra/local/child"
	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/gateway"
	"skillscurriculum/infra/local/runtime"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// The customers of a load run. Half of them have a limit that their calls exceed.
const (
	customers  = 20
	smallLimit = 60
	largeLimit = 100_000
	stagger    = time.Second // processes of functions start one after the other, not all at once
)

// stackStore is the stack's store.
type stackStore struct{ *dynamo.Store }

func (s stackStore) Known(ctx context.Context, apiKey string) (bool, error) {
	key, err := s.Key(ctx, catalog.HashSecret(apiKey))
	return key != nil && key.Live(now()), err
}

func newStackStore(p stack.Places) stack.Store {
	return stackStore{&dynamo.Store{Client: dynamodb.Client(p.DynamoDBEndpoint), Table: p.Table, Now: now}}
}

// underLoad runs the local stack with its real functions, sends it the traffic of
// many customers, and holds every response and every account to the contract.
func underLoad(ctx context.Context, duration time.Duration, perSecond int) ([]*table, error) {
	root, err := child.ModuleRoot()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bench-load-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	functions := filepath.Join(dir, "functions")
	names := append(api.Functions(), "floor")
	bar := progress(len(names), "build the functions")
	for _, name := range names {
		folder := "./functions/" + name
		if name == "floor" {
			folder = "./infra/bench/floor"
		}
		if err := build(ctx, root, folder, filepath.Join(functions, name, "bootstrap")); err != nil {
			return nil, err
		}
		_ = bar.Add(1)
	}
	_ = bar.Finish()
	floor, stop, err := serveFloor(ctx, filepath.Join(functions, "floor", "bootstrap"), dir)
	if err != nil {
		return nil, err
	}
	defer stop()

	// In memory: what is measured is the service, not this machine's disk.
	database, stopDatabase, err := dynamodb.Start(ctx, "")
	if err != nil {
		return nil, err
	}
	defer stopDatabase()
	ctx, end := context.WithCancel(ctx)
	defer end()
	plan := load.Plan{PerSecond: perSecond, Duration: duration, Stagger: stagger, Floor: floor, Seed: 2026}
	var responses []load.Response
	var accounts []*load.Account
	var failed error
	ready := make(chan struct{})
	finished := make(chan error, 1)
	go func() {
		finished <- stack.Run(ctx, stack.Config{
			Dir: filepath.Join(dir, "stack"), Functions: functions, DynamoDBEndpoint: database, Store: newStackStore, Console: log.New(io.Discard, "", 0),
			Demo: func(ctx context.Context, p stack.Places) (stack.Demo, error) {
				var err error
				plan.BaseURL = p.BaseURL
				plan.Customers, err = newCustomers(ctx, newStackStore(p).(stackStore).Store)
				return stack.Demo{}, err
			},
		}, func(stack.Announcement) { close(ready) })
	}()
	select {
	case <-ready:
	case err := <-finished:
		return nil, fmt.Errorf("local stack: %w", err)
	}
	fmt.Fprintf(os.Stderr, "%d customers, %d calls/s each, for %v\n", customers, perSecond, duration)
	responses, accounts, failed = load.Run(ctx, plan)
	end()
	if err := errors.Join(failed, <-finished); err != nil {
		return nil, err
	}
	return []*table{latencies(responses), correctness(responses, accounts)}, loadCharts(responses)
}

// serveFloor puts a function that does nothing behind a gateway like the service's.
func serveFloor(ctx context.Context, bootstrap, dir string) (url string, stop func(), err error) {
	quiet := log.New(io.Discard, "", 0)
	r, err := runtime.Start(ctx, []runtime.Function{{Name: string(api.Courses), Bootstrap: bootstrap, Timeout: time.Minute, Processes: 4}}, filepath.Join(dir, "floor"), quiet)
	if err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.Stop()
		return "", nil, err
	}
	running, end := context.WithCancel(ctx)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = gateway.Gateway{Known: func(context.Context, string) (bool, error) { return true, nil }, Invoke: r.Invoke, Console: quiet}.Serve(running, listener)
	}()
	return "http://" + listener.Addr().String() + "/v1/courses", func() { end(); <-served; r.Stop() }, nil
}

func newCustomers(ctx context.Context, store *dynamo.Store) ([]load.Customer, error) {
	var all []load.Customer
	for i := range customers {
		limit := largeLimit
		if i%2 == 1 {
			limit = smallLimit
		}
		org := catalog.OrgID(ids.New("org_"))
		customer := &catalog.Customer{ID: catalog.CustomerID(ids.New("cus_")), OrganizationID: org, Name: "Customer " + strconv.Itoa(i), RateLimitUnits: &limit, CreatedAt: now()}
		secret := ids.NewSecret()
		key := &catalog.Key{ID: ids.New("key_"), CustomerID: customer.ID, OrganizationID: org, Scope: catalog.WriteScope, Hash: catalog.HashSecret(secret), CreatedAt: now()}
		if err := errors.Join(store.SaveOrganization(ctx, &catalog.Organization{ID: org, Name: customer.Name, CreatedAt: now()}),
			store.SaveCustomer(ctx, customer), store.SaveKey(ctx, key)); err != nil {
			return nil, err
		}
		all = append(all, load.Customer{ID: string(customer.ID), Key: secret})
	}
	return all, nil
}

// quantiles are the latencies of an operation's admitted calls at the median, 95 %
// and 99 %.
var quantiles = []float64{0.5, 0.95, 0.99}

// latenciesOf returns the latencies at the quantiles, by operation.
func latenciesOf(responses []load.Response) map[string][]time.Duration {
	all := map[string][]time.Duration{}
	for _, a := range responses {
		if a.Status >= 200 && a.Status < 300 {
			all[a.Operation] = append(all[a.Operation], a.Latency)
		}
	}
	at := map[string][]time.Duration{}
	for operation, list := range all {
		slices.Sort(list)
		for _, q := range quantiles {
			at[operation] = append(at[operation], list[int(q*float64(len(list)-1))])
		}
	}
	return at
}

func latencies(responses []load.Response) *table {
	t := newTable("Load: latency of responses through the local gateway", "operation", "calls", "median", "95 %", "99 %", "median / no-op", "95 % / no-op", "99 % / no-op", "")
	at := latenciesOf(responses)
	calls := map[string]int{}
	for _, a := range responses {
		calls[a.Operation]++
	}
	floor := at[load.NoOp]
	for _, operation := range sortedOperations(at) {
		l := at[operation]
		row := []any{operation, calls[operation], milli(l[0]), milli(l[1]), milli(l[2])}
		for i := range quantiles {
			row = append(row, fmt.Sprintf("%.1f", float64(l[i])/float64(floor[i])))
		}
		t.row("", row...)
	}
	return t
}

// sortedOperations puts the no-op function first.
func sortedOperations(at map[string][]time.Duration) []string {
	var names []string
	for name := range at {
		if name != load.NoOp {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return append([]string{load.NoOp}, names...)
}

func correctness(responses []load.Response, accounts []*load.Account) *table {
	t := newTable("Load: what must hold", "what", "measured", "target", "")
	var wrong []string
	failures, refused, unanswered := 0, 0, 0
	for _, a := range responses {
		switch {
		case a.Status == 0:
			unanswered++
		case a.Status >= 500:
			failures++
		case a.Status == http.StatusTooManyRequests:
			refused++
		}
		if a.Wrong != "" {
			wrong = append(wrong, a.Wrong)
		}
	}
	units, exact, windows, full := 0, 0, 0, 0
	for _, account := range accounts {
		mismatches := account.Mismatches()
		if len(mismatches) == 0 {
			exact++
		}
		wrong = append(wrong, mismatches...)
		for window, charged := range account.Charged {
			units += charged
			windows++
			if account.Refused[window] > 0 {
				full++
			}
		}
	}
	t.row("", "calls", len(responses), "")
	t.row(t.judge(unanswered > 0, ""), "calls without a response", unanswered, target(0))
	t.row(t.judge(failures > 0, ""), "responses 5xx", failures, target(0))
	t.row("", "responses 429", refused, "")
	t.row("", "windows; in which calls were refused", fmt.Sprintf("%d; %d", windows, full), "")
	t.row(t.judge(exact != len(accounts), ""), "customers whose usage is what their responses were charged", fmt.Sprintf("%d of %d (%s units)", exact, len(accounts), grouped(units)), "all")
	t.row(t.judge(len(wrong) > 0, ""), "responses that break the contract", len(wrong), target(0))
	if len(wrong) > 0 {
		t.notes = append(t.notes, "Broken: "+strings.Join(wrong[:min(5, len(wrong))], "; "))
	}
	return t
}
