package queue_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/outbox"
	"skillscurriculum/pkg/queue"
)

var job = catalog.ExtractionJob{OrganizationID: "org_1", Kind: catalog.TransferCourseKind, ID: "tcr_1", PackageID: "tpk_1", RequestedAt: 1_795_000_000_000}

// table is one extraction as the real table keeps it (see the property of the
// states in package dynamo), and the errors that a test wants.
type table struct {
	mu        sync.Mutex
	status    catalog.ProcessingStatus
	lease     string
	until     catalog.Time
	attempts  int
	open      catalog.Time // from when the sweeper may look
	requested catalog.Time
	ends      int  // how often it was COMPLETED or FAILED
	completed int  // sweeps of deletions
	expired   int  // sweeps of documents
	noneLeft  bool // what the last sweep said
	endless   bool // there is always one more that is stuck
	outcome   *catalog.ExtractionResult
	href      string
	// What is read where there is no href.
	description string
	known       map[string]*catalog.ExtractionResult
	fail        func(method string) error
	now         func() catalog.Time
}

var errDown = errors.New("the store is down")

func (s *table) fault(method string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(method)
}

func (s *table) Claim(_ context.Context, job catalog.ExtractionJob, lease string, until catalog.Time) (*catalog.Task, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fault("claim"); err != nil {
		return nil, err
	}
	switch {
	case s.status == catalog.Processing && s.until >= s.now():
		return nil, catalog.ErrLeased
	case s.status != catalog.Pending && s.status != catalog.Processing:
		return nil, catalog.ErrFinished
	case job.RequestedAt != 0 && job.RequestedAt != s.requested:
		return nil, catalog.ErrFinished
	}
	job.RequestedAt = s.requested
	s.attempts++
	s.status, s.lease, s.until = catalog.Processing, lease, until
	if err := s.fault("claimed"); err != nil {
		return nil, err
	}
	task := &catalog.Task{Job: job, Name: "Databases", Source: catalog.FromSyllabus, SyllabusHref: s.href, Attempt: s.attempts, Lease: lease}
	if s.href == "" && job.Kind != catalog.SyllabusExtractionKind {
		task.Source, task.Description = catalog.FromDescription, s.description
	}
	return task, nil
}

func (s *table) Finish(_ context.Context, task *catalog.Task, outcome *catalog.ExtractionResult) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fault("finish"); err != nil {
		return err
	}
	if s.status != catalog.Processing || s.lease != task.Lease {
		return catalog.ErrFinished
	}
	s.ends++
	if s.status, s.outcome, s.lease = catalog.Completed, outcome, ""; outcome.Failure != nil {
		s.status = catalog.Failed
	}
	return s.fault("finished")
}

func (s *table) PutBack(_ context.Context, task *catalog.Task, from catalog.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.fault("put back"); err != nil {
		return err
	}
	if s.status != catalog.Processing || s.lease != task.Lease {
		return catalog.ErrFinished
	}
	s.status, s.lease, s.open = catalog.Pending, "", from
	return nil
}

func (s *table) Extracted(_ context.Context, _ catalog.OrgID, _ catalog.Provenance, words string) (*catalog.ExtractionResult, error) {
	return s.known[words], s.fault("extracted")
}

func (s *table) Text(context.Context, catalog.OrgID, string) ([]byte, error) {
	return []byte("We write SQL."), s.fault("text")
}

func (s *table) Stuck(_ context.Context, noneLeft bool, visit func(catalog.ExtractionJob) error) error {
	s.mu.Lock()
	s.noneLeft = noneLeft
	open := s.status == catalog.Pending || s.status == catalog.Processing && s.until < s.now()
	s.mu.Unlock()
	if !open {
		return nil
	}
	for s.endless {
		if err := visit(job); err != nil {
			return err
		}
	}
	return visit(job)
}

func (s *table) CompleteDeletions(context.Context, func(context.Context, catalog.OrgID, string) error) error {
	s.completed++
	return s.fault("complete")
}

func (s *table) StuckImports(context.Context, func(context.Context, catalog.OrgID) error) error {
	return s.fault("imports")
}

func (s *table) ExpireDocuments(
	context.Context, func(context.Context, catalog.OrgID, string) (catalog.Time, bool, error),
) error {
	s.expired++
	return s.fault("expire")
}

