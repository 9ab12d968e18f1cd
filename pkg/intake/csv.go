package intake

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	textunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"skillscurriculum/pkg/catalog"
)

// kinds are the kinds of records that a CSV file may contain, by the names that people use.
var kinds = map[string]catalog.Kind{
	"courses": catalog.CourseKind, "sections": catalog.SectionKind, "programs": catalog.ProgramKind,
	"credentials": catalog.CredentialKind, "jobs": catalog.JobKind,
}

// column is the meaning of a column: a field of the contract or one of these.
type column string

const (
	external column = "external id"
	parent   column = "external id of the course"
	subject  column = "subject" // a course's code in two columns
	number   column = "number"
	members  column = "members"
	status   column = "status"
	term     column = "term"           // of a section; its CRN is unique only within the term
	since    column = "effective term" // of a course: the first term that the line applies to

	credits     column = "credits"
	creditsMin  column = "minimum credits"
	creditsMax  column = "maximum credits"
	creditsUnit column = "unit of credits"
)

// combined are the columns that are not fields by themselves.
var combined = []column{
	external, parent, subject, number, status, term, since, credits, creditsMin, creditsMax, creditsUnit,
}

// headers are the headers of columns, as plain leaves them, in exports of Banner, Colleague, Workday and Canvas and
// in handmade sheets. The first one of each column is documented.
var headers = map[catalog.Kind]map[column][]string{
	catalog.CourseKind: {
		external: {"externalid", "courseid", "sourcedid", "coursesid", "coursedefinitionid", "coursekey", "id"},
		"name": {
			"name", "title", "coursetitle", "coursename", "longname", "longtitle", "crstitle", "crsshorttitle",
			"scbcrsetitle", "crsetitle",
		},
		"code":  {"code", "coursecode", "shortname", "crsname", "courselisting", "coursenumberfull"},
		subject: {"subject", "subjectcode", "subj", "subjcode", "coursesubject", "scbcrsesubjcode", "crssubject"},
		number:  {"number", "coursenumber", "crsenumb", "scbcrsecrsenumb", "crsno", "catalognumber"},
		"description": {
			"description", "coursedescription", "catalogdescription", "crsdesc", "scrtexttext", "longdescription",
		},
		"instructorId":   {"instructorid", "facultyid"},
		"instructorName": {"instructorname", "instructor", "faculty", "primaryinstructor"},
		"syllabusHref":   {"syllabushref", "syllabusurl", "syllabuslink", "syllabus"},
		"skills":         {"skills"},
		status:           {"status", "coursestatus"},
		since:            {"scbcrseeffterm", "effterm", "effectiveterm"},
		// Banner: SCBCRSE, SCRLEVL. Colleague: COURSES. Workday: Course Definition.
		credits: {"credits", "credithours", "units", "crscred"},
		creditsMin: {
			"creditsmin", "mincredits", "minimumcredits", "minimumunits", "scbcrsecredithrlow", "credithrlow", "crsmincred",
		},
		creditsMax: {
			"creditsmax", "maxcredits", "maximumcredits", "maximumunits", "scbcrsecredithrhigh", "credithrhigh",
			"crsmaxcred",
		},
		creditsUnit: {"creditsunit", "creditunit", "unittype", "credittype"},
		"level":     {"level", "courselevel", "scrlevllevlcode", "levlcode", "crslevels", "crsacadlevel", "academiclevel"},
		"lifecycleStatus": {
			"lifecyclestatus", "coursestatus", "scbcrsecstacode", "cstacode", "crsstatus", "crscurrentstatus", "status",
		},
		"effectiveFrom": {"effectivefrom", "effectivedate", "startdate", "crsstartdate", "coursestartdate"},
		"effectiveTo":   {"effectiveto", "enddate", "crsenddate", "courseenddate", "inactivedate"},
		"webpage":       {"webpage", "coursewebpage", "courseurl", "website"},
	},
	catalog.SectionKind: {
		external: {
			"externalid", "sectionid", "sourcedid", "crn", "ssbsectcrn", "coursesectionsid", "sectionlistingid", "id",
		},
		parent: {
			"courseexternalid", "courseid", "coursesourcedid", "seccourse", "coursesid", "coursedefinitionid", "course",
			"coursecode",
		},
		subject:          {"subject", "subjectcode", "subj", "subjcode", "ssbsectsubjcode", "coursesubject"},
		number:           {"number", "coursenumber", "crsenumb", "ssbsectcrsenumb"},
		"name":           {"name", "sectionname", "title", "sectiontitle", "secname", "secshorttitle", "ssbsectcrsetitle"},
		"description":    {"description", "sectiondescription"},
		"instructorId":   {"instructorid", "facultyid", "secfaculty"},
		"instructorName": {"instructorname", "instructor", "faculty", "primaryinstructor"},
		"syllabusHref":   {"syllabushref", "syllabusurl", "syllabuslink", "syllabus"},
		"skills":         {"skills"},
		status:           {"status", "sectionstatus"},
		term:             {"ssbsecttermcode", "termcode", "term"},
	},
	catalog.ProgramKind: {
		external:      {"externalid", "programid", "acadprogramsid", "smrprleprogram", "programcode", "id"},
		"name":        {"name", "programname", "programtitle", "title", "programofstudy", "acpgtitle", "smrprleprogramdesc"},
		"code":        {"code", "programcode"},
		"description": {"description", "programdescription", "acpgdesc"},
		"cipCode":     {"cipcode", "cip", "cip2020", "acpgcip"},
		members:       {"courses", "courseids", "courseorder"},
		status:        {"status"},
	},
	catalog.CredentialKind: {
		external:      {"externalid", "credentialid", "id"},
		"name":        {"name", "credentialname", "title"},
		"code":        {"code", "credentialcode"},
		"description": {"description"},
		members:       {"sections", "sectionids", "courses"},
		status:        {"status"},
	},
	catalog.JobKind: {
		external:             {"externalid", "jobid", "requisitionid", "jobrequisitionid", "id"},
		"name":               {"name", "title", "jobtitle", "position"},
		"employerId":         {"employerid", "employer", "company", "employername"},
		"description":        {"description", "jobdescription"},
		"jobDescriptionHref": {"jobdescriptionhref", "url", "link", "jobdescriptionurl", "jobposting"},
		"locations":          {"locations", "location", "locationid"},
		"salaryMin":          {"salarymin", "minsalary", "salaryfrom", "minimumsalary"},
		"salaryMax":          {"salarymax", "maxsalary", "salaryto", "maximumsalary"},
		"onetSocCode":        {"onetsoccode", "onetsoc", "soccode", "soc", "onetcode"},
		"skills":             {"skills"},
		status:               {"status"},
	},
}

