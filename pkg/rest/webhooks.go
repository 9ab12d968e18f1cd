package rest

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/webhook"
)

// Webhooks is what the operations of webhooks need besides the table.
type Webhooks interface {
	// CheckURL reports whether messages may be sent there, by the spelling of the address alone.
	CheckURL(url string) error
	// Seal encrypts what belongs to an owner, Open decrypts it.
	Seal(owner string, plain []byte) []byte
	Open(owner string, sealed []byte) ([]byte, error)
	// Send has messages delivered. What it loses, the deliverer finds.
	Send(ctx context.Context, messages []catalog.WebhookMessage) error
}

type webhookInput struct {
	WebhookID string `path:"webhookId" doc:"Id of the webhook"`
}

type createWebhookInput struct {
	Body struct{ catalog.WebhookInput }
}

type updateWebhookInput struct {
	webhookInput
	Body struct {
		patch
		catalog.WebhookInput
	}
}

type listDeliveriesInput struct {
	webhookInput
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"How many attempts a page holds at most"`
	Before string `query:"before" doc:"The next of the page before; the newest attempts when absent"`
}

type resendInput struct {
	webhookInput
	MessageID string `path:"messageId" doc:"Id of the message, as deliveries show it"`
}

// WebhookWithSecret is a webhook with the secret that signs its messages, shown this once.
type WebhookWithSecret struct {
	*catalog.Webhook
	Secret string `json:"secret" doc:"Signs the messages: whsec_ and base64 of 32 bytes, as the libraries of Standard Webhooks take it"`
}

// DeliveryList is a page of attempts, the newest first.
type DeliveryList struct {
	Data    []catalog.WebhookAttempt `json:"data" doc:"The attempts of the page"`
	Next    *string                  `json:"next" doc:"To be passed as before for the page behind; null on the last"`
	HasMore bool                     `json:"hasMore" doc:"Whether there is a page behind"`
}

// SentMessage names a message that is about to be delivered.
type SentMessage struct {
	MessageID string `json:"messageId" doc:"Id of the message, the webhook-id of every attempt"`
	Type      string `json:"type" doc:"Type of the message"`
}

func (s *Server) bindWebhooks() {
	read(s, "listWebhooks", func(ctx context.Context, c *call, in *pageInput) (Page[*catalog.Webhook], error) {
		hooks, err := c.Store.Webhooks(ctx, c.org)
		if err != nil {
			return Page[*catalog.Webhook]{}, err
		}
		return page(c, *in, cut(*in, hooks.List), len(hooks.List)), nil
	})
	read(s, "getWebhook", func(ctx context.Context, c *call, in *webhookInput) (*catalog.Webhook, error) {
		_, hook, err := c.webhook(ctx, in.WebhookID)
		return hook, err
	})
	write(s, "createWebhook", createWebhook)
	write(s, "updateWebhook", updateWebhook)
	write(s, "deleteWebhook", func(ctx context.Context, c *call, in *webhookInput) (none, *catalog.Change, error) {
		hooks, hook, err := c.webhook(ctx, in.WebhookID)
		if err != nil {
			return none{}, nil, err
		}
		hooks.Remove(hook)
		return none{}, &catalog.Change{Webhooks: hooks}, nil
	})
	write(s, "rotateWebhookSecret", func(ctx context.Context, c *call, in *webhookInput) (*WebhookWithSecret, *catalog.Change, error) {
		hooks, hook, err := c.webhook(ctx, in.WebhookID)
		if err != nil {
			return nil, nil, err
		}
		hook.UpdatedAt = hook.UpdatedAt.After(c.now)
		return c.newSecret(hook), &catalog.Change{Webhooks: hooks}, nil
	})
	write(s, "testWebhook", func(ctx context.Context, c *call, in *webhookInput) (*SentMessage, *catalog.Change, error) {
		end, hook, err := parallel(ctx, func(ctx context.Context) (catalog.Cursor, error) {
			return c.Store.FeedEnd(ctx, c.org)
		}, func(ctx context.Context) (*catalog.Webhook, error) {
			_, hook, err := c.webhook(ctx, in.WebhookID)
			return hook, err
		})
		if err != nil {
			return nil, nil, err
		}
		return sent(c.IDs.NewTestMessage(hook, end, c.now))
	})
	read(s, "listWebhookDeliveries", func(ctx context.Context, c *call, in *listDeliveriesInput) (*DeliveryList, error) {
		_, hook, err := c.webhook(ctx, in.WebhookID)
		if err != nil {
			return nil, err
		}
		attempts, next, err := c.Store.WebhookAttempts(ctx, c.org, hook.ID, in.Before, in.Limit)
		out := &DeliveryList{Data: attempts}
		if next != "" {
			out.Next, out.HasMore = &next, true
		}
		return out, err
	})
	write(s, "resendWebhookMessage", func(ctx context.Context, c *call, in *resendInput) (*SentMessage, *catalog.Change, error) {
		_, hook, err := c.webhook(ctx, in.WebhookID)
		if err != nil {
			return nil, nil, err
		}
		message, err := c.Store.WebhookMessage(ctx, c.org, hook.ID, in.MessageID)
		switch {
		case err != nil:
			return nil, nil, err
		case !hook.Enabled && message.Type != catalog.TestType:
			return nil, nil, catalog.Errorf(catalog.Conflict, "The webhook is disabled: enable it first.")
		}
		return sent(message)
	})
}

func sent(m catalog.WebhookMessage) (*SentMessage, *catalog.Change, error) {
	return &SentMessage{m.ID, m.Type}, &catalog.Change{Messages: []catalog.WebhookMessage{m}}, nil
}

// webhook loads the organization's webhooks, and finds one.
func (c *call) webhook(ctx context.Context, id string) (*catalog.Webhooks, *catalog.Webhook, error) {
	hooks, err := c.Store.Webhooks(ctx, c.org)
	if err != nil {
		return nil, nil, err
	}
	hook := hooks.Find(id)
	if hook == nil {
		return nil, nil, catalog.Absent()
	}
	return hooks, hook, nil
}

// withFeedEnd loads the organization's webhooks, and where its change feed ends: a
// webhook that is new or enabled again is told of what comes after that.
func (c *call) withFeedEnd(ctx context.Context) (*catalog.Webhooks, catalog.Cursor, error) {
	return parallel(ctx, func(ctx context.Context) (*catalog.Webhooks, error) {
		return c.Store.Webhooks(ctx, c.org)
	}, func(ctx context.Context) (catalog.Cursor, error) {
		return c.Store.FeedEnd(ctx, c.org)
	})
}

func (c *call) webhookLookups() catalog.Lookups {
	return catalog.Lookups{At: "body", CheckHref: c.Webhooks.CheckURL}
}

func createWebhook(ctx context.Context, c *call, in *createWebhookInput) (*WebhookWithSecret, *catalog.Change, error) {
	hook := &catalog.Webhook{}
	if wrong := in.Body.WebhookInput.Apply(hook, c.webhookLookups()); wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	hooks, end, err := c.withFeedEnd(ctx)
	if err != nil {
		return nil, nil, err
	}
	hook.ID, hook.OrganizationID, hook.CreatedAt, hook.UpdatedAt, hook.From = c.IDs.Webhook(), c.org, c.now, c.now, end
	if err := hooks.Add(hook); err != nil {
		return nil, nil, err
	}
	c.location = api.BasePath + "/webhooks/" + hook.ID
	return c.newSecret(hook), &catalog.Change{Webhooks: hooks}, nil
}

// newSecret gives a webhook a new secret.
func (c *call) newSecret(hook *catalog.Webhook) *WebhookWithSecret {
	secret := webhook.NewSecret()
	hook.NewSecrets(c.Webhooks.Seal(webhook.Owner(c.org, hook.ID), []byte(secret)), c.now)
	return &WebhookWithSecret{hook, secret}
}

func updateWebhook(ctx context.Context, c *call, in *updateWebhookInput) (*catalog.Webhook, *catalog.Change, error) {
	hooks, end, err := c.withFeedEnd(ctx)
	if err != nil {
		return nil, nil, err
	}
	hook := hooks.Find(in.WebhookID)
	if hook == nil {
		return nil, nil, catalog.Absent()
	}
	before := *hook
	if wrong := in.Body.WebhookInput.Apply(hook, c.webhookLookups()); wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	if hook.URL == before.URL && hook.Enabled == before.Enabled && slices.Equal(hook.Types, before.Types) && same(hook.Description, before.Description) {
		return hook, &catalog.Change{}, nil
	}
	hook.UpdatedAt = hook.UpdatedAt.After(c.now)
	if hook.Enabled && !before.Enabled {
		hook.From = end
	}
	if hook.Enabled != before.Enabled || hook.URL != before.URL {
		hooks.Forgotten = append(hooks.Forgotten, hook.ID)
	}
	return hook, &catalog.Change{Webhooks: hooks}, nil
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// message describes what webhooks are sent.
func (d document) message() *huma.Operation {
	var changes struct{ Body ChangeList }
	d.read("listChanges.golden.json", &changes)
	change := changes.Body.Data[0]
	example := webhook.Content{Type: catalog.MessageType(change.Resource, change.Change), Timestamp: change.OccurredAt, Data: webhook.ContentData{
		ID: change.ID, Resource: string(change.Resource), Change: change.Change, Href: change.Href, Cursor: change.Cursor,
	}}
	o := &huma.Operation{
		OperationID: "receiveWebhookMessage", Summary: "Be sent a message", Tags: []string{api.Webhooks.Tag().Name}, Method: http.MethodPost,
		Description: "What the address of a webhook is sent, as Standard Webhooks 1.0.0 has it: verify the signature with the webhook's secret, and take a webhook-id once. " +
			"2xx within 15 seconds is success; anything else is tried again, ten times over three days, but 410 disables the webhook. " +
			"The order is not that of the changes. Types: " + strings.Join(catalog.MessageTypes(), ", ") + ".",
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
			api.JSON: {Schema: d.responses.Schema(reflect.TypeFor[webhook.Content](), true, ""), Example: example},
		}},
		Responses:  map[string]*huma.Response{"204": {Description: "Taken"}, "410": {Description: "Gone: disables the webhook"}},
		Security:   []map[string][]string{{}},
		Extensions: map[string]any{"x-extension": true},
	}
	for name, means := range map[string]string{
		webhook.HeaderID: "Id of the message, the same for every attempt", webhook.HeaderTimestamp: "UNIX second of the attempt",
		webhook.HeaderSignature: "v1, and base64 of the HMAC-SHA256 of id.timestamp.body; two with a blank between while two secrets sign",
	} {
		o.Parameters = append(o.Parameters, &huma.Param{Name: name, In: "header", Description: means, Required: true, Schema: &huma.Schema{Type: "string"}})
	}
	slices.SortFunc(o.Parameters, func(a, b *huma.Param) int { return strings.Compare(a.Name, b.Name) })
	return o
}
