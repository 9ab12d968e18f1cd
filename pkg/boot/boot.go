// Package boot turns the environment into a running function: environment ->
// config -> adapters -> handler. It is the only room that knows all the others; it
// holds no rule of its own.
package boot

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/queue"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

// Config is everything that the environment says.
type Config struct {
	Region           string
	Credentials      aws.CredentialsProvider
	Table            string
	DynamoDBEndpoint string // empty for AWS
	QueueURL         string
	SQSEndpoint      string // empty for AWS
	Limit            quota.Limit
	CountTimeout     time.Duration // for one count of units
	AllowedHosts     []string
	TaxonomyFile     string // empty for the built-in vocabulary
	RetryDelay       time.Duration
}

// Read reads the configuration through getenv and reports everything that is
// wrong at once.
func Read(getenv func(string) string) (Config, error) {
	var faults []error
	number := func(name string, fallback int) int {
		text := getenv(name)
		if text == "" {
			return fallback
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			faults = append(faults, fmt.Errorf("%s must be a whole number above 0, not %q", name, text))
		}
		return n
	}
	required := func(name string) string {
		if getenv(name) == "" {
			faults = append(faults, fmt.Errorf("%s is missing", name))
		}
		return getenv(name)
	}
	c := Config{
		Region: getenv("AWS_REGION"), Table: required(api.EnvTable), DynamoDBEndpoint: getenv(api.EnvDynamoEndpoint),
		QueueURL: getenv(api.EnvQueueURL), SQSEndpoint: getenv(api.EnvSQSEndpoint),
		Limit: quota.Limit{
			Units:  number(api.EnvRateUnits, quota.DefaultLimit.Units),
			Window: time.Duration(number(api.EnvRateWindow, int(quota.DefaultLimit.Window/time.Second))) * time.Second,
		},
		CountTimeout: time.Duration(number(api.EnvCountTimeout, 100)) * time.Millisecond,
		TaxonomyFile: getenv(api.EnvTaxonomy),
		RetryDelay:   time.Duration(number(api.EnvRetryDelay, 30)) * time.Second,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN"),
			}, nil
		}),
	}
	for host := range strings.SplitSeq(getenv(api.EnvAllowedHosts), ",") {
		if host = strings.TrimSpace(host); host != "" {
			c.AllowedHosts = append(c.AllowedHosts, host)
		}
	}
	if c.TaxonomyFile != "" {
		if _, err := os.Stat(c.TaxonomyFile); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", api.EnvTaxonomy, err))
		}
	}
	return c, errors.Join(faults...)
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

var ids = catalog.IDs{Random: rand.Reader}

// Store opens the table.
func (c Config) Store() *dynamo.Store {
	options := dynamodb.Options{Region: c.Region, Credentials: c.Credentials}
	if c.DynamoDBEndpoint != "" {
		options.BaseEndpoint = &c.DynamoDBEndpoint
	}
	return &dynamo.Store{Client: dynamodb.New(options), Table: c.Table, Now: now}
}

// Sender opens the queue.
func (c Config) Sender() *queue.Sender {
	options := sqs.Options{Region: c.Region, Credentials: c.Credentials}
	if c.SQSEndpoint != "" {
		options.BaseEndpoint = &c.SQSEndpoint
	}
	return &queue.Sender{Client: sqs.New(options), URL: c.QueueURL}
}

// Taxonomy opens the compiled taxonomy, or the built-in vocabulary where none is
// named.
func (c Config) Taxonomy() (*skills.Taxonomy, error) {
	if c.TaxonomyFile == "" {
		return skills.Starter(), nil
	}
	compiled, err := os.ReadFile(c.TaxonomyFile)
	if err != nil {
		return nil, fmt.Errorf("taxonomy: %w", err)
	}
	taxonomy, err := skills.Open(compiled)
	if err != nil {
		return nil, fmt.Errorf("taxonomy %s: %w", c.TaxonomyFile, err)
	}
	return taxonomy, nil
}

// Server makes the HTTP floor of some groups on a store, of all where none is
// named.
func (c Config) Server(store *dynamo.Store, log *slog.Logger, groups ...api.Group) *rest.Server {
	counter := &dynamo.Counter{Store: store, Timeout: c.CountTimeout}
	return rest.New(&rest.Server{
		Store: store, Callers: &rest.Callers{Keys: store, Now: now}, Meter: &quota.Meter{Counter: counter}, Usage: counter,
		Limit: c.Limit, Queue: c.Sender(), Market: &dynamo.Market{Store: store, Builtin: builtin{}}, Now: now, IDs: ids, Log: log, Groups: groups,
		CheckHref: func(href string) error { return syllabus.CheckHref(href, c.AllowedHosts) },
		Taxonomy: sync.OnceValue(func() *skills.Taxonomy {
			taxonomy, err := c.Taxonomy()
			if err != nil {
				panic(err) // told as an internal error; the file was there at the start
			}
			return taxonomy
		}),
	})
}

