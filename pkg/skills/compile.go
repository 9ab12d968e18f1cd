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
	"sync"

	"golang.org/x/text/unicode/norm"
)

// Builder gathers skills from sources and compiles them. The zero Builder is
// ready; it is not safe for concurrent use. The order in which sources are added
// does not change the result, except that a skill keeps the name that it came
// with first when a later source knows the same name.
type Builder struct {
	// Name and Version replace those that the sources give, where not empty.
	Name, Version string
	// Workbook returns the cells of an xlsx file's first sheet (package workbook); where
	// it is nil, such files are refused.
	Workbook func(file []byte) (rows [][]string, err error)
	// Untaught leaves topics.txt out.
	Untaught bool
	// Words are the word vectors of which those of skills are made (package
	// wordvectors); where nil, the extractor makes them when it starts.
	Words *Words
	// Incomplete accepts ESCO without hierarchy, relations or occupations.
	Incomplete bool

	sources     []Info
	skills      map[string]*entry
	named       map[string]string // folded name -> id, to recognise a skill of another source
	occupations map[string]*job
	crosswalk   crosswalk
	occESCO     []escoOccupation
}

// entry is a skill while it is being gathered.
type entry struct {
	Skill
	hidden  []string
	related []string
	uses    int // occupations that ask for it
}

// job is an occupation while it is being gathered.
type job struct {
	name  string
	needs map[string]need
}

type need struct {
	level      int
	confidence float64
}

// clean is the form in which texts are kept: NFC, single spaces.
func clean(s string) string { return norm.NFC.String(strings.Join(strings.Fields(s), " ")) }

