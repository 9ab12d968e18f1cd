// Package importer runs the imports of organizations, one at a time for each: it reads an uploaded file with package
// intake, imports its rows with package upsert, and saves how far it is in the transactions of the rows themselves.
//
// A message is only a hint that an organization has imports to run; the rows of the imports decide. Invariants: every
// row of a file takes effect and is counted once, whatever happens to messages and runs; of several runs of one import
// only the latest can save anything.
package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/api/metric"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

// Store is the part of the table that imports use.
type Store interface {
	upsert.Store
	// NextImport returns the first import of an organization that has not ended, nil if there is none, and whether others
	// wait behind it.
	NextImport(ctx context.Context, org catalog.OrgID) (next *catalog.Import, more bool, err error)
	ImportDetails(ctx context.Context, org catalog.OrgID, id string) (*catalog.ImportDetails, error)
	// RejectedRows visits the rows that an import has rejected, by their number among the rows of a kind.
	RejectedRows(
		ctx context.Context, org catalog.OrgID, id string, visit func(kind catalog.Kind, row int, reason string),
	) error
}

// Files reads the files of documents and keeps those of rejected rows.
type Files interface {
	service.Uploads
	Read(ctx context.Context, org catalog.OrgID, documentID string) ([]byte, error)
	// WriteRejects stores the file of the rows that an import has rejected.
	WriteRejects(ctx context.Context, org catalog.OrgID, importID string, file *os.File) error
}

// Queue receives organizations with imports to run.
type Queue interface {
	SendImports(ctx context.Context, org catalog.OrgID) error
}

// Worker runs imports.
type Worker struct {
	Store  Store
	Files  Files
	Queue  Queue
	Loader upsert.Loader
	Now    func() catalog.Time
	IDs    catalog.IDs
	Log    *slog.Logger
}

const (
	// maxRuns limits the runs of an import that make no progress.
	maxRuns = 4
	// pauseReserve is the part of the function's time that is left once a run pauses, and endReserve the part for saving
	// how the run has ended.
	pauseReserve = 15 * time.Second
	endReserve   = 5 * time.Second
	// retries limits the attempts of one run when the table or storage is unavailable, with longer and longer pauses.
	retries    = 6
	firstPause = 500 * time.Millisecond
)

// Reasons for the end of a run that are not errors.
var (
	errPaused     = errors.New("the time of the run is over")
	errCancelled  = errors.New("the import was cancelled or deleted")
	errSuperseded = errors.New("another run continues the import")
)

// Handle runs the imports of the organizations of an event. Those that could not go on are redelivered.
func (w *Worker) Handle(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
	var response events.SQSEventResponse
	for _, message := range event.Records {
		var m struct {
			OrganizationID catalog.OrgID `json:"organizationId"`
		}
		if err := json.Unmarshal([]byte(message.Body), &m); err != nil || m.OrganizationID == "" {
			w.Log.ErrorContext(ctx, "message names no organization", "messageId", message.MessageId)
			continue
		}
		if err := w.runAll(ctx, m.OrganizationID); err != nil {
			w.Log.WarnContext(ctx, "imports are redelivered", "organization", string(m.OrganizationID), "cause", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: message.MessageId})
		}
	}
	return response, nil
}

