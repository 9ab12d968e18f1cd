package skills

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"sort"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// Skill is an entry of a taxonomy. Kind is knowledge, skill, language, transversal or tool; Field is the area of
// learning or work that the source assigns. Broader has the ids of its parents.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases"`
	Kind        string   `json:"kind"`
	Field       string   `json:"field"`
	Broader     []string `json:"-"`
}

// Info describes a taxonomy and its terms of use.
type Info struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Licence     string `json:"licence"`
	Attribution string `json:"attribution"`
	Skills      int    `json:"skills"`
	Labels      int    `json:"labels"`
	Occupations int    `json:"occupations"`
}

// Taxonomy is a compiled vocabulary. It is immutable and safe for concurrent use. Its parts
// are views into the bytes passed to Open, which the caller must not change.
type Taxonomy struct {
	info Info

	blob    string
	offsets Numbers // string i is blob[offsets[i]:offsets[i+1]]

	skills  table   // skillStride numbers a skill, ordered by id
	byName  Numbers // skill indexes ordered by folded name
	aliases Numbers // string indexes
	broader Numbers // skill indexes
	related list    // skill -> skills

	searchWords Numbers // string indexes, ordered by text
	searchHits  list    // search word -> skills

	occupations  table // occupationStride numbers an occupation, ordered by SOC code
	requirements table // requirementStride numbers

	index Index
}

const (
	skillID = iota
	skillName
	skillDescription
	skillKind
	skillField
	skillAliases // start in aliases; the end is the next skill's start
	skillBroader // start in broader, likewise
	skillPopularity
	skillStride
)

const (
	occupationSOC = iota
	occupationName
	occupationStart // start in requirements; the end is the next one's start
	occupationStride
)

const (
	requirementSkill = iota
	requirementLevel
	requirementConfidence // times 10,000
	requirementStride
)

const (
	magic         = "SKTX"
	formatVersion = 3
	headerLength  = 16 // magic, format version, number of parts, checksum of the rest
)

// Parts of the file, in order.
const (
	partInfo = iota
	partBlob
	partOffsets
	partSkills
	partByName
	partAliases
	partBroader
	partRelatedStarts
	partRelated
	partLabels
	partLabelTokens
	partStems
	partWeights
	partPostingStarts
	partPostings
	partSearchWords
	partSearchStarts
	partSearchHits
	partOccupations
	partRequirements
	partSpace
	partCount
)

