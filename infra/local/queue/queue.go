// Package queue runs goaws, the project's pinned stand-in for SQS, and makes the
// queues of the service in it or in any other SQS: those of extraction jobs and of
// messages for webhooks, and those that take what was received too often. It neither sends nor
// receives. Messages live in memory and are lost when goaws dies; the sweeper
// sends again what got lost. goaws listens on 127.0.0.1 only.
package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// The names of the queues.
const (
	Name                   = "extractions"
	DeadLetterName         = "extractions-dead"
	MessagesName           = "webhook-messages"
	MessagesDeadLetterName = "webhook-messages-dead"
)

const tool = "skillscurriculum/infra/local/queue/goaws"

// Queues are the addresses of the queues.
type Queues struct {
	Endpoint string
	Queue          // of extraction jobs
	Messages Queue // for webhooks
}

// Queue is the address of a queue, and of the one that takes what it gives up.
type Queue struct {
	URL           string
	ARN           string
	DeadLetterURL string
	DeadLetterARN string
}

// Server is a goaws and its queues to be started.
type Server struct {
	Visibility  time.Duration     // how long a received message is hidden, whole seconds; 0 means 30 s
	MaxReceives int               // how often a message is received before it is dead; 0 means 5
	Line        func(line string) // gets what goaws writes; may be nil
	Console     *log.Logger       // is told of restarts; may be nil
}

// Start runs goaws with the queues until stop or the end of ctx. A goaws that
// dies is started again on the same port, with empty queues.
func (s Server) Start(ctx context.Context) (queues Queues, stop func(), err error) {
	if s.Console == nil {
		s.Console = log.New(io.Discard, "", 0)
	}
	program, err := build(ctx)
	if err != nil {
		return Queues{}, nil, err
	}
	// Somebody else may take the free port before goaws does.
	for range 3 {
		if queues, stop, err = s.start(ctx, program); err == nil {
			break
		}
	}
	return queues, stop, err
}

// build returns the path of the tool, which the build cache keeps: running it
// through `go tool` would put a process between it and us.
func build(ctx context.Context) (string, error) {
	root, err := child.ModuleRoot()
	if err != nil {
		return "", fmt.Errorf("build the queue: %w", err)
	}
	command := exec.CommandContext(ctx, "go", "tool", "-n", tool)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		return "", fmt.Errorf("build the queue with `go tool -n %s`: %w: %s", tool, err, stderr)
	}
	return strings.TrimSpace(string(out)), nil
}

func (s Server) start(ctx context.Context, program string) (queues Queues, stop func(), err error) {
	port, err := child.FreePort()
	if err != nil {
		return Queues{}, nil, err
	}
	endpoint := fmt.Sprintf("http://127.0.0.1:%d", port)
	ready := func(ctx context.Context) (err error) {
		queues, err = s.Create(ctx, endpoint)
		return err
	}
	command := child.Command{Name: "the queue (goaws)", Path: program, Args: []string{"-port", strconv.Itoa(port)}, Line: s.Line}
	if stop, err = child.Keep(ctx, command, ready, s.Console); err != nil {
		return Queues{}, nil, err
	}
	return queues, stop, nil
}

// Create makes the queues at an SQS endpoint where they are missing.
func (s Server) Create(ctx context.Context, endpoint string) (Queues, error) {
	client := Client(endpoint)
	create := func(name string, attributes map[string]string) (url, arn string, err error) {
		queue, err := client.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: aws.String(name), Attributes: attributes})
		if err != nil {
			return "", "", fmt.Errorf("create queue %s at %s: %w", name, endpoint, err)
		}
		got, err := client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
			QueueUrl: queue.QueueUrl, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameQueueArn},
		})
		if err != nil {
			return "", "", fmt.Errorf("read queue %s at %s: %w", name, endpoint, err)
		}
		return aws.ToString(queue.QueueUrl), got.Attributes[string(types.QueueAttributeNameQueueArn)], nil
	}

	visibility := strconv.Itoa(int(cmp.Or(s.Visibility, 30*time.Second).Seconds()))
	pair := func(name, dead string) (q Queue, err error) {
		if q.DeadLetterURL, q.DeadLetterARN, err = create(dead, map[string]string{"VisibilityTimeout": visibility}); err != nil {
			return Queue{}, err
		}
		redrive, err := json.Marshal(map[string]string{
			"deadLetterTargetArn": q.DeadLetterARN, "maxReceiveCount": strconv.Itoa(cmp.Or(s.MaxReceives, 5)),
		})
		if err != nil {
			return Queue{}, fmt.Errorf("redrive policy: %w", err)
		}
		q.URL, q.ARN, err = create(name, map[string]string{"VisibilityTimeout": visibility, "RedrivePolicy": string(redrive)})
		return q, err
	}
	queues := Queues{Endpoint: endpoint}
	var err error
	if queues.Queue, err = pair(Name, DeadLetterName); err != nil {
		return Queues{}, err
	}
	if queues.Messages, err = pair(MessagesName, MessagesDeadLetterName); err != nil {
		return Queues{}, err
	}
	return queues, nil
}

// Client returns a client of a local SQS, which takes any credentials.
func Client(endpoint string) *sqs.Client {
	return sqs.New(sqs.Options{
		Region:       "us-east-1",
		BaseEndpoint: aws.String(endpoint),
		Credentials:  credentials.NewStaticCredentialsProvider("local", "local", ""),
	})
}
