package intake

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// table is a table with one record per line, at its current line.
type table struct {
	name     string
	kind     catalog.Kind
	open     func() (lines, error)
	header   []string
	fields   []string // of the columns; "" for those that are ignored
	at       map[string]int
	suggest  []string
	examples []string
	found    Layout
	headLine int
	line     int
	cells    []string
}

// headerLines is the number of lines among which the header is sought: reports have titles above it.
const headerLines = 10

// newTable opens a table of records; the kind is guessed if none is asked for.
func newTable(name string, open func() (lines, error), o Options) (*table, error) {
	t := &table{name: name, open: open}
	err := t.findHeader(func(header []string) int {
		kind := cmp.Or(o.Resource, kindOf(name, header, o))
		return assigned(assign(entry.Resource(kind), header, o))
	})
	if err != nil {
		return nil, err
	}
	t.kind = cmp.Or(o.Resource, kindOf(name, t.header, o))
	err = t.assign(entry.Resource(t.kind), o)
	if o.Resource == "" && len(t.at) > 0 && !t.telling(name, o) {
		t.sample()
		detail := fmt.Sprintf("%s: neither the file's name nor its columns (%s) show what kind of records it has; "+
			"state the resource", name, shown(strings.Join(t.header, ", ")))
		return nil, &Failure{catalog.UnknownLayout, detail, t.columns()}
	}
	return t, err
}

// findHeader finds the line with the most known columns, the first one of equals.
func (t *table) findHeader(known func(header []string) int) error {
	lines, err := t.open()
	if err != nil {
		return err
	}
	defer lines.Close()
	most := -1
	for range headerLines {
		line, cells, err := lines.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(cells) > maxColumns {
			return fail(catalog.TooLarge, "%s:%d has more than %d columns", t.name, line, maxColumns)
		}
		if blank(cells) {
			continue
		}
		header := make([]string, len(cells))
		for i, cell := range cells {
			header[i] = strings.TrimSpace(cell)
		}
		if n := known(header); n > most {
			most, t.header, t.headLine = n, header, line
		}
	}
	if t.header == nil {
		return fail(catalog.EmptyDocument, "%s is empty", t.name)
	}
	return nil
}

// assign sets the fields of the columns, and fails if the table lacks one that it needs.
func (t *table) assign(resource string, o Options) error {
	t.found = layoutOf(resource, t.header)
	t.fields = assign(resource, t.header, o)
	t.suggest = suggestions(resource, t.header, t.fields, o)
	t.examples = make([]string, len(t.header))
	t.at = map[string]int{}
	for i, field := range t.fields {
		if field != "" {
			t.at[field] = i
		}
	}
	has := strings.Join(t.header, ", ")
	if o.Layout != "" && o.Layout != Auto && o.Layout != Generic &&
		!slices.ContainsFunc(entry.HeadersOf()[resource], func(h entry.Header) bool {
			return layoutOfHeader(h) == o.Layout && slices.ContainsFunc(t.header,
				func(text string) bool { return entry.Plain(text) == h.Plain })
		}) {
		return fail(catalog.UnknownLayout, "%s has no column of layout %s; it has %s", t.name, o.Layout, shown(has))
	}
	if lacks := lacking(t.kind, t.fields, o); lacks != "" && t.kind != "" {
		code := catalog.MissingColumns
		if len(t.at) == 0 {
			code = catalog.UnknownLayout
		}
		t.sample()
		detail := fmt.Sprintf("%s: a table of %ss needs %s; it has %s", t.name, resource, lacks, shown(has))
		return &Failure{code, detail, t.columns()}
	}
	return nil
}

func (t *table) layout() Layout { return t.found }

func (t *table) columns() []Column {
	all := make([]Column, len(t.header))
	for i, header := range t.header {
		all[i] = Column{t.name, header, t.fields[i], t.suggest[i], shown(t.examples[i]), 0}
	}
	return all
}

