package intake

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// roster is the table of classes of a OneRoster bundle (1EdTech OneRoster 1.2, CSV binding, section 4), whose terms and
// schools are in other files.
type roster struct {
	*table
	sessions, orgs *table // nil if the bundle has none
}

// newRoster opens the courses of a bundle, and its classes as their sections; nil if the files are not such a bundle: its
// courses, or classes without them, have sourcedIds. Files about people are ignored.
func newRoster(files map[string]text, o Options) (parts []part, err error) {
	_, courses := files["courses.csv"]
	_, classes := files["classes.csv"]
	if !courses && !classes || o.Layout != "" && o.Layout != Auto && o.Layout != OneRoster {
		return nil, nil
	}
	o.Layout, o.Resource = OneRoster, ""
	open := func(name, resource string, kind catalog.Kind, needs ...string) (*table, error) {
		t := &table{name: files[name].name, kind: kind, open: files[name].separated}
		err := t.findHeader(func(header []string) int { return assigned(assign(resource, header, o)) })
		if err == nil {
			err = t.assign(resource, o)
		}
		for _, field := range needs {
			if err == nil && !t.has(field) {
				err = fail(catalog.MissingColumns, "%s: the column of OneRoster for %s is missing", name, field)
			}
		}
		return t, err
	}
	sourced := func(t *table) bool {
		return slices.ContainsFunc(t.header, func(h string) bool { return entry.Plain(h) == "sourcedid" })
	}
	if courses {
		t, err := open("courses.csv", "course", catalog.CourseKind)
		if !sourced(t) {
			return nil, nil
		}
		if err != nil || !classes {
			return []part{t}, err
		}
		parts = []part{t}
	}
	r := &roster{}
	r.table, err = open("classes.csv", "section", catalog.SectionKind)
	if !courses && !sourced(r.table) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for name, of := range map[string]struct {
		resource string
		table    **table
		needs    string
	}{"academicsessions.csv": {"session", &r.sessions, "term"}, "orgs.csv": {"org", &r.orgs, "campus"}} {
		if _, ok := files[name]; ok {
			if *of.table, err = open(name, of.resource, "", of.needs); err != nil {
				return nil, err
			}
		}
	}
	return append(parts, r), nil
}

func (r *roster) columns() []Column {
	all := r.table.columns()
	for _, t := range []*table{r.sessions, r.orgs} {
		if t != nil {
			all = append(all, t.columns()...)
		}
	}
	return all
}

// rows returns the classes. A class has the first of its terms and its school as campus; all its terms, school and
// location become its description (Fall 2026, North Campus, Room 5).
func (r *roster) rows(visit func(Row) error) error {
	terms, schools := map[string]map[string]any{}, map[string]string{}
	if r.sessions != nil {
		if err := r.sessions.each(func() error {
			if term, ok := r.sessions.term().(map[string]any); ok && len(terms) < maxSessions {
				terms[r.sessions.get("term")] = maps.Clone(term)
			}
			return nil
		}); err != nil {
			return err
		}
	}
	if r.orgs != nil {
		if err := r.orgs.each(func() error {
			if len(schools) < maxSessions {
				schools[r.orgs.get("externalId")] = strings.Clone(r.orgs.get("campus"))
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return r.each(func() error {
		row := r.row()
		var parts []string
		for id := range strings.SplitSeq(r.get("term"), ",") {
			if term := terms[strings.TrimSpace(id)]; term != nil {
				if len(parts) == 0 {
					row.Fields["term"] = term
				}
				name, _ := term["name"].(string)
				parts = append(parts, cmp.Or(name, strings.TrimSpace(id)))
			}
		}
		if len(parts) == 0 {
			row.Fields["term"] = nil
		}
		campus := schools[r.get("campus")]
		row.Fields["campus"] = orNull(campus)
		parts = append(parts, campus, r.get("location"))
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		row.Fields["description"] = orNull(strings.Join(parts, ", "))
		return visit(row)
	})
}

// maxSessions is the maximum number of sessions and of schools of a bundle that are held.
const maxSessions = 10_000
