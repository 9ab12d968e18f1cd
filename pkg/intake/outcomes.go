package intake

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// OutcomeList is the list of outcomes of one owner in a file.
type OutcomeList struct {
	Owner, OwnerKind string           // as the file names them; "" in a file of Canvas
	Outcomes         []map[string]any // in the fields of a request
	Lines            []int            // of each outcome, from 1
}

// outcomeColumns are the columns of an export, in order.
var outcomeColumns = []string{
	"owner", "ownerKind", "code", "statement", "level", "parentCode", "skills", "alignments", "parentId",
}

// canvasColumns are the columns of Canvas's outcomes.csv, in order.
var canvasColumns = []string{"vendor_guid", "object_type", "title", "description", "parent_guids", "workflow_state"}

const (
	guidPrefix = "scs-"  // of the guid of an outcome of ours
	noSkills   = "none"  // the cell of an outcome to which people gave no skills
	groupType  = "group" // of Canvas's objects: it has outcomes below it
)

// ReadOutcomes reads a table of outcomes, and reports whether it is Canvas's. Every row must have a statement.
func ReadOutcomes(path string) (lists []*OutcomeList, canvas bool, err error) {
	decoded, err := text{filepath.Base(path), func() (io.ReadCloser, error) { return os.Open(path) }}.decoded()
	if err != nil {
		return nil, false, err
	}
	defer decoded.Close()
	r := csv.NewReader(decoded)
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, false, fail(catalog.EmptyDocument, "%s has no rows", filepath.Base(path))
	}
	columns := map[string]int{}
	for i, h := range header {
		columns[entry.Plain(h)] = i
	}
	_, canvas = columns[entry.Plain("vendor_guid")]
	required := []string{"owner", "statement"}
	if canvas {
		required = []string{"vendor_guid", "title"}
	}
	for _, name := range required {
		if _, ok := columns[entry.Plain(name)]; !ok {
			return nil, canvas, fail(MissingColumns, "%s has no column %q", filepath.Base(path), name)
		}
	}
	var wrong []error
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return lists, canvas, errors.Join(wrong...)
		}
		if err != nil {
			return nil, canvas, fail(catalog.Malformed, "%s: %v", filepath.Base(path), err)
		}
		line, _ := r.FieldPos(0)
		get := func(name string) string {
			if i, ok := columns[entry.Plain(name)]; ok && i < len(cells) {
				return unguarded(strings.TrimSpace(cells[i]))
			}
			return ""
		}
		list := &OutcomeList{Owner: get("owner"), OwnerKind: get("ownerKind")}
		if i := slices.IndexFunc(lists, func(l *OutcomeList) bool { return l.Owner == list.Owner && l.OwnerKind == list.OwnerKind }); i >= 0 {
			list = lists[i]
		} else {
			lists = append(lists, list)
		}
		read := outcomeFields
		if canvas {
			read = canvasFields
		}
		fields, err := read(get)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", filepath.Base(path), line, err))
		}
		if fields != nil {
			list.Outcomes, list.Lines = append(list.Outcomes, fields), append(list.Lines, line)
		}
	}
}

// outcomeFields returns the fields of a row of our own table. Blank cells of level and skills leave them to what is
// extracted.
func outcomeFields(get func(string) string) (map[string]any, error) {
	fields := map[string]any{"statement": get("statement"), "alignments": []any{}}
	for _, name := range []string{"code", "parentCode", "parentId"} {
		if cell := get(name); cell != "" {
			fields[name] = cell
		}
	}
	if cell := get("level"); cell != "" {
		level, err := strconv.Atoi(cell)
		if err != nil || level < 1 || level > 5 {
			return fields, fmt.Errorf("level must be 1 to 5, not %q", shown(cell))
		}
		fields["level"] = level
	}
	switch cell := get("skills"); cell {
	case "":
	case noSkills:
		fields["skills"] = []any{}
	default:
		skills, err := skillsOf(cell)
		if err != nil {
			return fields, err
		}
		fields["skills"] = skills
	}
	var alignments []any
	for _, cell := range barred(get("alignments")) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(cell), " ")
		uri, label, _ := strings.Cut(rest, " ")
		if kind == "" {
			continue
		}
		alignment := map[string]any{"type": strings.ToUpper(kind), "uri": uri}
		if label != "" {
			alignment["label"] = label
		}
		alignments = append(alignments, alignment)
	}
	if alignments != nil {
		fields["alignments"] = alignments
	}
	return fields, nil
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

