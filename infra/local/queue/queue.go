// Package queue runs goaws, the pinned local replacement for SQS, and creates the
// service's queues in it or in any other SQS: one for extraction jobs, one for webhook
// messages, and a dead-letter queue for each. It neither sends nor receives. goaws keeps
// messages in memory and loses them when it dies; the sweeper sends them again. It
// listens on 127.0.0.1 only.
package queue

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"skillscurriculum/infra/local/child"
)

const tool = "skillscurriculum/infra/local/queue/goaws"

// Queues are the addresses of the queues.
type Queues struct {
	Endpoint string
	Queue          // of extraction jobs
	Messages Queue // for webhooks
	Imports  Queue // organizations with imports
}

// Queue is the address of a queue and of its dead-letter queue.
type Queue struct{ URL, DeadLetterURL string }

// Server configures goaws and its queues.
type Server struct {
	Visibility  time.Duration     // of a received message, whole seconds; 0 means 30 s
	MaxReceives int               // before a message moves to the dead-letter queue; 0 means 5
	Line        func(line string) // receives the output of goaws; may be nil
	Console     *log.Logger       // receives restarts; may be nil
}

// Start runs goaws with the queues until ctx ends or stop is called. If goaws dies, it is
// restarted on the same port with empty queues.
func (s Server) Start(ctx context.Context) (queues Queues, stop func(), err error) {
	program, err := build(ctx)
	if err != nil {
		return Queues{}, nil, err
	}
	command := func(port int) (child.Command, error) {
		args := []string{"-port", strconv.Itoa(port)}
		return child.Command{Name: "the queue (goaws)", Path: program, Args: args, Line: s.Line}, nil
	}
	ready := func(ctx context.Context, endpoint string) (err error) {
		queues, err = s.Create(ctx, endpoint)
		return err
	}
	_, stop, err = child.KeepServer(ctx, command, ready, s.Console)
	return queues, stop, err
}

// build returns the path of the tool in the build cache. Running it through `go tool`
// would put another process in between.
func build(ctx context.Context) (string, error) {
	root, err := child.ModuleRoot()
	if err != nil {
		return "", fmt.Errorf("build the queue: %w", err)
	}
	command := exec.CommandContext(ctx, "go", "tool", "-n", tool)
	command.Dir = root
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("build the queue with `go tool -n %s`: %w: %s", tool, err, &stderr)
	}
	return strings.TrimSpace(string(out)), nil
}

// Create creates the queues at an SQS endpoint unless they exist.
func (s Server) Create(ctx context.Context, endpoint string) (queues Queues, err error) {
	client := Client(endpoint)
	create := func(name string, attributes map[string]string) (url string, err error) {
		queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
		if err != nil {
			return "", fmt.Errorf("create queue %s at %s: %w", name, endpoint, err)
		}
		return aws.ToString(queue.QueueUrl), nil
	}

	visibility := strconv.Itoa(int(cmp.Or(s.Visibility, 30*time.Second).Seconds()))
	pair := func(name string) (q Queue, err error) {
		dead := name + "-dead"
		q.DeadLetterURL, err = create(dead, map[string]string{"VisibilityTimeout": visibility})
		if err != nil {
			return Queue{}, err
		}
		got, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: &q.DeadLetterURL, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
		})
		if err != nil {
			return Queue{}, fmt.Errorf("read queue %s at %s: %w", dead, endpoint, err)
		}
		redrive := fmt.Sprintf(`{"deadLetterTargetArn":%q,"maxReceiveCount":"%d"}`,
			got.Attributes[string(types.QueueAttributeNameQueueArn)], cmp.Or(s.MaxReceives, 5))
		q.URL, err = create(name, map[string]string{"VisibilityTimeout": visibility, "RedrivePolicy": redrive})
		return q, err
	}
	queues.Endpoint = endpoint
	if queues.Queue, err = pair("extractions"); err == nil {
		queues.Messages, err = pair("webhook-messages")
	}
	if err == nil { // a FIFO queue in AWS; here the event source delivers in turn
		queues.Imports, err = pair("imports")
	}
	return queues, err
}

// Client returns a client of a local SQS, which accepts any credentials.
func Client(endpoint string) *sqs.Client {
	return sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}
