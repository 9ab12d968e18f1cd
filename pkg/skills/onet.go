package skills

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

const (
	onetLicence     = "CC BY 4.0"
	onetAttribution = "This service includes information from the O*NET Database by the U.S. Department of Labor, " +
		"Employment and Training Administration (USDOL/ETA), used under the CC BY 4.0 license."
)

// crosswalk maps ISCO-08 unit groups to SOC codes.
type crosswalk map[string][]socName

type socName struct{ soc, name string }

// successorsText maps SOC 2010 to SOC 2018; its head describes the format.
//
//go:embed soc2018.txt
var successorsText string

var successors = sync.OnceValue(func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(successorsText) {
		if codes := strings.Fields(line); len(codes) > 1 && isSOC(codes[0]) {
			m[codes[0]] = codes[1:]
		}
	}
	return m
})

// AddONET reads files of the O*NET database, as text or XLSX, from directories or opened zip files, and the BLS
// crosswalk from SOC to ISCO as CSV, which maps the occupations of ESCO to SOC codes. Files are recognized by their
// columns; others are skipped. At least one must be recognized.
func (b *Builder) AddONET(version string, sources ...fs.FS) error {
	files, err := findFiles(sources, func(name string) bool {
		return strings.HasSuffix(name, ".txt") || strings.HasSuffix(name, ".xlsx") || strings.HasSuffix(name, ".csv")
	})
	if err != nil {
		return fmt.Errorf("o*net: %w", err)
	}
	known, skills := 0, false
	for _, name := range slices.Sorted(maps.Keys(files)) {
		t, err := b.openTable(files[name])
		if err != nil {
			return fmt.Errorf("o*net: %s: %w", name, err)
		}
		has := func(columns ...string) bool {
			return !slices.ContainsFunc(columns, func(c string) bool { return t.columns[c] == 0 })
		}
		var row func() error
		switch {
		case has("soc_code", "isco08_code"):
			row = func() error { return b.crosswalkRow(t) }
		case has("o*net-soc code", "element id", "scale id", "data value"):
			row, skills = b.elementRow(t), true
		case has("o*net-soc code", "example", "commodity title"):
			row, skills = func() error { return b.technologyRow(t) }, true
		case has("o*net-soc code", "title", "description"):
			row = func() error { return b.occupationRow(t) }
		default:
			continue
		}
		known++
		if err := each(t, row); err != nil {
			return fmt.Errorf("o*net: %s: %w", name, err)
		}
	}
	if known == 0 {
		return errors.New("o*net: none of the files is a known O*NET table or the SOC-ISCO crosswalk")
	}
	if skills {
		b.sources = append(b.sources, Info{
			Name: "O*NET", Version: version, Licence: onetLicence, Attribution: onetAttribution,
		})
	}
	return nil
}

// openTable reads the header of a tab-separated, comma-separated or xlsx file.
func (b *Builder) openTable(f file) (*rowReader, error) {
	r, err := f.open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.HasSuffix(f.path, ".csv"):
		return readCSV(bytes.NewReader(raw))
	case strings.HasSuffix(f.path, ".txt"):
		return readTabs(bytes.NewReader(raw))
	}
	if b.Workbook == nil {
		return nil, errors.New("workbooks are not supported here")
	}
	rows, err := b.Workbook(raw)
	if err != nil {
		return nil, err
	}
	return newRowReader(func() ([]string, error) {
		if len(rows) == 0 {
			return nil, io.EOF
		}
		row := rows[0]
		rows = rows[1:]
		return row, nil
	})
}

func (b *Builder) crosswalkRow(t *rowReader) error {
	soc, isco := t.get("soc_code"), t.get("isco08_code")
	if !isSOC(soc) || isco == "" {
		return nil // a line of remarks
	}
	if b.crosswalk == nil {
		b.crosswalk = crosswalk{}
	}
	now, moved := successors()[soc]
	if !moved {
		now = []string{soc}
	}
	for _, code := range now {
		sameCode := func(o socName) bool { return o.soc == code }
		if !slices.ContainsFunc(b.crosswalk[isco], sameCode) {
			b.crosswalk[isco] = append(b.crosswalk[isco], socName{code, clean(t.get("soc_title"))})
		}
	}
	return nil
}

func (b *Builder) occupationRow(t *rowReader) error {
	soc := t.get("o*net-soc code")
	if !isSOC(soc) {
		return fmt.Errorf("%q is not a SOC code", soc)
	}
	b.require(soc, t.get("title"), "", need{})
	return nil
}

