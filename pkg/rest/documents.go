package rest

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// Files is where the files of documents are.
type Files interface {
	// Sign returns the request that uploads the document's file, valid for that many
	// seconds from now on.
	Sign(ctx context.Context, d *catalog.Document, now catalog.Time, seconds int) (*catalog.Upload, error)
	// Uploaded returns when the document's file came; false where it did not.
	Uploaded(ctx context.Context, org catalog.OrgID, documentID string) (at catalog.Time, there bool, err error)
	// Remove removes the document's file, if it is there.
	Remove(ctx context.Context, org catalog.OrgID, documentID string) error
}

type documentInput struct {
	DocumentID string `path:"documentId"`
}

type createDocumentInput struct {
	Body struct{ catalog.DocumentInput }
}

// DocumentWithUpload is a document as it stands: with its file, or with the request
// that uploads it, which read keys do not see.
type DocumentWithUpload struct {
	*catalog.Document
	Status catalog.DocumentStatus `json:"status" enum:"AWAITING_UPLOAD,READY" doc:"Whether the file is there"`
	Upload *catalog.Upload        `json:"upload" doc:"Request that uploads the file, valid now; null when READY, and to a read key"`
}

func (s *Server) bindDocuments() {
	write(s, "createDocument", func(ctx context.Context, c *call, in *createDocumentInput) (*DocumentWithUpload, *catalog.Change, error) {
		document := &catalog.Document{Meta: catalog.NewMeta(c.IDs.Of(catalog.DocumentKind), c.org, c.now)}
		if err := catalog.Apply(in.Body.DocumentInput, document, c.lookups()); err != nil {
			return nil, nil, err
		}
		var change catalog.Change
		change.Create(document, nil)
		c.created(document)
		out, err := c.awaiting(ctx, document)
		return out, &change, err
	})
	read(s, "getDocument", func(ctx context.Context, c *call, in *documentInput) (*DocumentWithUpload, error) {
		document, err := c.Store.Document(ctx, c.org, in.DocumentID, c.strong)
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
	write(s, "deleteDocument", func(ctx context.Context, c *call, in *documentInput) (none, *catalog.Change, error) {
		document, err := c.Store.Document(ctx, c.org, in.DocumentID, true)
		var change catalog.Change
		if err == nil {
			change.Revoked, err = c.notSyllabus(ctx, document)
		}
		if err == nil {
			change.Delete(document, c.now, nil)
		}
		return none{}, &change, err
	})
}

// awaiting shows a document whose file is not there. One that has waited for too long
// is as good as deleted; the sweeper deletes it.
func (c *call) awaiting(ctx context.Context, document *catalog.Document) (*DocumentWithUpload, error) {
	out := &DocumentWithUpload{document, catalog.AwaitingUpload, nil}
	seconds := document.UploadTime(c.now)
	if seconds == 0 {
		return nil, catalog.Absent()
	}
	var err error
	if c.caller.Scope == catalog.WriteScope {
		out.Upload, err = c.Files.Sign(ctx, document, c.now, seconds)
	}
	return out, err
}

// notSyllabus refuses what would take the document away from a live record, and returns
// the reservations to be revoked of records that are not there yet. As in notHeld, these
// are read before what they guard.
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
			record, err = c.Store.Section(ctx, c.org, id, true)
		case catalog.TransferCourseKind:
			record, err = c.Store.TransferCourse(ctx, c.org, parent, id, true)
		}
		switch {
		case isAbsent(err):
		case err != nil:
			return nil, err
		case catalog.HeldDocument(record) == document.ID:
			return nil, catalog.Errorf(catalog.Conflict, "%s is extracted from it: give that another syllabus first.", catalog.HrefOf(record))
		}
	}
	return reserved, nil
}

// withDocuments returns the look-ups with the documents that inputs name, as far as
// they are the organization's and their file is there.
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
	documents, err := c.Store.DocumentsByID(ctx, c.org, ids, true)
	if err != nil {
		return l, err
	}
	var mu sync.Mutex
	l.Documents = map[string]*catalog.Document{}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for id, document := range documents {
		if len(document.HeldBy) >= catalog.MaxDocumentHolders {
			return l, catalog.Errorf(catalog.Conflict, "Document %s is the syllabus of %d records already.", id, catalog.MaxDocumentHolders)
		}
		group.Go(func() (err error) {
			defer caught(&err)
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
