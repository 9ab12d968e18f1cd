package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/infra/local/queue"
)

// worker is a function; each message states what to do with it.
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

	var response events.SQSEventResponse
	for _, m := range event.Records {
		w.seen[m.Body] = append(w.seen[m.Body], m)
		once := len(w.seen[m.Body]) == 1
		switch {
		case m.Body == "crash" && once:
			return nil, errors.New("exit status 1")
		case m.Body == "garble" && once:
			return []byte("oops"), nil
		case strings.HasPrefix(m.Body, "fail") && once, m.Body == "poison" && function == "extractor":
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
		}
	}
	return json.Marshal(response)
}

// wait returns the deliveries of a body once there are n.
func (w *worker) wait(t *testing.T, body string, times int) []events.SQSMessage {
	t.Helper()
	for range 30_000 {
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

// ownerOf returns the first letter of a message as its owner and group.
func ownerOf(body string) (owner, group string) { return body[:1], body[:1] }

func TestQueue(t *testing.T) {
	const receives = 3
	queues, stop, err := queue.Server{Visibility: time.Second, MaxReceives: receives}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := queue.Client(queues.Endpoint)
	send := func(body string) {
		_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(queues.URL), MessageBody: aws.String(body)})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, body := range []string{"done", "fail", "fail too", "poison"} {
		send(body)
	}

	extractor, sweeper := &worker{seen: map[string][]events.SQSMessage{}}, &worker{seen: map[string][]events.SQSMessage{}}
	console := log.New(io.Discard, "", 0)
	ctx, cancel := context.WithCancel(t.Context())
	var sources sync.WaitGroup
	for _, q := range []*Queue{
		{Client: client, URL: queues.URL, Function: "extractor", Concurrency: 2, Visibility: time.Second, Owner: ownerOf, Invoke: extractor.invoke, Console: console},
		{Client: client, URL: queues.DeadLetterURL, Function: "sweeper", Concurrency: 1, Visibility: time.Second, Owner: ownerOf, Invoke: sweeper.invoke, Console: console},
	} {
		sources.Go(func() { q.Poll(ctx) })
	}
	defer sources.Wait()
	defer cancel()

	for _, m := range extractor.wait(t, "fail", 2)[:2] {
		if m.EventSource != "aws:sqs" || m.AWSRegion != "us-east-1" || m.MessageId == "" || m.Attributes["SentTimestamp"] == "" {
			t.Errorf("message: %+v", m)
		}
	}
	extractor.wait(t, "fail too", 2)
	for _, body := range []string{"crash", "garble"} {
		send(body)
		extractor.wait(t, body, 2)
	}
	sweeper.wait(t, "poison", 1)
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

// A has sent 40 stalling messages when B sends five. B's are done while A's first ones stall:
// the event source neither waits for A nor gives A all of its concurrency.
func TestOneGroupDoesNotDelayAnother(t *testing.T) {
	queues, stop, err := queue.Server{Visibility: time.Minute}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	client := queue.Client(queues.Endpoint)
	send := func(n int, body string) {
		for i := range n {
			_, err := client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: aws.String(queues.URL), MessageBody: aws.String(body + strconv.Itoa(i)), MessageGroupId: aws.String(body)})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	begun, release := make(chan string, 100), make(chan struct{})
	const concurrency = 4
	q := &Queue{
		Client: client, URL: queues.URL, Function: "extractor", Concurrency: concurrency, Visibility: time.Minute, Owner: ownerOf, Console: log.New(io.Discard, "", 0),
		Invoke: func(_ context.Context, _ string, payload []byte) ([]byte, error) {
			var event events.SQSEvent
			if err := json.Unmarshal(payload, &event); err != nil || len(event.Records) != 1 {
				t.Errorf("%v in %s", err, payload)
			}
			group, _ := ownerOf(event.Records[0].Body)
			begun <- group
			if group == "A" {
				<-release
			}
			return nil, nil
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	var source sync.WaitGroup
	source.Go(func() { q.Poll(ctx) })
	defer source.Wait()
	defer cancel()
	next := func() string {
		select {
		case group := <-begun:
			return group
		case <-time.After(5 * time.Minute):
			t.Error("nothing is delivered")
			return ""
		}
	}

	send(40, "A")
	for range concurrency / 2 {
		if next() != "A" {
			t.Fatal("A's messages are not delivered while it is alone")
		}
	}
	send(5, "B")
	for range 5 {
		if got := next(); got != "B" {
			t.Errorf("before B's messages are done, one of %s is delivered", got)
		}
	}
	close(release)
	for range 40 - concurrency/2 {
		if next() != "A" {
			t.Error("A's messages are not delivered in the end")
		}
	}
}

// Whatever the order of arrival: no group exceeds its share, none waits while it could run, of
// two waiting groups neither gets two turns in a row, and in the end all messages are delivered.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		turns := turns{share: rapid.IntRange(1, 3).Draw(t, "share"), ownerShare: 3, groups: map[string]*group{}, now: time.Now}
		waiting, running := map[string]int{}, map[string]int{}
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		next := func(t *rapid.T) {
			m, name, ok := turns.next()
			if !ok {
				for n := range waiting {
					if waiting[n] > 0 && running[n] < turns.share {
						t.Fatalf("%s waits, %d running", n, running[n])
					}
				}
				return
			}
			if waiting[name] == 0 || running[name] >= turns.share || aws.ToString(m.Body) != name {
				t.Fatalf("%s has a turn with %d waiting, %d running: %v", name, waiting[name], running[name], m)
			}
			for n := range waiting {
				if waiting[n] > 0 && running[n] < running[name] {
					t.Fatalf("%s, with %d running, is before %s, with %d", name, running[name], n, running[n])
				}
			}
			waiting[name]--
			running[name]++
		}
		done := func() {
			for n := range running {
				if running[n] > 0 {
					running[n]--
					turns.done(n, false)
					return
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				n := names.Draw(t, "group")
				waiting[n]++
				turns.add(n, n, types.Message{Body: aws.String(n)})
			},
			"next": next,
			"done": func(*rapid.T) { done() },
		})
		for turns.waiting > 0 {
			next(t)
			done()
		}
		for range 10 {
			done()
		}
		if len(turns.groups) != 0 {
			t.Fatalf("%v is left", turns.groups)
		}
	})
}

// Ten receivers stall and one works: once the stalling ones count as slow, messages for the
// other are delivered at once, and each slow one still gets its turns.
func TestSlowGroupsLeaveRoom(t *testing.T) {
	const concurrency, stalled = 12, 10
	now := time.Unix(0, 0)
	turns := turns{share: 3, ownerShare: 3, slowShare: concurrency / 2, groups: map[string]*group{}, now: func() time.Time { return now }}
	var running []string
	fill := func() (begun []string) {
		for len(running) < concurrency {
			_, name, ok := turns.next()
			if !ok {
				return begun
			}
			running, begun = append(running, name), append(begun, name)
		}
		return begun
	}
	end := func(name string, long bool) {
		i := slices.Index(running, name)
		running = slices.Delete(running, i, i+1)
		turns.done(name, long)
	}
	for i := range stalled {
		for range 50 {
			turns.add(fmt.Sprint("stalled ", i), fmt.Sprint("stalled ", i), types.Message{})
		}
	}
	// None counts as slow yet, so they use all turns until the first one ends.
	fill()
	turns.add("works", "works", types.Message{})
	if end(running[0], true); !slices.Equal(fill(), []string{"works"}) {
		t.Fatalf("running: %v", running)
	}
	end("works", false)
	had := map[string]int{}
	for n := range 20 * stalled {
		now = now.Add(time.Second)
		i := slices.IndexFunc(running, func(name string) bool { return name != "works" })
		end(running[i], true)
		for _, name := range fill() {
			had[name]++
		}
		turns.add("works", "works", types.Message{})
		if begun := fill(); n > concurrency && !slices.Equal(begun, []string{"works"}) {
			t.Fatalf("with a message for the one that works, %v begin", begun)
		}
		for slices.Contains(running, "works") {
			end("works", false)
			fill()
		}
	}
	for i := range stalled {
		if n := had[fmt.Sprint("stalled ", i)]; n < 15 {
			t.Errorf("receiver %d has %d turns", i, n)
		}
	}
	if len(running) > concurrency/2 {
		t.Errorf("those that stall have %d of %d", len(running), concurrency)
	}
}

// TestOwnersLeaveRoom checks that all groups of one owner together stay within its share, from
// their first messages on, so that another owner's are delivered at once.
func TestOwnersLeaveRoom(t *testing.T) {
	const concurrency, share = 12, 4
	turns := turns{share: 3, ownerShare: share, slowShare: concurrency / 2, groups: map[string]*group{}, now: time.Now}
	for i := range 10 {
		for range 50 {
			turns.add("A", fmt.Sprint("A", i), types.Message{})
		}
	}
	running := map[string]int{}
	for range concurrency {
		if _, name, ok := turns.next(); ok {
			running[name]++
		}
	}
	if len(running) != share {
		t.Errorf("A has %v", running)
	}
	turns.add("B", "B0", types.Message{})
	if _, name, ok := turns.next(); !ok || name != "B0" {
		t.Errorf("%q is delivered before B", name)
	}
	if _, name, ok := turns.next(); ok {
		t.Errorf("%s is delivered beyond A's share", name)
	}
}

func TestIsFailed(t *testing.T) {
	for response, want := range map[string]struct{ failed, malformed bool }{
		"":                           {},
		"null":                       {},
		"{}":                         {},
		`{"batchItemFailures":null}`: {},
		`{"batchItemFailures":[{"itemIdentifier":"a"}]}`: {failed: true},
		`{"batchItemFailures":[{"itemIdentifier":"c"}]}`: {malformed: true},
		`{"batchItemFailures":[{"itemIdentifier":""}]}`:  {malformed: true},
		`{"batchItemFailures":[{}]}`:                     {malformed: true},
		`{"batchItemFailures":7}`:                        {malformed: true},
		`oops`:                                           {malformed: true},
	} {
		failed, err := isFailed([]byte(response), "a")
		if (err != nil) != want.malformed || failed != want.failed {
			t.Errorf("%s: %v, %v", response, failed, err)
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

func FuzzIsFailed(f *testing.F) {
	for _, response := range []string{"", "null", `{"batchItemFailures":[{"itemIdentifier":"a"}]}`, `[]`} {
		f.Add([]byte(response))
	}
	f.Fuzz(func(t *testing.T, response []byte) {
		if failed, err := isFailed(response, "a"); err != nil && failed {
			t.Errorf("%q is malformed and a failure", response)
		}
	})
}
