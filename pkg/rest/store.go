package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/upsert"
)

// Store is what handlers need of the table, besides what use cases need. The organization comes first; no other
// organization's data is read or written.
type Store interface {
	upsert.Store

	// CoursesByCode returns a page of the courses with a code, compared after normalisation.
	CoursesByCode(ctx context.Context, org catalog.OrgID, code string, offset, limit int) ([]*catalog.Course, int, error)
	// ImportDetails returns the details of an import.
	ImportDetails(ctx context.Context, org catalog.OrgID, id string) (*catalog.ImportDetails, error)
	Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error)

	// WebhookAttempts returns a page of delivery attempts, newest first, and the cursor to pass as before for the next.
	WebhookAttempts(ctx context.Context, org catalog.OrgID, webhookID, before string,
		limit int) (attempts []catalog.WebhookAttempt, next string, err error)

	// Handle returns the organization with a handle, or "" if there is none.
	Handle(ctx context.Context, handle string) (catalog.OrgID, error)
	// IdempotencyRecord returns the record of an idempotency key, or nil if there is none.
	IdempotencyRecord(ctx context.Context, org catalog.OrgID, idempotencyKey string) (*catalog.IdempotencyRecord, error)
	// Link returns a link by the hash of its token, or nil if there is none.
	Link(ctx context.Context, hash string) (*catalog.Link, error)
}
