package ctdl

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// The contexts of documents.
const (
	Context    = "https://credreg.net/ctdl/schema/context/json"
	ASNContext = "https://credreg.net/ctdlasn/schema/context/json"
)

// Organization has the facts of an organization that its documents state.
type Organization struct {
	CTID        string
	Name        string
	Description string
	Webpage     string
	AgentType   string // name of a concept of ceterms:OrganizationType, without its prefix
	Language    string // BCP 47; of all texts
	Base        string // address to which the CTID of an entity is appended
}

// Address returns the public address of the entity with the CTID.
func (o Organization) Address(ctid string) string { return o.Base + ctid }

// named returns the CTIDs of the addresses in a value.
func (o Organization) named(v any) (ctids []string) {
	switch v := v.(type) {
	case object:
		for _, value := range v {
			ctids = append(ctids, o.named(value)...)
		}
	case []any:
		for _, value := range v {
			ctids = append(ctids, o.named(value)...)
		}
	case string:
		if ctid, ok := strings.CutPrefix(v, o.Base); ok {
			ctids = []string{ctid}
		}
	}
	return ctids
}

// Entity is the description of one record. Its class is one of CTDL, such as ceterms:Course.
type Entity struct {
	Class   string
	CTID    string
	ID      string // public address
	Context string
	// Missing lists what the Registry requires or recommends and the record lacks.
	Missing []Missing
	// Names lists the CTIDs of the entities that this one refers to. Needs lists those without which it is not valid.
	Names, Needs []string

	properties object
	check      func(object) []Missing // lists what properties of such an entity lack
}

// Missing is a property that a record lacks, and the field that it is made from.
type Missing struct {
	Property string `json:"property" doc:"Property of CTDL"`
	Level    Level  `json:"level" doc:"How much the property matters to the Registry"`
	Field    string `json:"field" doc:"Field of the record that the property is made from"`
}

// Level is how much a property matters to the Registry.
type Level string

// The levels of properties; others are optional.
const (
	Required    Level = "REQUIRED"
	Recommended Level = "RECOMMENDED"
)

// Ready reports whether the Registry would take the entity.
func (e Entity) Ready() bool {
	return !slices.ContainsFunc(e.Missing, func(m Missing) bool { return m.Level == Required })
}

// JSON returns the document of the entity on its own.
func (e Entity) JSON() []byte {
	document := maps.Clone(e.properties)
	document["@context"] = e.Context
	return appendJSON(nil, document)
}

// Graph returns the document of an entity and others that it names. Blank nodes are entries of the graph.
func Graph(main Entity, others ...Entity) []byte {
	var graph []any
	for _, e := range append([]Entity{main}, others...) {
		var blank []any
		graph = append(graph, hoist(e.properties, &blank))
		graph = append(graph, blank...)
	}
	return appendJSON(nil, object{"@context": main.Context, "@graph": graph})
}

// hoist returns the value with references to the blank nodes in it, which it appends to blank.
func hoist(v any, blank *[]any) any {
	switch v := v.(type) {
	case object:
		hoisted := make(object, len(v))
		for key, value := range v {
			hoisted[key] = hoist(value, blank)
		}
		return hoisted
	case []any:
		list := make([]any, len(v))
		for i, value := range v {
			list[i] = hoist(value, blank)
			if node, ok := list[i].(object); ok && node.blank() {
				*blank, list[i] = append(*blank, node), node["@id"]
			}
		}
		return list
	}
	return v
}

// object is an object of JSON-LD; its values are objects, lists of type []any, strings, numbers and booleans.
type object map[string]any

func (o object) blank() bool {
	id, _ := o["@id"].(string)
	return strings.HasPrefix(id, "_:")
}

// rank sorts the keywords and the CTID before other keys.
func rank(key string) string {
	i := slices.Index([]string{"@context", "@id", "@type", "ceterms:ctid"}, key)
	if i < 0 {
		return "~" + key
	}
	return strconv.Itoa(i)
}

func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case object:
		b = append(b, '{')
		keys := slices.SortedFunc(maps.Keys(v), func(x, y string) int { return strings.Compare(rank(x), rank(y)) })
		for i, key := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendJSON(b, key), ':')
			b = appendJSON(b, v[key])
		}
		return append(b, '}')
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case float64:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic("ctdl: " + err.Error()) // strings and booleans only
	}
	return append(b, text...)
}

// mapping relates a field of a record to a term: one row of a kind's table.
type mapping[T any] struct {
	field string
	term  string
	value value // kind of value
	level Level // "" for optional
	get   func(T) any
}

// describe makes the description of a record from its table. The class is that of the record.
func describe[T any](o Organization, class, ctid string, record T, table []mapping[T]) Entity {
	e := Entity{Class: class, CTID: ctid, ID: o.Address(ctid), Context: Context}
	e.properties = object{"@id": e.ID, "@type": class}
	if ctid != "" {
		e.properties["ceterms:ctid"] = ctid
	}
	for _, m := range table {
		if v := m.value.write(o, m.get(record)); v != nil {
			e.properties[m.term] = v
			named := o.named(v)
			e.Names = append(e.Names, named...)
			if m.level == Required {
				e.Needs = append(e.Needs, named...)
			}
		}
	}
	table = append([]mapping[T]{{"ctid", "ceterms:ctid", plain, Required, nil}}, table...)
	e.check = func(properties object) []Missing { return lacking(properties, table) }
	e.Missing = e.check(e.properties)
	return e
}

// lacking lists what a description lacks of a table's required and recommended properties.
func lacking[T any](properties object, table []mapping[T]) (missing []Missing) {
	for _, m := range table {
		if m.level != "" && !present(m.term, properties[m.term]) {
			missing = append(missing, Missing{m.term, m.level, m.field})
		}
	}
	return missing
}

// minDescription is the length below which the Registry takes no description, in characters.
const minDescription = 15

func present(term string, v any) bool {
	if words, ok := v.(object); ok && strings.HasSuffix(term, ":description") {
		for _, text := range words {
			if description, ok := text.(string); ok && len([]rune(description)) < minDescription {
				return false
			}
		}
	}
	return v != nil
}

// text returns the string of a string or *string.
func text(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case *string:
		if v != nil {
			return *v
		}
	}
	return ""
}
