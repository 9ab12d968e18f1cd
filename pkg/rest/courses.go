package rest

import (
	"context"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

type courseInput struct {
	CourseID string `path:"courseId"`
}

type sectionInput struct {
	courseInput
	SectionID string `path:"sectionId"`
}

type listCoursesInput struct {
	namedPageInput
	Code string `query:"code" minLength:"1" doc:"Only the courses with exactly this code" extension:"true"`
}

type listSectionsInput struct {
	pageInput
	ExternalID string `query:"externalId" required:"true" minLength:"1" doc:"Only the section with exactly this externalId"`
}

type createCourseInput struct {
	Body struct{ catalog.CourseInput }
}

type updateCourseInput struct {
	courseInput
	Body struct {
		patch
		catalog.CourseInput
	}
}

type createSectionInput struct {
	courseInput
	Body struct{ catalog.SectionInput }
}

type updateSectionInput struct {
	sectionInput
	Body struct {
		patch
		catalog.SectionInput
	}
}

type readSectionInput struct {
	sectionInput
	includeInput
}

type reviewSectionInput struct {
	sectionInput
	reviewInput
	Body struct{ catalog.ReviewInput }
}

type deleteSectionReviewInput struct {
	sectionInput
	reviewInput
}

// SectionWithEvidence is a section as include shows it.
type SectionWithEvidence struct {
	*catalog.Section
	Included
	IncludedReviews
}

func (s *Server) bindCourses() {
	read(s, "listCourses", listCourses)
	read(s, "listSections", func(ctx context.Context, c *call, in *listSectionsInput) (Page[*catalog.Section], error) {
		sections, err := named[*catalog.Section](ctx, c, in.ExternalID)
		return page(c, in.pageInput, cut(in.pageInput, sections), len(sections)), err
	})
	read(s, "getCourse", func(ctx context.Context, c *call, in *courseInput) (*catalog.Course, error) {
		return c.Store.Course(ctx, c.org, in.CourseID, c.strong)
	})
	write(s, "createCourse", createCourse)
	write(s, "updateCourse", updateCourse)
	write(s, "deleteCourse", deleteCourse)
	write(s, "createSection", createSection)
	read(s, "getSection", func(ctx context.Context, c *call, in *readSectionInput) (*SectionWithEvidence, error) {
		section, err := c.section(ctx, in.sectionInput, c.strong)
		if err != nil {
			return nil, err
		}
		included, reviews, err := c.includeReviewed(ctx, in.includeInput, section, section.Skills, section.ByHand)
		return &SectionWithEvidence{section, included, reviews}, err
	})
	write(s, "updateSection", updateSection)
	write(s, "deleteSection", deleteSection)
	write(s, "reviewSectionSkill", func(ctx context.Context, c *call, in *reviewSectionInput) (*catalog.Section, *catalog.Change, error) {
		section, err := c.section(ctx, in.sectionInput, true)
		if err != nil {
			return nil, nil, err
		}
		return review(c, section, in.SkillID, in.Body.ReviewInput)
	})
	write(s, "deleteSectionReview", func(ctx context.Context, c *call, in *deleteSectionReviewInput) (none, *catalog.Change, error) {
		section, err := c.section(ctx, in.sectionInput, true)
		if err != nil {
			return none{}, nil, err
		}
		return none{}, unreview(c, section, in.SkillID), nil
	})
}

func listCourses(ctx context.Context, c *call, in *listCoursesInput) (Page[*catalog.Course], error) {
	if in.Code == "" {
		return list(ctx, c, in.namedPageInput, c.Store.Courses)
	}
	if in.ExternalID == "" {
		courses, total, err := c.Store.CoursesByCode(ctx, c.org, in.Code, in.Offset, in.Limit)
		return page(c, in.pageInput, courses, total), err
	}
	courses, err := named[*catalog.Course](ctx, c, in.ExternalID)
	courses = slices.DeleteFunc(courses, func(course *catalog.Course) bool { return course.Code != in.Code })
	return page(c, in.pageInput, cut(in.pageInput, courses), len(courses)), err
}

// section loads a section of the course that the path names.
func (c *call) section(ctx context.Context, in sectionInput, strong bool) (*catalog.Section, error) {
	section, err := c.Store.Section(ctx, c.org, in.SectionID, strong)
	if err == nil && section.CourseID != in.CourseID {
		return nil, catalog.Absent()
	}
	return section, err
}

func createCourse(ctx context.Context, c *call, in *createCourseInput) (*catalog.Course, *catalog.Change, error) {
	course := &catalog.Course{}
	if err := catalog.Apply(in.Body.CourseInput, course, c.lookups()); err != nil {
		return nil, nil, err
	}
	dir, err := c.Store.Directory(ctx, c.org, catalog.CourseKind)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.AddCourse(course, &catalog.Section{}, c.IDs, dir, c.org, c.Now())
	c.created(course)
	return course, &change, nil
}

func updateCourse(ctx context.Context, c *call, in *updateCourseInput) (*catalog.Course, *catalog.Change, error) {
	course, err := c.Store.Course(ctx, c.org, in.CourseID, true)
	if err != nil {
		return nil, nil, err
	}
	return update(c, in.Body.CourseInput, course, c.lookups())
}

func deleteCourse(ctx context.Context, c *call, in *courseInput) (none, *catalog.Change, error) {
	course, dir, err := parallel(ctx, func(ctx context.Context) (*catalog.Course, error) {
		return c.Store.Course(ctx, c.org, in.CourseID, true)
	}, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, catalog.CourseKind)
	})
	if err != nil {
		return none{}, nil, err
	}
	ids := make([]string, len(course.Sections))
	for i, ref := range course.Sections {
		ids[i] = ref.ID
	}
	sections, _, err := parallel(ctx, func(ctx context.Context) (map[string]*catalog.Section, error) {
		return c.Store.SectionsByID(ctx, c.org, ids, true)
	}, func(ctx context.Context) (none, error) {
		return none{}, c.notGranted(ctx, course)
	})
	if err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	if change.Revoked, err = c.notHeld(ctx, course, ""); err != nil {
		return none{}, nil, err
	}
	change.Delete(course, c.now, dir)
	for _, id := range ids {
		if section := sections[id]; section != nil {
			change.Delete(section, c.now, nil)
		}
	}
	return none{}, &change, nil
}

