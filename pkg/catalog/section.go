package catalog

import (
	"cmp"
	"reflect"
)

// Section is the detail record of a course section.
type Section struct {
	Meta
	External
	CourseID       string  `json:"courseId"`
	Name           string  `json:"name" doc:"Name of the section"`
	Description    *string `json:"description" doc:"What the section is about"`
	InstructorID   *string `json:"instructorId" doc:"Id of the instructor in the organization's own systems"`
	InstructorName *string `json:"instructorName" doc:"Name of the instructor" extension:"true"`
	SyllabusHref   *string `json:"syllabusHref" format:"uri" doc:"Address of the syllabus, from which skills are extracted"`
	DocumentID     *string `json:"documentId" doc:"Uploaded document that holds the syllabus, instead of an address" extension:"true"`
	Offering
	Skills []SkillRef `json:"skills" doc:"Skills that the section teaches, by confidence, then level, both descending, then name"`
	Extraction
	// Reviews are people's decisions on the skills, which Skills follows. ByHand reports that Skills has been set by
	// a request or a file since the last extraction, which Provenance describes. All are hidden from clients.
	Reviews    Reviews     `json:"-" store:"reviews,omitempty"`
	ByHand     bool        `json:"-" store:"byHand"`
	Provenance *Provenance `json:"-" store:"provenance,omitempty"` // nil in rows from before it was stored
}

// SectionInput is the input for a section from a request or a file.
type SectionInput struct {
	ExternalInput
	Name           Optional[string]  `json:"name" minLength:"1" maxLength:"255"`
	Description    Optional[*string] `json:"description,omitzero" maxLength:"10000"`
	InstructorID   Optional[*string] `json:"instructorId,omitzero" maxLength:"255"`
	InstructorName Optional[*string] `json:"instructorName,omitzero" maxLength:"255"`
	SyllabusHref   Optional[*string] `json:"syllabusHref,omitzero" maxLength:"2000" doc:"Address of the syllabus: https, without credentials; a new one starts an extraction into skills. At most one of syllabusHref and documentId"`
	DocumentID     Optional[*string] `json:"documentId,omitzero" maxLength:"64" doc:"Document whose file was uploaded; a new one starts an extraction into skills. At most one of syllabusHref and documentId"`
	OfferingInput
	Skills Optional[[]SkillInput] `json:"skills,omitzero" nullable:"true" maxItems:"500" doc:"Skills that the section teaches, which replace the present ones and discard their reviews; null ends skills set by hand, so that they are extracted again"`
}

// Apply sets the fields of the section. Given skills end the reviews of the present ones; null ends given skills.
// AddSection and ReplaceSection start the extraction that follows.
func (in SectionInput) Apply(s *Section, l Lookups) []FieldError {
	s.Name = in.Name.Or(s.Name)
	s.Description = text(in.Description, s.Description)
	s.InstructorID, s.InstructorName = text(in.InstructorID, s.InstructorID), text(in.InstructorName, s.InstructorName)
	check := l.checker()
	in.ExternalInput.apply(&s.External, check)
	in.OfferingInput.apply(&s.Offering, check)
	given := in.Skills
	given.Set = given.Value != nil // null leaves the list to what is extracted
	s.Skills = check.skills(given, s.Skills)
	if in.Skills.Set {
		if s.ByHand = in.Skills.Value != nil; s.ByHand {
			s.Reviews = nil
		}
	}
	s.SyllabusHref, s.DocumentID = check.syllabus(in.SyllabusHref, in.DocumentID, s.SyllabusHref, s.DocumentID)
	return *check.wrong
}

// HasNewSyllabus reports whether the section has a syllabus that differs from the previous one.
func (s *Section) HasNewSyllabus(before Section) bool {
	return isNew(before.SyllabusHref, s.SyllabusHref) || isNew(before.DocumentID, s.DocumentID)
}

// Extracted reports whether the section's skills are those of an extraction.
func (s *Section) Extracted() bool {
	return !s.ByHand && (s.Provenance != nil || s.SyllabusHref != nil || s.DocumentID != nil)
}

// hasOtherSyllabus reports whether the section's syllabus was replaced, added or removed.
func (s *Section) hasOtherSyllabus(before Section) bool {
	return s.HasNewSyllabus(before) || before.HasNewSyllabus(*s)
}

func isNew(before, now *string) bool { return now != nil && (before == nil || *before != *now) }

// AddSection creates a section of the course, and saves the course, which refers to it. The time is read after the
// course was loaded (see Add).
func (c *Change) AddSection(s *Section, course *Course, ids IDs, now func() Time) error {
	seq, _ := Sequence(CourseKind, course.ID)
	s.begin(course, ids.Sequenced(SectionKind, seq), now())
	before := Copy(course)
	if _, err := course.Mention(s); err != nil {
		return err
	}
	c.Create(s, nil)
	c.Replace(before, course, s.CreatedAt)
	return nil
}

