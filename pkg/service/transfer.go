package service

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// CreatePackage makes a transfer package with courses.
func CreatePackage(
	ctx context.Context, s Directories, a Actor, in catalog.TransferPackageInput,
	courses []catalog.TransferCourseInput,
) (*catalog.TransferPackage, *catalog.Change, error) {
	pack, change := &catalog.TransferPackage{}, &catalog.Change{}
	err := Create(ctx, s, a, in, pack, change)
	if err == nil {
		_, err = newCourses(a, pack, courses, change)
	}
	return pack, change, err
}

// AddTransferCourses makes courses of a package, in their order; all or none.
func AddTransferCourses(
	ctx context.Context, s Store, a Actor, packageID string, in []catalog.TransferCourseInput,
) ([]*catalog.TransferCourse, *catalog.Change, error) {
	pack, courses, err := countedPackage(ctx, s, a, packageID)
	if err == nil {
		err = catalog.CheckTransferCourses(len(courses), len(in))
	}
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	created, err := newCourses(a, pack, in, &change)
	change.CountAddition(pack)
	return created, &change, err
}

// newCourses makes the courses of a package, in their order.
func newCourses(
	a Actor, pack *catalog.TransferPackage, in []catalog.TransferCourseInput, change *catalog.Change,
) ([]*catalog.TransferCourse, error) {
	var wrong []catalog.FieldError
	courses, now := make([]*catalog.TransferCourse, len(in)), a.Clock()
	for i, item := range in {
		courses[i] = &catalog.TransferCourse{}
		wrong = append(wrong, item.Apply(courses[i], a.Lookups.Below(fmt.Sprintf("courses[%d]", i)))...)
		change.AddTransferCourse(courses[i], pack, a.IDs, now, i)
	}
	if wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	return courses, nil
}

// countedPackage loads a package for a change that depends on all of its courses. The
// package, whose count of growth guards them, is read before them: courses that come
// after that are courses that it does not count.
func countedPackage(
	ctx context.Context, s Store, a Actor, id string,
) (*catalog.TransferPackage, []*catalog.TransferCourse, error) {
	pack, err := s.TransferPackage(ctx, a.Org, id, true)
	if err != nil {
		return nil, nil, err
	}
	courses, err := s.TransferCourses(ctx, a.Org, id)
	return pack, courses, err
}

// DeletePackage deletes a package with its courses.
func DeletePackage(ctx context.Context, s Store, a Actor, id string) (*catalog.Change, error) {
	var courses []*catalog.TransferCourse
	pack, dir, err := withDirectory(ctx, s, a, func(ctx context.Context) (pack *catalog.TransferPackage, err error) {
		pack, courses, err = countedPackage(ctx, s, a, id)
		return pack, err
	})
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Delete(pack, a.Now, dir)
	for _, course := range courses {
		change.Delete(course, a.Now, nil)
	}
	return &change, nil
}

// RetryTransferCourse has the skills of a course extracted that could not be.
func RetryTransferCourse(
	ctx context.Context, s Store, a Actor, packageID, id string,
) (*catalog.TransferCourse, *catalog.Change, error) {
	course, err := s.TransferCourse(ctx, a.Org, packageID, id, true)
	if err != nil {
		return nil, nil, err
	}
	before := *course
	if err := course.Retry(); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Replace(&before, course, a.Now)
	return course, &change, nil
}

// Equivalencies are the sections of the catalog that a transfer course is most
// like, the best first.
type Equivalencies struct {
	TransferCourseID string            `json:"transferCourseId"`
	Matches          []alignment.Match `json:"matches" maxItems:"5" doc:"Sections with a score above 0, best first"`
	Reason           *alignment.Reason `json:"reason" doc:"Why no section is FULL or PARTIAL: there is none with skills, none with a score above 0, or none that reaches partialEquivalentThreshold; null if one is" extension:"true"`
	Warnings         []catalog.Warning `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: number of compared skills that are not in the loaded taxonomy"`
}

// PackageEquivalencies are those of each course of a package, in creation order.
// Skipped are the courses whose skills are not extracted.
type PackageEquivalencies struct {
	PackageID      string                 `json:"packageId"`
	MatchingConfig catalog.MatchingConfig `json:"matchingConfig" doc:"Thresholds applied"`
	Courses        []Equivalencies        `json:"courses" doc:"Equivalencies of each course with extracted skills, in creation order"`
	Skipped        []SkippedCourse        `json:"skipped" doc:"Courses without extracted skills"`
	Warnings       []catalog.Warning      `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: number of compared skills that are not in the loaded taxonomy"`
}

// SkippedCourse is a transfer course that could not be matched.
type SkippedCourse struct {
	TransferCourseID string                   `json:"transferCourseId"`
	ProcessingStatus catalog.ProcessingStatus `json:"processingStatus"`
}

