package catalog

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Bounds on members; a transaction and a row of the table have an end.
const (
	MaxCredentialSections = 200
	MaxProgramCourses     = 200
	MaxTransferCourses    = 1000 // of a package
	MaxCourseRowBytes     = 300 << 10
)

// NewMeta begins the life of a record.
func NewMeta(id string, org OrgID, now Time) Meta {
	return Meta{ID: id, OrganizationID: org, CreatedAt: now, UpdatedAt: now}
}

// NewCourse makes a course with its default section, which is named like it, and
// takes the course's place in the list.
func NewCourse(ids IDs, dir *Directory, org OrgID, now Time, name, code string, description *string, change *Change) *Course {
	course := &Course{
		Meta: NewMeta(ids.Sequenced(CourseKind, dir.Take()), org, now),
		Name: name, Code: code, Description: description,
	}
	section := course.NewSection(ids, now, name)
	course.DefaultSectionID = section.ID
	course.Sections = []SectionRef{section.Ref()}
	change.Create(course, dir)
	change.Create(section, nil)
	return course
}

// NewSection makes a section of the course, which does not mention it yet. The
// section's id leads to its course (see Sequenced).
func (c *Course) NewSection(ids IDs, now Time, name string) *Section {
	seq, _ := Sequence(CourseKind, c.ID)
	return &Section{
		Meta:     NewMeta(ids.Sequenced(SectionKind, seq), c.OrganizationID, now),
		CourseID: c.ID, Name: name, Skills: []SkillRef{},
	}
}

// Mentions says whether the course has the section.
func (c *Course) Mentions(sectionID string) bool {
	return slices.ContainsFunc(c.Sections, func(r SectionRef) bool { return r.ID == sectionID })
}

// Ref is the section as its course mentions it.
func (s *Section) Ref() SectionRef {
	ref := SectionRef{ID: s.ID, Name: s.Name}
	if s.Description != nil {
		ref.Description = *s.Description
	}
	return ref
}

