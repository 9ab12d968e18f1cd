package main

import (
	"context"
	"crypto/rand"
	"path/filepath"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/receiver"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
	sender "skillscurriculum/pkg/queue"
)

// loadDemo brings the demo into the stack's table, with a webhook that leads to the
// receiver; its keys are kept in dir.
func loadDemo(dir string, receives *receiver.Receiver) func(context.Context, stack.Places) (stack.Demo, error) {
	return func(ctx context.Context, p stack.Places) (stack.Demo, error) {
		table := newStore(p).(store).Store
		loaded, err := demo.Loader{
			Store: table, Keyring: &keyring.Keyring{Store: table, Now: now, IDs: catalog.IDs{Random: rand.Reader}}, Queue: &sender.Sender{Client: queue.Client(p.SQSEndpoint), URL: p.QueueURL},
			Market: &dynamo.Market{Store: table, Builtin: labor.Starter()}, Syllabi: p.Syllabi, Keys: filepath.Join(dir, "demo-keys.json"),
		}.Load(ctx)
		if err == nil && p.Receiver != "" {
			var secret string
			secret, err = demo.Webhook(ctx, table, catalog.IDs{Random: rand.Reader}, p.Receiver, p.WebhookKey)
			receives.Trust(secret)
		}
		return loaded, err
	}
}