func checksum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// Open opens a compiled taxonomy. It checks every reference once, so that no later call can go
// out of bounds, and copies nothing but the strings.
func Open(compiled []byte) (*Taxonomy, error) {
	if len(compiled) < headerLength || string(compiled[:4]) != magic {
		return nil, errors.New("open taxonomy: not a compiled taxonomy file")
	}
	if v := binary.LittleEndian.Uint32(compiled[4:]); v != formatVersion {
		return nil, fmt.Errorf("open taxonomy: file format %d, this program reads %d: rebuild the file", v, formatVersion)
	}
	if n := binary.LittleEndian.Uint32(compiled[8:]); n != partCount {
		return nil, fmt.Errorf("open taxonomy: %d parts, expected %d", n, partCount)
	}
	rest := compiled[headerLength:]
	if checksum(rest) != binary.LittleEndian.Uint32(compiled[12:]) {
		return nil, errors.New("open taxonomy: the file is truncated or damaged (checksum mismatch)")
	}
	if len(rest) < 4*partCount {
		return nil, errors.New("open taxonomy: the file is truncated")
	}
	sizes, rest := Numbers(rest[:4*partCount]), rest[4*partCount:]
	var parts [partCount][]byte
	for i := range parts {
		n := sizes.At(i)
		if n > len(rest) {
			return nil, errors.New("open taxonomy: the file is truncated")
		}
		parts[i], rest = rest[:n], rest[n:]
		if i != partInfo && i != partBlob && i != partSpace && n%4 != 0 {
			return nil, fmt.Errorf("open taxonomy: part %d has an odd length", i)
		}
	}
	t := &Taxonomy{
		blob:         string(parts[partBlob]),
		offsets:      parts[partOffsets],
		skills:       table{parts[partSkills], skillStride},
		byName:       parts[partByName],
		aliases:      parts[partAliases],
		broader:      parts[partBroader],
		related:      list{parts[partRelatedStarts], parts[partRelated]},
		searchWords:  parts[partSearchWords],
		searchHits:   list{parts[partSearchStarts], parts[partSearchHits]},
		occupations:  table{parts[partOccupations], occupationStride},
		requirements: table{parts[partRequirements], requirementStride},
	}
	t.index = Index{
		t:           t,
		labels:      table{parts[partLabels], labelStride},
		labelTokens: parts[partLabelTokens],
		stems:       parts[partStems],
		weights:     parts[partWeights],
		postings:    list{parts[partPostingStarts], parts[partPostings]},
		company:     parts[partSpace],
	}
	if err := json.Unmarshal(parts[partInfo], &t.info); err != nil {
		return nil, fmt.Errorf("open taxonomy: information: %w", err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("open taxonomy: %w", err)
	}
	return t, nil
}

// check validates every reference between the parts. The skill, label and occupation tables
// have a closing row, so that the next row's start always exists.
func (t *Taxonomy) check() error {
	broken := func(what string) error { return fmt.Errorf("%s is inconsistent", what) }
	if t.offsets.Len() == 0 || !t.offsets.ascending(len(t.blob)) {
		return broken("string table")
	}
	if !t.skills.closed(skillAliases, skillBroader) || !t.occupations.closed(occupationStart) ||
		t.requirements.Len()%requirementStride != 0 {
		return broken("a table")
	}
	n := t.count()
	if t.skills.get(n, skillAliases) > t.aliases.Len() || t.skills.get(n, skillBroader) > t.broader.Len() ||
		t.occupations.get(t.occupations.rows()-1, occupationStart) > t.requirements.rows() {
		return broken("a table's end")
	}
	switch {
	case !t.wholeSkills():
		return broken("skill table")
	case !t.wholeOccupations():
		return broken("occupation table")
	case !t.related.maps(n, n) || !t.searchWords.below(t.texts()) || !t.searchHits.maps(t.searchWords.Len(), n):
		return broken("an index")
	case !t.index.whole():
		return broken("index of labels")
	}
	return nil
}

func (t *Taxonomy) texts() int { return t.offsets.Len() - 1 }

func (t *Taxonomy) wholeSkills() bool {
	return t.skills.refers(t.texts(), skillID, skillName, skillDescription, skillKind, skillField) &&
		t.byName.Len() == t.count() && t.byName.below(t.count()) && t.aliases.below(t.texts()) && t.broader.below(t.count())
}

func (t *Taxonomy) wholeOccupations() bool {
	if !t.occupations.refers(t.texts(), occupationSOC, occupationName) {
		return false
	}
	for r := range t.requirements.rows() {
		if t.requirements.get(r, requirementSkill) >= t.count() || t.requirements.get(r, requirementConfidence) > 10000 {
			return false
		}
	}
	return true
}

func (t *Taxonomy) text(i int) string { return t.blob[t.offsets.At(i):t.offsets.At(i+1)] }

// count returns the number of skills.
func (t *Taxonomy) count() int { return t.skills.rows() - 1 }

// lowest returns the index of the first of n sorted texts that is not less than other, and whether it equals other.
func lowest(n int, text func(i int) string, other string) (int, bool) {
	i := sort.Search(n, func(i int) bool { return text(i) >= other })
	return i, i < n && text(i) == other
}

func (t *Taxonomy) find(id string) (int, bool) { return lowest(t.count(), t.id, id) }

// Info returns the taxonomy's description.
func (t *Taxonomy) Info() Info { return t.info }

// Skill returns the skill with an id.
func (t *Taxonomy) Skill(id string) (Skill, bool) {
	s, ok := t.find(id)
	if !ok {
		return Skill{}, false
	}
	return t.skill(s), true
}

// Name returns the name of the skill with an id.
func (t *Taxonomy) Name(id string) (string, bool) {
	s, ok := t.find(id)
	if !ok {
		return "", false
	}
	return t.name(s), true
}

func (t *Taxonomy) id(s int) string   { return t.text(t.skills.get(s, skillID)) }
func (t *Taxonomy) name(s int) string { return t.text(t.skills.get(s, skillName)) }
func (t *Taxonomy) kind(s int) string { return t.text(t.skills.get(s, skillKind)) }

func (t *Taxonomy) skill(s int) Skill {
	k := Skill{
		ID: t.id(s), Name: t.name(s), Description: t.text(t.skills.get(s, skillDescription)),
		Kind: t.kind(s), Field: t.text(t.skills.get(s, skillField)),
		Aliases: make([]string, 0, t.skills.get(s+1, skillAliases)-t.skills.get(s, skillAliases)),
		Broader: t.parents(s),
	}
	for i := t.skills.get(s, skillAliases); i < t.skills.get(s+1, skillAliases); i++ {
		k.Aliases = append(k.Aliases, t.text(t.aliases.At(i)))
	}
	return k
}

func (t *Taxonomy) parents(s int) []string {
	var ids []string
	for i := t.skills.get(s, skillBroader); i < t.skills.get(s+1, skillBroader); i++ {
		ids = append(ids, t.id(t.broader.At(i)))
	}
	return ids
}

// Related returns the ids of a skill's neighbors, sorted: its parents, its children and the
// skills that the source relates it to. It is nil for an unknown id.
func (t *Taxonomy) Related(id string) []string {
	s, ok := t.find(id)
	if !ok {
		return nil
	}
	near := t.related.At(s)
	ids := make([]string, near.Len())
	for i := range ids {
		ids[i] = t.id(near.At(i))
	}
	return ids
}

// Occupation returns the name of an occupation NN-NNNN or NN-NNNN.NN.
func (t *Taxonomy) Occupation(soc string) (string, bool) {
	o, ok := t.occupation(soc)
	if !ok {
		return "", false
	}
	return t.text(t.occupations.get(o, occupationName)), true
}

// occupation finds a SOC code. A detailed code NN-NNNN.NN that the taxonomy lacks falls back
// to NN-NNNN, and NN-NNNN to NN-NNNN.00.
func (t *Taxonomy) occupation(soc string) (int, bool) {
	at := func(code string) (int, bool) {
		return lowest(t.occupations.rows()-1, func(o int) string { return t.text(t.occupations.get(o, occupationSOC)) }, code)
	}
	if o, ok := at(soc); ok {
		return o, true
	}
	if base, _, detailed := strings.Cut(soc, "."); detailed {
		return at(base)
	}
	return at(soc + ".00")
}

// Requirements returns the skills that an occupation NN-NNNN or NN-NNNN.NN requires, in the order of skill lists; nil
// if none are known. Level and confidence are explained at resolveOccupations (ESCO), at elementRow and technologyRow
// (O*NET), and in the README of the starter vocabulary.
func (t *Taxonomy) Requirements(soc string) []catalog.SkillRef {
	o, ok := t.occupation(soc)
	if !ok {
		return nil
	}
	var refs []catalog.SkillRef
	for r := t.occupations.get(o, occupationStart); r < t.occupations.get(o+1, occupationStart); r++ {
		s := t.requirements.get(r, requirementSkill)
		refs = append(refs, catalog.SkillRef{
			SkillID: t.id(s), SkillName: t.name(s),
			Level:      t.requirements.get(r, requirementLevel),
			Confidence: float64(t.requirements.get(r, requirementConfidence)) / 10000,
		})
	}
	catalog.SortSkills(refs)
	return refs
}
