package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/api/metric"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/egress"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/outbox"
	"skillscurriculum/pkg/webhook"
)

const (
	// attemptTime is the timeout for a receiver's response.
	attemptTime = 15 * time.Second
	// connectTime is the timeout for connecting.
	connectTime = 10 * time.Second
	// slowFrom is the response time from which a receiver is slow. Unless its last response
	// was faster, its messages wait for one of its organization's few turns, so that one
	// customer's receivers use few of the deliveries that all customers share.
	slowFrom = 3 * time.Second
	// leaseTime is how long a delivery holds its message and its turn if its function crashes.
	leaseTime = attemptTime + 10*time.Second
	// A message whose turn is taken is retried after holdTime plus a random part of a tenth of
	// the time since the receiver began to fail, bounded by holdSpread and holdMost.
	holdTime, holdSpread, holdMost = 5 * time.Second, 10 * time.Second, 10 * time.Minute
)

// NewClient returns a client that reaches only public addresses and the allowed host:port
// pairs, follows no redirects, and keeps neither connections nor cookies between messages.
func NewClient(allowedHosts []string) *http.Client {
	dialer := egress.Dialer{AllowedHosts: allowedHosts, Timeout: connectTime}
	return &http.Client{
		Transport: &http.Transport{ // a nil Proxy ignores the environment
			DialContext: dialer.DialContext, TLSHandshakeTimeout: connectTime, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// deliver makes an attempt at a message, unless it was made already or is no longer wanted.
func (w *Worker) deliver(ctx context.Context, m catalog.WebhookMessage) error {
	until := w.Now() + catalog.Time(leaseTime.Milliseconds())
	hooks, mine, err := w.Store.ClaimMessage(ctx, m, until)
	if err != nil || !mine { // the holder makes the attempt; the schedule finds the row if it crashes
		return err
	}
	hook := hooks.Find(m.WebhookID)
	if hook == nil || !hook.Enabled && m.Type != catalog.TestType {
		return w.Store.DropMessage(ctx, m)
	}
	if !hooks.Quick[hook.ID] {
		mine, err := w.Store.TakeTurn(ctx, m, until)
		if err != nil {
			return err
		}
		if !mine {
			return w.hold(ctx, m, hooks.Failing[hook.ID])
		}
	}
	a, wish, err := w.attempt(ctx, hook, m)
	if err != nil {
		return err
	}
	reason := w.reasonToDisable(hooks, hook, a)
	wait, again := w.Schedule.Next(m.Attempt, wish, w.Chance())
	again = again && a.Outcome != catalog.Delivered && reason == ""
	queued := again && wait <= outbox.MaxDelay
	if again {
		a.NextAttemptAt = new(w.Now() + catalog.Time(wait.Milliseconds()))
	}
	w.log(m, a)
	if err := w.Store.SaveAttempt(ctx, m, a, queued); err != nil {
		return err
	}
	if queued {
		next := m
		next.Attempt++
		if err := w.Queue.SendLater(ctx, next, wait); err != nil {
			// The schedule finds its row.
			w.Log.WarnContext(ctx, "attempt not queued", "message", m.ID, "cause", err.Error())
		}
	}
	err = w.mark(ctx, hooks, m, a, reason == "")
	if reason != "" {
		err = errors.Join(err, w.Store.DisableWebhook(ctx, hook.OrganizationID, hook.ID, reason))
	}
	return err
}

// mark records whether a webhook fails, unless it is to be disabled, and whether it responds quickly, if that has
// changed. It ends the turn of a message that needed one.
func (w *Worker) mark(
	ctx context.Context, hooks *catalog.Webhooks, m catalog.WebhookMessage, a catalog.WebhookAttempt, enabled bool,
) (err error) {
	var since *catalog.Time
	_, fails := hooks.Failing[m.WebhookID]
	switch worked := a.Outcome == catalog.Delivered; {
	case enabled && worked && fails:
		since = new(catalog.Time(0))
	case enabled && !worked && !fails:
		since = &a.At
	}
	var pace *bool
	slow := a.Outcome == catalog.ReceiverTimedOut || a.DurationMs >= int(slowFrom.Milliseconds())
	quick := hooks.Quick[m.WebhookID]
	if quick == slow {
		pace = new(!slow)
	}
	if since != nil || pace != nil {
		err = w.Store.MarkWebhook(ctx, m.OrganizationID, m.WebhookID, since, pace)
	}
	if !quick {
		err = errors.Join(err, w.Store.EndTurn(ctx, m))
	}
	return err
}

// hold postpones a message whose turn is taken. since is when the receiver began to fail, 0 for one that works.
func (w *Worker) hold(ctx context.Context, m catalog.WebhookMessage, since catalog.Time) error {
	spread := holdSpread
	if since > 0 {
		spread = min(max(holdSpread, time.Duration(w.Now()-since)*time.Millisecond/10), holdMost)
	}
	wait := holdTime + time.Duration(w.Chance()*float64(spread))
	if err := w.Store.HoldMessage(ctx, m, w.Now()+catalog.Time(wait.Milliseconds())); err != nil {
		return err
	}
	return w.Queue.SendLater(ctx, m, wait)
}

// reasonToDisable returns why a webhook must be disabled after an attempt: the receiver is
// gone, or has failed for too long. It returns "" if there is no reason.
func (w *Worker) reasonToDisable(hooks *catalog.Webhooks, hook *catalog.Webhook, a catalog.WebhookAttempt) string {
	since, fails := hooks.Failing[hook.ID]
	switch {
	case a.StatusCode != nil && *a.StatusCode == http.StatusGone:
		return catalog.ReceiverGone
	case a.Outcome != catalog.Delivered && fails && a.At-since >= catalog.Time(w.Schedule.Patience().Milliseconds()):
		return catalog.ReceiverFailing
	}
	return ""
}

// attempt sends a message once. wish is the delay that the receiver asks for before the next attempt.
func (w *Worker) attempt(ctx context.Context, hook *catalog.Webhook,
	m catalog.WebhookMessage) (a catalog.WebhookAttempt, wish time.Duration, err error) {
	var secrets []string
	for _, sealed := range hook.LiveSecrets(w.Now()) {
		secret, err := w.Cipher.Open(webhook.Owner(hook.OrganizationID, hook.ID), sealed)
		if err != nil {
			return a, 0, fmt.Errorf("webhook %s: %w", hook.ID, err)
		}
		secrets = append(secrets, string(secret))
	}
	resource := m.Resource
	if resource == string(catalog.ImportKind) { // which is not a record of the catalog
		resource = catalog.ImportKind.Resource()
	}
	body, err := json.Marshal(webhook.Content{Type: m.Type, Timestamp: m.At, Data: webhook.ContentData{
		ID: m.RecordID, Resource: resource, Change: m.Change, Href: api.BasePath + m.Href, Cursor: m.Cursor,
	}})
	if err != nil {
		return a, 0, err
	}
	start := time.Now()
	a = catalog.WebhookAttempt{MessageID: m.ID, Type: m.Type, Attempt: m.Attempt, At: w.Now()}
	header, err := webhook.Sign(m.ID, a.At, body, secrets)
	if err != nil {
		return a, 0, err
	}
	header["Content-Type"], header["User-Agent"] = []string{api.JSON}, []string{"skills-curriculum-service (webhooks)"}
	if address.Check(hook.URL, w.Allowed) != nil { // the allowed hosts may have changed
		a.Outcome = catalog.ReceiverForbidden
		return a, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, bytes.NewReader(body))
	if err != nil {
		return a, 0, err
	}
	request.Header = header
	response, err := w.Client.Do(request)
	a.DurationMs = int(time.Since(start).Milliseconds())
	if err != nil {
		a.Outcome = resultOf(err)
		return a, 0, nil
	}
	_ = response.Body.Close() // unread
	a.StatusCode = &response.StatusCode
	switch response.StatusCode / 100 {
	case 2:
		a.Outcome = catalog.Delivered
	case 3:
		a.Outcome = catalog.ReceiverRedirected
	default:
		a.Outcome = catalog.ReceiverRefused
	}
	return a, webhook.RetryAfter(response.Header.Get("Retry-After"), time.Now()), nil
}

func resultOf(err error) catalog.AttemptOutcome {
	var timeout net.Error
	switch {
	case egress.Forbidden(err):
		return catalog.ReceiverForbidden
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return catalog.ReceiverTimedOut
	}
	return catalog.ReceiverUnreached
}

var metrics = metric.New([]string{"Outcome", "Kind"}, "Deliveries:Count", "DeliveryFailures:Count",
	"Latency:Milliseconds", "Wait:Milliseconds")

// log writes one line for the attempt; only the status in it comes from the receiver.
func (w *Worker) log(m catalog.WebhookMessage, a catalog.WebhookAttempt) {
	failures, wait := 0, int64(0)
	if a.Outcome != catalog.Delivered {
		failures = 1
	}
	if m.Attempt == 1 { // retries wait on purpose
		wait = max(0, int64(a.At-m.At))
	}
	status := 0
	if a.StatusCode != nil {
		status = *a.StatusCode
	}
	w.Log.LogAttrs(context.Background(), slog.LevelInfo, "delivery",
		slog.String("organization", string(m.OrganizationID)), slog.String("webhook", m.WebhookID),
		slog.String("message", m.ID), slog.String("type", m.Type),
		slog.Int("attempt", m.Attempt), slog.Int("status", status), slog.String("Outcome", string(a.Outcome)),
		slog.String("Kind", api.Deliverer),
		slog.Int("Deliveries", 1), slog.Int("DeliveryFailures", failures), slog.Int("Latency", a.DurationMs),
		slog.Int64("Wait", wait), metrics.At(w.Now()))
}
