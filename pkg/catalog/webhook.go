package catalog

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Webhook is a URL that is notified of an organization's changes. It is configuration, not a
// record of the catalog, and does not appear in the change feed.
type Webhook struct {
	ID             string   `json:"id" doc:"Id of the webhook"`
	OrganizationID OrgID    `json:"organizationId"`
	CreatedAt      Time     `json:"createdAt" doc:"When the webhook was created"`
	UpdatedAt      Time     `json:"updatedAt" doc:"When the webhook was last changed"`
	DeletedAt      *Time    `json:"deletedAt" doc:"Always null: a deleted webhook is gone"`
	URL            string   `json:"url" format:"uri" doc:"Address that messages are sent to: https, public, without user name and password; redirects are not followed"`
	Description    *string  `json:"description" doc:"Description of the webhook, for people"`
	Types          []string `json:"types" doc:"Types of messages that are sent there: resource.change as in the change feed (course.changed, transferPackage.deleted), extraction.completed, extraction.failed, articulation.decided, or all of a resource (course.*)"`
	Enabled        bool     `json:"enabled" doc:"Whether messages are sent; true again enables what the service disabled"`
	DisabledReason *string  `json:"disabledReason" enum:"GONE,FAILING" doc:"Why the service disabled it: GONE after a status 410, FAILING after five days in which every attempt failed"`

	Secrets []WebhookSecret `json:"-" store:"secrets"` // the newest first
	From    Cursor          `json:"-" store:"from"`    // changes after it are sent
}

// WebhookSecret is a secret that signs messages, encrypted; Until is nil for the newest one.
type WebhookSecret struct {
	Sealed []byte `json:"sealed"`
	Until  *Time  `json:"until"`
}

// Why the service disables a webhook.
const (
	ReceiverGone    = "GONE"
	ReceiverFailing = "FAILING"
)

// MaxWebhooks is the maximum number of webhooks of an organization.
const MaxWebhooks = 10

// SecretGrace is the time, in ms, for which a secret still signs once there is a newer one.
const SecretGrace = 24 * 60 * 60 * 1000

// MessageTTL is the time, in ms, for which messages and delivery attempts are stored.
const MessageTTL = 7 * 24 * 60 * 60 * 1000

// webhookPrefix and messagePrefix begin the ids of webhooks and messages.
const (
	webhookPrefix = "wh_"
	messagePrefix = "msg_"
)

// Webhook returns the id of a new webhook.
func (s IDs) Webhook() string { return s.New(webhookPrefix) }

// MadeMessage reports whether this service can have made the id for a message. Other ids are never used as keys.
func MadeMessage(id string) bool {
	_, ok := decodeID(messagePrefix, id)
	return ok
}

// NewSecrets adds a new secret. The previous one still signs for SecretGrace, any older one ends at once.
func (w *Webhook) NewSecrets(sealed []byte, now Time) {
	secrets := []WebhookSecret{{Sealed: sealed}}
	if len(w.Secrets) > 0 {
		last := w.Secrets[0]
		last.Until = new(now + SecretGrace)
		secrets = append(secrets, last)
	}
	w.Secrets = secrets
}

// LiveSecrets returns the secrets that sign at an instant, the newest first.
func (w *Webhook) LiveSecrets(now Time) (sealed [][]byte) {
	for _, secret := range w.Secrets {
		if secret.Until == nil || now < *secret.Until {
			sealed = append(sealed, secret.Sealed)
		}
	}
	return sealed
}

// Wants reports whether messages of the type are sent to the webhook.
func (w *Webhook) Wants(messageType string) bool {
	resource, _, _ := strings.Cut(messageType, ".")
	return slices.Contains(w.Types, messageType) || slices.Contains(w.Types, resource+".*")
}

// Webhooks are the webhooks of an organization. They are loaded and saved as a whole, so that there are never too many.
type Webhooks struct {
	OrganizationID OrgID
	List           []*Webhook // in the order of their creation
	Version        int        // grows with each change; 0 means never saved
	Dispatched     Cursor     // up to where the change feed was made into messages
	// Failing has the instants since which every attempt has failed, by webhook id.
	Failing map[string]Time
	// Quick has the webhooks whose last response was quick, by id.
	Quick map[string]bool
	// Forgotten are webhooks whose earlier responses no longer count once this is saved.
	Forgotten []string
}

