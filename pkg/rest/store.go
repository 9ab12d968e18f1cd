package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Store is the table as the handlers see it. Everything in it belongs to the
// organization that is named first.
type Store interface {
	CourseStore
	JobStore
	CredentialStore
	ProgramStore
	TransferStore
	ReportStore
	ExtractionStore
	FeedStore
	IndexStore

	// Directory reads a list's directory as it is now.
	Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error)
	// Answer reads the answer that is kept under an idempotency key; nil for none.
	IdempotencyRecord(ctx context.Context, org catalog.OrgID, idempotencyKey string) (*catalog.IdempotencyRecord, error)
	// Known finds records by external id, as they are now; see catalog.Change.Resolve.
	Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error)
	// Commit saves a change, whole or not at all; catalog.ErrStale when what it was
	// decided on is no longer so.
	Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error
}
