package main

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// config is what to run.
type config struct {
	seed      uint64
	duration  time.Duration
	dir       string  // takes data and logs
	functions string  // holds <function>/bootstrap
	deck      []kind  // of faults, dealt again and again
	odds      float64 // that a call is hit while a fault of the wire is on
	acts      int     // that each client does, however long that takes; 0 for as many as there is time for
	out       io.Writer
}

// report is what came of a run.
type report struct {
	figures  []string
	breaches []string
	rows     table
	files    files
	traffic  *traffic
}

func (r *report) print(out io.Writer) {
	fmt.Fprintln(out)
	for _, f := range r.figures {
		fmt.Fprintln(out, f)
	}
	const most = 40
	for i, b := range r.breaches {
		if i == most {
			fmt.Fprintf(out, "… and %d more\n", len(r.breaches)-most)
			break
		}
		fmt.Fprintln(out, "BROKEN", b)
	}
	if len(r.breaches) == 0 {
		fmt.Fprintln(out, "every invariant holds")
	}
}

const (
	organizations   = 2
	customersOfEach = 3
	plenty          = 1_000_000 // units a window
	little          = 60        // of one customer
	windowSeconds   = 20
	quiet           = 3 * time.Minute // any extraction ends within
	leastSkew       = 30 * time.Second
	mostSkew        = 3 * time.Minute
	tableName       = "chaos"
	settling        = time.Second
)

// world is everything that runs, and how to hurt it.
type world struct {
	config
	table, queue *proxy
	files        *proxy
	receivers    *receivers
	direct       *awsdynamodb.Client // past the proxy
	start        time.Time
	mu           sync.Mutex
	kills        int
}

func (w *world) say(format string, args ...any) {
	at := 0.0
	if !w.start.IsZero() {
		at = time.Since(w.start).Seconds()
	}
	fmt.Fprintf(w.out, "%7.1fs  %s\n", at, fmt.Sprintf(format, args...))
}

// random returns the source of one part's decisions.
func (c config) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(c.seed, part)) }

// The parts that decide by chance; clients follow.
const (
	scheduling = iota
	tableHits
	queueHits
	fileHits
	skewing
	clients
)

// receiving is the part that decides how receivers answer, behind all clients.
const receiving = 1 << 16

// run does a whole run. The error is of what could not be run at all; broken
// invariants are in the report.
func run(ctx context.Context, c config) (*report, error) {
	w := &world{config: c}
	quietly := log.New(io.Discard, "", 0)
	endpoint, stopTable, err := dynamodb.Server{Dir: filepath.Join(c.dir, "dynamodb"), Console: quietly}.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer stopTable()
	queues, stopQueue, err := queue.Server{Visibility: stack.Visibility, MaxReceives: stack.MaxReceives, Console: quietly}.Start(ctx)
	if err != nil {
		return nil, err
	}
	defer stopQueue()
	if w.table, err = startProxy(endpoint, c.odds, c.random(tableHits)); err != nil {
		return nil, err
	}
	defer w.table.stop()
	if w.queue, err = startProxy(queues.Endpoint, c.odds, c.random(queueHits)); err != nil {
		return nil, err
	}
	defer w.queue.stop()
	storage, late, stopFiles, err := startFiles(filepath.Join(c.dir, "objects"))
	if err != nil {
		return nil, err
	}
	defer stopFiles()
	if w.files, err = startProxy(storage, c.odds, c.random(fileHits)); err != nil {
		return nil, err
	}
	defer w.files.stop()
	shelf, err := openLibrary()
	if err != nil {
		return nil, err
	}
	defer shelf.close()
	if w.receivers, err = openReceivers(c.random(receiving)); err != nil {
		return nil, err
	}
	defer w.receivers.close()
	w.direct = dynamodb.Client(endpoint)
	skew, err := w.skew()
	if err != nil {
		return nil, err
	}

	everybody, err := customers(ctx, w.store(endpoint))
	if err != nil {
		return nil, err
	}
	told, stopStack, err := w.serve(ctx, stack.Config{
		Functions: filepath.Join(c.dir, "functions"), DynamoDBEndpoint: w.table.address, SQSEndpoint: w.queue.address, S3Endpoint: w.files.address, AllowedHosts: shelf.host,
		WebhookHosts: w.receivers.host, WebhookRetry: webhookWaits, WebhookKey: webhookKey,
	})
	if err != nil {
		return nil, err
	}
	defer stopStack()

	w.start = time.Now()
	w.say("the service answers at %s", told.BaseURL)
	w.say("%s", skew)
	t := newTraffic(told.BaseURL, shelf)
	t.late = late
	if err := w.school(ctx, t, everybody); err != nil {
		return nil, err
	}
	if err := w.receivers.register(ctx, w.store(endpoint), everybody, catalog.IDs{Random: cryptorand.Reader}); err != nil {
		return nil, err
	}
	acted := w.storm(ctx, t, everybody)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return w.judge(ctx, t, everybody, acted)
}

