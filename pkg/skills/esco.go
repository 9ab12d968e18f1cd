package skills

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	escoLicence     = "Reuse under Commission Decision 2011/833/EU"
	escoAttribution = "This service uses the ESCO classification of the European Commission."
)

// escoOccupation is an ESCO occupation before the crosswalk maps it to SOC codes.
type escoOccupation struct {
	isco                string
	essential, optional []string
}

// escoRelations are the files that define the hierarchy of skills and the requirements of occupations.
var escoRelations = []string{"broaderRelationsSkillPillar.csv", "occupations_en.csv", "occupationSkillRelations.csv"}

// ErrIncomplete means that files of ESCO are missing; the wrapping error names them.
var ErrIncomplete = errors.New("the files for the hierarchy of skills or for requirements are missing")

// escoID returns the id for a skill's URI.
func escoID(uri string) string { return "esco:" + path.Base(strings.TrimSpace(uri)) }

// AddESCO reads the English CSV files of ESCO from directories or opened zip files, which together must have at least
// skills_en.csv. If those for hierarchy, relations or occupations are missing, it returns ErrIncomplete, unless the
// builder is set to Incomplete. An empty version defaults to the date of the newest change in the files.
func (b *Builder) AddESCO(version string, sources ...fs.FS) error {
	files, err := findFiles(sources, func(name string) bool { return strings.HasSuffix(name, ".csv") })
	if err != nil {
		return fmt.Errorf("esco: %w", err)
	}
	if _, ok := files[escoSkillsFile]; !ok {
		return errors.New("esco: " + escoSkillsFile + " is missing")
	}
	missing := slices.DeleteFunc(slices.Clone(escoRelations), func(name string) bool { return files[name] != file{} })
	if len(missing) > 0 && !b.Incomplete {
		return fmt.Errorf("esco: %w: %s", ErrIncomplete, strings.Join(missing, ", "))
	}
	e := &escoReader{
		b: b, special: map[string]string{}, groups: map[string]string{}, own: map[string]bool{}, above: map[string][]string{},
		occupations: map[string]*escoOccupation{},
	}
	for _, f := range []struct {
		name     string
		required []string
		row      func(*rowReader) error
	}{
		{"transversalSkillsCollection_en.csv", []string{"concepturi"}, e.collection("transversal")},
		{"languageSkillsCollection_en.csv", []string{"concepturi"}, e.collection("language")},
		{"skillGroups_en.csv", []string{"concepturi", "preferredlabel"}, e.group},
		{escoSkillsFile, []string{"concepturi", "preferredlabel"}, e.skill},
		{"broaderRelationsSkillPillar.csv", []string{"concepturi", "broaderuri"}, e.broader},
		{"skillSkillRelations.csv", []string{"originalskilluri", "relatedskilluri"}, e.related},
		{"occupations_en.csv", []string{"concepturi", "iscogroup"}, e.occupation},
		{"occupationSkillRelations.csv", []string{"occupationuri", "relationtype", "skilluri"}, e.requirement},
	} {
		source, ok := files[f.name]
		if !ok {
			continue
		}
		if err := source.eachRow(f.required, f.row); err != nil {
			return fmt.Errorf("esco: %s: %w", f.name, err)
		}
	}
	e.climb()
	for _, uri := range slices.Sorted(maps.Keys(e.occupations)) {
		b.occESCO = append(b.occESCO, *e.occupations[uri])
	}
	b.sources = append(b.sources, Info{
		Name: "ESCO", Version: cmp.Or(version, e.newest), Licence: escoLicence, Attribution: escoAttribution,
	})
	return nil
}

const escoSkillsFile = "skills_en.csv"

// escoReader collects the contents of the files; each method reads a row of one of them.
type escoReader struct {
	b           *Builder
	special     map[string]string   // skill -> kind
	groups      map[string]string   // group URI -> name
	own         map[string]bool     // skills of these files
	above       map[string][]string // URI -> broader URIs
	occupations map[string]*escoOccupation
	newest      string // date of a change
}

func (e *escoReader) collection(kind string) func(*rowReader) error {
	return func(t *rowReader) error {
		e.special[escoID(t.get("concepturi"))] = kind
		return nil
	}
}

func (e *escoReader) group(t *rowReader) error {
	e.groups[t.get("concepturi")] = clean(t.get("preferredlabel"))
	return nil
}

func (e *escoReader) skill(t *rowReader) error {
	uri, name := t.get("concepturi"), t.get("preferredlabel")
	if uri == "" || name == "" {
		return errors.New("a skill needs a URI and a name")
	}
	if t.get("skilltype") == "" {
		return nil // a heading of the hierarchy, not a skill
	}
	e.newest = max(e.newest, firstN(t.get("modifieddate"), 10))
	id := escoID(uri)
	kind := "skill"
	if t.get("skilltype") == "knowledge" {
		kind = "knowledge"
	}
	if e.own[id] {
		return fmt.Errorf("duplicate skill %q", uri)
	}
	e.own[id] = true
	s := e.b.add(Skill{
		ID: id, Name: name, Kind: cmp.Or(e.special[id], kind), Description: t.get("description"),
		Aliases: strings.Split(t.get("altlabels"), "\n"),
	})
	for h := range strings.SplitSeq(t.get("hiddenlabels"), "\n") {
		if h = clean(h); h != "" {
			s.Hidden = append(s.Hidden, h)
		}
	}
	return nil
}

func (e *escoReader) broader(t *rowReader) error {
	e.above[t.get("concepturi")] = append(e.above[t.get("concepturi")], t.get("broaderuri"))
	return nil
}

func (e *escoReader) related(t *rowReader) error {
	if s, ok := e.b.skills[escoID(t.get("originalskilluri"))]; ok {
		s.Related = append(s.Related, escoID(t.get("relatedskilluri")))
	}
	return nil
}

func (e *escoReader) occupation(t *rowReader) error {
	e.occupations[t.get("concepturi")] = &escoOccupation{isco: strings.TrimPrefix(t.get("iscogroup"), "C")}
	return nil
}

func (e *escoReader) requirement(t *rowReader) error {
	id := escoID(t.get("skilluri"))
	s, ok := e.b.skills[id]
	if !ok {
		return nil
	}
	s.uses++
	o := e.occupations[t.get("occupationuri")]
	switch {
	case o == nil:
	case t.get("relationtype") == "essential":
		o.essential = append(o.essential, id)
	default:
		o.optional = append(o.optional, id)
	}
	return nil
}

// climb sets the parents and fields of the skills.
func (e *escoReader) climb() {
	for uri, ups := range e.above {
		s, ok := e.b.skills[escoID(uri)]
		if !ok || !e.own[escoID(uri)] {
			continue
		}
		for _, up := range ups {
			if e.own[escoID(up)] {
				s.Broader = append(s.Broader, escoID(up))
			}
		}
		s.Field = e.field(uri)
	}
}

// field climbs from a concept to the groups above it and returns its field: the third level from the top, such as
// "software and applications development and analysis" or "managing information", or the highest below that.
func (e *escoReader) field(uri string) string {
	var chain []string // group names from the concept upwards
	seen := map[string]bool{uri: true}
	for range 20 {
		ups := slices.Sorted(slices.Values(e.above[uri]))
		if len(ups) == 0 || seen[ups[0]] {
			break
		}
		uri = ups[0]
		seen[uri] = true
		if name, ok := e.groups[uri]; ok {
			chain = append(chain, name)
		}
	}
	if len(chain) == 0 {
		return ""
	}
	return chain[max(0, len(chain)-4)]
}

func firstN(s string, n int) string { return s[:min(n, len(s))] }
