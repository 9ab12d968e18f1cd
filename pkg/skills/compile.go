package skills

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Builder collects skills from sources and compiles them. The zero Builder is ready to use;
// it is not safe for concurrent use. The order of the sources does not change the result,
// except that a skill known to several of them keeps the id and name of the first.
type Builder struct {
	// Name and Version override those of the sources if not empty.
	Name, Version string
	// Workbook returns the cells of an XLSX file's first sheet (package workbook); if nil, such files are errors.
	Workbook func(file []byte) (rows [][]string, err error)
	// Index builds the labels and company vectors that texts are matched with (package extraction); a
	// taxonomy compiled without it serves all other purposes.
	Index func(Contents) Labelled
	// Incomplete accepts ESCO without hierarchy, relations or occupations.
	Incomplete bool

	sources     []Info
	skills      map[string]*Entry
	named       map[string]string // folded name -> id, to recognize a skill of another source
	occupations map[string]*job
	crosswalk   crosswalk
	occESCO     []escoOccupation
}

// Entry is a skill while it is collected.
type Entry struct {
	Skill
	Hidden  []string // spellings and products that stand for it
	Related []string // ids
	uses    int      // occupations that require it
}

// job is an occupation while it is collected.
type job struct {
	name  string
	needs map[string]need
}

type need struct {
	level      int
	confidence float64
}

// clean returns the form in which texts are stored: NFC, single spaces.
func clean(s string) string { return norm.NFC.String(strings.Join(strings.Fields(s), " ")) }

// add adds a skill, or merges it with the one of the same id or name, and returns its entry.
func (b *Builder) add(s Skill) *Entry {
	if b.skills == nil {
		b.skills, b.named = map[string]*Entry{}, map[string]string{}
	}
	s.ID, s.Name = clean(s.ID), clean(s.Name)
	key := strings.ToLower(s.Name)
	id := s.ID
	if _, ok := b.skills[id]; !ok {
		if same, ok := b.named[key]; ok && !sameSource(same, id) {
			id = same
		}
	}
	e, ok := b.skills[id]
	if !ok {
		s.Description = clean(s.Description)
		e = &Entry{Skill: s}
		e.Aliases = nil
		b.skills[id] = e
		if _, taken := b.named[key]; !taken {
			b.named[key] = id
		}
	}
	for _, a := range s.Aliases {
		if a = clean(a); a != "" && a != e.Name && !slices.Contains(e.Aliases, a) {
			e.Aliases = append(e.Aliases, a)
		}
	}
	return e
}

// sameSource compares the prefixes of two ids: one source may use a name twice.
func sameSource(a, b string) bool {
	pa, _, _ := strings.Cut(a, ":")
	pb, _, _ := strings.Cut(b, ":")
	return pa == pb
}

func (b *Builder) require(soc, name, skill string, n need) {
	if b.occupations == nil {
		b.occupations = map[string]*job{}
	}
	j, ok := b.occupations[soc]
	if !ok {
		j = &job{needs: map[string]need{}}
		b.occupations[soc] = j
	}
	if name != "" && j.name == "" {
		j.name = clean(name)
	}
	if skill == "" {
		return
	}
	if old, ok := j.needs[skill]; !ok || n.confidence > old.confidence {
		j.needs[skill] = n
	}
}

func (b *Builder) info() Info {
	var i Info
	join := func(get func(Info) string, sep string) string {
		var parts []string
		for _, s := range b.sources {
			if v := get(s); v != "" && !slices.Contains(parts, v) {
				parts = append(parts, v)
			}
		}
		return strings.Join(parts, sep)
	}
	i.Name = cmp.Or(b.Name, join(func(s Info) string { return s.Name }, " + "))
	i.Version = cmp.Or(b.Version, join(func(s Info) string { return s.Version }, " + "))
	i.Licence = join(func(s Info) string { return s.Licence }, "; ")
	i.Attribution = join(func(s Info) string { return s.Attribution }, " ")
	return i
}

// compilation is the compiled file while it is written.
type compilation struct {
	*Builder
	ids   []string // in order
	index map[string]int
	texts map[string]uint32 // indexes in the string table
	parts [partCount][]byte
}

func (c *compilation) put(part int, values ...uint32) {
	for _, v := range values {
		c.parts[part] = binary.LittleEndian.AppendUint32(c.parts[part], v)
	}
}

// end returns how many numbers a part has.
func (c *compilation) end(part int) uint32 { return uint32(len(c.parts[part]) / 4) }

// text returns the index of a string, which it adds if it is new.
func (c *compilation) text(s string) uint32 {
	i, known := c.texts[s]
	if !known {
		i = c.end(partOffsets)
		c.texts[s] = i
		c.put(partOffsets, uint32(len(c.parts[partBlob])))
		c.parts[partBlob] = append(c.parts[partBlob], s...)
	}
	return i
}

// Compile writes the compiled file. The same sources give the same bytes.
func (b *Builder) Compile() ([]byte, error) {
	if len(b.skills) == 0 {
		return nil, errors.New("compile taxonomy: the sources have no skills")
	}
	b.resolveOccupations()
	c := &compilation{Builder: b, ids: slices.Sorted(maps.Keys(b.skills)), texts: map[string]uint32{}}
	c.index = make(map[string]int, len(c.ids))
	for i, id := range c.ids {
		c.index[id] = i
	}
	if err := c.putOccupations(); err != nil {
		return nil, fmt.Errorf("compile taxonomy: %w", err)
	}
	var index Labelled
	if b.Index != nil {
		index = b.Index(b.contents(c.ids))
	}
	c.putSkills()
	c.putNames()
	c.putLabels(index)
	c.putSearch()
	c.put(partOffsets, uint32(len(c.parts[partBlob])))
	info := b.info()
	info.Skills, info.Labels, info.Occupations = len(c.ids), len(index.Labels), len(b.occupations)
	meta, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("compile taxonomy: %w", err)
	}
	c.parts[partInfo], c.parts[partSpace] = meta, index.Company
	return assemble(c.parts), nil
}

