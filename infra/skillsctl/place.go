package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/queue"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/storage"
)

// What a local stack and a deployment say of themselves, seen from the project's root.
var (
	announcement = filepath.Join("build", "local.json")
	outputs      = filepath.Join("build", "outputs.json")
	demoKeys     = filepath.Join("build", "local", "demo-keys.json")
)

// envUsagePlan names the usage plan of a deployment.
const envUsagePlan = "USAGE_PLAN_ID"

// service is what the tool works on.
type service struct {
	store *dynamo.Store
	queue rest.Queue      // nil where none is known
	files *storage.Bucket // nil where none is known
	keys  *keyring.Keyring
	env   map[string]string // where the parts are, in the words of the functions' environment
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

var ids = catalog.IDs{Random: rand.Reader}

// open finds the service and opens its parts.
func (t *tool) open(ctx context.Context) (*service, error) {
	env, err := t.environment()
	if err != nil {
		return nil, err
	}
	s := &service{env: env, store: &dynamo.Store{Table: env[api.EnvTable], Now: now}}
	s.keys = &keyring.Keyring{Store: s.store, Now: now, IDs: ids}
	var cloud aws.Config
	if endpoint := env[api.EnvDynamoEndpoint]; endpoint != "" {
		s.store.Client = dynamodb.Client(endpoint)
		cloud = aws.Config{Region: "us-east-1", Credentials: s.store.Client.Options().Credentials}
	} else {
		if cloud, err = config.LoadDefaultConfig(ctx); err != nil {
			return nil, fmt.Errorf("AWS configuration: %w", err)
		}
		if cloud.Region == "" {
			return nil, errors.New("no AWS region: set AWS_REGION, or AWS_PROFILE to a profile that has one")
		}
		s.store.Client = awsdynamodb.NewFromConfig(cloud)
		if plan := env[envUsagePlan]; plan != "" {
			s.keys.Gateway = keyring.APIGateway{Client: apigateway.NewFromConfig(cloud), UsagePlan: plan}
		}
	}
	if url := env[api.EnvQueueURL]; url != "" {
		s.queue = &queue.Sender{URL: url, Client: sqs.NewFromConfig(cloud, func(o *sqs.Options) {
			if endpoint := env[api.EnvSQSEndpoint]; endpoint != "" {
				o.BaseEndpoint = &endpoint
			}
		})}
	}
	if name := env[api.EnvBucket]; name != "" {
		s.files = &storage.Bucket{Name: name, Client: s3.NewFromConfig(cloud, func(o *s3.Options) {
			if endpoint := env[api.EnvS3Endpoint]; endpoint != "" {
				o.BaseEndpoint, o.UsePathStyle = &endpoint, true
			}
		})}
	}
	return s, s.check(ctx)
}

// check reports early and in one sentence that the table cannot be reached.
func (s *service) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err := s.store.Client.DescribeTable(ctx, &awsdynamodb.DescribeTableInput{TableName: &s.store.Table})
	if err != nil {
		return fmt.Errorf("the table %s cannot be reached: %w", s.store.Table, err)
	}
	return nil
}

// inAWS reports whether an API Gateway stands before the service.
func (s *service) inAWS() bool { return s.env[api.EnvDynamoEndpoint] == "" }

// environment finds the service: the variables decide where TABLE_NAME or
// DYNAMODB_ENDPOINT is set, else the local stack that runs here, else the
// deployment that was made from here.
func (t *tool) environment() (map[string]string, error) {
	names := []string{api.EnvTable, api.EnvQueueURL, api.EnvDynamoEndpoint, api.EnvSQSEndpoint, api.EnvBucket, api.EnvS3Endpoint, envUsagePlan, api.EnvTaxonomy, api.EnvAllowedHosts}
	env := map[string]string{}
	if t.getenv(api.EnvTable) == "" && t.getenv(api.EnvDynamoEndpoint) == "" {
		local, err := announced()
		if err != nil {
			return nil, err
		}
		if local != nil {
			env = local.Environment
		} else if env, err = deployed(t.getenv("STAGE")); err != nil {
			return nil, err
		}
		if env == nil {
			return nil, errors.New("no service: no local stack runs here (build/local.json: make run), and TABLE_NAME names no table")
		}
	}
	for _, name := range names {
		if value := t.getenv(name); value != "" {
			env[name] = value
		}
	}
	if env[api.EnvTable] == "" {
		env[api.EnvTable] = "skills-curriculum"
	}
	return env, nil
}

// announced reads what the local stack says of itself; nil where none runs.
func announced() (*stack.Announcement, error) {
	text, err := os.ReadFile(announcement)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var told stack.Announcement
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	if err == nil && told.Environment[api.EnvTable] == "" {
		err = errors.New("it names no table")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", announcement, err)
	}
	return &told, nil
}

// deployed reads the outputs of a deployment; nil where there was none. stage
// chooses among several.
func deployed(stage string) (map[string]string, error) {
	text, err := os.ReadFile(outputs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var stacks map[string]map[string]string
	if err == nil {
		err = json.Unmarshal(text, &stacks)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", outputs, err)
	}
	var fitting []string
	for name := range stacks {
		if stage == "" || strings.HasSuffix(name, "-"+stage) {
			fitting = append(fitting, name)
		}
	}
	if len(fitting) != 1 {
		slices.Sort(fitting)
		return nil, fmt.Errorf("%s holds %d deployments (%s): choose one with STAGE", outputs, len(fitting), strings.Join(fitting, ", "))
	}
	out := stacks[fitting[0]]
	return map[string]string{api.EnvTable: out["TableName"], api.EnvQueueURL: out["QueueUrl"], api.EnvBucket: out["BucketName"], envUsagePlan: out["UsagePlanId"]}, nil
}