// elementRow reads a row of Skills or Knowledge. An element is required if its importance is
// at least 3 of 5: confidence is (importance - 1) / 4, level is O*NET's 0..7 scaled to 1..5.
func (b *Builder) elementRow(t *rowReader) func() error {
	type key struct{ soc, id string }
	importance := map[key]float64{}
	return func() error {
		soc, element := t.get("o*net-soc code"), t.get("element id")
		value, err := strconv.ParseFloat(t.get("data value"), 64)
		if !isSOC(soc) || err != nil || math.IsNaN(value) {
			return fmt.Errorf("occupation %q, value %q", soc, t.get("data value"))
		}
		kind := "skill"
		if strings.HasPrefix(element, "2.C") {
			kind = "knowledge"
		}
		e := b.add(Skill{ID: "onet:" + element, Name: t.get("element name"), Kind: kind, Field: "O*NET " + kind})
		k := key{soc, e.ID}
		b.require(soc, t.get("title"), "", need{})
		switch t.get("scale id") {
		case "IM":
			importance[k] = value
		case "LV":
			if im := importance[k]; im >= 3 && t.get("not relevant") != "Y" {
				e.uses++
				level := min(5, max(1, int(math.Round(1+value*4/7))))
				b.require(soc, "", e.ID, need{level, min(1, (im-1)/4)})
			}
		}
		return nil
	}
}

// technologyRow reads a row of Technology Skills: the commodity is the skill, the example one
// of its aliases. A commodity is required at level 3, with confidence 0.9 if an example is in
// demand, 0.7 for a hot technology, otherwise 0.5.
func (b *Builder) technologyRow(t *rowReader) error {
	soc, title, example := t.get("o*net-soc code"), t.get("commodity title"), t.get("example")
	if !isSOC(soc) || title == "" {
		return fmt.Errorf("occupation %q, commodity %q", soc, title)
	}
	e := b.add(Skill{
		ID: "onet:" + cmp.Or(t.get("commodity code"), title), Name: title, Kind: "tool", Field: "O*NET technology",
		Aliases: []string{example},
	})
	confidence := 0.5
	switch {
	case t.get("in demand") == "Y":
		confidence = 0.9
	case t.get("hot technology") == "Y":
		confidence = 0.7
	}
	b.require(soc, "", e.ID, need{3, confidence})
	return nil
}

// maxRequirements limits an occupation's list from ESCO, whose unit groups may combine the
// skills of hundreds of occupations.
const maxRequirements = 60

// resolveOccupations assigns every SOC code the skills of the ESCO occupations in the ISCO groups that the crosswalk
// maps it to. confidence is the share of those occupations that require the skill, an optional one counting half; level
// is 4 if most call it essential, 3 if some do, otherwise 2. Skills below 0.1 are left out, unless there are no others.
func (b *Builder) resolveOccupations() {
	type tally struct{ essential, optional int }
	count := map[string]map[string]*tally{} // SOC -> skill -> tally
	size := map[string]int{}
	for _, o := range b.occESCO {
		for _, s := range b.crosswalk[o.isco] {
			if count[s.soc] == nil {
				count[s.soc] = map[string]*tally{}
			}
			b.require(s.soc, s.name, "", need{})
			size[s.soc]++
			at := func(id string) *tally {
				if count[s.soc][id] == nil {
					count[s.soc][id] = &tally{}
				}
				return count[s.soc][id]
			}
			for _, id := range o.essential {
				at(id).essential++
			}
			for _, id := range o.optional {
				at(id).optional++
			}
		}
	}
	for soc, skills := range count {
		n := float64(size[soc])
		type scored struct {
			id string
			need
		}
		var all []scored
		for id, c := range skills {
			s := scored{id, need{2, math.Round((float64(c.essential)+float64(c.optional)/2)/n*1e4) / 1e4}}
			switch {
			case float64(c.essential) >= n/2:
				s.level = 4
			case c.essential > 0:
				s.level = 3
			}
			all = append(all, s)
		}
		slices.SortFunc(all, func(a, b scored) int {
			return cmp.Or(cmp.Compare(b.confidence, a.confidence), b.level-a.level, strings.Compare(a.id, b.id))
		})
		for i, s := range all[:min(len(all), maxRequirements)] {
			if s.confidence < 0.1 && i >= 10 {
				break
			}
			b.require(soc, "", s.id, s.need)
		}
	}
}
