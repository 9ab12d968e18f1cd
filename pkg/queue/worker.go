// Package queue runs the extraction jobs that SQS delivers: Worker runs them, and Sweeper resends lost ones and fails
// those that cannot succeed.
//
// A message is only a hint that there is work, which the record's row decides: messages may be lost, duplicated, late
// and out of order. Invariant: whatever happens to messages and workers, an extraction ends COMPLETED or FAILED exactly
// once.
package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/api/metric"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/outbox"
)

// ClaimStore claims and finishes extractions.
type ClaimStore interface {
	// Claim leases an extraction to a run until an instant. It returns catalog.ErrFinished if there is nothing to do or
	// the request is not the job's, and catalog.ErrLeased if another run has the lease.
	Claim(ctx context.Context, job catalog.ExtractionJob, lease string, until catalog.Time) (*catalog.Task, error)
	// Finish ends a claimed extraction. It returns catalog.ErrFinished if the run has lost the lease.
	Finish(ctx context.Context, task *catalog.Task, outcome *catalog.ExtractionResult) error
}

// WorkerStore is the part of the table that a worker uses.
type WorkerStore interface {
	ClaimStore
	// PutBack makes a claimed extraction PENDING again, waiting from an instant on.
	PutBack(ctx context.Context, task *catalog.Task, from catalog.Time) error
	// Extracted returns the outcome of an earlier extraction of the same text.
	Extracted(
		ctx context.Context, org catalog.OrgID, p catalog.Provenance, words string,
	) (*catalog.ExtractionResult, error)
	// Text returns the text of an extraction of a text.
	Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error)
}

// Documents reads syllabi and texts. Errors that are the document's are a *catalog.Failure.
type Documents interface {
	// Fetch reads the syllabus from its address or from the uploaded document.
	Fetch(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error)
	Plain(ctx context.Context, words string) (catalog.SyllabusText, error)
}

// Extractor finds the skills of a document; package extraction implements it.
type Extractor interface {
	Extract(ctx context.Context, doc catalog.SyllabusText) (catalog.ExtractionResult, error)
	// Statement reads the statement of an outcome.
	Statement(ctx context.Context, statement string) (catalog.StatementResult, error)
}

// Worker runs extractions.
type Worker struct {
	Store      WorkerStore
	Sender     *outbox.Jobs
	Documents  Documents
	Extractor  Extractor
	Provenance catalog.Provenance // engine and taxonomy
	RetryDelay time.Duration      // after the first transient failure; doubles each time
	Now        func() catalog.Time
	IDs        catalog.IDs
	Log        *slog.Logger
	// Trace annotates the trace of a run; nil for none.
	Trace func(ctx context.Context, operation string, start time.Time, annotations map[string]string)
}

const (
	// maxTries limits the attempts at a document that fails transiently.
	maxTries = 3
	// maxRuns limits the runs of an extraction, including runs that died.
	maxRuns = 6
	// leaseMargin is the time by which a lease outlives its run.
	leaseMargin = 5 * time.Second
	// finishReserve is the time that a run reserves for saving its outcome.
	finishReserve = 4 * time.Second
)

// Handle runs the jobs of an event. A job that another run has leased, or that could not be
// finished, is a failed item of the response and redelivered.
func (w *Worker) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	for _, message := range event.Records {
		var job catalog.ExtractionJob
		if err := json.Unmarshal([]byte(message.Body), &job); err != nil || job.ID == "" {
			w.Log.ErrorContext(ctx, "message is not a job", "messageId", message.MessageId)
			continue
		}
		if err := w.run(ctx, job, message); err != nil {
			w.Log.WarnContext(ctx, "extraction is redelivered", "record", job.ID, "cause", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
		}
	}
	return response, nil
}

func (w *Worker) run(ctx context.Context, job catalog.ExtractionJob, message events.SQSMessage) error {
	start := w.Now()
	job.RequestedAt = 0 // a message is a hint that there is work, of this request or a later one
	end := time.Now().Add(time.Minute)
	if deadline, ok := ctx.Deadline(); ok {
		end = deadline
	}
	task, err := w.Store.Claim(ctx, job, w.IDs.New("run_"), catalog.TimeOf(end.Add(leaseMargin)))
	if errors.Is(err, catalog.ErrFinished) {
		return nil
	}
	if err != nil {
		return err
	}
	working, cancel := context.WithDeadline(ctx, end.Add(-finishReserve))
	defer cancel()
	outcome := w.extract(working, task)
	// A document that used up the time of one run would use up the next one's too; slow servers time out earlier.
	inTime := working.Err() == nil
	if f := outcome.Failure; f != nil && f.Code.Transient() && inTime && task.Attempt < maxTries {
		delay := w.RetryDelay << (task.Attempt - 1)
		err := w.Store.PutBack(ctx, task, w.Now()+catalog.Time(delay.Milliseconds()))
		if err != nil && !errors.Is(err, catalog.ErrFinished) {
			return err
		}
		w.log(ctx, task, "PENDING", outcome, message, start)
		if err := w.Sender.SendLater(ctx, task.Job, delay); err != nil {
			// The sweeper sends it.
			w.Log.WarnContext(ctx, "retry not queued", "record", job.ID, "cause", err.Error())
		}
		return nil
	}
	if err := w.Store.Finish(ctx, task, outcome); err != nil && !errors.Is(err, catalog.ErrFinished) {
		return err
	}
	w.log(ctx, task, "finished", outcome, message, start)
	return nil
}

