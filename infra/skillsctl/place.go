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
	"skillscurriculum/pkg/outbox"
	usecase "skillscurriculum/pkg/service"
	"skillscurriculum/pkg/storage"
)

// Files that describe a local stack and a deployment, relative to the root of the project.
var (
	announcement = filepath.Join("build", "local.json")
	outputs      = filepath.Join("build", "outputs.json")
	demoKeys     = filepath.Join("build", "local", "demo-keys.json")
)

// Variables that only this tool reads: the usage plan of a deployment, and the address of the service with /v1.
const (
	envUsagePlan = "USAGE_PLAN_ID"
	envBaseURL   = "BASE_URL"
)

// service has the parts of the service that the tool works on.
type service struct {
	store *dynamo.Store
	queue usecase.Queue   // nil if unknown
	files *storage.Bucket // nil if unknown
	keys  *keyring.Keyring
	env   map[string]string // the configuration, in terms of the functions' environment
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

var ids = catalog.IDs{Random: rand.Reader}

// open finds the service and connects to it.
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
		s.queue = &outbox.Jobs{URL: url, Client: sqs.NewFromConfig(cloud, func(o *sqs.Options) {
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
	// An unreachable table is reported early and in one sentence.
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	_, err = s.store.Client.DescribeTable(ctx, &awsdynamodb.DescribeTableInput{TableName: &s.store.Table})
	if err != nil {
		return nil, fmt.Errorf("the table %s cannot be reached: %w", s.store.Table, err)
	}
	return s, nil
}

// keyed is a service whose API keys work. In AWS they need a usage plan.
type keyed struct{ *service }

func (t *tool) openKeys(ctx context.Context) (keyed, error) {
	s, err := t.open(ctx)
	if err == nil && s.inAWS() && s.keys.Gateway == nil {
		err = fmt.Errorf("no usage plan: set %s to the deployment's output UsagePlanId", envUsagePlan)
	}
	return keyed{s}, err
}

// inAWS reports whether the service is behind API Gateway.
func (s *service) inAWS() bool { return s.env[api.EnvDynamoEndpoint] == "" }

// environment finds the service: through environment variables if TABLE_NAME or DYNAMODB_ENDPOINT is set, else the
// running local stack, else the deployment made from here.
func (t *tool) environment() (map[string]string, error) {
	names := []string{
		api.EnvTable, api.EnvQueueURL, api.EnvDynamoEndpoint, api.EnvSQSEndpoint, api.EnvBucket, api.EnvS3Endpoint,
		envUsagePlan, envBaseURL, api.EnvTaxonomy, api.EnvAllowedHosts,
	}
	env := map[string]string{}
	if t.getenv(api.EnvTable) == "" && t.getenv(api.EnvDynamoEndpoint) == "" {
		local, err := announced()
		if err != nil {
			return nil, err
		}
		if local != nil {
			env = local.Environment
			env[envBaseURL] = local.BaseURL
		} else if env, err = deployed(t.getenv("STAGE")); err != nil {
			return nil, err
		}
		if env == nil {
			return nil, errors.New("no service: " +
				"no local stack is running (build/local.json: make run), and TABLE_NAME is not set")
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

// read decodes a JSON file; false if it does not exist.
func read(name string, into any) (bool, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	return true, nil
}

// announced returns the description of the local stack; nil if none is running.
func announced() (*stack.Announcement, error) {
	var local stack.Announcement
	found, err := read(announcement, &local)
	if !found {
		return nil, err
	}
	if local.Environment[api.EnvTable] == "" {
		return nil, fmt.Errorf("%s: no table name", announcement)
	}
	return &local, nil
}

// deployed returns the outputs of the deployment of a stage; nil if there is none. An empty stage matches the only one.
func deployed(stage string) (map[string]string, error) {
	var stacks map[string]map[string]string
	found, err := read(outputs, &stacks)
	if !found {
		return nil, err
	}
	var fitting []string
	for name := range stacks {
		if stage == "" || strings.HasSuffix(name, "-"+stage) {
			fitting = append(fitting, name)
		}
	}
	if len(fitting) != 1 {
		slices.Sort(fitting)
		return nil, fmt.Errorf("%s has %d deployments (%s): choose one with STAGE",
			outputs, len(fitting), strings.Join(fitting, ", "))
	}
	out := stacks[fitting[0]]
	return map[string]string{
		api.EnvTable: out["TableName"], api.EnvQueueURL: out["QueueUrl"], api.EnvBucket: out["BucketName"],
		envUsagePlan: out["UsagePlanId"], envBaseURL: out["BaseUrl"],
	}, nil
}
