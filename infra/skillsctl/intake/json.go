package intake

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// list is a list of records in a JSON catalog, and the list inside of each.
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

// ReadJSON reads a catalog: an object with the lists courses (each may hold
// sections), programs, credentials, jobs and transferPackages (each may hold
// courses). name is the file's, for places.
func ReadJSON(r io.Reader, name string) ([]Row, error) {
	decoder := json.NewDecoder(r)
	var file map[string][]map[string]any
	if err := decoder.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: not a catalog in JSON: %w", name, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("%s: something follows the catalog", name)
	}
	var rows []Row
	for _, l := range lists {
		for i, object := range file[l.key] {
			place := fmt.Sprintf("%s: %s[%d]", name, l.key, i)
			whole := source(object)
			var inner []any
			if l.inside != "" {
				value, given := object[l.inside]
				list, ok := value.([]any)
				if given && !ok {
					return nil, fmt.Errorf("%s: %s must be a list of objects", place, l.inside)
				}
				inner = list
				delete(object, l.inside)
			}
			row, err := rowOf(object, l.kind, "", place)
			if err != nil {
				return nil, err
			}
			row.Source = whole
			if l.members != "" {
				if row.Members, err = textsOf(object, l.members, place); err != nil {
					return nil, err
				}
			}
			rows = append(rows, row)
			for j, item := range inner {
				place := fmt.Sprintf("%s.%s[%d]", place, l.inside, j)
				object, ok := item.(map[string]any)
				if !ok {
					return nil, fmt.Errorf("%s is no object", place)
				}
				whole := source(object)
				member, err := rowOf(object, l.within, row.Name, place)
				if err != nil {
					return nil, err
				}
				member.Source = whole
				rows = append(rows, member)
			}
		}
		delete(file, l.key)
	}
	for key := range file {
		return nil, fmt.Errorf("%s: %q is no list of a catalog", name, key)
	}
	return rows, nil
}

func rowOf(object map[string]any, kind catalog.Kind, parent, place string) (Row, error) {
	external, given := object["externalId"]
	delete(object, "externalId")
	row := Row{Place: place, Kind: kind, Parent: parent, Fields: object}
	if !given {
		row.Name = ownName(row)
		return row, nil
	}
	name, ok := external.(string)
	if name = strings.TrimSpace(name); !ok || name == "" {
		return Row{}, fmt.Errorf("%s: externalId must be a text", place)
	}
	row.Name = name
	return row, nil
}

// source is an object as it was, for the file of rejects.
func source(object map[string]any) []string {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // it came as JSON
	}
	return []string{string(text)}
}

// textsOf takes a list of texts out of an object; nil where there is none.
func textsOf(object map[string]any, key, place string) ([]string, error) {
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
		return nil, fmt.Errorf("%s: %s must be a list of external ids", place, key)
	}
	return texts, nil
}
