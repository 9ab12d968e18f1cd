package demo

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/webhook"
)

// webhookTypes is short, so that load tests with the demo organization do not load its
// webhook.
var webhookTypes = []string{"articulation.*", "course.changed", "extraction.*"}

// Webhook returns the webhook of the first organization for url, with its secret, and
// creates it unless an earlier start has. It returns nil if the organization already has the
// maximum number of webhooks.
func (l Loader) Webhook(ctx context.Context, url, key string) (hook *catalog.Webhook, secret string, err error) {
	cipher, err := webhook.NewCipher(key)
	if err != nil {
		return nil, "", err
	}
	org, description := tenants[0].organization, "the receiver of make run"
	actor := l.actor(org)
	actor.Lookups.CheckHref = func(string) error { return nil } // a loopback address
	hooks, err := l.Store.Webhooks(ctx, org)
	if err != nil {
		return nil, "", err
	}
	own := func(h *catalog.Webhook) bool {
		return h.URL == url || h.Description != nil && *h.Description == description
	}
	if i := slices.IndexFunc(hooks.List, own); i >= 0 {
		hook := hooks.List[i]
		if plain, err := cipher.Open(webhook.Owner(org, hook.ID), hook.Secrets[0].Sealed); err == nil && hook.URL == url {
			return hook, string(plain), nil
		}
		hooks.Remove(hook) // the port or the key has changed
		if err := l.Store.Commit(ctx, org, catalog.NewChange(hooks)); err != nil {
			return nil, "", err
		}
	}
	in := catalog.WebhookInput{URL: set(url), Description: set(&description), Types: set(webhookTypes)}
	hook, secret, change, err := actor.CreateWebhook(ctx, cipher.Seal, in)
	if catalog.HasCode(err, catalog.Conflict) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	return hook, secret, l.Store.Commit(ctx, org, change)
}

// WebhookParameters returns the parameter examples for a webhook, like Parameters. It
// creates a test message that can be resent.
func (l Loader) WebhookParameters(ctx context.Context, hook *catalog.Webhook) (map[string]string, error) {
	message, err := l.actor(hook.OrganizationID).TestWebhook(ctx, hook.ID)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"getWebhook.webhookId": hook.ID, "deleteWebhook.webhookId": hook.ID,
		"resendWebhookMessage.messageId": message.ID,
	}, l.Store.Commit(ctx, hook.OrganizationID, catalog.NewChange(&message))
}
