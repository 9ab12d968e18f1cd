// Package remap finds the skills of one taxonomy in another (Mapping), and what skills
// an organization's records name (Records, Usage). It changes no record.
package remap

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/skills"
)

// How a skill was mapped, strongest first.
const (
	ByID    = "id"    // the new taxonomy has the same id
	ByLabel = "label" // the names are the same words
	ByAlias = "alias" // a name is an alias of the other, or both share an alias
	ByTable = "table" // a person decided
	None    = "none"  // nothing fits
)

// ambiguous begins the how of a skill that several fit equally, which follow.
const ambiguous = "ambiguous: "

// Removed is the new id by which a table takes a skill out of all records.
const Removed = "-"

// Row is how one skill in use is named in the new taxonomy. NewID is empty where it is
// not mapped.
type Row struct {
	OldID   string `json:"oldId"`
	OldName string `json:"oldName"`
	NewID   string `json:"newId"`
	NewName string `json:"newName"`
	How     string `json:"how"`
}

// Mapping holds a row for each skill in use.
type Mapping map[string]Row

// Rows returns the rows by name and id, those that are not mapped first.
func (m Mapping) Rows() []Row {
	return slices.SortedFunc(maps.Values(m), func(a, b Row) int {
		return cmp.Or(cmp.Compare(min(len(a.NewID), 1), min(len(b.NewID), 1)), cmp.Compare(strings.ToLower(a.OldName), strings.ToLower(b.OldName)), cmp.Compare(a.OldID, b.OldID))
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
	case name == "": // a report's settings and evidence have ids only
		return row.NewID, ""
	}
	return row.NewID, row.NewName
}

// Map maps skills in use, named by id, from one taxonomy to another. A row of a table
// goes before everything else.
func Map(used map[string]string, from, to *skills.Taxonomy, table Mapping) (Mapping, error) {
	index := newIndex(to)
	m := Mapping{}
	for id, name := range used {
		old, known := from.Skill(id)
		if !known {
			old = skills.Skill{ID: id, Name: name}
		}
		m[id] = index.row(old)
		if given, ok := table[id]; ok && given.NewID != m[id].NewID {
			m[id] = Row{OldID: id, OldName: old.Name, NewID: given.NewID, How: ByTable}
		}
	}
	for id, row := range m {
		if row.How != ByTable || row.NewID == "" || row.NewID == Removed {
			continue
		}
		name, ok := to.Name(row.NewID)
		if !ok {
			return nil, fmt.Errorf("%s is to become %s, which the new taxonomy does not have", id, row.NewID)
		}
		row.NewName = name
		m[id] = row
	}
	// A second run maps what the first has left, so nothing may be mapped twice.
	for id, row := range m {
		next, used := m[row.NewID]
		if !used {
			next = table[row.NewID]
		}
		if row.NewID != id && next.NewID != "" && next.NewID != row.NewID {
			return nil, fmt.Errorf("%s is to become %s, which is to become %s itself: name the last one", id, row.NewID, next.NewID)
		}
	}
	return m, nil
}

// index finds skills of a taxonomy by the words of their names and aliases.
type index struct {
	taxonomy       *skills.Taxonomy
	names, aliases map[string][]string // ids by skills.LabelKey
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

// names are a skill's name, and what stands before its bracket: Java for Java
// (computer programming).
func names(s skills.Skill) []string {
	bare, _, bracketed := strings.Cut(s.Name, " (")
	if bracketed {
		return []string{s.Name, bare}
	}
	return []string{s.Name}
}

func add(ids map[string][]string, label, id string) {
	if key := skills.LabelKey(label); key != "" && !slices.Contains(ids[key], id) {
		ids[key] = append(ids[key], id)
	}
}

// tool is the kind of products and their categories, whose aliases are names of
// products: adaptability is no software of that name.
const tool = "tool"

func (x index) tool(id string) bool {
	skill, _ := x.taxonomy.Skill(id)
	return skill.Kind == tool
}

// row maps one skill by the strongest rule that finds any.
func (x index) row(old skills.Skill) Row {
	row := Row{OldID: old.ID, OldName: old.Name, How: None}
	if name, ok := x.taxonomy.Name(old.ID); ok {
		row.NewID, row.NewName, row.How = old.ID, name, ByID
		return row
	}
	for _, rule := range []struct {
		how    string
		labels []string
		ids    map[string][]string
	}{
		{ByLabel, names(old), x.names}, {ByAlias, names(old), x.aliases}, {ByAlias, old.Aliases, x.names}, {ByAlias, old.Aliases, x.aliases},
	} {
		found := map[string]int{} // how many labels lead to a skill
		for _, label := range rule.labels {
			for _, id := range rule.ids[skills.LabelKey(label)] {
				if rule.how == ByLabel || x.tool(id) == (old.Kind == tool || old.Kind == "") {
					found[id]++
				}
			}
		}
		if len(found) == 0 {
			continue
		}
		best := x.best(old, found)
		if len(best) > 1 {
			row.How = ambiguous + strings.Join(best, " | ")
			return row
		}
		row.NewID, row.How = best[0], rule.how
		row.NewName, _ = x.taxonomy.Name(best[0])
		return row
	}
	return row
}

// best returns the ids to which the most labels lead; of those the one whose name is
// spelt the same, if any.
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

var header = []string{"oldId", "oldName", "newId", "newName", "how"}

// Write writes the rows as CSV, without those of skills whose id stays.
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

// Read reads a table that Write wrote and a person corrected. oldId and newId count,
// the other columns may be missing: an empty newId leaves the skill, Removed takes it
// out.
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
			return nil, fmt.Errorf("line %d: %s stands there twice", line, row.OldID)
		}
		m[row.OldID] = row
	}
}
