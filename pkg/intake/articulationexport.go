package intake

import (
	"bytes"
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// cell returns the text of a cell in the line of an alternative.
type cell func(*ArticulationExport, *catalog.Articulation, catalog.Alternative) string

// articulationColumns are the columns of an export, in order. Imports ignore those that only inform people: status,
// decidedBy and decidedAt.
var articulationColumns = []struct {
	name string
	cell cell
}{
	{"id", whole(func(a *catalog.Articulation) string { return a.ID })},
	{"status", whole(func(a *catalog.Articulation) string { return string(a.Status) })},
	{"institution", whole(func(a *catalog.Articulation) string { return a.SendingInstitution.Name })},
	{"institutionCodeType", maybe(func(a *catalog.Articulation) *string { return a.SendingInstitution.CodeType })},
	{"institutionCode", maybe(func(a *catalog.Articulation) *string { return a.SendingInstitution.Code })},
	{"codes", each(func(c catalog.SendingCourse) *string { return &c.Code })},
	{"titles", each(func(c catalog.SendingCourse) *string { return c.Title })},
	{"sendingCredits", each(func(c catalog.SendingCourse) *string { return creditsCell(c.Credits) })},
	{"minimumGrades", each(func(c catalog.SendingCourse) *string { return c.MinimumGrade })},
	{"takenFrom", each(func(c catalog.SendingCourse) *string { return c.TakenFrom })},
	{"takenTo", each(func(c catalog.SendingCourse) *string { return c.TakenTo })},
	{"transferCourseIds", each(func(c catalog.SendingCourse) *string { return c.TransferCourseID })},
	{"receiving", func(e *ArticulationExport, a *catalog.Articulation, _ catalog.Alternative) string {
		return join(a.Receiving, e.grant)
	}},
	{"receivingCredits", whole(func(a *catalog.Articulation) string {
		return join(a.Receiving, func(g catalog.Grant) string { return optional(creditsCell(g.Credits)) })
	})},
	{"decision", whole(func(a *catalog.Articulation) string { return string(a.Decision) })},
	{"reason", maybe(func(a *catalog.Articulation) *string { return a.Reason })},
	{"effectiveFrom", whole(func(a *catalog.Articulation) string { return a.EffectiveFrom })},
	{"effectiveTo", maybe(func(a *catalog.Articulation) *string { return a.EffectiveTo })},
	{"effectiveTerm", maybe(func(a *catalog.Articulation) *string { return a.EffectiveTerm })},
	{"reviewAfter", maybe(func(a *catalog.Articulation) *string { return a.ReviewAfter })},
	{"programs", func(e *ArticulationExport, a *catalog.Articulation, _ catalog.Alternative) string {
		return join(a.ProgramIDs, e.ProgramName)
	}},
	{"publicNote", maybe(func(a *catalog.Articulation) *string { return a.PublicNote })},
	{"privateNote", maybe(func(a *catalog.Articulation) *string { return a.PrivateNote })},
	{"published", whole(func(a *catalog.Articulation) string { return strconv.FormatBool(a.Published) })},
	{"supersedes", maybe(func(a *catalog.Articulation) *string { return a.Supersedes })},
	{"decidedBy", whole(func(a *catalog.Articulation) string {
		if a.DecidedBy == nil {
			return ""
		}
		return strings.TrimSuffix(a.DecidedBy.Name+", "+optional(a.DecidedBy.Role), ", ")
	})},
	{"decidedAt", whole(func(a *catalog.Articulation) string {
		if a.DecidedAt == nil {
			return ""
		}
		return a.DecidedAt.Std().Format(time.RFC3339)
	})},
}

// ArticulationExport writes articulations in the format that Read reads.
type ArticulationExport struct {
	CourseName  func(id string) string // the name by which an import finds the course
	ProgramName func(id string) string
	exported
}

// Begin writes the header.
func (e *ArticulationExport) Begin(w io.Writer) error {
	var header []string
	for _, c := range articulationColumns {
		header = append(header, c.name)
	}
	return e.begin(w, header)
}

// Write writes one line for each alternative of an articulation.
func (e *ArticulationExport) Write(a *catalog.Articulation) error {
	for _, alternative := range a.Sending {
		var line []string
		for _, c := range articulationColumns {
			line = append(line, c.cell(e, a, alternative))
		}
		if err := e.write(line); err != nil {
			return err
		}
	}
	return nil
}

// exported is a table that is written.
type exported struct{ out *csv.Writer }

func (e *exported) begin(w io.Writer, header []string) error {
	e.out = csv.NewWriter(w)
	return e.out.Write(header)
}

func (e *exported) write(line []string) error {
	for i, cell := range line {
		line[i] = guarded(cell)
	}
	return e.out.Write(line)
}

// End flushes the export.
func (e *exported) End() error {
	e.out.Flush()
	return e.out.Error()
}

// ArticulationFields returns the fields of the row that an export of the articulation is read as.
func ArticulationFields(
	a *catalog.Articulation, courseName, programName func(id string) string,
) (map[string]any, error) {
	var text bytes.Buffer
	e := &ArticulationExport{CourseName: courseName, ProgramName: programName}
	for _, step := range []func() error{
		func() error { return e.Begin(&text) }, func() error { return e.Write(a) }, e.End,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	rows, err := Read(bytes.NewReader(text.Bytes()), a.ID, Options{Resource: catalog.ArticulationKind})
	if err != nil {
		return nil, err
	}
	return rows[0].Fields, nil
}

// grant returns the name of a granted course, or a label.
func (e *ArticulationExport) grant(g catalog.Grant) string {
	if g.Label != nil {
		return labelPrefix + *g.Label
	}
	id := optional(g.CourseID)
	if name := e.CourseName(id); !strings.HasPrefix(name, labelPrefix) {
		return name
	}
	return id
}

func whole(value func(*catalog.Articulation) string) cell {
	return func(_ *ArticulationExport, a *catalog.Articulation, _ catalog.Alternative) string { return value(a) }
}

func maybe(value func(*catalog.Articulation) *string) cell {
	return whole(func(a *catalog.Articulation) string { return optional(value(a)) })
}

func each(value func(catalog.SendingCourse) *string) cell {
	return func(_ *ArticulationExport, _ *catalog.Articulation, alternative catalog.Alternative) string {
		return join(alternative.Courses, func(c catalog.SendingCourse) string { return optional(value(c)) })
	}
}

func optional(s *string) string { return catalog.ValueOr(s, "") }

func creditsCell(c *catalog.Credits) *string {
	if c == nil {
		return nil
	}
	cell := strconv.FormatFloat(c.Min, 'f', -1, 64)
	if c.Min != c.Max {
		cell += "-" + strconv.FormatFloat(c.Max, 'f', -1, 64)
	}
	return new(cell + " " + c.Unit)
}

var escape = strings.NewReplacer(`\`, `\\`, `;`, `\;`)

// join returns a cell that split reads as one value per item; "" if all values are blank.
func join[T any](items []T, value func(T) string) string {
	cell, blank := "", true
	for i, item := range items {
		text := value(item)
		if i > 0 {
			cell += ";"
		}
		cell, blank = cell+escape.Replace(text), blank && text == ""
	}
	if blank {
		return ""
	}
	return cell
}

// formula lists the characters that make a spreadsheet take a cell for a formula, and the guard itself.
const formula = "=+-@\t\r\n＝＋－＠'"

// guarded returns a cell that spreadsheets do not take for a formula.
func guarded(cell string) string {
	if cell != "" && strings.ContainsRune(formula, []rune(cell)[0]) {
		return "'" + cell
	}
	return cell
}