// add takes a skill in, or joins it to the one of the same id or name, and returns
// the id under which it is kept.
func (b *Builder) add(s Skill) *entry {
	if b.skills == nil {
		b.skills, b.named = map[string]*entry{}, map[string]string{}
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
		e = &entry{Skill: s}
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

// sameSource compares the prefixes of two ids: a source may well use one name twice.
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

// strings collects the string table.
type texts struct {
	index   map[string]int
	blob    bytes.Buffer
	offsets []uint32
}

func (x *texts) add(s string) uint32 {
	if i, ok := x.index[s]; ok {
		return uint32(i)
	}
	i := len(x.offsets)
	x.index[s] = i
	x.offsets = append(x.offsets, uint32(x.blob.Len()))
	x.blob.WriteString(s)
	return uint32(i)
}

// label is a name under which a skill may stand in a text.
type label struct {
	skill  int
	text   string
	kind   int
	stems  []string
	tokens []int
}

// maxLabelTokens bounds a label's content words; longer ones are sentences, not names.
const maxLabelTokens = 10

// compilation is the file while it is being written.
type compilation struct {
	*Builder
	ids        []string // in order
	index      map[string]int
	labels     []label
	vocabulary []string
	weights    []float32
	texts      texts
	parts      [partCount][]uint32
}

func (c *compilation) put(part int, values ...uint32) {
	c.parts[part] = append(c.parts[part], values...)
}

// Compile writes the compiled file. The same sources give the same bytes.
func (b *Builder) Compile() ([]byte, error) {
	if len(b.skills) == 0 {
		return nil, errors.New("compile taxonomy: the sources hold no skills")
	}
	b.resolveOccupations()
	c := &compilation{Builder: b, ids: slices.Sorted(maps.Keys(b.skills)), texts: texts{index: map[string]int{}}}
	c.index = make(map[string]int, len(c.ids))
	for i, id := range c.ids {
		c.index[id] = i
	}
	if err := c.putOccupations(); err != nil {
		return nil, fmt.Errorf("compile taxonomy: %w", err)
	}
	c.labels = b.labels(c.ids)
	c.vocabulary, c.weights = weigh(c.labels, len(c.ids))
	c.putSkills()
	c.putNames()
	c.putLabels()
	c.putSearch()
	for _, off := range c.texts.offsets {
		c.put(partOffsets, off)
	}
	c.put(partOffsets, uint32(c.texts.blob.Len()))
	info := b.info()
	info.Skills, info.Labels, info.Occupations = len(c.ids), len(c.labels), len(b.occupations)
	meta, err := json.Marshal(info)
	if err != nil {
		return nil, fmt.Errorf("compile taxonomy: %w", err)
	}
	return assemble(meta, c.texts.blob.Bytes(), b.space(c.ids, c.index), b.meanings(c.ids), c.parts), nil
}

// putOccupations writes what occupations ask for.
func (c *compilation) putOccupations() error {
	for _, soc := range slices.Sorted(maps.Keys(c.occupations)) {
		j := c.occupations[soc]
		c.put(partOccupations, c.texts.add(soc), c.texts.add(j.name), uint32(len(c.parts[partRequirements])/requirementStride))
		for _, id := range slices.Sorted(maps.Keys(j.needs)) {
			i, ok := c.index[id]
			if !ok {
				return fmt.Errorf("occupation %s asks for the unknown skill %q", soc, id)
			}
			n := j.needs[id]
			c.put(partRequirements, uint32(i), uint32(n.level), uint32(math.Round(n.confidence*10000)))
		}
	}
	c.put(partOccupations, 0, 0, uint32(len(c.parts[partRequirements])/requirementStride))
	return nil
}

// putSkills writes the skills, their aliases and parents, and who stands near whom.
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
		c.put(partSkills, c.texts.add(e.ID), c.texts.add(e.Name), c.texts.add(e.Description), c.texts.add(e.Kind), c.texts.add(e.Field),
			uint32(len(c.parts[partAliases])), uint32(len(c.parts[partBroader])), uint32(e.uses))
		for _, a := range e.Aliases {
			c.put(partAliases, c.texts.add(a))
		}
		slices.Sort(e.Broader)
		for _, up := range slices.Compact(e.Broader) {
			if p, ok := join(i, up); ok {
				c.put(partBroader, uint32(p))
			}
		}
		for _, r := range e.related {
			join(i, r)
		}
	}
	closing := make([]uint32, skillStride)
	closing[skillAliases], closing[skillBroader] = uint32(len(c.parts[partAliases])), uint32(len(c.parts[partBroader]))
	c.put(partSkills, closing...)
	for i := range c.ids {
		c.put(partRelatedStarts, uint32(len(c.parts[partRelated])))
		slices.Sort(near[i])
		for _, n := range slices.Compact(near[i]) {
			c.put(partRelated, uint32(n))
		}
	}
	c.put(partRelatedStarts, uint32(len(c.parts[partRelated])))
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

// putLabels writes the labels in the order of their words, and the words.
func (c *compilation) putLabels() {
	stemOf := make(map[string]int, len(c.vocabulary))
	for i, s := range c.vocabulary {
		stemOf[s] = i
	}
	for i := range c.labels {
		for _, s := range c.labels[i].stems {
			c.labels[i].tokens = append(c.labels[i].tokens, stemOf[s])
		}
	}
	slices.SortStableFunc(c.labels, func(a, b label) int {
		return cmp.Or(slices.Compare(a.tokens, b.tokens), cmp.Compare(a.kind, b.kind), cmp.Compare(a.skill, b.skill), strings.Compare(a.text, b.text))
	})
	rare := make([][]uint32, len(c.vocabulary))
	for i, l := range c.labels {
		c.put(partLabels, uint32(l.skill), c.texts.add(l.text), uint32(l.kind), uint32(len(c.parts[partLabelTokens])))
		for _, tok := range l.tokens {
			c.put(partLabelTokens, uint32(tok))
		}
		for _, tok := range rarest(l.tokens, c.weights) {
			rare[tok] = append(rare[tok], uint32(i))
		}
	}
	c.put(partLabels, 0, 0, 0, uint32(len(c.parts[partLabelTokens])))
	for i, s := range c.vocabulary {
		c.put(partStems, c.texts.add(s))
		c.put(partWeights, math.Float32bits(c.weights[i]))
		c.put(partPostingStarts, uint32(len(c.parts[partPostings])))
		c.put(partPostings, rare[i]...)
	}
	c.put(partPostingStarts, uint32(len(c.parts[partPostings])))
}

// putSearch writes which skills have which word in a name or alias.
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
		c.put(partSearchWords, c.texts.add(w))
		c.put(partSearchStarts, uint32(len(c.parts[partSearchHits])))
		for _, i := range slices.Sorted(maps.Keys(hits[w])) {
			c.put(partSearchHits, uint32(i))
		}
	}
	c.put(partSearchStarts, uint32(len(c.parts[partSearchHits])))
}

