package main

import (
	"os"
	"path/filepath"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// functions holds the functions by name.
type functions map[string]awslambda.Function

// size is a function's memory and timeout with the reasons. Lambda allocates CPU in
// proportion to memory, one vCPU at fullCPU.
type size struct {
	memory  float64 // MB
	timeout float64 // seconds; API Gateway waits 29 for a response
	why     string
}

const fullCPU = 1769

// records is the size for groups that only convert records between the table and JSON.
var records = size{256, 10, "a page of 100 records is a few MB; almost all of the time is spent waiting for the " +
	"table; 10 s suffice for retries of a transaction"}

var sizes = map[string]size{
	string(api.Courses):       records,
	string(api.Jobs):          records,
	string(api.Programs):      records,
	string(api.Labor):         records,
	string(api.Customers):     records,
	string(api.Documents):     records,
	string(api.Webhooks):      records,
	string(api.Docs):          {512, 10, "responds with the viewer of the reference, 2 MB of script"},
	string(api.Extractions):   {512, 10, "searches the whole taxonomy in memory"},
	string(api.Credentials):   {fullCPU, 28, "the credential builder computes for up to 2 s on a whole CPU"},
	string(api.Transfers):     {fullCPU, 28, "scores transfer courses against every section of a catalog in memory"},
	string(api.Articulations): {512, 28, "a page of health reads every approved articulation, a thousand at a time"},
	string(api.Reports):       {fullCPU, 28, "compares 100 courses with 50 jobs and writes responses of up to 6 MB"},
	string(api.Registry): {1024, 28,
		"keeps the CTIDs of catalogs in memory; the first read of an organization reads its whole catalog"},
	string(api.Imports): {512, 28, "writes up to 100 records in several transactions, one after the other"},
	api.Extractor: {fullCPU, 60, "CPU-bound (PDFium, matching), so half the memory would cost the same and " +
		"take twice as long; the time suffices for 30 s of fetching and 300 pages"},
	api.Importer: {fullCPU, 600, "parses files of up to 25 MiB and 200,000 rows, and writes them one " +
		"transaction after the other; hands over to another message before its time is over"},
	api.Deliverer: {256, 25, "waits for receivers, which have 15 s to respond, for several at a time"},
	api.Sweeper:   {256, 30, "reads and resends up to a few hundred stuck extractions a minute"},
}

// logs holds the log groups by function name.
type logs map[string]awslogs.LogGroup

// newFunctions creates the functions from their bundles, each with its own role and log
// group.
func newFunctions(
	stack awscdk.Stack, s stage, key awskms.IKey, t table, q queues, b awss3.Bucket, secrets awssecretsmanager.Secret,
) (functions, logs) {
	made, written := functions{}, logs{}
	for _, name := range api.Functions() {
		bundle := filepath.Join(s.bundles, name)
		log := newLog(stack, s, key, name+"-log", nil)
		props := &awslambda.FunctionProps{
			FunctionName: jsii.String(s.stackName() + "-" + name),
			Description:  jsii.String("Skills Curriculum Service: " + name),
			Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
			Architecture: awslambda.Architecture_ARM_64(),
			Handler:      jsii.String("bootstrap"),
			Code:         awslambda.Code_FromAsset(&bundle, nil),
			MemorySize:   jsii.Number(sizes[name].memory),
			Timeout:      seconds(sizes[name].timeout),
			Tracing:      awslambda.Tracing_ACTIVE,
			LogGroup:     log,
			Role:         newRole(stack, name, key, t, q, b, log),
			Environment:  environment(s, name, bundle, t, q, b, secrets),
		}
		if name == api.Importer {
			props.EphemeralStorageSize = awscdk.Size_Gibibytes(jsii.Number(2)) // unpacked workbooks and rejected rows
		}
		if name == api.Sweeper || name == api.Deliverer {
			props.RetryAttempts = jsii.Number(0) // the next scheduled run is the retry
		}
		if n, ok := s.reserved[name]; ok {
			props.ReservedConcurrentExecutions = jsii.Number(float64(n))
		}
		made[name], written[name] = awslambda.NewFunction(stack, jsii.String(name), props), log
		// CDK repeats dependencies that the properties imply, which linters report.
		made[name].Node().DefaultChild().(awscdk.CfnResource).AddDeletionOverride(jsii.String("DependsOn"))
	}
	return made, written
}

// newLog creates a log group with retention. A nil name means a generated one.
func newLog(stack awscdk.Stack, s stage, key awskms.IKey, id string, name *string) awslogs.LogGroup {
	retention := awslogs.RetentionDays_ONE_WEEK
	if s.production() {
		retention = awslogs.RetentionDays_THREE_MONTHS
	}
	props := &awslogs.LogGroupProps{LogGroupName: name, Retention: retention, RemovalPolicy: s.data()}
	if key != nil {
		props.EncryptionKey = key
	}
	return awslogs.NewLogGroup(stack, &id, props)
}

// environment is the same for all functions, except that only those for webhooks get the key
// of their secrets. The endpoints are empty in AWS; they are declared because sam local
// overrides only declared variables.
func environment(
	s stage, name, bundle string, t table, q queues, b awss3.Bucket, secrets awssecretsmanager.Secret,
) *map[string]*string {
	env := map[string]*string{
		api.EnvTable:      t.name,
		api.EnvQueueURL:   q.jobs.QueueUrl(),
		api.EnvMessages:   q.messages.QueueUrl(),
		api.EnvImports:    q.imports.QueueUrl(),
		api.EnvBucket:     b.BucketName(),
		api.EnvRateUnits:  &s.rateUnits,
		api.EnvRateWindow: &s.rateWindow,
		api.EnvRetryDelay: jsii.String("30"),
		// A cold function opens its first TLS connection with a fraction of a vCPU; the default
		// limit would turn that into a 503.
		api.EnvCountTimeout:   jsii.String("250"),
		api.EnvDynamoEndpoint: jsii.String(""),
		api.EnvSQSEndpoint:    jsii.String(""),
		api.EnvS3Endpoint:     jsii.String(""),
		api.EnvAllowedHosts:   jsii.String(""),
		api.EnvWebhookHosts:   jsii.String(""),
		api.EnvWebhookRetry:   jsii.String(""),
	}
	if name == string(api.Webhooks) || name == api.Deliverer {
		env[api.EnvWebhookKey] = secrets.SecretValue().UnsafeUnwrap() // the template contains only a reference
	}
	if _, err := os.Stat(filepath.Join(bundle, taxonomyFile)); err == nil {
		env[api.EnvTaxonomy] = jsii.String("/var/task/" + taxonomyFile)
	}
	return &env
}

// taxonomyFile is a compiled taxonomy next to a bootstrap. Without it, the function uses the
// built-in one.
const taxonomyFile = "taxonomy.bin"
