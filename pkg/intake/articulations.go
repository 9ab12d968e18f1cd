package intake

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"skillscurriculum/pkg/intake/entry"
	"slices"
	"strconv"
	"strings"
)

// labelPrefix marks a grant that is a label instead of a course.
const labelPrefix = "label:"

// articulations is a table of articulations with one alternative per line. Lines with the same id form one
// articulation, in line order. An articulation without an id is identified by its contents. A row has only the fields
// that its lines have columns for.
type articulations struct {
	*table
}

// rows visits the articulations in the order of their last lines.
func (a *articulations) rows(visit func(Row) error) error {
	return a.grouped(func() string { return a.get("id") }, a.row, addLine, func(row Row) error {
		if row.Name == "" { // it has no id; the same line is the same articulation in the next file
			text, err := json.Marshal(row.Fields)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			row.Name = entry.LineName + hex.EncodeToString(sum[:])
		}
		return visit(row)
	})
}

// addLine adds another alternative to a row.
func addLine(row *Row, more Row) {
	row.More = append(row.More, more.Source)
	row.Problems = append(row.Problems, more.Problems...)
	for _, field := range slices.Sorted(maps.Keys(more.Fields)) {
		value := more.Fields[field]
		list, isList := value.([]any)
		blank := value == nil || value == "" || isList && len(list) == 0
		if field == "sending" {
			row.Fields[field] = append(row.Fields[field].([]any), list...)
		} else if !blank && !reflect.DeepEqual(value, row.Fields[field]) {
			row.Problems = append(row.Problems, Problem{
				Line: more.Line, Column: more.Column(field), Code: entry.Conflicting,
				Message: fmt.Sprintf("differs from %s, which has the same id", row.Place),
			})
		}
	}
}

// get returns a cell without the guard against formulas. In TES tables, NULL means blank.
func (a *articulations) get(field string) string {
	cell := a.table.get(field)
	if cell == "NULL" && !a.has("codes") {
		return ""
	}
	return unguarded(cell)
}

// row returns a line as an articulation with one alternative.
func (a *articulations) row() Row {
	row := a.newRow(a.get("id"))
	note := func(field string, err error) {
		if err != nil {
			row.Problems = append(row.Problems, a.problem(field, err.Error()))
		}
	}
	row.Fields["sendingInstitution"] = a.institution()
	courses, field, err := a.sending()
	note(field, err)
	row.Fields["sending"] = []any{map[string]any{"courses": courses}}
	if a.has("receiving") || a.has("receiveCode1") {
		grants, field, err := a.receiving()
		note(field, err)
		row.Fields["receiving"] = grants
	}
	if a.has("decision") {
		row.Fields["decision"] = strings.ToUpper(a.get("decision"))
	}
	for _, field := range []string{
		"reason", "effectiveTo", "effectiveTerm", "reviewAfter", "publicNote", "privateNote", "supersedes",
	} {
		cell := a.get(field)
		if field == "effectiveTo" || field == "reviewAfter" {
			cell = date(cell)
		}
		if a.has(field) {
			row.Fields[field] = orNull(cell)
		}
	}
	set(row.Fields, "effectiveFrom", date(a.get("effectiveFrom")))
	if a.has("programs") {
		programs := []any{}
		for _, name := range split(a.get("programs")) {
			programs = append(programs, name)
		}
		row.Fields["programIds"] = programs
	}
	note(a.published(row.Fields))
	return row
}

func (a *articulations) institution() map[string]any {
	institution := map[string]any{"name": a.get("institution")}
	codeType, code := strings.ToUpper(a.get("institutionCodeType")), a.get("institutionCode")
	if entry.Plain(codeType) == "ipedsid" || entry.Plain(codeType) == "unitid" {
		codeType = "IPEDS"
	}
	for _, own := range []string{"IPEDS", "OPEID", "CEEB"} {
		if cell := a.get(own); cell != "" && code == "" {
			codeType, code = own, cell
		}
	}
	set(institution, "code", code)
	if code != "" || a.has("codes") {
		set(institution, "codeType", codeType)
	}
	return institution
}