// required are the columns without which a file is refused.
var required = map[catalog.Kind][]column{
	catalog.CourseKind: {"name"}, catalog.SectionKind: {"name"}, catalog.ProgramKind: {"name"},
	catalog.CredentialKind: {"name"}, catalog.JobKind: {"name", "employerId"},
}

// ReadCSV reads a table with one record per line. Cells are separated by commas, semicolons, tabs or bars; the text is
// UTF-8 or UTF-16 with or without a byte order mark, or Windows-1252. Values within a cell are separated by semicolons
// or bars. Unknown columns are ignored.
func ReadCSV(r io.Reader, name string, kind catalog.Kind) ([]Row, error) {
	t, err := openTable(r, name)
	if err != nil {
		return nil, err
	}
	if kind == "" {
		kind = kindOf(name, t.header)
	}
	t.assign(headers[kind])
	needs := func(columns string) error {
		return fmt.Errorf("%s: a table of %s needs %s; it has %s", name, labelOf(kind), columns, strings.Join(t.header, ", "))
	}
	for _, c := range required[kind] {
		if !t.has(c) {
			return nil, needs(fmt.Sprintf("a column %q", headers[kind][c][0]))
		}
	}
	switch coded := t.has(subject, number); {
	case kind == catalog.CourseKind && !coded && !t.has("code"):
		return nil, needs(`a column "code", or "subject" and "number"`)
	case kind == catalog.SectionKind && !coded && !t.has(parent):
		return nil, needs(`a column "courseExternalId", or "subject" and "number"`)
	}
	var rows []Row
	err = t.each(func() { rows = append(rows, t.row(kind)) })
	return rows, err
}

func labelOf(kind catalog.Kind) string {
	for label, k := range kinds {
		if k == kind {
			return label
		}
	}
	return string(kind)
}

