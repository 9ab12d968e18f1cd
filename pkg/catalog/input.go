package catalog

import (
	"strings"
)

// Input is what a request or a file says of a record of type R: each field of the
// record that clients set, as Optional, under the name and with the bounds of the
// contract. What a field may be and what follows from it stands in Apply alone.
//
// Apply changes a new or a loaded record; one without an id is new and gets the
// defaults. It returns what is wrong: the record is not to be saved then.
type Input[R Record] interface {
	Apply(record R, l Lookups) []FieldError
}

// Apply changes a record as its input says; the error has all that is wrong.
func Apply[R Record](in Input[R], record R, l Lookups) error {
	if wrong := in.Apply(record, l); wrong != nil {
		return Invalid(wrong...)
	}
	return nil
}

// Lookups are what the rules of an input ask beyond its record. The caller has
// loaded what the kind of record needs: rules read nothing themselves.
type Lookups struct {
	At          string                         // where the input stands, "body", which locations of field errors begin with
	SkillName   func(id string) (string, bool) // of the taxonomy
	CheckHref   func(href string) error        // whether a syllabus may be fetched from there
	Occupations map[string][]string            // SOC codes by the CIP code that leads to them
	Courses     map[string]*Course             // by the names that the input has for them
	Sections    map[string]Placed              // likewise
	Documents   map[string]*Document           // likewise, those whose file is there

	// Likewise, for articulations.
	Programs        map[string]*Program
	TransferCourses map[string]*TransferCourse
	Articulations   map[string]*Articulation
}

// Below returns the look-ups for an input that stands in a field of this one.
func (l Lookups) Below(field string) Lookups {
	l.At = l.at(field)
	return l
}

func (l Lookups) at(field string) string { return strings.TrimPrefix(l.At+"."+field, ".") }

// syllabus returns where a record's syllabus is: at an address, which is judged as
// far as its text goes, or in a document. A given one takes the place of the other.
func (l Lookups) syllabus(givenHref, givenDocument Optional[*string], oldHref, oldDocument *string) (href, document *string, wrong []FieldError) {
	href, document = text(givenHref, oldHref), text(givenDocument, oldDocument)
	newHref, newDocument := givenHref.Set && href != nil, givenDocument.Set && document != nil
	switch {
	case newHref && newDocument:
		wrong = append(wrong, FieldError{l.at("documentId"), "must not stand with syllabusHref", *document})
	case newHref:
		document = nil
	case newDocument:
		href = nil
	}
	if newHref {
		if err := l.CheckHref(*href); err != nil {
			wrong = append(wrong, FieldError{l.at("syllabusHref"), err.Error(), *href})
		}
	}
	if newDocument && l.Documents[*document] == nil {
		wrong = append(wrong, FieldError{l.at("documentId"), "there is no such document, or its file is not uploaded", *document})
	}
	return href, document, wrong
}

// skills returns a record's skills: those that are given, or as they were.
func (l Lookups) skills(in Optional[[]SkillInput], old []SkillRef) ([]SkillRef, []FieldError) {
	if !in.Set && old != nil {
		return old, nil
	}
	return Skills(in.Value, l.SkillName, l.at("skills"))
}

// text returns an optional text of a record; an empty one is none.
func text(in Optional[*string], old *string) *string {
	if in.Set && in.Value != nil && *in.Value == "" {
		return nil
	}
	return in.Or(old)
}

// amount returns an optional number of a record.
func amount(in Optional[*float64], old *float64) *float64 {
	if in.Set && in.Value != nil {
		return new(unsigned(*in.Value))
	}
	return in.Or(old)
}

// unsigned takes the sign off a zero: -0 is stored as 0.
func unsigned(n float64) float64 {
	if n == 0 {
		return 0
	}
	return n
}
