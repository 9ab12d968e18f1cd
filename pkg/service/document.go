package service

import (
	"context"
	"slices"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Uploads reports whether the file of a document was uploaded, and when.
type Uploads interface {
	Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error)
}

// CreateDocument creates a document without its file.
func (a Actor) CreateDocument(in catalog.DocumentInput) (*catalog.Document, *catalog.Change, error) {
	document := &catalog.Document{Meta: catalog.NewMeta(a.IDs.Of(catalog.DocumentKind), a.Org, a.Now)}
	if err := catalog.Apply(in, document, a.Lookups); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Create(document, nil)
	return document, &change, nil
}

// DeleteDocument deletes a document, unless it is the syllabus of a live record. Reservations of records that are not
// saved yet are revoked; like checkNotHeld, it reads them before the records that they guard.
func (a Actor) DeleteDocument(ctx context.Context, id string) (*catalog.Change, error) {
	document, err := one[*catalog.Document](a, id)(ctx)
	if err != nil {
		return nil, err
	}
	var parents []string
	for _, holder := range document.HeldBy {
		_, parent, _ := catalog.HolderRecord(holder)
		parents = append(parents, parent)
	}
	reserved, err := a.Store.Reservations(ctx, a.Org, parents)
	if err != nil {
		return nil, err
	}
	for _, holder := range document.HeldBy {
		kind, parent, id := catalog.HolderRecord(holder)
		var record catalog.Record
		switch kind {
		case catalog.SectionKind:
			record, err = one[*catalog.Section](a, id)(ctx)
		case catalog.TransferCourseKind:
			record, err = a.TransferCourse(parent, id)(ctx)
		}
		switch {
		case catalog.HasCode(err, catalog.NotFound):
		case err != nil:
			return nil, err
		case catalog.HeldDocument(record) == document.ID:
			return nil, catalog.Errorf(catalog.Conflict,
				"The document is the syllabus of %s: give that another syllabus first.", catalog.HrefOf(record))
		}
	}
	var change catalog.Change
	change.Revoke(document, reserved)
	change.Delete(document, a.Now, nil)
	return &change, nil
}

// WithDocuments adds to the actor's look-ups those of the named documents whose files are uploaded.
func (a Actor) WithDocuments(
	ctx context.Context, uploads Uploads, named ...catalog.Optional[*string],
) (Actor, error) {
	var ids []string
	for _, id := range named {
		if id.Value != nil && *id.Value != "" {
			ids = append(ids, *id.Value)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return a, nil
	}
	documents, err := ReadyDocuments(ctx, a.Store, uploads, a.Org, ids)
	if err != nil {
		return a, err
	}
	for _, document := range documents {
		if err := document.CheckHolders(); err != nil {
			return a, err
		}
	}
	a.Lookups.Documents = documents
	return a, nil
}

// ReadyDocuments returns those of the documents whose files are uploaded, by id.
func ReadyDocuments(
	ctx context.Context, s Records, uploads Uploads, org catalog.OrgID, ids []string,
) (map[string]*catalog.Document, error) {
	documents, err := GetByID[*catalog.Document](ctx, s, org, ids, true)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	ready := map[string]*catalog.Document{}
	return ready, parallel.Each(ctx, documents, func(ctx context.Context, id string, document *catalog.Document) error {
		_, there, err := uploads.Uploaded(ctx, org, id)
		if there {
			mu.Lock()
			defer mu.Unlock()
			ready[id] = document
		}
		return err
	})
}
