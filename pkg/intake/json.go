package intake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// list is a list of records in a JSON catalog, and the list within each record.
type list struct {
	key     string
	kind    catalog.Kind
	inside  string
	within  catalog.Kind
	members string
}

var lists = []list{
	{key: "courses", kind: catalog.CourseKind, inside: "sections", within: catalog.SectionKind},
	{key: "programs", kind: catalog.ProgramKind, members: "courses"},
	{key: "credentials", kind: catalog.CredentialKind, members: "sections"},
	{key: "jobs", kind: catalog.JobKind},
	{key: "transferPackages", kind: catalog.TransferPackageKind, inside: "courses", within: catalog.TransferCourseKind},
}

// ReadJSON reads a catalog: an object with the lists courses (each may have sections), programs, credentials, jobs and
// transferPackages (each may have courses). Places are given in terms of the file's name.
func ReadJSON(r io.Reader, name string) ([]Row, error) {
	decoder := json.NewDecoder(r)
	var file map[string][]map[string]any
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: not a catalog in JSON: %w", name, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: unexpected data after the catalog", name)
	}
	var rows []Row
	add := func(object map[string]any, l list, parent, place string) (string, error) {
		text, err := json.Marshal(object) // before fields are removed
		if err != nil {
			return "", err
		}
		delete(object, l.inside)
		row := Row{Place: place, Kind: l.kind, Parent: parent, Fields: object, Source: []string{string(text)}}
		if err = row.takeName(); err == nil && l.members != "" {
			row.Members, err = textsOf(object, l.members)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", place, err)
		}
		rows = append(rows, row)
		return row.Name, nil
	}
	for _, l := range lists {
		for i, object := range file[l.key] {
			place := fmt.Sprintf("%s: %s[%d]", name, l.key, i)
			inner, ok := object[l.inside].([]any)
			if _, given := object[l.inside]; l.inside != "" && given && !ok {
				return nil, fmt.Errorf("%s: %s must be a list of objects", place, l.inside)
			}
			parent, err := add(object, l, "", place)
			if err != nil {
				return nil, err
			}
			for j, item := range inner {
				place := fmt.Sprintf("%s.%s[%d]", place, l.inside, j)
				object, ok := item.(map[string]any)
				if !ok {
					return nil, fmt.Errorf("%s is not an object", place)
				}
				if _, err := add(object, list{kind: l.within}, parent, place); err != nil {
					return nil, err
				}
			}
		}
		delete(file, l.key)
	}
	for key := range file {
		return nil, fmt.Errorf("%s: %q is not a list of a catalog", name, key)
	}
	return rows, nil
}

// takeName moves the external id from the row's fields to its name.
func (row *Row) takeName() error {
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

// textsOf removes a list of strings from an object and returns it; nil if there is none.
func textsOf(object map[string]any, key string) ([]string, error) {
	value, ok := object[key]
	delete(object, key)
	if !ok {
		return nil, nil
	}
	list, ok := value.([]any)
	texts := make([]string, len(list))
	for i := range list {
		var isText bool
		texts[i], isText = list[i].(string)
		ok = ok && isText
	}
	if !ok {
		return nil, fmt.Errorf("%s must be a list of external ids", key)
	}
	return texts, nil
}
