package queue

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/pkg/catalog"
)

// SweeperStore is what the sweeper needs of the table.
type SweeperStore interface {
	ClaimStore
	// Stuck visits extractions that wait or run longer than they should.
	Stuck(ctx context.Context, visit func(catalog.ExtractionJob) error) error
	// Resend makes a stuck extraction wait anew; false when it moved on by itself.
	Resend(ctx context.Context, job catalog.ExtractionJob) (bool, error)
}

// Sweeper looks after extractions whose message or worker was lost, and sets those
// FAILED whose message no worker could deal with.
type Sweeper struct {
	Store  SweeperStore
	Sender *Sender
	Now    func() catalog.Time
	IDs    catalog.IDs
	Log    *slog.Logger
}

// Handle takes the events of the schedule and those of the dead-letter queue.
func (s *Sweeper) Handle(ctx context.Context, event json.RawMessage) (events.SQSEventResponse, error) {
	var letters events.SQSEvent
	if err := json.Unmarshal(event, &letters); err != nil {
		return events.SQSEventResponse{}, fmt.Errorf("event: %w", err)
	}
	if len(letters.Records) > 0 {
		return s.bury(ctx, letters), nil
	}
	return events.SQSEventResponse{}, s.sweep(ctx)
}

func (s *Sweeper) sweep(ctx context.Context) error {
	sent := 0
	err := s.Store.Stuck(ctx, func(job catalog.ExtractionJob) error {
		stuck, err := s.Store.Resend(ctx, job)
		if err != nil || !stuck {
			return err
		}
		sent++
		return s.Sender.SendLater(ctx, job, 0)
	})
	if sent > 0 || err != nil {
		s.Log.InfoContext(ctx, "swept", "resent", sent, "cause", fmt.Sprint(err))
	}
	return err
}

// bury sets the extractions of dead letters FAILED, unless they moved on.
func (s *Sweeper) bury(ctx context.Context, letters events.SQSEvent) (response events.SQSEventResponse) {
	for _, letter := range letters.Records {
		var job catalog.ExtractionJob
		if err := json.Unmarshal([]byte(letter.Body), &job); err != nil || job.ID == "" {
			s.Log.ErrorContext(ctx, "dead letter is no job", "messageId", letter.MessageId)
			continue
		}
		task, err := s.Store.Claim(ctx, job, s.IDs.New("run_"), s.Now()+catalog.Time(leaseMargin/time.Millisecond))
		if err == nil {
			err = s.Store.Finish(ctx, task, failed(&catalog.Failure{Code: catalog.InternalFailure, Message: "the extraction could not be brought to an end"}))
		}
		if err != nil && !errors.Is(err, catalog.ErrFinished) {
			s.Log.WarnContext(ctx, "dead letter comes back", "record", job.ID, "cause", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: letter.MessageId})
			continue
		}
		s.Log.WarnContext(ctx, "dead letter", "record", job.ID, "failed", err == nil)
	}
	return response
}
