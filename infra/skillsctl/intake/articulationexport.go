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

// articulationColumns are the columns of an export, in their order. The state and who
// decided when inform people; an import passes over them.
var articulationColumns = []struct {
	name column
	of   func(e *ArticulationExport, a *catalog.Articulation, alternative catalog.Alternative) string
}{
	{artID, whole(func(a *catalog.Articulation) string { return a.ID })},
	{"status", whole(func(a *catalog.Articulation) string { return string(a.Status) })},
	{artInstitution, whole(func(a *catalog.Articulation) string { return a.SendingInstitution.Name })},
	{artInstitutionType, whole(func(a *catalog.Articulation) string { return optional(a.SendingInstitution.CodeType) })},
	{artInstitutionCode, whole(func(a *catalog.Articulation) string { return optional(a.SendingInstitution.Code) })},
	{artCodes, each(func(c catalog.SendingCourse) string { return c.Code })},
	{artTitles, each(func(c catalog.SendingCourse) string { return optional(c.Title) })},
	{artSendingCredits, each(func(c catalog.SendingCourse) string { return creditsCell(c.Credits) })},
	{artGrades, each(func(c catalog.SendingCourse) string { return optional(c.MinimumGrade) })},
	{artTakenFrom, each(func(c catalog.SendingCourse) string { return optional(c.TakenFrom) })},
	{artTakenTo, each(func(c catalog.SendingCourse) string { return optional(c.TakenTo) })},
	{artTransferCourses, each(func(c catalog.SendingCourse) string { return optional(c.TransferCourseID) })},
	{artReceiving, func(e *ArticulationExport, a *catalog.Articulation, _ catalog.Alternative) string {
		return e.receiving(a)
	}},
	{artReceivingCredits, whole(func(a *catalog.Articulation) string {
		credits := make([]string, len(a.Receiving))
		for i, grant := range a.Receiving {
			credits[i] = creditsCell(grant.Credits)
		}
		return join(credits)
	})},
	{artDecision, whole(func(a *catalog.Articulation) string { return string(a.Decision) })},
	{artReason, whole(func(a *catalog.Articulation) string { return optional(a.Reason) })},
	{artEffectiveFrom, whole(func(a *catalog.Articulation) string { return a.EffectiveFrom })},
	{artEffectiveTo, whole(func(a *catalog.Articulation) string { return optional(a.EffectiveTo) })},
	{artEffectiveTerm, whole(func(a *catalog.Articulation) string { return optional(a.EffectiveTerm) })},
	{artReviewAfter, whole(func(a *catalog.Articulation) string { return optional(a.ReviewAfter) })},
	{artPrograms, func(e *ArticulationExport, a *catalog.Articulation, _ catalog.Alternative) string {
		names := make([]string, len(a.ProgramIDs))
		for i, id := range a.ProgramIDs {
			names[i] = e.ProgramName(id)
		}
		return join(names)
	}},
	{artPublicNote, whole(func(a *catalog.Articulation) string { return optional(a.PublicNote) })},
	{artPrivateNote, whole(func(a *catalog.Articulation) string { return optional(a.PrivateNote) })},
	{artPublished, whole(func(a *catalog.Articulation) string { return strconv.FormatBool(a.Published) })},
	{artSupersedes, whole(func(a *catalog.Articulation) string { return optional(a.Supersedes) })},
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

// ArticulationExport writes articulations as ReadArticulations reads them.
type ArticulationExport struct {
	CourseName  func(id string) string // that an import knows the course by
	ProgramName func(id string) string // likewise
	out         *csv.Writer
}

// Begin writes the header.
func (e *ArticulationExport) Begin(w io.Writer) error {
	e.out = csv.NewWriter(w)
	header := make([]string, len(articulationColumns))
	for i, c := range articulationColumns {
		header[i] = string(c.name)
	}
	return e.out.Write(header)
}

// Write writes an articulation, a line for each alternative.
func (e *ArticulationExport) Write(a *catalog.Articulation) error {
	for _, alternative := range a.Sending {
		line := make([]string, len(articulationColumns))
		for i, c := range articulationColumns {
			line[i] = guarded(c.of(e, a, alternative))
		}
		if err := e.out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// End writes what is left.
func (e *ArticulationExport) End() error {
	e.out.Flush()
	return e.out.Error()
}

// ArticulationFields returns the fields that a row has of the articulation when it is
// exported and read again.
func ArticulationFields(a *catalog.Articulation, courseName, programName func(id string) string) (map[string]any, error) {
	var text bytes.Buffer
	e := &ArticulationExport{CourseName: courseName, ProgramName: programName}
	err := e.Begin(&text)
	if err == nil {
		err = e.Write(a)
	}
	if err == nil {
		err = e.End()
	}
	if err != nil {
		return nil, err
	}
	rows, err := ReadArticulations(&text, a.ID)
	if err != nil {
		return nil, err
	}
	return rows[0].Fields, nil
}

// receiving writes what is granted: courses by name, and labels.
func (e *ArticulationExport) receiving(a *catalog.Articulation) string {
	names := make([]string, len(a.Receiving))
	for i, grant := range a.Receiving {
		if grant.Label != nil {
			names[i] = labelPrefix + *grant.Label
			continue
		}
		names[i] = optional(grant.CourseID)
		if name := e.CourseName(names[i]); !strings.HasPrefix(name, labelPrefix) {
			names[i] = name
		}
	}
	return join(names)
}

func whole(of func(a *catalog.Articulation) string) func(*ArticulationExport, *catalog.Articulation, catalog.Alternative) string {
	return func(_ *ArticulationExport, a *catalog.Articulation, _ catalog.Alternative) string { return of(a) }
}

func each(of func(c catalog.SendingCourse) string) func(*ArticulationExport, *catalog.Articulation, catalog.Alternative) string {
	return func(_ *ArticulationExport, _ *catalog.Articulation, alternative catalog.Alternative) string {
		values := make([]string, len(alternative.Courses))
		for i, course := range alternative.Courses {
			values[i] = of(course)
		}
		return join(values)
	}
}

func optional(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func creditsCell(c *catalog.Credits) string {
	if c == nil {
		return ""
	}
	number := func(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
	if c.Min == c.Max {
		return number(c.Min) + " " + c.Unit
	}
	return number(c.Min) + "-" + number(c.Max) + " " + c.Unit
}

var escape = strings.NewReplacer(`\`, `\\`, `;`, `\;`)

// join writes values as split reads them; blank where all are.
func join(values []string) string {
	if strings.Join(values, "") == "" {
		return ""
	}
	escaped := make([]string, len(values))
	for i, value := range values {
		escaped[i] = escape.Replace(value)
	}
	return strings.Join(escaped, ";")
}

// formula begins what a spreadsheet takes for a formula, and what looks guarded.
const formula = "=+-@\t\r\n＝＋－＠'"

// guarded returns a cell that no spreadsheet takes for a formula.
func guarded(cell string) string {
	if cell != "" && strings.ContainsRune(formula, []rune(cell)[0]) {
		return "'" + cell
	}
	return cell
}
