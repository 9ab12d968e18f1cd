// Package outbox sends messages for webhooks to their queue. It is separate from package
// delivery so that functions that only send do not link the delivery code.
package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// Queue is the queue of messages for webhooks. Messages that it loses are sent again: their rows are authoritative.
type Queue struct {
	Client *sqs.Client
	URL    string
}

// MaxDelay is the longest delay of a message in SQS.
const MaxDelay = 15 * time.Minute

// sendsInParallel is how many messages are sent at a time.
const sendsInParallel = 8

// Send sends messages whose next attempt is due.
func (q *Queue) Send(ctx context.Context, messages []catalog.WebhookMessage) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sendsInParallel)
	for _, m := range messages {
		group.Go(func() error { return q.SendLater(ctx, m, 0) })
	}
	return group.Wait()
}

// SendLater sends a message whose next attempt is due after a delay of at most MaxDelay. Its group is the organization:
// SQS is fair between groups, so one customer's slow or failing receivers do not delay another's messages.
func (q *Queue) SendLater(ctx context.Context, m catalog.WebhookMessage, delay time.Duration) error {
	seconds := int32((delay + time.Second - 1) / time.Second)
	if err := q.send(ctx, m, seconds); err != nil {
		return fmt.Errorf("send message %s: %w", m.ID, err)
	}
	return nil
}

// Wake asks for an organization's changes to be dispatched, by a message that names no webhook.
func (q *Queue) Wake(ctx context.Context, org catalog.OrgID) error {
	if err := q.send(ctx, catalog.WebhookMessage{OrganizationID: org}, 0); err != nil {
		return fmt.Errorf("wake for %s: %w", org, err)
	}
	return nil
}

func (q *Queue) send(ctx context.Context, m catalog.WebhookMessage, seconds int32) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q.URL, MessageBody: aws.String(string(body)), DelaySeconds: seconds,
		MessageGroupId: aws.String(string(m.OrganizationID)),
	})
	return err
}