// Mention adds the section to the course's references or brings its reference up
// to date. A course that would outgrow its row is full.
func (c *Course) Mention(s *Section) error {
	i := slices.IndexFunc(c.Sections, func(r SectionRef) bool { return r.ID == s.ID })
	if i < 0 {
		c.Sections = append(c.Sections, s.Ref())
	} else {
		c.Sections[i] = s.Ref()
	}
	size := 0
	for _, ref := range c.Sections {
		size += len(ref.ID) + len(ref.Name) + len(ref.Description) + 50
	}
	if size > MaxCourseRowBytes {
		return Errorf(Conflict, "The course is full: its sections' names and descriptions exceed %d bytes together.", MaxCourseRowBytes)
	}
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

// Profile shows the course in programs, credentials and reports.
func (c *Course) Profile() CourseProfile {
	return CourseProfile{
		CourseID: c.ID, CourseName: c.Name, CourseCode: c.Code,
		CourseDefaultSectionID: c.DefaultSectionID, CourseDisplayName: c.Code + " " + c.Name,
	}
}

// Profile shows the section of a course in credentials and reports.
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

// holder is how a credential holds one of its sections.
func (c *Credential) holder(sectionID string) string { return c.ID + "/" + sectionID }

// Add puts a section at the end of the credential. A section that it already
// holds changes nothing; another section of the same course is a conflict.
func (c *Credential) Add(p Placed) (added bool, err error) {
	for _, s := range c.Sections {
		if s.SectionID == p.Section.ID {
			return false, nil
		}
		if s.CourseID == p.Course.ID {
			return false, Errorf(Conflict, "The credential already holds section %s of course %s.", s.SectionID, s.CourseID)
		}
	}
	if len(c.Sections) >= MaxCredentialSections {
		return false, Errorf(Conflict, "A credential holds at most %d sections.", MaxCredentialSections)
	}
	c.Sections = append(c.Sections, p.Section.Profile(p.Course))
	return true, nil
}

// SetSections replaces the credential's sections by those placed, in their order.
// Faults are located at "location[i]"; a nil Placed.Section is an unknown id.
func (c *Credential) SetSections(ids []string, placed []Placed, location string) error {
	var faults []FieldError
	seen, courses := map[string]bool{}, map[string]string{}
	sections := make([]SectionProfile, 0, len(ids))
	for i, id := range ids {
		fault := ""
		switch p := placed[i]; {
		case seen[id]:
			fault = "the section is named twice"
		case p.Section == nil:
			fault = "there is no such section"
		case courses[p.Course.ID] != "":
			fault = "section " + courses[p.Course.ID] + " of the same course stands before it; a credential holds at most one section of each course"
		default:
			courses[p.Course.ID] = id
			sections = append(sections, p.Section.Profile(p.Course))
		}
		seen[id] = true
		if fault != "" {
			faults = append(faults, FieldError{Location: fmt.Sprintf("%s[%d]", location, i), Message: fault, Value: id})
		}
	}
	if faults != nil {
		return Invalid(faults...)
	}
	c.Sections = sections
	return nil
}

// Remove takes a section out of the credential.
func (c *Credential) Remove(sectionID string) bool {
	n := len(c.Sections)
	c.Sections = slices.DeleteFunc(c.Sections, func(s SectionProfile) bool { return s.SectionID == sectionID })
	return len(c.Sections) < n
}

// Holds brings the courses' holds in line with the credential's sections: courses
// are all those that it held before or holds now.
func (c *Credential) Holds(change *Change, courses map[string]*Course) {
	now := map[string]bool{}
	if c.DeletedAt == nil {
		for _, s := range c.Sections {
			now[c.holder(s.SectionID)] = true
		}
	}
	change.hold(c.ID+"/", now, func(holder string) string {
		i := slices.IndexFunc(c.Sections, func(s SectionProfile) bool { return c.holder(s.SectionID) == holder })
		return c.Sections[i].CourseID
	}, courses)
}

// Contains says whether the program has the course.
func (p *Program) Contains(courseID string) bool { return slices.Contains(p.CourseOrder, courseID) }

// Add puts a course at the end of the program; one that it already has changes nothing.
func (p *Program) Add(c *Course) (added bool, err error) {
	if p.Contains(c.ID) {
		return false, nil
	}
	if len(p.CourseOrder) >= MaxProgramCourses {
		return false, Errorf(Conflict, "A program holds at most %d courses.", MaxProgramCourses)
	}
	p.CourseOrder = append(p.CourseOrder, c.ID)
	p.Courses = append(p.Courses, c.Profile())
	return true, nil
}

// Reorder puts the courses in the given order, which must name each of them once.
func (p *Program) Reorder(order []string, location string) error {
	var faults []FieldError
	seen := map[string]bool{}
	for i, id := range order {
		if !p.Contains(id) || seen[id] {
			faults = append(faults, FieldError{fmt.Sprintf("%s[%d]", location, i), "not a permutation of the program's courses", id})
		}
		seen[id] = true
	}
	if len(faults) == 0 && len(order) != len(p.CourseOrder) {
		faults = []FieldError{{Location: location, Message: fmt.Sprintf("not a permutation of the program's %d courses", len(p.CourseOrder))}}
	}
	if faults != nil {
		return Invalid(faults...)
	}
	place := map[string]int{}
	for i, id := range order {
		place[id] = i
	}
	p.CourseOrder = slices.Clone(order)
	slices.SortFunc(p.Courses, func(a, b CourseProfile) int { return cmp.Compare(place[a.CourseID], place[b.CourseID]) })
	return nil
}

// Remove takes a course out of the program.
func (p *Program) Remove(courseID string) bool {
	n := len(p.CourseOrder)
	p.CourseOrder = slices.DeleteFunc(p.CourseOrder, func(id string) bool { return id == courseID })
	p.Courses = slices.DeleteFunc(p.Courses, func(c CourseProfile) bool { return c.CourseID == courseID })
	return len(p.CourseOrder) < n
}

// Holds brings the courses' holds in line with the program's courses: courses are
// all those that it had before or has now.
func (p *Program) Holds(change *Change, courses map[string]*Course) {
	now := map[string]bool{}
	if p.DeletedAt == nil {
		for _, id := range p.CourseOrder {
			if courses[id] != nil {
				now[p.ID+"/"+id] = true
			}
		}
	}
	change.hold(p.ID+"/", now, func(holder string) string { return holder[len(p.ID)+1:] }, courses)
}

// hold adds to the change what makes the courses' holds that begin with prefix
// equal to now.
func (ch *Change) hold(prefix string, now map[string]bool, course func(holder string) string, courses map[string]*Course) {
	wanted := map[string][]string{}
	for holder := range now {
		id := course(holder)
		wanted[id] = append(wanted[id], holder)
	}
	for _, id := range slices.Sorted(maps.Keys(courses)) {
		c := courses[id]
		for _, holder := range c.HeldBy {
			if strings.HasPrefix(holder, prefix) && !slices.Contains(wanted[id], holder) {
				ch.Released = append(ch.Released, Hold{c, holder})
			}
		}
		for _, holder := range wanted[id] {
			if !slices.Contains(c.HeldBy, holder) {
				ch.Held = append(ch.Held, Hold{c, holder})
			}
		}
	}
}

// SortSkills puts skills in the contract's order: confidence, then level, both
// descending, then name.
func SortSkills(skills []SkillRef) {
	slices.SortFunc(skills, func(a, b SkillRef) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), cmp.Compare(b.Level, a.Level),
			cmp.Compare(a.SkillName, b.SkillName), cmp.Compare(a.SkillID, b.SkillID))
	})
}

