package catalog

import (
	"cmp"
	"reflect"
	"slices"
)

// Course is a course of the catalog. Sections are in creation order.
type Course struct {
	Meta
	External
	Registered
	Name             string       `json:"name" doc:"Name of the course"`
	Code             string       `json:"code" doc:"Code of the course in the catalog, such as CS 201"`
	Description      *string      `json:"description" doc:"What the course is about"`
	Sections         []SectionRef `json:"sections" doc:"The course's sections, in creation order"`
	DefaultSectionID string       `json:"defaultSectionId,omitempty" doc:"Section that is created and deleted with the course"`
	Credits          *Credits     `json:"credits" doc:"Credits that the course is worth; null if unknown" extension:"true"`
	Level            *string      `json:"level" enum:"LOWER_DIVISION,UPPER_DIVISION,GRADUATE,NON_CREDIT" doc:"Level at which the course is taught; null if unknown" extension:"true"`
	LifecycleStatus  string       `json:"lifecycleStatus" enum:"PROPOSED,ACTIVE,RETIRED" doc:"Stage of the course between proposal and retirement; ACTIVE by default" extension:"true"`
	EffectiveFrom    *string      `json:"effectiveFrom" format:"date" doc:"First day on which the course is offered, YYYY-MM-DD" extension:"true"`
	EffectiveTo      *string      `json:"effectiveTo" format:"date" doc:"Last day on which the course is offered, YYYY-MM-DD; not before effectiveFrom" extension:"true"`
	Webpage          *string      `json:"webpage" format:"uri" doc:"Page about the course: an https address without credentials" extension:"true"`
	// HasOutcomes reports that the course has outcomes. It is hidden from clients.
	HasOutcomes bool `json:"-" store:"promises,omitempty"`
	// HeldBy has at least the holders of the course (see Holding), perhaps more. Taken counts
	// how often a holder was added. Both are hidden from clients.
	HeldBy []string `json:"-" store:"heldBy,stringset,omitempty,guard"`
	Taken  int      `json:"-" store:"taken,omitempty,guard"`
}

// CourseInput is the input for a course from a request or a file.
type CourseInput struct {
	ExternalInput
	RegisteredInput
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
	c.Description = text(in.Description, c.Description)
	c.Level, c.LifecycleStatus = in.Level.Or(c.Level), cmp.Or(in.LifecycleStatus.Value, c.LifecycleStatus, ActiveCourse)
	c.EffectiveFrom, c.EffectiveTo = in.EffectiveFrom.Or(c.EffectiveFrom), in.EffectiveTo.Or(c.EffectiveTo)
	check := l.checker()
	in.ExternalInput.apply(&c.External, check)
	in.RegisteredInput.apply(&c.Registered)
	c.Credits = check.credits(in.Credits, c.Credits)
	check.period(c.EffectiveFrom, c.EffectiveTo)
	c.Webpage = check.webpage(in.Webpage, c.Webpage)
	return *check.wrong
}

// AddCourse creates a course, as Add does, and its default section with the same name.
func (c *Change) AddCourse(course *Course, section *Section, ids IDs, dir *Directory, now func() Time) {
	c.Add(course, ids, dir, now)
	section.Name = course.Name
	course.DefaultSectionID = DefaultSectionID(course.ID)
	section.begin(course, course.DefaultSectionID, course.CreatedAt)
	course.Sections = []SectionRef{section.Ref()}
	c.Create(section, nil)
}

// Mentions reports whether the course has the section.
func (c *Course) Mentions(sectionID string) bool {
	return slices.ContainsFunc(c.Sections, func(r SectionRef) bool { return r.ID == sectionID })
}

// SectionRef is a section in the list of its course.
type SectionRef struct {
	ID          string `json:"id" doc:"Id of the section"`
	Name        string `json:"name" doc:"Name of the section"`
	Description string `json:"description" doc:"Description of the section; empty if it has none"`
	// What the section has of these, so that sections can be told apart without reading them.
	ExternalID     *string       `json:"externalId" doc:"External id of the section; null for none" extension:"true"`
	Term           *string       `json:"term" doc:"Code of the section's term; null if unknown" extension:"true"`
	Status         SectionStatus `json:"status" doc:"Whether the section is held" extension:"true"`
	InstructorName *string       `json:"instructorName" doc:"Name of the instructor; null if unknown" extension:"true"`
	SkillCount     int           `json:"skillCount" doc:"Number of skills that the section teaches" extension:"true"`
	Reviewed       bool          `json:"reviewed" doc:"Whether people have reviewed every skill that was found; false without skills and reviews" extension:"true"`
}

// MaxCourseRowBytes limits the size of a course's section references in its row.
const MaxCourseRowBytes = 300 << 10

// bytes estimates the size of the reference in the course's row.
func (r SectionRef) bytes() int {
	n := len(r.ID) + len(r.Name) + len(r.Description) + 110
	for _, text := range []*string{r.ExternalID, r.Term, r.InstructorName} {
		n += len(ValueOr(text, ""))
	}
	return n
}

// Mention adds the section to the course's references or updates its reference, and reports whether they differ. The
// error is a Conflict if the references would exceed MaxCourseRowBytes.
func (c *Course) Mention(s *Section) (changed bool, err error) {
	sections, ref := slices.Clone(c.Sections), s.Ref()
	switch i := slices.IndexFunc(sections, func(r SectionRef) bool { return r.ID == s.ID }); {
	case i < 0:
		sections = append(sections, ref)
	case reflect.DeepEqual(sections[i], ref):
		return false, nil
	default:
		sections[i] = ref
	}
	size := 0
	for _, ref := range sections {
		size += ref.bytes()
	}
	if size > MaxCourseRowBytes {
		return false, Errorf(Conflict, "The course is full: its references to sections exceed %d bytes in total.",
			MaxCourseRowBytes)
	}
	c.Sections = sections
	return true, nil
}

// Forget removes the section from the course's references.
func (c *Course) Forget(sectionID string) error {
	if sectionID == c.DefaultSectionID {
		return Errorf(Conflict, "Section %s is the default section of course %s and cannot be deleted.", sectionID, c.ID)
	}
	c.Sections = slices.DeleteFunc(c.Sections, func(r SectionRef) bool { return r.ID == sectionID })
	return nil
}

// CourseProfile is a course as shown in programs, credentials and reports, always built from the live course.
type CourseProfile struct {
	CourseID               string `json:"courseId"`
	CourseName             string `json:"courseName" doc:"Name of the course"`
	CourseCode             string `json:"courseCode" doc:"Code of the course"`
	CourseDefaultSectionID string `json:"courseDefaultSectionId" doc:"Id of the course's default section"`
	CourseDisplayName      string `json:"courseDisplayName" doc:"Code and name of the course, separated by a space"`
}

// Profile returns the profile of the course.
func (c *Course) Profile() CourseProfile {
	return CourseProfile{
		CourseID: c.ID, CourseName: c.Name, CourseCode: c.Code,
		CourseDefaultSectionID: c.DefaultSectionID, CourseDisplayName: c.Code + " " + c.Name,
	}
}
