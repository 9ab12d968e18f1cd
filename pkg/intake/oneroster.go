package intake

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// isOneRoster reports whether the files are a OneRoster bundle, whose courses have sourcedIds.
func isOneRoster(fsys fs.FS, files map[string]string) (bool, error) {
	if files["courses.csv"] == "" {
		return false, nil
	}
	t, err := openIn(fsys, files, "courses.csv", nil)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(t.header, func(h string) bool { return plain(h) == "sourcedid" }), nil
}

// Columns of the OneRoster 1.2 CSV binding (1EdTech, section 4).
var (
	rosterNames   = map[column][]string{external: {"sourcedid"}, status: {"status"}, "name": {"title", "name"}}
	rosterCourses = map[column][]string{
		external: {"sourcedid"}, status: {"status"}, "name": {"title"}, "code": {"coursecode"},
	}
	rosterClasses = map[column][]string{
		external: {"sourcedid"}, status: {"status"}, "name": {"title"}, "code": {"classcode"}, parent: {"coursesourcedid"},
		"school": {"schoolsourcedid"}, "terms": {"termsourcedids"}, "location": {"location"},
	}
)

// readOneRoster reads the courses of a bundle, and its classes as their sections. The titles of a class's terms and
// school become its description (Fall 2026, North Campus). Files about people are ignored.
func readOneRoster(fsys fs.FS, files map[string]string) ([]Row, error) {
	titles := map[string]map[string]string{} // by file and sourcedId
	for _, name := range []string{"academicsessions.csv", "orgs.csv"} {
		titles[name] = map[string]string{}
		if files[name] == "" {
			continue
		}
		if err := eachIn(fsys, files, name, rosterNames, func(t *table) {
			titles[name][t.get(external)] = t.get("name")
		}); err != nil {
			return nil, err
		}
	}
	var rows []Row
	add := func(t *table, kind catalog.Kind, parent, field string, value any) {
		row := t.newRow(kind, t.get(external))
		row.Parent, row.Gone = parent, strings.EqualFold(t.get(status), "tobedeleted")
		row.Fields["name"], row.Fields[field] = t.get("name"), value
		rows = append(rows, row)
	}
	err := eachIn(fsys, files, "courses.csv", rosterCourses, func(t *table) {
		add(t, catalog.CourseKind, "", "code", cmp.Or(t.get("code"), t.get(external)))
	})
	if err != nil || files["classes.csv"] == "" {
		return rows, err
	}
	err = eachIn(fsys, files, "classes.csv", rosterClasses, func(t *table) {
		var parts []string
		for id := range strings.SplitSeq(t.get("terms"), ",") {
			parts = append(parts, titles["academicsessions.csv"][strings.TrimSpace(id)])
		}
		parts = append(parts, titles["orgs.csv"][t.get("school")], t.get("location"))
		parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
		var description any
		if len(parts) > 0 {
			description = strings.Join(parts, ", ")
		}
		add(t, catalog.SectionKind, t.get(parent), "description", description)
	})
	return rows, err
}

func eachIn(fsys fs.FS, files map[string]string, name string, names map[column][]string, visit func(*table)) error {
	t, err := openIn(fsys, files, name, names)
	if err != nil {
		return err
	}
	for c, known := range names {
		if (c == external || c == "name" || c == parent) && !t.has(c) {
			return fmt.Errorf("%s: the column %s of OneRoster is missing", name, known[0])
		}
	}
	return t.each(func() { visit(t) })
}

// openIn opens a file of a bundle.
func openIn(fsys fs.FS, files map[string]string, name string, names map[column][]string) (*table, error) {
	file, err := fsys.Open(files[name])
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := openTable(&bounded{file, maxFile}, name)
	if err == nil {
		t.assign(names)
	}
	return t, err
}
