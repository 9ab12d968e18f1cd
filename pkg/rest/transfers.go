package rest

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

type packageInput struct {
	PackageID string `path:"packageId"`
}

type transferCourseInput struct {
	packageInput
	TransferCourseID string `path:"transferCourseId"`
}

type readTransferCourseInput struct {
	transferCourseInput
	includeInput
}

type reviewTransferCourseInput struct {
	transferCourseInput
	reviewInput
	Body struct{ catalog.ReviewInput }
}

type deleteTransferCourseReviewInput struct {
	transferCourseInput
	reviewInput
}

type transferCoursesInput struct {
	packageInput
	Limit  int `query:"limit" minimum:"1" maximum:"1000" doc:"How many courses the response holds at most; as many as fit when absent" extension:"true"`
	Offset int `query:"offset" default:"0" minimum:"0" doc:"How many courses stand before the first one" extension:"true"`
}

type createPackageInput struct {
	Body struct {
		catalog.TransferPackageInput
		Courses []catalog.TransferCourseInput `json:"courses,omitempty" maxItems:"50" doc:"Courses to be created in the package; all or none are"`
	}
}

type updatePackageInput struct {
	packageInput
	Body struct {
		patch
		catalog.TransferPackageInput
	}
}

type createTransferCoursesInput struct {
	packageInput
	Body struct {
		Courses []catalog.TransferCourseInput `json:"courses" minItems:"1" maxItems:"50" doc:"Courses to be created, in this order; all or none are"`
	}
}

type matchPackageInput struct {
	packageInput
	Full    *float64 `query:"fullEquivalentThreshold" minimum:"0" maximum:"1" doc:"Threshold instead of the package's own, for this response only"`
	Partial *float64 `query:"partialEquivalentThreshold" minimum:"0" maximum:"1" doc:"Threshold instead of the package's own, for this response only"`
}

// TransferCourseWithEvidence is a transfer course as include shows it.
type TransferCourseWithEvidence struct {
	*catalog.TransferCourse
	Included
	IncludedReviews
}

// Equivalencies are the sections of the catalog that a transfer course is most
// like, the best first.
type Equivalencies struct {
	TransferCourseID string            `json:"transferCourseId"`
	Matches          []alignment.Match `json:"matches" maxItems:"5" doc:"The best sections above score 0, the best first"`
	Warnings         []catalog.Warning `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: how many of the skills compared the loaded taxonomy lacks"`
}

// PackageEquivalencies are those of each course of a package, in creation order.
// Skipped are the courses whose skills are not extracted.
type PackageEquivalencies struct {
	PackageID      string                 `json:"packageId"`
	MatchingConfig catalog.MatchingConfig `json:"matchingConfig" doc:"Thresholds that were applied"`
	Courses        []Equivalencies        `json:"courses" doc:"Equivalencies of each course whose skills are extracted, in creation order"`
	Skipped        []SkippedCourse        `json:"skipped" doc:"Courses whose skills are not extracted"`
	Warnings       []catalog.Warning      `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: how many of the skills compared the loaded taxonomy lacks"`
}

// SkippedCourse is a transfer course that could not be matched.
type SkippedCourse struct {
	TransferCourseID string                   `json:"transferCourseId"`
	ProcessingStatus catalog.ProcessingStatus `json:"processingStatus"`
}

