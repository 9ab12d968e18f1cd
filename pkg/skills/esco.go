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

// escoOccupation is an ESCO occupation until the crosswalk leads to its SOC codes.
type escoOccupation struct {
	isco                string
	essential, optional []string
}

// escoRelations are the files without which skills have no hierarchy, and occupations
// no requirements.
var escoRelations = []string{"broaderRelationsSkillPillar.csv", "occupations_en.csv", "occupationSkillRelations.csv"}

// ErrIncomplete means that files of ESCO are missing, which the error names.
var ErrIncomplete = errors.New("files are missing without which skills have no hierarchy or occupations no requirements")

// escoID turns a skill's URI into its id.
func escoID(uri string) string { return "esco:" + path.Base(strings.TrimSpace(uri)) }

// AddESCO reads the English CSV files of ESCO from directories or opened zip
// files, which together hold at least skills_en.csv. Without those of hierarchy,
// relations and occupations it is ErrIncomplete, unless the builder accepts that. An
// empty version becomes the date of the newest change in the files.
func (b *Builder) AddESCO(version string, sources ...fs.FS) error {
	files, err := findFiles(sources, func(name string) bool { return strings.HasSuffix(name, ".csv") })
	if err != nil {
		return fmt.Errorf("esco: %w", err)
	}
	read := func(name string, required []string, row func(t *rowReader) error) error {
		f, ok := files[name]
		if !ok {
			return nil
		}
		r, err := f.open()
		if err != nil {
			return fmt.Errorf("esco: %s: %w", name, err)
		}
		defer r.Close()
		t, err := readCSV(r, required...)
		if err == nil {
			err = each(t, func() error { return row(t) })
		}
		if err != nil {
			return fmt.Errorf("esco: %s: %w", name, err)
		}
		return nil
	}
	if _, ok := files["skills_en.csv"]; !ok {
		return errors.New("esco: skills_en.csv is missing")
	}
	missing := slices.DeleteFunc(slices.Clone(escoRelations), func(name string) bool { return files[name] != file{} })
	if len(missing) > 0 && !b.Incomplete {
		return fmt.Errorf("esco: %w: %s", ErrIncomplete, strings.Join(missing, ", "))
	}

	special := map[string]string{}
	for name, kind := range map[string]string{"transversalSkillsCollection_en.csv": "transversal", "languageSkillsCollection_en.csv": "language"} {
		if err := read(name, []string{"concepturi"}, func(t *rowReader) error {
			if id := escoID(t.get("concepturi")); special[id] != "language" {
				special[id] = kind
			}
			return nil
		}); err != nil {
			return err
		}
	}
	groups := map[string]string{} // group URI -> name
	if err := read("skillGroups_en.csv", []string{"concepturi", "preferredlabel"}, func(t *rowReader) error {
		groups[t.get("concepturi")] = clean(t.get("preferredlabel"))
		return nil
	}); err != nil {
		return err
	}

	newest := ""
	own := map[string]bool{}
	if err := read("skills_en.csv", []string{"concepturi", "preferredlabel"}, func(t *rowReader) error {
		uri, name := t.get("concepturi"), t.get("preferredlabel")
		if uri == "" || name == "" {
			return errors.New("a skill needs a URI and a name")
		}
		if kind := t.get("skilltype"); kind == "" {
			return nil // a heading of the hierarchy, not a skill
		}
		newest = max(newest, firstN(t.get("modifieddate"), 10))
		id := escoID(uri)
		kind := "skill"
		if t.get("skilltype") == "knowledge" {
			kind = "knowledge"
		}
		kind = cmp.Or(special[id], kind)
		if own[id] {
			return fmt.Errorf("the skill %q stands there twice", uri)
		}
		own[id] = true
		e := b.add(Skill{ID: id, Name: name, Kind: kind, Description: t.get("description"), Aliases: strings.Split(t.get("altlabels"), "\n")})
		for h := range strings.SplitSeq(t.get("hiddenlabels"), "\n") {
			if h = clean(h); h != "" {
				e.hidden = append(e.hidden, h)
			}
		}
		return nil
	}); err != nil {
		return err
	}

	above := map[string][]string{} // URI -> broader URIs
	if err := read("broaderRelationsSkillPillar.csv", []string{"concepturi", "broaderuri"}, func(t *rowReader) error {
		above[t.get("concepturi")] = append(above[t.get("concepturi")], t.get("broaderuri"))
		return nil
	}); err != nil {
		return err
	}
	field := fieldFinder(above, groups)
	for uri, ups := range above {
		e, ok := b.skills[escoID(uri)]
		if !ok || !own[escoID(uri)] {
			continue
		}
		for _, up := range ups {
			if own[escoID(up)] {
				e.Broader = append(e.Broader, escoID(up))
			}
		}
		e.Field = field(uri)
	}
	if err := read("skillSkillRelations.csv", []string{"originalskilluri", "relatedskilluri"}, func(t *rowReader) error {
		if e, ok := b.skills[escoID(t.get("originalskilluri"))]; ok {
			e.related = append(e.related, escoID(t.get("relatedskilluri")))
		}
		return nil
	}); err != nil {
		return err
	}

	occupations := map[string]*escoOccupation{}
	if err := read("occupations_en.csv", []string{"concepturi", "iscogroup"}, func(t *rowReader) error {
		occupations[t.get("concepturi")] = &escoOccupation{isco: strings.TrimPrefix(t.get("iscogroup"), "C")}
		return nil
	}); err != nil {
		return err
	}
	if err := read("occupationSkillRelations.csv", []string{"occupationuri", "relationtype", "skilluri"}, func(t *rowReader) error {
		id := escoID(t.get("skilluri"))
		e, ok := b.skills[id]
		if !ok {
			return nil
		}
		e.uses++
		if o := occupations[t.get("occupationuri")]; o != nil {
			if t.get("relationtype") == "essential" {
				o.essential = append(o.essential, id)
			} else {
				o.optional = append(o.optional, id)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, uri := range slices.Sorted(maps.Keys(occupations)) {
		b.occESCO = append(b.occESCO, *occupations[uri])
	}
	b.sources = append(b.sources, Info{Name: "ESCO", Version: cmp.Or(version, newest), Licence: escoLicence, Attribution: escoAttribution})
	return nil
}

// fieldFinder climbs from a concept to the groups above it and names the field:
// the third level from the top, such as "software and applications development
// and analysis" or "managing information", or the highest there is below it.
func fieldFinder(above map[string][]string, groups map[string]string) func(uri string) string {
	return func(uri string) string {
		var chain []string // group names from the concept upwards
		seen := map[string]bool{uri: true}
		for range 20 {
			ups := slices.Sorted(slices.Values(above[uri]))
			if len(ups) == 0 || seen[ups[0]] {
				break
			}
			uri = ups[0]
			seen[uri] = true
			if name, ok := groups[uri]; ok {
				chain = append(chain, name)
			}
		}
		if len(chain) == 0 {
			return ""
		}
		return chain[max(0, len(chain)-4)]
	}
}

func firstN(s string, n int) string { return s[:min(n, len(s))] }
