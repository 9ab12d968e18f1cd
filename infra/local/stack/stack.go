// Package stack runs the whole service on this machine: DynamoDB Local, the queues, the
// object storage, every function's bootstrap, the gateway, the event sources and the demo
// data. It contains none of the service's rules. Nothing that Run starts outlives it, and
// the announcement file exists only while the service answers.
package stack

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/gateway"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/runtime"
	"skillscurriculum/infra/local/source"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Config configures the stack. Functions and Console are required.
type Config struct {
	Port      int    // of the gateway on 127.0.0.1; 0 selects a free one
	Dir       string // keeps data and logs; "" means build/local
	Fresh     bool   // starts without the data and logs of earlier runs
	Functions string // contains <function>/bootstrap

	// Env has variables of the functions (package api) that replace the stack's own; hosts are allowed in addition to
	// those of the demo. The stack uses the servers whose endpoints are given and starts the others. Without a key, the
	// secrets of webhooks are encrypted with one that is generated once and kept in Dir.
	Env map[string]string

	Demo     func(context.Context, Places) (Demo, error) // loads the demo data unless it is loaded; nil for none
	Syllabi  fs.FS                                       // served to the functions; nil for none
	Receiver http.Handler                                // of the demo's webhook; nil for none
	Console  *log.Logger                                 // messages for the user
}

// Places holds the addresses of the parts.
type Places struct {
	BaseURL  string            // with /v1
	Receiver string            // URL of the demo's receiver, with a trailing slash; "" for none
	Syllabi  string            // URL of the demo syllabi, with a trailing slash; "" for none
	Env      map[string]string // of the functions, as far as the parts are started
}

// Timeouts and concurrency of the pipelines.
const (
	extractors      = 4 // at most two of them for one organization
	sweep           = 10 * time.Second
	importers       = 2 // each for another organization
	importerTimeout = 3 * time.Minute
	deliveries      = 12 // concurrent messages, at most half of them to slow webhooks
	deliveriesOwner = 4  // of one organization
	deliveriesShare = 3  // of one webhook
	slowDelivery    = 3 * time.Second
)

// Every extraction ends within 3 minutes, even one that kills its process each time:
// receives x visibility is less. A job's lease ends 5 s after the function's timeout, and
// its message becomes visible after that.
const (
	extractorTimeout = 35 * time.Second // the longest fetch takes 30 s
	// Visibility and MaxReceives are exported for those who run the queues themselves
	// (Config.Env) and create them again when the server dies.
	Visibility  = extractorTimeout + 7*time.Second
	MaxReceives = 4
)

// defaults returns the variables of the functions without Config.Env. The time limit for counting a request's units is
// generous because the emulator is slow on a busy machine and a timeout is a 503.
func defaults() map[string]string {
	return map[string]string{
		api.EnvTable: "skills-curriculum", api.EnvBucket: objects.Bucket, api.EnvRateUnits: "1000", api.EnvRateWindow: "60",
		api.EnvRetryDelay: "2", api.EnvCountTimeout: "2000",
	}
}

// Run starts everything, calls ready once the service answers, and runs until ctx ends,
// which is not an error. It stops everything that it started, within seconds.
func Run(ctx context.Context, c Config, ready func(Announcement)) (err error) {
	c.Dir = cmp.Or(c.Dir, filepath.Join("build", "local"))
	unlock, err := claim(c.Dir, c.Fresh)
	if err != nil {
		return err
	}
	defer unlock()
	announcement := filepath.Clean(c.Dir) + ".json"
	if err := os.RemoveAll(announcement); err != nil {
		return fmt.Errorf("remove the last announcement: %w", err)
	}
	listener, err := listen(c.Port)
	if err != nil {
		return err
	}
	defer listener.Close()

	running, end := context.WithCancelCause(ctx)
	// The children run until the gateway has answered its last request, but ending ctx
	// during the start stops them at once.
	life, endLife := context.WithCancel(context.WithoutCancel(ctx))
	started := context.AfterFunc(ctx, endLife)
	s := &stack{Config: c, running: running, life: life, logs: filepath.Join(c.Dir, "logs")}
	defer func() {
		c.Console.Print("stopping")
		end(nil)
		s.stop()
		endLife()
	}()
	s.places.BaseURL = "http://" + listener.Addr().String() + api.BasePath
	s.places.Env = defaults()
	maps.Copy(s.places.Env, c.Env)
	announced, err := s.start(listener, end)
	if ctx.Err() != nil {
		return nil // stopped while it started
	}
	if err != nil {
		return err
	}
	started()
	if err := announced.write(announcement); err != nil {
		return err
	}
	defer os.Remove(announcement)
	ready(announced)
	<-running.Done()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
}

// Start runs everything until ctx ends or stop is called, and returns once the service
// answers.
func Start(ctx context.Context, c Config) (announced Announcement, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan Announcement, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, c, func(a Announcement) { ready <- a }) }()
	select {
	case announced = <-ready:
		return announced, func() { cancel(); <-ended }, nil
	case err = <-ended:
		cancel()
		return announced, nil, errors.Join(errors.New("the stack ended"), err)
	}
}

