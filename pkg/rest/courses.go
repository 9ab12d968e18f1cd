package rest

import (
	"context"
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
	read(s, "listCourses", func(ctx context.Context, c *call, in *pageInput) (Page[*catalog.Course], error) {
		courses, total, err := c.Store.Courses(ctx, c.org, in.Offset, in.Limit)
		return page(c, *in, courses, total), err
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
		included, reviews, err := c.includeReviewed(ctx, in.includeInput, section, section.Skills)
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
	change.AddCourse(course, &catalog.Section{}, c.IDs, dir, c.org, c.now)
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
	sections, err := c.Store.SectionsByID(ctx, c.org, ids, true)
	if err != nil {
		return none{}, nil, err
	}
	if err := c.notHeld(ctx, course, ""); err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	change.Delete(course, c.now, dir)
	for _, id := range ids {
		if section := sections[id]; section != nil {
			change.Delete(section, c.now, nil)
		}
	}
	return none{}, &change, nil
}

// notHeld refuses what would take a course (or one of its sections) away from a
// program or credential that contains it.
func (c *call) notHeld(ctx context.Context, course *catalog.Course, sectionID string) error {
	for _, holder := range course.HeldBy {
		id, member, _ := strings.Cut(holder, "/")
		if sectionID != "" && member != sectionID {
			continue
		}
		what, held := "", false
		if credential, err := c.Store.Credential(ctx, c.org, id, true); err == nil {
			what = "Credential"
			for _, section := range credential.Sections {
				held = held || section.SectionID == member
			}
		} else if !isAbsent(err) {
			return err
		} else if program, err := c.Store.Program(ctx, c.org, id, true); err == nil {
			what, held = "Program", program.Contains(course.ID)
		} else if !isAbsent(err) {
			return err
		}
		if held {
			return catalog.Errorf(catalog.Conflict, "%s %s holds it: take it out there first.", what, id)
		}
	}
	return nil
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
	if err := change.AddSection(section, course, c.IDs, c.now); err != nil {
		return nil, nil, err
	}
	change.Replace(course, c.now)
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
	if err := c.notHeld(ctx, course, section.ID); err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	change.Delete(section, c.now, nil)
	change.Replace(course, c.now)
	return none{}, &change, nil
}
