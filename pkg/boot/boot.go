// Package boot starts functions: it reads the configuration from the environment, and makes the adapters and handlers
// for it. It is the only package that imports all others, and has no rules of its own. Each kind of function is started
// by its own package (group, extractor, sweeper, deliverer), so that it links only what it needs.
package boot

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/webhook"
)

// Config is the configuration of a function.
type Config struct {
	Region           string
	Credentials      aws.CredentialsProvider
	Table            string
	DynamoDBEndpoint string // empty for AWS
	QueueURL         string
	SQSEndpoint      string // empty for AWS
	Bucket           string // of the files of documents
	S3Endpoint       string // empty for AWS
	Limit            quota.Limit
	CountTimeout     time.Duration // for one count of units
	AllowedHosts     []string
	TaxonomyFile     string // empty for the built-in vocabulary
	RetryDelay       time.Duration
	MessagesURL      string // of the queue of messages for webhooks
	ImportsURL       string // of the queue of imports
	WebhookKey       string // see webhook.NewCipher
	WebhookHosts     []string
	WebhookSchedule  webhook.Schedule
	Examples         map[string]string // of parameters, instead of the contract's; see package printing
}

// Read reads the configuration through getenv. Its error lists everything that is wrong.
func Read(getenv func(string) string) (Config, error) {
	var invalid []error
	number := func(name string, fallback int) int {
		text := getenv(name)
		if text == "" {
			return fallback
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			invalid = append(invalid, fmt.Errorf("%s must be a positive whole number, not %q", name, text))
		}
		return n
	}
	required := func(name string) string {
		if getenv(name) == "" {
			invalid = append(invalid, fmt.Errorf("%s is missing", name))
		}
		return getenv(name)
	}
	c := Config{
		Region: getenv("AWS_REGION"), Table: required(api.EnvTable), DynamoDBEndpoint: getenv(api.EnvDynamoEndpoint),
		QueueURL: getenv(api.EnvQueueURL), SQSEndpoint: getenv(api.EnvSQSEndpoint),
		Bucket: getenv(api.EnvBucket), S3Endpoint: getenv(api.EnvS3Endpoint),
		MessagesURL: getenv(api.EnvMessages), ImportsURL: getenv(api.EnvImports), WebhookKey: getenv(api.EnvWebhookKey),
		Limit: quota.Limit{
			Units:  number(api.EnvRateUnits, quota.DefaultLimit.Units),
			Window: time.Duration(number(api.EnvRateWindow, int(quota.DefaultLimit.Window/time.Second))) * time.Second,
		},
		CountTimeout: time.Duration(number(api.EnvCountTimeout, 100)) * time.Millisecond,
		TaxonomyFile: getenv(api.EnvTaxonomy),
		RetryDelay:   time.Duration(number(api.EnvRetryDelay, 30)) * time.Second,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{
				AccessKeyID: getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: getenv("AWS_SECRET_ACCESS_KEY"),
				SessionToken: getenv("AWS_SESSION_TOKEN"),
			}, nil
		}),
	}
	hosts := func(name string) (list []string) {
		for host := range strings.SplitSeq(getenv(name), ",") {
			if host = strings.TrimSpace(host); host != "" {
				list = append(list, host)
			}
		}
		return list
	}
	c.AllowedHosts, c.WebhookHosts = hosts(api.EnvAllowedHosts), hosts(api.EnvWebhookHosts)
	var err error
	if c.WebhookSchedule, err = webhook.ParseSchedule(getenv(api.EnvWebhookRetry)); err != nil {
		invalid = append(invalid, fmt.Errorf("%s %w", api.EnvWebhookRetry, err))
	}
	if examples := getenv(api.EnvExamples); examples != "" {
		if err := json.Unmarshal([]byte(examples), &c.Examples); err != nil {
			invalid = append(invalid, fmt.Errorf("%s: %w", api.EnvExamples, err))
		}
	}
	if c.TaxonomyFile != "" {
		if _, err := os.Stat(c.TaxonomyFile); err != nil {
			invalid = append(invalid, fmt.Errorf("%s: %w", api.EnvTaxonomy, err))
		}
	}
	return c, errors.Join(invalid...)
}

// StorageOrigin returns the origin of the URLs that storage signs, or "" without a bucket.
func (c Config) StorageOrigin() string {
	if c.S3Endpoint != "" || c.Bucket == "" {
		return c.S3Endpoint
	}
	return "https://" + c.Bucket + ".s3." + c.Region + ".amazonaws.com"
}

// Now returns the current time.
func Now() catalog.Time { return catalog.TimeOf(time.Now()) }

// IDs makes ids.
var IDs = catalog.IDs{Random: rand.Reader}

// Store returns the table.
func (c Config) Store() *dynamo.Store {
	options := dynamodb.Options{Region: c.Region, Credentials: c.Credentials}
	if c.DynamoDBEndpoint != "" {
		options.BaseEndpoint = &c.DynamoDBEndpoint
	}
	return &dynamo.Store{Client: dynamodb.New(options), Table: c.Table, Now: Now}
}

// Taxonomy opens the compiled taxonomy, or the built-in vocabulary if none is configured.
func (c Config) Taxonomy(builtin func() *skills.Taxonomy) (*skills.Taxonomy, error) {
	if c.TaxonomyFile == "" {
		return builtin(), nil
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

// Skills returns a function that opens the taxonomy when it is first called: most requests and imports need none. The
// built-in vocabulary has no index then.
func (c Config) Skills() func() *skills.Taxonomy {
	return sync.OnceValue(func() *skills.Taxonomy {
		taxonomy, err := c.Taxonomy(skills.Starter)
		if err != nil {
			panic(err) // becomes an internal error; the file existed at the start
		}
		return taxonomy
	})
}

// Start reads the configuration of a function and makes its log. It ends the process if the configuration is invalid.
func Start(function string) (Config, *slog.Logger) {
	log := slog.New(slog.NewJSONHandler(os.Stdout, nil))
	config, err := Read(os.Getenv)
	if err != nil {
		log.Error("configuration", "cause", err.Error())
		os.Exit(1)
	}
	return config, log.With("function", function)
}