func (s *Server) bindTransfers() {
	read(s, "listTransferPackages", func(ctx context.Context, c *call, in *namedPageInput) (Page[*catalog.TransferPackage], error) {
		return list(ctx, c, *in, c.Store.TransferPackages)
	})
	write(s, "createTransferPackage", createPackage)
	read(s, "getTransferPackage", func(ctx context.Context, c *call, in *packageInput) (*catalog.TransferPackage, error) {
		return c.Store.TransferPackage(ctx, c.org, in.PackageID, c.strong)
	})
	write(s, "updateTransferPackage", updatePackage)
	write(s, "deleteTransferPackage", deletePackage)
	read(s, "listTransferCourses", listTransferCourses)
	write(s, "createTransferCourses", createTransferCourses)
	read(s, "getTransferCourse", func(ctx context.Context, c *call, in *readTransferCourseInput) (*TransferCourseWithEvidence, error) {
		course, err := c.Store.TransferCourse(ctx, c.org, in.PackageID, in.TransferCourseID, c.strong)
		if err != nil {
			return nil, err
		}
		included, reviews, err := c.includeReviewed(ctx, in.includeInput, course, course.Skills, false)
		return &TransferCourseWithEvidence{course, included, reviews}, err
	})
	write(s, "deleteTransferCourse", func(ctx context.Context, c *call, in *transferCourseInput) (none, *catalog.Change, error) {
		course, err := c.Store.TransferCourse(ctx, c.org, in.PackageID, in.TransferCourseID, true)
		if err != nil {
			return none{}, nil, err
		}
		var change catalog.Change
		change.Delete(course, c.now, nil)
		return none{}, &change, nil
	})
	write(s, "reviewTransferCourseSkill", func(ctx context.Context, c *call, in *reviewTransferCourseInput) (*catalog.TransferCourse, *catalog.Change, error) {
		course, err := c.Store.TransferCourse(ctx, c.org, in.PackageID, in.TransferCourseID, true)
		if err != nil {
			return nil, nil, err
		}
		return review(c, course, in.SkillID, in.Body.ReviewInput)
	})
	write(s, "deleteTransferCourseReview", func(ctx context.Context, c *call, in *deleteTransferCourseReviewInput) (none, *catalog.Change, error) {
		course, err := c.Store.TransferCourse(ctx, c.org, in.PackageID, in.TransferCourseID, true)
		if err != nil {
			return none{}, nil, err
		}
		return none{}, unreview(c, course, in.SkillID), nil
	})
	write(s, "retryTransferCourse", retryTransferCourse)
	read(s, "matchTransferCourse", matchTransferCourse)
	read(s, "matchTransferPackage", matchPackage)
}

func (c *call) packageWithCourses(ctx context.Context, in packageInput) (*catalog.TransferPackage, []*catalog.TransferCourse, error) {
	return parallel(ctx, func(ctx context.Context) (*catalog.TransferPackage, error) {
		return c.Store.TransferPackage(ctx, c.org, in.PackageID, c.strong)
	}, func(ctx context.Context) ([]*catalog.TransferCourse, error) {
		return c.Store.TransferCourses(ctx, c.org, in.PackageID)
	})
}

func listTransferCourses(ctx context.Context, c *call, in *transferCoursesInput) ([]*catalog.TransferCourse, error) {
	_, courses, err := c.packageWithCourses(ctx, in.packageInput)
	if err != nil {
		return nil, err
	}
	asked := courses[min(in.Offset, len(courses)):]
	if in.Limit > 0 {
		asked = asked[:min(in.Limit, len(asked))]
	}
	given := c.fitting(asked)
	if end := in.Offset + given; end < len(courses) {
		c.link("next", func(query url.Values) { query.Set("offset", fmt.Sprint(end)) })
	}
	return asked[:given], nil
}

// countedPackage loads a package for a change that depends on all of its courses. The
// package, whose count of growth guards them, is read before them: courses that come
// after that are courses that it does not count.
func (c *call) countedPackage(ctx context.Context, in packageInput) (*catalog.TransferPackage, []*catalog.TransferCourse, error) {
	pack, err := c.Store.TransferPackage(ctx, c.org, in.PackageID, true)
	if err != nil {
		return nil, nil, err
	}
	courses, err := c.Store.TransferCourses(ctx, c.org, in.PackageID)
	return pack, courses, err
}