// extract returns the outcome of one run. It never panics, whatever the document.
func (w *Worker) extract(ctx context.Context, task *catalog.Task) (outcome *catalog.ExtractionResult) {
	defer func() {
		if p := recover(); p != nil {
			w.Log.ErrorContext(ctx, "extraction panicked",
				"record", task.Job.ID, "cause", fmt.Sprint(p), "stack", string(debug.Stack()))
			outcome = failed(catalog.InternalFailure, "The extraction failed with an internal error.")
		}
	}()
	if task.Attempt > maxRuns {
		return failed(catalog.InternalFailure, "The extraction was started too often without completing.")
	}
	provenance := w.Provenance
	provenance.Source = task.Source
	if task.Source == catalog.FromOutcomes {
		return w.outcomes(ctx, task, provenance)
	}
	if task.Source != catalog.FromSyllabus && task.Description == "" {
		return &catalog.ExtractionResult{Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}, Provenance: provenance}
	}
	document, err := w.document(ctx, task)
	var failure *catalog.Failure
	if errors.As(err, &failure) {
		return &catalog.ExtractionResult{Failure: failure}
	}
	if err != nil {
		return failed(catalog.InternalFailure, "The syllabus could not be loaded because of an internal error.")
	}
	provenance.DocumentSHA256 = document.SHA256
	if task.Source == catalog.FromSyllabus { // extracting a description takes no longer than the look-up
		known, err := w.Store.Extracted(ctx, task.Job.OrganizationID, provenance, document.Text)
		if err == nil && known != nil {
			known.Text, known.Provenance = document.Text, provenance
			return known
		}
	}
	found, err := w.Extractor.Extract(ctx, document)
	if err != nil {
		return failed(catalog.TimedOut, "The skills were not extracted in the remaining time.")
	}
	found.Provenance, found.Text = provenance, document.Text
	if task.Source == catalog.FromDescription {
		catalog.Locate(found.Evidence, task.Description)
	}
	return &found
}

// maxStatementSkills is the maximum number of skills that are extracted from a statement, so that a list fits its row.
const maxStatementSkills = 30

// outcomes reads the statements of a list that are unread, or takes the skills of a course's outcomes for its section.
func (w *Worker) outcomes(
	ctx context.Context, task *catalog.Task, provenance catalog.Provenance,
) *catalog.ExtractionResult {
	if task.Job.Kind != catalog.OutcomeListKind {
		return &catalog.ExtractionResult{
			Skills: task.Outcomes.Union(), Evidence: []catalog.Evidence{}, Provenance: provenance,
		}
	}
	result := &catalog.ExtractionResult{Provenance: provenance, Statements: map[string]catalog.StatementResult{}}
	for _, o := range task.Outcomes.Outcomes {
		if !o.Unread {
			continue
		}
		read, err := w.Extractor.Statement(ctx, o.Statement)
		if err != nil {
			return failed(catalog.TimedOut, "The statements were not read in the remaining time.")
		}
		read.Statement, read.Skills = o.Statement, read.Skills[:min(len(read.Skills), maxStatementSkills)]
		result.Statements[o.ID] = read
	}
	return result
}

func failed(code catalog.FailureCode, message string) *catalog.ExtractionResult {
	return &catalog.ExtractionResult{Failure: &catalog.Failure{Code: code, Message: message}}
}

// document reads the document of a task: a description, a syllabus, or the text sent instead of one.
func (w *Worker) document(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	if task.Source == catalog.FromDescription {
		return w.Documents.Plain(ctx, task.Description)
	}
	if task.SyllabusHref != "" || task.DocumentID != "" {
		return w.Documents.Fetch(ctx, task)
	}
	words, err := w.Store.Text(ctx, task.Job.OrganizationID, task.Job.ID)
	if err != nil {
		return catalog.SyllabusText{}, err
	}
	return w.Documents.Plain(ctx, string(words))
}

var metrics = metric.New([]string{"FailureCode", "Kind"},
	"Extractions:Count", "ExtractionFailures:Count", "Latency:Milliseconds", "Wait:Milliseconds")

// log writes the run's line, without anything from the document.
func (w *Worker) log(
	ctx context.Context, task *catalog.Task, end string, outcome *catalog.ExtractionResult, message events.SQSMessage,
	start catalog.Time,
) {
	code, failures := "none", 0
	if outcome.Failure != nil {
		code, failures = string(outcome.Failure.Code), 1
	}
	if w.Trace != nil {
		w.Trace(ctx, "extraction", time.UnixMilli(int64(start)), map[string]string{
			"operation": "extraction", "organization": string(task.Job.OrganizationID), "end": code,
		})
	}
	// Retries wait on purpose.
	sent, err := strconv.ParseInt(message.Attributes["SentTimestamp"], 10, 64)
	if err != nil || task.Attempt > 1 {
		sent = int64(start)
	}
	w.Log.LogAttrs(context.Background(), slog.LevelInfo, "extraction",
		slog.String("record", task.Job.ID), slog.String("organization", string(task.Job.OrganizationID)),
		slog.Int("attempt", task.Attempt), slog.String("end", end), slog.String("FailureCode", code),
		slog.Int("Extractions", 1), slog.Int("ExtractionFailures", failures), slog.String("Kind", api.Extractor),
		slog.Int64("Latency", int64(w.Now()-start)), slog.Int64("Wait", max(0, int64(start)-sent)),
		slog.Int("skills", len(outcome.Skills)), metrics.At(w.Now()))
}
