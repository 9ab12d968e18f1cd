package catalog

import (
	"cmp"
	"slices"
)

// Course is a course of the catalog. Sections stand in creation order.
type Course struct {
	Meta
	External
	Name             string       `json:"name" doc:"Name of the course"`
	Code             string       `json:"code" doc:"Code under which the catalog lists the course, as CS 201"`
	Description      *string      `json:"description" doc:"What the course is about"`
	Sections         []SectionRef `json:"sections" doc:"The course's sections, in creation order"`
	DefaultSectionID string       `json:"defaultSectionId,omitempty" doc:"Section that is made with the course and stays as long as it"`
	Credits          *Credits     `json:"credits" doc:"How many credits the course is worth; null where that is not known" extension:"true"`
	Level            *string      `json:"level" enum:"LOWER_DIVISION,UPPER_DIVISION,GRADUATE,NON_CREDIT" doc:"Level at which the course is taught; null where that is not known" extension:"true"`
	LifecycleStatus  string       `json:"lifecycleStatus" enum:"PROPOSED,ACTIVE,RETIRED" doc:"Where the course is between proposal and retirement; ACTIVE where nothing is said" extension:"true"`
	EffectiveFrom    *string      `json:"effectiveFrom" format:"date" doc:"First day on which the course is offered, YYYY-MM-DD" extension:"true"`
	EffectiveTo      *string      `json:"effectiveTo" format:"date" doc:"Last day on which the course is offered, YYYY-MM-DD; not before effectiveFrom" extension:"true"`
	Webpage          *string      `json:"webpage" format:"uri" doc:"Page about the course: an https address without credentials" extension:"true"`
	// HeldBy names what contains the course (see Hold); it may name more than
	// that, never less. Taken is how often the course was put into something. Only
	// the store shows them.
	HeldBy []string `json:"-"`
	Taken  int      `json:"-"`
}

// CourseInput is what a request or a file says of a course.
type CourseInput struct {
	ExternalInput
	Name            Optional[string]   `json:"name" minLength:"1" maxLength:"255"`
	Code            Optional[string]   `json:"code" minLength:"1" maxLength:"50"`
	Description     Optional[*string]  `json:"description,omitzero" maxLength:"10000"`
	Credits         Optional[*Credits] `json:"credits,omitzero"`
	Level           Optional[*string]  `json:"level,omitzero" enum:"LOWER_DIVISION,UPPER_DIVISION,GRADUATE,NON_CREDIT"`
	LifecycleStatus Optional[string]   `json:"lifecycleStatus,omitzero" enum:"PROPOSED,ACTIVE,RETIRED"`
	EffectiveFrom   Optional[*string]  `json:"effectiveFrom,omitzero" format:"date"`
	EffectiveTo     Optional[*string]  `json:"effectiveTo,omitzero" format:"date"`
	Webpage         Optional[*string]  `json:"webpage,omitzero" maxLength:"2000"`
}

// Apply sets the fields of the course.
func (in CourseInput) Apply(c *Course, l Lookups) []FieldError {
	c.Name, c.Code = in.Name.Or(c.Name), in.Code.Or(c.Code)
	c.Description, c.Webpage = text(in.Description, c.Description), text(in.Webpage, c.Webpage)
	c.Level, c.LifecycleStatus = in.Level.Or(c.Level), cmp.Or(in.LifecycleStatus.Value, c.LifecycleStatus, ActiveCourse)
	c.EffectiveFrom, c.EffectiveTo = in.EffectiveFrom.Or(c.EffectiveFrom), in.EffectiveTo.Or(c.EffectiveTo)
	wrong := in.apply(&c.External, l)
	credits, more := l.credits(in.Credits, c.Credits)
	c.Credits = credits
	wrong = append(append(wrong, more...), l.period(c.EffectiveFrom, c.EffectiveTo)...)
	if in.Webpage.Set {
		wrong = append(wrong, l.webpage(c.Webpage)...)
	}
	return wrong
}

// AddCourse begins the life of a course, as Add does, with its default section,
// which is named like it.
func (c *Change) AddCourse(course *Course, section *Section, ids IDs, dir *Directory, org OrgID, now Time) {
	c.Add(course, ids, dir, org, now)
	section.Name = course.Name
	section.begin(course, ids, now)
	course.DefaultSectionID, course.Sections = section.ID, []SectionRef{section.Ref()}
	c.Create(section, nil)
}

// Mentions reports whether the course has the section.
func (c *Course) Mentions(sectionID string) bool {
	return slices.ContainsFunc(c.Sections, func(r SectionRef) bool { return r.ID == sectionID })
}

// SectionRef is a section as its course mentions it.
type SectionRef struct {
	ID          string `json:"id" doc:"Id of the section"`
	Name        string `json:"name" doc:"Name of the section"`
	Description string `json:"description" doc:"Description of the section; empty where it has none"`
}

// MaxCourseRowBytes bounds what a course says of its sections; a row of the table
// has an end.
const MaxCourseRowBytes = 300 << 10

// Mention adds the section to the course's references or brings its reference up
// to date. A course that would outgrow its row is full.
func (c *Course) Mention(s *Section) error {
	sections := slices.Clone(c.Sections)
	if i := slices.IndexFunc(sections, func(r SectionRef) bool { return r.ID == s.ID }); i < 0 {
		sections = append(sections, s.Ref())
	} else {
		sections[i] = s.Ref()
	}
	size := 0
	for _, ref := range sections {
		size += len(ref.ID) + len(ref.Name) + len(ref.Description) + 50
	}
	if size > MaxCourseRowBytes {
		return Errorf(Conflict, "The course is full: its sections' names and descriptions exceed %d bytes together.", MaxCourseRowBytes)
	}
	c.Sections = sections
	return nil
}

// Forget takes the section out of the course's references.
func (c *Course) Forget(sectionID string) error {
	if sectionID == c.DefaultSectionID {
		return Errorf(Conflict, "Section %s is the default section of course %s and cannot be deleted.", sectionID, c.ID)
	}
	c.Sections = slices.DeleteFunc(c.Sections, func(r SectionRef) bool { return r.ID == sectionID })
	return nil
}

// CourseProfile is a course as programs, credentials and reports show it; it is
// always built from the live course.
type CourseProfile struct {
	CourseID               string `json:"courseId"`
	CourseName             string `json:"courseName" doc:"Name of the course"`
	CourseCode             string `json:"courseCode" doc:"Code of the course"`
	CourseDefaultSectionID string `json:"courseDefaultSectionId" doc:"Id of the course's default section"`
	CourseDisplayName      string `json:"courseDisplayName" doc:"Code and name of the course, with a blank between them"`
}

// Profile returns the course as it is shown in programs, credentials and reports.
func (c *Course) Profile() CourseProfile {
	return CourseProfile{
		CourseID: c.ID, CourseName: c.Name, CourseCode: c.Code,
		CourseDefaultSectionID: c.DefaultSectionID, CourseDisplayName: c.Code + " " + c.Name,
	}
}