// Find returns the webhook with that id; nil for none.
func (w *Webhooks) Find(id string) *Webhook {
	if i := slices.IndexFunc(w.List, func(webhook *Webhook) bool { return webhook.ID == id }); i >= 0 {
		return w.List[i]
	}
	return nil
}

// Add adds a webhook.
func (w *Webhooks) Add(webhook *Webhook) error {
	if len(w.List) >= MaxWebhooks {
		return Errorf(Conflict, "The organization has %d webhooks already, which is the maximum: delete one first.",
			MaxWebhooks)
	}
	w.List = append(w.List, webhook)
	return nil
}

// Remove removes a webhook.
func (w *Webhooks) Remove(webhook *Webhook) {
	w.List = slices.DeleteFunc(w.List, func(other *Webhook) bool { return other == webhook })
	w.Forgotten = append(w.Forgotten, webhook.ID)
}

// Disable ends a webhook's messages for a reason.
func (w *Webhooks) Disable(webhook *Webhook, reason string, now Time) {
	webhook.Enabled, webhook.DisabledReason = false, &reason
	webhook.UpdatedAt = webhook.UpdatedAt.After(now)
}

// Undispatched returns the position from which the change feed has yet to become messages; false if no webhook is
// enabled.
func (w *Webhooks) Undispatched() (from Cursor, any bool) {
	for _, webhook := range w.List {
		if webhook.Enabled && (!any || webhook.From.Before(from)) {
			from, any = webhook.From, true
		}
	}
	if from.Before(w.Dispatched) {
		from = w.Dispatched
	}
	return from, any
}

// Messages returns the messages that a change causes.
func (w *Webhooks) Messages(org OrgID, c RecordChange) (messages []WebhookMessage) {
	for _, webhook := range w.List {
		if !webhook.Enabled || !webhook.From.Before(c.Cursor) {
			continue
		}
		for _, messageType := range c.Types() {
			if webhook.Wants(messageType) {
				messages = append(messages, WebhookMessage{
					OrganizationID: org, WebhookID: webhook.ID, ID: messageID(webhook.ID, c.Cursor, messageType), Type: messageType,
					At: c.At, Attempt: 1,
					RecordID: c.ID, Resource: string(c.Kind), Change: c.What, Href: c.Kind.Href(c.ParentID, c.ID),
					Cursor: c.Cursor.String(),
				})
			}
		}
	}
	return messages
}

// messageID is deterministic, so that a change always makes the same message.
func messageID(webhookID string, c Cursor, messageType string) string {
	sum := sha256.Sum256([]byte(webhookID + "|" + c.String() + "|" + messageType))
	return messagePrefix + encoding.EncodeToString(sum[:15])
}

// TestType is the type of test messages.
const TestType = "webhook.test"

// NewTestMessage returns a test message to the webhook.
func (s IDs) NewTestMessage(w *Webhook, end Cursor, now Time) WebhookMessage {
	return WebhookMessage{
		OrganizationID: w.OrganizationID, WebhookID: w.ID, ID: s.New(messagePrefix), Type: TestType, At: now, Attempt: 1,
		RecordID: w.ID, Resource: "Webhook", Change: "test", Href: "/webhooks/" + w.ID, Cursor: end.String(),
	}
}

// WebhookMessage is a message to a webhook before its next attempt. It names the record that
// changed but has none of its content.
type WebhookMessage struct {
	OrganizationID OrgID  `json:"organizationId"`
	WebhookID      string `json:"webhookId"`
	ID             string `json:"messageId"`
	Type           string `json:"type"`
	At             Time   `json:"at"` // of the change
	RecordID       string `json:"recordId"`
	Resource       string `json:"resource"`
	Change         string `json:"change"`
	Href           string `json:"href"` // below the base path
	Cursor         string `json:"cursor"`
	Attempt        int    `json:"attempt"` // the number of the next one, 1 for the first
}

// Organization returns the organization of the webhook.
func (m WebhookMessage) Organization() OrgID { return m.OrganizationID }