// SkillInput is a skill as a request names it.
type SkillInput struct {
	SkillID    string   `json:"skillId" minLength:"1" maxLength:"255"`
	SkillName  string   `json:"skillName,omitempty" doc:"ignored: the taxonomy names the skill"`
	Level      int      `json:"level" minimum:"1" maximum:"5"`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"at most four decimals; 1 when absent"`
}

// Skills checks the skills of a request against the taxonomy, of which name is
// the look-up, and puts them in order.
func Skills(in []SkillInput, name func(id string) (string, bool), location string) ([]SkillRef, []FieldError) {
	var faults []FieldError
	skills := make([]SkillRef, 0, len(in))
	seen := map[string]bool{}
	for i, s := range in {
		at := fmt.Sprintf("%s[%d]", location, i)
		known, ok := name(s.SkillID)
		confidence := 1.0
		if s.Confidence != nil {
			confidence = *s.Confidence
		}
		if !ok {
			faults = append(faults, FieldError{at + ".skillId", "not in the loaded taxonomy", s.SkillID})
		}
		if seen[s.SkillID] {
			faults = append(faults, FieldError{at + ".skillId", "named twice", s.SkillID})
		}
		if math.Round(confidence*1e4)/1e4 != confidence {
			faults = append(faults, FieldError{at + ".confidence", "has more than four decimals", confidence})
		}
		seen[s.SkillID] = true
		skills = append(skills, SkillRef{SkillID: s.SkillID, SkillName: known, Level: s.Level, Confidence: confidence})
	}
	SortSkills(skills)
	return skills, faults
}

// ONETSOCPattern is the form of a SOC or O*NET-SOC code.
var ONETSOCPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\d{2}-\d{4}(\.\d{2})?$`) })

// Check tells what is wrong with a job's salaries.
func (j *Job) Check(location string) []FieldError {
	if j.SalaryMin != nil && j.SalaryMax != nil && *j.SalaryMin > *j.SalaryMax {
		return []FieldError{{location + ".salaryMin", "greater than salaryMax", *j.SalaryMin}}
	}
	return nil
}

// Check tells what is wrong with the thresholds.
func (m MatchingConfig) Check(location string) []FieldError {
	if m.PartialEquivalentThreshold > m.FullEquivalentThreshold {
		return []FieldError{{location + ".partialEquivalentThreshold", "greater than fullEquivalentThreshold", m.PartialEquivalentThreshold}}
	}
	return nil
}
