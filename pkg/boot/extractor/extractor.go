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
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/boot/trace"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/queue"
	"skillscurriculum/pkg/storage"
	"skillscurriculum/pkg/syllabus"
)

// Start runs the function.
func Start() {
	config, log := boot.Start(api.Extractor)
	worker, err := New(config, config.Store(), log)
	if err != nil {
		log.Error("extractor", "cause", err.Error())
		os.Exit(1)
	}
	lambda.Start(worker.Handle)
}

// New returns the worker that runs extractions, with PDFium and the taxonomy loaded.
func New(c boot.Config, store *dynamo.Store, log *slog.Logger) (*queue.Worker, error) {
	taxonomy, err := c.Taxonomy(extraction.Starter)
	if err != nil {
		return nil, err
	}
	reader, err := syllabus.NewReader()
	if err != nil {
		return nil, fmt.Errorf("PDF reader: %w", err)
	}
	info := taxonomy.Info()
	return &queue.Worker{
		Store: store, Sender: sender.Jobs(c),
		Documents: documents{&syllabus.Fetcher{AllowedHosts: c.AllowedHosts}, reader, store, files.New(c)},
		Extractor: extraction.NewExtractor(taxonomy, wordvectors.Table()), RetryDelay: c.RetryDelay,
		Now: boot.Now, IDs: boot.IDs, Log: log, Trace: trace.Send,
		Provenance: catalog.Provenance{Engine: extraction.Engine, Taxonomy: info.Name, TaxonomyVersion: info.Version},
	}, nil
}

// documents reads syllabi from addresses, with the guards of package syllabus, and from uploaded documents.
type documents struct {
	fetcher *syllabus.Fetcher
	reader  *syllabus.Reader
	store   *dynamo.Store
	files   *storage.Bucket
}

func (d documents) Fetch(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	if task.DocumentID != "" {
		return d.uploaded(ctx, task)
	}
	fetched, err := d.fetcher.Fetch(ctx, task.SyllabusHref)
	if err != nil {
		return catalog.SyllabusText{}, err
	}
	return d.reader.Read(ctx, fetched.Body, syllabus.Hint{
		ContentType: fetched.ContentType, Name: fetched.FinalName, Course: task.Name,
	})
}

func (d documents) uploaded(ctx context.Context, task *catalog.Task) (catalog.SyllabusText, error) {
	org := task.Job.OrganizationID
	record, err := d.store.Record(ctx, org, catalog.DocumentKind, "", task.DocumentID, false)
	var file []byte
	if err == nil {
		file, err = d.files.Read(ctx, org, task.DocumentID)
	}
	switch {
	case catalog.HasCode(err, catalog.NotFound):
		err = &catalog.Failure{Code: catalog.DocumentNotFound, Message: "The document no longer exists."}
	case catalog.HasCode(err, catalog.Unavailable):
		err = &catalog.Failure{Code: catalog.Unreachable, Message: "The document could not be reached."}
	}
	if err != nil {
		return catalog.SyllabusText{}, err
	}
	return d.reader.Read(ctx, file, syllabus.Hint{Name: record.(*catalog.Document).FileName, Course: task.Name})
}

func (d documents) Plain(ctx context.Context, words string) (catalog.SyllabusText, error) {
	return d.reader.Read(ctx, []byte(words), syllabus.Hint{Kind: syllabus.Text})
}