func assemble(meta, blob, space, meanings []byte, parts [partCount][]uint32) []byte {
	var sizes, body []byte
	for i, p := range parts {
		var raw []byte
		switch i {
		case partInfo:
			raw = meta
		case partBlob:
			raw = blob
		case partSpace:
			raw = space
		case partMeanings:
			raw = meanings
		default:
			for _, v := range p {
				raw = binary.LittleEndian.AppendUint32(raw, v)
			}
		}
		sizes = binary.LittleEndian.AppendUint32(sizes, uint32(len(raw)))
		body = append(body, raw...)
	}
	body = append(sizes, body...)
	file := []byte(magic)
	file = binary.LittleEndian.AppendUint32(file, formatVersion)
	file = binary.LittleEndian.AppendUint32(file, partCount)
	file = binary.LittleEndian.AppendUint32(file, checksum(body))
	return append(file, body...)
}

// meanings returns the vectors of all skills after the sum of the table that they
// were made of, or nothing where there is no table.
func (b *Builder) meanings(ids []string) []byte {
	if b.Words == nil {
		return nil
	}
	out := binary.LittleEndian.AppendUint32(nil, b.Words.sum)
	for _, id := range ids {
		for _, v := range b.Words.skill(b.skills[id].Skill) {
			out = append(out, byte(v))
		}
	}
	return out
}

// labels lists every label of every skill, the strongest kind where one skill
// has the same words twice.
func (b *Builder) labels(ids []string) []label {
	var taught map[int]taught
	if !b.Untaught {
		taught = b.topics(ids)
	}
	var all []label
	for i, id := range ids {
		e := b.skills[id]
		seen := map[string]bool{}
		add := func(text string, kind int) {
			stems := contentStems(text)
			key := strings.Join(stems, " ")
			if len(stems) == 0 || len(stems) > maxLabelTokens || seen[key] {
				return
			}
			seen[key] = true
			all = append(all, label{skill: i, text: text, kind: kind, stems: stems})
		}
		add(e.Name, preferred)
		if name, _, bracketed := strings.Cut(e.Name, " ("); bracketed {
			add(name, bare)
		}
		for _, a := range taught[i].synonyms {
			add(a, synonym)
		}
		for _, a := range e.hidden {
			add(a, hidden)
		}
		for _, a := range e.Aliases {
			add(a, alternative)
		}
		for _, a := range taught[i].topics {
			add(a, topic)
		}
		if o := objectOf(e.Skill); o != "" {
			add(o, object)
		}
	}
	return all
}

// objectOf returns a name without the verb that it begins with, where at least two
// words that carry meaning remain, or "".
func objectOf(s Skill) string {
	verb, rest, _ := strings.Cut(s.Name, " ")
	if s.Kind == "knowledge" || verbs()[strings.ToLower(verb)] == 0 || len(contentStems(rest)) < 2 {
		return ""
	}
	return rest
}

// genericStems is genericWords as they appear in labels.
var genericStems = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(genericWords) {
		m[fold(w)] = true
	}
	return m
})

// genericShare is the weight of a generic word against one of equal rarity.
const genericShare = 0.25

// weigh returns the vocabulary in order and what each stem says: the logarithm of
// how few skills have it in a label, scaled so that a unique stem weighs 1.
func weigh(labels []label, skills int) ([]string, []float32) {
	has := map[string]map[int]bool{}
	for _, l := range labels {
		for _, s := range l.stems {
			if has[s] == nil {
				has[s] = map[int]bool{}
			}
			has[s][l.skill] = true
		}
	}
	vocabulary := slices.Sorted(maps.Keys(has))
	weights := make([]float32, len(vocabulary))
	most := math.Log(float64(skills) + 1)
	for i, s := range vocabulary {
		w := 1 - math.Log(float64(len(has[s])))/most
		if genericStems()[s] {
			w *= genericShare
		}
		weights[i] = float32(math.Round(max(w, 0.02)*1e4) / 1e4)
	}
	return vocabulary, weights
}

// rarest returns the two stems of a label that weigh most: a text that has neither
// cannot contain enough of it.
func rarest(tokens []int, weights []float32) []int {
	distinct := slices.Clone(tokens)
	slices.SortFunc(distinct, func(a, b int) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), a-b) })
	distinct = slices.Compact(distinct)
	return distinct[:min(2, len(distinct))]
}
