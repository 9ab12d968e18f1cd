// Package source implements the event sources: it delivers messages of a queue, changes of
// the table and the schedule, each as the event that AWS would send to the function. A
// message that the function does not acknowledge stays in the queue, becomes visible again
// and finally moves to the dead-letter queue.
//
// Delivery is fair, as with an SQS fair queue: one owner's backlog does not delay the
// messages of another, and neither do the groups of one owner delay each other. Groups with
// slow deliveries share half of the concurrency, so that they leave room for the others.
package source

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log"
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

// Queue is an SQS event source: it sends a queue's messages to a function, one per event.
type Queue struct {
	Client      *sqs.Client
	URL         string
	Function    string
	Concurrency int           // concurrent events
	OwnerShare  int           // concurrent events of one owner; 0 means half of Concurrency, rounded up
	Share       int           // concurrent events of one group; 0 means OwnerShare
	Slow        time.Duration // a delivery this long makes its group slow for a minute; 0 means never
	Visibility  time.Duration // visibility timeout from delivery, whole seconds
	// Owner returns the owner of a message (its MessageGroupId, which goaws does not keep) and
	// the owner's group that it belongs to.
	Owner   func(body string) (owner, group string)
	Invoke  Invoke
	Console *log.Logger
}

const (
	// hold is the visibility timeout of a message that waits for its turn: SQS's maximum.
	// Delivery shortens it.
	hold = 12 * time.Hour
	// mostWaiting limits the messages that wait here; the others wait in the queue.
	mostWaiting = 10_000
)

// Poll delivers messages until ctx ends, and then waits for running functions.
func (q *Queue) Poll(ctx context.Context) {
	received, done := make(chan types.Message), make(chan ended)
	var parts sync.WaitGroup
	defer parts.Wait()
	parts.Go(func() { q.receive(ctx, received) })
	turns := turns{ownerShare: cmp.Or(q.OwnerShare, (q.Concurrency+1)/2), groups: map[string]*group{}, now: time.Now}
	turns.share = cmp.Or(q.Share, turns.ownerShare)
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
				q.deliver(ctx, m)
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
			owner, group := q.Owner(aws.ToString(m.Body))
			turns.add(owner, group, m)
		case e := <-done:
			running--
			turns.done(e.group, e.slow)
		case <-ctx.Done():
			return
		}
	}
}

// ended reports a finished delivery.
type ended struct {
	group string
	slow  bool
}

// receive takes messages from the queue and passes them on.
func (q *Queue) receive(ctx context.Context, to chan<- types.Message) {
	silent := false
	for ctx.Err() == nil {
		received, err := q.Client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
			QueueUrl:                    aws.String(q.URL),
			MaxNumberOfMessages:         10,
			WaitTimeSeconds:             20,
			VisibilityTimeout:           int32(hold / time.Second),
			MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameAll},
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			if !silent {
				q.Console.Printf("%s: receive from %s: %v; retrying", q.Function, q.URL, err)
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

// deliver sends a message to the function and deletes it if the function succeeds.
func (q *Queue) deliver(ctx context.Context, m types.Message) {
	id := aws.ToString(m.MessageId)
	// From here on the message becomes visible again unless it is deleted. A message that
	// the queue has lost is not delivered: the sweeper sends another.
	_, err := q.Client.ChangeMessageVisibility(ctx, &sqs.ChangeMessageVisibilityInput{
		QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle, VisibilityTimeout: int32(q.Visibility / time.Second),
	})
	if err != nil {
		if ctx.Err() == nil {
			q.Console.Printf("%s: message %s is no longer in the queue: %v", q.Function, id, err)
		}
		return
	}
	event, err := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{{
		MessageId: id, ReceiptHandle: aws.ToString(m.ReceiptHandle), Body: aws.ToString(m.Body), Attributes: m.Attributes,
		EventSource: "aws:sqs", AWSRegion: region,
	}}})
	if err != nil {
		q.Console.Printf("%s: event: %v", q.Function, err)
		return
	}
	response, err := q.Invoke(ctx, q.Function, event)
	if err != nil {
		return // logged by the runtime; the message becomes visible again
	}
	failed, err := isFailed(response, id)
	if err != nil {
		q.Console.Printf("%s: %v", q.Function, err)
	}
	if err != nil || failed {
		return
	}
	// The work is done, so delete the message even if the stack is stopping.
	_, err = q.Client.DeleteMessage(context.WithoutCancel(ctx), &sqs.DeleteMessageInput{
		QueueUrl: aws.String(q.URL), ReceiptHandle: m.ReceiptHandle,
	})
	if err != nil {
		q.Console.Printf("%s: delete message %s: %v; it will be delivered again", q.Function, id, err)
		return
	}
}

const region = "us-east-1"

// isFailed reports whether the response returns the message as failed. By Lambda's rules, a
// response without failures is a success, and one that names a message that was not in the
// event is an error.
func isFailed(response []byte, id string) (bool, error) {
	if len(response) == 0 {
		return false, nil
	}
	var answer events.SQSEventResponse
	if err := json.Unmarshal(response, &answer); err != nil {
		return false, fmt.Errorf("malformed response to an SQS event: %w", err)
	}
	for _, item := range answer.BatchItemFailures {
		if item.ItemIdentifier != id {
			return false, fmt.Errorf("response to an SQS event names message %q, which was not in the event",
				item.ItemIdentifier)
		}
	}
	return len(answer.BatchItemFailures) > 0, nil
}

// Schedule sends the function a scheduled event immediately and then at the interval until
// ctx ends. The interval starts when the function has returned.
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
			_, _ = invoke(ctx, function, event) // errors are logged by the runtime; the next run retries
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