// stack is a running stack.
type stack struct {
	Config
	running context.Context // the gateway's and the event sources'
	life    context.Context // the children's
	logs    string
	places  Places
	queues  queue.Queues
	table   Table
	stops   []func() // in starting order
}

func (s *stack) onStop(f func()) { s.stops = append(s.stops, f) }

// stop stops everything, in reverse order.
func (s *stack) stop() {
	for _, stop := range slices.Backward(s.stops) {
		stop()
	}
}

func (s *stack) start(listener net.Listener, fail context.CancelCauseFunc) (announced Announcement, err error) {
	if err := os.MkdirAll(s.logs, 0o755); err != nil {
		return announced, fmt.Errorf("logs: %w", err)
	}
	serve := func() error { return s.serveFiles(listener) }
	for _, step := range []func() error{
		s.startDynamoDB, s.createTable, s.startQueue, s.startObjects, serve, s.loadWebhookKey,
	} {
		if err := step(); err != nil {
			return announced, err
		}
	}

	env := s.places.Env
	env[api.EnvAllowedHosts] = joined(env[api.EnvAllowedHosts], hostOf(s.places.Syllabi))
	env[api.EnvWebhookHosts] = joined(env[api.EnvWebhookHosts], hostOf(s.places.Receiver))
	announced = Announcement{BaseURL: s.places.BaseURL, Syllabi: s.places.Syllabi, Environment: maps.Clone(env)}
	delete(announced.Environment, api.EnvWebhookKey)
	if s.Demo != nil {
		if announced.Demo, err = s.Demo(s.life, s.places); err != nil {
			return announced, fmt.Errorf("demo data: %w", err)
		}
		s.Console.Print("the demo data is loaded")
	}
	functions := s.functions(announced.Parameters)
	r, err := runtime.Start(s.life, functions, s.logs, s.Console)
	if err != nil {
		return announced, err
	}
	s.onStop(r.Stop)
	s.Console.Printf("%d functions are running; their logs are in %s", len(functions), s.logs)

	line, err := s.logFile("gateway")
	if err != nil {
		return announced, err
	}
	g := gateway.Gateway{Known: s.table.Known, Invoke: r.Invoke, Line: line, Console: s.Console}
	client := queue.Client(s.queues.Endpoint)
	queueOf := func(url, function string, concurrency int) *source.Queue {
		return &source.Queue{
			Client: client, URL: url, Function: function, Concurrency: concurrency,
			Owner: organizationOf, Visibility: Visibility, Invoke: r.Invoke, Console: s.Console,
		}
	}
	jobs := queueOf(s.queues.URL, api.Extractor, extractors)
	dead := queueOf(s.queues.DeadLetterURL, api.Sweeper, 1)
	messages := queueOf(s.queues.Messages.URL, api.Deliverer, deliveries)
	messages.Owner, messages.Slow = webhookOf, slowDelivery
	messages.OwnerShare, messages.Share = deliveriesOwner, deliveriesShare
	imports := queueOf(s.queues.Imports.URL, api.Importer, importers)
	imports.Visibility, imports.OwnerShare = importerTimeout+7*time.Second, 1
	changes := source.Stream{
		Client: dynamodb.Streams(env[api.EnvDynamoEndpoint]), Table: env[api.EnvTable], Wanted: isFeed,
		Function: api.Deliverer, Invoke: r.Invoke, Console: s.Console,
	}
	var parts sync.WaitGroup
	s.onStop(parts.Wait)
	parts.Go(func() {
		if err := g.Serve(s.running, listener); err != nil {
			fail(err)
		}
	})
	for _, poll := range []func(context.Context){jobs.Poll, dead.Poll, messages.Poll, imports.Poll, changes.Poll} {
		parts.Go(func() { poll(s.running) })
	}
	for _, function := range []string{api.Sweeper, api.Deliverer} {
		parts.Go(func() { source.Schedule(s.running, sweep, function, r.Invoke) })
	}
	return announced, announced.check(s.life)
}

func (s *stack) createTable() error {
	s.table = Open(s.places.Env)
	err := s.table.CreateTable(s.life)
	if err == nil {
		err = s.table.EnableStream(s.life)
	}
	if err != nil {
		return fmt.Errorf("table %s at %s: %w", s.table.Table, s.places.Env[api.EnvDynamoEndpoint], err)
	}
	return nil
}

// organizationOf returns the organization of an extraction job as its owner and group.
func organizationOf(message string) (owner, group string) {
	var job catalog.ExtractionJob
	_ = json.Unmarshal([]byte(message), &job) // anything else has no owner
	return string(job.OrganizationID), string(job.OrganizationID)
}

// webhookOf returns the organization of a webhook message as its owner, and the webhook as
// its group.
func webhookOf(message string) (owner, group string) {
	var m catalog.WebhookMessage
	_ = json.Unmarshal([]byte(message), &m)
	return string(m.OrganizationID), cmp.Or(m.WebhookID, string(m.OrganizationID))
}

