// Package stack runs the whole service on this machine: DynamoDB Local, the
// queue, the storage of files, every function's bootstrap, the gateway before them, the event sources,
// and the demo data. It knows none of the service's rules; what it
// needs of the store it is given. Invariants: nothing that Run started outlives
// it, and the announcement exists only while the service answers.
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
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// Config is what to run. Only Functions, Store and Console have no default.
type Config struct {
	Port      int    // of 127.0.0.1 for the gateway; 0 takes a free one
	Dir       string // keeps data and logs; "" means build/local
	Fresh     bool   // removes data and logs first
	Functions string // holds <function>/bootstrap
	Table     string // "" means skills-curriculum

	DynamoDBEndpoint string // "" starts DynamoDB Local
	SQSEndpoint      string // "" starts goaws
	S3Endpoint       string // "" serves the files of documents from Dir
	Bucket           string // of S3Endpoint; "" means documents

	Taxonomy     string // path of a compiled one; "" leaves the functions their own
	RateUnits    string // "" means 1000
	RateWindow   string // seconds; "" means 60
	AllowedHosts string // host:port list that syllabi may be fetched from besides the demo's

	WebhookHosts string // host:port list that webhooks may lead to although http or private, besides Receiver's
	WebhookRetry string // seconds, comma list; "" means the deliverer's own
	WebhookKey   string // encrypts secrets of webhooks; "" takes that of Dir, which is made where there is none

	Store    func(Places) Store
	Demo     func(context.Context, Places) (Demo, error) // loads the demo data, or finds it loaded; nil for none
	Syllabi  fs.FS                                       // served to the functions; nil for none
	Receiver http.Handler                                // of the demo's webhook; nil for none
	Console  *log.Logger                                 // for people
}

// Store is what the stack needs of the service's table.
type Store interface {
	// CreateTable makes the table where it is missing.
	CreateTable(ctx context.Context) error
	// Known reports whether an API key is good now.
	Known(ctx context.Context, apiKey string) (bool, error)
}

// Places lists where the parts are.
type Places struct {
	BaseURL          string // with /v1
	DynamoDBEndpoint string
	Table            string
	SQSEndpoint      string
	QueueURL         string
	MessagesURL      string // of the queue of messages for webhooks
	WebhookKey       string // see Config
	Receiver         string // URL of the demo's receiver, with a slash at the end; "" without one
	S3Endpoint       string
	Bucket           string
	Syllabi          string // URL of the directory of demo syllabi, with a slash at the end; "" without one
}

// Sizes of the functions: how long and how often at a time.
const (
	apiTimeout     = 28 * time.Second
	apiProcesses   = 8
	apiMemory      = 1769 // MB
	extractors     = 4    // of which one organization has two
	sweeperTimeout = 30 * time.Second
	sweeperMemory  = 256 // MB
	sweepers       = 2   // one for the schedule, one for dead letters
	sweep          = 10 * time.Second

	delivererTimeout = 25 * time.Second // a receiver has 15 s
	delivererMemory  = 256              // MB
	deliveries       = 12               // messages at a time, of which one webhook has three, and slow ones have six together
	deliveriesShare  = 3
	slowDelivery     = 3 * time.Second
	deliverers       = deliveries + 2 // and one each for the stream and the schedule
)

// Any extraction ends within 3 minutes, also one that kills its process every
// time: receives x visibility stays below. A job's lease outlives its function's
// time by 5 s; only after that is its message shown again.
const (
	extractorTimeout = 35 * time.Second // the longest fetch takes 30 s
	retrySeconds     = 2
	// Visibility and MaxReceives are how the queue has to be, where it is not
	// started here (Config.SQSEndpoint) and is made anew when it dies.
	Visibility  = extractorTimeout + 7*time.Second
	MaxReceives = 4
)

// countMilliseconds is how long a count of units may take: emulators on a busy
// machine are slow, and a count given up on is a 503.
const countMilliseconds = 2000

// Run starts everything, calls ready once the service answers, and goes on until
// ctx ends, which is no error. It stops whatever it started, in less than 5 s.
func Run(ctx context.Context, c Config, ready func(Announcement)) (err error) {
	if c.Dir == "" {
		c.Dir = filepath.Join("build", "local")
	}
	if c.Table == "" {
		c.Table = "skills-curriculum"
	}
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
	// The children go on until the gateway has answered its last request, except
	// that a stop while they start takes them along.
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
	s.places.Table = c.Table
	told, err := s.start(listener, end)
	if ctx.Err() != nil {
		return nil // stopped while it started
	}
	if err != nil {
		return err
	}
	started()
	if err := told.write(announcement); err != nil {
		return err
	}
	defer os.Remove(announcement)
	ready(told)
	<-running.Done()
	if ctx.Err() != nil {
		return nil
	}
	return context.Cause(running)
}

// stack is what runs, and how to stop it.
type stack struct {
	Config
	running context.Context // the gateway's and the event sources'
	life    context.Context // the children's
	logs    string
	places  Places
	stops   []func() // in order of their start
}

