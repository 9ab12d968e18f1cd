// Package remap maps skills from one taxonomy to another (Mapping) and reads the records that refer to skills (Records,
// Share). It does not change records.
package remap

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/skills"
)

// How a skill was mapped, strongest rule first.
const (
	ByID    = "id"    // the new taxonomy has the same id
	ByLabel = "label" // the names have the same words
	ByAlias = "alias" // a name is an alias of the other, or they share several aliases
	ByTable = "table" // a person decided
	None    = "none"  // no match
)

// Prefixes of How for unmapped skills, followed by candidates for a person to choose from: several match equally, or
// extraction finds them in the skill's names.
const (
	ambiguous = "ambiguous: "
	near      = "near: "
)

// Removed is the new id with which a table removes a skill from all records.
const Removed = "-"

// Row maps one skill to the new taxonomy. NewID is empty if the skill is not mapped.
type Row struct {
	OldID   string `json:"oldId"`
	OldName string `json:"oldName"`
	NewID   string `json:"newId"`
	NewName string `json:"newName"`
	How     string `json:"how"`
}

// Mapping has a row for each skill in use, by old id.
type Mapping map[string]Row

// Rows returns the rows by name and id, unmapped skills first.
func (m Mapping) Rows() []Row {
	return slices.SortedFunc(maps.Values(m), func(a, b Row) int {
		return cmp.Or(
			cmp.Compare(min(len(a.NewID), 1), min(len(b.NewID), 1)),
			cmp.Compare(strings.ToLower(a.OldName), strings.ToLower(b.OldName)), cmp.Compare(a.OldID, b.OldID))
	})
}

// Rename implements catalog.Rename.
func (m Mapping) Rename(id, name string) (newID, newName string) {
	row := m[id]
	switch {
	case row.NewID == "":
		return id, name
	case row.NewID == Removed:
		return "", ""
	case name == "": // settings of reports and evidence only have ids
		return row.NewID, ""
	}
	return row.NewID, row.NewName
}

// Map maps skills in use (names by id) from one taxonomy to another. Rows of the table take precedence.
func Map(used map[string]string, from, to *skills.Taxonomy, table Mapping) (Mapping, error) {
	index := newIndex(to)
	m := Mapping{}
	for id, name := range used {
		old, known := from.Skill(id)
		if !known {
			old = skills.Skill{ID: id, Name: name}
		}
		m[id] = index.row(old)
		given, ok := table[id]
		switch {
		case ok && given.NewID != m[id].NewID:
			m[id] = Row{OldID: id, OldName: old.Name, NewID: given.NewID, How: ByTable}
		case m[id].How == None && strings.HasPrefix(given.How, near):
			m[id] = Row{OldID: id, OldName: old.Name, How: given.How} // suggested before
		}
	}
	for id, row := range m {
		if row.How != ByTable || row.NewID == "" || row.NewID == Removed {
			continue
		}
		name, ok := to.Name(row.NewID)
		if !ok {
			return nil, fmt.Errorf("%s is mapped to %s, which is not in the new taxonomy", id, row.NewID)
		}
		row.NewName = name
		m[id] = row
	}
	// Chains would make the result depend on the number of runs.
	for id, row := range m {
		next, used := m[row.NewID]
		if !used {
			next = table[row.NewID]
		}
		if row.NewID != id && next.NewID != "" && next.NewID != row.NewID {
			return nil, fmt.Errorf("%s is mapped to %s, which is itself mapped to %s: map both to the last one",
				id, row.NewID, next.NewID)
		}
	}
	return m, nil
}

// index finds skills of a taxonomy by the words of their labels.
type index struct {
	taxonomy       *skills.Taxonomy
	names, aliases map[string][]string // ids by extraction.LabelKey
}

func newIndex(t *skills.Taxonomy) index {
	x := index{t, map[string][]string{}, map[string][]string{}}
	all, _ := t.Search("", t.Info().Skills, 0)
	for _, s := range all {
		for _, name := range names(s) {
			add(x.names, name, s.ID)
		}
		for _, alias := range s.Aliases {
			add(x.aliases, alias, s.ID)
		}
	}
	return x
}

// names returns a skill's name and the part before its parentheses: Java for Java (computer programming).
func names(s skills.Skill) []string {
	bare, _, qualified := strings.Cut(s.Name, " (")
	if qualified {
		return []string{s.Name, bare}
	}
	return []string{s.Name}
}

func add(ids map[string][]string, label, id string) {
	if key := extraction.LabelKey(label); key != "" && !slices.Contains(ids[key], id) {
		ids[key] = append(ids[key], id)
	}
}

// acronym is the maximum length of aliases too ambiguous to match.
const acronym = 4

// tool is the kind of products and their categories. Their aliases are product names, which match tools only.
const tool = "tool"

func (x index) tool(id string) bool {
	skill, _ := x.taxonomy.Skill(id)
	return skill.Kind == tool
}

