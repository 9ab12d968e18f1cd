// Package extractor starts the function that runs syllabus extractions.
package extractor

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/boot/trace"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/queue"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/skills/wordvectors"
	"skillscurriculum/pkg/syllabus"
)

// Start runs the function.
func Start() {
	config, log := boot.Start(api.Extractor)
	worker, err := New(context.Background(), config, config.Store(), log)
	if err != nil {
		log.Error("extractor", "cause", err.Error())
		os.Exit(1)
	}
	lambda.Start(worker.Handle)
}

// New makes what runs extractions on a store. PDFium and the taxonomy are warm once
// it is there.
func New(ctx context.Context, c boot.Config, store *dynamo.Store, log *slog.Logger) (*queue.Worker, error) {
	taxonomy, err := c.Taxonomy()
	if err != nil {
		return nil, err
	}
	reader, err := syllabus.NewReader(ctx)
	if err != nil {
		return nil, fmt.Errorf("PDF reader: %w", err)
	}
	info := taxonomy.Info()
	return &queue.Worker{
		Store: store, Sender: sender.New(c), Documents: documents{&syllabus.Fetcher{AllowedHosts: c.AllowedHosts}, reader},
		Extractor: skills.NewExtractor(taxonomy, wordvectors.Table()), RetryDelay: c.RetryDelay, Now: boot.Now, IDs: boot.IDs, Log: log, Trace: trace.Send,
		Provenance: catalog.Provenance{Engine: skills.Engine, Taxonomy: info.Name, TaxonomyVersion: info.Version},
	}, nil
}

// documents reads syllabi from addresses, within the guards of package syllabus.
type documents struct {
	fetcher *syllabus.Fetcher
	reader  *syllabus.Reader
}

func (d documents) Fetch(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	fetched, err := d.fetcher.Fetch(ctx, task.SyllabusHref)
	if err != nil {
		return catalog.SyllabusText{}, err
	}
	return d.reader.Read(ctx, fetched.Body, syllabus.Hint{ContentType: fetched.ContentType, Name: fetched.FinalName, Course: task.Name})
}

func (d documents) Plain(ctx context.Context, words string) (catalog.SyllabusText, error) {
	return d.reader.Read(ctx, []byte(words), syllabus.Hint{Kind: syllabus.Text})
}