// serve runs the stack until stop.
func (w *world) serve(ctx context.Context, c stack.Config) (told stack.Announcement, stop func(), err error) {
	console, err := os.Create(filepath.Join(w.dir, "console.log"))
	if err != nil {
		return told, nil, err
	}
	c.Dir, c.Table, c.Console = filepath.Join(w.dir, "local"), tableName, log.New(console, "", log.Ltime)
	c.RateUnits, c.RateWindow = strconv.Itoa(plenty), strconv.Itoa(windowSeconds)
	c.Store = func(p stack.Places) stack.Store { return known{w.store(p.DynamoDBEndpoint)} }
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan stack.Announcement, 1), make(chan error, 1)
	go func() { ended <- stack.Run(ctx, c, func(a stack.Announcement) { ready <- a }) }()
	select {
	case told = <-ready:
		return told, func() { cancel(); <-ended; _ = console.Close() }, nil
	case err := <-ended:
		cancel()
		return told, nil, errors.Join(errors.New("the stack ended"), err, console.Close())
	}
}

// newTraffic returns the traffic of a service at its base URL.
func newTraffic(base string, shelf *library) *traffic {
	return &traffic{
		base: base, library: shelf, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		statuses: map[string]int{}, batches: map[string]*batch{}, keys: map[catalog.OrgID][]string{},
	}
}