// matchLimit is how many equivalencies of a course are told.
const matchLimit = 5

// matcher compares the courses of a package with the sections of the catalog.
type matcher struct {
	pack       *catalog.TransferPackage
	index      *Index
	candidates *Candidates
	decided    decisions
	today      string
}

// Match returns the equivalencies of a transfer course.
func Match(ctx context.Context, s Store, index *Index, a Actor, packageID, id string) (*Equivalencies, error) {
	pack, course, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.TransferPackage, error) {
		return s.TransferPackage(ctx, a.Org, packageID, false)
	}, func(ctx context.Context) (*catalog.TransferCourse, error) {
		return s.TransferCourse(ctx, a.Org, packageID, id, false)
	})
	if err == nil {
		err = course.CheckMatch()
	}
	if err != nil {
		return nil, err
	}
	m, err := newMatcher(ctx, s, index, a, pack, []*catalog.TransferCourse{course})
	if err != nil {
		return nil, err
	}
	usage := index.Taxonomy().Usage(m.candidates.usage)
	addSkills(usage, course.Skills)
	found := m.match(course)
	found.Warnings = warnings(index.Taxonomy(), usage)
	return &found, nil
}

// MatchPackage returns the equivalencies of all courses of a package, by thresholds that
// take the place of its own.
func MatchPackage(
	ctx context.Context, s Store, index *Index, a Actor, packageID string,
	thresholds catalog.MatchingConfigInput,
) (*PackageEquivalencies, error) {
	pack, courses, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.TransferPackage, error) {
		return s.TransferPackage(ctx, a.Org, packageID, false)
	}, func(ctx context.Context) ([]*catalog.TransferCourse, error) {
		return s.TransferCourses(ctx, a.Org, packageID)
	})
	if err != nil {
		return nil, err
	}
	if wrong := thresholds.Apply(&pack.MatchingConfig, catalog.Lookups{}); wrong != nil {
		return nil, catalog.Errorf(catalog.InvalidParameter,
			"partialEquivalentThreshold is greater than fullEquivalentThreshold.")
	}
	m, err := newMatcher(ctx, s, index, a, pack, courses)
	if err != nil {
		return nil, err
	}
	out := &PackageEquivalencies{
		PackageID: pack.ID, MatchingConfig: pack.MatchingConfig, Courses: []Equivalencies{}, Skipped: []SkippedCourse{},
	}
	usage := index.Taxonomy().Usage(m.candidates.usage)
	for _, course := range courses {
		if course.Matchable() {
			out.Courses = append(out.Courses, m.match(course))
			addSkills(usage, course.Skills)
		} else {
			out.Skipped = append(out.Skipped, SkippedCourse{course.ID, course.ProcessingStatus})
		}
	}
	out.Warnings = warnings(index.Taxonomy(), usage)
	return out, nil
}

// newMatcher loads what the courses of a package that can be matched are compared with, and
// what was decided on them.
func newMatcher(
	ctx context.Context, s Store, index *Index, a Actor, pack *catalog.TransferPackage,
	courses []*catalog.TransferCourse,
) (*matcher, error) {
	m := &matcher{pack: pack, index: index, today: catalog.DateOf(a.Now)}
	keys := map[catalog.ApprovedKey]bool{}
	for _, course := range courses {
		if course.Matchable() {
			for _, key := range m.keys(course) {
				keys[key] = true
			}
		}
	}
	var err error
	m.candidates, m.decided, err = parallel.Two(ctx, func(ctx context.Context) (*Candidates, error) {
		return index.Candidates(ctx, s, a.Org)
	}, func(ctx context.Context) (decisions, error) {
		return decisionsUnder(ctx, s, a.Org, slices.Collect(maps.Keys(keys)), m.today)
	})
	return m, err
}

// keys lists the keys that lead to what was decided on a course.
func (m *matcher) keys(course *catalog.TransferCourse) []catalog.ApprovedKey {
	keys := []catalog.ApprovedKey{catalog.TransferCourseKey(course.ID)}
	if course.Code != nil {
		keys = append(keys, catalog.LookupKeys(m.pack.TransferFromInstitution, []string{*course.Code})...)
	}
	return keys
}

// match returns the sections that a course is most like, each with the articulation that grants the section's course
// for it.
func (m *matcher) match(course *catalog.TransferCourse) Equivalencies {
	matches := m.candidates.index.Match(course.Skills, m.pack.MatchingConfig, m.index.Taxonomy().Related, matchLimit)
	decided := m.decided.of(m.keys(course))
	for i := range matches {
		matches[i].ArticulationID = catalog.Decided(
			decided, m.pack.TransferFromInstitution, course, matches[i].CourseID, m.today)
	}
	return Equivalencies{TransferCourseID: course.ID, Matches: matches, Reason: m.candidates.index.Reason(matches)}
}
