package intake

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
)

// maxNumbered is the highest number in a header that counts courses.
const maxNumbered = 10

// labelPrefix marks a grant that is a label instead of a course.
const labelPrefix = "label:"

// tesHeaders are the headers of TES as plain leaves them: of its export, of the web service that returns the same,
// and of the data file in which it accepts equivalencies. The columns of our own export have their names as headers.
var tesHeaders = map[column][]string{
	"id":              {"courseequivalencyid", "equivalencyid"},
	"institution":     {"sendinstitution", "sendinstitutionname"},
	"institutionCode": {"sendinstitutioncode"},
	"effectiveFrom":   {"activedatebegin", "eqvaliddatestart", "effectivedatebegin"},
	"effectiveTo":     {"activedateend", "eqvaliddateend", "effectivedateend"},
	"publicNote":      {"commentspublic"},
	"privateNote":     {"commentsprivate"},
	"hidden":          {"hideflag", "hide"}, // the opposite of published
	"IPEDS":           {"sendinstitutionipedsid"},
	"OPEID":           {"sendinstitutionopeid"},
	"CEEB":            {"sendinstitutionceebcode"},
}

// numberedHeader matches the headers of TES that count courses. Their columns are sendcode1, receiveunits2 and so on.
var numberedHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(send|receive)course(?:(\d+)(?:course)?(code|title|units)|(code|title|units)(\d+))$`)
})

// ReadArticulationsFile reads a file as ReadArticulations does.
func ReadArticulationsFile(name string) ([]Row, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadArticulations(&bounded{file, maxFile}, filepath.Base(name))
}

// ReadArticulations reads a table of articulations with one alternative per line. Lines with the same id form one
// articulation, in line order. An articulation without an id is identified by its contents. A row has only the fields
// that its lines have columns for.
func ReadArticulations(r io.Reader, name string) ([]Row, error) {
	t, err := openTable(r, name)
	if err != nil {
		return nil, err
	}
	headers := maps.Clone(tesHeaders)
	for _, c := range articulationColumns {
		headers[c.name] = append([]string{plain(string(c.name))}, headers[c.name]...)
	}
	t.assign(headers)
	for i, h := range t.header {
		if m := numberedHeader().FindStringSubmatch(plain(h)); m != nil {
			if n, err := strconv.Atoi(m[2] + m[5]); err == nil && n >= 1 && n <= maxNumbered {
				t.columns[column(m[1]+m[3]+m[4]+strconv.Itoa(n))] = i
			}
		}
	}
	if !t.has("institution") || !t.has("codes") && !t.has("sendcode1") {
		return nil, fmt.Errorf("%s: a table of articulations needs the columns \"institution\" and \"codes\", "+
			"or those of TES; it has %s", name, strings.Join(t.header, ", "))
	}
	a := articulationTable{table: t, at: map[string]int{}}
	if err := t.each(a.add); err != nil {
		return nil, err
	}
	// The same line without an id is the same articulation in the next file.
	for i := range a.rows {
		if row := &a.rows[i]; row.Name == "" {
			text, err := json.Marshal(row.Fields)
			if err != nil {
				return nil, err
			}
			sum := sha256.Sum256(text)
			row.Name = LineName + hex.EncodeToString(sum[:])
		}
	}
	return a.rows, nil
}

// articulationTable is a table of articulations and the rows read so far.
type articulationTable struct {
	*table
	rows []Row
	at   map[string]int // by id
}

// LineName starts the names of articulations that have no id in the file.
const LineName = "line "

// add reads a line: a new articulation, or another alternative of an earlier one.
func (a *articulationTable) add() {
	row := a.line()
	i, known := a.at[row.Name]
	if row.Name == "" || !known {
		a.at[row.Name] = len(a.rows)
		a.rows = append(a.rows, row)
		return
	}
	first := &a.rows[i]
	first.More = append(first.More, row.Source)
	first.Unreadable = cmp.Or(first.Unreadable, row.Unreadable)
	for _, field := range slices.Sorted(maps.Keys(row.Fields)) {
		value := row.Fields[field]
		list, isList := value.([]any)
		blank := value == nil || value == "" || isList && len(list) == 0
		if field == "sending" {
			first.Fields[field] = append(first.Fields[field].([]any), list...)
		} else if !blank && !reflect.DeepEqual(value, first.Fields[field]) {
			first.Unreadable = cmp.Or(first.Unreadable,
				fmt.Sprintf("%s differs from %s, which has the same id", field, first.Place))
		}
	}
}

// get returns a cell without the guard against formulas. In TES tables, NULL means blank.
func (a *articulationTable) get(c column) string {
	cell := a.table.get(c)
	if cell == "NULL" && !a.has("codes") {
		return ""
	}
	return unguarded(cell)
}

func (a *articulationTable) line() Row {
	row := a.newRow(catalog.ArticulationKind, a.get("id"))
	var faults []string
	note := func(fault string, err error) {
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", fault, err))
		}
	}
	if row.Unreadable != "" {
		faults = append(faults, row.Unreadable)
	}
	row.Fields["sendingInstitution"] = a.institution()
	courses, err := a.sending()
	note("codes", err)
	row.Fields["sending"] = []any{map[string]any{"courses": courses}}
	if a.has("receiving") || a.has("receivecode1") {
		grants, err := a.receiving()
		note("receiving", err)
		row.Fields["receiving"] = grants
	}
	if a.has("decision") {
		row.Fields["decision"] = strings.ToUpper(a.get("decision"))
	}
	for _, c := range []column{
		"reason", "effectiveTo", "effectiveTerm", "reviewAfter", "publicNote", "privateNote", "supersedes",
	} {
		cell := a.get(c)
		if c == "effectiveTo" || c == "reviewAfter" {
			cell = date(cell)
		}
		if cell != "" {
			row.Fields[string(c)] = cell
		} else if a.has(c) {
			row.Fields[string(c)] = nil
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
	note("published", a.published(row.Fields))
	row.Unreadable = strings.Join(faults, "; ")
	return row
}

func (a *articulationTable) institution() map[string]any {
	institution := map[string]any{"name": a.get("institution")}
	codeType, code := strings.ToUpper(a.get("institutionCodeType")), a.get("institutionCode")
	if plain(codeType) == "ipedsid" || plain(codeType) == "unitid" {
		codeType = "IPEDS"
	}
	for _, c := range []column{"IPEDS", "OPEID", "CEEB"} {
		if own := a.get(c); own != "" && code == "" {
			codeType, code = string(c), own
		}
	}
	set(institution, "code", code)
	if code != "" || a.has("codes") {
		set(institution, "codeType", codeType)
	}
	return institution
}

// sending returns the courses of the line's alternative.
func (a *articulationTable) sending() ([]any, error) {
	if !a.has("codes") {
		return a.numbered("send", "code")
	}
	courses := []any{}
	for _, code := range split(a.get("codes")) {
		courses = append(courses, map[string]any{"code": code})
	}
	for _, of := range []struct {
		column column
		field  string
	}{
		{"titles", "title"}, {"sendingCredits", "credits"}, {"minimumGrades", "minimumGrade"},
		{"takenFrom", "takenFrom"}, {"takenTo", "takenTo"}, {"transferCourseIds", "transferCourseId"},
	} {
		if err := a.spread(courses, of.field, of.column); err != nil {
			return courses, err
		}
	}
	return courses, nil
}

// receiving returns what the line grants.
func (a *articulationTable) receiving() ([]any, error) {
	if !a.has("receiving") {
		return a.numbered("receive", "courseId")
	}
	grants := []any{}
	for _, name := range split(a.get("receiving")) {
		if label, ok := strings.CutPrefix(name, labelPrefix); ok {
			grants = append(grants, map[string]any{"label": strings.TrimSpace(label)})
		} else {
			grants = append(grants, map[string]any{"courseId": name})
		}
	}
	return grants, a.spread(grants, "credits", "receivingCredits")
}

// numbered returns the courses of one side of a TES table. The code of a course goes into the given field.
func (a *articulationTable) numbered(side, field string) ([]any, error) {
	courses := []any{}
	for n := range maxNumbered {
		cell := func(what string) string { return a.get(column(side + what + strconv.Itoa(n+1))) }
		if cell("code") == "" {
			continue
		}
		course := map[string]any{field: cell("code")}
		if side == "send" {
			set(course, "title", cell("title"))
		}
		if err := setCredits(course, cell("units")); err != nil {
			return courses, err
		}
		courses = append(courses, course)
	}
	return courses, nil
}

// spread sets a field of each object to the value at the same position in a cell.
func (a *articulationTable) spread(objects []any, field string, c column) error {
	values := split(a.get(c))
	if len(values) > len(objects) {
		return fmt.Errorf("%s: has %d values for %d courses", c, len(values), len(objects))
	}
	for i, value := range values {
		object := objects[i].(map[string]any)
		switch field {
		case "credits":
			if err := setCredits(object, value); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
			continue
		case "takenFrom", "takenTo":
			value = date(value)
		}
		set(object, field, value)
	}
	return nil
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

// published sets whether the articulation is published, if the line tells.
func (a *articulationTable) published(fields map[string]any) error {
	for _, c := range []column{"published", "hidden"} {
		if cell := a.get(c); cell != "" {
			truth, known := truths[strings.ToLower(cell)]
			if !known {
				return fmt.Errorf("%q is neither true nor false", cell)
			}
			fields["published"] = truth != (c == "hidden")
			return nil
		}
	}
	return nil
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