func (s *table) Resend(_ context.Context, _ bool, job catalog.ExtractionJob) (catalog.ExtractionJob, bool, error) {
	job.RequestedAt = s.requested
	return job, true, s.fault("resend")
}

// noFiles is a storage that holds nothing.
type noFiles struct{}

func (noFiles) Uploaded(context.Context, catalog.OrgID, string) (catalog.Time, bool, error) {
	return 0, false, nil
}

func (noFiles) Remove(context.Context, catalog.OrgID, string) error { return nil }

// documents returns one document, or a failure.
type documents struct {
	text  string
	fail  error
	panic string
	slow  bool
	asked []string
}

func (d *documents) Fetch(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	d.asked = append(d.asked, task.SyllabusHref)
	return d.Plain(ctx, d.text)
}

func (d *documents) Plain(ctx context.Context, words string) (catalog.SyllabusText, error) {
	if d.panic != "" {
		panic(d.panic)
	}
	if d.slow {
		<-ctx.Done()
		return catalog.SyllabusText{}, &catalog.Failure{Code: catalog.TimedOut, Message: "too slow"}
	}
	d.asked = append(d.asked, words)
	return catalog.SyllabusText{Text: strings.ReplaceAll(words, "\n\n", "\n"), SHA256: "digest of " + words}, d.fail
}

// line is a queue that remembers what was sent, or refuses to take it.
type line struct {
	takes   time.Duration // for each call
	mu      sync.Mutex
	down    bool
	waiting int
	jobs    []catalog.ExtractionJob
	delays  []int
}

// Do calls the queue without a network, so that the time of a test can be simulated.
func (l *line) Do(r *http.Request) (*http.Response, error) {
	select {
	case <-time.After(l.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	w := httptest.NewRecorder()
	l.ServeHTTP(w, r)
	return w.Result(), nil
}

func (l *line) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var in struct {
		MessageBody    string
		MessageGroupId string
		DelaySeconds   int
	}
	var sent catalog.ExtractionJob
	if !l.down && r.Header.Get("X-Amz-Target") == "AmazonSQS.GetQueueAttributes" {
		fmt.Fprintf(w, `{"Attributes":{"ApproximateNumberOfMessages":"%d","ApproximateNumberOfMessagesDelayed":"0"}}`, l.waiting)
		return
	}
	if l.down || json.NewDecoder(r.Body).Decode(&in) != nil || json.Unmarshal([]byte(in.MessageBody), &sent) != nil || in.MessageGroupId != string(sent.OrganizationID) {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	l.jobs, l.delays = append(l.jobs, sent), append(l.delays, in.DelaySeconds)
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	fmt.Fprint(w, `{"MessageId":"m"}`)
}

// bench is a worker with everything around it.
type bench struct {
	table     *table
	documents *documents
	line      *line
	worker    *queue.Worker
	sweeper   *queue.Sweeper
	clock     catalog.Time
	job       catalog.ExtractionJob
}

func newBench(t interface{ Helper() }) *bench {
	t.Helper()
	b := &bench{job: job, clock: catalog.TimeOf(time.Now()), line: &line{}, documents: &documents{text: "Students design relational databases and write SQL queries."}}
	b.table = &table{status: catalog.Pending, requested: job.RequestedAt, href: "https://example.org/s.pdf", known: map[string]*catalog.ExtractionResult{}, now: func() catalog.Time { return b.clock }}
	const url = "http://queue.test"
	sender := &outbox.Jobs{URL: url, Client: sqs.New(sqs.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(url), Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), Retryer: aws.NopRetryer{}, HTTPClient: b.line,
	})}
	ids := catalog.IDs{Random: rand.Reader}
	b.worker = &queue.Worker{
		Store: b.table, Sender: sender, Documents: b.documents, Extractor: extraction.NewExtractor(extraction.Starter(), wordvectors.Table()), RetryDelay: 30 * time.Second,
		Provenance: catalog.Provenance{Engine: "engine", Taxonomy: "taxonomy", TaxonomyVersion: "1"}, Now: b.table.now, IDs: ids, Log: slog.New(slog.DiscardHandler),
	}
	b.sweeper = &queue.Sweeper{Store: b.table, Sender: sender, Imports: &queue.Imports{}, Files: noFiles{}, Now: b.table.now, IDs: ids, Log: slog.New(slog.DiscardHandler)}
	return b
}

