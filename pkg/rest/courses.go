package rest

import (
	"context"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// CourseStore is what the handlers of courses and sections need. A strong read is
// of the record as it is now; records that are not there are catalog.Absent.
type CourseStore interface {
	Courses(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Course, int, error)
	Course(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Course, error)
	CoursesByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Course, error)
	// CoursesOfSections gives the courses by the ids of sections that they mention.
	CoursesOfSections(ctx context.Context, org catalog.OrgID, sectionIDs []string, strong bool) (map[string]*catalog.Course, error)
	Section(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Section, error)
	SectionsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Section, error)
}

type courseInput struct {
	CourseID string `path:"courseId"`
}

type sectionInput struct {
	courseInput
	SectionID string `path:"sectionId"`
}

type createCourseInput struct {
	Body struct {
		Name        string  `json:"name" minLength:"1" maxLength:"255"`
		Code        string  `json:"code" minLength:"1" maxLength:"50"`
		Description *string `json:"description,omitempty" nullable:"true" maxLength:"10000"`
	}
}

type updateCourseInput struct {
	courseInput
	Body struct {
		Name        catalog.Optional[string]  `json:"name,omitempty" minLength:"1" maxLength:"255"`
		Code        catalog.Optional[string]  `json:"code,omitempty" minLength:"1" maxLength:"50"`
		Description catalog.Optional[*string] `json:"description,omitempty" maxLength:"10000"`
	}
}

type createSectionInput struct {
	courseInput
	Body struct {
		Name           string               `json:"name" minLength:"1" maxLength:"255"`
		Description    *string              `json:"description,omitempty" nullable:"true" maxLength:"10000"`
		InstructorID   *string              `json:"instructorId,omitempty" nullable:"true" maxLength:"255"`
		InstructorName *string              `json:"instructorName,omitempty" nullable:"true" maxLength:"255"`
		SyllabusHref   *string              `json:"syllabusHref,omitempty" nullable:"true" maxLength:"2000"`
		Skills         []catalog.SkillInput `json:"skills,omitempty" maxItems:"500"`
	}
}

type updateSectionInput struct {
	sectionInput
	Body struct {
		Name           catalog.Optional[string]               `json:"name,omitempty" minLength:"1" maxLength:"255"`
		Description    catalog.Optional[*string]              `json:"description,omitempty" maxLength:"10000"`
		InstructorID   catalog.Optional[*string]              `json:"instructorId,omitempty" maxLength:"255"`
		InstructorName catalog.Optional[*string]              `json:"instructorName,omitempty" maxLength:"255"`
		SyllabusHref   catalog.Optional[*string]              `json:"syllabusHref,omitempty" maxLength:"2000"`
		Skills         catalog.Optional[[]catalog.SkillInput] `json:"skills,omitempty" maxItems:"500"`
	}
}

type readSectionInput struct {
	sectionInput
	includeInput
}

// SectionWithEvidence is a section as include=evidence shows it.
type SectionWithEvidence struct {
	*catalog.Section
	Included
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
		included, err := c.include(ctx, in.includeInput, section.ID, section.Skills)
		return &SectionWithEvidence{section, included}, err
	})
	write(s, "updateSection", updateSection)
	write(s, "deleteSection", deleteSection)
}

// section loads a section that belongs to the course named beside it.
func (c *call) section(ctx context.Context, in sectionInput, strong bool) (*catalog.Section, error) {
	section, err := c.Store.Section(ctx, c.org, in.SectionID, strong)
	if err == nil && section.CourseID != in.CourseID {
		return nil, catalog.Absent()
	}
	return section, err
}

func createCourse(ctx context.Context, c *call, in *createCourseInput) (*catalog.Course, *catalog.Change, error) {
	dir, err := c.Store.Directory(ctx, c.org, catalog.CourseKind)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	course := catalog.NewCourse(c.IDs, dir, c.org, c.now, in.Body.Name, in.Body.Code, orNull(in.Body.Description), &change)
	c.created(course)
	return course, &change, nil
}

func updateCourse(ctx context.Context, c *call, in *updateCourseInput) (*catalog.Course, *catalog.Change, error) {
	course, err := c.Store.Course(ctx, c.org, in.CourseID, true)
	if err != nil {
		return nil, nil, err
	}
	before := *course
	course.Name = in.Body.Name.Or(course.Name)
	course.Code = in.Body.Code.Or(course.Code)
	course.Description = orNull(in.Body.Description.Or(course.Description))
	return course, replaced(c, before, course), nil
}

func deleteCourse(ctx context.Context, c *call, in *courseInput) (none, *catalog.Change, error) {
	course, dir, err := beside(ctx, func(ctx context.Context) (*catalog.Course, error) {
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
	body := in.Body
	skills, faults := catalog.Skills(body.Skills, c.Taxonomy().Name, "body.skills")
	href := orNull(body.SyllabusHref)
	faults = append(faults, c.checkHref(href, "body.syllabusHref")...)
	if faults != nil {
		return nil, nil, catalog.Invalid(faults...)
	}
	course, err := c.Store.Course(ctx, c.org, in.CourseID, true)
	if err != nil {
		return nil, nil, err
	}
	section := course.NewSection(c.IDs, c.now, body.Name)
	section.Description, section.InstructorID, section.InstructorName = orNull(body.Description), orNull(body.InstructorID), orNull(body.InstructorName)
	section.SyllabusHref, section.Skills = href, skills
	if href != nil {
		section.ProcessingStatus = catalog.Pending
	}
	if err := course.Mention(section); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Create(section, nil)
	change.Replace(course, c.now)
	c.created(section)
	return section, &change, nil
}

func updateSection(ctx context.Context, c *call, in *updateSectionInput) (*catalog.Section, *catalog.Change, error) {
	section, course, err := beside(ctx, func(ctx context.Context) (*catalog.Section, error) {
		return c.section(ctx, in.sectionInput, true)
	}, func(ctx context.Context) (*catalog.Course, error) {
		return c.Store.Course(ctx, c.org, in.CourseID, true)
	})
	if err != nil {
		return nil, nil, err
	}
	before, body := *section, in.Body
	section.Name = body.Name.Or(section.Name)
	section.Description = orNull(body.Description.Or(section.Description))
	section.InstructorID = orNull(body.InstructorID.Or(section.InstructorID))
	section.InstructorName = orNull(body.InstructorName.Or(section.InstructorName))
	section.SyllabusHref = orNull(body.SyllabusHref.Or(section.SyllabusHref))
	var faults []catalog.FieldError
	if body.Skills.Set {
		section.Skills, faults = catalog.Skills(body.Skills.Value, c.Taxonomy().Name, "body.skills")
	}
	if body.SyllabusHref.Set {
		faults = append(faults, c.checkHref(section.SyllabusHref, "body.syllabusHref")...)
	}
	if faults != nil {
		return nil, nil, catalog.Invalid(faults...)
	}
	newSyllabus := section.SyllabusHref != nil && (before.SyllabusHref == nil || *before.SyllabusHref != *section.SyllabusHref)
	if newSyllabus {
		if err := c.admission.items(ctx, 1); err != nil {
			return nil, nil, err
		}
		section.Extraction = catalog.Extraction{ProcessingStatus: catalog.Pending}
	} else if section.SyllabusHref == nil {
		section.Extraction = catalog.Extraction{}
	}
	change := replaced(c, before, section)
	if newSyllabus {
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
	section, course, err := beside(ctx, func(ctx context.Context) (*catalog.Section, error) {
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
