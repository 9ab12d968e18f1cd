// Package delivery makes messages of the changes in organizations' feeds and delivers
// them to webhooks.
//
// The feed is the outbox: how far it was made into messages is noted behind them, and a
// message has a row until it is delivered or given up. The table's stream and the queue
// are only hints that there is work; a schedule finds what they lose. Invariant:
// whatever happens to events and functions, each change that a webhook asks for becomes
// its message, always of the same id, and is attempted until it is delivered, its
// schedule ends or its webhook is disabled.
package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/webhook"
)

// Store is what the worker needs of the table.
type Store interface {
	// Undispatched returns the organization's webhooks, and changes that are not yet made
	// into messages; guess is where they may begin, nil where nobody knows.
	Undispatched(ctx context.Context, org catalog.OrgID, guess *catalog.Cursor, limit int) (w *catalog.Webhooks, changes []catalog.RecordChange, more bool, err error)
	// SaveDispatched notes up to where the feed was made into messages; catalog.ErrStale
	// when that, or the webhooks, were changed since they were loaded.
	SaveDispatched(ctx context.Context, org catalog.OrgID, w *catalog.Webhooks, to catalog.Cursor) error
	// AddMessage stores a message; one that is there stays as it is.
	AddMessage(ctx context.Context, m catalog.WebhookMessage) error
	// Receiver returns the webhooks as they are now, and how many attempts were made at a
	// message as far as is known.
	Receiver(ctx context.Context, m catalog.WebhookMessage) (w *catalog.Webhooks, made int, err error)
	// SaveAttempt notes an attempt, and when the next is due; queued says that it is sent
	// to the queue, so that it is due here only once that may have lost it.
	SaveAttempt(ctx context.Context, m catalog.WebhookMessage, a catalog.WebhookAttempt, queued bool) error
	// HoldMessage puts the next attempt at a message off until an instant, at which the
	// queue has it.
	HoldMessage(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) error
	// DropMessage ends a message without another attempt.
	DropMessage(ctx context.Context, m catalog.WebhookMessage) error
	// MarkFailing notes since when a webhook fails, MarkWorking that it does not.
	MarkFailing(ctx context.Context, org catalog.OrgID, webhookID string, since catalog.Time) error
	MarkWorking(ctx context.Context, org catalog.OrgID, webhookID string) error
	// MarkSlow notes that the receiver of a message was slow to respond, MarkQuick that it
	// was not; both end the message's turn.
	MarkSlow(ctx context.Context, m catalog.WebhookMessage) error
	MarkQuick(ctx context.Context, m catalog.WebhookMessage) error
	// TakeTurn reserves one of the few turns of a slow receiver for a message until an
	// instant, and reports whether no other has it now.
	TakeTurn(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) (bool, error)
	// DisableWebhook disables a webhook for a reason.
	DisableWebhook(ctx context.Context, org catalog.OrgID, webhookID, reason string) error
	// DueMessages visits the messages with an attempt that is due and may be in no queue.
	DueMessages(ctx context.Context, visit func(resend func(context.Context) (m catalog.WebhookMessage, due bool, err error)) error) error
	// WebhookOrganizations visits the organizations with an enabled webhook.
	WebhookOrganizations(ctx context.Context, visit func(catalog.OrgID) error) error
}

// Queue takes messages that are to be delivered. What it loses, the schedule finds.
type Queue interface {
	SendLater(ctx context.Context, m catalog.WebhookMessage, delay time.Duration) error
	Wake(ctx context.Context, org catalog.OrgID) error
}

// Worker makes messages and delivers them.
type Worker struct {
	Store     Store
	Queue     Queue
	Client    *http.Client // see NewClient
	Allowed   []string     // host:port pairs that may be reached although private or by plain http
	Cipher    webhook.Cipher
	Schedule  webhook.Schedule
	FeedPlace func(partitionKey, sortKey string) (org catalog.OrgID, begins catalog.Cursor, ok bool)
	Now       func() catalog.Time
	Chance    func() float64 // a random number in [0, 1)
	Log       *slog.Logger
}

