package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

type upload struct {
	Organization catalog.OrgID `required:"" placeholder:"ORG" help:"Whose documents they are."`
	Files        []string      `arg:"" name:"file" help:"Files that hold syllabi."`
}

// uploaded is a document's line in the output of upload.
type uploaded struct {
	File       string `json:"file"`
	DocumentID string `json:"documentId"`
}

// Run uploads files, each as a document of its own, and prints the documents' ids.
func (c *upload) Run(ctx context.Context, t *tool) error {
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	if s.files == nil {
		return fmt.Errorf("no storage of files is known: set %s", api.EnvBucket)
	}
	if err := s.organization(ctx, c.Organization); err != nil {
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
	if err := t.show(done, func(w io.Writer) {
		for _, u := range done {
			fmt.Fprintf(w, "%s\t%s\n", u.DocumentID, u.File)
		}
	}); err != nil {
		return err
	}
	if failed != nil {
		return errors.Join(append(failed, errPartly)...)
	}
	return nil
}

// upload makes a document of a file, by the rules of POST /documents, and uploads it.
// One whose upload fails goes as one whose upload never came.
func (s *service) upload(ctx context.Context, org catalog.OrgID, name string) (id string, err error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	if size := info.Size(); !info.Mode().IsRegular() || size < 1 || size > catalog.MaxDocumentBytes {
		return "", fmt.Errorf("it must be a file of 1 to %d bytes", catalog.MaxDocumentBytes)
	}
	file, err := os.ReadFile(name)
	if err != nil {
		return "", err
	}
	base := strings.TrimSpace(filepath.Base(name))
	if n := len([]rune(base)); n < 1 || n > 255 {
		return "", errors.New("its name must have 1 to 255 characters")
	}
	sum := sha256.Sum256(file)
	document := &catalog.Document{
		Meta: catalog.NewMeta(ids.Of(catalog.DocumentKind), org, now()), FileName: base, SizeBytes: len(file), SHA256: hex.EncodeToString(sum[:]),
	}
	for {
		var change catalog.Change
		change.Create(document, nil)
		if err := s.store.Commit(ctx, org, &change); !errors.Is(err, catalog.ErrStale) {
			if err != nil {
				return "", err
			}
			break
		}
	}
	return document.ID, s.files.Put(ctx, document, now(), file)
}
