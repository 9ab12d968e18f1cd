package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/delivery"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/webhook"
)

// delivered creates and delivers the message of a change on a hint of the table's stream. Its organization has one
// webhook, whose receiver accepts everything.
type delivered struct {
	client
	worker *delivery.Worker
	sent   errgroup.Group
}

func newDelivered(ctx context.Context, s *service) (*delivered, error) {
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	d := &delivered{client: c}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	allowed := []string{strings.TrimPrefix(receiver.URL, "http://")}
	cipher, err := webhook.NewCipher(strings.Repeat("key of the bench", 2))
	if err != nil {
		return nil, err
	}
	d.worker = &delivery.Worker{
		Store: c.store, Queue: d, Client: delivery.NewClient(allowed), Allowed: allowed, Cipher: cipher,
		Schedule: webhook.Standard(), FeedPlace: dynamo.FeedPlace, Now: now, Chance: rand.Float64,
		Log: slog.New(slog.DiscardHandler),
	}
	hook := &catalog.Webhook{
		ID: ids.Webhook(), OrganizationID: c.org, CreatedAt: now(), UpdatedAt: now(),
		URL: receiver.URL, Types: []string{"job.created"}, Enabled: true,
	}
	hook.NewSecrets(cipher.Seal(webhook.Owner(c.org, hook.ID), []byte(webhook.NewSecret())), now())
	hooks := &catalog.Webhooks{OrganizationID: c.org}
	if err := hooks.Add(hook); err != nil {
		return nil, err
	}
	return d, c.store.Commit(ctx, c.org, catalog.NewChange(hooks))
}

// SendLater delivers at once, as a separate function would.
func (d *delivered) SendLater(ctx context.Context, m catalog.WebhookMessage, _ time.Duration) error {
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	event := events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", EventSource: "aws:sqs", Body: string(body)}}}
	d.sent.Go(func() error { return d.handle(context.WithoutCancel(ctx), event) })
	return nil
}

// Send implements delivery.Queue.
func (d *delivered) Send(context.Context, []catalog.WebhookMessage) error { return nil }

// Wake implements delivery.Queue.
func (d *delivered) Wake(context.Context, catalog.OrgID) error { return nil }

func (d *delivered) handle(ctx context.Context, event any) error {
	text, err := json.Marshal(event)
	if err != nil {
		return err
	}
	response, err := d.worker.Handle(ctx, text)
	if err == nil && len(response.BatchItemFailures) > 0 {
		err = fmt.Errorf("%d messages were returned", len(response.BatchItemFailures))
	}
	return err
}

// message creates a job and measures the delivery of its message.
func (w *world) message() measurement {
	d := w.webhook
	if w.err == nil {
		_, w.err = d.create(context.Background(), "/jobs", newJob)
	}
	if w.err != nil {
		return nil
	}
	var end catalog.Cursor
	end, w.err = d.store.FeedEnd(context.Background(), d.org)
	record := events.DynamoDBEventRecord{EventSource: "aws:dynamodb"}
	record.Change.Keys = map[string]events.DynamoDBAttributeValue{
		api.PartitionKey: events.NewStringAttribute(api.JournalRows.Key(string(d.org))),
		api.SortKey:      events.NewStringAttribute(fmt.Sprintf("%010d", end.Page)),
	}
	hint := events.DynamoDBEvent{Records: []events.DynamoDBEventRecord{record}}
	return func(ctx context.Context) (price, error) {
		var err error
		cost := costOf(d.counter.during(func() { err = errors.Join(d.handle(ctx, hint), d.sent.Wait()) }))
		return cost, err
	}
}