func message(id string, body any) events.SQSMessage {
	text, _ := json.Marshal(body)
	return events.SQSMessage{MessageId: id, Body: string(text)}
}

// deliver hands the worker the job's message and reports whether it took it.
func (b *bench) deliver() bool {
	response, err := b.worker.Handle(context.Background(), events.SQSEvent{Records: []events.SQSMessage{message("m", b.job)}})
	return err == nil && len(response.BatchItemFailures) == 0
}

func TestJobCompletes(t *testing.T) {
	b := newBench(t)
	if !b.deliver() || b.table.status != catalog.Completed {
		t.Fatalf("%s", b.table.status)
	}
	o := b.table.outcome
	if len(o.Skills) == 0 || len(o.Evidence) == 0 || o.Warnings == nil || o.Text != b.documents.text {
		t.Errorf("%+v", o)
	}
	want := catalog.Provenance{Engine: "engine", Taxonomy: "taxonomy", TaxonomyVersion: "1", Source: catalog.FromSyllabus, DocumentSHA256: "digest of " + b.documents.text}
	if diff := cmp.Diff(want, o.Provenance); diff != "" {
		t.Error(diff)
	}
	if !b.deliver() || b.table.ends != 1 {
		t.Errorf("delivered again it ends %d times", b.table.ends)
	}
}

func TestWhatIsRead(t *testing.T) {
	b := newBench(t)
	b.deliver()
	b.table.href, b.table.status = "", catalog.Pending
	b.deliver()
	if o := b.table.outcome; o.Skills == nil || len(o.Skills) > 0 || b.table.status != catalog.Completed {
		t.Errorf("with too little to read: %s, %+v", b.table.status, o)
	}
	b.table.description, b.table.status = "Databases\n\nStudents write SQL queries.", catalog.Pending
	b.deliver()
	if o := b.table.outcome; len(o.Skills) == 0 || o.Provenance.Source != catalog.FromDescription {
		t.Errorf("of a description: %+v", o)
	} else if e := o.Evidence[len(o.Evidence)-1]; b.table.description[e.Start:e.End] != e.Quote {
		t.Errorf("%q is not at %d of the description", e.Quote, e.Start)
	}
	b.job.Kind, b.table.status = catalog.SyllabusExtractionKind, catalog.Pending
	b.deliver()
	want := []string{"https://example.org/s.pdf", b.documents.text, "Databases\n\nStudents write SQL queries.", "We write SQL."}
	if diff := cmp.Diff(want, b.documents.asked); diff != "" {
		t.Error(diff)
	}
}

func TestTheSameTextIsNotExtractedTwice(t *testing.T) {
	b := newBench(t)
	b.table.known[b.documents.text] = &catalog.ExtractionResult{Skills: []catalog.SkillRef{{SkillID: "known"}}, Provenance: catalog.Provenance{DocumentSHA256: "other bytes"}}
	if !b.deliver() || b.table.outcome.Skills[0].SkillID != "known" || b.table.outcome.Provenance.DocumentSHA256 != "digest of "+b.documents.text || b.table.outcome.Text != b.documents.text {
		t.Errorf("%+v", b.table.outcome)
	}
	b = newBench(t)
	b.table.fail = func(method string) error {
		if method == "extracted" {
			return errDown
		}
		return nil
	}
	if !b.deliver() || b.table.status != catalog.Completed {
		t.Errorf("without the store of documents: %s", b.table.status)
	}
}