func (s *stack) onStop(f func()) { s.stops = append(s.stops, f) }

// stop ends what was started, last first.
func (s *stack) stop() {
	for i := len(s.stops) - 1; i >= 0; i-- {
		s.stops[i]()
	}
}

func (s *stack) start(listener net.Listener, end context.CancelCauseFunc) (Announcement, error) {
	if err := os.MkdirAll(s.logs, 0o755); err != nil {
		return Announcement{}, fmt.Errorf("logs: %w", err)
	}
	if err := s.startDynamoDB(); err != nil {
		return Announcement{}, err
	}
	store := s.Store(s.places)
	if err := store.CreateTable(s.life); err != nil {
		return Announcement{}, fmt.Errorf("table %s at %s: %w", s.Table, s.places.DynamoDBEndpoint, err)
	}
	queues, err := s.startQueue()
	if err != nil {
		return Announcement{}, err
	}
	if err := s.startObjects(); err != nil {
		return Announcement{}, err
	}
	if err := s.serveSyllabi(listener); err != nil {
		return Announcement{}, err
	}
	if err := s.serveReceiver(listener); err != nil {
		return Announcement{}, err
	}
	if s.places.WebhookKey, err = s.webhookKey(); err != nil {
		return Announcement{}, err
	}

	functions := s.functions()
	r, err := runtime.Start(s.life, functions, s.logs, s.Console)
	if err != nil {
		return Announcement{}, err
	}
	s.onStop(r.Stop)
	s.Console.Printf("%d functions run; their logs are in %s", len(functions), s.logs)

	line, err := s.logFile("gateway")
	if err != nil {
		return Announcement{}, err
	}
	g := gateway.Gateway{Known: store.Known, Invoke: r.Invoke, Line: line, Console: s.Console}
	client := queue.Client(queues.Endpoint)
	jobs := &source.Queue{Client: client, URL: queues.URL, ARN: queues.ARN, Function: api.Extractor, Concurrency: extractors, Visibility: Visibility, Group: organizationOf, Invoke: r.Invoke, Console: s.Console}
	dead := &source.Queue{Client: client, URL: queues.DeadLetterURL, ARN: queues.DeadLetterARN, Function: api.Sweeper, Concurrency: 1, Visibility: Visibility, Group: organizationOf, Invoke: r.Invoke, Console: s.Console}
	messages := &source.Queue{
		Client: client, URL: queues.Messages.URL, ARN: queues.Messages.ARN, Function: api.Deliverer, Concurrency: deliveries, Share: deliveriesShare, Slow: slowDelivery,
		Visibility: Visibility, Group: webhookOf, Invoke: r.Invoke, Console: s.Console,
	}
	changes := &source.Stream{Client: dynamodb.Streams(s.places.DynamoDBEndpoint), Table: s.Table, Function: api.Deliverer, Wanted: isFeed, Invoke: r.Invoke, Console: s.Console}
	var parts sync.WaitGroup
	s.onStop(parts.Wait)
	parts.Go(func() {
		if err := g.Serve(s.running, listener); err != nil {
			end(err)
		}
	})
	parts.Go(func() { jobs.Poll(s.running) })
	parts.Go(func() { dead.Poll(s.running) })
	parts.Go(func() { messages.Poll(s.running) })
	parts.Go(func() { changes.Poll(s.running) })
	parts.Go(func() { source.Schedule(s.running, sweep, api.Sweeper, r.Invoke) })
	parts.Go(func() { source.Schedule(s.running, sweep, api.Deliverer, r.Invoke) })

	told := Announcement{BaseURL: s.places.BaseURL, Syllabi: s.places.Syllabi, Environment: s.environment()}
	if s.Demo != nil {
		if told.Demo, err = s.Demo(s.life, s.places); err != nil {
			return Announcement{}, fmt.Errorf("demo data: %w", err)
		}
		s.Console.Print("the demo data is loaded")
	}
	return told, told.check(s.life)
}

// organizationOf returns whose job a message is, which is its group.
func organizationOf(message string) string {
	var job catalog.ExtractionJob
	_ = json.Unmarshal([]byte(message), &job) // what is no job belongs to nobody
	return string(job.OrganizationID)
}

// webhookOf returns which webhook a message is for, which is its group.
func webhookOf(message string) string {
	var m catalog.WebhookMessage
	_ = json.Unmarshal([]byte(message), &m)
	return cmp.Or(m.WebhookID, string(m.OrganizationID))
}

// isFeed reports whether a row is a page of a change feed.
func isFeed(partitionKey string) bool {
	_, is := api.JournalRows.Organization(partitionKey)
	return is
}

// webhookKey returns the key that encrypts the secrets of webhooks. It stays the same
// from start to start, as the table does.
func (s *stack) webhookKey() (string, error) {
	if s.WebhookKey != "" {
		return s.WebhookKey, nil
	}
	path := filepath.Join(s.Dir, "webhook-key")
	key, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		key = []byte(rand.Text() + rand.Text())
		err = os.WriteFile(path, key, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("key of the webhooks: %w", err)
	}
	return string(key), nil
}

