package main

import (
	"context"
	"crypto/rand"
	"maps"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/credentials"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/objects"
	"skillscurriculum/infra/local/queue"
	"skillscurriculum/infra/local/receiver"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/outbox"
)

// loadDemo returns a function that loads the demo into the stack's table, with a webhook
// for the receiver, and finds examples. The demo's API keys are stored in dir; site contains
// the files of the page of GET /docs.
func loadDemo(dir, site string, receives *receiver.Receiver) func(context.Context, stack.Places) (stack.Demo, error) {
	return func(ctx context.Context, p stack.Places) (stack.Demo, error) {
		table, ids := stack.Open(p.Env).Store, catalog.IDs{Random: rand.Reader}
		loader := demo.Loader{
			Store: table, Keyring: &keyring.Keyring{Store: table, Now: table.Now, IDs: ids},
			Queue: &outbox.Jobs{Client: queue.Client(p.Env[api.EnvSQSEndpoint]), URL: p.Env[api.EnvQueueURL]},
			Files: files.New(boot.Config{
				Region: "us-west-2", Bucket: p.Env[api.EnvBucket], S3Endpoint: p.Env[api.EnvS3Endpoint],
				Credentials: credentials.NewStaticCredentialsProvider(objects.Operator, objects.Secret, ""),
			}),
			Market: &dynamo.Market{Store: table}, Syllabi: p.Syllabi, Keys: filepath.Join(dir, "demo-keys.json"),
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
		hook, secret, err := loader.Webhook(ctx, p.Receiver, p.Env[api.EnvWebhookKey])
		if err != nil || hook == nil {
			return loaded, err
		}
		receives.Trust(secret)
		parameters, err := loader.WebhookParameters(ctx, hook)
		maps.Copy(loaded.Parameters, parameters)
		return loaded, err
	}
}
