package demo_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
)

// TestWebhook: the webhook stays the same from start to start, as long as its receiver is
// where it was.
func TestWebhook(t *testing.T) {
	store, key := dynamotest.NewStore(t), strings.Repeat("key of a test", 3)
	loader := demo.Loader{Store: store, Keyring: &keyring.Keyring{IDs: catalog.IDs{Random: rand.Reader}}}
	start := func(url, key string) (secret string, hook catalog.Webhook) {
		_, secret, err := loader.Webhook(t.Context(), url, key)
		if err != nil {
			t.Fatal(err)
		}
		hooks, err := store.Webhooks(t.Context(), "org_demo0alderbay")
		if err != nil || len(hooks.List) != 1 {
			t.Fatalf("%d webhooks, %v", len(hooks.List), err)
		}
		return secret, *hooks.List[0]
	}
	secret, hook := start("http://127.0.0.1:1/", key)
	if again, same := start("http://127.0.0.1:1/", key); again != secret || same.ID != hook.ID || !hook.Enabled {
		t.Errorf("another webhook: %s", same.ID)
	}
	if other, moved := start("http://127.0.0.1:2/", key); other == secret || moved.URL != "http://127.0.0.1:2/" {
		t.Errorf("the receiver moved, the webhook leads to %s", moved.URL)
	}
	start("http://127.0.0.1:2/", strings.Repeat("another key", 3))

	hooks, err := store.Webhooks(t.Context(), "org_demo0alderbay")
	if err != nil {
		t.Fatal(err)
	}
	hooks.List[0].Description = new("by people")
	if err := store.Commit(t.Context(), "org_demo0alderbay", catalog.NewChange(hooks)); err != nil {
		t.Fatal(err)
	}
	if _, described := start("http://127.0.0.1:2/", strings.Repeat("another key", 3)); described.ID != hooks.List[0].ID || *described.Description != "by people" {
		t.Errorf("another webhook: %s, %s", described.ID, *described.Description)
	}
	hook = *hooks.List[0]

	values, err := loader.WebhookParameters(t.Context(), &hook)
	if err != nil {
		t.Fatal(err)
	}
	message, err := store.WebhookMessage(t.Context(), "org_demo0alderbay", values["getWebhook.webhookId"], values["resendWebhookMessage.messageId"])
	if err != nil || message.Type != catalog.TestType {
		t.Errorf("message %+v, %v", message, err)
	}
}
