package demo

import (
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/webhook"
)

// webhookTypes are few, so that a load test of the demo's organization is no test of its
// webhook.
var webhookTypes = []string{"articulation.*", "course.changed", "extraction.*"}

// Webhook gives the first organization a webhook that leads to an address on this
// machine, or finds the one that an earlier start made, and returns it with its secret;
// nil where people have made as many as there may be.
func Webhook(ctx context.Context, store *dynamo.Store, ids catalog.IDs, url, key string) (hook *catalog.Webhook, secret string, err error) {
	cipher, err := webhook.NewCipher(key)
	if err != nil {
		return nil, "", err
	}
	org, description := tenants[0].organization, "the receiver of make run"
	hooks, err := store.Webhooks(ctx, org)
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
		hooks.Remove(hook) // the port or the key is another one now
	}
	end, err := store.FeedEnd(ctx, org)
	if err != nil {
		return nil, "", err
	}
	now := store.Now()
	hook = &catalog.Webhook{
		ID: ids.Webhook(), OrganizationID: org, CreatedAt: now, UpdatedAt: now, URL: url, Description: &description, Types: webhookTypes, Enabled: true, From: end,
	}
	secret = webhook.NewSecret()
	hook.NewSecrets(cipher.Seal(webhook.Owner(org, hook.ID), []byte(secret)), now)
	if err := hooks.Add(hook); err != nil {
		return nil, "", nil
	}
	return hook, secret, store.Commit(ctx, org, &catalog.Change{Webhooks: hooks})
}

// WebhookParameters returns the examples of parameters, as Loader.Parameters does, that a
// webhook has, with a test message of its own that can be sent again.
func WebhookParameters(ctx context.Context, store *dynamo.Store, ids catalog.IDs, hook *catalog.Webhook) (map[string]string, error) {
	end, err := store.FeedEnd(ctx, hook.OrganizationID)
	if err != nil {
		return nil, err
	}
	message := ids.NewTestMessage(hook, end, store.Now())
	return map[string]string{
		"getWebhook.webhookId": hook.ID, "deleteWebhook.webhookId": hook.ID, "resendWebhookMessage.messageId": message.ID,
	}, store.Commit(ctx, hook.OrganizationID, &catalog.Change{Messages: []catalog.WebhookMessage{message}})
}
