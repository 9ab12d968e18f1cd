package rest

import (
	"context"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
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

type listDeliveriesInput struct {
	Limit  int    `query:"limit" default:"50" minimum:"1" maximum:"100" doc:"Maximum number of attempts in the page"`
	Before string `query:"before" doc:"next of the previous page; the newest attempts when absent"`
}

// WebhookWithSecret is a webhook with the secret that signs its messages, shown this once.
type WebhookWithSecret struct {
	*catalog.Webhook
	Secret string `json:"secret" doc:"Signing secret in the Standard Webhooks format: whsec_ and 32 bytes in base64; shown only once"`
}

// WebhookDeliveryList is a page of attempts, the newest first.
type WebhookDeliveryList struct {
	Data    []catalog.WebhookAttempt `json:"data" doc:"Attempts, newest first"`
	Next    *string                  `json:"next" doc:"Pass as before for the next page; null on the last page"`
	HasMore bool                     `json:"hasMore" doc:"Whether there is a next page"`
}

// AcceptedWebhookMessage names a message that is about to be delivered.
type AcceptedWebhookMessage struct {
	MessageID string `json:"messageId" doc:"Id of the message, sent as webhook-id with every attempt"`
	Type      string `json:"type" doc:"Type of the message"`
}

func (s *Server) bindWebhooks() {
	read(s, "listWebhooks", func(ctx context.Context, c *call, in *pageInput) (Page[*catalog.Webhook], error) {
		hooks, err := c.Store.Webhooks(ctx, c.org)
		if err != nil {
			return Page[*catalog.Webhook]{}, err
		}
		return page(c, *in, catalog.PageOf(hooks.List, in.Offset, in.Limit), len(hooks.List)), nil
	})
	read(s, "getWebhook", func(ctx context.Context, c *call, _ *none) (*catalog.Webhook, error) {
		_, hook, err := c.actor().Webhook(ctx, c.recordID())
		return hook, err
	})
	write(s, "createWebhook", func(
		ctx context.Context, c *call, in *body[catalog.WebhookInput],
	) (*WebhookWithSecret, *catalog.Change, error) {
		hook, secret, change, err := c.webhookActor().CreateWebhook(ctx, c.Webhooks.Seal, in.Body)
		if err == nil {
			c.location = api.BasePath + "/webhooks/" + hook.ID
		}
		return &WebhookWithSecret{hook, secret}, change, err
	})
	write(s, "updateWebhook", func(
		ctx context.Context, c *call, in *body[catalog.WebhookInput],
	) (*catalog.Webhook, *catalog.Change, error) {
		return c.webhookActor().UpdateWebhook(ctx, c.recordID(), in.Body)
	})
	erase(s, "deleteWebhook", service.Actor.DeleteWebhook)
	write(s, "rotateWebhookSecret", func(
		ctx context.Context, c *call, _ *none,
	) (*WebhookWithSecret, *catalog.Change, error) {
		hook, secret, change, err := c.actor().RotateWebhook(ctx, c.Webhooks.Seal, c.recordID())
		return &WebhookWithSecret{hook, secret}, change, err
	})
	write(s, "testWebhook", func(ctx context.Context, c *call, _ *none) (*AcceptedWebhookMessage, *catalog.Change, error) {
		return sent(c.actor().TestWebhook(ctx, c.recordID()))
	})
	read(s, "listWebhookDeliveries", func(
		ctx context.Context, c *call, in *listDeliveriesInput,
	) (*WebhookDeliveryList, error) {
		_, hook, err := c.actor().Webhook(ctx, c.recordID())
		if err != nil {
			return nil, err
		}
		attempts, next, err := c.Store.WebhookAttempts(ctx, c.org, hook.ID, in.Before, in.Limit)
		out := &WebhookDeliveryList{Data: attempts}
		if next != "" {
			out.Next, out.HasMore = &next, true
		}
		return out, err
	})
	write(s, "resendWebhookMessage", func(
		ctx context.Context, c *call, _ *none,
	) (*AcceptedWebhookMessage, *catalog.Change, error) {
		return sent(c.actor().ResendMessage(ctx, c.param("webhookId"), c.param("messageId")))
	})
}

// webhookActor is actor for inputs that contain the URL of a webhook.
func (c *call) webhookActor() service.Actor {
	actor := c.actor()
	actor.Lookups.CheckHref = c.Webhooks.CheckURL
	return actor
}

func sent(m catalog.WebhookMessage, err error) (*AcceptedWebhookMessage, *catalog.Change, error) {
	return &AcceptedWebhookMessage{m.ID, m.Type}, catalog.NewChange(&m), err
}
