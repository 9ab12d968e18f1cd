package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/jsii-runtime-go"

	"skillscurriculum/pkg/api"
)

// queues holds the queues of extraction jobs and webhook messages and their dead-letter
// queues.
type queues struct{ jobs, dead, messages, deadMessages, imports, deadImports awssqs.Queue }

const (
	// maxReceives limits deliveries of a message whose worker died or found the job claimed.
	// Delayed retries are new messages.
	maxReceives = 6
	// extractorsAtOnce limits the load on the servers of syllabi and on the table. It is set on
	// the event source, because with reserved concurrency SQS would count receives of jobs
	// that never started.
	extractorsAtOnce = 10
	// deliverersAtOnce limits the concurrent deliverers, each with a batch.
	deliverersAtOnce = 20
	// importersAtOnce limits the concurrent imports, each of another organization.
	importersAtOnce  = 10
	deliveriesAtOnce = 8 // per function, in parallel
	// visibilityFactor is the ratio of visibility timeout to function timeout that AWS
	// recommends; the worker's lease ends in between.
	visibilityFactor = 6
)

func newQueues(stack awscdk.Stack, s stage, key awskms.IKey) queues {
	queue := func(id, consumer string, retention awscdk.Duration, dead *awssqs.DeadLetterQueue) awssqs.Queue {
		props := &awssqs.QueueProps{
			VisibilityTimeout:      seconds(visibilityFactor * sizes[consumer].timeout),
			RetentionPeriod:        retention,
			ReceiveMessageWaitTime: seconds(20),
			Encryption:             awssqs.QueueEncryption_SQS_MANAGED,
			EnforceSSL:             jsii.Bool(true),
			DeadLetterQueue:        dead,
			RemovalPolicy:          awscdk.RemovalPolicy_DESTROY, // jobs are rows of the table; messages only refer to them
		}
		if key != nil {
			// Reusing a data key for an hour limits a busy queue to 24 KMS calls a day.
			props.Encryption, props.EncryptionMasterKey, props.DataKeyReuse = awssqs.QueueEncryption_KMS, key,
				awscdk.Duration_Hours(jsii.Number(1))
		}
		return awssqs.NewQueue(stack, &id, props)
	}
	// SQS's maximum: a dead letter stands for a record that could not be marked FAILED.
	dead := queue("DeadLetters", api.Sweeper, awscdk.Duration_Days(jsii.Number(14)), nil)
	jobs := queue("Jobs", api.Extractor, awscdk.Duration_Days(jsii.Number(4)),
		&awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(maxReceives)})
	deadMessages := queue("DeadMessages", api.Deliverer, awscdk.Duration_Days(jsii.Number(14)), nil)
	messages := queue("Messages", api.Deliverer, awscdk.Duration_Days(jsii.Number(4)),
		&awssqs.DeadLetterQueue{Queue: deadMessages, MaxReceiveCount: jsii.Number(maxReceives)})
	// One message group for each organization, so that its imports run one at a time. A message becomes visible soon
	// after its function has ended.
	fifo := func(id string, visibility, days float64, dead *awssqs.DeadLetterQueue) awssqs.Queue {
		props := &awssqs.QueueProps{
			QueueName: jsii.String(s.stackName() + "-" + strings.ToLower(id) + ".fifo"), Fifo: jsii.Bool(true),
			VisibilityTimeout: seconds(visibility), RetentionPeriod: awscdk.Duration_Days(&days),
			ReceiveMessageWaitTime: seconds(20), Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: jsii.Bool(true),
			DeadLetterQueue: dead, RemovalPolicy: awscdk.RemovalPolicy_DESTROY,
		}
		if key != nil {
			props.Encryption, props.EncryptionMasterKey, props.DataKeyReuse = awssqs.QueueEncryption_KMS, key,
				awscdk.Duration_Hours(jsii.Number(1))
		}
		return awssqs.NewQueue(stack, &id, props)
	}
	importTime := sizes[api.Importer].timeout + 30
	deadImports := fifo("DeadImports", importTime, 14, nil)
	imports := fifo("Imports", importTime, 4, &awssqs.DeadLetterQueue{
		Queue: deadImports, MaxReceiveCount: jsii.Number(maxReceives),
	})
	output(stack, "ImportsQueueUrl", "Organizations with imports to run", imports.QueueUrl())
	output(stack, "DeadImportsQueueUrl", "The same, where the importer failed in all attempts", deadImports.QueueUrl())
	output(stack, "DeadImportsQueueArn", "The same, for a redrive", deadImports.QueueArn())
	output(stack, "QueueUrl", "Extraction jobs", jobs.QueueUrl())
	output(stack, "DeadLetterQueueUrl", "Extraction jobs that failed in all attempts", dead.QueueUrl())
	output(stack, "DeadLetterQueueArn", "The same, for a redrive", dead.QueueArn())
	output(stack, "MessagesQueueUrl", "Messages for webhooks", messages.QueueUrl())
	output(stack, "DeadMessagesQueueUrl", "Webhook messages at which the deliverer failed", deadMessages.QueueUrl())
	output(stack, "DeadMessagesQueueArn", "The same, for a redrive", deadMessages.QueueArn())
	return queues{jobs, dead, messages, deadMessages, imports, deadImports}
}

// newEventSources connects the queues with the functions. The extractor gets one job at a
// time, because a document that exhausts memory must not affect others. The sweeper marks the
// records of dead letters FAILED. The deliverer gets webhook messages and the change feed
// records of the table's stream; a restored table has no stream, so there the deliverer's
// schedule finds the changes.
func newEventSources(stack awscdk.Stack, aliases aliases, t table, q queues) {
	source := func(id, consumer string, queue awssqs.Queue, batch, atOnce float64) {
		awslambda.NewCfnEventSourceMapping(stack, &id, &awslambda.CfnEventSourceMappingProps{
			EventSourceArn: queue.QueueArn(), FunctionName: aliases[consumer].FunctionArn(), BatchSize: &batch,
			ScalingConfig:         &awslambda.CfnEventSourceMapping_ScalingConfigProperty{MaximumConcurrency: &atOnce},
			FunctionResponseTypes: jsii.Strings("ReportBatchItemFailures"),
		})
	}
	source("JobsToExtractor", api.Extractor, q.jobs, 1, extractorsAtOnce)
	source("DeadLettersToSweeper", api.Sweeper, q.dead, 10, 2)
	source("ImportsToImporter", api.Importer, q.imports, 1, importersAtOnce)
	source("MessagesToDeliverer", api.Deliverer, q.messages, deliveriesAtOnce, deliverersAtOnce)
	if t.stream == nil {
		return
	}
	_, feed, _ := strings.Cut(string(api.JournalRows), "*")
	awslambda.NewCfnEventSourceMapping(stack, jsii.String("ChangesToDeliverer"), &awslambda.CfnEventSourceMappingProps{
		EventSourceArn: t.stream, FunctionName: aliases[api.Deliverer].FunctionArn(), BatchSize: jsii.Number(100),
		StartingPosition: jsii.String("LATEST"),
		// Records are hints: the schedule finds what fails.
		MaximumRetryAttempts: jsii.Number(2), MaximumRecordAgeInSeconds: jsii.Number(60),
		FilterCriteria: &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{Filters: []any{
			&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(`{"dynamodb":{"Keys":{"` + api.PartitionKey +
				`":{"S":[{"suffix":"` + feed + `"}]}}}}`)},
		}},
	})
}

func seconds(n float64) awscdk.Duration { return awscdk.Duration_Seconds(&n) }