func (t *table) rows(visit func(Row) error) error {
	return t.each(func() error { return visit(t.row()) })
}

// each calls visit for every record: the lines below the header, but for its repetitions and for lines without a value
// in a known column, such as headings of groups.
func (t *table) each(visit func() error) error {
	lines, err := t.open()
	if err != nil {
		return err
	}
	defer lines.Close()
	for {
		if t.line, t.cells, err = lines.next(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if t.line <= t.headLine || slices.EqualFunc(t.header, t.cells, sameText) {
			continue
		}
		if !t.record() {
			continue
		}
		if err := visit(); err != nil {
			return err
		}
	}
}

// grouped visits the rows of a table in which the lines with the same key form one row; a line without a key is one
// alone. It reads the table twice: a row is complete, and no longer held, when all of its lines were read.
func (t *table) grouped(key func() string, read func() Row, add func(row *Row, more Row), visit func(Row) error) error {
	type incomplete struct {
		lines int
		row   *Row
	}
	waiting := map[string]*incomplete{}
	if err := t.each(func() error {
		if key := key(); waiting[key] != nil {
			waiting[key].lines++
		} else if key != "" {
			waiting[strings.Clone(key)] = &incomplete{lines: 1}
		}
		return nil
	}); err != nil {
		return err
	}
	return t.each(func() error {
		row := read()
		of := waiting[key()]
		switch {
		case of == nil:
			return visit(row)
		case of.row == nil:
			of.row = &row
		default:
			add(of.row, row)
		}
		if of.lines--; of.lines > 0 {
			return nil
		}
		delete(waiting, key())
		return visit(*of.row)
	})
}

// record reports whether the line has a value in a known column; it keeps first values as examples.
func (t *table) record() bool {
	found := false
	for i, cell := range t.cells[:min(len(t.cells), len(t.header))] {
		if cell = strings.TrimSpace(cell); cell != "" && t.examples[i] == "" {
			t.examples[i] = strings.Clone(shown(cell))
		}
		found = found || cell != "" && t.fields[i] != ""
	}
	return found
}

// sample reads the examples of a table that is not read further: they show a person what its columns are.
func (t *table) sample() {
	lines, err := t.open()
	if err != nil {
		return
	}
	defer lines.Close()
	for range t.headLine + headerLines {
		if t.line, t.cells, err = lines.next(); err != nil {
			return
		}
		if t.line > t.headLine {
			t.record()
		}
	}
}

func sameText(header, cell string) bool { return header == strings.TrimSpace(cell) }

func blank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

func (t *table) has(field string) bool {
	_, ok := t.at[field]
	return ok
}

// get returns a cell of the line without surrounding blanks; "" if there is none.
func (t *table) get(field string) string {
	i, ok := t.at[field]
	if !ok || i >= len(t.cells) {
		return ""
	}
	return strings.TrimSpace(t.cells[i])
}

// problem returns a problem of a field's cell.
func (t *table) problem(field string, message string) Problem {
	return Problem{
		Line: t.line, Column: t.header[t.at[field]], Code: entry.InvalidValue, Message: message, Value: shown(t.get(field)),
	}
}

// newRow returns a row for the line without fields.
func (t *table) newRow(name string) Row {
	row := Row{
		Place: fmt.Sprintf("%s:%d", t.name, t.line), File: t.name, Line: t.line, Kind: t.kind, Name: name,
		Fields: map[string]any{}, Header: t.header, Source: t.cells, Columns: t.fields,
	}
	if len(t.cells) > len(t.header) && !blank(t.cells[len(t.header):]) {
		row.Problems = []Problem{{
			Line: t.line, Code: entry.TooManyCells, Value: shown(strings.Join(t.cells[len(t.header):], ", ")),
			Message: fmt.Sprintf("the line has %d cells, the header only %d", len(t.cells), len(t.header)),
		}}
	}
	return row
}

// lasting are optional fields that a record never loses, so that a blank cell says nothing about them. Each has a value
// of its own without being required.
var lasting = []string{"lifecycleStatus", "status", "ctid", "credentialType"}

// row returns the line as a record.
func (t *table) row() Row {
	row := t.newRow(t.get("externalId"))
	row.Parent = t.get("courseExternalId")
	code := t.code()
	for i, field := range t.fields {
		if field == "" || t.at[field] != i || t.part(field) {
			continue
		}
		switch cell := t.get(field); {
		case field == "courses" || field == "sections":
			row.Members = values(cell)
		case isDeleted(field, cell):
			row.Gone = true
		default:
			if value := t.read(&row, field, cell); value != nil || cell == "" && !slices.Contains(lasting, field) {
				row.Fields[field] = value
			}
		}
	}
	if t.has("fileName") && row.Name == "" {
		row.Name, row.Existing = withoutEnding(t.get("fileName")), true
	}
	if row.Fields["name"] == "" && (row.Existing || t.kind == catalog.SectionKind) {
		delete(row.Fields, "name")
		row.Untitled = !row.Existing
	}
	switch t.kind {
	case catalog.CourseKind:
		if !t.has("code") && !t.has("number") && !t.has("fileName") {
			code = row.Name
		}
		if t.found == OneRoster {
			code = cmp.Or(code, row.Name)
		}
		if code != "" || !row.Existing && (t.has("code") || t.has("number")) {
			row.Fields["code"] = code
		}
		if t.has("credits") || t.has("creditsMin") || t.has("creditsMax") {
			row.Fields["credits"] = t.credits(&row)
		}
		from, _ := row.Fields["effectiveFrom"].(string)
		row.Effective = cmp.Or(t.get("effectiveTerm"), from)
	case catalog.SectionKind:
		row.Parent = cmp.Or(row.Parent, code)
		if t.has("term") {
			row.Fields["term"] = t.term()
		}
		if t.has("externalId") && strings.HasSuffix(entry.Plain(t.header[t.at["externalId"]]), "crn") && t.get("term") != "" {
			row.Name = within(t.get("term"), row.Name)
		}
	}
	if !row.Existing && !t.has("externalId") {
		row.Name = ownName(row)
	}
	return row
}

// code returns the code of a line's course: its own, or its subject and number. The number may repeat the subject.
func (t *table) code() string {
	code, subject, number := t.get("code"), t.get("subject"), t.get("number")
	if at, ok := t.at["subject"]; ok && !t.has("number") && strings.HasSuffix(entry.Plain(t.header[at]), "prefix") {
		code, number = "", code // Acalog's code is what follows the prefix
	}
	n := len(subject)
	switch {
	case code != "" || number == "":
		return code
	case 0 < n && n < len(number) && strings.EqualFold(number[:n], subject):
		last, next := rune(subject[n-1]), rune(number[n])
		if !unicode.IsLetter(next) && !(unicode.IsDigit(last) && unicode.IsDigit(next)) {
			return number
		}
	}
	return strings.TrimSpace(subject + " " + number)
}

// part reports whether a column is not a field of the contract by itself.
func (t *table) part(field string) bool {
	switch field {
	case "externalId", "courseExternalId", "code", "fileName", "effectiveTerm", "term", "location":
		return t.kind != catalog.ProgramKind && t.kind != catalog.CredentialKind || field != "code"
	case "status":
		return t.kind != catalog.SectionKind && t.kind != catalog.CredentialKind && !isDeleted(field, t.get(field))
	}
	return entry.PartOf[field] != "" && field != "courses" && field != "sections" || field == "credits"
}

// term returns the term of a section; nil if it has none.
func (t *table) term() any {
	if t.get("term") == "" {
		return nil
	}
	term := map[string]any{"code": t.get("term")}
	set(term, "name", t.get("termName"))
	set(term, "startDate", date(t.get("termStart")))
	set(term, "endDate", date(t.get("termEnd")))
	return term
}

// withoutEnding returns a file's name without its directory and ending.
func withoutEnding(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	return name
}
