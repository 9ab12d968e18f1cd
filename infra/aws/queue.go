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

// Retention of messages in days. SQS's maximum is for dead letters: one stands for a record that could not be marked
// FAILED.
const liveDays, deadDays = 4, 14

// newQueues creates the queues, each with outputs by which an operator finds it. Without a dead-letter queue of its own
// a queue is one.
func newQueues(stack awscdk.Stack, s stage, key awskms.IKey) (q queues) {
	add := func(id, named, means string, visibility float64, fifo bool, dead awssqs.Queue) awssqs.Queue {
		props := &awssqs.QueueProps{
			VisibilityTimeout:      seconds(visibility),
			RetentionPeriod:        awscdk.Duration_Days(jsii.Number(deadDays)),
			ReceiveMessageWaitTime: seconds(20),
			Encryption:             awssqs.QueueEncryption_SQS_MANAGED,
			EnforceSSL:             jsii.Bool(true),
			RemovalPolicy:          awscdk.RemovalPolicy_DESTROY, // jobs are rows of the table; messages only refer to them
		}
		if fifo {
			props.Fifo, props.QueueName = jsii.Bool(true), jsii.String(s.stackName()+"-"+strings.ToLower(id)+".fifo")
		}
		if dead != nil {
			props.RetentionPeriod = awscdk.Duration_Days(jsii.Number(liveDays))
			props.DeadLetterQueue = &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(maxReceives)}
		}
		if key != nil {
			// Reusing a data key for an hour limits a busy queue to 24 KMS calls a day.
			props.Encryption, props.EncryptionMasterKey, props.DataKeyReuse = awssqs.QueueEncryption_KMS, key,
				awscdk.Duration_Hours(jsii.Number(1))
		}
		queue := awssqs.NewQueue(stack, &id, props)
		output(stack, named+"QueueUrl", means, queue.QueueUrl())
		if dead == nil {
			output(stack, named+"QueueArn", "The same, for a redrive", queue.QueueArn())
		}
		return queue
	}
	takes := func(consumer string) float64 { return visibilityFactor * sizes[consumer].timeout }
	q.dead = add("DeadLetters", "DeadLetter", "Extraction jobs that failed in all attempts", takes(api.Sweeper), false,
		nil)
	q.jobs = add("Jobs", "", "Extraction jobs", takes(api.Extractor), false, q.dead)
	q.deadMessages = add("DeadMessages", "DeadMessages", "Webhook messages at which the deliverer failed",
		takes(api.Deliverer), false, nil)
	q.messages = add("Messages", "Messages", "Messages for webhooks", takes(api.Deliverer), false, q.deadMessages)
	// One message group for each organization, so that its imports run one at a time. A message becomes visible soon
	// after its function has ended.
	soon := sizes[api.Importer].timeout + 30
	q.deadImports = add("DeadImports", "DeadImports", "Organizations with imports, where the importer failed in all "+
		"attempts", soon, true, nil)
	q.imports = add("Imports", "Imports", "Organizations with imports to run", soon, true, q.deadImports)
	return q
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
