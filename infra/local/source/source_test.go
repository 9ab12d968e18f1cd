package source

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/queue"
)

// worker is a function: what it does with a message stands in the message.
type worker struct {
	mu       sync.Mutex
	seen     map[string][]events.SQSMessage // by body
	running  int
	together int // most at a time
}

func (w *worker) invoke(_ context.Context, function string, payload []byte) ([]byte, error) {
	var event events.SQSEvent
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	w.mu.Lock()
	w.running++
	w.together = max(w.together, w.running)
	w.mu.Unlock()
	time.Sleep(20 * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running--

	var answer events.SQSEventResponse
	for _, m := range event.Records {
		w.seen[m.Body] = append(w.seen[m.Body], m)
		once := len(w.seen[m.Body]) == 1
		switch {
		case m.Body == "crash" && once:
			return nil, errors.New("exit status 1")
		case m.Body == "garble" && once:
			return []byte("oops"), nil
		case strings.HasPrefix(m.Body, "fail") && once, m.Body == "poison" && function == "extractor":
			answer.BatchItemFailures = append(answer.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return json.Marshal(answer)
}

// times tells how often the body was delivered, after it was that often.
func (w *worker) wait(t *testing.T, body string, times int) []events.SQSMessage {
	t.Helper()
	for range 1500 {
		w.mu.Lock()
		seen := w.seen[body]
		w.mu.Unlock()
		if len(seen) >= times {
			return seen
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not delivered %d times but %d", body, times, len(w.seen[body]))
	return nil
}

func TestQueue(t *testing.T) {
	const receives = 3
	queues, stop, err := queue.Server{Visibility: time.Second, MaxReceives: receives}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := queue.Client(queues.Endpoint)
	send := func(body string) {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{
			QueueUrl: aws.String(queues.URL), MessageBody: aws.String(body),
			MessageAttributes: map[string]types.MessageAttributeValue{"colour": {DataType: aws.String("String"), StringValue: aws.String("red")}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// All are there before anybody asks, so that they come in batches.
	for _, body := range []string{"done", "fail", "fail too", "poison"} {
		send(body)
	}

	extractor, sweeper := &worker{seen: map[string][]events.SQSMessage{}}, &worker{seen: map[string][]events.SQSMessage{}}
	console := log.New(io.Discard, "", 0)
	ctx, cancel := context.WithCancel(t.Context())
	var sources sync.WaitGroup
	for _, q := range []*Queue{
		{Client: client, URL: queues.URL, ARN: queues.ARN, Function: "extractor", Batch: 4, Concurrency: 2, Invoke: extractor.invoke, Console: console},
		{Client: client, URL: queues.DeadLetterURL, ARN: queues.DeadLetterARN, Function: "sweeper", Batch: 10, Concurrency: 1, Invoke: sweeper.invoke, Console: console},
	} {
		sources.Go(func() { q.Poll(ctx) })
	}
	defer sources.Wait()
	defer cancel()

	for n, m := range extractor.wait(t, "fail", 2)[:2] {
		if got, want := m.Attributes["ApproximateReceiveCount"], []string{"1", "2"}[n]; got != want {
			t.Errorf("delivery %d has receive count %s", n+1, got)
		}
		if m.EventSource != "aws:sqs" || m.EventSourceARN != queues.ARN || m.AWSRegion != "us-east-1" || aws.ToString(m.MessageAttributes["colour"].StringValue) != "red" {
			t.Errorf("message: %+v", m)
		}
	}
	extractor.wait(t, "fail too", 2)
	for _, body := range []string{"crash", "garble"} {
		send(body)
		extractor.wait(t, body, 2)
	}
	if dead := sweeper.wait(t, "poison", 1); dead[0].EventSourceARN != queues.DeadLetterARN {
		t.Errorf("dead letter: %+v", dead[0])
	}
	time.Sleep(2500 * time.Millisecond) // what is not deleted would show again
	extractor.mu.Lock()
	defer extractor.mu.Unlock()
	got := map[string]int{}
	for body, seen := range extractor.seen {
		got[body] = len(seen)
	}
	want := map[string]int{"done": 1, "fail": 2, "fail too": 2, "crash": 2, "garble": 2, "poison": receives}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deliveries: %s", diff)
	}
	if extractor.together > 2 {
		t.Errorf("%d at a time", extractor.together)
	}
}

func TestFailures(t *testing.T) {
	messages := []types.Message{{MessageId: aws.String("a")}, {MessageId: aws.String("b")}}
	for answer, want := range map[string][]string{
		"":                           {},
		"null":                       {},
		"{}":                         {},
		`{"batchItemFailures":null}`: {},
		`{"batchItemFailures":[{"itemIdentifier":"b"}]}`: {"b"},
		`{"batchItemFailures":[{"itemIdentifier":"c"}]}`: nil,
		`{"batchItemFailures":[{"itemIdentifier":""}]}`:  nil,
		`{"batchItemFailures":[{}]}`:                     nil,
		`{"batchItemFailures":7}`:                        nil,
		`oops`:                                           nil,
	} {
		failed, err := failures([]byte(answer), messages)
		if (err != nil) != (want == nil) || len(failed) != len(want) {
			t.Errorf("%s: %v, %v", answer, failed, err)
		}
		for _, id := range want {
			if !failed[id] {
				t.Errorf("%s: %s is not among %v", answer, id, failed)
			}
		}
	}
}

func TestSchedule(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var got []events.EventBridgeEvent
	Schedule(ctx, time.Millisecond, "sweeper", func(_ context.Context, function string, payload []byte) ([]byte, error) {
		var event events.EventBridgeEvent
		if err := json.Unmarshal(payload, &event); err != nil || function != "sweeper" {
			t.Errorf("%s: %v", function, err)
		}
		if got = append(got, event); len(got) == 3 {
			cancel()
		}
		return nil, errors.New("the function failed")
	})
	if len(got) != 3 {
		t.Fatalf("%d events", len(got))
	}
	if e := got[0]; e.Source != "aws.events" || e.DetailType != "Scheduled Event" || e.Time.IsZero() || e.ID == got[1].ID {
		t.Errorf("event: %+v", e)
	}
}

func FuzzFailures(f *testing.F) {
	for _, answer := range []string{"", "null", `{"batchItemFailures":[{"itemIdentifier":"a"}]}`, `[]`} {
		f.Add([]byte(answer))
	}
	messages := []types.Message{{MessageId: aws.String("a")}}
	f.Fuzz(func(t *testing.T, answer []byte) {
		failed, err := failures(answer, messages)
		if err == nil && len(failed) > 1 || len(failed) == 1 && !failed["a"] {
			t.Errorf("%q: %v", answer, failed)
		}
	})
}
