package ctdl

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
)

// node is an entity of a file, decoded from JSON.
type node map[string]any

// Record is what an entity of a file states about a record of the catalog. It is named by its CTID or, without one, by
// its address, and so are those that it refers to.
type Record struct {
	Kind     catalog.Kind // CourseKind, ProgramKind, CredentialKind
	Key      string
	CTID     string
	Fields   map[string]any // of the input
	Courses  []string       // of a program or credential, in order; nil if it states none
	Outcomes []string       // competencies that a course or program teaches
	Skills   []any          // that a course teaches, with skillId or skillName
}

// Outcome is what a competency of a file states.
type Outcome struct {
	Key, CTID string
	Framework string // key
	Parent    string // key; "" for none
	List      string // place in the framework, as the file numbers it
	Fields    map[string]any
}

// Teaching is what a course or program of a file teaches: references to competencies, or skills.
type Teaching struct {
	Outcomes []string
	Skills   []any
}

// Reading collects the entities of a file.
type Reading struct {
	Records    []Record
	Outcomes   map[string]Outcome // by key
	Frameworks map[string]string  // CTIDs by key
	// Known and Unknown count the properties of entities that were read: those that became a field, and the others.
	Known, Unknown map[string]int
	Fields         map[string]string // that known properties became
	Classes        map[string]int    // of entities that nothing was read of
}

// NewReading returns a reading without entities.
func NewReading() *Reading {
	return &Reading{
		Outcomes: map[string]Outcome{}, Frameworks: map[string]string{}, Known: map[string]int{}, Unknown: map[string]int{},
		Fields: map[string]string{}, Classes: map[string]int{},
	}
}

// field is a row of a table as far as imports need it.
type field struct {
	name string
	value
}

func fieldsOf[T any](table []mapping[T]) map[string]field {
	fields := map[string]field{}
	for _, m := range table {
		fields[m.term] = field{m.field, m.value}
	}
	return fields
}

// ofOrganization are properties that follow from the organization that imports.
var ofOrganization = []string{
	"ceterms:ownedBy", "ceterms:offeredBy", "ceterms:inLanguage", "ceasn:inLanguage", "ceasn:publisher", "ceterms:ctid",
}

// Add reads an entity.
func (r *Reading) Add(entity map[string]any) {
	e := node(entity)
	class, _ := first(e["@type"]).(string)
	switch {
	case class == "ceterms:Course", class == "ceterms:LearningOpportunityProfile" && e["ceterms:hasPart"] == nil:
		r.record(e, catalog.CourseKind, fieldsOf(courses))
	case class == "ceterms:LearningProgram", class == "ceterms:LearningOpportunityProfile":
		r.record(e, catalog.ProgramKind, fieldsOf(programs))
	case Within(class, "ceterms:Credential"):
		r.record(e, catalog.CredentialKind, fieldsOf(credentials))
		if publishable(class) {
			_, r.Records[len(r.Records)-1].Fields["credentialType"], _ = strings.Cut(class, ":")
		}
	case class == "ceasn:CompetencyFramework":
		r.Frameworks[keyOf(e)] = ctidOf(e)
	case class == "ceasn:Competency":
		o := Outcome{Key: keyOf(e), CTID: ctidOf(e), Fields: map[string]any{}}
		o.List, _ = e["ceasn:listID"].(string)
		o.Framework, o.Parent = referenceOf(first(e["ceasn:isPartOf"])), referenceOf(first(e["ceasn:isChildOf"]))
		r.read(e, fieldsOf(competencies), func(f string, v any) { o.Fields[f] = v })
		r.Outcomes[o.Key] = o
	default:
		r.Classes[class]++
	}
}

// record reads an entity that describes a record.
func (r *Reading) record(e node, kind catalog.Kind, fields map[string]field) {
	record := Record{Kind: kind, Key: keyOf(e), CTID: ctidOf(e), Fields: map[string]any{}}
	if record.CTID != "" {
		record.Fields["ctid"] = record.CTID
	}
	r.read(e, fields, func(f string, v any) {
		switch v := v.(type) {
		case Teaching:
			record.Outcomes, record.Skills = v.Outcomes, v.Skills
		case []string:
			if f != "credentialIds" {
				record.Courses = v
				return
			}
			ids := []any{}
			for _, id := range v {
				ids = append(ids, id)
			}
			record.Fields[f] = ids
		default:
			record.Fields[f] = v
		}
	})
	r.Records = append(r.Records, record)
}

