package skills

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// Skill is one entry of a taxonomy. Kind is knowledge, skill, language,
// transversal or tool; Field is the area of learning or work that the source
// files it under. Broader holds the ids of its parents.
type Skill struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases"`
	Kind        string   `json:"kind"`
	Field       string   `json:"field"`
	Broader     []string `json:"-"`
}

// Info describes a taxonomy and the terms under which it may be used.
type Info struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	Licence     string `json:"licence"`
	Attribution string `json:"attribution"`
	Skills      int    `json:"skills"`
	Labels      int    `json:"labels"`
	Occupations int    `json:"occupations"`
}

// Taxonomy is a compiled vocabulary. It never changes after Open and is safe for
// concurrent use. Its parts are views into the bytes that Open was given, which
// the caller must not change.
type Taxonomy struct {
	info Info

	blob    string
	offsets words // string i is blob[offsets[i]:offsets[i+1]]

	skills  table // skillStride words a skill, ordered by id
	byName  words // skill indexes ordered by folded name
	aliases words // string indexes
	broader words // skill indexes
	related list  // skill -> skills

	labels      table // labelStride words a label, ordered by token sequence
	labelTokens words // stem indexes
	stems       words // string indexes, ordered by text
	weights     words // float32 bits: how much a stem says
	postings    list  // stem -> labels for which it is one of the two rarest stems
	searchWords words // string indexes, ordered by text
	searchHits  list  // search word -> skills

	occupations  table // occupationStride words an occupation, ordered by SOC code
	requirements table // requirementStride words

	space    []byte // dims signed bytes for each skill: its company (space.go)
	meanings []byte // the sum of a word table and skillVectors of its width for each skill (words.go), or nothing

	stemIndex map[string]int32
	counted   bool // whether it is known how many occupations ask for a skill
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
	labelSkill = iota
	labelText
	labelKind
	labelStart // start in labelTokens; the end is the next label's start
	labelStride
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

// The kinds of label, strongest first.
const (
	preferred = iota // the name
	alternative
	hidden  // spelling or product that stands for the skill
	bare    // the name without its bracket: Java for Java (computer programming)
	synonym // another word for the skill (topics.txt)
	topic   // a subject of teaching that leads to the skill (topics.txt)
	object  // the name without its verb: job analysis for carry out job analysis
	labelKinds
)

// words is a run of little-endian 32-bit numbers.
type words []byte

func (w words) len() int     { return len(w) / 4 }
func (w words) at(i int) int { return int(binary.LittleEndian.Uint32(w[4*i:])) }
func (w words) float(i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(w[4*i:])))
}

// table is words in rows of equal width.
type table struct {
	words
	stride int
}

func (t table) rows() int            { return t.len() / t.stride }
func (t table) get(row, col int) int { return t.at(row*t.stride + col) }

// list maps an index to a run of values.
type list struct{ starts, values words }

func (l list) at(i int) words {
	return l.values[4*l.starts.at(i) : 4*l.starts.at(i+1)]
}

const (
	magic         = "SKTX"
	formatVersion = 2
	headerLength  = 16 // magic, format version, number of parts, checksum of the rest
	dims          = 48
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
	partMeanings
	partCount
)

func checksum(body []byte) uint32 { return crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) }

