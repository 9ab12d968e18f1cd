package intake

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// outcomeColumns are the columns of an export, in order.
var outcomeColumns = []string{
	"owner", "ownerKind", "code", "statement", "level", "parentCode", "skills", "alignments", "parentId",
}

// canvasColumns are the columns of Canvas's outcomes.csv, in order.
var canvasColumns = []string{"vendor_guid", "object_type", "title", "description", "parent_guids", "workflow_state"}

const (
	noSkills = "none" // the cell of an outcome to which people gave no skills

	// Canvas's types of objects; a group has outcomes below it.
	groupType   = "group"
	outcomeType = "outcome"
)

// outcomes is a table with one outcome per line: ours, or Canvas's. The lines of an owner form one row.
type outcomes struct {
	*table
	owner string // of lines that name none
}

// maxListed is the number of lines of a row that are kept: one more than a list can have.
const maxListed = 101

func (t *outcomes) rows(visit func(Row) error) error {
	return t.grouped(func() string {
		return strings.ToLower(t.get("ownerKind")) + " " + cmp.Or(t.get("owner"), t.owner, "?")
	}, t.row, func(row *Row, more Row) {
		switch {
		case len(more.Lines) == 0 || len(row.Lines) == maxListed:
			return
		case len(row.Lines) == 0:
			row.Place, row.Line, row.Source = more.Place, more.Line, more.Source
		default:
			row.More = append(row.More, more.Source)
		}
		row.Lines = append(row.Lines, more.Lines...)
		row.Fields["outcomes"] = append(row.Fields["outcomes"].([]any), more.Fields["outcomes"].([]any)...)
		row.Problems = append(row.Problems, more.Problems...)
	}, visit)
}

// get returns a cell without the guard against formulas.
func (t *outcomes) get(field string) string { return unguarded(t.table.get(field)) }

// row returns a line as a list of one outcome, or of none for a deleted one.
func (t *outcomes) row() Row {
	row := t.newRow("")
	row.Parent = cmp.Or(t.get("owner"), t.owner)
	row.Name = strings.TrimSpace(strings.ToLower(t.get("ownerKind")) + " " + row.Parent)
	row.Fields["outcomes"] = []any{}
	if t.has("ownerKind") {
		set(row.Fields, "ownerKind", strings.ToLower(t.get("ownerKind")))
	}
	note := func(field, message string) { row.Problems = append(row.Problems, t.problem(field, message)) }
	if row.Parent == "" {
		note("owner", "is required")
	}
	if strings.EqualFold(t.get("workflowState"), "deleted") {
		return row
	}
	fields := t.canvas
	if !t.has("guid") {
		fields = t.own
	}
	row.Fields["outcomes"], row.Lines = []any{fields(note)}, []int{t.line}
	return row
}

// own returns the fields of a line of our own table. Blank cells of level and skills leave them to what is extracted.
func (t *outcomes) own(note func(field, message string)) map[string]any {
	fields := map[string]any{"statement": t.get("statement")}
	for _, name := range []string{"code", "parentCode", "parentId"} {
		set(fields, name, t.get(name))
	}
	if cell := t.get("level"); cell != "" {
		if level, err := strconv.Atoi(cell); err != nil || level < 1 || level > 5 {
			note("level", "must be 1 to 5")
		} else {
			fields["level"] = float64(level)
		}
	}
	switch cell := t.get("skills"); cell {
	case "":
	case noSkills:
		fields["skills"] = []any{}
	default:
		if skills, err := skillsOf(cell); err != nil {
			note("skills", err.Error())
		} else {
			fields["skills"] = skills
		}
	}
	alignments := []any{}
	for _, cell := range barred(t.get("alignments")) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(cell), " ")
		uri, label, _ := strings.Cut(rest, " ")
		if kind == "" {
			continue
		}
		alignment := map[string]any{"type": strings.ToUpper(kind), "uri": uri}
		set(alignment, "label", label)
		alignments = append(alignments, alignment)
	}
	fields["alignments"] = alignments
	return fields
}

