package intake

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	"skillscurriculum/pkg/intake/entry"
)

// linked is a file in JSON-LD: an entity of CTDL, an array of entities, or a graph, such as the Registry's.
type linked struct {
	text
	found []Column
}

// isLinked reports whether a JSON text that begins so is JSON-LD.
func isLinked(start []byte) bool {
	return len(start) > 0 && strings.Contains("{[", string(start[:1])) &&
		slices.ContainsFunc([]string{`"@context"`, `"@graph"`, `"@type"`, `"@id"`}, func(key string) bool {
			return strings.Contains(string(start), key)
		})
}

func (l *linked) columns() []Column { return l.found }

func (l *linked) layout() Layout { return Generic }

// read reads all entities.
func (l *linked) read() (*ctdl.Reading, error) {
	r, err := l.decoded()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	w := &window{r: r, what: "an entity of " + l.name, max: maxObject}
	d := &document{catalogs: &catalogs{text: l.text}, window: w, Decoder: json.NewDecoder(w)}
	reading := ctdl.NewReading()
	start, err := d.Token()
	w.used()
	switch {
	case err != nil:
		return nil, d.malformed(err)
	case start == json.Delim('['):
		err = d.entities(reading)
	case start == json.Delim('{'):
		err = d.entity(reading)
	default:
		err = d.malformed(nil)
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fail(catalog.Malformed, "%s: unexpected data after the entities", l.name)
	}
	return reading, nil
}

// entities reads the rest of an array of entities.
func (d *document) entities(reading *ctdl.Reading) error {
	for d.More() {
		entity, err := d.object()
		if err != nil {
			return err
		}
		reading.Add(entity)
	}
	return d.expect(json.Delim(']'))
}

// entity reads the rest of an object: an entity, or one with a graph.
func (d *document) entity(reading *ctdl.Reading) error {
	alone, graph := map[string]any{}, false
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return d.malformed(err)
		}
		if key == "@graph" {
			graph = true
			if err := d.expect(json.Delim('[')); err != nil {
				return err
			}
			if err := d.entities(reading); err != nil {
				return err
			}
			continue
		}
		var v any
		if err := d.Decode(&v); err != nil {
			return d.malformed(err)
		}
		alone[key.(string)] = v
		d.window.used()
	}
	if !graph {
		reading.Add(alone)
	}
	return d.expect(json.Delim('}'))
}

func (l *linked) rows(visit func(Row) error) error {
	reading, err := l.read()
	if err != nil {
		return err
	}
	l.found = columnsOf(l.name, reading)
	rows, names := []Row{}, map[string]string{}
	for i, record := range reading.Records {
		row := Row{
			Place: fmt.Sprintf("%s: %s", l.name, record.Key), File: l.name, Kind: record.Kind, Fields: record.Fields,
		}
		if _, twice := names[record.Key]; twice {
			row.Place += fmt.Sprintf(" (entity %d)", i+1)
		}
		source, err := json.Marshal(record.Fields)
		if err != nil {
			return err
		}
		row.Source = []string{string(source)}
		if row.Name = entry.CTIDName(record.CTID); record.CTID == "" {
			if err := takeName(&row); err != nil {
				return fail(catalog.Malformed, "%s: %v", row.Place, err)
			}
		}
		if record.Kind == catalog.CourseKind && len(record.Skills) > 0 {
			row.Fields["skills"] = record.Skills
		}
		names[record.Key] = row.Name
		rows = append(rows, row)
	}
	for i, record := range reading.Records {
		row := rows[i]
		if record.Courses != nil {
			row.Members = present(&row, "courses", record.Courses, names)
		}
		if ids, ok := row.Fields["credentialIds"].([]any); ok {
			var keys []string
			for _, id := range ids {
				keys = append(keys, id.(string))
			}
			delete(row.Fields, "credentialIds")
			if known := present(&row, "credentials", keys, names); known != nil {
				row.Fields["credentialIds"] = anyOf(known)
			}
		}
		outcomes := outcomesOf(row, reading, record)
		if len(record.Outcomes) > 0 && outcomes == nil {
			row.Ignored = append(row.Ignored, missing("outcomes", record.Outcomes[0]))
		}
		if err := visit(row); err != nil {
			return err
		}
		if outcomes != nil {
			if err := visit(*outcomes); err != nil {
				return err
			}
		}
	}
	return nil
}

// present returns the names of the records that are in the file, nil if none is. The row is imported without the
// others.
func present(row *Row, what string, keys []string, names map[string]string) (known []string) {
	for _, key := range keys {
		if name, ok := names[key]; ok {
			known = append(known, name)
		} else {
			row.Ignored = append(row.Ignored, missing(what, key))
		}
	}
	return known
}

func missing(what, key string) Problem {
	return Problem{Column: what, Code: entry.InvalidValue, Message: "is not in the file", Value: shown(key)}
}

func anyOf(texts []string) []any {
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = text
	}
	return list
}

// outcomesOf returns the row of the outcomes that a course or program teaches; nil if the file has none of them.
func outcomesOf(owner Row, reading *ctdl.Reading, record ctdl.Record) *Row {
	all, ctid := reading.OutcomesOf(record)
	if len(all) == 0 {
		return nil
	}
	parents, list := map[string]ctdl.Outcome{}, []any{}
	for _, o := range all {
		if o.CTID != "" {
			o.Fields["ctid"] = o.CTID
		}
		if parent, ok := parents[o.Parent]; ok && parent.CTID != "" {
			o.Fields["parentId"] = parent.CTID
		} else if ok && parent.Fields["code"] != nil {
			o.Fields["parentCode"] = parent.Fields["code"]
		}
		parents[o.Key] = o
		list = append(list, o.Fields)
	}
	row := Row{
		Place: owner.Place + ": outcomes", File: owner.File, Kind: catalog.OutcomeListKind, Name: owner.Name,
		Parent: owner.Name, Linked: true,
		Fields: map[string]any{"outcomes": list, "ownerKind": owner.Kind.Resource()},
	}
	if ctid != "" {
		row.Fields["ctid"] = ctid
	}
	return &row
}

// columnsOf lists the properties of a file, with the fields that they became and how often they occur.
func columnsOf(file string, reading *ctdl.Reading) (columns []Column) {
	for _, term := range slices.Sorted(maps.Keys(reading.Known)) {
		columns = append(columns, Column{File: file, Header: term, Field: reading.Fields[term], Count: reading.Known[term]})
	}
	for _, unknown := range []map[string]int{reading.Unknown, reading.Classes} {
		for _, term := range slices.Sorted(maps.Keys(unknown)) {
			columns = append(columns, Column{File: file, Header: term, Count: unknown[term]})
		}
	}
	return columns
}
