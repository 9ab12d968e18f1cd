package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// config configures a run.
type config struct {
	seed      uint64
	duration  time.Duration
	dir       string      // for data and logs
	functions string      // directory of <function>/bootstrap
	deck      []faultKind // dealt again and again
	odds      float64     // that an active network fault hits a call
	acts      int         // per client, regardless of the duration; 0 for as many as fit
	courses   int         // initial courses of each organization
	out       io.Writer
}

const (
	organizations   = 2
	customersPerOrg = 3
	highLimit       = 1_000_000 // units per window
	lowLimit        = 60        // for one customer
	windowSeconds   = 20
	manyCourses     = 160             // enough for credentials with more sections than fit in a transaction
	extractionLimit = 3 * time.Minute // by which any extraction ends
	tableName       = "chaos"
)

// Streams of random numbers; every client has one as well, from clientStream on.
const (
	scheduleStream = iota
	proxyStream
	clientStream = 16
)

// random returns the random numbers of one stream.
func (c config) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, stream)) }

// world is the running system.
type world struct {
	config
	proxies   map[string]*proxy // by component
	objects   objects.Server
	receivers *receivers
	start     time.Time
	kills     atomic.Int64 // of functions
}

func (w *world) logf(format string, args ...any) {
	fmt.Fprintf(w.out, "%7.1fs  %s\n", time.Since(w.start).Seconds(), fmt.Sprintf(format, args...))
}

// store opens the table, bypassing the proxy.
func (w *world) store() stack.Table {
	return stack.Open(dynamodb.Environment(w.proxies[database].upstream, tableName))
}

// run executes a run. Broken invariants are in the report, not in the error.
func run(ctx context.Context, c config) (*report, error) {
	w := &world{config: c, proxies: map[string]*proxy{}, start: time.Now()}
	discard := log.New(io.Discard, "", 0)
	endpoint, stopTable, err := dynamodb.Server{Dir: filepath.Join(c.dir, "dynamodb"), Console: discard}.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer stopTable()
	server := queue.Server{Visibility: stack.Visibility, MaxReceives: stack.MaxReceives, Console: discard}
	queues, stopQueue, err := server.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer stopQueue()
	w.objects = objects.Server{Dir: filepath.Join(c.dir, "objects")}
	files, stopFiles, err := w.objects.Start()
	if err != nil {
		return nil, err
	}
	defer stopFiles()
	for i, component := range []string{database, queued, stored} {
		upstream := []string{endpoint, queues.Endpoint, files}[i]
		w.proxies[component] = startProxy(upstream, c.odds, c.random(proxyStream+uint64(i)))
		defer w.proxies[component].server.Config.Close() // does not wait for long polls
	}
	library := openLibrary()
	defer library.server.Config.Close()
	w.receivers = openReceivers()
	defer w.receivers.close()
	announced, stop, err := stack.Start(ctx, stack.Config{
		Functions: c.functions, Dir: filepath.Join(c.dir, "local"), Console: discard,
		Env: map[string]string{
			api.EnvTable: tableName, api.EnvDynamoEndpoint: w.proxies[database].server.URL,
			api.EnvSQSEndpoint: w.proxies[queued].server.URL, api.EnvS3Endpoint: w.proxies[stored].server.URL,
			api.EnvRateUnits: strconv.Itoa(highLimit), api.EnvRateWindow: strconv.Itoa(windowSeconds),
			api.EnvAllowedHosts: hostOf(library.server), api.EnvWebhookHosts: hostOf(w.receivers.server),
			api.EnvWebhookRetry: webhookWaits,
		},
	})
	if err != nil {
		return nil, err
	}
	defer stop()

	t := newTraffic(announced.BaseURL, library)
	clients, err := w.clients(ctx, t)
	if err != nil {
		return nil, err
	}
	if err := w.prepare(ctx, operators(clients)); err != nil {
		return nil, err
	}
	w.start = time.Now()
	w.injectFaults(ctx, clients)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return w.check(ctx, t, clients)
}

func hostOf(server *httptest.Server) string { return server.Listener.Addr().String() }