// newCourses makes the transfer courses of a body, in its order.
func (c *call) newCourses(ctx context.Context, pack *catalog.TransferPackage, in []catalog.TransferCourseInput, change *catalog.Change) ([]*catalog.TransferCourse, error) {
	named := make([]catalog.Optional[*string], len(in))
	for i, item := range in {
		named[i] = item.DocumentID
	}
	l, err := c.withDocuments(ctx, named...)
	if err != nil {
		return nil, err
	}
	var wrong []catalog.FieldError
	courses, now := make([]*catalog.TransferCourse, len(in)), c.Now()
	for i, item := range in {
		courses[i] = &catalog.TransferCourse{}
		wrong = append(wrong, item.Apply(courses[i], l.Below(fmt.Sprintf("courses[%d]", i)))...)
		change.AddTransferCourse(courses[i], pack, c.IDs, now, i)
	}
	if wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	return courses, nil
}

func createPackage(ctx context.Context, c *call, in *createPackageInput) (*catalog.TransferPackage, *catalog.Change, error) {
	pack, change, err := create(ctx, c, in.Body.TransferPackageInput, &catalog.TransferPackage{}, c.lookups())
	if err == nil {
		_, err = c.newCourses(ctx, pack, in.Body.Courses, change)
	}
	return pack, change, err
}

func updatePackage(ctx context.Context, c *call, in *updatePackageInput) (*catalog.TransferPackage, *catalog.Change, error) {
	pack, err := c.Store.TransferPackage(ctx, c.org, in.PackageID, true)
	if err != nil {
		return nil, nil, err
	}
	return update(c, in.Body.TransferPackageInput, pack, c.lookups())
}

func deletePackage(ctx context.Context, c *call, in *packageInput) (none, *catalog.Change, error) {
	var pack *catalog.TransferPackage
	courses, dir, err := parallel(ctx, func(ctx context.Context) (courses []*catalog.TransferCourse, err error) {
		pack, courses, err = c.countedPackage(ctx, *in)
		return courses, err
	}, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, catalog.TransferPackageKind)
	})
	if err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	change.Delete(pack, c.now, dir)
	for _, course := range courses {
		change.Delete(course, c.now, nil)
	}
	return none{}, &change, nil
}

func createTransferCourses(ctx context.Context, c *call, in *createTransferCoursesInput) ([]*catalog.TransferCourse, *catalog.Change, error) {
	pack, courses, err := c.countedPackage(ctx, in.packageInput)
	if err != nil {
		return nil, nil, err
	}
	if err := catalog.CheckTransferCourses(len(courses), len(in.Body.Courses)); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	created, err := c.newCourses(ctx, pack, in.Body.Courses, &change)
	if err == nil && len(created) == 1 {
		c.created(created[0])
	}
	change.Grows(pack)
	return created, &change, err
}

func retryTransferCourse(ctx context.Context, c *call, in *transferCourseInput) (*catalog.TransferCourse, *catalog.Change, error) {
	course, err := c.Store.TransferCourse(ctx, c.org, in.PackageID, in.TransferCourseID, true)
	if err != nil {
		return nil, nil, err
	}
	if course.ProcessingStatus != catalog.Failed {
		return nil, nil, catalog.Errorf(catalog.Conflict, "The course is %s; only a FAILED one can be tried again.", course.ProcessingStatus)
	}
	course.Extraction = catalog.Extraction{ProcessingStatus: catalog.Pending}
	var change catalog.Change
	change.Replace(course, c.now)
	change.Restart(course)
	return course, &change, nil
}

func matchTransferCourse(ctx context.Context, c *call, in *transferCourseInput) (*Equivalencies, error) {
	pack, course, err := parallel(ctx, func(ctx context.Context) (*catalog.TransferPackage, error) {
		return c.Store.TransferPackage(ctx, c.org, in.PackageID, c.strong)
	}, func(ctx context.Context) (*catalog.TransferCourse, error) {
		return c.Store.TransferCourse(ctx, c.org, in.PackageID, in.TransferCourseID, c.strong)
	})
	if err != nil {
		return nil, err
	}
	if course.ProcessingStatus != catalog.Completed {
		return nil, catalog.Errorf(catalog.Conflict, "The course is %s; its skills are known once it is COMPLETED.", course.ProcessingStatus)
	}
	candidates, decided, err := c.comparison(ctx, pack, course)
	if err != nil {
		return nil, err
	}
	usage := c.Taxonomy().Usage(candidates.usage)
	addSkills(usage, course.Skills)
	return &Equivalencies{course.ID, c.match(candidates, course, pack.MatchingConfig, decided), c.warnings(usage)}, nil
}

