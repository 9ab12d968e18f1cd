// Package source delivers what no client asks for: messages of a queue, changes of the
// table, and the schedule, each as the event that AWS would send to the function. What the
// function does not acknowledge stays in the queue, which shows it again and in the
// end calls it dead.
//
// Messages are delivered fairly, as by an SQS fair queue: however many messages one
// group has waiting, those of another are delivered as if it were alone. Groups whose
// deliveries take long have half of the deliveries together, so that any number of them
// leaves room for the others.
package source

import (
	"cmp"
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

// Invoke runs a function and returns its response.
type Invoke func(ctx context.Context, function string, event []byte) ([]byte, error)

// Queue is an SQS event source: a queue whose messages go to a function, one in
// each event.
type Queue struct {
	Client      *sqs.Client
	URL, ARN    string
	Function    string
	Concurrency int                      // events at a time
	Share       int                      // events of one group at a time; 0 means half of Concurrency, rounded up
	Slow        time.Duration            // a delivery that takes as long makes its group slow; 0 for none
	Visibility  time.Duration            // how long a message is hidden from when it is delivered, whole seconds
	Group       func(body string) string // of a message; goaws keeps no MessageGroupId
	Invoke      Invoke
	Console     *log.Logger

	counts counts
}

const (
	// hold is how long a message is hidden while it waits for its turn: the longest
	// that SQS allows. Delivery shortens it.
	hold = 12 * time.Hour
	// mostWaiting is how many messages wait here at most; the others wait in the queue,
	// first in, first out.
	mostWaiting = 10_000
)

// Poll delivers until ctx ends, and waits for the functions that run then.
func (q *Queue) Poll(ctx context.Context) {
	received, done := make(chan types.Message), make(chan ended)
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { q.receive(ctx, received) })
	turns := turns{share: cmp.Or(q.Share, (q.Concurrency+1)/2), groups: map[string]*group{}, now: time.Now}
	if q.Slow > 0 {
		turns.slowShare = (q.Concurrency + 1) / 2
	}
	running := 0
	for {
		for running < q.Concurrency {
			m, group, ok := turns.next()
			if !ok {
				break
			}
			running++
			parts.Go(func() {
				began := time.Now()
				q.deliver(ctx, m, group)
				select {
				case done <- ended{group, q.Slow > 0 && time.Since(began) >= q.Slow}:
				case <-ctx.Done():
				}
			})
		}
		more := received
		if turns.waiting >= mostWaiting {
			more = nil
		}
		select {
		case m := <-more:
			turns.add(q.Group(aws.ToString(m.Body)), m)
		case e := <-done:
			running--
			turns.done(e.group, e.slow)
		case <-ctx.Done():
			return
		}
	}
}

// ended is a delivery that has ended.
type ended struct {
	group string
	slow  bool
}

// receive hides the messages that the queue shows, and passes them on.
func (q *Queue) receive(ctx context.Context, to chan<- types.Message) {
	silent := false
	for ctx.Err() == nil {
		received, err := q.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl:                    aws.String(q.URL),
			MaxNumberOfMessages:         10,
			WaitTimeSeconds:             20,
			VisibilityTimeout:           int32(hold / time.Second),
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
		for _, m := range received.Messages {
			select {
			case to <- m:
			case <-ctx.Done():
				return
			}
		}
	}
}

// deliver sends a message to the function and deletes it once that has done it.
func (q *Queue) deliver(ctx context.Context, m types.Message, group string) {
	id := aws.ToString(m.MessageId)
	// From here on the message shows again when nobody deletes it. One that the queue
	// has lost is not delivered: the sweeper sends another.
	_, err := q.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: int32(q.Visibility / time.Second),
	})
	if err != nil {
		if ctx.Err() == nil {
			q.Console.Printf("%s: message %s is not in the queue any more: %v", q.Function, id, err)
		}
		return
	}
	event, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{q.record(m, group)}})
	if err != nil {
		q.Console.Printf("%s: event: %v", q.Function, err)
		return
	}
	response, err := q.Invoke(ctx, q.Function, event)
	if err != nil {
		return // the runtime has logged it; the message shows again
	}
	failed, err := isFailed(response, id)
	if err != nil {
		q.Console.Printf("%s: %v", q.Function, err)
		return
	}
	if failed {
		return
	}
	// The work is done, so this must happen although the stack stops.
	_, err = q.Client.DeleteMessage(context.WithoutCancel(ctx), &sqs.DeleteMessageInput{QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle})
	if err != nil {
		q.Console.Printf("%s: delete message %s: %v; it will come again", q.Function, id, err)
		return
	}
	q.counts.forget(id)
}

func (q *Queue) record(m types.Message, group string) events.SQSMessage {
	attributes := maps.Clone(m.Attributes)
	if attributes == nil {
		attributes = map[string]string{}
	}
	const count = string(types.MessageSystemAttributeNameApproximateReceiveCount)
	told, _ := strconv.Atoi(attributes[count])
	attributes[count] = strconv.Itoa(max(told, q.counts.receive(aws.ToString(m.MessageId))))
	if group != "" {
		attributes[string(types.MessageSystemAttributeNameMessageGroupId)] = group
	}
	return events.SQSMessage{
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
	}
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

// isFailed reports whether the function gives the message back, by Lambda's rules: a
// response that names none means that it is done, and one that names a message that
// was not in the event is an error, after which it is not.
func isFailed(response []byte, id string) (bool, error) {
	if len(response) == 0 {
		return false, nil
	}
	var told events.SQSEventResponse
	if err := json.Unmarshal(response, &told); err != nil {
		return false, fmt.Errorf("malformed response to an SQS event: %w", err)
	}
	for _, item := range told.BatchItemFailures {
		if item.ItemIdentifier != id {
			return false, fmt.Errorf("response to an SQS event gives back %q, which was not in it", item.ItemIdentifier)
		}
	}
	return len(told.BatchItemFailures) > 0, nil
}

// counts holds how often each message was delivered; goaws always says once.
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
			_, _ = invoke(ctx, function, event) // the runtime logs what went wrong; the next run tries again
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
