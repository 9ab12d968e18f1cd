// Package entry has the rows that package intake makes of files, for packages that need not read any.
package entry

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"skillscurriculum/pkg/catalog"
)

// Row is one record of a file.
type Row struct {
	Place  string // for people: courses.csv:12
	File   string
	Line   int // of the file, from 1; 0 in a JSON document
	Kind   catalog.Kind
	Name   string // the record's external id; see Existing
	Parent string // external id of a section's course or of a transfer course's package
	Fields map[string]any
	// Existing reports that Name is the code or external id of an existing course or section, compared as codes are
	// (catalog.Normalized), and that Fields only change its section.
	Existing bool
	// Members are the external ids of a program's courses in order or of a credential's sections, where a course's id
	// stands for its default section; nil if the file does not list them.
	Members []string
	// Effective is the term or date from which the row applies to its course; "" if the file has none. A file may
	// repeat a course for each.
	Effective string
	// Untitled reports that a section's name is blank: it gets the name of its course.
	Untitled bool
	// Linked reports that outcomes come from CTDL, which has neither labels of alignments nor all their types.
	Linked bool
	// Gone reports that the other system has deleted the record.
	Gone bool
	// Problems are reasons why the row cannot be imported.
	Problems []catalog.ImportProblem
	// Ignored are values that the record is imported without, since their columns cannot have them.
	Ignored []catalog.ImportProblem
	// Header and Source are the table's header and the line's cells, from which the line can be written again. For
	// JSON, Source is the object and Header is nil.
	Header, Source []string
	// More are the cells of further lines that belong to the record.
	More [][]string

	// Lines are the lines of each outcome of a list: the first is in Source, the others in More.
	Lines []int

	// Columns are the fields that the columns of Header became.
	Columns []string

	// Number is the place of the row among those of its kind in the file, from 0; set by package upsert.
	Number int
}

// Column returns the header of the column that a field of the contract, such as skills[0].level, comes from; "" if
// there is none.
func (row Row) Column(field string) string {
	field = field[:len(field)-len(strings.TrimLeftFunc(field, unicode.IsLetter))]
	for i, f := range row.Columns {
		if f == field || PartOf[f] == field {
			return row.Header[i]
		}
	}
	if field == "courseExternalId" && len(row.Columns) > 0 { // made of subject and number
		return row.Column("code")
	}
	return ""
}

// TakeTexts removes a list of strings from an object and returns it; false if it is something else.
func TakeTexts(object map[string]any, key string) (texts []string, ok bool) {
	list, ok := object[key].([]any)
	delete(object, key)
	texts = make([]string, len(list))
	for i := range list {
		var isText bool
		texts[i], isText = list[i].(string)
		ok = ok && isText
	}
	return texts, ok
}

// Count returns the number of records that the row is about: of outcomes in a list, which is one row.
func (row Row) Count() int {
	if list, ok := row.Fields["outcomes"].([]any); ok && row.Kind == catalog.OutcomeListKind {
		return len(list)
	}
	return 1
}

// outcome matches the place of an outcome within its list.
var outcome = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^outcomes\[(\d+)\]\.?`) })

// At returns the line, the header of the column and the cell that a field of the contract comes from; the field itself
// if it comes from no column.
func (row Row) At(field string) (line int, column, cell string) {
	line, cells := row.Line, row.Source
	if at := outcome().FindStringSubmatch(field); at != nil && len(row.Lines) > 0 {
		n, _ := strconv.Atoi(at[1])
		n = min(n, len(row.Lines)-1)
		field, line = field[len(at[0]):], row.Lines[n]
		if n > 0 {
			cells = row.More[n-1]
		}
	}
	column = cmp.Or(row.Column(field), field)
	if at := slices.Index(row.Header, column); at >= 0 && at < len(cells) {
		cell = strings.TrimSpace(cells[at])
	}
	return line, column, cell
}

// GUIDPrefix starts the guids of outcomes that Canvas got from here, which end with their ids.
const GUIDPrefix = "scs-"

// PartOf has the fields of the contract that several columns make up, or that have another name in tables.
var PartOf = map[string]string{
	"subject": "code", "number": "code", "creditsMin": "credits", "creditsMax": "credits", "creditsUnit": "credits",
	"termName": "term", "termStart": "term", "termEnd": "term", "courses": "courseOrder",
	"sections": "courseSectionIds", "institution": "sendingInstitution", "codes": "sending", "programs": "programIds",
	"sendCode1": "sending", "receiveCode1": "receiving",
}

// Codes of problems.
const (
	InvalidValue = "invalid_value"  // the column cannot take the value
	TooManyCells = "too_many_cells" // the line has more cells than the header
	Conflicting  = "conflicting"    // another line of the same record has another value
)

// ctidName starts the names of records that a file names by their CTIDs.
const ctidName = "ctid:"

// CTIDName returns the name of a record that is found by its CTID, or else by its external id or code, which are
// fields.
func CTIDName(ctid string) string { return ctidName + ctid }

// CTIDOf returns the CTID in a name made by CTIDName; "" for another name.
func CTIDOf(name string) string {
	if ctid, ok := strings.CutPrefix(name, ctidName); ok {
		return ctid
	}
	return ""
}

// LineName starts the names of articulations that have no id in the file.
const LineName = "line "