// sending returns the courses of the line's alternative. An error is of the field that is returned.
func (a *articulations) sending() (courses []any, field string, err error) {
	if !a.has("codes") {
		return a.numbered("send", "code")
	}
	courses = []any{}
	for _, code := range split(a.get("codes")) {
		courses = append(courses, map[string]any{"code": code})
	}
	for _, of := range [][2]string{
		{"titles", "title"}, {"sendingCredits", "credits"}, {"minimumGrades", "minimumGrade"},
		{"takenFrom", "takenFrom"}, {"takenTo", "takenTo"}, {"transferCourseIds", "transferCourseId"},
	} {
		if err := a.spread(courses, of[1], of[0]); err != nil {
			return courses, of[0], err
		}
	}
	return courses, "", nil
}

// receiving returns what the line grants. An error is of the field that is returned.
func (a *articulations) receiving() (grants []any, field string, err error) {
	if !a.has("receiving") {
		return a.numbered("receive", "courseId")
	}
	grants = []any{}
	for _, name := range split(a.get("receiving")) {
		if label, ok := strings.CutPrefix(name, labelPrefix); ok {
			grants = append(grants, map[string]any{"label": strings.TrimSpace(label)})
		} else {
			grants = append(grants, map[string]any{"courseId": name})
		}
	}
	return grants, "receivingCredits", a.spread(grants, "credits", "receivingCredits")
}

// numbered returns the courses of one side of a TES table. The code of a course goes into the given key.
func (a *articulations) numbered(side, key string) (courses []any, field string, err error) {
	courses = []any{}
	for n := 1; n <= entry.MaxNumbered; n++ {
		cell := func(what string) string { return a.get(side + what + strconv.Itoa(n)) }
		if cell("Code") == "" {
			continue
		}
		course := map[string]any{key: cell("Code")}
		if side == "send" {
			set(course, "title", cell("Title"))
		}
		if err := setCredits(course, cell("Units")); err != nil {
			return courses, side + "Units" + strconv.Itoa(n), err
		}
		courses = append(courses, course)
	}
	return courses, "", nil
}

// spread sets a key of each object to the value at the same position in a cell.
func (a *articulations) spread(objects []any, key, field string) error {
	values := split(a.get(field))
	if len(values) > len(objects) {
		return fmt.Errorf("has %d values for %d courses", len(values), len(objects))
	}
	for i, value := range values {
		object := objects[i].(map[string]any)
		switch key {
		case "credits":
			if err := setCredits(object, value); err != nil {
				return err
			}
			continue
		case "takenFrom", "takenTo":
			value = date(value)
		}
		set(object, key, value)
	}
	return nil
}

// orNull returns a text as a JSON value; null if it is blank.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func set(object map[string]any, field, value string) {
	if value != "" {
		object[field] = value
	}
}

func setCredits(object map[string]any, cell string) error {
	if cell == "" {
		return nil
	}
	credits, err := parseCredits(cell)
	if err == nil {
		object["credits"] = credits
	}
	return err
}

var truths = map[string]bool{
	"true": true, "yes": true, "y": true, "1": true, "false": false, "no": false, "n": false, "0": false,
}

// published sets whether the articulation is published, if the line states it. An error is of the field that is returned.
func (a *articulations) published(fields map[string]any) (field string, err error) {
	for _, field := range []string{"published", "hidden"} {
		if cell := a.get(field); cell != "" {
			truth, known := truths[strings.ToLower(cell)]
			if !known {
				return field, fmt.Errorf("%q is neither true nor false", shown(cell))
			}
			fields["published"] = truth != (field == "hidden")
			return "", nil
		}
	}
	return "", nil
}

// split returns the values of a cell, which are separated by semicolons; a backslash escapes a semicolon or
// backslash. A blank cell has none.
func split(cell string) []string {
	if cell == "" {
		return nil
	}
	values := []string{""}
	escaped := false
	for _, r := range cell {
		last := &values[len(values)-1]
		switch {
		case escaped:
			*last += string(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == ';':
			values = append(values, "")
		default:
			*last += string(r)
		}
	}
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return values
}

// unguarded undoes guarded.
func unguarded(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && guarded(rest) != rest {
		return rest
	}
	return cell
}
