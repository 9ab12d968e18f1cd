package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Store is the table as the handlers see it. Everything in it belongs to the
// organization that is named first. A strong read is of the record as it is now; a
// record that is not there is catalog.Absent, and missing from a map.
type Store interface {
	Courses(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Course, int, error)
	// CoursesByCode reads a page of the courses with exactly that code.
	CoursesByCode(ctx context.Context, org catalog.OrgID, code string, offset, limit int) ([]*catalog.Course, int, error)
	Course(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Course, error)
	CoursesByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Course, error)
	// CoursesOfSections returns the courses by the ids of sections that they mention.
	CoursesOfSections(ctx context.Context, org catalog.OrgID, sectionIDs []string, strong bool) (map[string]*catalog.Course, error)
	Section(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Section, error)
	SectionsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Section, error)

	Jobs(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Job, int, error)
	Job(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Job, error)
	JobsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Job, error)

	// Sections of a loaded credential are ids only.
	Credentials(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Credential, int, error)
	Credential(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Credential, error)

	// Courses of a loaded program are only the ids in its CourseOrder.
	Programs(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Program, int, error)
	Program(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Program, error)
	ProgramsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Program, error)

	TransferPackages(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.TransferPackage, int, error)
	TransferPackage(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.TransferPackage, error)
	TransferCourses(ctx context.Context, org catalog.OrgID, packageID string) ([]*catalog.TransferCourse, error)
	TransferCourse(ctx context.Context, org catalog.OrgID, packageID, id string, strong bool) (*catalog.TransferCourse, error)

	// TransferCoursesByID returns transfer courses whose packages nothing names, and these.
	TransferCoursesByID(ctx context.Context, org catalog.OrgID, ids []string) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error)

	Articulations(ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter, offset, limit int) ([]*catalog.Articulation, int, error)
	Articulation(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Articulation, error)
	ArticulationsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Articulation, error)
	// ArticulationsByNumber returns those with the sequence numbers, as they are now.
	ArticulationsByNumber(ctx context.Context, org catalog.OrgID, numbers []int) ([]*catalog.Articulation, error)
	// Approved returns what is approved under each of the keys, as it is now.
	Approved(ctx context.Context, org catalog.OrgID, under []catalog.ApprovedKey) ([]*catalog.Approved, error)
	// LastingArticulations passes the approved ones that have not ended before the day to
	// each, some at a time, in creation order.
	LastingArticulations(ctx context.Context, org catalog.OrgID, day string, each func([]*catalog.Articulation) error) error
	Moves(ctx context.Context, org catalog.OrgID, articulationID string) ([]catalog.Move, error)

	Reports(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Report, int, error)
	Report(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Report, error)

	SyllabusExtraction(ctx context.Context, org catalog.OrgID, id string) (*catalog.SyllabusExtraction, error)
	Text(ctx context.Context, org catalog.OrgID, id string) ([]byte, error)
	Outcome(ctx context.Context, org catalog.OrgID, id string) (*catalog.Outcome, error)

	Document(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Document, error)
	DocumentsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Document, error)

	// Reservations returns those of the holders that have one.
	Reservations(ctx context.Context, org catalog.OrgID, holders []string) ([]catalog.Reservation, error)

	// Changes reads the change feed from a cursor on.
	Changes(ctx context.Context, org catalog.OrgID, cursor string, limit int) (changes []catalog.RecordChange, more bool, err error)

	AllSections(ctx context.Context, org catalog.OrgID) ([]*catalog.Section, error)
	AllCourses(ctx context.Context, org catalog.OrgID) ([]*catalog.Course, error)
	// FeedEnd returns the place behind the last change of the organization's records.
	FeedEnd(ctx context.Context, org catalog.OrgID) (catalog.Cursor, error)

	// Webhooks reads the organization's webhooks as they are now.
	Webhooks(ctx context.Context, org catalog.OrgID) (*catalog.Webhooks, error)
	// WebhookMessage reads a message before its next attempt.
	WebhookMessage(ctx context.Context, org catalog.OrgID, webhookID, messageID string) (catalog.WebhookMessage, error)
	// WebhookAttempts reads a page of the attempts at a webhook, the newest first, from
	// behind a place on, which is a cursor of the page before; "" for the first.
	WebhookAttempts(ctx context.Context, org catalog.OrgID, webhookID, before string, limit int) (attempts []catalog.WebhookAttempt, next string, err error)

	// Directory reads a list's directory as it is now.
	Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error)
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