func (s *stack) startDynamoDB() error {
	if s.places.DynamoDBEndpoint = s.DynamoDBEndpoint; s.DynamoDBEndpoint != "" {
		s.Console.Printf("DynamoDB is the one at %s", s.DynamoDBEndpoint)
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
	s.places.DynamoDBEndpoint = endpoint
	s.Console.Printf("DynamoDB Local answers at %s; its data is in %s", endpoint, dir)
	return nil
}

func (s *stack) startQueue() (queues queue.Queues, err error) {
	server := queue.Server{Visibility: Visibility, MaxReceives: MaxReceives, Console: s.Console}
	if s.SQSEndpoint != "" {
		queues, err = server.Create(s.life, s.SQSEndpoint)
	} else {
		if server.Line, err = s.logFile("queue"); err != nil {
			return queue.Queues{}, err
		}
		var stop func()
		if queues, stop, err = server.Start(s.life); err == nil {
			s.onStop(stop)
		}
	}
	if err != nil {
		return queue.Queues{}, err
	}
	s.places.SQSEndpoint, s.places.QueueURL, s.places.MessagesURL = queues.Endpoint, queues.URL, queues.Messages.URL
	s.Console.Printf("the queue answers at %s", queues.Endpoint)
	return queues, nil
}

func (s *stack) startObjects() (err error) {
	s.places.S3Endpoint, s.places.Bucket = s.S3Endpoint, cmp.Or(s.Bucket, objects.Bucket)
	if s.S3Endpoint != "" {
		s.Console.Printf("the object storage is the one at %s", s.S3Endpoint)
		return nil
	}
	dir := filepath.Join(s.Dir, "objects")
	endpoint, stop, err := objects.Server{Dir: dir, Console: s.Console}.Start()
	if err != nil {
		return err
	}
	s.onStop(stop)
	s.places.S3Endpoint, s.places.Bucket = endpoint, objects.Bucket
	s.Console.Printf("the object storage answers at %s; its data is in %s", endpoint, dir)
	return nil
}

// functions lists what the contract's groups and the pipeline need.
func (s *stack) functions() []runtime.Function {
	env := s.environment()
	env[api.EnvRateUnits] = cmp.Or(s.RateUnits, "1000")
	env[api.EnvRateWindow] = cmp.Or(s.RateWindow, "60")
	env[api.EnvRetryDelay] = strconv.Itoa(retrySeconds)
	env[api.EnvCountTimeout] = strconv.Itoa(countMilliseconds)
	env[api.EnvMessages] = s.places.MessagesURL
	env[api.EnvWebhookKey] = s.places.WebhookKey
	env[api.EnvWebhookHosts] = joined(s.WebhookHosts, hostOf(s.places.Receiver))
	env[api.EnvWebhookRetry] = s.WebhookRetry

	functions := []runtime.Function{
		{Name: api.Extractor, Timeout: extractorTimeout, Memory: apiMemory, Processes: extractors},
		{Name: api.Sweeper, Timeout: sweeperTimeout, Memory: sweeperMemory, Processes: sweepers},
		{Name: api.Deliverer, Timeout: delivererTimeout, Memory: delivererMemory, Processes: deliverers},
	}
	for _, g := range api.Groups() {
		functions = append(functions, runtime.Function{Name: string(g), Timeout: apiTimeout, Memory: apiMemory, Processes: apiProcesses})
	}
	for i := range functions {
		functions[i].Env = env
		functions[i].Bootstrap = filepath.Join(s.Functions, functions[i].Name, "bootstrap")
	}
	return functions
}

// environment is how a program finds the parts and holds itself to the same rules
// for syllabi: functions, and skillsctl.
func (s *stack) environment() map[string]string {
	env := map[string]string{
		api.EnvTable:          s.places.Table,
		api.EnvQueueURL:       s.places.QueueURL,
		api.EnvDynamoEndpoint: s.places.DynamoDBEndpoint,
		api.EnvSQSEndpoint:    s.places.SQSEndpoint,
		api.EnvBucket:         s.places.Bucket,
		api.EnvS3Endpoint:     s.places.S3Endpoint,
		api.EnvAllowedHosts:   joined(s.AllowedHosts, hostOf(s.places.Syllabi)),
	}
	if s.Taxonomy != "" {
		env[api.EnvTaxonomy] = s.Taxonomy
	}
	return env
}

// joined joins lists of hosts, of which each may be empty.
func joined(lists ...string) string {
	return strings.Join(slices.DeleteFunc(lists, func(list string) bool { return list == "" }), ",")
}

// logFile opens <logs>/<name>.log for lines of one writer or several.
func (s *stack) logFile(name string) (line func(string), err error) {
	file, err := os.Create(filepath.Join(s.logs, name+".log"))
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	s.onStop(func() { _ = file.Close() })
	lines := log.New(file, "", log.Ltime|log.Lmicroseconds|log.LUTC)
	return func(text string) { lines.Print(text) }, nil
}
