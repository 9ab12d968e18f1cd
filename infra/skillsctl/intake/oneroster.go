package intake

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// isOneRoster reports whether the files are a OneRoster bundle: its courses have
// sourcedIds.
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

// Columns of OneRoster 1.2 CSV (1EdTech, section 4 of the CSV binding).
var (
	rosterNames   = map[column][]string{external: {"sourcedid"}, status: {"status"}, "name": {"title", "name"}}
	rosterCourses = map[column][]string{external: {"sourcedid"}, status: {"status"}, "name": {"title"}, "code": {"coursecode"}}
	rosterClasses = map[column][]string{
		external: {"sourcedid"}, status: {"status"}, "name": {"title"}, "code": {"classcode"}, parent: {"coursesourcedid"},
		"school": {"schoolsourcedid"}, "terms": {"termsourcedids"}, "location": {"location"},
	}
)

// readOneRoster reads the courses of a bundle, and its classes as their sections.
// Terms and schools, which the catalog has no place of its own for, make a class's
// description: Fall 2026, North Campus. Everything about persons is passed over.
func readOneRoster(fsys fs.FS, files map[string]string) ([]Row, error) {
	terms, err := rosterTitles(fsys, files, "academicsessions.csv")
	if err != nil {
		return nil, err
	}
	schools, err := rosterTitles(fsys, files, "orgs.csv")
	if err != nil {
		return nil, err
	}
	var rows []Row
	err = eachIn(fsys, files, "courses.csv", rosterCourses, func(t *table) {
		code := t.get("code")
		if code == "" {
			code = t.get(external)
		}
		rows = append(rows, t.rosterRow(catalog.CourseKind, map[string]any{"name": t.get("name"), "code": code}))
	})
	if err != nil || files["classes.csv"] == "" {
		return rows, err
	}
	err = eachIn(fsys, files, "classes.csv", rosterClasses, func(t *table) {
		var parts []string
		for id := range strings.SplitSeq(t.get("terms"), ",") {
			if title := terms[strings.TrimSpace(id)]; title != "" {
				parts = append(parts, title)
			}
		}
		for _, part := range []string{schools[t.get("school")], t.get("location")} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		fields := map[string]any{"name": t.get("name"), "description": nil}
		if parts != nil {
			fields["description"] = strings.Join(parts, ", ")
		}
		row := t.rosterRow(catalog.SectionKind, fields)
		row.Parent = t.get(parent)
		rows = append(rows, row)
	})
	return rows, err
}

func (t *table) rosterRow(kind catalog.Kind, fields map[string]any) Row {
	return Row{
		Place: t.place(), Kind: kind, Name: t.get(external), Fields: fields, Header: t.header, Source: t.cells,
		Gone: strings.EqualFold(t.get(status), "tobedeleted"),
	}
}

// rosterTitles reads the titles of a file's objects by sourcedId; none where the
// bundle has no such file.
func rosterTitles(fsys fs.FS, files map[string]string, name string) (map[string]string, error) {
	titles := map[string]string{}
	if files[name] == "" {
		return titles, nil
	}
	err := eachIn(fsys, files, name, rosterNames, func(t *table) { titles[t.get(external)] = t.get("name") })
	return titles, err
}

func eachIn(fsys fs.FS, files map[string]string, name string, names map[column][]string, each func(*table)) error {
	t, err := openIn(fsys, files, name, names)
	if err != nil {
		return err
	}
	for c, known := range names {
		if (c == external || c == "name" || c == parent) && !t.has(c) {
			return fmt.Errorf("%s: the column %s of OneRoster is missing", name, known[0])
		}
	}
	for {
		more, err := t.next()
		if err != nil || !more {
			return err
		}
		each(t)
	}
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
