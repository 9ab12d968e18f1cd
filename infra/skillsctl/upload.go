package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

type upload struct {
	Organization catalog.OrgID `required:"" placeholder:"ORG" help:"Organization that owns the documents."`
	Files        []string      `arg:"" name:"file" help:"Syllabi."`
}

// uploaded is one document in the output.
type uploaded struct {
	File       string `json:"file"`
	DocumentID string `json:"documentId"`
}

// Run uploads each file as a document and prints a table of the documents' ids.
func (c *upload) Run(ctx context.Context, t *tool, s *service) error {
	if s.files == nil {
		return fmt.Errorf("no bucket for files: set %s", api.EnvBucket)
	}
	if _, err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	step, end := progress(t.stderr, "upload")
	var done []uploaded
	var failed []error
	for i, name := range c.Files {
		id, err := s.upload(ctx, c.Organization, name)
		if ctx.Err() != nil {
			end()
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, reason(err)))
		} else {
			done = append(done, uploaded{name, id})
		}
		step(i+1, len(c.Files))
	}
	end()
	if done == nil {
		return errors.Join(failed...)
	}
	if err := t.showUploaded(done); err != nil {
		return err
	}
	if failed != nil {
		return errors.Join(append(failed, errPartly)...)
	}
	return nil
}

// showUploaded prints a table that can be imported: it assigns the documents to the courses or sections that their files
// are named after.
func (t *tool) showUploaded(done []uploaded) error {
	if t.json {
		return t.show(done, nil)
	}
	table := csv.NewWriter(t.stdout)
	lines := [][]string{{"fileName", "documentId"}}
	for _, u := range done {
		lines = append(lines, []string{filepath.Base(u.File), u.DocumentID})
	}
	return table.WriteAll(lines)
}

// upload creates a document for a file, by the rules of POST /documents, and uploads it. A document whose upload fails
// expires like one that was never uploaded.
func (s *service) upload(ctx context.Context, org catalog.OrgID, name string) (id string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if size := info.Size(); !info.Mode().IsRegular() || size < 1 || size > catalog.MaxDocumentBytes {
		return "", fmt.Errorf("must be a file of 1 to %d bytes", catalog.MaxDocumentBytes)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	in := catalog.DocumentInput{
		FileName:  catalog.Optional[string]{Set: true, Value: strings.TrimSpace(filepath.Base(name))},
		SizeBytes: catalog.Optional[int]{Set: true, Value: len(file)},
		SHA256:    catalog.Optional[string]{Set: true, Value: catalog.HashSecret(string(file))},
	}
	for {
		document, change, err := usecase.Actor{Org: org, Now: now(), IDs: ids}.CreateDocument(in)
		if err == nil {
			err = s.store.Commit(ctx, org, change)
		}
		switch {
		case err == nil:
			return document.ID, s.files.Put(ctx, document, now(), file)
		case !errors.Is(err, catalog.ErrStale):
			return "", err
		}
	}
}