// notGranted refuses what would take a course away from an approved articulation, in
// force or to come, that grants it. The course is read before: an approval in between
// counts on it, which makes the change stale.
func (c *call) notGranted(ctx context.Context, course *catalog.Course) error {
	filter := catalog.ArticulationFilter{CourseID: course.ID}
	if _, total, err := c.Store.Articulations(ctx, c.org, filter, 0, 0); err != nil || total == 0 {
		return err
	}
	filter.Lasting = catalog.DateOf(c.now)
	keeping, total, err := c.Store.Articulations(ctx, c.org, filter, 0, 1)
	if err != nil || total == 0 {
		return err
	}
	return catalog.Errorf(catalog.Conflict, "%d approved articulations grant it, the first of them %s: it cannot be deleted before they end.", total, keeping[0].ID)
}

// notHeld refuses what would take a course (or one of its sections) away from a
// program or credential that contains it, and returns the reservations to be revoked
// of those that do not contain it yet. These are read before what they guard: a holder
// without a reservation either contains what it holds, or has to take it anew.
func (c *call) notHeld(ctx context.Context, course *catalog.Course, sectionID string) ([]catalog.Reservation, error) {
	var ids, members []string
	for _, holder := range course.HeldBy {
		id, member, _ := strings.Cut(holder, "/")
		if sectionID == "" || member == sectionID {
			ids, members = append(ids, id), append(members, member)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	reserved, err := c.Store.Reservations(ctx, c.org, slices.Clone(ids))
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		what, held := "", false
		if credential, err := c.Store.Credential(ctx, c.org, id, true); err == nil {
			what = "Credential"
			for _, section := range credential.Sections {
				held = held || section.SectionID == members[i]
			}
		} else if !isAbsent(err) {
			return nil, err
		} else if program, err := c.Store.Program(ctx, c.org, id, true); err == nil {
			what, held = "Program", program.Contains(course.ID)
		} else if !isAbsent(err) {
			return nil, err
		}
		if held {
			return nil, catalog.Errorf(catalog.Conflict, "%s %s holds it: take it out there first.", what, id)
		}
	}
	return reserved, nil
}

func createSection(ctx context.Context, c *call, in *createSectionInput) (*catalog.Section, *catalog.Change, error) {
	section := &catalog.Section{}
	l, err := c.withDocuments(ctx, in.Body.DocumentID)
	if err != nil {
		return nil, nil, err
	}
	if err := catalog.Apply(in.Body.SectionInput, section, l); err != nil {
		return nil, nil, err
	}
	course, err := c.Store.Course(ctx, c.org, in.CourseID, true)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	now := c.Now()
	if err := change.AddSection(section, course, c.IDs, now); err != nil {
		return nil, nil, err
	}
	change.Replace(course, now)
	c.created(section)
	return section, &change, nil
}

func updateSection(ctx context.Context, c *call, in *updateSectionInput) (*catalog.Section, *catalog.Change, error) {
	section, course, err := parallel(ctx, func(ctx context.Context) (*catalog.Section, error) {
		return c.section(ctx, in.sectionInput, true)
	}, func(ctx context.Context) (*catalog.Course, error) {
		return c.Store.Course(ctx, c.org, in.CourseID, true)
	})
	if err != nil {
		return nil, nil, err
	}
	l, err := c.withDocuments(ctx, in.Body.DocumentID)
	if err != nil {
		return nil, nil, err
	}
	before := *section
	section, change, err := update(c, in.Body.SectionInput, section, l)
	if err != nil {
		return nil, nil, err
	}
	if section.HasNewSyllabus(before) {
		if err := c.admission.items(ctx, 1); err != nil {
			return nil, nil, err
		}
		change.Restart(section)
	}
	if before.Ref() != section.Ref() {
		if err := course.Mention(section); err != nil {
			return nil, nil, err
		}
		change.Replace(course, c.now)
	}
	return section, change, nil
}

func deleteSection(ctx context.Context, c *call, in *sectionInput) (none, *catalog.Change, error) {
	section, course, err := parallel(ctx, func(ctx context.Context) (*catalog.Section, error) {
		return c.section(ctx, *in, true)
	}, func(ctx context.Context) (*catalog.Course, error) {
		return c.Store.Course(ctx, c.org, in.CourseID, true)
	})
	if err != nil {
		return none{}, nil, err
	}
	if err := course.Forget(section.ID); err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	if change.Revoked, err = c.notHeld(ctx, course, section.ID); err != nil {
		return none{}, nil, err
	}
	change.Delete(section, c.now, nil)
	change.Replace(course, c.now)
	return none{}, &change, nil
}
