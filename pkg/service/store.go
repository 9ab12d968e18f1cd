package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Records reads records of any kind. A strong read returns the latest version. parent is the id of a record's owner if
// its kind is nested, otherwise "". Get, GetByID, Each and List are their typed forms.
type Records interface {
	// Record returns a record, or catalog.Absent if it does not exist.
	Record(
		ctx context.Context, org catalog.OrgID, kind catalog.Kind, parent, id string, strong bool,
	) (catalog.Record, error)
	// RecordsByID returns the existing records among ids, by id.
	RecordsByID(
		ctx context.Context, org catalog.OrgID, kind catalog.Kind, ids []string, strong bool,
	) (map[string]catalog.Record, error)
	// EachRecord visits every record of a kind, in creation order. Without a parent it visits the records of all parents.
	EachRecord(
		ctx context.Context, org catalog.OrgID, kind catalog.Kind, parent string, visit func(catalog.Record) error,
	) error
	// Page returns a page of a list in creation order, and the number of records in the list.
	Page(ctx context.Context, org catalog.OrgID, kind catalog.Kind, offset, limit int) ([]catalog.Record, int, error)
}

// Store is what use cases read from the table. A strong read returns the latest version. Reads of one record return
// catalog.Absent if it does not exist; reads by ids omit the records that do not exist.
type Store interface {
	Records
	Feed
	Webhooks

	// Directory reads the directory of a list with a strong read.
	Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error)
	// ExtractionResult returns the result of a record's last extraction; nil for none.
	ExtractionResult(ctx context.Context, org catalog.OrgID, id string) (*catalog.ExtractionResult, error)
	// ExtractionResults returns the results of the last extractions of records, by the records' ids.
	ExtractionResults(
		ctx context.Context, org catalog.OrgID, ids []string,
	) (map[string]*catalog.ExtractionResult, error)
	// Approved returns the entries under each of the keys, with strong reads.
	Approved(ctx context.Context, org catalog.OrgID, under []catalog.ApprovedKey) ([]*catalog.Approved, error)
	// ArticulationsByNumber returns the existing articulations with the sequence numbers, in creation order. fields
	// limits what is read of each; without fields the whole record is read.
	ArticulationsByNumber(
		ctx context.Context, org catalog.OrgID, numbers []int, fields []string, strong bool,
	) ([]*catalog.Articulation, error)
	// CoursesOfSections returns the courses by the ids of their sections.
	CoursesOfSections(
		ctx context.Context, org catalog.OrgID, sectionIDs []string, strong bool,
	) (map[string]*catalog.Course, error)
	// Completion returns the change that completes a deletion that was interrupted, or catalog.Absent if no record that
	// the deleted course or package owned is left.
	Completion(ctx context.Context, org catalog.OrgID, kind catalog.Kind, id string) (*catalog.Change, error)
	// Reservations returns the reservations of those holders that have one.
	Reservations(ctx context.Context, org catalog.OrgID, holders []string) ([]catalog.Reservation, error)
	Articulations(
		ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter, offset, limit int,
	) ([]*catalog.Articulation, int, error)
	// MapDecisions returns the decisions on the map of a program, those on former outcomes and courses included.
	MapDecisions(ctx context.Context, org catalog.OrgID, programID string) ([]catalog.MapDecision, error)
	// CTIDs finds records by CTIDs that were set, with strong reads.
	CTIDs(ctx context.Context, org catalog.OrgID, ctids []string) (map[string]catalog.ExternalID, error)
	// LastingArticulations returns the sequence numbers of the approved articulations that have not ended before the
	// day, in creation order.
	LastingArticulations(ctx context.Context, org catalog.OrgID, day string) ([]int, error)
	Moves(ctx context.Context, org catalog.OrgID, articulationID string) ([]catalog.Move, error)
	// Organization returns an organization, or nil if there is none.
	Organization(ctx context.Context, id catalog.OrgID) (*catalog.Organization, error)
	// Titles reads at least catalog.TitleFields, and the fields named by also, of every record of a list, with strong
	// reads.
	Titles(ctx context.Context, org catalog.OrgID, kind catalog.Kind, also ...string) ([]catalog.Record, error)
	// TransferCoursesByID finds transfer courses without their packages' ids, and returns them with their packages.
	TransferCoursesByID(
		ctx context.Context, org catalog.OrgID, ids []string,
	) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error)
}

func kindOf[R catalog.Record]() catalog.Kind {
	var none R
	return catalog.KindOf(none)
}

// Get reads a record whose kind is not nested.
func Get[R catalog.Record](ctx context.Context, s Records, org catalog.OrgID, id string, strong bool) (R, error) {
	return GetIn[R](ctx, s, org, "", id, strong)
}

// GetIn reads a record of a nested kind.
func GetIn[R catalog.Record](
	ctx context.Context, s Records, org catalog.OrgID, parent, id string, strong bool,
) (found R, err error) {
	r, err := s.Record(ctx, org, kindOf[R](), parent, id, strong)
	if err == nil {
		found = r.(R)
	}
	return found, err
}

// GetByID reads the existing records among ids, by id.
func GetByID[R catalog.Record](
	ctx context.Context, s Records, org catalog.OrgID, ids []string, strong bool,
) (map[string]R, error) {
	records, err := s.RecordsByID(ctx, org, kindOf[R](), ids, strong)
	found := make(map[string]R, len(records))
	for id, r := range records {
		found[id] = r.(R)
	}
	return found, err
}

// All reads every record of a kind, in creation order; of a nested kind, those of one parent or, if it is "", of all.
func All[R catalog.Record](ctx context.Context, s Records, org catalog.OrgID, parent string) ([]R, error) {
	all := []R{}
	err := Each(ctx, s, org, parent, func(r R) error {
		all = append(all, r)
		return nil
	})
	return all, err
}

// every returns the load of all records of a kind.
func every[R catalog.Record](a Actor) Load[[]R] {
	return func(ctx context.Context) ([]R, error) { return All[R](ctx, a.Store, a.Org, "") }
}

// Each visits the records that All returns.
func Each[R catalog.Record](
	ctx context.Context, s Records, org catalog.OrgID, parent string, visit func(R) error,
) error {
	return s.EachRecord(ctx, org, kindOf[R](), parent, func(r catalog.Record) error { return visit(r.(R)) })
}

// List reads a page of a list, and the number of records in the list.
func List[R catalog.Record](
	ctx context.Context, s Records, org catalog.OrgID, offset, limit int,
) ([]R, int, error) {
	records, total, err := s.Page(ctx, org, kindOf[R](), offset, limit)
	page := make([]R, len(records))
	for i, r := range records {
		page[i] = r.(R)
	}
	return page, total, err
}
