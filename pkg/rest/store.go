package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// Store is what handlers need of the table, besides what use cases need. The organization comes first; no other
// organization's data is read or written.
type Store interface {
	service.Store
	service.HealthReader
	service.Searched
	service.Webhooks

	// CoursesByCode returns a page of the courses with a code, compared after normalisation.
	CoursesByCode(ctx context.Context, org catalog.OrgID, code string, offset, limit int) ([]*catalog.Course, int, error)
	Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error)

	// WebhookAttempts returns a page of delivery attempts, newest first, and the cursor to pass as before for the next.
	WebhookAttempts(ctx context.Context, org catalog.OrgID, webhookID, before string, limit int) (attempts []catalog.WebhookAttempt, next string, err error)

	// Organization returns an organization, or nil if there is none.
	Organization(ctx context.Context, id catalog.OrgID) (*catalog.Organization, error)
	// IdempotencyRecord returns the record of an idempotency key, or nil if there is none.
	IdempotencyRecord(ctx context.Context, org catalog.OrgID, idempotencyKey string) (*catalog.IdempotencyRecord, error)
	// Known finds records by external id, with strong reads; see catalog.Change.Resolve.
	Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error)
	// Link returns a link by the hash of its token, or nil if there is none.
	Link(ctx context.Context, hash string) (*catalog.Link, error)
	// Commit saves a change atomically. It returns catalog.ErrStale if a record has changed since it was loaded.
	Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error
}
