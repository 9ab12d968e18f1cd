package load

import (
	"skillscurriculum/pkg/catalog"
)

// Names knows records of a kind by what files call them: their ids, their names in
// other systems, or their codes.
type Names struct {
	external map[string]string   // id by external id
	codes    map[string][]string // ids by code
	alike    map[string][]string // ids by normalised code
	best     map[string][]string // external id and code, by id
}

func newNames() *Names {
	return &Names{map[string]string{}, map[string][]string{}, map[string][]string{}, map[string][]string{}}
}

// CourseNames returns the names of courses.
func CourseNames(courses []*catalog.Course) *Names {
	n := newNames()
	for _, c := range courses {
		n.add(c.ID, c.ExternalID, &c.Code)
	}
	return n
}

// ProgramNames returns the names of programs.
func ProgramNames(programs []*catalog.Program) *Names {
	n := newNames()
	for _, p := range programs {
		n.add(p.ID, p.ExternalID, p.Code)
	}
	return n
}

func (n *Names) add(id string, external, code *string) {
	n.best[id] = nil
	if external != nil {
		n.external[*external] = id
		n.best[id] = append(n.best[id], *external)
	}
	if code != nil {
		n.codes[*code] = append(n.codes[*code], id)
		n.alike[catalog.Normalized(*code)] = append(n.alike[catalog.Normalized(*code)], id)
		n.best[id] = append(n.best[id], *code)
	}
}

// Find returns the id of the record that the name means: the one with that id, external
// id or code, or else the only one whose code differs in its spelling alone; "" for
// none. Of several with the code it means none.
func (n *Names) Find(name string) string {
	if _, ok := n.best[name]; ok {
		return name
	}
	if id := n.external[name]; id != "" {
		return id
	}
	for _, found := range [][]string{n.codes[name], n.alike[catalog.Normalized(name)]} {
		if len(found) == 1 {
			return found[0]
		} else if len(found) > 1 {
			return ""
		}
	}
	return ""
}

// Of returns the name by which a file calls the record, so that Find finds it in another
// organization too; its id where it has no other name.
func (n *Names) Of(id string) string {
	for _, name := range n.best[id] {
		if n.Find(name) == id {
			return name
		}
	}
	return id
}