// Shares of a skill in an occupation of ESCO.
const (
	essentialShare = 1
	optionalShare  = 0.6
)

// contents returns the collected skills. Groups are the occupations of ESCO, or without these
// those of the other sources.
func (b *Builder) contents(ids []string) Contents {
	var c Contents
	for _, id := range ids {
		c.Skills = append(c.Skills, b.skills[id])
	}
	for _, o := range b.occESCO {
		var group []Member
		for _, id := range o.essential {
			group = append(group, Member{id, essentialShare})
		}
		for _, id := range o.optional {
			group = append(group, Member{id, optionalShare})
		}
		c.Groups = append(c.Groups, group)
	}
	if len(b.occESCO) == 0 {
		for _, soc := range slices.Sorted(maps.Keys(b.occupations)) {
			var group []Member
			for id, n := range b.occupations[soc].needs {
				group = append(group, Member{id, n.confidence})
			}
			c.Groups = append(c.Groups, group)
		}
	}
	return c
}

// putOccupations writes the requirements of occupations.
func (c *compilation) putOccupations() error {
	for _, soc := range slices.Sorted(maps.Keys(c.occupations)) {
		j := c.occupations[soc]
		c.put(partOccupations, c.text(soc), c.text(j.name), c.end(partRequirements)/requirementStride)
		for _, id := range slices.Sorted(maps.Keys(j.needs)) {
			i, ok := c.index[id]
			if !ok {
				return fmt.Errorf("occupation %s requires the unknown skill %q", soc, id)
			}
			n := j.needs[id]
			c.put(partRequirements, uint32(i), uint32(n.level), uint32(math.Round(n.confidence*10000)))
		}
	}
	c.put(partOccupations, 0, 0, c.end(partRequirements)/requirementStride)
	return nil
}

// putSkills writes the skills, their aliases, parents and neighbors.
func (c *compilation) putSkills() {
	near := make([][]int, len(c.ids))
	join := func(a int, id string) (b int, ok bool) {
		if b, ok = c.index[id]; !ok || a == b {
			return 0, false
		}
		near[a], near[b] = append(near[a], b), append(near[b], a)
		return b, true
	}
	for i, id := range c.ids {
		e := c.skills[id]
		c.put(partSkills, c.text(e.ID), c.text(e.Name), c.text(e.Description), c.text(e.Kind), c.text(e.Field),
			c.end(partAliases), c.end(partBroader), uint32(e.uses))
		for _, a := range e.Aliases {
			c.put(partAliases, c.text(a))
		}
		slices.Sort(e.Broader)
		for _, up := range slices.Compact(e.Broader) {
			if p, ok := join(i, up); ok {
				c.put(partBroader, uint32(p))
			}
		}
		for _, r := range e.Related {
			join(i, r)
		}
	}
	closing := make([]uint32, skillStride)
	closing[skillAliases], closing[skillBroader] = c.end(partAliases), c.end(partBroader)
	c.put(partSkills, closing...)
	for i := range c.ids {
		c.put(partRelatedStarts, c.end(partRelated))
		slices.Sort(near[i])
		for _, n := range slices.Compact(near[i]) {
			c.put(partRelated, uint32(n))
		}
	}
	c.put(partRelatedStarts, c.end(partRelated))
}

// putNames writes the order of the skills by name.
func (c *compilation) putNames() {
	byName := make([]int, len(c.ids))
	for i := range byName {
		byName[i] = i
	}
	slices.SortFunc(byName, func(p, q int) int {
		a, b := c.skills[c.ids[p]].Name, c.skills[c.ids[q]].Name
		return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b), p-q)
	})
	for _, i := range byName {
		c.put(partByName, uint32(i))
	}
}

// putSearch writes the search index: word -> skills with it in a name or alias.
func (c *compilation) putSearch() {
	hits := map[string]map[int]bool{}
	for i, id := range c.ids {
		e := c.skills[id]
		for _, text := range append([]string{e.Name}, e.Aliases...) {
			for _, w := range searchTerms(text) {
				if hits[w] == nil {
					hits[w] = map[int]bool{}
				}
				hits[w][i] = true
			}
		}
	}
	for _, w := range slices.Sorted(maps.Keys(hits)) {
		c.put(partSearchWords, c.text(w))
		c.put(partSearchStarts, c.end(partSearchHits))
		for _, i := range slices.Sorted(maps.Keys(hits[w])) {
			c.put(partSearchHits, uint32(i))
		}
	}
	c.put(partSearchStarts, c.end(partSearchHits))
}

func assemble(parts [partCount][]byte) []byte {
	var sizes []byte
	for _, part := range parts {
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(len(part)))
	}
	body := append(sizes, bytes.Join(parts[:], nil)...)
	file := []byte(magic)
	file = binary.LittleEndian.AppendUint32(file, formatVersion)
	file = binary.LittleEndian.AppendUint32(file, partCount)
	file = binary.LittleEndian.AppendUint32(file, checksum(body))
	return append(file, body...)
}
