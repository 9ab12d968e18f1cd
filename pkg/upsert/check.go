package upsert

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/schema"
)

// maxNameBytes is the maximum length of a sort key.
const maxNameBytes = 1024

// ofDefaultSection are the fields of a course's row that belong to its default section.
var ofDefaultSection = []string{"instructorId", "instructorName", "syllabusHref", "documentId", "skills"}

// candidate is a row that was checked as far as a row shows on its own.
type candidate struct {
	row   entry.Row
	gone  bool           // it is deleted in the other system: people decide about its record here
	after string         // why another row applies instead; "" if this one does
	wrong *catalog.Error // nil if it satisfies the contract
	lacks error          // of fields that only a new record needs; nil for none, or if something else is wrong
}

// good reports whether the row is planned.
func (c candidate) good() bool { return !c.gone && c.after == "" && c.wrong == nil }

// settle counts a row that is not planned, and notes what a planned one is imported without.
func (c candidate) settle(s *Summary) {
	switch {
	case c.gone:
		s.Skipped++
	case c.after != "":
		s.Skipped++
		s.Skips = append(s.Skips, Rejected(c.row, c.after))
	case c.wrong != nil:
		s.reject(c.row, c.wrong)
	default:
		for _, p := range c.row.Ignored {
			without := Rejected(c.row, "without "+p.String())
			without.Ignored = &p
			s.Incomplete = append(s.Incomplete, without)
		}
	}
}

// check checks a row.
func (r *run) check(row entry.Row) candidate {
	c := candidate{row: row, gone: row.Gone}
	if c.gone {
		return c
	}
	if by, several := r.current[row.Name]; several && isDated(row) && row.Effective != by.effective {
		c.after = fmt.Sprintf("as of %s; superseded by %s, as of %s", row.Effective, by.place, by.effective)
		return c
	}
	var wrong []catalog.FieldError
	for _, p := range row.Problems {
		message := p.Message
		if p.Line > row.Line {
			message = fmt.Sprintf("line %d: %s", p.Line, message)
		}
		wrong = append(wrong, catalog.FieldError{Location: p.Column, Message: message})
	}
	var fields []catalog.FieldError
	if row.Fields != nil { // else it is not known of what
		fields = r.checkRow(&c.row)
	}
	switch {
	case wrong != nil:
	case row.Name == "":
		// A table without external ids names records by fields that are then wrong themselves.
		byFields := row.Header != nil && row.Column("externalId") == "" && fields != nil
		if id := row.Fields["externalId"]; (id == nil || id == "") && !byFields {
			wrong = append(wrong, catalog.FieldError{Location: "externalId", Message: "is required"})
		}
	case row.Kind.Nested() && len(nameOf(row)) > maxNameBytes:
		wrong = append(wrong, catalog.FieldError{Message: fmt.Sprintf(
			"the external ids of package and course must be at most %d bytes together", maxNameBytes)})
	}
	wrong = append(wrong, fields...)
	switch {
	case slices.ContainsFunc(wrong, func(f catalog.FieldError) bool { return !schema.Missing(f) }):
		c.wrong = catalog.Invalid(wrong...)
	case wrong != nil:
		c.lacks = catalog.Invalid(wrong...)
	}
	return c
}

// isDated reports whether a row applies to its course only from a term or date on.
func isDated(row entry.Row) bool {
	return row.Kind == catalog.CourseKind && !row.Gone && row.Effective != "" && row.Name != ""
}

// dated is the row that applies to a course with dated rows: the latest one in effect, or else the first one to come.
type dated struct{ effective, place string }

// precedes reports whether a row as of term or date a applies rather than one as of b.
func (r *run) precedes(a, b string) bool {
	effective := r.inEffect(a)
	if effective != r.inEffect(b) {
		return effective
	}
	return effective && a > b || !effective && a < b
}