// clients creates the customers of all organizations. The last customer has a low rate limit.
func (w *world) clients(ctx context.Context, t *traffic) (all []*client, err error) {
	table := w.store()
	for n := range organizations * customersPerOrg {
		stream := clientStream + uint64(n)
		c := &client{
			traffic: t, id: catalog.CustomerID(fmt.Sprintf("cus_%d", n)), name: fmt.Sprintf("client%d", n),
			random:  w.random(stream),
			seedAct: func(act int) *rand.Rand { return w.random(stream<<32 + uint64(act)) },
		}
		if n%customersPerOrg > 0 {
			c.organization = all[n-1].organization
		} else {
			id := catalog.OrgID(fmt.Sprintf("org_%d", n/customersPerOrg))
			c.organization = &organization{id: id, paths: map[catalog.Kind][]string{}}
		}
		record := catalog.Customer{ID: c.id, OrganizationID: c.organization.id, Name: string(c.id)}
		if n == organizations*customersPerOrg-1 {
			record.RateLimitUnits = new(lowLimit)
		}
		if c.apiKey, err = table.Admit(ctx, &record); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// operators returns one client of each organization, for work before and after the faults.
func operators(clients []*client) (some []*client) {
	for chunk := range slices.Chunk(clients, customersPerOrg) {
		some = append(some, chunk[0])
	}
	return some
}

// prepare gives each organization its initial courses and its webhooks.
func (w *world) prepare(ctx context.Context, operators []*client) error {
	var group errgroup.Group
	for _, c := range operators {
		group.Go(func() error {
			for n := 0; n < w.courses && ctx.Err() == nil; n++ {
				c.create(catalog.CourseKind, "", courseBody(c, ""))
			}
			return w.receivers.register(ctx, c, w.store())
		})
	}
	return group.Wait()
}

// injectFaults runs the clients and the schedule of faults until both are done.
func (w *world) injectFaults(ctx context.Context, clients []*client) {
	busy, end := context.WithTimeout(ctx, w.duration)
	defer end()
	var running sync.WaitGroup
	defer running.Wait()
	for _, c := range clients {
		running.Go(func() { c.run(busy, w.acts) })
	}
	for _, f := range schedule(w.random(scheduleStream), w.deck, w.duration) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(w.start.Add(f.at))):
		}
		w.logf("%s", f)
		running.Go(func() { w.inject(f) })
	}
}

// snapshot reads the whole table and all files, bypassing the proxies.
func (w *world) snapshot(ctx context.Context) (*audit, error) {
	rows, err := scan(ctx, w.store().Client, tableName)
	if err != nil {
		return nil, err
	}
	files, err := readFiles(w.objects.Folder())
	return newAudit(rows, files), err
}

// settle polls every second until nothing is pending, or until the count has not fallen for as long as patience. A poll
// may miss work that ends while it runs, so that two in a row must find nothing.
func settle(ctx context.Context, patience time.Duration, poll func() (pending int, err error)) error {
	progress, least, zeros := time.Now(), -1, 0
	for zeros < 2 {
		pending, err := poll()
		if err != nil {
			return err
		}
		if least < 0 || pending < least {
			least, progress = pending, time.Now()
		}
		if zeros++; pending > 0 {
			zeros = 0
			if time.Since(progress) > patience {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return nil
}

// check audits the system once it has settled.
func (w *world) check(ctx context.Context, t *traffic, clients []*client) (*report, error) {
	var a *audit
	err := settle(ctx, extractionLimit, func() (pending int, err error) {
		if a, err = w.snapshot(ctx); err != nil {
			return 0, err
		}
		return a.pending(), nil
	})
	if err != nil {
		return nil, err
	}
	settled := time.Since(w.start) - w.duration
	w.logf("settled with %d extractions and deletions pending", a.pending())
	a.table()
	a.acknowledged(t)
	units := a.charges(clients, w.proxies[database].uncertain)
	for _, c := range operators(clients) {
		a.service(ctx, c)
	}
	delivered, err := a.messages(ctx, w.receivers)
	if err != nil {
		return nil, err
	}
	r := &report{audit: a, traffic: t, breaches: slices.Concat(t.breaches, a.breaches)}
	hits, records, ends, entries := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for component, p := range w.proxies {
		r.breaches = append(r.breaches, p.denied...)
		for effect, n := range p.hits {
			hits[faultKind{component, effect}.String()] += n
		}
	}
	for _, live := range a.live {
		records[string(catalog.KindOf(live.Record))]++
		if e := catalog.ExtractionOf(live.Record); e != nil && e.Failure != nil {
			ends[string(e.Failure.Code)]++
		} else if e != nil && e.ProcessingStatus != "" {
			ends[string(e.ProcessingStatus)]++
		}
	}
	for _, org := range a.orgs {
		for _, page := range a.ordered(org, api.JournalRows) {
			entries += number(page, "filled")
		}
	}
	r.figures = append([]string{
		fmt.Sprintf("responses %s, replays %d", counts(t.statuses), t.replays),
		fmt.Sprintf("functions killed %d, calls hit %s", w.kills.Load(), counts(hits)),
		fmt.Sprintf("live records %s, deleted %d", counts(records), len(a.deleted)),
		fmt.Sprintf("messages sent to the queue %d", w.proxies[queued].messages),
		fmt.Sprintf("extractions %s; all ended %.0fs after the faults", counts(ends), settled.Seconds()),
		fmt.Sprintf("files %d, change feed entries %d, registers %d", len(a.files), entries, len(t.history.names())),
		delivered,
	}, units...)
	return r, nil
}

// report is the result of a run.
type report struct {
	audit    *audit
	traffic  *traffic
	figures  []string
	breaches []string
}

func (r *report) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s\n", strings.Join(r.figures, "\n"))
	const most = 40
	for _, b := range r.breaches[:min(most, len(r.breaches))] {
		fmt.Fprintln(out, "BROKEN", b)
	}
	if n := len(r.breaches) - most; n > 0 {
		fmt.Fprintf(out, "… and %d more\n", n)
	}
	if len(r.breaches) == 0 {
		fmt.Fprintln(out, "every invariant holds")
	}
}

func counts(of map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, fmt.Sprintf("%s %d", name, of[name]))
	}
	return strings.Join(list, ", ")
}
