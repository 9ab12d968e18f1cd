package delivery_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/delivery"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/webhook"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

const org = catalog.OrgID("org_test")

var ids = catalog.IDs{Random: rand.Reader}

// queued is a message in a queue, and after which delay it is received.
type queued struct {
	message catalog.WebhookMessage
	delay   time.Duration
}

// line is a queue that tests read, or that loses what it is sent.
type line struct {
	mu    sync.Mutex
	down  bool
	sent  []queued
	wakes int
}

var errDown = errors.New("the queue is down")

func (l *line) SendLater(_ context.Context, m catalog.WebhookMessage, delay time.Duration) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return errDown
	}
	l.sent = append(l.sent, queued{m, delay})
	return nil
}

func (l *line) Wake(context.Context, catalog.OrgID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wakes++
	return nil
}

// take empties the queue.
func (l *line) take() []queued {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent := l.sent
	l.sent = nil
	return sent
}

// breaking is a store whose calls fail as a test wants.
type breaking struct {
	*dynamo.Store
	fail func(method string) error
}

func (s *breaking) fault(method string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(method)
}

func (s *breaking) AddMessage(ctx context.Context, m catalog.WebhookMessage) error {
	return errors.Join(s.fault("add"), s.Store.AddMessage(ctx, m))
}

func (s *breaking) SaveDispatched(ctx context.Context, org catalog.OrgID, w *catalog.Webhooks,
	to catalog.Cursor) error {
	if err := s.fault("dispatched"); err != nil {
		return err
	}
	return s.Store.SaveDispatched(ctx, org, w, to)
}

func (s *breaking) SaveAttempt(ctx context.Context, m catalog.WebhookMessage, a catalog.WebhookAttempt,
	queued bool) error {
	if err := s.fault("attempt"); err != nil {
		return err
	}
	return s.Store.SaveAttempt(ctx, m, a, queued)
}

// bench is a worker on a table of its own, and a receiver on this machine.
type bench struct {
	t      *testing.T
	store  *breaking
	line   *line
	worker *delivery.Worker
	server *httptest.Server
	hook   *catalog.Webhook
	secret string

	mu       sync.Mutex
	clock    catalog.Time
	received []*http.Request // with bodies that can be read
	bodies   []string
	answer   func(w http.ResponseWriter, r *http.Request) // nil for 204
}

func (b *bench) now() catalog.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.clock
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.clock += catalog.Time(d.Milliseconds())
}

func newBench(t *testing.T, types ...string) *bench {
	t.Helper()
	b := &bench{t: t, line: &line{}, clock: catalog.TimeOf(time.Now()), secret: webhook.NewSecret()}
	b.store = &breaking{Store: dynamotest.NewStore(t)}
	b.store.Now = b.now
	b.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		b.mu.Lock()
		b.received, b.bodies = append(b.received, r), append(b.bodies, string(body))
		answer := b.answer
		b.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		answer(w, r)
	}))
	t.Cleanup(b.server.Close)
	cipher, err := webhook.NewCipher(strings.Repeat("key of a test", 3))
	if err != nil {
		t.Fatal(err)
	}
	allowed := []string{strings.TrimPrefix(b.server.URL, "http://")}
	b.worker = &delivery.Worker{
		Store: b.store, Queue: b.line, Client: delivery.NewClient(allowed), Allowed: allowed, Cipher: cipher,
		Schedule:  webhook.Standard(),
		FeedPlace: dynamo.FeedPlace, Now: b.now, Chance: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
	}
	b.hook = b.add(types...)
	return b
}

// add gives the organization a webhook.
func (b *bench) add(types ...string) *catalog.Webhook {
	b.t.Helper()
	return b.addTo(org, "/hook", types...)
}

func (b *bench) addTo(org catalog.OrgID, path string, types ...string) *catalog.Webhook {
	b.t.Helper()
	hooks, err := b.store.Webhooks(b.t.Context(), org)
	if err != nil {
		b.t.Fatal(err)
	}
	end, err := b.store.FeedEnd(b.t.Context(), org)
	if err != nil {
		b.t.Fatal(err)
	}
	hook := &catalog.Webhook{
		ID: ids.Webhook(), OrganizationID: org, CreatedAt: b.now(), UpdatedAt: b.now(), URL: b.server.URL + path,
		Types: types, Enabled: true, From: end,
	}
	hook.NewSecrets(b.worker.Cipher.Seal(webhook.Owner(org, hook.ID), []byte(b.secret)), b.now())
	if err := hooks.Add(hook); err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.Commit(b.t.Context(), org, catalog.NewChange(hooks)); err != nil {
		b.t.Fatal(err)
	}
	return hook
}