func TestFailureCodes(t *testing.T) {
	for code, tries := range map[catalog.FailureCode]int{
		catalog.DocumentNotFound: 1, catalog.ForbiddenAddress: 1, catalog.LoginRequired: 1, catalog.UnsupportedType: 1, catalog.TooLarge: 1, catalog.Encrypted: 1,
		catalog.ScannedNoText: 1, catalog.Malformed: 1, catalog.EmptyDocument: 1, catalog.Unreachable: 3, catalog.TimedOut: 3, catalog.InternalFailure: 3,
	} {
		t.Run(string(code), func(t *testing.T) {
			b := newBench(t)
			b.documents.fail = fmt.Errorf("reading: %w", &catalog.Failure{Code: code, Message: "why"})
			for try := 1; try < tries; try++ {
				if !b.deliver() || b.table.status != catalog.Pending {
					t.Fatalf("after try %d it is %s", try, b.table.status)
				}
				delay := 30 << (try - 1)
				if len(b.line.delays) != try || b.line.delays[try-1] != delay || b.table.open != b.clock+catalog.Time(delay*1000) || b.line.jobs[try-1] != job {
					t.Errorf("after try %d: sent %v later, open at %d", try, b.line.delays, b.table.open-b.clock)
				}
			}
			if !b.deliver() || b.table.status != catalog.Failed || b.table.outcome.Failure.Code != code || b.table.ends != 1 || len(b.line.jobs) != tries-1 {
				t.Errorf("%s %+v, ended %d times, sent %d", b.table.status, b.table.outcome, b.table.ends, len(b.line.jobs))
			}
		})
	}
}

func TestOtherErrorsAndPanicsAreInternal(t *testing.T) {
	for name, d := range map[string]*documents{"error": {fail: errors.New("10.0.0.1 refused")}, "panic": {panic: "10.0.0.1"}} {
		b := newBench(t)
		b.documents = d
		b.worker.Documents = d
		for range 3 {
			if !b.deliver() {
				t.Errorf("%s: the message comes back", name)
			}
		}
		if b.table.status != catalog.Failed || b.table.outcome.Failure.Code != catalog.InternalFailure {
			t.Fatalf("%s: %s", name, b.table.status)
		}
		if told := b.table.outcome.Failure.Error(); strings.Contains(told, "10.0.0.1") || strings.Contains(told, "refused") {
			t.Errorf("%s: the failure tells internals: %s", name, told)
		}
	}
}

func TestTheRunKeepsTimeToSave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.documents.slow = true
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		response, err := b.worker.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{message("m", job)}})
		if err != nil || len(response.BatchItemFailures) > 0 || ctx.Err() != nil {
			t.Errorf("%v, %v, %v", response, err, ctx.Err())
		}
		// The next run would be as slow, so that this one was the only one.
		if b.table.status != catalog.Failed || b.table.outcome.Failure.Code != catalog.TimedOut || len(b.line.jobs) > 0 {
			t.Errorf("%s, sent again %d times", b.table.status, len(b.line.jobs))
		}
	})
}

func TestLeasedComesBack(t *testing.T) {
	b := newBench(t)
	b.table.status, b.table.lease, b.table.until = catalog.Processing, "other", b.clock+1
	if b.deliver() {
		t.Error("a message was taken whose job another run holds")
	}
	b.clock += 2
	if !b.deliver() || b.table.status != catalog.Completed {
		t.Errorf("when the lease has ended: %s", b.table.status)
	}
}

func TestRunsThatDieAreNotBegunForever(t *testing.T) {
	b := newBench(t)
	for range 6 {
		b.table.attempts++ // claimed by runs that never came to an end
	}
	b.table.status, b.table.until = catalog.Processing, b.clock-1
	if !b.deliver() || b.table.status != catalog.Failed || b.table.outcome.Failure.Code != catalog.InternalFailure || len(b.documents.asked) > 0 {
		t.Errorf("%s, read %v", b.table.status, b.documents.asked)
	}
}

func TestMessagesOneByOne(t *testing.T) {
	b := newBench(t)
	response, err := b.worker.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{
		{MessageId: "no json", Body: "{"}, {MessageId: "no job", Body: "{}"}, message("good", job), message("again", job),
	}})
	if err != nil || len(response.BatchItemFailures) != 0 || b.table.status != catalog.Completed {
		t.Errorf("%v, %v, %s", response, err, b.table.status)
	}
	b = newBench(t)
	b.table.fail = func(method string) error {
		if method == "claim" {
			return errDown
		}
		return nil
	}
	response, _ = b.worker.Handle(t.Context(), events.SQSEvent{Records: []events.SQSMessage{message("a", job), message("b", job)}})
	if len(response.BatchItemFailures) != 2 || response.BatchItemFailures[0].ItemIdentifier != "a" {
		t.Errorf("%v", response)
	}
}