// builtin is labor.Starter, read when it is first asked: few functions need it.
type builtin struct{}

func (builtin) Scope(ctx context.Context, area labor.Area, cips []string) (labor.Scope, error) {
	return labor.Starter().Scope(ctx, area, cips)
}

func (builtin) Facts(ctx context.Context, areas []labor.Area, socs []string) (labor.Facts, error) {
	return labor.Starter().Facts(ctx, areas, socs)
}

func (builtin) Regions(ctx context.Context, regionType labor.RegionType) ([]labor.Region, error) {
	return labor.Starter().Regions(ctx, regionType)
}

func logger() *slog.Logger { return slog.New(slog.NewJSONHandler(os.Stdout, nil)) }

// start reads the configuration or ends the process with everything that is wrong
// with it.
func start() (Config, *slog.Logger) {
	log := logger()
	config, err := Read(os.Getenv)
	if err != nil {
		log.Error("configuration", "cause", err.Error())
		os.Exit(1)
	}
	return config, log
}

// StartAPI runs the function of a group of operations.
func StartAPI(group api.Group) {
	config, log := start()
	groups := []api.Group{group}
	if group == api.Customers {
		groups = nil // it gives the document, which is made from all
	}
	lambda.Start(Function(config.Server(config.Store(), log.With("function", string(group)), groups...)))
}

// plain keeps the proxy from taking a part of the path for a query or a fragment.
var plain = strings.NewReplacer("?", "%3F", "#", "%23")

// Gateway answers the events of API Gateway through a handler. What the proxy
// cannot turn into a request (a path that cannot be decoded) goes the same way,
// with the path beside it.
func Gateway(handler http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(handler)
	return func(ctx context.Context, event events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		path := api.BasePath + plain.Replace(event.Path)
		ctx = rest.WithRequestID(ctx, event.RequestContext.RequestID)
		if _, err := url.ParseRequestURI(path); err != nil {
			ctx = rest.WithPath(ctx, path)
			path = api.BasePath + "/"
		}
		event.Path = path
		return adapter.ProxyWithContext(ctx, event)
	}
}

// documents reads syllabi from addresses, within the guards of package syllabus.
type documents struct {
	fetcher *syllabus.Fetcher
	reader  *syllabus.Reader
}

func (d documents) Fetch(ctx context.Context, task *catalog.Task) (catalog.Document, error) {
	fetched, err := d.fetcher.Fetch(ctx, task.SyllabusHref)
	if err != nil {
		return catalog.Document{}, err
	}
	return d.reader.Read(ctx, fetched.Body, syllabus.Hint{ContentType: fetched.ContentType, Name: fetched.FinalName, Course: task.Name})
}

func (d documents) Plain(ctx context.Context, words string) (catalog.Document, error) {
	return d.reader.Read(ctx, []byte(words), syllabus.Hint{Kind: syllabus.Text})
}

// Worker makes what runs extractions on a store. PDFium and the taxonomy are warm
// once it is there.
func (c Config) Worker(ctx context.Context, store *dynamo.Store, log *slog.Logger) (*queue.Worker, error) {
	taxonomy, err := c.Taxonomy()
	if err != nil {
		return nil, err
	}
	reader, err := syllabus.NewReader(ctx)
	if err != nil {
		return nil, fmt.Errorf("PDF reader: %w", err)
	}
	info := taxonomy.Info()
	return &queue.Worker{
		Store: store, Sender: c.Sender(), Documents: documents{&syllabus.Fetcher{AllowedHosts: c.AllowedHosts}, reader},
		Extractor: skills.NewExtractor(taxonomy), RetryDelay: c.RetryDelay, Now: now, IDs: ids, Log: log,
		Provenance: catalog.Provenance{Engine: skills.Engine, Taxonomy: info.Name, TaxonomyVersion: info.Version},
	}, nil
}

// Sweeper makes what looks after lost extractions on a store.
func (c Config) Sweeper(store *dynamo.Store, log *slog.Logger) *queue.Sweeper {
	return &queue.Sweeper{Store: store, Sender: c.Sender(), Now: now, IDs: ids, Log: log}
}

// StartExtractor runs the function that runs extractions.
func StartExtractor() {
	config, log := start()
	worker, err := config.Worker(context.Background(), config.Store(), log.With("function", api.Extractor))
	if err != nil {
		log.Error("extractor", "cause", err.Error())
		os.Exit(1)
	}
	lambda.Start(worker.Handle)
}

// StartSweeper runs the function that looks after lost extractions.
func StartSweeper() {
	config, log := start()
	lambda.Start(config.Sweeper(config.Store(), log.With("function", api.Sweeper)).Handle)
}
