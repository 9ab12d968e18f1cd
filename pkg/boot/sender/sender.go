// Package sender connects to the queues of extractions and of messages for webhooks.
package sender

import (
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/outbox"
	"skillscurriculum/pkg/queue"
)

// Jobs returns the sender of extractions.
func Jobs(c boot.Config) *outbox.Jobs { return &outbox.Jobs{Client: client(c), URL: c.QueueURL} }

// Imports returns the queue of imports.
func Imports(c boot.Config) *queue.Imports {
	return &queue.Imports{Client: client(c), URL: c.ImportsURL}
}

// Messages returns the queue of messages for webhooks.
func Messages(c boot.Config) *outbox.Messages {
	return &outbox.Messages{Queue: outbox.Queue[catalog.WebhookMessage]{Client: client(c), URL: c.MessagesURL}}
}

func client(c boot.Config) *sqs.Client {
	options := sqs.Options{Region: c.Region, Credentials: c.Credentials}
	if c.SQSEndpoint != "" {
		options.BaseEndpoint = &c.SQSEndpoint
	}
	return sqs.New(options)
}
