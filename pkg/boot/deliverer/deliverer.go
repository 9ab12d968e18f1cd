// Package deliverer starts the function that turns changes into messages and delivers them to webhooks.
package deliverer

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/delivery"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/webhook"
)

// Start runs the function.
func Start() {
	config, log := boot.Start(api.Deliverer)
	worker, err := New(config, config.Store(), log)
	if err != nil {
		log.Error("deliverer", "cause", err.Error())
		os.Exit(1)
	}
	lambda.Start(worker.Handle)
}

// New returns the worker that delivers messages.
func New(c boot.Config, store *dynamo.Store, log *slog.Logger) (*delivery.Worker, error) {
	cipher, err := webhook.NewCipher(c.WebhookKey)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", api.EnvWebhookKey, err)
	}
	return &delivery.Worker{
		Store: store, Queue: sender.Messages(c), Client: delivery.NewClient(c.WebhookHosts), Allowed: c.WebhookHosts,
		Cipher: cipher, Schedule: c.WebhookSchedule,
		FeedPlace: dynamo.FeedPlace, Now: boot.Now, Chance: rand.Float64, Log: log,
	}, nil
}
