package main

import (
	"context"
	"crypto/rand"
	"maps"
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
// receiver, and finds the examples that work on it. The demo's keys are kept in dir, the
// files of the page of GET /docs are in site.
func loadDemo(dir, site string, receives *receiver.Receiver) func(context.Context, stack.Places) (stack.Demo, error) {
	return func(ctx context.Context, p stack.Places) (stack.Demo, error) {
		table, ids := newStore(p).(store).Store, catalog.IDs{Random: rand.Reader}
		loader := demo.Loader{
			Store: table, Keyring: &keyring.Keyring{Store: table, Now: now, IDs: ids}, Queue: &sender.Sender{Client: queue.Client(p.SQSEndpoint), URL: p.QueueURL},
			Market: &dynamo.Market{Store: table, Builtin: labor.Starter()}, Syllabi: p.Syllabi, Keys: filepath.Join(dir, "demo-keys.json"),
		}
		loaded, err := loader.Load(ctx)
		if err != nil {
			return loaded, err
		}
		if loaded.Parameters, err = loader.Parameters(ctx, loaded); err != nil {
			return loaded, err
		}
		if assets, err := filepath.Glob(filepath.Join(site, "assets", "page-*.js")); err == nil && len(assets) > 0 {
			loaded.Parameters["getDocsAsset.asset"] = filepath.Base(assets[0])
		}
		if p.Receiver == "" {
			return loaded, nil
		}
		hook, secret, err := demo.Webhook(ctx, table, ids, p.Receiver, p.WebhookKey)
		if err != nil || hook == nil {
			return loaded, err
		}
		receives.Trust(secret)
		parameters, err := demo.WebhookParameters(ctx, table, ids, hook)
		maps.Copy(loaded.Parameters, parameters)
		return loaded, err
	}
}
