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

// CreatePackage creates a transfer package with courses.
func (a Actor) CreatePackage(
	ctx context.Context, in catalog.TransferPackageInput, courses []catalog.TransferCourseInput,
) (*catalog.TransferPackage, *catalog.Change, error) {
	pack, change, err := New(a, ctx, in)
	if err == nil {
		_, err = a.newCourses(pack, courses, change)
	}
	return pack, change, err
}

// AddTransferCourses adds courses to a package, all or none.
func (a Actor) AddTransferCourses(
	ctx context.Context, packageID string, in []catalog.TransferCourseInput,
) ([]*catalog.TransferCourse, *catalog.Change, error) {
	pack, courses, err := a.countedPackage(ctx, packageID)
	if err == nil {
		err = catalog.CheckTransferCourses(len(courses), len(in))
	}
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	created, err := a.newCourses(pack, in, &change)
	change.CountAddition(pack)
	return created, &change, err
}

// newCourses creates courses of a package.
func (a Actor) newCourses(
	pack *catalog.TransferPackage, in []catalog.TransferCourseInput, change *catalog.Change,
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

// countedPackage loads a package and then its courses, for a change that depends on all of them: the package's counter
// of additions makes the change stale if courses were added in between.
func (a Actor) countedPackage(
	ctx context.Context, id string,
) (*catalog.TransferPackage, []*catalog.TransferCourse, error) {
	pack, err := one[*catalog.TransferPackage](a, id)(ctx)
	if err != nil {
		return nil, nil, err
	}
	courses, err := a.TransferCourses(id)(ctx)
	return pack, courses, err
}

// TransferCourses returns the load of all courses of a package, in creation order.
func (a Actor) TransferCourses(packageID string) Load[[]*catalog.TransferCourse] {
	return func(ctx context.Context) ([]*catalog.TransferCourse, error) {
		return All[*catalog.TransferCourse](ctx, a.Store, a.Org, packageID)
	}
}

// TransferCourse returns the load of a course of a package.
func (a Actor) TransferCourse(packageID, id string) Load[*catalog.TransferCourse] {
	return func(ctx context.Context) (*catalog.TransferCourse, error) {
		return GetIn[*catalog.TransferCourse](ctx, a.Store, a.Org, packageID, id, !a.Eventual)
	}
}

// DeletePackage deletes a package with its courses, or what an interrupted deletion has left of them.
func (a Actor) DeletePackage(ctx context.Context, id string) (*catalog.Change, error) {
	var courses []*catalog.TransferCourse
	pack, dir, err := withDirectory(ctx, a, func(ctx context.Context) (pack *catalog.TransferPackage, err error) {
		pack, courses, err = a.countedPackage(ctx, id)
		return pack, err
	})
	if catalog.HasCode(err, catalog.NotFound) {
		return a.Store.Completion(ctx, a.Org, catalog.TransferPackageKind, id)
	}
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

// RetryTransferCourse restarts the extraction of a course that failed.
func (a Actor) RetryTransferCourse(
	ctx context.Context, packageID, id string,
) (*catalog.TransferCourse, *catalog.Change, error) {
	course, err := a.TransferCourse(packageID, id)(ctx)
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

// Equivalencies are the sections of the catalog most similar to a transfer course.
type Equivalencies struct {
	TransferCourseID string            `json:"transferCourseId"`
	Matches          []alignment.Match `json:"matches" maxItems:"5" doc:"Sections with a score above 0, best first"`
	Reason           *alignment.Reason `json:"reason" doc:"Why no section is FULL or PARTIAL: there is none with skills, none with a score above 0, or none that reaches partialEquivalentThreshold; null if one is" extension:"true"`
	Warnings         []catalog.Warning `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: number of compared skills that are not in the loaded taxonomy"`
}

// PackageEquivalencies has the equivalencies of all courses of a package.
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

// matchLimit is the maximum number of equivalencies of a course.
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
func (a Actor) Match(ctx context.Context, packageID, id string) (*Equivalencies, error) {
	pack, course, err := parallel.Two(ctx, one[*catalog.TransferPackage](a, packageID), a.TransferCourse(packageID, id))
	if err == nil {
		err = course.CheckMatch()
	}
	if err != nil {
		return nil, err
	}
	m, err := a.newMatcher(ctx, pack, []*catalog.TransferCourse{course})
	if err != nil {
		return nil, err
	}
	usage := a.Taxonomy().Usage(m.candidates.usage)
	addSkills(usage, course.Skills)
	found := m.match(course)
	found.Warnings = warnings(a.Taxonomy(), usage)
	return &found, nil
}

// MatchPackage returns the equivalencies of all courses of a package. thresholds override the package's own.
func (a Actor) MatchPackage(
	ctx context.Context, packageID string, thresholds catalog.MatchingConfigInput,
) (*PackageEquivalencies, error) {
	pack, courses, err := parallel.Two(ctx, one[*catalog.TransferPackage](a, packageID), a.TransferCourses(packageID))
	if err != nil {
		return nil, err
	}
	if wrong := thresholds.Apply(&pack.MatchingConfig, catalog.Lookups{}); wrong != nil {
		return nil, catalog.Errorf(catalog.InvalidParameter,
			"partialEquivalentThreshold is greater than fullEquivalentThreshold.")
	}
	m, err := a.newMatcher(ctx, pack, courses)
	if err != nil {
		return nil, err
	}
	out := &PackageEquivalencies{
		PackageID: pack.ID, MatchingConfig: pack.MatchingConfig, Courses: []Equivalencies{}, Skipped: []SkippedCourse{},
	}
	usage := a.Taxonomy().Usage(m.candidates.usage)
	for _, course := range courses {
		if course.Matchable() {
			out.Courses = append(out.Courses, m.match(course))
			addSkills(usage, course.Skills)
		} else {
			out.Skipped = append(out.Skipped, SkippedCourse{course.ID, course.ProcessingStatus})
		}
	}
	out.Warnings = warnings(a.Taxonomy(), usage)
	return out, nil
}

// newMatcher loads the sections to compare with the matchable courses of a package, and the articulations in force.
func (a Actor) newMatcher(
	ctx context.Context, pack *catalog.TransferPackage, courses []*catalog.TransferCourse,
) (*matcher, error) {
	m := &matcher{pack: pack, index: a.Index, today: catalog.DateOf(a.Now)}
	keys := map[catalog.ApprovedKey]bool{}
	for _, course := range courses {
		if course.Matchable() {
			for _, key := range m.keys(course) {
				keys[key] = true
			}
		}
	}
	var err error
	m.candidates, m.decided, err = parallel.Two(ctx, a.candidates,
		parallel.Call2(a.decisionsUnder, slices.Collect(maps.Keys(keys)), m.today))
	return m, err
}

// candidates returns the organization's sections from the index.
func (a Actor) candidates(ctx context.Context) (*Candidates, error) {
	return a.Index.Candidates(ctx, a)
}

// keys lists the keys under which articulations of a course are entered.
func (m *matcher) keys(course *catalog.TransferCourse) []catalog.ApprovedKey {
	keys := []catalog.ApprovedKey{catalog.TransferCourseKey(course.ID)}
	if course.Code != nil {
		keys = append(keys, catalog.LookupKeys(m.pack.TransferFromInstitution, []string{*course.Code})...)
	}
	return keys
}

// match returns the sections most similar to a course, each with the articulation that grants the section's course for
// it.
func (m *matcher) match(course *catalog.TransferCourse) Equivalencies {
	matches := m.candidates.index.Match(course.Skills, m.pack.MatchingConfig, m.index.Taxonomy().Related, matchLimit)
	decided := m.decided.of(m.keys(course))
	for i := range matches {
		matches[i].ArticulationID = catalog.Decided(
			decided, m.pack.TransferFromInstitution, course, matches[i].CourseID, m.today)
	}
	return Equivalencies{TransferCourseID: course.ID, Matches: matches, Reason: m.candidates.index.Reason(matches)}
}