func (b *bench) save(hooks *catalog.Webhooks) {
	b.t.Helper()
	if err := b.store.Commit(b.t.Context(), org, catalog.NewChange(hooks)); err != nil {
		b.t.Fatal(err)
	}
}

// job creates a job.
func (b *bench) job(ctx context.Context, name string) (id string, err error) {
	for {
		dir, err := b.store.Directory(ctx, org, catalog.JobKind)
		if err != nil {
			return "", err
		}
		var change catalog.Change
		job := &catalog.Job{Name: name}
		change.Add(job, ids, dir, b.now)
		if err = b.store.Commit(ctx, org, &change); err != catalog.ErrStale {
			return job.ID, err
		}
	}
}

func (b *bench) newJob(name string) string {
	b.t.Helper()
	id, err := b.job(b.t.Context(), name)
	if err != nil {
		b.t.Fatal(err)
	}
	return id
}

// hint is what the table's stream says of the page of the feed that is written now.
func hint(page int) events.DynamoDBEvent {
	return events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{{EventSource: "aws:dynamodb",
		Change: events.DynamoDBStreamRecord{
			Keys: map[string]events.DynamoDBAttributeValue{
				"pk": events.NewStringAttribute(api.JournalRows.Key(string(org))),
				"sk": events.NewStringAttribute(fmt.Sprintf("%010d", page)),
			},
		}}}}
}

func (b *bench) handle(event any) events.SQSEventResponse {
	b.t.Helper()
	text, err := json.Marshal(event)
	if err != nil {
		b.t.Fatal(err)
	}
	response, err := b.worker.Handle(b.t.Context(), text)
	if err != nil {
		b.t.Fatal(err)
	}
	return response
}

// deliver hands the worker a message, and reports whether it took it.
func (b *bench) deliver(m catalog.WebhookMessage) bool {
	b.t.Helper()
	body, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	response := b.handle(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", EventSource: "aws:sqs",
		Body: string(body)}}})
	return len(response.BatchItemFailures) == 0
}

// attempts reads the attempts at the webhook, the newest first.
func (b *bench) attempts() []catalog.WebhookAttempt {
	b.t.Helper()
	attempts, _, err := b.store.WebhookAttempts(b.t.Context(), org, b.hook.ID, "", 100)
	if err != nil {
		b.t.Fatal(err)
	}
	return attempts
}

func (b *bench) present() *catalog.Webhook {
	b.t.Helper()
	hooks, err := b.store.Webhooks(b.t.Context(), org)
	if err != nil {
		b.t.Fatal(err)
	}
	return hooks.Find(b.hook.ID)
}

