package load

import (
	"fmt"
	"maps"
	"strings"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/pkg/catalog"
)

// maxNameLength bounds external ids.
const maxNameLength = 255

// ofDefaultSection are the fields of a course's row that its default section gets.
var ofDefaultSection = []string{"instructorId", "instructorName", "syllabusHref", "skills"}

// sound parts the rows into those that keep the rules of the contract as far as a
// row by itself can tell, and those that do not. Those that the other system has
// deleted are only counted: what becomes of them here is for people to decide.
func (r *run) sound(rows []intake.Row) (good []intake.Row, gone int, rejects []Reject) {
	places := map[string]string{}
	for _, row := range rows {
		if row.Gone {
			gone++
			continue
		}
		var faults []string
		switch {
		case row.Fault != "":
			faults = append(faults, row.Fault)
		case row.Name == "":
			faults = append(faults, "the external id is missing")
		case len(row.Name) > maxNameLength:
			faults = append(faults, fmt.Sprintf("the external id is longer than %d bytes", maxNameLength))
		}
		id := string(row.Kind) + "\n" + nameOf(row)
		if first, twice := places[id]; twice {
			faults = append(faults, "the external id "+row.Name+" stands at "+first+" already")
		} else {
			places[id] = row.Place
		}
		for _, fault := range r.contractFaults(row) {
			faults = append(faults, tell(fault))
		}
		if faults == nil {
			good = append(good, row)
		} else {
			rejects = append(rejects, rejected(row, strings.Join(faults, "; ")))
		}
	}
	return good, gone, rejects
}

// contractFaults holds a row to what the POST of its record takes.
func (r *run) contractFaults(row intake.Row) []catalog.FieldError {
	for _, ids := range []string{"courseOrder", "courseSectionIds"} {
		if _, ok := row.Fields[ids]; ok {
			return []catalog.FieldError{{Location: ids, Message: "records are named by external ids here, in courses or sections"}}
		}
	}
	switch row.Kind {
	case catalog.CourseKind:
		course, section := maps.Clone(row.Fields), map[string]any{"name": row.Fields["name"]}
		for _, field := range ofDefaultSection {
			if value, ok := course[field]; ok {
				section[field] = value
				delete(course, field)
			}
		}
		faults := r.contract.Faults("createCourse", course)
		if faults == nil {
			faults = r.contract.Faults("createSection", section)
		}
		maps.Copy(row.Fields, section)
		maps.Copy(row.Fields, course)
		return faults
	case catalog.SectionKind:
		return r.contract.Faults("createSection", row.Fields)
	case catalog.ProgramKind:
		return r.contract.Faults("createProgram", row.Fields)
	case catalog.CredentialKind:
		return r.contract.Faults("createCredential", row.Fields)
	case catalog.JobKind:
		return r.contract.Faults("createJob", row.Fields)
	case catalog.TransferPackageKind:
		return r.contract.Faults("createTransferPackage", row.Fields)
	}
	return r.contract.Faults("createTransferCourses", map[string]any{"courses": []any{row.Fields}})
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

// tell says a fault of a body without the body.
func tell(f catalog.FieldError) string {
	field := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(f.Location, "body.courses[0]"), "body"), ".")
	text := f.Message
	if field != "" {
		text = field + ": " + text
	}
	if f.Value != nil {
		text += fmt.Sprintf(" (%v)", f.Value)
	}
	return text
}
