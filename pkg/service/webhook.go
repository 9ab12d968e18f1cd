package service

import (
	"context"
	"reflect"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
	"skillscurriculum/pkg/webhook"
)

// Webhooks is the table as the use cases of webhooks need it.
type Webhooks interface {
	// Webhooks reads the organization's webhooks, with a strong read.
	Webhooks(ctx context.Context, org catalog.OrgID) (*catalog.Webhooks, error)
	// WebhookMessage returns a message as it was before its next attempt.
	WebhookMessage(ctx context.Context, org catalog.OrgID, webhookID, messageID string) (catalog.WebhookMessage, error)
	// Delivering reports whether an attempt at a message is in progress.
	Delivering(ctx context.Context, m catalog.WebhookMessage) (bool, error)
}

// Seal encrypts a secret for its owner.
type Seal func(owner string, plain []byte) []byte

// Webhook loads the organization's webhooks and finds one.
func (a Actor) Webhook(ctx context.Context, id string) (*catalog.Webhooks, *catalog.Webhook, error) {
	hooks, err := a.Store.Webhooks(ctx, a.Org)
	if err != nil {
		return nil, nil, err
	}
	hook := hooks.Find(id)
	if hook == nil {
		return nil, nil, catalog.Absent()
	}
	return hooks, hook, nil
}

// withFeedEnd loads the organization's webhooks and the end of its change feed: a webhook that is new or enabled again
// gets the changes after it.
func (a Actor) withFeedEnd(ctx context.Context) (*catalog.Webhooks, catalog.Cursor, error) {
	return parallel.Two(ctx, parallel.Call(a.Store.Webhooks, a.Org), parallel.Call(a.Store.FeedEnd, a.Org))
}

// CreateWebhook creates a webhook and its secret.
func (a Actor) CreateWebhook(
	ctx context.Context, seal Seal, in catalog.WebhookInput,
) (hook *catalog.Webhook, secret string, change *catalog.Change, err error) {
	hook = &catalog.Webhook{}
	if wrong := in.Apply(hook, a.Lookups); wrong != nil {
		return nil, "", nil, catalog.Invalid(wrong...)
	}
	hooks, end, err := a.withFeedEnd(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	hook.ID, hook.OrganizationID, hook.CreatedAt, hook.UpdatedAt, hook.From = a.IDs.Webhook(), a.Org, a.Now, a.Now, end
	if err := hooks.Add(hook); err != nil {
		return nil, "", nil, err
	}
	return hook, a.newSecret(seal, hook), catalog.NewChange(hooks), nil
}

// RotateWebhook gives a webhook a new secret.
func (a Actor) RotateWebhook(
	ctx context.Context, seal Seal, id string,
) (hook *catalog.Webhook, secret string, change *catalog.Change, err error) {
	hooks, hook, err := a.Webhook(ctx, id)
	if err != nil {
		return nil, "", nil, err
	}
	hook.UpdatedAt = hook.UpdatedAt.After(a.Now)
	return hook, a.newSecret(seal, hook), catalog.NewChange(hooks), nil
}

func (a Actor) newSecret(seal Seal, hook *catalog.Webhook) string {
	secret := webhook.NewSecret()
	hook.NewSecrets(seal(webhook.Owner(a.Org, hook.ID), []byte(secret)), a.Now)
	return secret
}

// UpdateWebhook changes a webhook. One with a new address, or enabled again, starts anew.
func (a Actor) UpdateWebhook(
	ctx context.Context, id string, in catalog.WebhookInput,
) (*catalog.Webhook, *catalog.Change, error) {
	hooks, end, err := a.withFeedEnd(ctx)
	if err != nil {
		return nil, nil, err
	}
	hook := hooks.Find(id)
	if hook == nil {
		return nil, nil, catalog.Absent()
	}
	before := *hook
	if wrong := in.Apply(hook, a.Lookups); wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	if reflect.DeepEqual(*hook, before) {
		return hook, &catalog.Change{}, nil
	}
	hook.UpdatedAt = hook.UpdatedAt.After(a.Now)
	if hook.Enabled && !before.Enabled {
		hook.From = end
	}
	if hook.Enabled != before.Enabled || hook.URL != before.URL {
		hooks.Forgotten = append(hooks.Forgotten, hook.ID)
	}
	return hook, catalog.NewChange(hooks), nil
}

// DeleteWebhook deletes a webhook.
func (a Actor) DeleteWebhook(ctx context.Context, id string) (*catalog.Change, error) {
	hooks, hook, err := a.Webhook(ctx, id)
	if err != nil {
		return nil, err
	}
	hooks.Remove(hook)
	return catalog.NewChange(hooks), nil
}

// TestWebhook makes a test message.
func (a Actor) TestWebhook(ctx context.Context, id string) (catalog.WebhookMessage, error) {
	hooks, end, err := a.withFeedEnd(ctx)
	if err != nil {
		return catalog.WebhookMessage{}, err
	}
	hook := hooks.Find(id)
	if hook == nil {
		return catalog.WebhookMessage{}, catalog.Absent()
	}
	return a.IDs.NewTestMessage(hook, end, a.Now), nil
}

// ResendMessage returns a message for one more attempt, which must not overlap with another. A disabled webhook gets
// only test messages.
func (a Actor) ResendMessage(ctx context.Context, webhookID, messageID string) (catalog.WebhookMessage, error) {
	_, hook, err := a.Webhook(ctx, webhookID)
	if err != nil {
		return catalog.WebhookMessage{}, err
	}
	message, err := a.Store.WebhookMessage(ctx, a.Org, hook.ID, messageID)
	if err == nil && !hook.Enabled && message.Type != catalog.TestType {
		err = catalog.Errorf(catalog.Conflict, "The webhook is disabled: enable it first.")
	}
	if err != nil {
		return message, err
	}
	delivering, err := a.Store.Delivering(ctx, message)
	if delivering {
		err = catalog.Errorf(catalog.Conflict, "The message is being delivered: try again once this attempt has ended.")
	}
	return message, err
}
