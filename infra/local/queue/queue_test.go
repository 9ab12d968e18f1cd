package queue

import (
	"context"
	"net"
	"net/url"
	"runtime"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

func receive(ctx context.Context, t *testing.T, c *sqs.Client, url string, wait int32) []string {
	t.Helper()
	out, err := c.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{QueueUrl: aws.String(url), WaitTimeSeconds: wait})
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	for _, m := range out.Messages {
		bodies = append(bodies, aws.ToString(m.Body))
	}
	return bodies
}

func TestDeadLetters(t *testing.T) {
	ctx := t.Context()
	queues, stop, err := Server{Visibility: time.Second, MaxReceives: 2}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := Client(queues.Endpoint)
	message := &sqs.SendMessageInput{QueueUrl: aws.String(queues.URL), MessageBody: aws.String("poison")}
	if _, err := c.SendMessage(ctx, message); err != nil {
		t.Fatal(err)
	}
	for n := range 2 {
		if got := receive(ctx, t, c, queues.URL, 10); len(got) != 1 || got[0] != "poison" {
			t.Fatalf("receive %d: %v", n+1, got)
		}
	}
	if got := receive(ctx, t, c, queues.DeadLetterURL, 10); len(got) != 1 || got[0] != "poison" {
		t.Errorf("dead letters: %v", got)
	}
	if got := receive(ctx, t, c, queues.URL, 1); len(got) != 0 {
		t.Errorf("still in the queue: %v", got)
	}
}

func TestCreateIsIdempotent(t *testing.T) {
	ctx := t.Context()
	queues, stop, err := Server{}.Start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	again, err := Server{}.Create(ctx, queues.Endpoint)
	if err != nil || again != queues {
		t.Errorf("second creation: %+v, %v; the first gave %+v", again, err, queues)
	}
}

// A server that listens on all interfaces is reachable at all of 127.0.0.0/8.
func TestListensOnOneAddress(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has the address 127.0.0.2")
	}
	queues, stop, err := Server{}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	endpoint, err := url.Parse(queues.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{"127.0.0.1": true, "127.0.0.2": false} {
		connection, err := net.Dial("tcp", net.JoinHostPort(host, endpoint.Port()))
		if err == nil {
			_ = connection.Close()
		}
		if got := err == nil; got != want {
			t.Errorf("%s: reached %t, want %t", host, got, want)
		}
	}
}