func TestDeadLetters(t *testing.T) {
	bury := func(b *bench) (failed int) {
		event, _ := json.Marshal(events.SQSEvent{Records: []events.SQSMessage{message("m", job), {MessageId: "x", Body: "?"}}})
		response, err := b.sweeper.Handle(t.Context(), event)
		if err != nil {
			t.Fatal(err)
		}
		return len(response.BatchItemFailures)
	}
	for _, c := range []struct {
		name   string
		set    func(b *bench)
		status catalog.ProcessingStatus
		back   int
	}{
		{"pending", func(*bench) {}, catalog.Failed, 0},
		{"lease over", func(b *bench) { b.table.status, b.table.until = catalog.Processing, b.clock-1 }, catalog.Failed, 0},
		{"still running", func(b *bench) { b.table.status, b.table.until = catalog.Processing, b.clock+1000 }, catalog.Processing, 1},
		{"completed", func(b *bench) { b.table.status = catalog.Completed }, catalog.Completed, 0},
		{"failed", func(b *bench) { b.table.status = catalog.Failed }, catalog.Failed, 0},
		{"deleted", func(b *bench) { b.table.status = "" }, "", 0},
		{"requested again", func(b *bench) { b.table.requested++ }, catalog.Pending, 0},
		{"store down", func(b *bench) { b.table.fail = func(string) error { return errDown } }, catalog.Pending, 1},
	} {
		b := newBench(t)
		c.set(b)
		if back := bury(b); back != c.back || b.table.status != c.status {
			t.Errorf("%s: %s, %d come back", c.name, b.table.status, back)
		}
		if c.name == "pending" && b.table.outcome.Failure.Code != catalog.InternalFailure {
			t.Errorf("%+v", b.table.outcome)
		}
	}
}

// The message of an earlier request is work to do for a worker, and what it sends
// again is of the request that it found.
func TestMessageOfAnEarlierRequest(t *testing.T) {
	b := newBench(t)
	b.table.requested++
	b.documents.fail = &catalog.Failure{Code: catalog.Unreachable, Message: "why"}
	if !b.deliver() || len(b.line.jobs) != 1 || b.line.jobs[0].RequestedAt != b.table.requested {
		t.Fatalf("%s, sent %v", b.table.status, b.line.jobs)
	}
	b.documents.fail = nil
	if !b.deliver() || b.table.status != catalog.Completed {
		t.Errorf("%s", b.table.status)
	}
}

func TestSweep(t *testing.T) {
	b := newBench(t)
	schedule := json.RawMessage(`{"source":"aws.events","detail-type":"Scheduled Event","resources":[]}`)
	if _, err := b.sweeper.Handle(t.Context(), schedule); err != nil || len(b.line.jobs) != 1 || b.line.jobs[0] != job {
		t.Errorf("%v, sent %v", err, b.line.jobs)
	}
	if !b.table.noneLeft {
		t.Error("an empty queue has messages")
	}
	b.line.waiting = 1
	if _, err := b.sweeper.Handle(t.Context(), schedule); err != nil || b.table.noneLeft {
		t.Errorf("%v, a message waits: %v", err, b.table.noneLeft)
	}
	b.line.jobs = b.line.jobs[:1]
	b.line.down = true
	if _, err := b.sweeper.Handle(t.Context(), schedule); err == nil || b.table.completed != 3 || b.table.expired != 3 {
		t.Errorf("the queue is down: the sweeper says %v and looked at deletions %d times", err, b.table.completed)
	}
	b.line.down = false
	b.table.fail = func(method string) error {
		if method == "complete" {
			return errDown
		}
		return nil
	}
	if _, err := b.sweeper.Handle(t.Context(), schedule); !errors.Is(err, errDown) {
		t.Errorf("a deletion cannot be completed and the sweeper says %v", err)
	}
	// One record that cannot be finished is told, and is not a failure of the run.
	var log bytes.Buffer
	b.sweeper.Log = slog.New(slog.NewJSONHandler(&log, nil))
	b.table.fail = func(method string) error {
		switch method {
		case "complete":
			return errors.Join(&catalog.Unfinished{OrganizationID: "org_1", Kind: catalog.CourseKind, ID: "crs_1", Cause: errDown}, nil)
		case "resend":
			return errDown
		}
		return nil
	}
	if _, err := b.sweeper.Handle(t.Context(), schedule); err != nil || b.table.expired != 5 {
		t.Errorf("one record cannot be finished: %v, and documents were looked at %d times", err, b.table.expired)
	}
	for _, id := range []string{"crs_1", job.ID} {
		if !regexp.MustCompile(`"msg":"unfinished","record":"` + id + `",.*"Unfinished":1,"_aws":.*"Name":"Unfinished"`).MatchString(log.String()) {
			t.Errorf("%s is not told in %s", id, log.String())
		}
	}
	b.table.fail, b.line.jobs = nil, b.line.jobs[:1]
	b.table.status = catalog.Completed
	if _, err := b.sweeper.Handle(t.Context(), schedule); err != nil || len(b.line.jobs) != 1 {
		t.Errorf("%v, sent %v", err, b.line.jobs)
	}
	if _, err := b.sweeper.Handle(t.Context(), json.RawMessage(`[`)); err == nil {
		t.Error("took an event that is none")
	}
}