// barred splits a cell at bars that no backslash precedes.
func barred(cell string) []string {
	const at = '|'
	parts := []string{""}
	for i := 0; i < len(cell); i++ {
		last := &parts[len(parts)-1]
		switch {
		case cell[i] == '\\' && i+1 < len(cell) && (cell[i+1] == at || cell[i+1] == '\\'):
			i++
			*last += cell[i : i+1]
		case cell[i] == at:
			parts = append(parts, "")
		default:
			*last += cell[i : i+1]
		}
	}
	return parts
}

// canvas returns the fields of a line of Canvas's, with its guid and that of its first parent in the fields guid and
// parent.
func (t *outcomes) canvas(note func(field, message string)) map[string]any {
	title, guid := t.get("title"), t.get("guid")
	fields := map[string]any{"guid": guid, "statement": cmp.Or(t.get("statement"), title)}
	if title != titled(fields["statement"].(string)) && utf8.RuneCountInString(title) <= 50 {
		set(fields, "code", title)
	}
	if parents := strings.Fields(t.get("parentGuids")); len(parents) > 0 {
		fields["parent"] = parents[0]
	}
	if guid == "" {
		note("guid", "is required")
	}
	// Here both are outcomes: a group is one that others name as their parent.
	kind := t.get("objectType")
	if kind != "" && !strings.EqualFold(kind, groupType) && !strings.EqualFold(kind, outcomeType) {
		note("objectType", fmt.Sprintf("%q is none of %s, %s", shown(kind), groupType, outcomeType))
	}
	return fields
}

// titled returns the title that Canvas shows for a statement without a code.
func titled(statement string) string {
	if runes := []rune(statement); len(runes) > 255 {
		return strings.TrimSpace(string(runes[:254])) + "…"
	}
	return statement
}

// OutcomeExport writes lists of outcomes as a table that can be imported.
type OutcomeExport struct {
	Canvas bool
	exported
}

// Begin writes the header.
func (e *OutcomeExport) Begin(w io.Writer) error {
	if e.Canvas {
		return e.begin(w, canvasColumns)
	}
	return e.begin(w, outcomeColumns)
}

// Write writes the outcomes of an owner, in their order. Levels and skills that were extracted stay blank.
func (e *OutcomeExport) Write(owner, ownerKind string, list []catalog.Outcome) error {
	byID, parents := map[string]*catalog.Outcome{}, map[string]bool{}
	for i := range list {
		byID[list[i].ID] = &list[i]
		parents[optional(list[i].ParentID)] = true
	}
	for i := range list {
		o := &list[i]
		line := ownLine(owner, ownerKind, o, byID[optional(o.ParentID)])
		if e.Canvas {
			line = canvasLine(o, parents[o.ID])
		}
		if err := e.write(line); err != nil {
			return err
		}
	}
	return nil
}

func ownLine(owner, ownerKind string, o, parent *catalog.Outcome) []string {
	level, skills, parentCode, parentID := "", "", "", ""
	if o.LevelSource == catalog.GivenLevel {
		level = strconv.Itoa(o.Level)
	}
	if o.SkillsSource == catalog.GivenSkills {
		var all []string
		for _, s := range o.Skills {
			all = append(all, fmt.Sprintf("%s=%d@%s", s.SkillID, s.Level, strconv.FormatFloat(s.Confidence, 'f', -1, 64)))
		}
		if skills = strings.Join(all, ";"); skills == "" {
			skills = noSkills
		}
	}
	if parent != nil {
		if parentCode = optional(parent.Code); parentCode == "" {
			parentID = parent.ID
		}
	}
	var alignments []string
	for _, a := range o.Alignments {
		cell := strings.TrimSpace(a.Type + " " + a.URI + " " + optional(a.Label))
		alignments = append(alignments, strings.NewReplacer(`\`, `\\`, "|", `\|`).Replace(cell))
	}
	return []string{owner, ownerKind, optional(o.Code), o.Statement, level, parentCode, skills,
		strings.Join(alignments, "|"), parentID}
}

func canvasLine(o *catalog.Outcome, parent bool) []string {
	kind, title, above := outcomeType, catalog.ValueOr(o.Code, titled(o.Statement)), ""
	if parent {
		kind = groupType
	}
	if o.ParentID != nil {
		above = entry.GUIDPrefix + *o.ParentID
	}
	return []string{entry.GUIDPrefix + o.ID, kind, title, o.Statement, above, "active"}
}
