package catalog

import (
	"fmt"
	"slices"
)

// Credential is a stackable credential: sections in the order in which they were
// added, at most one of each course. Stored, a section is its two ids; a read
// fills in the rest from the live course and section.
type Credential struct {
	Meta
	External
	Name        string           `json:"name" doc:"Name of the credential"`
	Description *string          `json:"description" doc:"What the credential is about"`
	Code        *string          `json:"code" doc:"Code of the credential"`
	Sections    []SectionProfile `json:"sections" doc:"Sections that the credential stacks, at most one of each course, in their order"`
}

// CredentialInput is what a request or a file says of a credential.
type CredentialInput struct {
	ExternalInput
	Name             Optional[string]   `json:"name" minLength:"1" maxLength:"255"`
	Description      Optional[*string]  `json:"description,omitzero" maxLength:"10000"`
	Code             Optional[*string]  `json:"code,omitzero" maxLength:"50"`
	CourseSectionIDs Optional[[]string] `json:"courseSectionIds,omitzero" maxItems:"200" doc:"Ids of all the sections, in their order, instead of those that it had; at most one of each course"`
}

// Apply sets the fields of the credential. Its sections are those of l.Sections.
func (in CredentialInput) Apply(c *Credential, l Lookups) []FieldError {
	c.Name = in.Name.Or(c.Name)
	c.Description, c.Code = text(in.Description, c.Description), text(in.Code, c.Code)
	wrong := in.apply(&c.External, l)
	if !in.CourseSectionIDs.Set && c.Sections != nil {
		return wrong
	}
	return append(wrong, c.SetSections(in.CourseSectionIDs.Value, l.Sections, l.at("courseSectionIds"))...)
}

// MaxCredentialSections is how many sections a credential holds; a transaction has
// an end.
const MaxCredentialSections = 200

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

// SetSections replaces the credential's sections by those with the ids, in their
// order. Field errors are located at "location[i]".
func (c *Credential) SetSections(ids []string, placed map[string]Placed, location string) []FieldError {
	var wrong []FieldError
	seen, courses := map[string]bool{}, map[string]string{}
	sections := make([]SectionProfile, 0, len(ids))
	for i, id := range ids {
		message := ""
		switch p := placed[id]; {
		case seen[id]:
			message = "the section is named twice"
		case p.Section == nil:
			message = "there is no such section"
		case courses[p.Course.ID] != "":
			message = "section " + courses[p.Course.ID] + " of the same course stands before it; a credential holds at most one section of each course"
		default:
			courses[p.Course.ID] = id
			sections = append(sections, p.Section.Profile(p.Course))
		}
		seen[id] = true
		if message != "" {
			wrong = append(wrong, FieldError{fmt.Sprintf("%s[%d]", location, i), message, id})
		}
	}
	if wrong == nil {
		c.Sections = sections
	}
	return wrong
}

// Remove takes a section out of the credential.
func (c *Credential) Remove(sectionID string) bool {
	n := len(c.Sections)
	c.Sections = slices.DeleteFunc(slices.Clone(c.Sections), func(s SectionProfile) bool { return s.SectionID == sectionID })
	return len(c.Sections) < n
}

// Holds brings the courses' holds in line with the credential's sections, which
// were before when it was loaded: courses are all those that come or go. A course
// that takes no more holders is a conflict.
func (c *Credential) Holds(change *Change, before []SectionProfile, courses map[string]*Course) error {
	holders := func(sections []SectionProfile) map[string]string {
		held := make(map[string]string, len(sections))
		for _, s := range sections {
			held[c.holder(s.SectionID)] = s.CourseID
		}
		return held
	}
	now := holders(c.Sections)
	if c.DeletedAt != nil {
		now = nil
	}
	return change.hold(c.ID, holders(before), now, courses)
}
