package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// Files is the storage of documents' files.
type Files interface {
	service.Uploads
	// Sign returns a request that uploads the document's file, valid for the given seconds from now.
	Sign(ctx context.Context, d *catalog.Document, now catalog.Time, seconds int) (*catalog.Upload, error)
	// SignRejects returns an address of the file of the rows that an import rejected, valid for the given seconds from
	// now.
	SignRejects(
		ctx context.Context, org catalog.OrgID, importID string, now catalog.Time, seconds int,
	) (*catalog.ImportRejects, error)
	// Remove deletes the file of a document, or of the rows that an import rejected, if it exists.
	Remove(ctx context.Context, org catalog.OrgID, id string) error
}

// Document is a document with its status and, until its file is uploaded, the upload request for write keys.
type Document struct {
	*catalog.Document
	Status catalog.DocumentStatus `json:"status" enum:"AWAITING_UPLOAD,READY" doc:"Whether the file has been uploaded"`
	Upload *catalog.Upload        `json:"upload" doc:"Signed request that uploads the file; null if READY, and for read keys"`
}

func (s *Server) bindDocuments() {
	write(s, "createDocument", func(
		ctx context.Context, c *call, in *body[catalog.DocumentInput],
	) (*Document, *catalog.Change, error) {
		document, change, err := c.actor().CreateDocument(in.Body)
		if err != nil {
			return nil, nil, err
		}
		out, err := c.awaiting(ctx, document)
		return out, change, err
	})
	read(s, "getDocument", func(ctx context.Context, c *call, _ *none) (*Document, error) {
		document, err := service.Get[*catalog.Document](ctx, c.Store, c.org, c.recordID(), c.strong)
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
		return &Document{document, catalog.Ready, nil}, nil
	})
	erase(s, "deleteDocument", service.Actor.DeleteDocument)
}

// awaiting returns a document without its file. A document past its upload time is treated as deleted, which the
// sweeper makes true.
func (c *call) awaiting(ctx context.Context, document *catalog.Document) (*Document, error) {
	out := &Document{document, catalog.AwaitingUpload, nil}
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