// inEffect reports whether a date or term has begun. Terms start with their year; without a current term, all of this
// year's have begun.
func (r *run) inEffect(as string) bool {
	today := r.Now().Std().Format(time.DateOnly)
	if strings.Contains(as, "-") {
		return as <= today
	}
	if r.options.Term != "" {
		return as <= r.options.Term
	}
	return as[:min(4, len(as))] <= today[:4]
}

// memberFields are the fields in which records list their members: by id in the API, by external id in files.
var memberFields = map[catalog.Kind]struct{ field, inFile string }{
	catalog.ProgramKind:    {"courseOrder", "courses"},
	catalog.CredentialKind: {"courseSectionIds", "sections"},
}

// checkRow prepares a row's fields as a request body and returns how they violate the contract of the operation that
// creates its record.
func (r *run) checkRow(row *entry.Row) []catalog.FieldError {
	row.Fields = maps.Clone(row.Fields)
	if row.Existing {
		return schema.CheckPatch[catalog.SectionInput](row.Fields)
	}
	if entry.CTIDOf(row.Name) != "" {
		r.link(row)
	} else if row.Name != "" && catalog.ExternalOf(row.Kind.New()) != nil {
		row.Fields["externalId"] = row.Name
	}
	if m, ok := memberFields[row.Kind]; ok {
		if _, ok := row.Fields[m.field]; ok && !r.options.Bodies {
			return []catalog.FieldError{{Location: m.field, Message: "name records by external ids, in courses or sections"}}
		} else if ok && row.Members != nil {
			return []catalog.FieldError{{Location: m.field, Message: "must not stand beside the members' external ids"}}
		}
		if row.Members != nil {
			names := make([]any, len(row.Members))
			for i, name := range row.Members {
				names[i] = name
			}
			row.Fields[m.field] = names
		}
	}
	if row.Untitled {
		row.Fields["name"] = "its course's"
		defer delete(row.Fields, "name")
	}
	for _, k := range kinds() {
		if k.kind == row.Kind {
			return k.check(r, row)
		}
	}
	return []catalog.FieldError{{Message: fmt.Sprintf("a %s cannot be imported", row.Kind)}}
}

// checkCourse returns how a course's row violates the contract of courses and of their default sections.
func (r *run) checkCourse(row *entry.Row) []catalog.FieldError {
	if r.options.Bodies {
		return schema.Check[catalog.CourseInput](row.Fields)
	}
	section := sectionFields(row.Fields)
	maps.DeleteFunc(row.Fields, func(field string, _ any) bool { _, ok := section[field]; return ok })
	wrong := append(schema.Check[catalog.CourseInput](row.Fields), schema.CheckPatch[catalog.SectionInput](section)...)
	maps.Copy(row.Fields, section)
	return wrong
}

// sectionFields returns the fields of a course's row that belong to its default section.
func sectionFields(fields map[string]any) map[string]any {
	section := map[string]any{}
	for _, field := range ofDefaultSection {
		if value, ok := fields[field]; ok {
			section[field] = value
		}
	}
	return section
}

// nameOf returns the external id as it is stored. Those of transfer courses are unique only within their package.
func nameOf(row entry.Row) string {
	if row.Kind.Nested() {
		return row.Parent + "/" + row.Name
	}
	return row.Name
}

// fieldOf returns the location of a field error within its row.
func fieldOf(f catalog.FieldError) string {
	return strings.TrimPrefix(strings.TrimPrefix(f.Location, "body"), ".")
}

// describe returns field errors of a row in terms of the file.
func describe(row entry.Row, errs ...catalog.FieldError) (texts []string) {
	for _, f := range errs {
		field := fieldOf(f)
		if line, column, _ := row.At(field); len(row.Lines) > 0 && strings.HasPrefix(field, "outcomes[") {
			field = fmt.Sprintf("line %d: %s", line, column)
		}
		for _, m := range memberFields {
			field = strings.Replace(field, m.field, m.inFile, 1)
		}
		text := f.Message
		if field != "" {
			text = field + ": " + text
		}
		if f.Value != nil {
			text += fmt.Sprintf(" (%v)", f.Value)
		}
		texts = append(texts, text)
	}
	return texts
}
