package catalog

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// AdoptionInput is the input for an adoption: outcomes that a syllabus states are appended to those of its course.
type AdoptionInput struct {
	SectionID string          `json:"sectionId" minLength:"1" maxLength:"64" doc:"Section of the course whose syllabus states the outcomes"`
	Numbers   Optional[[]int] `json:"numbers,omitzero" maxItems:"100" doc:"Numbers of the found outcomes to adopt; all if absent or empty"`
}

// Adopt appends those outcomes that the syllabus of a section states and the list lacks. It returns what was extracted
// of them, by their new ids. result is that of the section's extraction.
func (list *OutcomeList) Adopt(
	in AdoptionInput, found []FoundOutcome, result *ExtractionResult, ids IDs, l Lookups,
) (adopted map[string]StatementResult, err error) {
	check := l.checker()
	wanted := map[int]bool{}
	for i, number := range in.Numbers.Value {
		if !slices.ContainsFunc(found, func(f FoundOutcome) bool { return f.Number == number }) {
			check.fault(fmt.Sprintf("numbers[%d]", i), "must be the number of an outcome that was found", number)
		}
		wanted[number] = true
	}
	if *check.wrong != nil {
		return nil, Invalid(*check.wrong...)
	}
	statements, codes, characters := map[string]bool{}, map[string]bool{}, 0
	for _, o := range list.Outcomes {
		statements[plainStatement(o.Statement)] = true
		codes[foldCode(ValueOr(o.Code, ""))] = true
		characters += utf8.RuneCountInString(o.Statement)
	}
	list.Outcomes = slices.Clone(list.Outcomes)
	adopted = map[string]StatementResult{}
	for _, f := range found {
		statement := strings.TrimSpace(f.Statement)
		if len(wanted) > 0 && !wanted[f.Number] || statements[plainStatement(statement)] {
			continue
		}
		statements[plainStatement(statement)] = true
		o := Outcome{
			ID: ids.New("out_"), Statement: statement, Level: f.Level, LevelSource: f.LevelSource, Verb: f.Verb,
			Skills: []SkillRef{}, SkillsSource: ExtractedSkills, Alignments: []OutcomeAlignment{},
		}
		o.CTID = DerivedCTID(o.ID)
		if f.Code != nil && !codes[foldCode(*f.Code)] && utf8.RuneCountInString(*f.Code) <= 50 {
			o.Code, codes[foldCode(*f.Code)] = f.Code, true
		}
		read := StatementResult{
			Statement: statement, Level: f.Level, LevelSource: f.LevelSource, Verb: f.Verb, Evidence: f.evidence(result),
		}
		for _, s := range result.Skills {
			if slices.Contains(f.SkillIDs, s.SkillID) {
				o.Skills = append(o.Skills, s)
			}
		}
		read.Skills = o.Skills
		list.Outcomes, adopted[o.ID] = append(list.Outcomes, o), read
		length := utf8.RuneCountInString(statement)
		if characters += length; length > maxStatement || characters > MaxStatementCharacters ||
			len(list.Outcomes) > MaxOutcomes {
			return nil, Invalid(FieldError{l.at("numbers"), fmt.Sprintf(
				"must not take the list beyond %d outcomes and %d characters of statements, %d each",
				MaxOutcomes, MaxStatementCharacters, maxStatement), f.Number})
		}
	}
	if len(adopted) > 0 && list.Provenance == nil {
		list.Provenance = &result.Provenance
	}
	return adopted, nil
}

// Found returns the outcomes that the section's syllabus states; none without a syllabus. result is that of its last
// extraction.
func (s *Section) Found(result *ExtractionResult) []FoundOutcome {
	read := result != nil && result.Provenance.Source == FromSyllabus && result.Outcomes != nil
	if !read || s.SyllabusHref == nil && s.DocumentID == nil {
		return []FoundOutcome{}
	}
	return result.Outcomes
}

// evidence returns the evidence within the outcome, with offsets into its statement.
func (f FoundOutcome) evidence(result *ExtractionResult) []Evidence {
	within := []Evidence{}
	runes := []rune(f.Statement)
	for _, e := range result.Evidence {
		e.Start, e.End = e.Start-f.Start, e.End-f.Start
		if slices.Contains(f.SkillIDs, e.SkillID) && 0 <= e.Start && e.Start < e.End && e.End <= len(runes) &&
			string(runes[e.Start:e.End]) == e.Quote {
			e.Page = 1
			within = append(within, e)
		}
	}
	return within
}

// plainStatement returns a statement as adoptions compare it: without case, blanks as one.
func plainStatement(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
