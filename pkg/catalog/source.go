package catalog

import (
	"slices"
	"strings"
	"unicode"
)

// Source is the kind of text that skills are extracted from.
type Source string

// The sources.
const (
	FromSyllabus    Source = "SYLLABUS"    // an address, a document, or a text that was sent
	FromDescription Source = "DESCRIPTION" // the name and the description of a course
	FromOutcomes    Source = "OUTCOMES"    // what a course or a program promises
)

// Sources lists all sources.
func Sources() []Source { return []Source{FromSyllabus, FromDescription, FromOutcomes} }

// Source returns what the section's skills are extracted from; "" for nothing, because they
// were set by hand or because only the default section has those of its course's description.
func (s *Section) Source(course *Course) Source {
	switch {
	case s.SyllabusHref != nil || s.DocumentID != nil:
		return FromSyllabus
	case s.ByHand || s.ID != course.DefaultSectionID:
		return ""
	case course.HasOutcomes:
		return FromOutcomes
	}
	return FromDescription
}

// DescriptionText returns the text from which the skills of the default section are extracted
// while that has neither a syllabus nor skills set by hand: name and description. It is empty
// where there is too little to read: a name of one word alone.
func (c *Course) DescriptionText() string {
	if c.Description != nil {
		return describing(c.Name, c.Description)
	}
	if len(strings.Fields(c.Name)) < 2 {
		return ""
	}
	return c.Name
}

func describing(name string, description *string) string {
	if description == nil {
		return name
	}
	return name + "\n\n" + *description
}

// Locate sets the offsets and the words of quotes to those that they have in text. The extractor has read a cleaned
// copy of it: lines are joined, and doubled spaces, controls and marks of list items are missing. A quote that is not
// found becomes the whole text.
func Locate(evidence []Evidence, text string) {
	original := []rune(text)
	for i := range evidence {
		e := &evidence[i]
		quote := slices.DeleteFunc([]rune(e.Quote), cleaned)
		start, end, off := 0, len(original), len(original)+len(e.Quote)+e.Start
		for at, r := range original {
			if cleaned(r) || max(at-e.Start, e.Start-at) >= off {
				continue
			}
			if to := matching(quote, original, at); to > 0 {
				start, end, off = at, to, max(at-e.Start, e.Start-at)
			}
		}
		e.Start, e.End, e.Quote = start, end, string(original[start:end])
	}
}

// matching returns the end of a quote in a text at an offset, or 0 if the text has other words there.
func matching(quote, text []rune, at int) int {
	for _, r := range quote {
		for at < len(text) && cleaned(text[at]) {
			at++
		}
		if at == len(text) || text[at] != r {
			return 0
		}
		at++
	}
	return at
}

// cleaned reports whether a character may differ in a cleaned copy, where a bar stands for a tab.
func cleaned(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.C, r) || r == '|' }

// SourceOf returns what the skills of a record are extracted from, and the text of a
// description; course is that of a section.
func SourceOf(r Record, course *Course) (source Source, description string) {
	switch r := r.(type) {
	case *Section:
		if source = r.Source(course); source == FromDescription {
			description = course.DescriptionText()
		}
		return source, description
	case *OutcomeList:
		return FromOutcomes, ""
	case *TransferCourse:
		if r.SyllabusHref == nil && r.DocumentID == nil {
			return FromDescription, describing(r.Name, r.Description)
		}
	}
	return FromSyllabus, ""
}

// settle brings the section's extraction in line with what its skills are extracted from now:
// before is the section as it was, from what its skills were extracted from, was the text of its
// course's description then. What is not extracted is COMPLETED at once.
func (s *Section) settle(before *Section, from Source, was string, course *Course) {
	source, text := SourceOf(s, course)
	same := before.ID != "" && from == source && s.ProcessingStatus != ""
	switch source {
	case FromSyllabus:
		if s.HasNewSyllabus(*before) || before.ByHand && !s.ByHand {
			s.extract()
		}
		return
	case FromOutcomes:
		if !same {
			s.extract()
		}
		return
	case FromDescription:
		if same && was == text {
			return
		}
		if text != "" {
			s.extract()
			return
		}
	}
	s.Extraction = Extraction{}
	if s.ID == course.DefaultSectionID {
		s.ProcessingStatus = Completed
	}
	if !s.ByHand && (source == FromDescription || before.ByHand) {
		s.Skills, s.Reviews = ApplyReviews(s.Reviews, nil)
		s.Provenance = nil
	}
}

// extract requests an extraction of the section.
func (s *Section) extract() {
	s.Extraction = Extraction{ProcessingStatus: Pending}
	if s.Provenance != nil && s.Provenance.Source == FromOutcomes {
		s.Provenance = nil
	}
}

// follow gives the section the skills of its course's outcomes, and their state.
func (s *Section) follow(list *OutcomeList) {
	s.Skills, s.Reviews = ApplyReviews(s.Reviews, list.Union())
	s.Extraction = Extraction{ProcessingStatus: list.ProcessingStatus, Failure: list.Failure}
	if s.ProcessingStatus == Processing {
		s.ProcessingStatus = Pending
	}
	s.Provenance = &Provenance{}
	switch {
	case list.Provenance != nil:
		*s.Provenance = *list.Provenance
	case list.ProcessingStatus == Completed: // all skills are given
		s.Provenance.FinishedAt = list.UpdatedAt
	}
	s.Provenance.Source = FromOutcomes
}

// AwaitsOutcomes reports whether the section is PENDING because its course's outcomes are being read: it has no
// extraction of its own.
func (s *Section) AwaitsOutcomes() bool {
	return s.ProcessingStatus == Pending && !s.ByHand && s.SyllabusHref == nil && s.DocumentID == nil &&
		s.Provenance != nil && s.Provenance.Source == FromOutcomes
}