// isFeed reports whether a row belongs to a change feed.
func isFeed(partitionKey string) bool {
	_, is := api.JournalRows.Organization(partitionKey)
	return is
}

// loadWebhookKey reads or creates the key that encrypts webhook secrets. It is kept as long
// as the table.
func (s *stack) loadWebhookKey() error {
	if s.places.Env[api.EnvWebhookKey] != "" {
		return nil
	}
	path := filepath.Join(s.Dir, "webhook-key")
	key, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		key = []byte(rand.Text() + rand.Text())
		err = os.WriteFile(path, key, 0o600)
	}
	if err != nil {
		return fmt.Errorf("webhook key: %w", err)
	}
	s.places.Env[api.EnvWebhookKey] = string(key)
	return nil
}

func (s *stack) startDynamoDB() error {
	if given := s.places.Env[api.EnvDynamoEndpoint]; given != "" {
		s.Console.Printf("using DynamoDB at %s", given)
		return nil
	}
	line, err := s.logFile("dynamodb")
	if err != nil {
		return err
	}
	dir := filepath.Join(s.Dir, "dynamodb")
	endpoint, stop, err := dynamodb.Server{Dir: dir, Line: line, Console: s.Console}.Start(s.life)
	if err != nil {
		return err
	}
	s.onStop(stop)
	s.places.Env[api.EnvDynamoEndpoint] = endpoint
	s.Console.Printf("DynamoDB Local answers at %s; its data is in %s", endpoint, dir)
	return nil
}

func (s *stack) startQueue() error {
	var queues queue.Queues
	var err error
	env := s.places.Env
	server := queue.Server{Visibility: Visibility, MaxReceives: MaxReceives, Console: s.Console}
	if given := env[api.EnvSQSEndpoint]; given != "" {
		queues, err = server.Create(s.life, given)
	} else {
		if server.Line, err = s.logFile("queue"); err != nil {
			return err
		}
		var stop func()
		if queues, stop, err = server.Start(s.life); err == nil {
			s.onStop(stop)
		}
	}
	if err != nil {
		return err
	}
	s.queues = queues
	env[api.EnvSQSEndpoint], env[api.EnvQueueURL] = queues.Endpoint, queues.URL
	env[api.EnvMessages], env[api.EnvImports] = queues.Messages.URL, queues.Imports.URL
	s.Console.Printf("the queue answers at %s", queues.Endpoint)
	return nil
}

func (s *stack) startObjects() (err error) {
	if given := s.places.Env[api.EnvS3Endpoint]; given != "" {
		s.Console.Printf("using the object storage at %s", given)
		return nil
	}
	dir := filepath.Join(s.Dir, "objects")
	endpoint, stop, err := objects.Server{Dir: dir, Console: s.Console}.Start()
	if err != nil {
		return err
	}
	s.onStop(stop)
	s.places.Env[api.EnvS3Endpoint], s.places.Env[api.EnvBucket] = endpoint, objects.Bucket
	s.Console.Printf("the object storage answers at %s; its data is in %s", endpoint, dir)
	return nil
}

// functions returns the functions of the contract's groups and of the pipeline. examples
// replace the parameter examples of the served OpenAPI document.
func (s *stack) functions(examples map[string]string) []runtime.Function {
	env := s.places.Env
	packed, _ := json.Marshal(examples) // a map of strings always has a JSON form
	env[api.EnvExamples] = string(packed)

	functions := []runtime.Function{
		{Name: api.Extractor, Timeout: extractorTimeout, Processes: extractors},
		{Name: api.Importer, Timeout: importerTimeout, Processes: importers},
		// One process for the schedule, one for dead letters.
		{Name: api.Sweeper, Timeout: 30 * time.Second, Processes: 2},
		// A receiver has 15 s. One process more each for the stream and the schedule.
		{Name: api.Deliverer, Timeout: 25 * time.Second, Processes: deliveries + 2},
	}
	for _, g := range api.Groups() {
		functions = append(functions, runtime.Function{Name: string(g), Timeout: 28 * time.Second, Processes: 8})
	}
	for i := range functions {
		functions[i].Env = env
		functions[i].Bootstrap = filepath.Join(s.Functions, functions[i].Name, "bootstrap")
	}
	return functions
}

// joined joins comma-separated lists and skips empty ones.
func joined(lists ...string) string {
	return strings.Join(slices.DeleteFunc(lists, func(list string) bool { return list == "" }), ",")
}

// logFile creates <logs>/<name>.log and returns a function that adds a line to it. It is
// safe for concurrent use.
func (s *stack) logFile(name string) (line func(string), err error) {
	file, err := os.Create(filepath.Join(s.logs, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("log file of %s: %w", name, err)
	}
	s.onStop(func() { _ = file.Close() })
	lines := log.New(file, "", log.Ltime|log.Lmicroseconds|log.LUTC)
	return func(text string) { lines.Print(text) }, nil
}
