// Package delivery turns the changes in organizations' feeds into messages and delivers them to webhooks.
//
// The feed is the outbox: the position up to which it has been dispatched is stored after the messages, and a message
// has a row until it is delivered or abandoned. The table's stream and the queue are only hints that there is work; a
// schedule finds work whose hint was lost. Invariant: whatever happens to events and functions, each change that a
// webhook subscribes to becomes a message, always with the same id, and is attempted until it is delivered, its
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

// Store is the worker's view of the table.
type Store interface {
	// Undispatched returns the organization's webhooks and its undispatched changes; guess is
	// where they may begin, nil if unknown.
	Undispatched(ctx context.Context, org catalog.OrgID, guess *catalog.Cursor, limit int) (w *catalog.Webhooks,
		changes []catalog.RecordChange, more bool, err error)
	// SaveDispatched stores the position up to which the feed is dispatched. It returns
	// catalog.ErrStale if the position or the webhooks have changed since they were loaded.
	SaveDispatched(ctx context.Context, org catalog.OrgID, w *catalog.Webhooks, to catalog.Cursor) error
	// AddMessage stores a message, unless it exists.
	AddMessage(ctx context.Context, m catalog.WebhookMessage) error
	// ClaimMessage holds a message for its next attempt until an instant. It reports whether
	// the attempt is neither done nor in progress; w are the current webhooks.
	ClaimMessage(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) (w *catalog.Webhooks,
		mine bool, err error)
	// SaveAttempt stores an attempt, and when the next is due; queued means that the next was
	// sent to the queue, so that the row is due only later, in case the queue loses it. It
	// ends the hold on the message, as HoldMessage and DropMessage do.
	SaveAttempt(ctx context.Context, m catalog.WebhookMessage, a catalog.WebhookAttempt, queued bool) error
	// HoldMessage postpones the next attempt at a message until an instant, at which the queue delivers it.
	HoldMessage(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) error
	// DropMessage ends a message without another attempt.
	DropMessage(ctx context.Context, m catalog.WebhookMessage) error
	// MarkWebhook stores since when a webhook has been failing, 0 if it works, and whether its last response was quick.
	// nil changes nothing; the earliest failure since the last success is kept.
	MarkWebhook(ctx context.Context, org catalog.OrgID, webhookID string, failingSince *catalog.Time, quick *bool) error
	// TakeTurn reserves one of an organization's few turns for a message until an instant. It
	// reports whether the turn was free; EndTurn releases it.
	TakeTurn(ctx context.Context, m catalog.WebhookMessage, until catalog.Time) (bool, error)
	EndTurn(ctx context.Context, m catalog.WebhookMessage) error
	// DisableWebhook disables a webhook for a reason.
	DisableWebhook(ctx context.Context, org catalog.OrgID, webhookID, reason string) error
	// DueMessages visits the messages with a due attempt that the queue may have lost.
	DueMessages(ctx context.Context,
		visit func(resend func(context.Context) (m catalog.WebhookMessage, due bool, err error)) error) error
	// WebhookOrganizations visits the organizations with an enabled webhook.
	WebhookOrganizations(ctx context.Context, visit func(catalog.OrgID) error) error
}

// Queue is the queue of messages to deliver. The schedule finds messages that it loses.
type Queue interface {
	SendLater(ctx context.Context, m catalog.WebhookMessage, delay time.Duration) error
	Wake(ctx context.Context, org catalog.OrgID) error
}

// Worker creates and delivers messages.
type Worker struct {
	Store     Store
	Queue     Queue
	Client    *http.Client // see NewClient
	Allowed   []string     // host:port pairs that may be private or use plain http
	Cipher    webhook.Cipher
	Schedule  webhook.Schedule
	FeedPlace func(partitionKey, sortKey string) (org catalog.OrgID, begins catalog.Cursor, ok bool)
	Now       func() catalog.Time
	Chance    func() float64 // a random number in [0, 1)
	Log       *slog.Logger
}

// record is a record of an event of the table's stream or of the queue.
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

// inParallel is how many organizations or messages of an event are processed at a time.
const inParallel = 8

// Handle handles events of the table's stream, of the queue, and of the schedule, which have no records.
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

// streamed dispatches the changes that the table's stream hints at. Errors are left to the schedule.
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
				w.Log.WarnContext(ctx, "changes not dispatched", "organization", org, "cause", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait()
}

// queued delivers messages, and dispatches changes for those that name no webhook. Messages
// that failed are reported as batch item failures, so that SQS redelivers them.
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
			response.BatchItemFailures = append(response.BatchItemFailures,
				events.SQSBatchItemFailure{ItemIdentifier: records[i].MessageID})
		}
	}
	return response
}

const (
	// piece is how many changes are read at a time, and how many messages (plus those of the
	// last change) are created at most before the position is stored.
	piece = 100
	// pieces is how many of them one event processes; the rest is left to another event, so
	// that one organization's import does not hold up the others.
	pieces = 3
	// dispatchReserve is how much of the function's time a dispatch leaves.
	dispatchReserve = 8 * time.Second
)

// dispatch creates messages for the organization's changes, unless the first of them is
// younger than age ms; 0 means any age. guess is where they may begin.
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
			// A page that is still being filled will be read again anyway, so the position is
			// not stored if none of its changes made a message.
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
		guess = nil // the position is stored
	}
	return w.Queue.Wake(ctx, org)
}

// next returns the messages of the first changes, and the number of those changes.
func next(hooks *catalog.Webhooks, org catalog.OrgID,
	changes []catalog.RecordChange) (messages []catalog.WebhookMessage, made int) {
	for _, c := range changes {
		if messages = append(messages, hooks.Messages(org, c)...); len(messages) >= piece {
			return messages, made + 1
		}
		made++
	}
	return messages, made
}

// begin stores new messages and sends them, in parallel. A message that is sent but not
// stored is created again with the same id, because the position is not stored then.
func (w *Worker) begin(ctx context.Context, messages []catalog.WebhookMessage) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(2 * inParallel)
	for _, m := range messages {
		group.Go(func() error { return w.Store.AddMessage(ctx, m) })
		group.Go(func() error {
			if err := w.Queue.SendLater(ctx, m, 0); err != nil {
				// The schedule finds its row.
				w.Log.WarnContext(ctx, "message not queued", "message", m.ID, "cause", err.Error())
			}
			return nil
		})
	}
	return group.Wait()
}

const (
	// sweepReserve is how much of the function's time a sweep leaves.
	sweepReserve = 3 * time.Second
	// hintTime is how long, in ms, the table's stream has to hint at a change.
	hintTime = 20_000
)

// sweep sends the messages with a due attempt and dispatches changes without a hint, as far as its time allows.
func (w *Worker) sweep(ctx context.Context) error {
	sweeping, cancel := ctx, func() {}
	if deadline, ok := ctx.Deadline(); ok {
		sweeping, cancel = context.WithDeadline(ctx, deadline.Add(-sweepReserve))
	}
	defer cancel()
	err := errors.Join(
		sweep(sweeping, w.Store.DueMessages,
			func(ctx context.Context, resend func(context.Context) (catalog.WebhookMessage, bool, error)) error {
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
		return nil // the next sweep continues
	}
	return err
}

// sweep calls do for every visited value, several in parallel.
func sweep[T any](ctx context.Context, visit func(context.Context, func(T) error) error,
	do func(context.Context, T) error) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(inParallel)
	err := visit(groupCtx, func(each T) error {
		group.Go(func() error { return do(groupCtx, each) })
		return groupCtx.Err()
	})
	return errors.Join(err, group.Wait())
}
