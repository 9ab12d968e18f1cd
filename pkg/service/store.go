package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Store is what use cases read from the table. A strong read returns the latest version. Reads of one record return
// catalog.Absent if it does not exist; reads by ids omit the records that do not exist.
type Store interface {
	Directories
	Sections
	Outcomes
	ApprovedReader

	Course(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Course, error)
	CoursesByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Course, error)
	// CoursesOfSections returns the courses by the ids of their sections.
	CoursesOfSections(
		ctx context.Context, org catalog.OrgID, sectionIDs []string, strong bool,
	) (map[string]*catalog.Course, error)
	Section(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Section, error)
	SectionsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Section, error)

	Program(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Program, error)
	ProgramsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Program, error)
	Credential(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Credential, error)
	JobsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Job, error)
	Report(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Report, error)
	// Reservations returns the reservations of those holders that have one.
	Reservations(ctx context.Context, org catalog.OrgID, holders []string) ([]catalog.Reservation, error)

	Articulation(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Articulation, error)
	ArticulationsByID(
		ctx context.Context, org catalog.OrgID, ids []string, strong bool,
	) (map[string]*catalog.Articulation, error)
	Articulations(
		ctx context.Context, org catalog.OrgID, filter catalog.ArticulationFilter, offset, limit int,
	) ([]*catalog.Articulation, int, error)
	Moves(ctx context.Context, org catalog.OrgID, articulationID string) ([]catalog.Move, error)

	TransferPackage(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.TransferPackage, error)
	TransferCourse(
		ctx context.Context, org catalog.OrgID, packageID, id string, strong bool,
	) (*catalog.TransferCourse, error)
	TransferCourses(ctx context.Context, org catalog.OrgID, packageID string) ([]*catalog.TransferCourse, error)
	// TransferCoursesByID finds transfer courses without their packages' ids, and returns them with their packages.
	TransferCoursesByID(
		ctx context.Context, org catalog.OrgID, ids []string,
	) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error)
}

// ApprovedReader finds approved articulations, with strong reads.
type ApprovedReader interface {
	// Approved returns the entries under each of the keys.
	Approved(ctx context.Context, org catalog.OrgID, under []catalog.ApprovedKey) ([]*catalog.Approved, error)
	ArticulationsByNumber
}

// ArticulationsByNumber returns the existing articulations with the sequence numbers, in creation order. fields limits
// what is read of each; without fields the whole record is read.
type ArticulationsByNumber interface {
	ArticulationsByNumber(
		ctx context.Context, org catalog.OrgID, numbers []int, fields []string, strong bool,
	) ([]*catalog.Articulation, error)
}
