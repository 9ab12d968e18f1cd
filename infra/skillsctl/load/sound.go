package load

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/pkg/catalog"
)

// maxNameBytes is how long a sort key may be.
const maxNameBytes = 1024

// ofDefaultSection are the fields of a course's row that its default section gets.
var ofDefaultSection = []string{"instructorId", "instructorName", "syllabusHref", "skills"}

// sound parts the rows into those that keep the rules of the contract as far as a
// row by itself shows, and those that do not. Those that the other system has
// deleted are only counted: what becomes of them here is for people to decide.
func (r *run) sound(rows []intake.Row) (good []intake.Row, gone int, rejects []Reject) {
	places := map[string]string{}
	passed := r.passedOver(rows)
	for i, row := range rows {
		if row.Gone {
			gone++
			continue
		}
		if by, over := passed[i]; over {
			gone++
			r.skips = append(r.skips, rejected(row, fmt.Sprintf("as of %s; the course is as %s says, as of %s", row.Effective, by.Place, by.Effective)))
			continue
		}
		var reasons []string
		switch {
		case row.Unreadable != "":
			reasons = append(reasons, row.Unreadable)
		case row.Name == "":
			reasons = append(reasons, "the external id is missing")
		case row.Kind == catalog.TransferCourseKind && len(nameOf(row)) > maxNameBytes:
			reasons = append(reasons, fmt.Sprintf("the external ids of package and course are longer than %d bytes together", maxNameBytes))
		}
		id := string(row.Kind) + "\n" + nameOf(row)
		if first, twice := places[id]; twice {
			reasons = append(reasons, "the external id "+row.Name+" stands at "+first+" already")
		} else {
			places[id] = row.Place
		}
		for _, wrong := range r.check(&row) {
			reasons = append(reasons, describe(wrong))
		}
		if reasons == nil {
			good = append(good, row)
		} else {
			rejects = append(rejects, rejected(row, strings.Join(reasons, "; ")))
		}
	}
	return good, gone, rejects
}

// passedOver returns the rows of courses that a file has as of several terms or dates,
// by their place among the rows, with the row that counts: the latest that is in
// effect, or the first that will be.
func (r *run) passedOver(rows []intake.Row) map[int]intake.Row {
	counts := map[string]int{}
	for i, row := range rows {
		if row.Kind != catalog.CourseKind || row.Gone || row.Effective == "" || row.Name == "" {
			continue
		}
		j, several := counts[row.Name]
		if !several || r.counts(row.Effective, rows[j].Effective) {
			counts[row.Name] = i
		}
	}
	passed := map[int]intake.Row{}
	for i, row := range rows {
		if j, several := counts[row.Name]; several && row.Kind == catalog.CourseKind && !row.Gone && row.Effective != "" && row.Effective != rows[j].Effective {
			passed[i] = rows[j]
		}
	}
	return passed
}

// counts reports whether what is so as of a term or date counts, and not what is so as
// of another one.
func (r *run) counts(a, b string) bool {
	effective := r.inEffect(a)
	if effective != r.inEffect(b) {
		return effective
	}
	return effective && a > b || !effective && a < b
}

// inEffect reports whether a date or term has come. Terms begin with their year; those
// of this year have come where the current one is not named.
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

// members are the fields in which records name others: by ids to the API, in another
// field and by external ids in a file.
var members = map[catalog.Kind]struct{ field, inFile string }{
	catalog.ProgramKind:    {"courseOrder", "courses"},
	catalog.CredentialKind: {"courseSectionIds", "sections"},
}

// check trims a row's fields, as a request's are, and returns how they break what the
// operation takes that creates its record.
func (r *run) check(row *intake.Row) []catalog.FieldError {
	row.Fields = maps.Clone(row.Fields)
	if row.Name != "" && catalog.ExternalOf(row.Kind.New()) != nil {
		row.Fields["externalId"] = row.Name
	}
	if m, ok := members[row.Kind]; ok {
		if _, ok := row.Fields[m.field]; ok {
			return []catalog.FieldError{{Location: m.field, Message: "records are named by external ids here, in courses or sections"}}
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
	switch row.Kind {
	case catalog.CourseKind:
		section := sectionFields(row.Fields)
		maps.DeleteFunc(row.Fields, func(field string, _ any) bool { _, ok := section[field]; return ok })
		wrong := append(r.contract.FieldErrors("createCourse", row.Fields), r.contract.FieldErrors("updateSection", section)...)
		maps.Copy(row.Fields, section)
		return wrong
	case catalog.TransferCourseKind:
		return r.contract.FieldErrors("createTransferCourses", map[string]any{"courses": []any{row.Fields}})
	case catalog.ArticulationKind:
		return r.checkArticulation(row)
	}
	return r.contract.FieldErrors("create"+string(row.Kind), row.Fields)
}

// sectionFields returns the fields of a course's row that its default section gets.
func sectionFields(fields map[string]any) map[string]any {
	section := map[string]any{}
	for _, field := range ofDefaultSection {
		if value, ok := fields[field]; ok {
			section[field] = value
		}
	}
	return section
}

// nameOf is the external id as it is kept: that of a transfer course is its
// institution's and so its own only within its package.
func nameOf(row intake.Row) string {
	if row.Kind == catalog.TransferCourseKind {
		return row.Parent + "/" + row.Name
	}
	return row.Name
}

func rejected(row intake.Row, reason string) Reject {
	return Reject{Row: row, Place: row.Place, Kind: string(row.Kind), Name: row.Name, Reason: reason}
}

// describe returns a field error as the file has the field.
func describe(f catalog.FieldError) string {
	field := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(f.Location, "body.courses[0]"), "body"), ".")
	for _, m := range members {
		field = strings.Replace(field, m.field, m.inFile, 1)
	}
	text := f.Message
	if field != "" {
		text = field + ": " + text
	}
	if f.Value != nil {
		text += fmt.Sprintf(" (%v)", f.Value)
	}
	return text
}