// record is a record of an event: of the table's stream, or of the queue.
type record struct {
	EventSource string `json:"eventSource"`
	MessageID   string `json:"messageId"`
	Body        string `json:"body"`
	Change      struct {
		Keys map[string]struct{ S string }
	} `json:"dynamodb"`
}

// stream is the event source of the table's stream.
const stream = "aws:dynamodb"

// inParallel is how many organizations, or messages, one event is worked on at a time.
const inParallel = 8

// Handle takes the events of the table's stream, those of the queue, and those of the
// schedule, which have no records.
func (w *Worker) Handle(ctx context.Context, event json.RawMessage) (events.SQSEventResponse, error) {
	var in struct{ Records []record }
	if err := json.Unmarshal(event, &in); err != nil {
		return events.SQSEventResponse{}, fmt.Errorf("event: %w", err)
	}
	switch {
	case len(in.Records) == 0:
		return events.SQSEventResponse{}, w.sweep(ctx)
	case in.Records[0].EventSource == stream:
		w.streamed(ctx, in.Records)
		return events.SQSEventResponse{}, nil
	}
	return w.queued(ctx, in.Records), nil
}

// streamed makes messages of the changes that the table's stream hints at. What goes
// wrong is left to the schedule.
func (w *Worker) streamed(ctx context.Context, records []record) {
	places := map[catalog.OrgID]catalog.Cursor{}
	for _, r := range records {
		org, begins, ok := w.FeedPlace(r.Change.Keys["pk"].S, r.Change.Keys["sk"].S)
		if first, known := places[org]; ok && (!known || begins.Before(first)) {
			places[org] = begins
		}
	}
	var group errgroup.Group
	group.SetLimit(inParallel)
	for org, begins := range places {
		group.Go(func() error {
			if err := w.dispatch(ctx, org, &begins, 0); err != nil {
				w.Log.WarnContext(ctx, "changes are not dispatched", "organization", org, "cause", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait()
}

// queued delivers messages, and makes others where one names no webhook. What could not
// be ended now is redelivered: it is a failed item of the response.
func (w *Worker) queued(ctx context.Context, records []record) (response events.SQSEventResponse) {
	failed := make([]error, len(records))
	var group errgroup.Group
	group.SetLimit(inParallel)
	for i, r := range records {
		group.Go(func() error {
			var m catalog.WebhookMessage
			err := json.Unmarshal([]byte(r.Body), &m)
			switch {
			case err != nil || m.OrganizationID == "":
				w.Log.ErrorContext(ctx, "message is not for a webhook", "messageId", r.MessageID)
			case m.WebhookID == "":
				failed[i] = w.dispatch(ctx, m.OrganizationID, nil, 0)
			default:
				failed[i] = w.deliver(ctx, m)
			}
			return nil
		})
	}
	_ = group.Wait()
	for i, err := range failed {
		if err != nil {
			w.Log.WarnContext(ctx, "message is redelivered", "messageId", records[i].MessageID, "cause", err.Error())
			response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: records[i].MessageID})
		}
	}
	return response
}

const (
	// piece is how many changes are read at a time, and how many messages are made at
	// most before they count as dispatched, but for the last change's.
	piece = 100
	// pieces is how many of them one event makes; the rest is another event's, so that
	// one organization's import does not hold up the others.
	pieces = 3
	// dispatchReserve is what a dispatch leaves of the function's time.
	dispatchReserve = 8 * time.Second
)

// dispatch makes messages of the organization's changes, unless the first of them is
// younger than age ms; 0 for any. guess is where they may begin.
func (w *Worker) dispatch(ctx context.Context, org catalog.OrgID, guess *catalog.Cursor, age catalog.Time) error {
	deadline, limited := ctx.Deadline()
	for range pieces {
		hooks, changes, more, err := w.Store.Undispatched(ctx, org, guess, piece)
		if err != nil || len(changes) == 0 || age > 0 && changes[0].At > w.Now()-age {
			return err
		}
		for len(changes) > 0 {
			if limited && time.Until(deadline) < dispatchReserve {
				return w.Queue.Wake(ctx, org)
			}
			messages, made := next(hooks, org, changes)
			if err := w.begin(ctx, messages); err != nil {
				return err
			}
			at := changes[made-1].Cursor
			changes = changes[made:]
			// A page that is still being filled is read again anyway: where nothing of it was
			// wanted, nothing is noted either.
			if len(messages) > 0 || more || at.Page != hooks.Dispatched.Page {
				err := w.Store.SaveDispatched(ctx, org, hooks, at)
				if errors.Is(err, catalog.ErrStale) {
					return w.Queue.Wake(ctx, org)
				}
				if err != nil {
					return err
				}
			}
		}
		if !more {
			return nil
		}
		guess = nil // where this piece ended is noted
	}
	return w.Queue.Wake(ctx, org)
}

// next returns the messages of the first changes, and of how many.
func next(hooks *catalog.Webhooks, org catalog.OrgID, changes []catalog.RecordChange) (messages []catalog.WebhookMessage, made int) {
	for _, c := range changes {
		if messages = append(messages, hooks.Messages(org, c)...); len(messages) >= piece {
			return messages, made + 1
		}
		made++
	}
	return messages, made
}

// begin stores new messages and sends them, in parallel: a message that is sent but not
// stored is made again, because nothing is noted as dispatched then, and has the same id.
func (w *Worker) begin(ctx context.Context, messages []catalog.WebhookMessage) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * inParallel)
	for _, m := range messages {
		group.Go(func() error { return w.Store.AddMessage(ctx, m) })
		group.Go(func() error {
			if err := w.Queue.SendLater(ctx, m, 0); err != nil {
				// Its row is found by the schedule.
				w.Log.WarnContext(ctx, "message not queued", "message", m.ID, "cause", err.Error())
			}
			return nil
		})
	}
	return group.Wait()
}

const (
	// sweepReserve is what a sweep leaves of the function's time.
	sweepReserve = 3 * time.Second
	// hintTime is how long, in ms, the table's stream has to hint at a change.
	hintTime = 20_000
)

// sweep sends the messages whose attempt is due, and makes messages of changes that
// nothing hinted at, as far as it comes in its time.
func (w *Worker) sweep(ctx context.Context) error {
	sweeping, cancel := ctx, func() {}
	if deadline, ok := ctx.Deadline(); ok {
		sweeping, cancel = context.WithDeadline(ctx, deadline.Add(-sweepReserve))
	}
	defer cancel()
	err := errors.Join(
		sweep(sweeping, w.Store.DueMessages, func(ctx context.Context, resend func(context.Context) (catalog.WebhookMessage, bool, error)) error {
			m, due, err := resend(ctx)
			if err != nil || !due {
				return err
			}
			return w.Queue.SendLater(ctx, m, 0)
		}),
		sweep(sweeping, w.Store.WebhookOrganizations, func(ctx context.Context, org catalog.OrgID) error {
			return w.dispatch(ctx, org, nil, hintTime)
		}),
	)
	if sweeping.Err() != nil && ctx.Err() == nil {
		return nil // the next sweep goes on where this one ended
	}
	return err
}

// sweep does something with each of what is visited, some in parallel.
func sweep[T any](ctx context.Context, visit func(context.Context, func(T) error) error, do func(context.Context, T) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(inParallel)
	err := visit(groupCtx, func(each T) error {
		group.Go(func() error { return do(groupCtx, each) })
		return groupCtx.Err()
	})
	return errors.Join(err, group.Wait())
}
