package rest

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

// Files is the storage of documents' files.
type Files interface {
	// Sign returns a request that uploads the document's file, valid for the given seconds from now.
	Sign(ctx context.Context, d *catalog.Document, now catalog.Time, seconds int) (*catalog.Upload, error)
	// Uploaded reports whether the document's file was uploaded, and when.
	Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error)
	// Remove deletes the document's file, if it exists.
	Remove(ctx context.Context, org catalog.OrgID, documentID string) error
}

type documentInput struct {
	DocumentID string `path:"documentId"`
}

// DocumentWithUpload is a document with its status and, until its file is uploaded, the upload request for write keys.
type DocumentWithUpload struct {
	*catalog.Document
	Status catalog.DocumentStatus `json:"status" enum:"AWAITING_UPLOAD,READY" doc:"Whether the file has been uploaded"`
	Upload *catalog.Upload        `json:"upload" doc:"Signed request that uploads the file; null if READY, and for read keys"`
}

func (s *Server) bindDocuments() {
	write(s, "createDocument", func(
		ctx context.Context, c *call, in *body[struct{ catalog.DocumentInput }],
	) (*DocumentWithUpload, *catalog.Change, error) {
		document := &catalog.Document{Meta: catalog.NewMeta(c.IDs.Of(catalog.DocumentKind), c.org, c.now)}
		if err := catalog.Apply(in.Body.DocumentInput, document, c.lookups()); err != nil {
			return nil, nil, err
		}
		var change catalog.Change
		change.Create(document, nil)
		out, err := c.awaiting(ctx, document)
		return out, &change, err
	})
	read(s, "getDocument", func(ctx context.Context, c *call, in *documentInput) (*DocumentWithUpload, error) {
		document, err := service.Get[*catalog.Document](ctx, c.Store, c.org, in.DocumentID, c.strong)
		if err != nil {
			return nil, err
		}
		at, there, err := c.Files.Uploaded(ctx, c.org, document.ID)
		if err != nil {
			return nil, err
		}
		if !there {
			return c.awaiting(ctx, document)
		}
		document.UpdatedAt = document.UpdatedAt.After(at)
		return &DocumentWithUpload{document, catalog.Ready, nil}, nil
	})
	remove(s, "deleteDocument", func(ctx context.Context, c *call, in *documentInput) (*catalog.Change, error) {
		document, err := service.Get[*catalog.Document](ctx, c.Store, c.org, in.DocumentID, true)
		if err != nil {
			return nil, err
		}
		reserved, err := c.notSyllabus(ctx, document)
		var change catalog.Change
		change.Revoke(document, reserved)
		change.Delete(document, c.now, nil)
		return &change, err
	})
}

// awaiting returns a document without its file. A document past its upload time is treated as deleted, which the
// sweeper makes true.
func (c *call) awaiting(ctx context.Context, document *catalog.Document) (*DocumentWithUpload, error) {
	out := &DocumentWithUpload{document, catalog.AwaitingUpload, nil}
	seconds := document.UploadTime(c.now)
	if seconds == 0 {
		return nil, catalog.Absent()
	}
	var err error
	if c.caller.Key.Scope == catalog.WriteScope {
		out.Upload, err = c.Files.Sign(ctx, document, c.now, seconds)
	}
	return out, err
}

// notSyllabus returns a conflict if the document is the syllabus of a live record, else the reservations to revoke, of
// records that are not saved yet. Like notHeld, it reads reservations before the records that they guard.
func (c *call) notSyllabus(ctx context.Context, document *catalog.Document) ([]catalog.Reservation, error) {
	var parents []string
	for _, holder := range document.HeldBy {
		_, parent, _ := catalog.HolderRecord(holder)
		parents = append(parents, parent)
	}
	reserved, err := c.Store.Reservations(ctx, c.org, parents)
	if err != nil {
		return nil, err
	}
	for _, holder := range document.HeldBy {
		kind, parent, id := catalog.HolderRecord(holder)
		var record catalog.Record
		switch kind {
		case catalog.SectionKind:
			record, err = service.Get[*catalog.Section](ctx, c.Store, c.org, id, true)
		case catalog.TransferCourseKind:
			record, err = service.GetIn[*catalog.TransferCourse](ctx, c.Store, c.org, parent, id, true)
		}
		switch {
		case isAbsent(err):
		case err != nil:
			return nil, err
		case catalog.HeldDocument(record) == document.ID:
			return nil, catalog.Errorf(catalog.Conflict, "The document is the syllabus of %s: give that another syllabus first.", catalog.HrefOf(record))
		}
	}
	return reserved, nil
}

// withDocuments returns the lookups with those of the named documents that the organization has and whose files are
// uploaded.
func (c *call) withDocuments(ctx context.Context, named ...catalog.Optional[*string]) (catalog.Lookups, error) {
	l := c.lookups()
	var ids []string
	for _, id := range named {
		if id.Value != nil && *id.Value != "" {
			ids = append(ids, *id.Value)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) == 0 {
		return l, nil
	}
	documents, err := service.GetByID[*catalog.Document](ctx, c.Store, c.org, ids, true)
	if err != nil {
		return l, err
	}
	var mu sync.Mutex
	l.Documents = map[string]*catalog.Document{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for id, document := range documents {
		if len(document.HeldBy) >= catalog.MaxDocumentHolders {
			return l, catalog.Errorf(catalog.Conflict, "Document %s is already the syllabus of %d records.", id, catalog.MaxDocumentHolders)
		}
		group.Go(func() (err error) {
			defer parallel.Recover(&err)
			_, there, err := c.Files.Uploaded(groupCtx, c.org, id)
			if there {
				mu.Lock()
				defer mu.Unlock()
				l.Documents[id] = document
			}
			return err
		})
	}
	return l, group.Wait()
}
