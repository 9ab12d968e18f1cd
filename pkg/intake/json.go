package intake

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// list is a list of records in a JSON catalog, and the list within each record.
type list struct {
	key     string
	kind    catalog.Kind
	inside  string
	within  catalog.Kind
	members []string // keys of the list of members; requests use the second
}

var lists = []list{
	{key: "courses", kind: catalog.CourseKind, inside: "sections", within: catalog.SectionKind},
	{key: "sections", kind: catalog.SectionKind},
	{key: "programs", kind: catalog.ProgramKind, members: []string{"courses", "courseExternalIds"}},
	{key: "credentials", kind: catalog.CredentialKind, members: []string{"sections", "sectionExternalIds"}},
	{key: "jobs", kind: catalog.JobKind},
	{key: "transferPackages", kind: catalog.TransferPackageKind, inside: "courses", within: catalog.TransferCourseKind},
	{key: "articulations", kind: catalog.ArticulationKind},
}

func listOf(kind catalog.Kind) (list, bool) {
	i := slices.IndexFunc(lists, func(l list) bool { return l.kind == kind })
	return lists[max(i, 0)], i >= 0
}

// catalogs is a JSON file: one catalog, or NDJSON with one record per line.
type catalogs struct {
	text
	kind  catalog.Kind // of the records; "" if each line names its resource
	lined bool
}

func (c *catalogs) columns() []Column { return nil }

func (c *catalogs) layout() Layout { return Generic }

func (c *catalogs) rows(visit func(Row) error) error {
	r, err := c.decoded()
	if err != nil {
		return err
	}
	defer r.Close()
	if c.lined {
		return c.records(r, visit)
	}
	w := &window{r: r, what: "an object of " + c.name, max: maxObject}
	d := &document{catalogs: c, visit: visit, window: w, Decoder: json.NewDecoder(w)}
	return d.catalog()
}

// document is a JSON file that is being read.
type document struct {
	*catalogs
	*json.Decoder
	visit  func(Row) error
	window *window
}

// catalog reads an object with the lists courses (each may have sections), programs, credentials, jobs and
// transferPackages (each may have courses). Places are given in terms of the file's name.
func (d *document) catalog() error {
	if err := d.expect(json.Delim('{')); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return d.malformed(err)
		}
		i := slices.IndexFunc(lists, func(l list) bool { return l.key == key })
		if i < 0 {
			return fail(catalog.Malformed, "%s: %q is not a list of a catalog", d.name, key)
		}
		if err := d.expect(json.Delim('[')); err != nil {
			return err
		}
		for n := 0; d.More(); n++ {
			object, err := d.object()
			if err == nil {
				err = d.add(object, lists[i], Row{Place: fmt.Sprintf("%s: %s[%d]", d.name, key, n)}, d.visit)
			}
			if err != nil {
				return err
			}
		}
		if err := d.expect(json.Delim(']')); err != nil {
			return err
		}
	}
	if err := d.expect(json.Delim('}')); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fail(catalog.Malformed, "%s: unexpected data after the catalog", d.name)
	}
	return nil
}

// records reads one object per line: the body of a POST with externalId, and resource if the file has several. Sections
// name their course by courseExternalId. A line of an unknown resource is a row that fails.
func (c *catalogs) records(r io.Reader, visit func(Row) error) error {
	const known = "must be course, section, program, credential, job, transferPackage or articulation"
	var unknown error // of the first such line, which is the file's if no line has a kind
	last := c.kind
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, maxObject)
	for line := 1; scanner.Scan(); line++ {
		if len(bytes.TrimSpace(scanner.Bytes())) == 0 {
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &object); err != nil || object == nil {
			return fail(catalog.Malformed, "%s:%d: not an object in JSON", c.name, line)
		}
		row := Row{Place: fmt.Sprintf("%s:%d", c.name, line), File: c.name, Line: line}
		kind := cmp.Or(c.kind, kindOfObject(object))
		resource, named := object["resource"].(string)
		if named {
			kind = entry.KindNamed(resource)
		}
		l, ok := listOf(kind)
		if !ok {
			unknown = cmp.Or(unknown, fail(catalog.UnknownLayout, "%s: resource %s", row.Place, known))
			// It counts among those before it. Jobs, if there are none, are never retired because a file lacks them.
			row.Kind, row.Source = cmp.Or(last, catalog.JobKind), []string{scanner.Text()}
			row.Problems = []Problem{{
				Line: line, Column: "resource", Code: entry.InvalidValue, Message: known, Value: shown(resource),
			}}
			if err := visit(row); err != nil {
				return err
			}
			continue
		}
		last = kind
		if named {
			delete(object, "resource")
		}
		if parent, ok := object["courseExternalId"].(string); ok && kind == catalog.SectionKind {
			row.Parent = parent
			delete(object, "courseExternalId")
		}
		if err := c.add(object, l, row, visit); err != nil {
			return err
		}
	}
	if errors.Is(scanner.Err(), bufio.ErrTooLong) {
		return fail(catalog.TooLarge, "a line of %s is larger than %d MiB", c.name, maxObject>>20)
	}
	if err := scanner.Err(); err != nil {
		return c.broken(err)
	}
	if last == "" {
		return unknown
	}
	return nil
}