// read reads the properties of an entity into fields, and counts them.
func (r *Reading) read(e node, fields map[string]field, set func(field string, v any)) {
	for _, term := range slices.Sorted(maps.Keys(e)) {
		if strings.HasPrefix(term, "@") || slices.Contains(ofOrganization, term) {
			continue
		}
		f, known := fields[term]
		var v any
		if known && f.read != nil {
			v, known = f.read(e, e[term])
		}
		if !known {
			r.Unknown[term]++
			continue
		}
		r.Known[term]++
		if r.Fields[term] = f.name; v != nil {
			set(f.name, v)
		}
	}
}

// OutcomesOf returns the competencies of the file that a record teaches, in the order of their frameworks, parents
// before children, and the CTID of their framework.
func (r *Reading) OutcomesOf(record Record) (all []Outcome, ctid string) {
	for _, key := range record.Outcomes {
		if o, ok := r.Outcomes[key]; ok {
			all = append(all, o)
			ctid = r.Frameworks[o.Framework]
		}
	}
	slices.SortStableFunc(all, func(a, b Outcome) int {
		x, errX := strconv.Atoi(a.List)
		y, errY := strconv.Atoi(b.List)
		if errX != nil || errY != nil {
			return 0
		}
		return cmp.Compare(x, y)
	})
	return all, ctid
}

// derived is a kind of value that imports know and do not take over, for it follows from others.
func derived(v value) value {
	v.read = nil
	return v
}

var ctidAtEnd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`ce-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
})

func ctidOf(e node) string {
	ctid, _ := e["ceterms:ctid"].(string)
	return ctidAtEnd().FindString(strings.ToLower(ctid))
}

// keyOf returns the CTID of an entity, or else its address.
func keyOf(e node) string { return cmp.Or(ctidOf(e), referenceOf(map[string]any(e))) }

// referenceOf returns the CTID in a reference, or else the reference; "" for what is not one.
func referenceOf(v any) string {
	if o, ok := v.(map[string]any); ok {
		v = o["@id"]
	}
	ref, _ := v.(string)
	return cmp.Or(ctidAtEnd().FindString(strings.ToLower(ref)), ref)
}

// referencesOf returns those in a list.
func referencesOf(v any) ([]string, bool) {
	refs := []string{}
	for _, item := range items(v) {
		ref := referenceOf(item)
		if ref == "" {
			return nil, false
		}
		refs = append(refs, ref)
	}
	return refs, true
}

// targetOf returns the concept or skill that a value refers to, directly or by an alignment.
func targetOf(v any) string {
	if o, ok := v.(map[string]any); ok {
		v = o["ceterms:targetNode"]
	}
	target, _ := v.(string)
	return target
}

// items returns a list, or a list of a single value.
func items(v any) []any {
	switch v := v.(type) {
	case nil:
		return nil
	case []any:
		return v
	}
	return []any{v}
}

func first(v any) any {
	if all := items(v); len(all) > 0 {
		return all[0]
	}
	return nil
}

// wordsOf returns a text: of a language map the English one, or else the first; nil if there is none.
func wordsOf(v any) any {
	v = first(v)
	if o, ok := v.(map[string]any); ok {
		v = nil
		for _, language := range append([]string{"en-US", "en", "en-us"}, slices.Sorted(maps.Keys(o))...) {
			if words, ok := first(o[language]).(string); ok {
				v = words
				break
			}
		}
	}
	if words, ok := v.(string); ok {
		return words
	}
	return nil
}

// amountOf returns the number of the first property that an object has.
func amountOf(o map[string]any, terms ...string) (float64, bool) {
	for _, term := range terms {
		if n, ok := o[term].(float64); ok {
			return n, true
		}
	}
	return 0, false
}