// matchLimit is how many equivalencies of a course are told.
const matchLimit = 5

// decided returns the id of the articulation by which a transfer course is worth a
// course of the catalog; nil for none.
type decided func(course *catalog.TransferCourse, courseID string) *string

// comparison loads what courses of a package are compared with, and what was decided
// on them.
func (c *call) comparison(ctx context.Context, pack *catalog.TransferPackage, courses ...*catalog.TransferCourse) (*candidates, decided, error) {
	keysOf := func(course *catalog.TransferCourse) []catalog.ApprovedKey {
		keys := []catalog.ApprovedKey{catalog.TransferCourseKey(course.ID)}
		if course.Code != nil {
			keys = append(keys, catalog.LookupKeys(pack.TransferFromInstitution, []string{*course.Code})...)
		}
		return keys
	}
	keys := map[catalog.ApprovedKey]bool{}
	for _, course := range courses {
		for _, key := range keysOf(course) {
			keys[key] = true
		}
	}
	candidates, found, err := parallel(ctx, c.candidates, func(ctx context.Context) (decisions, error) {
		return c.decisions(ctx, slices.Collect(maps.Keys(keys)))
	})
	return candidates, func(course *catalog.TransferCourse, courseID string) *string {
		return catalog.Decided(found.of(keysOf(course)), pack.TransferFromInstitution, course, courseID, catalog.DateOf(c.now))
	}, err
}

func (c *call) match(candidates *candidates, course *catalog.TransferCourse, config catalog.MatchingConfig, decided decided) []alignment.Match {
	matches := candidates.index.Match(course.Skills, config, c.Taxonomy().Related, matchLimit)
	for i := range matches {
		matches[i].ArticulationID = decided(course, matches[i].CourseID)
	}
	if matches == nil {
		matches = []alignment.Match{}
	}
	return matches
}

func matchPackage(ctx context.Context, c *call, in *matchPackageInput) (*PackageEquivalencies, error) {
	pack, courses, err := c.packageWithCourses(ctx, in.packageInput)
	if err != nil {
		return nil, err
	}
	config := pack.MatchingConfig
	if wrong := (catalog.MatchingConfigInput{FullEquivalentThreshold: in.Full, PartialEquivalentThreshold: in.Partial}).Apply(&config, catalog.Lookups{}); wrong != nil {
		return nil, catalog.Errorf(catalog.InvalidParameter, "partialEquivalentThreshold is greater than fullEquivalentThreshold.")
	}
	var completed []*catalog.TransferCourse
	for _, course := range courses {
		if course.ProcessingStatus == catalog.Completed {
			completed = append(completed, course)
		}
	}
	candidates, decided, err := c.comparison(ctx, pack, completed...)
	if err != nil {
		return nil, err
	}
	out := &PackageEquivalencies{PackageID: pack.ID, MatchingConfig: config, Courses: []Equivalencies{}, Skipped: []SkippedCourse{}}
	usage := c.Taxonomy().Usage(candidates.usage)
	for _, course := range courses {
		if course.ProcessingStatus == catalog.Completed {
			out.Courses = append(out.Courses, Equivalencies{TransferCourseID: course.ID, Matches: c.match(candidates, course, config, decided)})
			addSkills(usage, course.Skills)
		} else {
			out.Skipped = append(out.Skipped, SkippedCourse{course.ID, course.ProcessingStatus})
		}
	}
	out.Warnings = c.warnings(usage)
	return out, nil
}