// kindOfObject guesses the kind of a record from a field that only the kind has; "" if it has none.
func kindOfObject(object map[string]any) catalog.Kind {
	for _, of := range []struct {
		field string
		kind  catalog.Kind
	}{
		{"courseExternalId", catalog.SectionKind}, {"courseExternalIds", catalog.ProgramKind},
		{"cipCode", catalog.ProgramKind}, {"sectionExternalIds", catalog.CredentialKind},
		{"employerId", catalog.JobKind}, {"transferFromInstitution", catalog.TransferPackageKind},
		{"sendingInstitution", catalog.ArticulationKind}, {"code", catalog.CourseKind},
	} {
		if _, ok := object[of.field]; ok {
			return of.kind
		}
	}
	return ""
}

// add visits the row of an object, and those of the list in it.
func (c *catalogs) add(object map[string]any, l list, row Row, visit func(Row) error) error {
	text, err := json.Marshal(object) // before fields are removed
	if err != nil {
		return err
	}
	inner, ok := object[l.inside].([]any)
	if _, given := object[l.inside]; l.inside != "" && given && !ok {
		return fail(catalog.Malformed, "%s: %s must be a list of objects", row.Place, l.inside)
	}
	delete(object, l.inside)
	row.File, row.Kind, row.Fields, row.Source = c.name, l.kind, object, []string{string(text)}
	err = takeName(&row)
	for _, key := range l.members {
		if _, given := object[key]; given && err == nil {
			var ok bool
			if row.Members, ok = entry.TakeTexts(object, key); !ok {
				err = fmt.Errorf("%s must be a list of external ids", key)
			}
		}
	}
	if err != nil {
		return fail(catalog.Malformed, "%s: %v", row.Place, err)
	}
	if err := visit(row); err != nil {
		return err
	}
	for i, item := range inner {
		place := fmt.Sprintf("%s.%s[%d]", row.Place, l.inside, i)
		object, ok := item.(map[string]any)
		if !ok {
			return fail(catalog.Malformed, "%s is not an object", place)
		}
		row := Row{Place: place, Line: row.Line, Parent: row.Name}
		if err := c.add(object, list{kind: l.within}, row, visit); err != nil {
			return err
		}
	}
	return nil
}

// object reads the next value, which must be an object.
func (d *document) object() (map[string]any, error) {
	var object map[string]any
	err := d.Decode(&object)
	d.window.used()
	switch {
	case err == nil && object == nil:
		return nil, fail(catalog.Malformed, "%s: null is not a record", d.name)
	case err != nil:
		return nil, d.malformed(err)
	}
	return object, nil
}

func (d *document) expect(delim json.Delim) error {
	token, err := d.Token()
	d.window.used()
	if err != nil || token != delim {
		return d.malformed(err)
	}
	return nil
}

// malformed returns the failure of a file that is not a catalog.
func (d *document) malformed(err error) error {
	var failure *Failure
	switch {
	case errors.As(err, &failure):
		return err
	case err == nil:
		err = errors.New("unexpected value")
	}
	return fail(catalog.Malformed, "%s: not a catalog in JSON: byte %d: %s", d.name, d.InputOffset(), reason(err))
}

// takeName moves the external id from the row's fields to its name.
func takeName(row *Row) error {
	external, given := row.Fields["externalId"]
	delete(row.Fields, "externalId")
	if !given {
		row.Name = ownName(*row)
		return nil
	}
	name, _ := external.(string)
	if row.Name = strings.TrimSpace(name); row.Name == "" {
		return errors.New("externalId must be a non-blank string")
	}
	return nil
}