// More is stuck than one sweep can send: it stops in time, and that is not an error. Of its
// ten seconds five are kept for deletions; one call counts the queue, each other one
// sends a message, eight at a time.
func TestSweepEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.table.endless = true
		b.line.takes = 300 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := b.sweeper.Handle(ctx, json.RawMessage(`{}`))
		if want := (5000/300 - 1) * 8; err != nil || ctx.Err() != nil || len(b.line.jobs) != want || b.table.completed != 1 {
			t.Errorf("%v, %v, sent %d of %d, looked at deletions %d times", err, ctx.Err(), len(b.line.jobs), want, b.table.completed)
		}
	})
}

func TestSendTakesEveryJob(t *testing.T) {
	b := newBench(t)
	var jobs []catalog.ExtractionJob
	for i := range 50 {
		jobs = append(jobs, catalog.ExtractionJob{OrganizationID: "org", Kind: catalog.SectionKind, ID: fmt.Sprint(i)})
	}
	if err := b.worker.Sender.Send(t.Context(), jobs); err != nil || len(b.line.jobs) != 50 {
		t.Errorf("%d sent, %v", len(b.line.jobs), err)
	}
	b.line.down = true
	if err := b.worker.Sender.Send(t.Context(), jobs); err == nil {
		t.Error("the queue is down and nothing is said")
	}
}

// The store fails at any step, before or after it has done what was asked; the
// queue loses, doubles and delays messages; workers die. In the end the extraction
// has ended, and ended once.
func TestEndsOnceWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t)
		faults := map[string]bool{}
		b.table.fail = func(method string) error {
			if faults[method] {
				delete(faults, method)
				return errDown
			}
			return nil
		}
		t.Repeat(map[string]func(*rapid.T){
			"deliver": func(*rapid.T) { b.deliver() },
			"fault": func(t *rapid.T) {
				faults[rapid.SampledFrom([]string{"claim", "claimed", "finish", "finished", "put back", "extracted", "resend"}).Draw(t, "at")] = true
			},
			"document": func(t *rapid.T) {
				b.documents.fail, b.documents.panic = nil, ""
				switch rapid.IntRange(0, 3).Draw(t, "how") {
				case 0:
					b.documents.fail = &catalog.Failure{Code: catalog.Unreachable}
				case 1:
					b.documents.panic = "bad"
				case 2:
					b.documents.fail = &catalog.Failure{Code: catalog.Malformed}
				}
			},
			"queue": func(t *rapid.T) { b.line.down = rapid.Bool().Draw(t, "down") },
			"wait":  func(t *rapid.T) { b.clock += catalog.Time(rapid.SampledFrom([]int{10, 70_000}).Draw(t, "ms")) },
			"sweep": func(t *rapid.T) { _, _ = b.sweeper.Handle(context.Background(), json.RawMessage(`{}`)) },
			"": func(t *rapid.T) {
				if b.table.ends > 1 {
					t.Fatalf("it ended %d times", b.table.ends)
				}
			},
		})
		b.line.down = false
		clear(faults)
		for range 8 {
			b.clock += 200_000
			b.deliver()
		}
		if b.table.ends != 1 {
			t.Fatalf("it ended %d times and is %s after %d runs", b.table.ends, b.table.status, b.table.attempts)
		}
	})
}
