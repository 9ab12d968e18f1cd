// Package sweeper starts the function that recovers lost extractions and interrupted deletions.
package sweeper

import (
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/queue"
)

// Start runs the function.
func Start() {
	config, log := boot.Start(api.Sweeper)
	lambda.Start(New(config, config.Store(), log).Handle)
}

// New returns the sweeper of a store.
func New(c boot.Config, store *dynamo.Store, log *slog.Logger) *queue.Sweeper {
	return &queue.Sweeper{
		Store: store, Sender: sender.Jobs(c), Imports: sender.Imports(c), Files: files.New(c), Now: boot.Now, IDs: boot.IDs,
		Log: log,
	}
}
