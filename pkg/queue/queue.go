// Package queue transports extraction jobs over SQS: Sender sends them, Worker runs them, and Sweeper resends lost ones
// and fails those that cannot succeed.
//
// A message is only a hint that there is work, which the record's row decides: messages may be lost, duplicated, late
// and out of order. Invariant: whatever happens to messages and workers, an extraction ends COMPLETED or FAILED exactly
// once.
package queue

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

// Sender sends jobs to the queue.
type Sender struct {
	Client *sqs.Client
	URL    string
}

// sendsInParallel is the number of messages sent concurrently.
const sendsInParallel = 8

// Send sends jobs to run immediately.
func (s *Sender) Send(ctx context.Context, jobs []catalog.ExtractionJob) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(sendsInParallel)
	for _, job := range jobs {
		group.Go(func() error { return s.SendLater(ctx, job, 0) })
	}
	return group.Wait()
}

// Empty reports whether no message waits to be received. SQS's count may be a minute old.
func (s *Sender) Empty(ctx context.Context) (bool, error) {
	out, err := s.Client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &s.URL,
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

// SendLater sends a job to run after a delay of at most 15 minutes. The message group is the organization: SQS delivers
// fairly between groups, so that one organization's thousand syllabi do not delay another's five.
func (s *Sender) SendLater(ctx context.Context, job catalog.ExtractionJob, delay time.Duration) error {
	body, err := json.Marshal(job)
	if err != nil {
		return err
	}
	_, err = s.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &s.URL, MessageBody: aws.String(string(body)), DelaySeconds: int32(delay / time.Second),
		MessageGroupId: aws.String(string(job.OrganizationID)),
	})
	if err != nil {
		return fmt.Errorf("send extraction of %s: %w", job.ID, err)
	}
	return nil
}
