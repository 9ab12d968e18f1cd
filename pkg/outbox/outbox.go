// Package outbox sends extractions and messages for webhooks to their SQS queues. A lost message is sent again: the
// row that it is about is authoritative.
package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// Queue is an SQS queue of messages of one type.
type Queue[T interface{ Organization() catalog.OrgID }] struct {
	Client *sqs.Client
	URL    string
}

// MaxDelay is the longest delay of a message in SQS.
const MaxDelay = 15 * time.Minute

// sendsInParallel is the number of messages sent concurrently.
const sendsInParallel = 8

// Send sends messages without a delay.
func (q *Queue[T]) Send(ctx context.Context, messages []T) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sendsInParallel)
	for _, m := range messages {
		group.Go(func() error { return q.SendLater(ctx, m, 0) })
	}
	return group.Wait()
}

// SendLater sends a message after a delay of at most MaxDelay. Its group is the organization: SQS delivers fairly
// between groups, so that one organization's thousand syllabi or slow receivers do not delay another's few.
func (q *Queue[T]) SendLater(ctx context.Context, m T, delay time.Duration) error {
	body, err := json.Marshal(m)
	if err == nil {
		_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
			QueueUrl: &q.URL, MessageBody: aws.String(string(body)),
			DelaySeconds: int32((delay + time.Second - 1) / time.Second), MessageGroupId: aws.String(string(m.Organization())),
		})
	}
	if err != nil {
		return fmt.Errorf("send %T of %s: %w", m, m.Organization(), err)
	}
	return nil
}

// Empty reports whether no message waits to be received. SQS's count may be a minute old.
func (q *Queue[T]) Empty(ctx context.Context) (bool, error) {
	out, err := q.Client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &q.URL,
		AttributeNames: []types.QueueAttributeName{
			types.QueueAttributeNameApproximateNumberOfMessages,
			types.QueueAttributeNameApproximateNumberOfMessagesDelayed,
		},
	})
	if err != nil {
		return false, fmt.Errorf("length of the queue: %w", err)
	}
	for _, count := range out.Attributes {
		if count != "0" {
			return false, nil
		}
	}
	return true, nil
}

// Jobs is the queue of extractions.
type Jobs = Queue[catalog.ExtractionJob]

// Messages is the queue of messages for webhooks.
type Messages struct{ Queue[catalog.WebhookMessage] }

// Wake asks for an organization's changes to be dispatched, by a message that names no webhook.
func (q *Messages) Wake(ctx context.Context, org catalog.OrgID) error {
	return q.SendLater(ctx, catalog.WebhookMessage{OrganizationID: org}, 0)
}