func TestChangeIsDelivered(t *testing.T) {
	b := newBench(t, "job.created", "course.*")
	id := b.newJob("a")
	b.handle(hint(0))
	sent := b.line.take()
	if len(sent) != 1 || sent[0].delay != 0 || !b.deliver(sent[0].message) {
		t.Fatalf("%+v", sent)
	}
	if len(b.received) != 1 {
		t.Fatalf("received %d", len(b.received))
	}
	r, body := b.received[0], b.bodies[0]
	verifier, err := standardwebhooks.NewWebhook(b.secret)
	if err == nil {
		err = verifier.Verify([]byte(body), r.Header)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/hook" ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get("webhook-id") != sent[0].message.ID {
		t.Errorf("%v: %s %v", err, r.URL, r.Header)
	}
	feed, _, err := b.store.Changes(t.Context(), org, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"type":"job.created","timestamp":%q,"data":{"id":%q,"resource":"Job","change":"created","href":"/v1/jobs/%s","cursor":%q}}`, feed[0].At, id, id, feed[0].Cursor)
	if body != want {
		t.Errorf("the body is %s, want %s", body, want)
	}
	attempts := b.attempts()
	if len(attempts) != 1 || attempts[0].MessageID != sent[0].message.ID || attempts[0].Attempt != 1 ||
		attempts[0].Outcome != catalog.Delivered || *attempts[0].StatusCode != 204 || attempts[0].NextAttemptAt != nil {
		t.Errorf("%+v", attempts)
	}
	// The same message again, and the same hint, are nothing new.
	if b.handle(hint(0)); !b.deliver(sent[0].message) || len(b.received) != 1 || len(b.line.take()) != 0 {
		t.Errorf("received %d", len(b.received))
	}
	// Nor is there anything that the schedule finds, whenever it comes.
	b.pass(time.Hour)
	if b.handle(map[string]any{}); len(b.line.take()) != 0 {
		t.Error("a message that was delivered is sent again")
	}
}

// TestOnlyWhatIsAskedFor: types, enabled webhooks, and changes from their creation on.
func TestOnlyWhatIsAskedFor(t *testing.T) {
	b := newBench(t, "course.created")
	b.newJob("before")
	later := b.add("job.*")
	off := b.add("job.*")
	hooks, err := b.store.Webhooks(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	hooks.Find(off.ID).Enabled = false
	b.save(hooks)
	b.newJob("after")
	b.handle(hint(0))
	sent := b.line.take()
	if len(sent) != 1 || sent[0].message.WebhookID != later.ID || sent[0].message.Type != "job.created" {
		t.Errorf("%+v", sent)
	}
	hooks, err = b.store.Webhooks(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	for _, hook := range slices.Clone(hooks.List) {
		hooks.Remove(hook)
	}
	b.save(hooks)
	b.newJob("nobody asks")
	if b.handle(hint(0)); len(b.line.take()) != 0 || !b.deliver(sent[0].message) || len(b.received) != 0 {
		t.Error("a deleted webhook is sent messages")
	}
	b.pass(time.Hour)
	if b.handle(map[string]any{}); len(b.line.take()) != 0 {
		t.Error("the message of a deleted webhook is sent again")
	}
}

// TestExtractionEvents: the end of an extraction is an event beside the change.
func TestExtractionEvents(t *testing.T) {
	b := newBench(t, "extraction.*", "syllabusExtraction.changed")
	var failure *catalog.Failure
	for _, want := range []string{"extraction.completed", "extraction.failed"} {
		e := &catalog.SyllabusExtraction{
			Meta:       catalog.NewMeta(ids.Of(catalog.SyllabusExtractionKind), org, b.now()),
			Extraction: catalog.Extraction{ProcessingStatus: catalog.Pending},
		}
		var change catalog.Change
		change.Create(e, nil)
		if err := b.store.Commit(t.Context(), org, &change); err != nil {
			t.Fatal(err)
		}
		task, err := b.store.Claim(t.Context(), catalog.JobOf(e), "run", b.now()+1000)
		if err == nil {
			err = b.store.Finish(t.Context(), task, &catalog.ExtractionResult{Failure: failure})
		}
		if err != nil {
			t.Fatal(err)
		}
		failure = &catalog.Failure{Code: catalog.EmptyDocument, Message: "empty"}
		b.handle(hint(0))
		var types []string
		for _, s := range b.line.take() {
			types = append(types, s.message.Type)
			if s.message.Change != catalog.Changed || s.message.RecordID != e.ID {
				t.Errorf("%+v", s.message)
			}
		}
		slices.Sort(types)
		if diff := cmp.Diff([]string{want, "syllabusExtraction.changed"}, types); diff != "" {
			t.Error(diff)
		}
	}
	feed, _, err := b.store.Changes(t.Context(), org, "", 10)
	if err != nil || len(feed) != 4 || feed[1].What != catalog.Changed || feed[1].Event != catalog.ExtractionCompleted ||
		feed[0].Event != "" {
		t.Errorf("%v %+v", err, feed)
	}
}

// TestAttempts holds what each answer of a receiver leads to.
func TestAttempts(t *testing.T) {
	status := func(code int, header ...string) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<16))
		}
	}
	for _, c := range []struct {
		name    string
		answer  func(http.ResponseWriter, *http.Request)
		outcome catalog.AttemptOutcome
		wait    time.Duration // until the next attempt; 0 for none
		enabled bool
	}{
		{"created", status(201), catalog.Delivered, 0, true},
		{"error", status(500), catalog.ReceiverRefused, 5 * time.Second, true},
		{"not found", status(404), catalog.ReceiverRefused, 5 * time.Second, true},
		{"asks for a minute", status(429, "Retry-After", "60"), catalog.ReceiverRefused, time.Minute, true},
		{"asks for an hour", status(503, "Retry-After", "3600"), catalog.ReceiverRefused, time.Hour, true},
		{"asks for a second", status(503, "Retry-After", "1"), catalog.ReceiverRefused, 5 * time.Second, true},
		{"moved", status(307, "Location", "/elsewhere"), catalog.ReceiverRedirected, 5 * time.Second, true},
		{"gone", status(410), catalog.ReceiverRefused, 0, false},
		{"hangs up", func(w http.ResponseWriter, _ *http.Request) {
			connection, _, _ := w.(http.Hijacker).Hijack()
			_ = connection.Close()
		}, catalog.ReceiverUnreached, 5 * time.Second, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "job.*")
			b.answer = c.answer
			b.newJob("a")
			b.handle(hint(0))
			first := b.line.take()[0].message
			if !b.deliver(first) || len(b.received) != 1 {
				t.Fatalf("received %d", len(b.received))
			}
			a := b.attempts()[0]
			if a.Outcome != c.outcome || (a.NextAttemptAt != nil) != (c.wait > 0) || b.present().Enabled != c.enabled {
				t.Errorf("%+v, enabled %v", a, b.present().Enabled)
			}
			if reason := b.present().DisabledReason; !c.enabled && (reason == nil || *reason != catalog.ReceiverGone) {
				t.Errorf("disabled because of %v", reason)
			}
			next := b.line.take()
			switch {
			case c.wait == 0 || c.wait > 15*time.Minute:
				if len(next) != 0 {
					t.Errorf("sent %+v", next)
				}
			case len(next) != 1 || next[0].delay != c.wait || next[0].message.ID != first.ID || next[0].message.Attempt != 2:
				t.Errorf("sent %+v", next)
			}
			if c.wait > 0 && *a.NextAttemptAt != b.now()+catalog.Time(c.wait.Milliseconds()) {
				t.Errorf("the next attempt is at %s", a.NextAttemptAt)
			}
			// What the queue cannot hold back that long, the schedule sends when it is due.
			if c.wait > 15*time.Minute {
				b.pass(c.wait - time.Second)
				b.handle(map[string]any{})
				early := len(b.line.take())
				b.pass(2 * time.Second)
				b.handle(map[string]any{})
				if due := b.line.take(); early != 0 || len(due) != 1 || due[0].message.Attempt != 2 ||
					due[0].message.ID != first.ID {
					t.Errorf("sent %d early, then %+v", early, due)
				}
			}
		})
	}
}

// TestSlowReceiverEnds: a receiver that does not answer costs no more than the time that
// an attempt has.
func TestSlowReceiverEnds(t *testing.T) {
	b := newBench(t, "job.*")
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	b.answer = func(http.ResponseWriter, *http.Request) { <-release }
	b.newJob("a")
	b.handle(hint(0))
	b.worker.Client.Timeout = 50 * time.Millisecond
	if !b.deliver(b.line.take()[0].message) || b.attempts()[0].Outcome != catalog.ReceiverTimedOut ||
		b.attempts()[0].StatusCode != nil {
		t.Errorf("%+v", b.attempts())
	}
}

// TestSlowReceiverHasFewTurns: what comes for a receiver that stalls waits outside, however
// much it is, while another's messages are all delivered; once it responds it is sent all.
func TestSlowReceiverHasFewTurns(t *testing.T) {
	const jobs = 20
	b := newBench(t, "job.created")
	works := b.add("job.created")
	if err := b.store.MarkWebhook(t.Context(), org, works.ID, nil, new(true)); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	var mu sync.Mutex
	inFlight, most, healthy := 0, 0, 0
	all := make(chan struct{})
	b.answer = func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if r.URL.Path != "/stalls" {
			if healthy++; healthy == jobs+1 {
				close(all)
			}
			mu.Unlock()
			return
		}
		inFlight++
		most = max(most, inFlight)
		mu.Unlock()
		<-release
		mu.Lock()
		inFlight--
		mu.Unlock()
	}
	hooks, err := b.store.Webhooks(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	hooks.Find(b.hook.ID).URL = b.server.URL + "/stalls"
	b.save(hooks)
	deliver := func(messages []queued) {
		var group errgroup.Group
		for _, m := range messages {
			group.Go(func() error {
				if !b.deliver(m.message) {
					return errors.New("a message is redelivered")
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	}
	b.newJob("first")
	b.handle(hint(0))
	b.worker.Client.Timeout = 50 * time.Millisecond
	deliver(b.line.take())
	if attempts := b.attempts(); len(attempts) != 1 || attempts[0].Outcome != catalog.ReceiverTimedOut {
		t.Fatalf("%+v", attempts)
	}
	retried := b.line.take()
	b.worker.Client.Timeout = 0
	release <- struct{}{}
	for ended := false; !ended; time.Sleep(time.Millisecond) {
		mu.Lock()
		ended = inFlight == 0
		mu.Unlock()
	}
	for i := range jobs {
		b.newJob(fmt.Sprint(i))
	}
	b.handle(hint(0))
	messages := b.line.take()
	if len(messages) != 2*jobs || len(retried) != 1 {
		t.Fatalf("%d messages and %d to be tried again", len(messages), len(retried))
	}
	go func() {
		<-all
		for done := false; !done; time.Sleep(5 * time.Millisecond) { // until all but a few were told to come again
			mu.Lock()
			b.line.mu.Lock()
			done = len(b.line.sent)+inFlight == jobs+1
			b.line.mu.Unlock()
			mu.Unlock()
		}
		close(release)
	}()
	deliver(append(messages, retried...))
	if most > 3 {
		t.Errorf("%d messages were with the receiver that stalls at once", most)
	}
	held := b.line.take()
	for _, m := range held {
		if m.delay < 5*time.Second || m.delay > 15*time.Second || m.message.WebhookID == works.ID {
			t.Errorf("%+v", m)
		}
	}
	// While they wait the schedule finds none of them, and all where the queue has lost them.
	b.pass(time.Minute)
	if b.handle(map[string]any{}); len(b.line.take()) != 0 {
		t.Error("messages are sent again that wait in the queue")
	}
	b.pass(time.Minute)
	if b.handle(map[string]any{}); len(b.line.take()) != len(held) {
		t.Error("messages that the queue may have lost are not sent again")
	}
	deliver(held)
	mu.Lock()
	defer mu.Unlock()
	if len(b.line.take()) != 0 || healthy != jobs+1 || len(b.attempts()) != jobs+2 {
		t.Errorf("%d for the one that works, %d attempts at the other", healthy, len(b.attempts()))
	}
}

// TestOrganizationSharesTurns hands one function the messages and tests of ten webhooks
// that were never sent anything and stall, and behind them another organization's first:
// it is delivered before any of theirs ends, and few of theirs are in progress.
func TestOrganizationSharesTurns(t *testing.T) {
	const other, hooks, most = catalog.OrgID("org_other"), 10, 6
	b := newBench(t, "job.*")
	release, arrived := make(chan struct{}), make(chan struct{})
	var mu sync.Mutex
	stalled := 0
	b.answer = func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			close(arrived)
			return
		}
		mu.Lock()
		stalled++
		mu.Unlock()
		<-release
	}
	all := []*catalog.Webhook{b.hook}
	for len(all) < hooks {
		all = append(all, b.add("job.*"))
	}
	b.newJob("a")
	b.handle(hint(0))
	var event events.SQSEvent
	send := func(m catalog.WebhookMessage) {
		body, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		event.Records = append(event.Records, events.SQSMessage{
			MessageId: fmt.Sprint(len(event.Records)), EventSource: "aws:sqs", Body: string(body),
		})
	}
	for _, m := range b.line.take() {
		send(m.message)
	}
	for _, hook := range all {
		for range 3 {
			send(ids.NewTestMessage(hook, catalog.Cursor{}, b.now()))
		}
	}
	send(ids.NewTestMessage(b.addTo(other, "/other", "job.*"), catalog.Cursor{}, b.now()))
	handled := make(chan events.SQSEventResponse)
	go func() { handled <- b.handle(event) }()
	select {
	case <-arrived:
	case <-handled:
	}
	close(release)
	if response := <-handled; len(response.BatchItemFailures) > 0 {
		t.Errorf("%+v", response)
	}
	held := b.line.take()
	mu.Lock()
	defer mu.Unlock()
	if stalled == 0 || stalled > most || len(held) != 4*hooks-stalled {
		t.Errorf("%d messages were in progress, %d put off", stalled, len(held))
	}
}

// TestTurnsOfBrokenDeliveries: messages that never come back do not keep an
// organization's turns, and only what has a turn ends it.
func TestTurnsOfBrokenDeliveries(t *testing.T) {
	b := newBench(t, "job.created")
	take := func() (taken []catalog.WebhookMessage) {
		t.Helper()
		for range 50 {
			m := ids.NewTestMessage(b.hook, catalog.Cursor{}, b.now())
			mine, err := b.store.TakeTurn(t.Context(), m, b.now()+25_000)
			if err != nil {
				t.Fatal(err)
			}
			if mine {
				taken = append(taken, m)
			}
		}
		return taken
	}
	first := take()
	if len(first) != 3 || len(take()) != 0 {
		t.Fatalf("one webhook has %d turns", len(first))
	}
	b.pass(25*time.Second + time.Millisecond)
	if len(take()) != 3 {
		t.Error("turns are not taken again")
	}
	for _, m := range first { // long overdue
		if err := b.store.EndTurn(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	if len(take()) != 0 {
		t.Error("a message ended the turn of another")
	}
}

// TestOneAttemptAtATime hands eight functions the same message: one makes the attempt,
// and the others do not wait for it.
func TestOneAttemptAtATime(t *testing.T) {
	for _, stored := range []bool{true, false} {
		t.Run(fmt.Sprintf("stored %v", stored), func(t *testing.T) {
			b := newBench(t, "job.*")
			release := make(chan struct{})
			b.answer = func(http.ResponseWriter, *http.Request) { <-release }
			b.newJob("a")
			b.handle(hint(0))
			m := b.line.take()[0].message
			if !stored { // the queue was faster than the table
				m = ids.NewTestMessage(b.hook, catalog.Cursor{}, b.now())
			}
			const functions = 8
			done := make(chan bool)
			for range functions {
				go func() { done <- b.deliver(m) }()
			}
			for range functions - 1 {
				if !<-done {
					t.Error("a message is redelivered")
				}
			}
			close(release)
			if !<-done || len(b.received) != 1 || len(b.attempts()) != 1 {
				t.Errorf("received %d, noted %+v", len(b.received), b.attempts())
			}
		})
	}
}

// TestBrokenDeliveryLosesNothing: a message that is held by a function that broke off is
// left to it for the time of an attempt, and delivered then.
func TestBrokenDeliveryLosesNothing(t *testing.T) {
	b := newBench(t, "job.*")
	b.newJob("a")
	b.handle(hint(0))
	m := b.line.take()[0].message
	if _, mine, err := b.store.ClaimMessage(t.Context(), m, b.now()+25_000); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	b.pass(15 * time.Second)
	if !b.deliver(m) || len(b.received) != 0 {
		t.Error("a second attempt began while the first was in progress")
	}
	b.pass(time.Minute)
	b.handle(map[string]any{})
	if sent := b.line.take(); len(sent) != 1 || !b.deliver(sent[0].message) || len(b.received) != 1 {
		t.Errorf("sent %+v, received %d", sent, len(b.received))
	}
}

// TestPrivateAddresses: what is not allowed is not connected to, whatever it is called.
func TestPrivateAddresses(t *testing.T) {
	b := newBench(t, "job.*")
	_, port, err := net.SplitHostPort(strings.TrimPrefix(b.server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	b.worker.Client, b.worker.Allowed = delivery.NewClient(nil), nil
	for _, url := range []string{
		b.server.URL, "https://127.0.0.1:" + port, "https://localhost:" + port, "https://[::1]:" + port,
		"https://169.254.169.254/latest", "https://2130706433:" + port,
	} {
		hooks, err := b.store.Webhooks(t.Context(), org)
		if err != nil {
			t.Fatal(err)
		}
		hooks.Find(b.hook.ID).URL = url
		b.save(hooks)
		b.pass(time.Second)
		m := ids.NewTestMessage(b.hook, catalog.Cursor{}, b.now())
		if !b.deliver(m) || b.attempts()[0].Outcome != catalog.ReceiverForbidden || b.attempts()[0].MessageID != m.ID {
			t.Errorf("%s: %+v", url, b.attempts()[0])
		}
	}
	if len(b.received) != 0 {
		t.Error("a private address was reached")
	}
}

// TestSchedule follows a message to a receiver that is down through all of its attempts,
// and another until its webhook is disabled.
func TestSchedule(t *testing.T) {
	b := newBench(t, "job.*")
	b.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	b.newJob("a")
	b.handle(hint(0))
	begun := b.now()
	for b.now()-begun < 80*3600*1000 {
		for _, m := range b.line.take() {
			b.pass(m.delay)
			b.deliver(m.message)
		}
		b.pass(10 * time.Minute)
		b.handle(map[string]any{})
	}
	if len(b.received) != 10 || len(b.attempts()) != 10 || !b.present().Enabled {
		t.Fatalf("%d attempts, noted %d, enabled %v", len(b.received), len(b.attempts()), b.present().Enabled)
	}
	for _, r := range b.received {
		if r.Header.Get("webhook-id") != b.received[0].Header.Get("webhook-id") {
			t.Error("the id changes from attempt to attempt")
		}
	}
	if last := b.attempts()[0]; last.Attempt != 10 || last.NextAttemptAt != nil {
		t.Errorf("%+v", last)
	}
	// A day later only the first failure is five days old.
	b.newJob("b")
	b.handle(hint(0))
	for b.now()-begun < 5*24*3600*1000 {
		b.pass(time.Hour)
	}
	b.deliver(b.line.take()[0].message)
	if hook := b.present(); hook.Enabled || *hook.DisabledReason != catalog.ReceiverFailing ||
		b.attempts()[0].NextAttemptAt != nil {
		t.Errorf("%+v", hook)
	}
}

// TestSuccessEndsFailing: five days count from the last success on.
func TestSuccessEndsFailing(t *testing.T) {
	b := newBench(t, "job.*")
	code := http.StatusInternalServerError
	b.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	for _, next := range []int{200, 500, 500} {
		b.newJob("a")
		b.handle(hint(0))
		b.deliver(b.line.take()[0].message)
		b.line.take()
		b.pass(3 * 24 * time.Hour)
		code = next
	}
	if !b.present().Enabled {
		t.Error("disabled although it worked meanwhile")
	}
}

// TestNothingIsLost breaks off at every step: the change becomes one message, which
// arrives.
func TestNothingIsLost(t *testing.T) {
	for _, step := range []string{"stream", "add", "dispatched", "queue", "attempt"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "job.*")
			b.newJob("a")
			b.line.down = step == "queue"
			b.store.fail = func(method string) error {
				if method == step {
					return errDown
				}
				return nil
			}
			if step != "stream" {
				b.handle(hint(0))
			}
			lost := b.line.take()
			if step == "attempt" {
				if b.deliver(lost[0].message) {
					t.Error("an attempt that was not noted is acknowledged")
				}
			}
			b.store.fail, b.line.down = nil, false
			// What was sent is lost with the queue; the schedule is what is left.
			b.pass(2 * time.Minute)
			b.handle(map[string]any{})
			sent := b.line.take()
			if len(sent) == 0 {
				t.Fatal("the message is lost")
			}
			for _, m := range append(lost, sent...) {
				if m.message.ID != sent[0].message.ID || !b.deliver(m.message) {
					t.Errorf("%+v", m)
				}
			}
			if attempts := b.attempts(); len(attempts) == 0 || attempts[len(attempts)-1].Outcome != catalog.Delivered {
				t.Errorf("%+v", attempts)
			}
			b.pass(24 * time.Hour)
			if b.handle(map[string]any{}); len(b.line.take()) != 0 {
				t.Error("the message is sent for ever")
			}
		})
	}
}

// TestResends: what the queue may have lost is sent again after a minute and then every
// five; what is tried again later is not sent before.
func TestResends(t *testing.T) {
	b := newBench(t, "job.*")
	b.newJob("a")
	b.handle(hint(0))
	if sent := b.line.take(); len(sent) != 1 { // and is lost
		t.Fatalf("%d messages", len(sent))
	}
	sweep := func(after time.Duration, want int) {
		t.Helper()
		b.pass(after)
		b.handle(map[string]any{})
		if sent := b.line.take(); len(sent) != want {
			t.Errorf("%v later %d messages are sent, want %d", after, len(sent), want)
		}
	}
	for range 3 {
		sweep(30*time.Second, 0)
		sweep(2*time.Hour, 1)
		sweep(4*time.Minute, 0)
		sweep(time.Minute+time.Second, 1)
		sweep(4*time.Minute, 0)
	}
	b.pass(time.Hour)
	b.answer = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }
	b.handle(map[string]any{})
	b.deliver(b.line.take()[0].message)
	if later := b.line.take(); len(later) != 1 || later[0].delay == 0 {
		t.Fatalf("%+v", later)
	}
	sweep(time.Second, 0)
	sweep(2*time.Minute, 1)
}

// TestEveryChangeBecomesOneMessage lets writers write while several dispatchers are
// hinted at, and webhooks come: each has a message for each change since it was there,
// and none from before.
func TestEveryChangeBecomesOneMessage(t *testing.T) {
	b := newBench(t, "job.created")
	const writers, each = 4, 30
	var late *catalog.Webhook
	group, ctx := errgroup.WithContext(t.Context())
	for w := range writers {
		group.Go(func() error {
			for i := range each {
				if _, err := b.job(ctx, fmt.Sprint(w, i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	stop := make(chan struct{})
	var dispatchers sync.WaitGroup
	for range 2 {
		dispatchers.Go(func() {
			for page := 0; ; page = (page + 1) % (writers * each / 9) {
				select {
				case <-stop:
					return
				default:
					event, _ := json.Marshal(hint(page))
					_, _ = b.worker.Handle(t.Context(), event)
				}
			}
		})
	}
	for late == nil { // dispatchers save beside it, but not the webhooks
		late = b.add("job.created")
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	close(stop)
	dispatchers.Wait()
	b.pass(time.Minute)
	for range 5 {
		b.handle(map[string]any{})
	}
	feed, _, err := b.store.Changes(t.Context(), org, "", 1000)
	if err != nil || len(feed) != writers*each {
		t.Fatalf("%d changes, %v", len(feed), err)
	}
	want := map[string]bool{}
	for _, c := range feed {
		want[b.hook.ID+c.Cursor.String()] = true
		if late.From.Before(c.Cursor) {
			want[late.ID+c.Cursor.String()] = true
		}
	}
	got, cursors := map[string]bool{}, map[string]string{}
	for _, s := range b.line.take() {
		m := s.message
		got[m.WebhookID+m.Cursor] = true
		if other, known := cursors[m.ID]; known && other != m.WebhookID+m.Cursor {
			t.Errorf("message %s is of %s and of %s%s", m.ID, other, m.WebhookID, m.Cursor)
		}
		cursors[m.ID] = m.WebhookID + m.Cursor
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestLongFeedIsShared: one event makes a part of an import into messages, and asks for
// another.
func TestLongFeedIsShared(t *testing.T) {
	b := newBench(t, "job.created")
	for i := range 40 {
		var change catalog.Change
		dir, err := b.store.Directory(t.Context(), org, catalog.JobKind)
		if err != nil {
			t.Fatal(err)
		}
		for range 9 {
			change.Add(&catalog.Job{Name: fmt.Sprint(i)}, ids, dir, b.now)
		}
		if err := b.store.Commit(t.Context(), org, &change); err != nil {
			t.Fatal(err)
		}
	}
	b.handle(hint(39))
	first := len(b.line.take())
	if b.line.wakes != 1 || first != 300 {
		t.Errorf("made %d messages, asked for %d more events", first, b.line.wakes)
	}
	wake, err := json.Marshal(catalog.WebhookMessage{OrganizationID: org})
	if err != nil {
		t.Fatal(err)
	}
	b.handle(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "w", EventSource: "aws:sqs", Body: string(wake)}}})
	if second := len(b.line.take()); second != 60 || b.line.wakes != 1 {
		t.Errorf("made %d messages, asked for %d more events", second, b.line.wakes)
	}
}

func TestWhatIsNoMessage(t *testing.T) {
	b := newBench(t, "job.*")
	if _, err := b.worker.Handle(t.Context(), []byte("{")); err == nil {
		t.Error("half an event was taken")
	}
	response := b.handle(events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "1", EventSource: "aws:sqs", Body: "no JSON"}, {MessageId: "2", EventSource: "aws:sqs", Body: "{}"},
	}})
	if len(response.BatchItemFailures) != 0 {
		t.Error("what can never be delivered comes back")
	}
}