// canvasFields returns the fields of a row of Canvas's, with its guid and that of its first parent in the fields guid
// and parent; nil for a deleted one.
func canvasFields(get func(string) string) (map[string]any, error) {
	if strings.EqualFold(get("workflow_state"), "deleted") {
		return nil, nil
	}
	title, statement := get("title"), get("description")
	if statement == "" {
		statement = title
	}
	fields := map[string]any{"guid": get("vendor_guid"), "statement": statement}
	if title != titled(statement) && utf8.RuneCountInString(title) <= 50 {
		fields["code"] = title
	}
	if parents := strings.Fields(get("parent_guids")); len(parents) > 0 {
		fields["parent"] = parents[0]
	}
	if fields["guid"] == "" {
		return fields, errors.New("vendor_guid is required")
	}
	return fields, nil
}

// titled returns the title that Canvas shows for a statement without a code.
func titled(statement string) string {
	if runes := []rune(statement); len(runes) > 255 {
		return strings.TrimSpace(string(runes[:254])) + "…"
	}
	return statement
}

// ResolveCanvas replaces the guids of a file of Canvas: those of present outcomes by their ids, those of parents by
// ids or codes. Present outcomes keep their alignments, which Canvas does not have.
func (l *OutcomeList) ResolveCanvas(present []catalog.Outcome) error {
	ids := map[string]string{}
	for i := range present {
		ids[guidPrefix+present[i].ID] = present[i].ID
	}
	at := map[string]int{}
	for i, fields := range l.Outcomes {
		guid := fields["guid"].(string)
		if _, twice := at[guid]; twice {
			return fmt.Errorf("line %d: the vendor_guid %q stands there twice", l.Lines[i], shown(guid))
		}
		at[guid] = i
	}
	for i, fields := range l.Outcomes {
		if parent, ok := fields["parent"].(string); ok {
			switch p, inFile := at[parent]; {
			case !inFile || p >= i:
				return fmt.Errorf("line %d: parent_guids: %q does not stand before it", l.Lines[i], shown(parent))
			case ids[parent] != "":
				fields["parentId"] = ids[parent]
			case l.Outcomes[p]["code"] != nil:
				fields["parentCode"] = l.Outcomes[p]["code"]
			default:
				return fmt.Errorf("line %d: parent_guids: the title of %q must have at most 50 characters and differ from its description, as its code",
					l.Lines[i], shown(parent))
			}
		}
	}
	for _, fields := range l.Outcomes {
		if id := ids[fields["guid"].(string)]; id != "" {
			fields["id"] = id
			o := present[slices.IndexFunc(present, func(o catalog.Outcome) bool { return o.ID == id })]
			fields["alignments"] = alignmentFields(o.Alignments)
		}
		delete(fields, "guid")
		delete(fields, "parent")
	}
	return nil
}

func alignmentFields(all []catalog.OutcomeAlignment) []any {
	fields := make([]any, len(all))
	for i, a := range all {
		of := map[string]any{"type": a.Type, "uri": a.URI}
		if a.Label != nil {
			of["label"] = *a.Label
		}
		fields[i] = of
	}
	return fields
}

// OutcomeExport writes lists of outcomes in a format that ReadOutcomes reads.
type OutcomeExport struct {
	Canvas bool
	out    *csv.Writer
}

// Begin writes the header.
func (e *OutcomeExport) Begin(w io.Writer) error {
	e.out = csv.NewWriter(w)
	if e.Canvas {
		return e.out.Write(canvasColumns)
	}
	return e.out.Write(outcomeColumns)
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
		for i, cell := range line {
			line[i] = guarded(cell)
		}
		if err := e.out.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// End flushes the export.
func (e *OutcomeExport) End() error {
	e.out.Flush()
	return e.out.Error()
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
	return []string{owner, ownerKind, optional(o.Code), o.Statement, level, parentCode, skills, strings.Join(alignments, "|"), parentID}
}

func canvasLine(o *catalog.Outcome, parent bool) []string {
	kind, title, above := "outcome", titled(o.Statement), ""
	if parent {
		kind = groupType
	}
	if o.Code != nil {
		title = *o.Code
	}
	if o.ParentID != nil {
		above = guidPrefix + *o.ParentID
	}
	return []string{guidPrefix + o.ID, kind, title, o.Statement, above, "active"}
}
