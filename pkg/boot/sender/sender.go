// Package sender opens the queue of extractions.
package sender

import (
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/queue"
)

// New makes what sends to the queue.
func New(c boot.Config) *queue.Sender {
	options := sqs.Options{Region: c.Region, Credentials: c.Credentials}
	if c.SQSEndpoint != "" {
		options.BaseEndpoint = &c.SQSEndpoint
	}
	return &queue.Sender{Client: sqs.New(options), URL: c.QueueURL}
}