// row maps one skill by the strongest rule that matches.
func (x index) row(old skills.Skill) Row {
	row := Row{OldID: old.ID, OldName: old.Name, How: None}
	if name, ok := x.taxonomy.Name(old.ID); ok {
		row.NewID, row.NewName, row.How = old.ID, name, ByID
		return row
	}
	aliases := slices.DeleteFunc(slices.Clone(old.Aliases), func(alias string) bool {
		return len(extraction.LabelKey(alias)) <= acronym
	})
	for _, rule := range []struct {
		how    string
		labels []string
		ids    map[string][]string
		least  int // number of labels that must match
	}{
		{ByLabel, names(old), x.names, 1}, {ByAlias, names(old), x.aliases, 1},
		{ByAlias, aliases, x.names, 1}, {ByAlias, aliases, x.aliases, 2},
	} {
		found := map[string]int{} // number of matching labels, by skill
		for _, label := range rule.labels {
			for _, id := range rule.ids[extraction.LabelKey(label)] {
				if rule.how == ByLabel || x.tool(id) == (old.Kind == tool || old.Kind == "") {
					found[id]++
				}
			}
		}
		maps.DeleteFunc(found, func(_ string, labels int) bool { return labels < rule.least })
		if len(found) == 0 {
			continue
		}
		best := x.best(old, found)
		if len(best) > 1 {
			row.How = ambiguous + listed(x.taxonomy, best)
			return row
		}
		row.NewID, row.How = best[0], rule.how
		row.NewName, _ = x.taxonomy.Name(best[0])
		return row
	}
	return row
}

// best returns the ids with the most matching labels, or the one of them with the same name.
func (x index) best(old skills.Skill, found map[string]int) []string {
	most := slices.Max(slices.Collect(maps.Values(found)))
	var best []string
	for _, id := range slices.Sorted(maps.Keys(found)) {
		if name, _ := x.taxonomy.Name(id); found[id] == most {
			if strings.EqualFold(name, old.Name) {
				return []string{id}
			}
			best = append(best, id)
		}
	}
	return best
}

// listed formats skills for a person to choose from.
func listed(t *skills.Taxonomy, ids []string) string {
	named := make([]string, len(ids))
	for i, id := range ids {
		name, _ := t.Name(id)
		named[i] = id + " (" + name + ")"
	}
	return strings.Join(named, " | ")
}

// suggestions is the maximum number of suggestions for a skill.
const suggestions = 3

// Suggest lists candidates for each skill without a match: the skills of the new taxonomy that extraction finds in its
// name and aliases. It does not map them.
func (m Mapping) Suggest(ctx context.Context, from, to *skills.Taxonomy, x *extraction.Extractor) error {
	for id, row := range m {
		if row.How != None {
			continue
		}
		old, _ := from.Skill(id)
		topics := strings.Join(append([]string{row.OldName}, old.Aliases...), "\n- ")
		found, err := x.Extract(ctx, catalog.SyllabusText{Text: "Topics\n- " + topics + "\n"})
		if err != nil {
			return err
		}
		var ids []string
		for _, skill := range found.Skills[:min(suggestions, len(found.Skills))] {
			ids = append(ids, skill.SkillID)
		}
		if len(ids) > 0 {
			row.How = near + listed(to, ids)
			m[id] = row
		}
	}
	return nil
}

var header = []string{"oldId", "oldName", "newId", "newName", "how"}

// Write writes the rows as CSV, except those of skills that keep their id.
func (m Mapping) Write(w io.Writer) error {
	out := csv.NewWriter(w)
	rows := [][]string{header}
	for _, r := range m.Rows() {
		if r.How != ByID {
			rows = append(rows, []string{r.OldID, r.OldName, r.NewID, r.NewName, r.How})
		}
	}
	return out.WriteAll(rows)
}

// Read reads a table that Write wrote and a person corrected. Only the columns oldId and newId are required: an empty
// newId leaves the skill as it is, Removed removes it.
func Read(r io.Reader) (Mapping, error) {
	in := csv.NewReader(r)
	in.FieldsPerRecord = -1
	first, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the table is empty")
	}
	if err != nil {
		return nil, err
	}
	first[0] = strings.TrimPrefix(first[0], "\ufeff")
	if !slices.Contains(first, header[0]) || !slices.Contains(first, header[2]) {
		return nil, fmt.Errorf("line 1: the columns must be %s", strings.Join(header, ", "))
	}
	m := Mapping{}
	for {
		cells, err := in.Read()
		if errors.Is(err, io.EOF) {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := in.FieldPos(0)
		var row Row
		for i, column := range []*string{&row.OldID, &row.OldName, &row.NewID, &row.NewName, &row.How} {
			if at := slices.Index(first, header[i]); at >= 0 && at < len(cells) {
				*column = strings.TrimSpace(cells[at])
			}
		}
		if row.OldID == "" {
			return nil, fmt.Errorf("line %d: oldId is missing", line)
		}
		if _, twice := m[row.OldID]; twice {
			return nil, fmt.Errorf("line %d: %s is repeated", line, row.OldID)
		}
		m[row.OldID] = row
	}
}