// store opens the table at an endpoint.
func (w *world) store(endpoint string) *dynamo.Store {
	return &dynamo.Store{Client: dynamodb.Client(endpoint), Table: tableName, Now: now}
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

// known is what the stack wants to know of the table.
type known struct{ *dynamo.Store }

func (k known) Known(ctx context.Context, apiKey string) (bool, error) {
	key, err := k.Key(ctx, catalog.HashSecret(apiKey))
	return key != nil && key.Live(now()), err
}

// customers makes those who call. The last one may use little.
func customers(ctx context.Context, store *dynamo.Store) ([]*customer, error) {
	if err := store.CreateTable(ctx); err != nil {
		return nil, err
	}
	var all []*customer
	for o := range organizations {
		org := &organization{id: catalog.OrgID(fmt.Sprintf("org_%d", o)), paths: map[catalog.Kind][]string{}}
		for n := range customersOfEach {
			c := &customer{id: catalog.CustomerID(fmt.Sprintf("cus_%d_%d", o, n)), organization: org, limit: plenty, key: fmt.Sprintf("skc_%d_%d", o, n)}
			record := catalog.Customer{ID: c.id, OrganizationID: org.id, Name: string(c.id), CreatedAt: now()}
			if o == organizations-1 && n == customersOfEach-1 {
				c.limit = little
				record.RateLimitUnits = &c.limit
			}
			key := catalog.Key{ID: "key_" + string(c.id), CustomerID: c.id, OrganizationID: org.id, Scope: catalog.WriteScope, Hash: catalog.HashSecret(c.key), CreatedAt: now()}
			if err := errors.Join(store.SaveCustomer(ctx, &record), store.SaveKey(ctx, &key)); err != nil {
				return nil, err
			}
			all = append(all, c)
		}
	}
	return all, nil
}

// school makes courses to begin with: enough for credentials of more sections than a
// transaction holds.
func (w *world) school(ctx context.Context, t *traffic, everybody []*customer) error {
	const transactions, courses = 5, 32
	store, ids := w.store(w.table.upstream), catalog.IDs{Random: cryptorand.Reader}
	done := map[catalog.OrgID]bool{}
	for _, customer := range everybody {
		o := customer.organization
		if done[o.id] {
			continue
		}
		done[o.id] = true
		for range transactions {
			dir, err := store.Directory(ctx, o.id, catalog.CourseKind)
			if err != nil {
				return err
			}
			var change catalog.Change
			for range courses {
				change.AddCourse(&catalog.Course{Name: "Course", Code: "C 1", LifecycleStatus: catalog.ActiveCourse}, &catalog.Section{ByHand: true}, ids, dir, o.id, now())
			}
			if err := store.Commit(ctx, o.id, &change); err != nil {
				return err
			}
			for _, record := range change.Created {
				t.know(o, catalog.KindOf(record), catalog.HrefOf(record), "Course")
			}
		}
	}
	return nil
}

// skew lays the functions out, one of them with a clock that is wrong.
func (w *world) skew() (says string, err error) {
	names := api.Functions()
	random := w.random(skewing)
	candidates := []string{api.Extractor, api.Sweeper, string(api.Transfers), string(api.Courses), string(api.Credentials), string(api.Programs), string(api.Documents)}
	wrong := candidates[random.IntN(len(candidates))]
	by := leastSkew + time.Duration(random.Int64N(int64(mostSkew-leastSkew)))
	if random.IntN(2) == 0 {
		by = -by
	}
	by = by.Round(time.Millisecond)
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	for _, name := range names {
		bootstrap, err := filepath.Abs(filepath.Join(w.functions, name, "bootstrap"))
		if err != nil {
			return "", err
		}
		dir := filepath.Join(w.dir, "functions", name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if name == wrong {
			bootstrap = self
			if err := os.WriteFile(filepath.Join(dir, skewFile), []byte(strconv.FormatInt(by.Milliseconds(), 10)), 0o644); err != nil {
				return "", err
			}
		}
		if err := os.Symlink(bootstrap, filepath.Join(dir, "bootstrap")); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("the clock of %s is wrong by %v", wrong, by), nil
}

// storm lets the clients and the faults loose, and returns how often each client
// acted.
func (w *world) storm(ctx context.Context, t *traffic, everybody []*customer) (acts []int) {
	busy, end := context.WithTimeout(ctx, w.duration)
	defer end()
	var all []*client
	for i, customer := range everybody {
		all = append(all, &client{
			traffic: t, customer: customer, name: fmt.Sprintf("client%d", i),
			decide: func(act int) *rand.Rand { return w.random((clients+uint64(i))<<32 + uint64(act)) },
		})
	}
	var running sync.WaitGroup
	for _, c := range all {
		running.Go(func() { c.run(busy, w.acts) })
	}
	var faults sync.WaitGroup
	for _, f := range schedule(w.random(scheduling), w.deck, w.duration) {
		select {
		case <-ctx.Done():
		case <-time.After(time.Until(w.start.Add(f.at))):
		}
		if ctx.Err() != nil {
			break
		}
		w.say("%s", f)
		faults.Go(func() { w.hurt(f) })
	}
	faults.Wait()
	running.Wait()
	w.say("the faults are over")
	for _, c := range all {
		acts = append(acts, c.acts)
	}
	return acts
}

// hurt does one fault, and makes it good.
func (w *world) hurt(f fault) {
	over := time.Now().Add(f.lasts)
	wait := func() { time.Sleep(time.Until(over)) }
	switch f.what {
	case killFunction:
		if pids := w.processes(filepath.Join(w.dir, "functions", f.function, "bootstrap")); len(pids) > 0 {
			w.kill(pids[f.pick%uint64(len(pids))], syscall.SIGKILL)
		}
	case stopTable, stopQueue:
		p, program := w.table, "DynamoDBLocal.jar"
		if f.what == stopQueue {
			p, program = w.queue, "goaws"
		}
		p.shut()
		// DynamoDB Local confirms a transaction that its file may not hold yet; AWS
		// loses nothing that it confirmed.
		time.Sleep(settling)
		for _, pid := range w.processes(program) {
			w.kill(pid, syscall.SIGKILL)
		}
		wait()
		for !responds(p.upstream) {
			time.Sleep(50 * time.Millisecond)
		}
		p.open()
	case freezeTable:
		pids := w.processes("DynamoDBLocal.jar")
		for _, pid := range pids {
			w.kill(pid, syscall.SIGSTOP)
		}
		wait()
		for _, pid := range pids {
			w.kill(pid, syscall.SIGCONT)
		}
	case stopFiles:
		w.files.shut()
		wait()
		w.files.open()
	case slowFiles, breakFiles, dropFiles, cutFiles:
		end := w.files.set(f.what)
		wait()
		end()
	case slowQueue, breakQueue, dropQueue, cutQueue, doubleQueue, shuffleQueue:
		end := w.queue.set(f.what)
		wait()
		end()
	default:
		end := w.table.set(f.what)
		wait()
		end()
	}
}

func (w *world) kill(pid int, signal syscall.Signal) {
	if syscall.Kill(pid, signal) == nil && signal == syscall.SIGKILL {
		w.mu.Lock()
		w.kills++
		w.mu.Unlock()
	}
}

// processes finds children of this process by a word of their command line.
func (w *world) processes(word string) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[1] != strconv.Itoa(os.Getpid()) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err == nil && slices.ContainsFunc(strings.Split(string(line), "\x00"), func(arg string) bool { return strings.HasSuffix(arg, word) }) {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}

// responds reports whether a server is there again.
func responds(url string) bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return true
}

// calm decides which look at the whole table is one of a table that stands still. A
// look takes time: what ends meanwhile is seen in part.
type calm struct{ since time.Time } // the end of the first look that found nothing open

// shows reports whether a look from began to ended that found so much open began when
// nothing was going on any more.
func (c *calm) shows(open int, began, ended time.Time) bool {
	if open > 0 {
		c.since = time.Time{}
		return false
	}
	if c.since.IsZero() {
		c.since = ended
	}
	return began.Sub(c.since) > time.Second
}

// judge waits until nothing is going on any more, as long as there is progress,
// and audits.
func (w *world) judge(ctx context.Context, t *traffic, everybody []*customer, acted []int) (*report, error) {
	progress, least := time.Now(), -1
	var rows table
	for settled := (calm{}); ; {
		began := time.Now()
		var err error
		if rows, err = w.scan(ctx); err != nil {
			return nil, err
		}
		open := newAudit(rows).open()
		if settled.shows(open, began, time.Now()) {
			break
		}
		if least < 0 || open < least {
			least, progress = open, time.Now()
		}
		if time.Since(progress) > quiet+mostSkew {
			w.say("%d extractions and deletions do not end", open)
			break
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(500 * time.Millisecond):
		}
	}
	took := time.Since(w.start) - w.duration
	w.say("quiet")
	a := newAudit(rows)
	var err error
	if a.files, err = w.stored(ctx); err != nil {
		return nil, err
	}
	a.table()
	a.documents()
	a.articulations()
	a.clients(t)
	ends := a.extractions()
	units := a.counted(everybody, w.table.unsure)
	a.afterwards(t, everybody)
	delivered, err := w.told(ctx, a, t, everybody)
	if err != nil {
		return nil, err
	}
	b, err := w.daysAfter(ctx)
	if err != nil {
		return nil, err
	}
	r := &report{rows: rows, files: a.files, traffic: t, breaches: slices.Concat(w.table.refused, w.files.refused, t.breaches, a.breaches, b.breaches)}
	r.figure("acts of each client %v, responses %s, replays %d", acted, counts(t.statuses), t.replays)
	r.figure("processes killed %d, calls hit %s", w.kills, counts(merge(w.table.hits, w.queue.hits, w.files.hits)))
	records := map[string]int{}
	for _, kinds := range a.live {
		for kind, live := range kinds {
			records[string(kind)] += len(live)
		}
	}
	r.figure("live records %s, deleted %d, messages sent %d", counts(records), len(a.deleted), w.queue.messages)
	r.figure("extractions %s; all ended %.0fs after the faults", counts(ends), took.Seconds())
	if log, err := os.Open(filepath.Join(w.dir, "local", "logs", api.Extractor+".log")); err == nil {
		r.figure("runs of others that began while one of these waited, in the median: %s", counts(waits(log)))
		_ = log.Close()
	}
	r.figure("files %d, of them %d of deleted documents; days later %d", len(a.files), a.lateFiles(), len(b.files))
	entries := 0
	for _, pages := range a.feeds {
		for _, page := range pages {
			entries += number(page, "filled")
		}
	}
	r.figure("change feed %d entries, registers %d", entries, len(t.history.names()))
	r.figure("%s", delivered)
	r.figure("holds that nobody has %d", a.stale())
	r.figures = append(r.figures, units...)
	return r, nil
}

func (r *report) figure(format string, args ...any) {
	r.figures = append(r.figures, fmt.Sprintf(format, args...))
}

func counts(of map[string]int) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		list = append(list, fmt.Sprintf("%s %d", name, of[name]))
	}
	return strings.Join(list, ", ")
}

func merge(all ...map[kind]int) map[string]int {
	merged := map[string]int{}
	for _, hits := range all {
		for k, n := range hits {
			merged[string(k)] += n
		}
	}
	return merged
}

// scan reads the whole table, past the proxy.
func (w *world) scan(ctx context.Context) (table, error) { return scan(ctx, w.direct, tableName) }

func scan(ctx context.Context, client *awsdynamodb.Client, name string) (table, error) {
	var rows table
	pages := awsdynamodb.NewScanPaginator(client, &awsdynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("scan: %w", err)
		}
		for _, item := range out.Items {
			row := map[string]any{}
			if err := attributevalue.UnmarshalMap(item, &row); err != nil {
				return nil, fmt.Errorf("scan: %w", err)
			}
			if held, ok := row["heldBy"].([]string); ok {
				list := make([]any, len(held))
				for i, holder := range held {
					list[i] = holder
				}
				row["heldBy"] = list
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}