// kindOf guesses the kind of a table's records from the file's name, else from columns that only one kind has. The
// default is courses.
func kindOf(name string, header []string) catalog.Kind {
	name = plain(name)
	for _, of := range []struct {
		word string
		kind catalog.Kind
	}{
		{"section", catalog.SectionKind}, {"program", catalog.ProgramKind}, {"credential", catalog.CredentialKind},
		{"job", catalog.JobKind}, {"course", catalog.CourseKind},
	} {
		if strings.Contains(name, of.word) {
			return of.kind
		}
	}
	has := func(names ...string) bool {
		return slices.ContainsFunc(header, func(h string) bool { return slices.Contains(names, plain(h)) })
	}
	switch {
	case has("employerid", "employer", "company", "employername"):
		return catalog.JobKind
	case has("cipcode", "cip", "cip2020", "acpgcip"):
		return catalog.ProgramKind
	case has("sectionid", "crn", "ssbsectcrn", "coursesectionsid", "courseexternalid"):
		return catalog.SectionKind
	case has("sections", "sectionids"):
		return catalog.CredentialKind
	}
	return catalog.CourseKind
}

// plain returns the letters and digits of a text in lower case.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}

// table is a CSV file at its current line.
type table struct {
	name    string
	reader  *csv.Reader
	header  []string
	columns map[column]int
	cells   []string
	line    int
}

func openTable(r io.Reader, name string) (*table, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if text, err = decode(text); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	reader := csv.NewReader(bytes.NewReader(text))
	reader.Comma, reader.FieldsPerRecord = delimiter(text), -1
	// Tables with bars or tabs are rarely quoted properly.
	reader.LazyQuotes = reader.Comma == '|' || reader.Comma == '\t'
	t := &table{name: name, reader: reader}
	if more, err := t.next(); err != nil {
		return nil, err
	} else if !more {
		return nil, fmt.Errorf("%s is empty", name)
	}
	for _, cell := range t.cells {
		t.header = append(t.header, strings.TrimSpace(cell))
	}
	return t, nil
}

// decode returns text as UTF-8 without a byte order mark.
func decode(text []byte) ([]byte, error) {
	marked := textunicode.BOMOverride(transform.Nop)
	text, _, err := transform.Bytes(marked, text)
	if err == nil && !utf8.Valid(text) {
		text, err = charmap.Windows1252.NewDecoder().Bytes(text)
	}
	return text, err
}

// delimiter returns the most frequent of comma, semicolon, tab and bar in the first line.
func delimiter(text []byte) rune {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	best, most := ',', 0
	quoted := false
	counts := map[rune]int{}
	for _, r := range string(line) {
		if r == '"' {
			quoted = !quoted
		} else if !quoted {
			counts[r]++
		}
	}
	for _, r := range []rune{',', ';', '\t', '|'} {
		if counts[r] > most {
			best, most = r, counts[r]
		}
	}
	return best
}

// each calls visit for every line that is not blank.
func (t *table) each(visit func()) error {
	for {
		more, err := t.next()
		if err != nil || !more {
			return err
		}
		visit()
	}
}

// next advances to the next line that is not blank.
func (t *table) next() (more bool, err error) {
	for {
		t.cells, err = t.reader.Read()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		var broken *csv.ParseError
		if errors.As(err, &broken) {
			return false, fmt.Errorf("%s:%d: the record that starts here is broken at line %d, column %d: %w",
				t.name, broken.StartLine, broken.Line, broken.Column, broken.Err)
		}
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.name, err)
		}
		t.line, _ = t.reader.FieldPos(0)
		if slices.ContainsFunc(t.cells, func(cell string) bool { return strings.TrimSpace(cell) != "" }) {
			return true, nil
		}
	}
}

// assign finds the columns by their headers. Of several headers of a column, the one listed first wins.
func (t *table) assign(names map[column][]string) {
	at := map[string]int{}
	for i, h := range t.header {
		if _, twice := at[plain(h)]; !twice {
			at[plain(h)] = i
		}
	}
	t.columns = map[column]int{}
	for c, known := range names {
		for _, name := range known {
			if i, ok := at[name]; ok {
				t.columns[c] = i
				break
			}
		}
	}
}

func (t *table) has(columns ...column) bool {
	for _, c := range columns {
		if _, ok := t.columns[c]; !ok {
			return false
		}
	}
	return true
}

// get returns a cell of the line without surrounding blanks; "" if there is none.
func (t *table) get(c column) string {
	i, ok := t.columns[c]
	if !ok || i >= len(t.cells) {
		return ""
	}
	return strings.TrimSpace(t.cells[i])
}

// notNull are fields that every record has. A blank cell leaves them out, and the contract reports them as missing.
var notNull = []column{"name", "code", "employerId", "lifecycleStatus"}

