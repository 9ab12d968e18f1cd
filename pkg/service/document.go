package service

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Uploads finds the files of documents.
type Uploads interface {
	// Uploaded reports whether the document's file was uploaded, and when.
	Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error)
}

// ReadyDocuments returns those of the documents whose files are uploaded, by id.
func ReadyDocuments(
	ctx context.Context, s Records, files Uploads, org catalog.OrgID, ids []string,
) (map[string]*catalog.Document, error) {
	documents, err := GetByID[*catalog.Document](ctx, s, org, ids, true)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	ready := map[string]*catalog.Document{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for id, document := range documents {
		group.Go(func() (err error) {
			defer parallel.Recover(&err)
			_, there, err := files.Uploaded(groupCtx, org, id)
			if there {
				mu.Lock()
				defer mu.Unlock()
				ready[id] = document
			}
			return err
		})
	}
	return ready, group.Wait()
}
