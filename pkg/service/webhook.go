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
	// FeedEnd returns the cursor after the last entry of the organization's change feed.
	FeedEnd(ctx context.Context, org catalog.OrgID) (catalog.Cursor, error)
	// Webhooks reads the organization's webhooks, with a strong read.
	Webhooks(ctx context.Context, org catalog.OrgID) (*catalog.Webhooks, error)
	// WebhookMessage returns a message as it was before its next attempt.
	WebhookMessage(ctx context.Context, org catalog.OrgID, webhookID, messageID string) (catalog.WebhookMessage, error)
}

// Seal encrypts a secret for its owner.
type Seal func(owner string, plain []byte) []byte

// Webhook loads the organization's webhooks and finds one.
func Webhook(
	ctx context.Context, s Webhooks, org catalog.OrgID, id string,
) (*catalog.Webhooks, *catalog.Webhook, error) {
	hooks, err := s.Webhooks(ctx, org)
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
func withFeedEnd(ctx context.Context, s Webhooks, org catalog.OrgID) (*catalog.Webhooks, catalog.Cursor, error) {
	return parallel.Two(ctx, func(ctx context.Context) (*catalog.Webhooks, error) {
		return s.Webhooks(ctx, org)
	}, func(ctx context.Context) (catalog.Cursor, error) {
		return s.FeedEnd(ctx, org)
	})
}

// CreateWebhook creates a webhook and its secret.
func CreateWebhook(
	ctx context.Context, s Webhooks, a Actor, seal Seal, in catalog.WebhookInput,
) (hook *catalog.Webhook, secret string, change *catalog.Change, err error) {
	hook = &catalog.Webhook{}
	if wrong := in.Apply(hook, a.Lookups); wrong != nil {
		return nil, "", nil, catalog.Invalid(wrong...)
	}
	hooks, end, err := withFeedEnd(ctx, s, a.Org)
	if err != nil {
		return nil, "", nil, err
	}
	hook.ID, hook.OrganizationID, hook.CreatedAt, hook.UpdatedAt, hook.From = a.IDs.Webhook(), a.Org, a.Now, a.Now, end
	if err := hooks.Add(hook); err != nil {
		return nil, "", nil, err
	}
	return hook, newSecret(a, seal, hook), catalog.NewChange(hooks), nil
}

// RotateWebhook gives a webhook a new secret.
func RotateWebhook(
	ctx context.Context, s Webhooks, a Actor, seal Seal, id string,
) (hook *catalog.Webhook, secret string, change *catalog.Change, err error) {
	hooks, hook, err := Webhook(ctx, s, a.Org, id)
	if err != nil {
		return nil, "", nil, err
	}
	hook.UpdatedAt = hook.UpdatedAt.After(a.Now)
	return hook, newSecret(a, seal, hook), catalog.NewChange(hooks), nil
}

func newSecret(a Actor, seal Seal, hook *catalog.Webhook) string {
	secret := webhook.NewSecret()
	hook.NewSecrets(seal(webhook.Owner(a.Org, hook.ID), []byte(secret)), a.Now)
	return secret
}

// UpdateWebhook changes a webhook. One with a new address, or enabled again, starts anew.
func UpdateWebhook(
	ctx context.Context, s Webhooks, a Actor, id string, in catalog.WebhookInput,
) (*catalog.Webhook, *catalog.Change, error) {
	hooks, end, err := withFeedEnd(ctx, s, a.Org)
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
func DeleteWebhook(ctx context.Context, s Webhooks, a Actor, id string) (*catalog.Change, error) {
	hooks, hook, err := Webhook(ctx, s, a.Org, id)
	if err != nil {
		return nil, err
	}
	hooks.Remove(hook)
	return catalog.NewChange(hooks), nil
}

// TestWebhook makes a test message.
func TestWebhook(ctx context.Context, s Webhooks, a Actor, id string) (catalog.WebhookMessage, error) {
	hooks, end, err := withFeedEnd(ctx, s, a.Org)
	if err != nil {
		return catalog.WebhookMessage{}, err
	}
	hook := hooks.Find(id)
	if hook == nil {
		return catalog.WebhookMessage{}, catalog.Absent()
	}
	return a.IDs.NewTestMessage(hook, end, a.Now), nil
}

// ResendMessage returns a message for one more attempt. A disabled webhook gets only test messages.
func ResendMessage(
	ctx context.Context, s Webhooks, org catalog.OrgID, webhookID, messageID string,
) (catalog.WebhookMessage, error) {
	_, hook, err := Webhook(ctx, s, org, webhookID)
	if err != nil {
		return catalog.WebhookMessage{}, err
	}
	message, err := s.WebhookMessage(ctx, org, hook.ID, messageID)
	if err == nil && !hook.Enabled && message.Type != catalog.TestType {
		err = catalog.Errorf(catalog.Conflict, "The webhook is disabled: enable it first.")
	}
	return message, err
}
