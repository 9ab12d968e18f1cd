package service

import (
	"context"
	"slices"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Documents is the table as the use cases of documents need it.
type Documents interface {
	Records
	// Reservations returns the reservations of those holders that have one.
	Reservations(ctx context.Context, org catalog.OrgID, holders []string) ([]catalog.Reservation, error)
}

// Uploads reports whether the file of a document was uploaded, and when.
type Uploads interface {
	Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error)
}

// CreateDocument creates a document without its file.
func CreateDocument(a Actor, in catalog.DocumentInput) (*catalog.Document, *catalog.Change, error) {
	document := &catalog.Document{Meta: catalog.NewMeta(a.IDs.Of(catalog.DocumentKind), a.Org, a.Now)}
	if err := catalog.Apply(in, document, a.Lookups); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Create(document, nil)
	return document, &change, nil
}

// DeleteDocument deletes a document, unless it is the syllabus of a live record. Reservations of records that are not
// saved yet are revoked; like notHeld, it reads them before the records that they guard.
func DeleteDocument(ctx context.Context, s Documents, a Actor, id string) (*catalog.Change, error) {
	document, err := Get[*catalog.Document](ctx, s, a.Org, id, true)
	if err != nil {
		return nil, err
	}
	var parents []string
	for _, holder := range document.HeldBy {
		_, parent, _ := catalog.HolderRecord(holder)
		parents = append(parents, parent)
	}
	reserved, err := s.Reservations(ctx, a.Org, parents)
	if err != nil {
		return nil, err
	}
	for _, holder := range document.HeldBy {
		kind, parent, id := catalog.HolderRecord(holder)
		var record catalog.Record
		switch kind {
		case catalog.SectionKind:
			record, err = Get[*catalog.Section](ctx, s, a.Org, id, true)
		case catalog.TransferCourseKind:
			record, err = GetIn[*catalog.TransferCourse](ctx, s, a.Org, parent, id, true)
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
func WithDocuments(
	ctx context.Context, s Documents, uploads Uploads, a Actor, named ...catalog.Optional[*string],
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
	documents, err := GetByID[*catalog.Document](ctx, s, a.Org, ids, true)
	if err != nil {
		return a, err
	}
	for id, document := range documents {
		if len(document.HeldBy) >= catalog.MaxDocumentHolders {
			return a, catalog.Errorf(catalog.Conflict,
				"Document %s is already the syllabus of %d records.", id, catalog.MaxDocumentHolders)
		}
	}
	var mu sync.Mutex
	a.Lookups.Documents = map[string]*catalog.Document{}
	return a, parallel.Each(ctx, documents, func(ctx context.Context, id string, document *catalog.Document) error {
		_, there, err := uploads.Uploaded(ctx, a.Org, id)
		if there {
			mu.Lock()
			defer mu.Unlock()
			a.Lookups.Documents[id] = document
		}
		return err
	})
}
