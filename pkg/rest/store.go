package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// Store is the table as the handlers see it. Everything in it belongs to the
// organization that is named first. A strong read is of the record as it is now; a
// record that is not there is catalog.Absent, and missing from a map.
type Store interface {
	service.Store
	service.HealthReader
	service.Searched
	service.Webhooks

	// CoursesByCode reads a page of the courses with that code, normalised.
	CoursesByCode(ctx context.Context, org catalog.OrgID, code string, offset, limit int) ([]*catalog.Course, int, error)
	Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error)

	// WebhookAttempts reads a page of the attempts at a webhook, the newest first, from
	// behind a place on, which is a cursor of the page before; "" for the first.
	WebhookAttempts(ctx context.Context, org catalog.OrgID, webhookID, before string, limit int) (attempts []catalog.WebhookAttempt, next string, err error)

	// Organization reads an organization; nil for none.
	Organization(ctx context.Context, id catalog.OrgID) (*catalog.Organization, error)
	// IdempotencyRecord reads what is stored under an idempotency key; nil for none.
	IdempotencyRecord(ctx context.Context, org catalog.OrgID, idempotencyKey string) (*catalog.IdempotencyRecord, error)
	// Known finds records by external id, as they are now; see catalog.Change.Resolve.
	Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error)
	// Link reads a link by the hash of its token; nil for none.
	Link(ctx context.Context, hash string) (*catalog.Link, error)
	// Commit saves a change, whole or not at all; catalog.ErrStale when what it was
	// decided on is no longer so.
	Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error
}
