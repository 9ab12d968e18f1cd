// Package source delivers what no client asks for: messages of a queue, and the
// schedule, each as the event that AWS would send to the function. It decides
// nothing about messages: what the function does not acknowledge stays in the
// queue, which shows it again and in the end calls it dead.
package source

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/uuid"
)

// Invoke runs a function and gives its answer.
type Invoke func(ctx context.Context, function string, event []byte) ([]byte, error)

// Queue is an SQS event source: a queue whose messages go to a function.
type Queue struct {
	Client      *sqs.Client
	URL, ARN    string
	Function    string
	Batch       int // messages in one event, 1..10
	Concurrency int // events at a time
	Invoke      Invoke
	Console     *log.Logger

	counts counts
}

// Poll delivers until ctx ends, and waits for the functions that run then.
func (q *Queue) Poll(ctx context.Context) {
	var pollers sync.WaitGroup
	for range q.Concurrency {
		pollers.Go(func() { q.poll(ctx) })
	}
	pollers.Wait()
}

func (q *Queue) poll(ctx context.Context) {
	silent := false
	for ctx.Err() == nil {
		received, err := q.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl:                    aws.String(q.URL),
			MaxNumberOfMessages:         int32(q.Batch),
			WaitTimeSeconds:             20,
			MessageAttributeNames:       []string{"All"},
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if !silent {
				q.Console.Printf("%s: receive from %s: %v; trying again", q.Function, q.URL, err)
			}
			silent = true
			pause(ctx, time.Second)
			continue
		}
		silent = false
		if len(received.Messages) > 0 {
			q.deliver(ctx, received.Messages)
		}
	}
}

// deliver gives the messages to the function and deletes what it has done.
func (q *Queue) deliver(ctx context.Context, messages []types.Message) {
	event, err := json.Marshal(q.event(messages))
	if err != nil {
		q.Console.Printf("%s: event: %v", q.Function, err)
		return
	}
	answer, err := q.Invoke(ctx, q.Function, event)
	if err != nil {
		return // the runtime has said so; the messages show again
	}
	failed, err := failures(answer, messages)
	if err != nil {
		q.Console.Printf("%s: %v", q.Function, err)
		return
	}
	for _, m := range messages {
		if failed[aws.ToString(m.MessageId)] {
			continue
		}
		// The work is done, so this must happen although the stack stops.
		_, err := q.Client.DeleteMessage(context.WithoutCancel(ctx), &sqs.DeleteMessageInput{QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle})
		if err != nil {
			q.Console.Printf("%s: delete message %s: %v; it will come again", q.Function, aws.ToString(m.MessageId), err)
			continue
		}
		q.counts.forget(aws.ToString(m.MessageId))
	}
}

func (q *Queue) event(messages []types.Message) events.SQSEvent {
	var event events.SQSEvent
	for _, m := range messages {
		attributes := maps.Clone(m.Attributes)
		if attributes == nil {
			attributes = map[string]string{}
		}
		const count = string(types.MessageSystemAttributeNameApproximateReceiveCount)
		told, _ := strconv.Atoi(attributes[count])
		attributes[count] = strconv.Itoa(max(told, q.counts.receive(aws.ToString(m.MessageId))))
		event.Records = append(event.Records, events.SQSMessage{
			MessageId:              aws.ToString(m.MessageId),
			ReceiptHandle:          aws.ToString(m.ReceiptHandle),
			Body:                   aws.ToString(m.Body),
			Md5OfBody:              aws.ToString(m.MD5OfBody),
			Md5OfMessageAttributes: aws.ToString(m.MD5OfMessageAttributes),
			Attributes:             attributes,
			MessageAttributes:      attributesOf(m),
			EventSourceARN:         q.ARN,
			EventSource:            "aws:sqs",
			AWSRegion:              region,
		})
	}
	return event
}

const region = "us-east-1"

func attributesOf(m types.Message) map[string]events.SQSMessageAttribute {
	attributes := make(map[string]events.SQSMessageAttribute, len(m.MessageAttributes))
	for name, value := range m.MessageAttributes {
		attributes[name] = events.SQSMessageAttribute{
			DataType: aws.ToString(value.DataType), StringValue: value.StringValue, BinaryValue: value.BinaryValue,
			StringListValues: []string{}, BinaryListValues: [][]byte{},
		}
	}
	return attributes
}

// failures reads which messages the function gives back, by Lambda's rules: an
// answer without any means that all are done, and one that names a message that
// was not in the event is an error, after which none is.
func failures(answer []byte, messages []types.Message) (map[string]bool, error) {
	if len(answer) == 0 {
		return nil, nil
	}
	var told events.SQSEventResponse
	if err := json.Unmarshal(answer, &told); err != nil {
		return nil, fmt.Errorf("malformed answer to an SQS event: %w", err)
	}
	sent := map[string]bool{}
	for _, m := range messages {
		sent[aws.ToString(m.MessageId)] = true
	}
	failed := map[string]bool{}
	for _, item := range told.BatchItemFailures {
		if !sent[item.ItemIdentifier] {
			return nil, fmt.Errorf("answer to an SQS event gives back %q, which was not in it", item.ItemIdentifier)
		}
		failed[item.ItemIdentifier] = true
	}
	return failed, nil
}

// counts knows how often each message was received; goaws always says once.
type counts struct {
	mu sync.Mutex
	of map[string]int // by message id
}

func (c *counts) receive(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[id]++
	return c.of[id]
}

func (c *counts) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, id)
}

// Schedule sends the function a scheduled event at once and then at that pace,
// until ctx ends. A run that takes longer delays the next.
func Schedule(ctx context.Context, every time.Duration, function string, invoke Invoke) {
	for ctx.Err() == nil {
		now := time.Now().UTC().Truncate(time.Second)
		event, err := json.Marshal(events.EventBridgeEvent{
			Version: "0", ID: uuid.NewString(), DetailType: "Scheduled Event", Source: "aws.events",
			AccountID: "000000000000", Region: region, Time: now,
			Resources: []string{"arn:aws:events:" + region + ":000000000000:rule/" + function},
			Detail:    json.RawMessage("{}"),
		})
		if err == nil {
			_, _ = invoke(ctx, function, event) // the runtime says what went wrong; the next run tries again
		}
		pause(ctx, every)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
