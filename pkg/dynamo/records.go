package dynamo

import (
	"context"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Courses reads a page of the organization's courses and their number, as the other lists do.
func (s *Store) Courses(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Course, int, error) {
	return list[catalog.Course](ctx, s, org, offset, limit)
}

// Course reads a course, with a strong read for a change that depends on it.
func (s *Store) Course(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Course, error) {
	return load[catalog.Course](ctx, s, org, "", id, strong)
}

// CoursesByID reads the live courses among ids, by id.
func (s *Store) CoursesByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Course, error) {
	return byID[catalog.Course](ctx, s, org, ids, strong)
}

// CoursesOfSections reads the courses that have the sections, by section id. The id of a
// section has the sequence number of its course.
func (s *Store) CoursesOfSections(ctx context.Context, org catalog.OrgID, sectionIDs []string, strong bool) (map[string]*catalog.Course, error) {
	numbers := map[string]int{}
	var keys []key
	for _, id := range sectionIDs {
		if seq, ok := catalog.Sequence(catalog.SectionKind, id); ok {
			numbers[id] = seq
			keys = append(keys, numberedKey(org, catalog.CourseKind, seq))
		}
	}
	list, err := records[catalog.Course](ctx, s, keys, strong)
	if err != nil {
		return nil, err
	}
	courses := map[int]*catalog.Course{}
	for _, course := range list {
		seq, _ := catalog.Sequence(catalog.CourseKind, course.ID)
		courses[seq] = course
	}
	found := map[string]*catalog.Course{}
	for id, seq := range numbers {
		if course := courses[seq]; course != nil && course.Mentions(id) {
			found[id] = course
		}
	}
	return found, nil
}

// AllCourses reads every course of the organization.
func (s *Store) AllCourses(ctx context.Context, org catalog.OrgID) ([]*catalog.Course, error) {
	return all[catalog.Course](ctx, s, partition(org, api.RecordRows(catalog.CourseKind)))
}

// Section reads a section.
func (s *Store) Section(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Section, error) {
	return load[catalog.Section](ctx, s, org, "", id, strong)
}

// SectionsByID reads the live sections among ids, by id.
func (s *Store) SectionsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Section, error) {
	return byID[catalog.Section](ctx, s, org, ids, strong)
}

// AllSections reads every section of the organization.
func (s *Store) AllSections(ctx context.Context, org catalog.OrgID) ([]*catalog.Section, error) {
	return all[catalog.Section](ctx, s, partition(org, api.RecordRows(catalog.SectionKind)))
}

// Jobs reads a page of the organization's jobs.
func (s *Store) Jobs(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Job, int, error) {
	return list[catalog.Job](ctx, s, org, offset, limit)
}

// Job reads a job.
func (s *Store) Job(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Job, error) {
	return load[catalog.Job](ctx, s, org, "", id, strong)
}

// JobsByID reads the live jobs among ids, by id.
func (s *Store) JobsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Job, error) {
	return byID[catalog.Job](ctx, s, org, ids, strong)
}

// Credentials reads a page of the organization's credentials. Their sections are ids only.
func (s *Store) Credentials(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Credential, int, error) {
	return list[catalog.Credential](ctx, s, org, offset, limit)
}

// Credential reads a credential. Its sections are ids only.
func (s *Store) Credential(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Credential, error) {
	return load[catalog.Credential](ctx, s, org, "", id, strong)
}

// Programs reads a page of the organization's programs. Their courses are ids only.
func (s *Store) Programs(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Program, int, error) {
	return list[catalog.Program](ctx, s, org, offset, limit)
}

// Program reads a program. Its courses are ids only.
func (s *Store) Program(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Program, error) {
	return load[catalog.Program](ctx, s, org, "", id, strong)
}

// TransferPackages reads a page of the organization's packages.
func (s *Store) TransferPackages(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.TransferPackage, int, error) {
	return list[catalog.TransferPackage](ctx, s, org, offset, limit)
}

// TransferPackage reads a package.
func (s *Store) TransferPackage(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.TransferPackage, error) {
	return load[catalog.TransferPackage](ctx, s, org, "", id, strong)
}

// TransferCourses reads all courses of a package, in creation order.
func (s *Store) TransferCourses(ctx context.Context, org catalog.OrgID, packageID string) ([]*catalog.TransferCourse, error) {
	if !catalog.TransferPackageKind.Made(packageID) {
		return []*catalog.TransferCourse{}, nil
	}
	return all[catalog.TransferCourse](ctx, s, nestedIn(org, catalog.TransferCourseKind, packageID))
}

// TransferCourse reads a course of a package.
func (s *Store) TransferCourse(ctx context.Context, org catalog.OrgID, packageID, id string, strong bool) (*catalog.TransferCourse, error) {
	return load[catalog.TransferCourse](ctx, s, org, packageID, id, strong)
}

// AllPrograms reads every program of the organization. Their courses are ids only.
func (s *Store) AllPrograms(ctx context.Context, org catalog.OrgID) ([]*catalog.Program, error) {
	return all[catalog.Program](ctx, s, partition(org, api.RecordRows(catalog.ProgramKind)))
}

// Reports reads a page of the organization's reports.
func (s *Store) Reports(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Report, int, error) {
	return list[catalog.Report](ctx, s, org, offset, limit)
}

// Report reads a report.
func (s *Store) Report(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Report, error) {
	return load[catalog.Report](ctx, s, org, "", id, strong)
}

// SyllabusExtraction reads an extraction.
func (s *Store) SyllabusExtraction(ctx context.Context, org catalog.OrgID, id string) (*catalog.SyllabusExtraction, error) {
	return load[catalog.SyllabusExtraction](ctx, s, org, "", id, false)
}

// Document reads a document.
func (s *Store) Document(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Document, error) {
	return load[catalog.Document](ctx, s, org, "", id, strong)
}

// DocumentsByID reads the live documents among ids, by id.
func (s *Store) DocumentsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Document, error) {
	return byID[catalog.Document](ctx, s, org, ids, strong)
}

// Reload reads the current version of a record.
func (s *Store) Reload(ctx context.Context, r catalog.Record) (catalog.Record, error) {
	row, err := s.row(ctx, keyOf(r), true)
	if err == nil && row == nil {
		err = catalog.Absent()
	}
	if err != nil {
		return nil, err
	}
	return decodeKind(catalog.KindOf(r), row)
}