// newRow returns a row for the line without fields.
func (t *table) newRow(kind catalog.Kind, name string) Row {
	row := Row{
		Place: fmt.Sprintf("%s:%d", t.name, t.line), Kind: kind, Name: name,
		Fields: map[string]any{}, Header: t.header, Source: t.cells,
	}
	if len(t.cells) > len(t.header) {
		row.Unreadable = fmt.Sprintf("the line has %d cells, the header only %d", len(t.cells), len(t.header))
	}
	return row
}

// row returns the line as a record.
func (t *table) row(kind catalog.Kind) Row {
	row := t.newRow(kind, t.get(external))
	row.Parent = t.get(parent)
	gone := strings.ToLower(t.get(status))
	row.Gone = gone == "deleted" || gone == "tobedeleted"
	code := strings.TrimSpace(t.get(subject) + " " + t.get(number))
	for c := range t.columns {
		if slices.Contains(combined, c) {
			continue
		}
		cell := t.get(c)
		if c == members {
			row.Members = values(cell)
			continue
		}
		value, err := t.valueOf(c, cell)
		if err != nil {
			row.Unreadable = fmt.Sprintf("%s: %v", c, err)
			continue
		}
		if value != nil || cell == "" && !slices.Contains(notNull, c) {
			row.Fields[string(c)] = value
		}
	}
	switch kind {
	case catalog.CourseKind:
		if row.Fields["code"] == nil && code != "" {
			row.Fields["code"] = code
		}
		if t.has(credits) || t.has(creditsMin) || t.has(creditsMax) {
			value, err := t.credits()
			if err != nil {
				row.Unreadable = fmt.Sprintf("credits: %v", err)
			}
			row.Fields["credits"] = value
		}
		from, _ := row.Fields["effectiveFrom"].(string)
		row.Effective = cmp.Or(t.get(since), from)
	case catalog.SectionKind:
		if row.Parent == "" {
			row.Parent = code
		}
		row.Untitled = row.Fields["name"] == nil
		if t.has(external) && strings.HasSuffix(plain(t.header[t.columns[external]]), "crn") && t.get(term) != "" {
			row.Name = within(t.get(term), row.Name)
		}
	}
	if !t.has(external) {
		row.Name = ownName(row)
	}
	return row
}

// valueOf converts a cell to a JSON value; a blank one is null or an empty list.
func (t *table) valueOf(c column, cell string) (any, error) {
	switch c {
	case "level":
		return t.word(c, levels, "level", cell), nil
	case "lifecycleStatus":
		return t.word(c, lifecycles, "lifecyclestatus", cell), nil
	case "effectiveFrom", "effectiveTo":
		cell = date(cell)
	case "skills":
		return skillsOf(cell)
	case "locations":
		locations := []any{}
		for _, id := range values(cell) {
			locations = append(locations, map[string]any{"type": "location", "locationId": id})
		}
		return locations, nil
	case "salaryMin", "salaryMax":
		if cell == "" {
			return nil, nil
		}
		amount, err := strconv.ParseFloat(strings.NewReplacer("$", "", ",", "", " ", "").Replace(cell), 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not an amount", cell)
		}
		return amount, nil
	}
	if cell == "" {
		return nil, nil
	}
	return cell, nil
}

// values splits a cell into its values.
func values(cell string) []string {
	list := []string{}
	for value := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(";|\n", r) }) {
		if value = strings.TrimSpace(value); value != "" {
			list = append(list, value)
		}
	}
	return list
}

// skillsOf reads skills written as skillId=level or skillId=level@confidence.
func skillsOf(cell string) (any, error) {
	skills := []any{}
	for _, value := range values(cell) {
		id, rest, ok := strings.Cut(value, "=")
		levelText, confidenceText, sure := strings.Cut(rest, "@")
		level, err := strconv.ParseFloat(strings.TrimSpace(levelText), 64)
		if !ok || err != nil {
			return nil, fmt.Errorf("%q is not skillId=level", value)
		}
		skill := map[string]any{"skillId": strings.TrimSpace(id), "level": level}
		if sure {
			confidence, err := strconv.ParseFloat(strings.TrimSpace(confidenceText), 64)
			if err != nil {
				return nil, fmt.Errorf("%q is not skillId=level@confidence", value)
			}
			skill["confidence"] = confidence
		}
		skills = append(skills, skill)
	}
	return skills, nil
}
