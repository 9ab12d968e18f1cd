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

// queues carries extraction jobs and messages for webhooks, and those of them that
// could not be done.
type queues struct{ jobs, dead, messages, deadMessages awssqs.Queue }

const (
	// maxReceives is how often a message may come back from workers that died or
	// found the job in another's hands; tries that are put off are new messages.
	maxReceives = 6
	// extractorsAtOnce bounds what strangers' servers and the table see of us.
	// It stands on the event source: reserved concurrency would make SQS count
	// receives for jobs that never started.
	extractorsAtOnce = 10
	// deliverersAtOnce bounds how many receivers of webhooks are waited for, each of them
	// with a batch.
	deliverersAtOnce = 20
	deliveriesAtOnce = 8 // of one function, in parallel
	// visibilityFactor is AWS's own proportion of visibility timeout to function
	// timeout; the worker's lease ends in between.
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
			RemovalPolicy:          awscdk.RemovalPolicy_DESTROY, // jobs are rows of the table; messages only point at them
		}
		if key != nil {
			// A data key serves for an hour, so that a busy queue asks for 24 a day.
			props.Encryption, props.EncryptionMasterKey, props.DataKeyReuse = awssqs.QueueEncryption_KMS, key, awscdk.Duration_Hours(jsii.Number(1))
		}
		return awssqs.NewQueue(stack, &id, props)
	}
	// The longest retention SQS has: a dead letter is a record that nobody could mark FAILED.
	dead := queue("DeadLetters", api.Sweeper, awscdk.Duration_Days(jsii.Number(14)), nil)
	jobs := queue("Jobs", api.Extractor, awscdk.Duration_Days(jsii.Number(4)), &awssqs.DeadLetterQueue{Queue: dead, MaxReceiveCount: jsii.Number(maxReceives)})
	deadMessages := queue("DeadMessages", api.Deliverer, awscdk.Duration_Days(jsii.Number(14)), nil)
	messages := queue("Messages", api.Deliverer, awscdk.Duration_Days(jsii.Number(4)), &awssqs.DeadLetterQueue{Queue: deadMessages, MaxReceiveCount: jsii.Number(maxReceives)})
	output(stack, "QueueUrl", "Extraction jobs", jobs.QueueUrl())
	output(stack, "DeadLetterQueueUrl", "Extraction jobs that could not be done", dead.QueueUrl())
	output(stack, "DeadLetterQueueArn", "The same, for a redrive", dead.QueueArn())
	output(stack, "MessagesQueueUrl", "Messages for webhooks", messages.QueueUrl())
	output(stack, "DeadMessagesQueueUrl", "Messages for webhooks at which the deliverer broke off", deadMessages.QueueUrl())
	output(stack, "DeadMessagesQueueArn", "The same, for a redrive", deadMessages.QueueArn())
	return queues{jobs, dead, messages, deadMessages}
}

// newEventSources hands jobs to the extractor one by one, because a document that
// exhausts memory must not take its neighbours along, and dead letters to the
// sweeper, which marks their records FAILED. The deliverer gets messages for webhooks,
// and the table's stream as far as it is of change feeds; a restored table has none, so
// that there the deliverer's schedule finds the changes.
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
	source("MessagesToDeliverer", api.Deliverer, q.messages, deliveriesAtOnce, deliverersAtOnce)
	if t.stream == nil {
		return
	}
	_, feed, _ := strings.Cut(string(api.JournalRows), "*")
	awslambda.NewCfnEventSourceMapping(stack, jsii.String("ChangesToDeliverer"), &awslambda.CfnEventSourceMappingProps{
		EventSourceArn: t.stream, FunctionName: aliases[api.Deliverer].FunctionArn(), BatchSize: jsii.Number(100),
		StartingPosition: jsii.String("LATEST"),
		// Records are hints: what fails, the schedule finds.
		MaximumRetryAttempts: jsii.Number(2), MaximumRecordAgeInSeconds: jsii.Number(60),
		FilterCriteria: &awslambda.CfnEventSourceMapping_FilterCriteriaProperty{Filters: []any{
			&awslambda.CfnEventSourceMapping_FilterProperty{Pattern: jsii.String(`{"dynamodb":{"Keys":{"` + api.PartitionKey + `":{"S":[{"suffix":"` + feed + `"}]}}}}`)},
		}},
	})
}

func seconds(n float64) awscdk.Duration { return awscdk.Duration_Seconds(&n) }