// WebhookAttempt is an attempt at delivering a message.
type WebhookAttempt struct {
	MessageID     string         `json:"messageId" doc:"Id of the message, the webhook-id of every attempt"`
	Type          string         `json:"type" doc:"Type of the message"`
	Attempt       int            `json:"attempt" doc:"Number of the attempt, 1 for the first"`
	At            Time           `json:"at" doc:"When the attempt was made"`
	Outcome       AttemptOutcome `json:"outcome" enum:"delivered,refused,redirected,timeout,unreachable,forbidden_address" doc:"Result of the attempt: delivered with a status of 2xx, redirected with 3xx, refused with any other; timeout, unreachable and forbidden_address without a response"`
	StatusCode    *int           `json:"statusCode" doc:"Status of the receiver's response; null without one"`
	DurationMs    int            `json:"durationMs" doc:"How long the attempt took, in ms"`
	NextAttemptAt *Time          `json:"nextAttemptAt" doc:"When the next attempt was to be made after this one; null where this was the last"`
}

// AttemptOutcome is how an attempt ended.
type AttemptOutcome string

// The outcomes: a status of 2xx, any other but 3xx, 3xx, and none.
const (
	Delivered          AttemptOutcome = "delivered"
	ReceiverRefused    AttemptOutcome = "refused"
	ReceiverRedirected AttemptOutcome = "redirected"
	ReceiverTimedOut   AttemptOutcome = "timeout"
	ReceiverUnreached  AttemptOutcome = "unreachable"
	ReceiverForbidden  AttemptOutcome = "forbidden_address"
)

// Events of records in addition to their changes.
const (
	ExtractionCompleted  = "extraction.completed"
	ExtractionFailed     = "extraction.failed"
	ArticulationDecided  = "articulation.decided"
	ImportCompletedEvent = "import.completed"
	ImportFailedEvent    = "import.failed"
)

// Events lists all events.
func Events() []string {
	return []string{ExtractionCompleted, ExtractionFailed, ArticulationDecided, ImportCompletedEvent, ImportFailedEvent}
}

// Types lists the types of messages that the change causes.
func (c RecordChange) Types() []string {
	types := []string{MessageType(c.Kind, c.What)}
	if c.Event != "" {
		types = append(types, c.Event)
	}
	return types
}

// MessageType returns the type of the messages of what happens to records of a kind.
func MessageType(kind Kind, what string) string {
	return kind.Resource() + "." + what
}

// MessageTypes lists the values of a webhook's types: every type, and for each resource all of its types.
func MessageTypes() []string {
	types := Events()
	for _, kind := range Resources() {
		for _, what := range []string{Created, Changed, Deleted} {
			types = append(types, MessageType(kind, what))
		}
	}
	for _, t := range slices.Clone(types) {
		resource, _, _ := strings.Cut(t, ".")
		types = append(types, resource+".*")
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// WebhookInput is the input for a webhook.
type WebhookInput struct {
	URL         Optional[string]   `json:"url" minLength:"1" maxLength:"2000"`
	Description Optional[*string]  `json:"description,omitzero" maxLength:"1000"`
	Types       Optional[[]string] `json:"types" minItems:"1" maxItems:"50"`
	Enabled     Optional[bool]     `json:"enabled,omitzero"`
}

// Apply implements Input.
func (in WebhookInput) Apply(w *Webhook, l Lookups) []FieldError {
	check := l.checker()
	if w.ID == "" {
		w.Enabled = true
	}
	w.URL, w.Description = in.URL.Or(w.URL), text(in.Description, w.Description)
	if in.URL.Set {
		if err := l.CheckHref(w.URL); err != nil {
			check.fault("url", err.Error(), w.URL)
		}
	}
	if in.Types.Set {
		check.messageTypes(in.Types.Value)
		w.Types = in.Types.Value
	}
	if in.Enabled.Set && in.Enabled.Value != w.Enabled {
		w.Enabled, w.DisabledReason = in.Enabled.Value, nil
	}
	return *check.wrong
}

// messageTypes validates a list of types.
func (c checker) messageTypes(types []string) {
	known := MessageTypes()
	for i, t := range types {
		field := fmt.Sprintf("types[%d]", i)
		switch {
		case !slices.Contains(known, t):
			c.fault(field, "must be one of "+strings.Join(known, ", "), t)
		case slices.Contains(types[:i], t):
			c.fault(field, "must not be repeated", t)
		}
	}
}