// Open makes a taxonomy of a compiled file. It reads every reference once, so
// that no later call can go out of bounds, and copies nothing but the strings.
func Open(compiled []byte) (*Taxonomy, error) {
	if len(compiled) < headerLength || string(compiled[:4]) != magic {
		return nil, errors.New("open taxonomy: this is no compiled taxonomy file")
	}
	if v := binary.LittleEndian.Uint32(compiled[4:]); v != formatVersion {
		return nil, fmt.Errorf("open taxonomy: file format %d, this program reads %d: build it again", v, formatVersion)
	}
	if n := binary.LittleEndian.Uint32(compiled[8:]); n != partCount {
		return nil, fmt.Errorf("open taxonomy: %d parts, expected %d", n, partCount)
	}
	rest := compiled[headerLength:]
	if checksum(rest) != binary.LittleEndian.Uint32(compiled[12:]) {
		return nil, errors.New("open taxonomy: the file is cut short or damaged (checksum differs)")
	}
	if len(rest) < 4*partCount {
		return nil, errors.New("open taxonomy: the file is cut short")
	}
	sizes, rest := words(rest[:4*partCount]), rest[4*partCount:]
	var parts [partCount][]byte
	for i := range parts {
		n := sizes.at(i)
		if n > len(rest) {
			return nil, errors.New("open taxonomy: the file is cut short")
		}
		parts[i], rest = rest[:n], rest[n:]
		if i != partInfo && i != partBlob && i != partSpace && i != partMeanings && n%4 != 0 {
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
		labels:       table{parts[partLabels], labelStride},
		labelTokens:  parts[partLabelTokens],
		stems:        parts[partStems],
		weights:      parts[partWeights],
		postings:     list{parts[partPostingStarts], parts[partPostings]},
		searchWords:  parts[partSearchWords],
		searchHits:   list{parts[partSearchStarts], parts[partSearchHits]},
		occupations:  table{parts[partOccupations], occupationStride},
		requirements: table{parts[partRequirements], requirementStride},
		space:        parts[partSpace],
		meanings:     parts[partMeanings],
	}
	if err := json.Unmarshal(parts[partInfo], &t.info); err != nil {
		return nil, fmt.Errorf("open taxonomy: information: %w", err)
	}
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("open taxonomy: %w", err)
	}
	t.stemIndex = make(map[string]int32, t.stems.len())
	for i := range t.stems.len() {
		t.stemIndex[t.text(t.stems.at(i))] = int32(i)
	}
	for s := 0; s < t.count() && !t.counted; s++ {
		t.counted = t.skills.get(s, skillPopularity) > 0
	}
	return t, nil
}

// ascending reports whether numbers never fall and end at limit or below.
func (w words) ascending(limit int) bool {
	last := 0
	for i := range w.len() {
		if w.at(i) < last {
			return false
		}
		last = w.at(i)
	}
	return last <= limit
}

// below reports whether all numbers are below limit.
func (w words) below(limit int) bool {
	for i := range w.len() {
		if w.at(i) >= limit {
			return false
		}
	}
	return true
}

// closed reports whether a table has whole rows, the last of which closes it, and the
// starts in some columns never fall.
func (t table) closed(starts ...int) bool {
	if t.len()%t.stride != 0 || t.rows() == 0 {
		return false
	}
	for _, col := range starts {
		for r := 1; r < t.rows(); r++ {
			if t.get(r, col) < t.get(r-1, col) {
				return false
			}
		}
	}
	return true
}

// refers reports whether the rows before the closing one stay below limit in columns.
func (t table) refers(limit int, columns ...int) bool {
	for r := range t.rows() - 1 {
		for _, col := range columns {
			if t.get(r, col) >= limit {
				return false
			}
		}
	}
	return true
}

// maps reports whether a list has a run for each of keys, of values below limit.
func (l list) maps(keys, limit int) bool {
	return l.starts.len() == keys+1 && l.starts.ascending(l.values.len()) && l.values.below(limit)
}

// check looks at every reference between the parts. The skill, label and occupation
// tables carry one closing row, so that the next row's start always exists.
func (t *Taxonomy) check() error {
	broken := func(what string) error { return fmt.Errorf("%s is inconsistent", what) }
	if t.offsets.len() == 0 || !t.offsets.ascending(len(t.blob)) {
		return broken("string table")
	}
	if !t.skills.closed(skillAliases, skillBroader) || !t.labels.closed(labelStart) || !t.occupations.closed(occupationStart) || t.requirements.len()%requirementStride != 0 {
		return broken("a table")
	}
	n, labels := t.count(), t.labels.rows()-1
	if t.skills.get(n, skillAliases) > t.aliases.len() || t.skills.get(n, skillBroader) > t.broader.len() ||
		t.labels.get(labels, labelStart) > t.labelTokens.len() || t.occupations.get(t.occupations.rows()-1, occupationStart) > t.requirements.rows() {
		return broken("a table's end")
	}
	for _, part := range []struct {
		name  string
		whole func() bool
	}{{"skill table", t.wholeSkills}, {"label table", t.wholeLabels}, {"occupation table", t.wholeOccupations}, {"an index", t.wholeIndexes}, {"weight table", t.wholeWeights}} {
		if !part.whole() {
			return broken(part.name)
		}
	}
	return nil
}

func (t *Taxonomy) texts() int { return t.offsets.len() - 1 }

