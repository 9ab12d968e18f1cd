// Package messages opens the queue of messages for webhooks.
package messages

import (
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/delivery/outbox"
)

// New makes what sends to the queue.
func New(c boot.Config) *outbox.Queue {
	options := sqs.Options{Region: c.Region, Credentials: c.Credentials}
	if c.SQSEndpoint != "" {
		options.BaseEndpoint = &c.SQSEndpoint
	}
	return &outbox.Queue{Client: sqs.New(options), URL: c.MessagesURL}
}
