package rest

import (
	"context"
	"slices"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/schema"
	"skillscurriculum/pkg/service/parallel"
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

type updateWebhookInput struct {
	webhookInput
	Body struct {
		schema.Patch
		catalog.WebhookInput
	}
}

type listDeliveriesInput struct {
	webhookInput
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"Maximum number of attempts in the page"`
	Before string `query:"before" doc:"next of the previous page; the newest attempts when absent"`
}

type resendInput struct {
	webhookInput
	MessageID string `path:"messageId" doc:"Id of the message, from its deliveries"`
}

// WebhookWithSecret is a webhook with the secret that signs its messages, shown this once.
type WebhookWithSecret struct {
	*catalog.Webhook
	Secret string `json:"secret" doc:"Signing secret in the Standard Webhooks format: whsec_ and 32 bytes in base64; shown only once"`
}

// DeliveryList is a page of attempts, the newest first.
type DeliveryList struct {
	Data    []catalog.WebhookAttempt `json:"data" doc:"Attempts, newest first"`
	Next    *string                  `json:"next" doc:"Pass as before for the next page; null on the last page"`
	HasMore bool                     `json:"hasMore" doc:"Whether there is a next page"`
}

// SentMessage names a message that is about to be delivered.
type SentMessage struct {
	MessageID string `json:"messageId" doc:"Id of the message, sent as webhook-id with every attempt"`
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
	remove(s, "deleteWebhook", func(ctx context.Context, c *call, in *webhookInput) (*catalog.Change, error) {
		hooks, hook, err := c.webhook(ctx, in.WebhookID)
		if err != nil {
			return nil, err
		}
		hooks.Remove(hook)
		return catalog.NewChange(hooks), nil
	})
	write(s, "rotateWebhookSecret", func(
		ctx context.Context, c *call, in *webhookInput,
	) (*WebhookWithSecret, *catalog.Change, error) {
		hooks, hook, err := c.webhook(ctx, in.WebhookID)
		if err != nil {
			return nil, nil, err
		}
		hook.UpdatedAt = hook.UpdatedAt.After(c.now)
		return c.newSecret(hook), catalog.NewChange(hooks), nil
	})
	write(s, "testWebhook", func(ctx context.Context, c *call, in *webhookInput) (*SentMessage, *catalog.Change, error) {
		end, hook, err := parallel.Two(ctx, func(ctx context.Context) (catalog.Cursor, error) {
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
	return &SentMessage{m.ID, m.Type}, catalog.NewChange(&m), nil
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
	return parallel.Two(ctx, func(ctx context.Context) (*catalog.Webhooks, error) {
		return c.Store.Webhooks(ctx, c.org)
	}, func(ctx context.Context) (catalog.Cursor, error) {
		return c.Store.FeedEnd(ctx, c.org)
	})
}

func (c *call) webhookLookups() catalog.Lookups {
	return catalog.Lookups{At: "body", CheckHref: c.Webhooks.CheckURL}
}

func createWebhook(
	ctx context.Context, c *call, in *body[struct{ catalog.WebhookInput }],
) (*WebhookWithSecret, *catalog.Change, error) {
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
	return c.newSecret(hook), catalog.NewChange(hooks), nil
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
	return hook, catalog.NewChange(hooks), nil
}

func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }
