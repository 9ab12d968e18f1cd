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

// The columns of a table of articulations that an import reads. Cells with several
// values part them by semicolons; before a semicolon or backslash that is no such sign
// stands a backslash.
const (
	artID               column = "id"
	artInstitution      column = "institution"
	artInstitutionType  column = "institutionCodeType"
	artInstitutionCode  column = "institutionCode"
	artCodes            column = "codes"
	artTitles           column = "titles"
	artSendingCredits   column = "sendingCredits"
	artGrades           column = "minimumGrades"
	artTakenFrom        column = "takenFrom"
	artTakenTo          column = "takenTo"
	artTransferCourses  column = "transferCourseIds"
	artReceiving        column = "receiving"
	artReceivingCredits column = "receivingCredits"
	artDecision         column = "decision"
	artReason           column = "reason"
	artEffectiveFrom    column = "effectiveFrom"
	artEffectiveTo      column = "effectiveTo"
	artEffectiveTerm    column = "effectiveTerm"
	artReviewAfter      column = "reviewAfter"
	artPrograms         column = "programs"
	artPublicNote       column = "publicNote"
	artPrivateNote      column = "privateNote"
	artPublished        column = "published"
	artSupersedes       column = "supersedes"
)

// The columns that only TES has: the opposite of published, an institution's codes by
// their types, and courses in columns of their own, whose headers count them.
const (
	artHidden       column = "hidden"
	artIPEDS        column = "IPEDS"
	artOPEID        column = "OPEID"
	artCEEB         column = "CEEB"
	artSendCode     column = "send"
	artSendTitle    column = "send title"
	artSendUnits    column = "send units"
	artReceiveCode  column = "receive"
	artReceiveUnits column = "receive units"
)

// maxNumbered is up to which number columns count courses.
const maxNumbered = 10

// labelPrefix begins, among what is granted, what is no course.
const labelPrefix = "label:"

// articulationHeaders are the names of columns as plain leaves them: those that the
// export writes, and those of TES: of its export, of the web service that returns the
// same, and of the data file in which it takes equivalencies.
var articulationHeaders = map[column][]string{
	artID:               {"id", "courseequivalencyid", "equivalencyid"},
	artInstitution:      {"institution", "sendinstitution", "sendinstitutionname"},
	artInstitutionType:  {"institutioncodetype"},
	artInstitutionCode:  {"institutioncode", "sendinstitutioncode"},
	artCodes:            {"codes"},
	artTitles:           {"titles"},
	artSendingCredits:   {"sendingcredits"},
	artGrades:           {"minimumgrades"},
	artTakenFrom:        {"takenfrom"},
	artTakenTo:          {"takento"},
	artTransferCourses:  {"transfercourseids"},
	artReceiving:        {"receiving"},
	artReceivingCredits: {"receivingcredits"},
	artDecision:         {"decision"},
	artReason:           {"reason"},
	artEffectiveFrom:    {"effectivefrom", "activedatebegin", "eqvaliddatestart", "effectivedatebegin"},
	artEffectiveTo:      {"effectiveto", "activedateend", "eqvaliddateend", "effectivedateend"},
	artEffectiveTerm:    {"effectiveterm"},
	artReviewAfter:      {"reviewafter"},
	artPrograms:         {"programs"},
	artPublicNote:       {"publicnote", "commentspublic"},
	artPrivateNote:      {"privatenote", "commentsprivate"},
	artPublished:        {"published"},
	artSupersedes:       {"supersedes"},
	artHidden:           {"hideflag", "hide"},
	artIPEDS:            {"sendinstitutionipedsid"},
	artOPEID:            {"sendinstitutionopeid"},
	artCEEB:             {"sendinstitutionceebcode"},
}

// numbered are the forms of headers that count courses.
var numbered = sync.OnceValue(func() map[column]*regexp.Regexp {
	return map[column]*regexp.Regexp{
		artSendCode:     regexp.MustCompile(`^send(?:course(\d+)coursecode|coursecode(\d+))$`),
		artSendTitle:    regexp.MustCompile(`^send(?:course(\d+)coursetitle|coursetitle(\d+))$`),
		artSendUnits:    regexp.MustCompile(`^send(?:course(\d+)units|courseunits(\d+))$`),
		artReceiveCode:  regexp.MustCompile(`^receive(?:course(\d+)coursecode|coursecode(\d+))$`),
		artReceiveUnits: regexp.MustCompile(`^receive(?:course(\d+)units|courseunits(\d+))$`),
	}
})

func nth(c column, n int) column { return c + column(strconv.Itoa(n)) }

// ReadArticulationsFile reads a file as ReadArticulations does.
func ReadArticulationsFile(name string) ([]Row, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadArticulations(&bounded{file, maxFile}, filepath.Base(name))
}

// ReadArticulations reads a table of articulations, one alternative a line; lines with
// one id are one articulation, in the order of the lines. One without an id is known by
// what it says. Fields that a line does not say are not among the row's.
func ReadArticulations(r io.Reader, name string) ([]Row, error) {
	t, err := openTable(r, name)
	if err != nil {
		return nil, err
	}
	t.assign(articulationHeaders)
	t.assignNumbered()
	courses := t.has(artCodes) || t.has(nth(artSendCode, 1))
	if !courses || !t.has(artInstitution) {
		return nil, fmt.Errorf("%s: as a table of articulations it needs the columns \"institution\" and \"codes\", or those of TES; it has %s", name, strings.Join(t.header, ", "))
	}
	a := articulationTable{table: t, at: map[string]int{}}
	for {
		more, err := t.next()
		if err != nil {
			return nil, err
		}
		if !more {
			return a.end(), nil
		}
		a.add()
	}
}

// assignNumbered finds the columns that count courses.
func (t *table) assignNumbered() {
	for i, h := range t.header {
		for c, form := range numbered() {
			if match := form.FindStringSubmatch(plain(h)); match != nil {
				if n, err := strconv.Atoi(match[1] + match[2]); err == nil && n >= 1 && n <= maxNumbered {
					t.columns[nth(c, n)] = i
				}
			}
		}
	}
}

// articulationTable is a table of articulations, and what was read of it.
type articulationTable struct {
	*table
	rows []Row
	at   map[string]int // by id
}

// LineName begins the names of articulations that have no id in the file.
const LineName = "line "

// end returns the rows. What has no id is known by its fields, so that the same line is
// the same articulation when it comes again.
func (a *articulationTable) end() []Row {
	for i := range a.rows {
		if row := &a.rows[i]; row.Name == "" {
			text, err := json.Marshal(row.Fields)
			if err != nil {
				panic(err) // fields are texts, numbers, truth values, lists and objects
			}
			sum := sha256.Sum256(text)
			row.Name = LineName + hex.EncodeToString(sum[:])
		}
	}
	return a.rows
}

// add reads a line: a new articulation, or one more alternative of another.
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
			first.Unreadable = cmp.Or(first.Unreadable, fmt.Sprintf("%s is another than at %s, and the id is the same", field, first.Place))
		}
	}
}

// get returns a cell as it was meant: without what keeps spreadsheets from taking it for
// a formula. In tables of TES a cell that says NULL is blank.
func (a *articulationTable) get(c column) string {
	cell := a.table.get(c)
	if cell == "NULL" && !a.has(artCodes) {
		return ""
	}
	return unguarded(cell)
}

func (a *articulationTable) line() Row {
	row := Row{Place: a.place(), Kind: catalog.ArticulationKind, Name: a.get(artID), Fields: map[string]any{}, Header: a.header, Source: a.cells}
	var faults []string
	note := func(c column, err error) {
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %v", c, err))
		}
	}
	if len(a.cells) > len(a.header) {
		faults = append(faults, fmt.Sprintf("the line has %d cells, the header only %d", len(a.cells), len(a.header)))
	}
	row.Fields["sendingInstitution"] = a.institution()
	courses, err := a.sending()
	note(artCodes, err)
	row.Fields["sending"] = []any{map[string]any{"courses": courses}}
	if a.has(artReceiving) || a.has(nth(artReceiveCode, 1)) {
		grants, err := a.receiving()
		note(artReceiving, err)
		row.Fields["receiving"] = grants
	}
	if a.has(artDecision) {
		row.Fields["decision"] = strings.ToUpper(a.get(artDecision))
	}
	for _, c := range []column{artReason, artEffectiveTerm, artPublicNote, artPrivateNote, artSupersedes} {
		a.text(row.Fields, c, a.get(c))
	}
	for _, c := range []column{artEffectiveTo, artReviewAfter} {
		a.text(row.Fields, c, date(a.get(c)))
	}
	if day := date(a.get(artEffectiveFrom)); day != "" {
		row.Fields["effectiveFrom"] = day
	}
	if a.has(artPrograms) {
		row.Fields["programIds"] = anys(split(a.get(artPrograms)))
	}
	published, err := a.published()
	note(artPublished, err)
	if published != nil {
		row.Fields["published"] = *published
	}
	row.Unreadable = strings.Join(faults, "; ")
	return row
}

// text sets a field to a cell of its name; a blank one is null.
func (a *articulationTable) text(fields map[string]any, c column, cell string) {
	switch {
	case !a.has(c):
	case cell == "":
		fields[string(c)] = nil
	default:
		fields[string(c)] = cell
	}
}

func (a *articulationTable) institution() map[string]any {
	institution := map[string]any{"name": a.get(artInstitution)}
	codeType, code := strings.ToUpper(a.get(artInstitutionType)), a.get(artInstitutionCode)
	if plain(codeType) == "ipedsid" || plain(codeType) == "unitid" {
		codeType = "IPEDS"
	}
	for _, c := range []column{artIPEDS, artOPEID, artCEEB} {
		if own := a.get(c); own != "" && code == "" {
			codeType, code = string(c), own
		}
	}
	set(institution, "code", code)
	if code != "" || a.has(artCodes) {
		set(institution, "codeType", codeType)
	}
	return institution
}

// sending returns the courses of the line's alternative.
func (a *articulationTable) sending() ([]any, error) {
	courses := []any{}
	if !a.has(artCodes) {
		for n := range maxNumbered {
			code := a.get(nth(artSendCode, n+1))
			if code == "" {
				continue
			}
			course := map[string]any{"code": code}
			set(course, "title", a.get(nth(artSendTitle, n+1)))
			if err := setCredits(course, a.get(nth(artSendUnits, n+1))); err != nil {
				return courses, err
			}
			courses = append(courses, course)
		}
		return courses, nil
	}
	codes := split(a.get(artCodes))
	for _, code := range codes {
		courses = append(courses, map[string]any{"code": code})
	}
	for _, of := range []struct {
		column column
		field  string
	}{
		{artTitles, "title"}, {artSendingCredits, "credits"}, {artGrades, "minimumGrade"},
		{artTakenFrom, "takenFrom"}, {artTakenTo, "takenTo"}, {artTransferCourses, "transferCourseId"},
	} {
		if err := spread(courses, of.field, split(a.get(of.column))); err != nil {
			return courses, fmt.Errorf("%s: %w", of.column, err)
		}
	}
	return courses, nil
}

// receiving returns what the line grants.
func (a *articulationTable) receiving() ([]any, error) {
	grants := []any{}
	if !a.has(artReceiving) {
		for n := range maxNumbered {
			code := a.get(nth(artReceiveCode, n+1))
			if code == "" {
				continue
			}
			grant := map[string]any{"courseId": code}
			if err := setCredits(grant, a.get(nth(artReceiveUnits, n+1))); err != nil {
				return grants, err
			}
			grants = append(grants, grant)
		}
		return grants, nil
	}
	for _, name := range split(a.get(artReceiving)) {
		if label, ok := strings.CutPrefix(name, labelPrefix); ok {
			grants = append(grants, map[string]any{"label": strings.TrimSpace(label)})
		} else {
			grants = append(grants, map[string]any{"courseId": name})
		}
	}
	if err := spread(grants, "credits", split(a.get(artReceivingCredits))); err != nil {
		return grants, fmt.Errorf("%s: %w", artReceivingCredits, err)
	}
	return grants, nil
}

// spread gives each object the value that stands at its place; a blank one is none.
func spread(objects []any, field string, values []string) error {
	if len(values) > len(objects) {
		return fmt.Errorf("has %d values for %d courses", len(values), len(objects))
	}
	for i, value := range values {
		object := objects[i].(map[string]any)
		if field == "credits" {
			if err := setCredits(object, value); err != nil {
				return err
			}
			continue
		}
		if strings.HasPrefix(field, "taken") {
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

var creditsForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d+(?:\.\d+)?)(?:\s*-\s*(\d+(?:\.\d+)?))?(?:\s+(\S.*))?$`)
})

// setCredits sets credits that are written as 3, 3-4 or 3-4 SEMESTER_HOUR.
func setCredits(object map[string]any, cell string) error {
	if cell == "" {
		return nil
	}
	match := creditsForm().FindStringSubmatch(cell)
	if match == nil {
		return fmt.Errorf("%q is no number of credits", cell)
	}
	unit := "SEMESTER_HOUR"
	if match[3] != "" {
		if unit = units[plain(match[3])]; unit == "" {
			return fmt.Errorf("%q is no unit of credits", match[3])
		}
	}
	low, err := strconv.ParseFloat(match[1], 64)
	high := low
	if err == nil && match[2] != "" {
		high, err = strconv.ParseFloat(match[2], 64)
	}
	if err != nil {
		return fmt.Errorf("%q is no number of credits", cell)
	}
	object["credits"] = map[string]any{"min": low, "max": high, "unit": unit}
	return nil
}

// published returns what the line says of that; nil for nothing.
func (a *articulationTable) published() (*bool, error) {
	truths := map[string]bool{"true": true, "yes": true, "y": true, "1": true, "false": false, "no": false, "n": false, "0": false}
	for _, c := range []column{artPublished, artHidden} {
		cell := a.get(c)
		if cell == "" {
			continue
		}
		truth, known := truths[strings.ToLower(cell)]
		if !known {
			return nil, fmt.Errorf("%q is neither true nor false", cell)
		}
		if c == artHidden {
			truth = !truth
		}
		return &truth, nil
	}
	return nil, nil
}

func anys(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// split parts a cell at its semicolons; none for a blank one.
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

// unguarded returns what guarded was given.
func unguarded(cell string) string {
	if rest, ok := strings.CutPrefix(cell, "'"); ok && guarded(rest) != rest {
		return rest
	}
	return cell
}