func (t *Taxonomy) wholeSkills() bool {
	return t.skills.refers(t.texts(), skillID, skillName, skillDescription, skillKind, skillField) &&
		t.byName.len() == t.count() && t.byName.below(t.count()) && t.aliases.below(t.texts()) && t.broader.below(t.count())
}

func (t *Taxonomy) wholeLabels() bool {
	if !t.labels.refers(t.count(), labelSkill) || !t.labels.refers(t.texts(), labelText) || !t.labels.refers(labelKinds, labelKind) || !t.labelTokens.below(t.stems.len()) {
		return false
	}
	for l := range t.labels.rows() - 1 {
		if t.labels.get(l, labelStart) == t.labels.get(l+1, labelStart) {
			return false
		}
	}
	return true
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

func (t *Taxonomy) wholeIndexes() bool {
	n := t.count()
	return t.related.maps(n, n) && t.stems.below(t.texts()) && t.weights.len() == t.stems.len() &&
		t.postings.maps(t.stems.len(), t.labels.rows()-1) && t.searchWords.below(t.texts()) && t.searchHits.maps(t.searchWords.len(), n) &&
		len(t.space) == dims*n
}

func (t *Taxonomy) wholeWeights() bool {
	for i := range t.stems.len() {
		if w := t.weights.float(i); !(w >= 0 && w < 100) {
			return false
		}
	}
	return true
}

func (t *Taxonomy) text(i int) string { return t.blob[t.offsets.at(i):t.offsets.at(i+1)] }

// count is the number of skills.
func (t *Taxonomy) count() int { return t.skills.rows() - 1 }

func (t *Taxonomy) find(id string) (int, bool) {
	lo, hi := 0, t.count()
	for lo < hi {
		mid := (lo + hi) / 2
		if t.text(t.skills.get(mid, skillID)) < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < t.count() && t.text(t.skills.get(lo, skillID)) == id
}

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
		k.Aliases = append(k.Aliases, t.text(t.aliases.at(i)))
	}
	return k
}

func (t *Taxonomy) parents(s int) []string {
	var ids []string
	for i := t.skills.get(s, skillBroader); i < t.skills.get(s+1, skillBroader); i++ {
		ids = append(ids, t.id(t.broader.at(i)))
	}
	return ids
}

// Related returns the ids of a skill's neighbours: its parents, its children and
// what the source itself relates it to, ordered by id. It is nil for an unknown id.
func (t *Taxonomy) Related(id string) []string {
	s, ok := t.find(id)
	if !ok {
		return nil
	}
	near := t.related.at(s)
	ids := make([]string, near.len())
	for i := range ids {
		ids[i] = t.id(near.at(i))
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

// occupation finds a SOC code; a detailed code NN-NNNN.NN that is not in the
// taxonomy answers for its occupation NN-NNNN, and NN-NNNN for its NN-NNNN.00.
func (t *Taxonomy) occupation(soc string) (int, bool) {
	at := func(code string) (int, bool) {
		lo, hi := 0, t.occupations.rows()-1
		for lo < hi {
			mid := (lo + hi) / 2
			if t.text(t.occupations.get(mid, occupationSOC)) < code {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		return lo, lo < t.occupations.rows()-1 && t.text(t.occupations.get(lo, occupationSOC)) == code
	}
	if o, ok := at(soc); ok {
		return o, true
	}
	if base, _, detailed := strings.Cut(soc, "."); detailed {
		return at(base)
	}
	return at(soc + ".00")
}

// Requirements returns the skills that an occupation NN-NNNN or NN-NNNN.NN asks
// for, ordered as every list of skills is; nil when none are known. How level
// and confidence follow from the source is told at occupationRequirements (ESCO),
// onetRequirements (O*NET) and in the starter vocabulary's own table.
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
	order(refs)
	return refs
}

// order sorts by confidence and level, both descending, then name, then id.
func order(refs []catalog.SkillRef) {
	slices.SortFunc(refs, func(a, b catalog.SkillRef) int {
		switch {
		case a.Confidence != b.Confidence:
			return sign(a.Confidence < b.Confidence)
		case a.Level != b.Level:
			return b.Level - a.Level
		case a.SkillName != b.SkillName:
			return strings.Compare(a.SkillName, b.SkillName)
		}
		return strings.Compare(a.SkillID, b.SkillID)
	})
}

func sign(after bool) int {
	if after {
		return 1
	}
	return -1
}
