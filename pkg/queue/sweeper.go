package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/api/metric"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/outbox"
)

// SweeperStore is the part of the store that the sweeper uses.
type SweeperStore interface {
	ClaimStore
	// Stuck visits the extractions that have waited or run for too long, the oldest first in each shard. With noneLeft,
	// which says that the queue is empty, it visits all that have not ended.
	Stuck(ctx context.Context, noneLeft bool, visit func(catalog.ExtractionJob) error) error
	// Resend returns the job of a stuck extraction to send again; false if it is no longer stuck.
	Resend(
		ctx context.Context, noneLeft bool, job catalog.ExtractionJob,
	) (again catalog.ExtractionJob, stuck bool, err error)
	// StuckImports calls send for each organization with an import that has waited or run for too long since it was sent
	// last.
	StuckImports(ctx context.Context, send func(ctx context.Context, org catalog.OrgID) error) error
	// CompleteDeletions deletes what interrupted deletions have left, and the files of deleted documents. Each deletion
	// that it cannot complete is a *catalog.Unfinished in the error.
	CompleteDeletions(
		ctx context.Context, removeFile func(ctx context.Context, org catalog.OrgID, documentID string) error,
	) error
	// ExpireDocuments deletes documents whose file was not uploaded in time. Errors are as for CompleteDeletions.
	ExpireDocuments(
		ctx context.Context,
		uploaded func(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error),
	) error
}

// Files is the storage of documents' files.
type Files interface {
	Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error)
	Remove(ctx context.Context, org catalog.OrgID, documentID string) error
}

// Sweeper resends extractions whose message or worker was lost, fails those whose message no worker could process,
// completes interrupted deletions, and deletes documents whose file was never uploaded.
type Sweeper struct {
	Store  SweeperStore
	Sender *outbox.Jobs
	// Imports is the queue of imports.
	Imports *Imports
	Files   Files
	Now     func() catalog.Time
	IDs     catalog.IDs
	Log     *slog.Logger
}

// resendsInParallel is the number of extractions resent concurrently.
const resendsInParallel = 8

// sweepReserve is the part of the function's time that is left for deletions.
const sweepReserve = 5 * time.Second

// Handle handles the events of the schedule and of the dead-letter queue.
func (s *Sweeper) Handle(ctx context.Context, event json.RawMessage) (events.SQSEventResponse, error) {
	var letters events.SQSEvent
	if err := json.Unmarshal(event, &letters); err != nil {
		return events.SQSEventResponse{}, fmt.Errorf("event: %w", err)
	}
	if len(letters.Records) > 0 {
		return s.fail(ctx, letters), nil
	}
	return events.SQSEventResponse{}, s.report(ctx, errors.Join(
		s.sweep(ctx), s.Store.StuckImports(ctx, s.Imports.SendImports), s.Store.CompleteDeletions(ctx, s.Files.Remove),
		s.Store.ExpireDocuments(ctx, s.Files.Uploaded)))
}

var sweeps = metric.New([]string{"Kind"}, "Unfinished:Count")

// report logs a line for each unfinished record, and returns the other errors: one bad record must not end the sweep.
func (s *Sweeper) report(ctx context.Context, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var others []error
		for _, one := range joined.Unwrap() {
			others = append(others, s.report(ctx, one))
		}
		return errors.Join(others...)
	}
	unfinished, ok := err.(*catalog.Unfinished)
	if !ok {
		return err
	}
	s.Log.LogAttrs(ctx, slog.LevelError, "unfinished",
		slog.String("record", unfinished.ID), slog.String("organization", string(unfinished.OrganizationID)),
		slog.String("cause", unfinished.Cause.Error()),
		slog.String("Kind", api.Sweeper), slog.Int("Unfinished", 1), sweeps.At(s.Now()))
	return nil
}

// sweep resends stuck extractions, the oldest first, until its time is up.
func (s *Sweeper) sweep(ctx context.Context) error {
	sweeping, cancel := ctx, func() {}
	if deadline, ok := ctx.Deadline(); ok {
		sweeping, cancel = context.WithDeadline(ctx, deadline.Add(-sweepReserve))
	}
	defer cancel()
	empty, err := s.Sender.Empty(sweeping)
	if err != nil {
		return err
	}
	var sent atomic.Int64
	var mu sync.Mutex
	var unfinished []error
	group, sending := errgroup.WithContext(sweeping)
	group.SetLimit(resendsInParallel)
	err = s.Store.Stuck(sending, empty, func(job catalog.ExtractionJob) error {
		group.Go(func() error {
			job, stuck, err := s.Store.Resend(sending, empty, job)
			if err != nil && sending.Err() == nil && !catalog.HasCode(err, catalog.Unavailable) {
				mu.Lock()
				defer mu.Unlock()
				unfinished = append(unfinished, job.Unfinished(err))
				return nil
			}
			if err != nil || !stuck {
				return err
			}
			sent.Add(1)
			return s.Sender.SendLater(sending, job, 0)
		})
		return sending.Err()
	})
	err = errors.Join(err, group.Wait())
	if sweeping.Err() != nil && ctx.Err() == nil {
		err = nil // the next sweep continues
	}
	if sent.Load() > 0 || err != nil {
		s.Log.InfoContext(ctx, "swept", "resent", sent.Load(), "cause", fmt.Sprint(err))
	}
	return errors.Join(append(unfinished, err)...)
}

// fail marks the extractions of dead letters as FAILED unless they have finished or were
// requested again, which has a message of its own.
func (s *Sweeper) fail(ctx context.Context, letters events.SQSEvent) (response events.SQSEventResponse) {
	for _, letter := range letters.Records {
		var job catalog.ExtractionJob
		if err := json.Unmarshal([]byte(letter.Body), &job); err != nil || job.ID == "" {
			s.Log.ErrorContext(ctx, "dead letter is not a job", "messageId", letter.MessageId)
			continue
		}
		task, err := s.Store.Claim(ctx, job, s.IDs.New("run_"), s.Now()+catalog.Time(leaseMargin/time.Millisecond))
		if err == nil {
			err = s.Store.Finish(ctx, task, failed(catalog.InternalFailure, "The extraction could not be completed."))
		}
		if err != nil && !errors.Is(err, catalog.ErrFinished) {
			s.Log.WarnContext(ctx, "dead letter is redelivered", "record", job.ID, "cause", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: letter.MessageId})
			continue
		}
		s.Log.WarnContext(ctx, "dead letter", "record", job.ID, "failed", err == nil)
	}
	return response
}
