// Package importer starts the function that runs imports.
package importer

import (
	"log/slog"

	"github.com/aws/aws-lambda-go/lambda"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/importer"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/upsert"
)

// Start runs the function.
func Start() {
	config, log := boot.Start(api.Importer)
	lambda.Start(New(config, config.Store(), log).Handle)
}

// New returns the worker that runs imports.
func New(c boot.Config, store *dynamo.Store, log *slog.Logger) *importer.Worker {
	taxonomy := c.Skills()
	bucket := files.New(c)
	return &importer.Worker{
		Store: store, Files: bucket, Queue: sender.Imports(c), Now: boot.Now, IDs: boot.IDs, Log: log,
		Loader: upsert.Loader{
			Store: store, Queue: sender.Jobs(c), Files: bucket, Market: &dynamo.Market{Store: store},
			SkillName: func(id string) (string, bool) { return taxonomy().Name(id) },
			SkillID:   func(name string) (string, bool) { return taxonomy().Named(name) },
			CheckHref: func(href string) error { return address.Check(href, c.AllowedHosts) }, Now: boot.Now, IDs: boot.IDs,
			ArticulationFields: intake.ArticulationFields,
		},
	}
}