// runAll runs the imports of an organization in the order of their creation. When its time is over, it leaves the rest
// to another message.
func (w *Worker) runAll(ctx context.Context, org catalog.OrgID) error {
	end := time.Now().Add(time.Minute)
	if deadline, ok := ctx.Deadline(); ok {
		end = deadline
	}
	pause := firstPause
	for attempt := 1; ; {
		next, _, err := w.Store.NextImport(ctx, org)
		if err == nil && next == nil {
			return nil
		}
		if err == nil && time.Until(end) < pauseReserve {
			return w.Queue.SendImports(ctx, org)
		}
		if err == nil {
			err = w.run(ctx, next, end.Add(-pauseReserve))
		}
		switch {
		case err == nil:
			attempt, pause = 1, firstPause
			continue
		case errors.Is(err, errPaused):
			return w.Queue.SendImports(ctx, org)
		case errors.Is(err, errCancelled):
			continue
		case errors.Is(err, errSuperseded): // it runs those behind, too
			return nil
		case attempt == retries || !catalog.HasCode(err, catalog.Unavailable) && !errors.Is(err, catalog.ErrStale):
			return err
		}
		attempt++
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// run continues an import until it ends or the time is over.
func (w *Worker) run(ctx context.Context, i *catalog.Import, end time.Time) (err error) {
	j := &journal{Worker: w, saved: i, end: end}
	start := w.Now()
	defer func() {
		if p := recover(); p != nil {
			w.Log.ErrorContext(ctx, "import panicked",
				"record", i.ID, "cause", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
		j.log(start, err)
	}()
	if i.Runs >= maxRuns {
		return j.fail(ctx, catalog.InternalFailure, "The import was started too often without getting on.")
	}
	if err := j.begin(ctx); err != nil {
		return err
	}
	loading, cancel := context.WithDeadline(ctx, end.Add(pauseReserve-endReserve))
	defer cancel()
	err = w.load(loading, j)
	var failure *intake.Failure
	switch {
	case errors.As(err, &failure):
		if failure.Columns != nil {
			j.details.Columns = columns(failure.Columns, false)
		}
		return j.fail(ctx, failure.Code, failure.Detail)
	case errors.Is(err, context.DeadlineExceeded) && (j.saved.Mode == catalog.CheckOnly || j.saved.Runs == maxRuns):
		return j.fail(ctx, catalog.TimedOut, "The file could not be imported in the time of one run.")
	case errors.Is(err, context.DeadlineExceeded):
		return errPaused
	case err != nil:
		return err
	}
	return j.complete(ctx)
}

// load loads the file of an import: the place where kinds of files are told apart.
func (w *Worker) load(ctx context.Context, j *journal) error {
	org, id := j.saved.OrganizationID, j.saved.DocumentID
	content, err := w.Files.Read(ctx, org, id)
	var document *catalog.Document
	if err == nil {
		document, err = service.Get[*catalog.Document](ctx, w.Store, org, id, true)
	}
	if catalog.HasCode(err, catalog.NotFound) {
		return &intake.Failure{Code: catalog.EmptyDocument, Detail: "The document was deleted before it was imported."}
	}
	if err != nil {
		return err
	}
	return w.loadRows(ctx, j, limited{ctx, bytes.NewReader(content)}, document.FileName)
}

// limited is a file that can be read until a context ends. Package intake has no contexts of its own, and reads even
// what is unpacked from an archive piece by piece.
type limited struct {
	ctx context.Context
	*bytes.Reader
}

func (l limited) ReadAt(p []byte, at int64) (int, error) {
	if err := l.ctx.Err(); err != nil {
		return 0, err
	}
	return l.Reader.ReadAt(p, at)
}

// loadRows imports a file of records.
func (w *Worker) loadRows(ctx context.Context, j *journal, content intake.Content, name string) error {
	o := intake.Options{
		Layout: intake.Layout(j.details.Layout), Resource: entry.KindNamed(j.details.Resource), MaxRows: catalog.MaxImportRows,
		Columns: map[string]string{}, Sheet: catalog.ValueOr(j.saved.Sheet, ""), Owner: catalog.ValueOr(j.saved.OwnerID, ""),
	}
	for header, field := range j.details.Overrides {
		o.Columns[header] = catalog.ValueOr(field, "")
	}
	file, err := intake.Open(content, name, o)
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := j.opened(ctx, file); err != nil {
		return err
	}
	err = w.Loader.Stream(ctx, j.saved.OrganizationID, file.Rows, upsert.Options{
		Check: j.saved.Mode == catalog.CheckOnly, RetireMissing: j.saved.RetireMissing,
	}, upsert.Start{Position: j.saved.Position, Rejected: j.rejected}, j)
	if errors.Is(err, upsert.ErrTooManyMissing) {
		return &intake.Failure{Code: catalog.TooManyMissing, Detail: "The file has less than half of the " +
			"organization's courses or sections with an externalId; nothing was changed."}
	}
	if err == nil {
		err = j.writeRejects(ctx, file)
	}
	return err
}

var metrics = metric.New([]string{"FailureCode", "Kind"}, "Imports:Count", "ImportFailures:Count",
	"Latency:Milliseconds")

// log writes the run's line, without anything from the file.
func (j *journal) log(start catalog.Time, err error) {
	code, failures, end := "none", 0, string(j.saved.Status)
	if j.saved.Failure != nil {
		code, failures = string(j.saved.Failure.Code), 1
	}
	if err != nil {
		end = err.Error()
	}
	j.Log.LogAttrs(context.Background(), slog.LevelInfo, "import",
		slog.String("record", j.saved.ID), slog.String("organization", string(j.saved.OrganizationID)),
		slog.String("end", end), slog.String("FailureCode", code), slog.Int("rows", j.saved.Counts.Read),
		slog.Int("Imports", 1), slog.Int("ImportFailures", failures), slog.String("Kind", api.Importer),
		slog.Int64("Latency", int64(j.Now()-start)), metrics.At(j.Now()))
}
