package queue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"skillscurriculum/pkg/catalog"
)

// Imports is the queue of organizations with imports to run. It is a FIFO queue with a group for each organization, so
// that SQS delivers no message of one before the last has been handled.
type Imports struct {
	Client *sqs.Client
	URL    string
}

// SendImports sends an organization.
func (q *Imports) SendImports(ctx context.Context, org catalog.OrgID) error {
	body, err := json.Marshal(map[string]catalog.OrgID{"organizationId": org})
	if err != nil {
		return err
	}
	_, err = q.Client.SendMessage(ctx, &sqs.SendMessageInput{
		QueueUrl: &q.URL, MessageBody: aws.String(string(body)),
		MessageGroupId: aws.String(string(org)), MessageDeduplicationId: aws.String(rand.Text()),
	})
	if err != nil {
		return fmt.Errorf("send imports of %s: %w", org, err)
	}
	return nil
}