// ReplaceSection saves a changed section, as Replace does, with the extraction that it now needs, and its course if
// the reference has changed. The error is that of Mention.
func (c *Change) ReplaceSection(before, after *Section, course *Course, now Time) error {
	after.settle(before, before.Source(course), course.DescriptionText(), course)
	return c.saveMentioned(before, after, course, false, now)
}

// ReplaceCourse saves a course and its default section if they changed, with the extraction that
// a new name or description asks for, and reports whether they did. was and section are nil where
// neither the section nor the text that may describe it changed.
func (c *Change) ReplaceCourse(before, after *Course, was, section *Section, now Time) (changed bool, err error) {
	if !reflect.DeepEqual(before, after) {
		changed = true
		c.Replace(before, after, now)
	}
	if section == nil {
		return changed, nil
	}
	text := before.DescriptionText()
	other := text != after.DescriptionText()
	if other || !reflect.DeepEqual(was, section) {
		section.settle(was, was.Source(before), text, after)
	}
	// Also where the section waits already: the former text may be read by now.
	again := other && section.Source(after) == FromDescription && section.ProcessingStatus == Pending
	if !again && reflect.DeepEqual(was, section) {
		return changed, nil
	}
	return true, c.saveMentioned(was, section, after, again, now)
}

// Reextract has the section's skills extracted again, if there is something to read, and brings
// its course's reference up to date.
func (c *Change) Reextract(s *Section, course *Course, now Time) error {
	before := Copy(s)
	if source, text := SourceOf(s, course); source == FromSyllabus || text != "" {
		s.Extraction = Extraction{ProcessingStatus: Pending}
	} else {
		s.settle(before, before.Source(course), "", course)
	}
	mentioned := Copy(course)
	if changed, err := mentioned.Mention(s); err != nil || !changed && reflect.DeepEqual(before, s) {
		return err
	}
	return c.saveMentioned(before, s, course, false, now)
}

// saveMentioned saves a section if it has changed or must be extracted again, and its course if its reference to the
// section has changed.
func (c *Change) saveMentioned(before, after *Section, course *Course, again bool, now Time) error {
	unmentioned := Copy(course)
	changed, err := course.Mention(after)
	if err != nil {
		return err
	}
	if again || !reflect.DeepEqual(before, after) {
		c.Replace(before, after, now)
	}
	for _, replaced := range EffectsOf[*Replacement](c) {
		replaced.Restarted = replaced.Restarted || again && replaced.Record == after
	}
	if changed {
		c.Replace(unmentioned, course, now)
	}
	return nil
}

// begin sets the section's id, from which its course is found (see Sequenced).
func (s *Section) begin(course *Course, id string, now Time) {
	s.Meta = NewMeta(id, course.OrganizationID, now)
	s.CourseID, s.Status = course.ID, cmp.Or(s.Status, ActiveSection)
	if s.Skills == nil {
		s.Skills = []SkillRef{}
	}
	s.settle(&Section{}, "", "", course)
}

// Ref returns the section as its course mentions it.
func (s *Section) Ref() SectionRef {
	ref := SectionRef{
		ID: s.ID, Name: s.Name, Description: ValueOr(s.Description, ""), ExternalID: s.ExternalID, Status: s.Status,
		InstructorName: s.InstructorName, SkillCount: len(s.Skills), Reviewed: FullyReviewed(s.Skills, s.Reviews),
	}
	if s.Term != nil {
		ref.Term = &s.Term.Code
	}
	return ref
}

// SectionProfile is a section as credentials and reports show it.
type SectionProfile struct {
	CourseProfile
	SectionID             string     `json:"sectionId"`
	SectionName           string     `json:"sectionName"`
	SectionSkills         []SkillRef `json:"sectionSkills" doc:"Skills that the section teaches"`
	SectionInstructorName *string    `json:"sectionInstructorName"`
}

// TeachingSection is a section in the list of those that teach a skill: its profile without the skills, and the level
// of this one.
type TeachingSection struct {
	CourseProfile
	SectionID             string  `json:"sectionId"`
	SectionName           string  `json:"sectionName"`
	SectionInstructorName *string `json:"sectionInstructorName"`
	Level                 int     `json:"level" minimum:"1" maximum:"5" doc:"Level at which the section teaches the skill: 1 remember, 2 understand, 3 apply, 4 analyze, 5 evaluate or create"`
	Confidence            float64 `json:"confidence" minimum:"0" maximum:"1" doc:"Confidence that the section teaches the skill, with at most four decimals"`
}

// Profile returns the profile of a section of the course.
func (s *Section) Profile(c *Course) SectionProfile {
	return SectionProfile{
		CourseProfile: c.Profile(), SectionID: s.ID, SectionName: s.Name,
		SectionSkills: s.Skills, SectionInstructorName: s.InstructorName,
	}
}

// Placed is a section with its course.
type Placed struct {
	Section *Section
	Course  *Course
}
