package catalog

import (
	"strings"
)

// Input is the input for a record of type R from a request or a file. It has each field that clients set, as
// Optional, with the name and bounds of the contract. Apply has all other rules.
//
// Apply changes a new or a loaded record; one without an id is new and gets the defaults. A record with field errors
// must not be saved.
type Input[R Record] interface {
	Apply(record R, l Lookups) []FieldError
}

// Apply applies the input to a record. The error has all field errors.
func Apply[R Record](in Input[R], record R, l Lookups) error {
	if wrong := in.Apply(record, l); wrong != nil {
		return Invalid(wrong...)
	}
	return nil
}

// Lookups is what the rules of an input need besides the record. The caller loads it; rules do no I/O.
type Lookups struct {
	// Location of the input, "body", with which the locations of field errors begin
	At          string
	SkillName   func(id string) (string, bool) // of the taxonomy
	CheckHref   func(href string) error        // whether a syllabus may be fetched from there
	Occupations map[string][]string            // SOC codes by the CIP code that leads to them
	Courses     map[string]*Course             // by the names that the input has for them
	Sections    map[string]Placed              // likewise
	Documents   map[string]*Document           // likewise, those whose file is there

	Credentials map[string]*Credential // likewise

	// Likewise, for articulations.
	Programs        map[string]*Program
	TransferCourses map[string]*TransferCourse
	Articulations   map[string]*Articulation
}

// Below returns the look-ups for an input in a field of this one.
func (l Lookups) Below(field string) Lookups {
	l.At = l.at(field)
	return l
}

func (l Lookups) at(field string) string { return strings.TrimPrefix(l.At+"."+field, ".") }

// checker collects the field errors of an input while its rules are applied.
type checker struct {
	Lookups
	wrong *[]FieldError
}

func (l Lookups) checker() checker { return checker{l, new([]FieldError)} }

// below returns the checker for an input in a field of this one.
func (c checker) below(field string) checker { return checker{c.Below(field), c.wrong} }

func (c checker) add(wrong ...FieldError) { *c.wrong = append(*c.wrong, wrong...) }

// fault adds an error in a field; value is nil if the message says all.
func (c checker) fault(field, message string, value any) {
	c.add(FieldError{c.at(field), message, value})
}

// syllabus returns the location of a record's syllabus: an address, of which only the text is checked, or a document.
// If one is given, it replaces the other.
func (c checker) syllabus(
	givenHref, givenDocument Optional[*string], oldHref, oldDocument *string,
) (href, document *string) {
	href, document = text(givenHref, oldHref), text(givenDocument, oldDocument)
	newHref, newDocument := givenHref.Set && href != nil, givenDocument.Set && document != nil
	switch {
	case newHref && newDocument:
		c.fault("documentId", "must not be given with syllabusHref", *document)
	case newHref:
		document = nil
	case newDocument:
		href = nil
	}
	if newHref {
		if err := c.CheckHref(*href); err != nil {
			c.fault("syllabusHref", err.Error(), *href)
		}
	}
	if newDocument && c.Documents[*document] == nil {
		c.fault("documentId", "there is no such document, or its file is not uploaded", *document)
	}
	return href, document
}

// skills returns the given skills, or else the record's present ones.
func (c checker) skills(in Optional[[]SkillInput], old []SkillRef) []SkillRef {
	if !in.Set && old != nil {
		return old
	}
	skills, wrong := Skills(in.Value, c.SkillName, c.at("skills"))
	c.add(wrong...)
	return skills
}

// text returns an optional text; nil if it is empty.
func text(in Optional[*string], old *string) *string {
	if in.Set && in.Value != nil && *in.Value == "" {
		return nil
	}
	return in.Or(old)
}

// amount returns an optional number.
func amount(in Optional[*float64], old *float64) *float64 {
	if in.Set && in.Value != nil {
		return new(unsigned(*in.Value))
	}
	return in.Or(old)
}

// unsigned turns -0 into 0.
func unsigned(n float64) float64 {
	if n == 0 {
		return 0
	}
	return n
}
