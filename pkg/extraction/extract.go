package extraction

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// Engine names this extractor in provenance; it changes whenever its results may.
const Engine = "skillscurriculum/3.2"

// Extractor finds the skills that a document teaches. It is safe for concurrent use and pools
// its working memory.
type Extractor struct {
	taxonomy string // its name
	t        *skills.Index
	stems    map[string]int32
	curated  bool    // whether no alias is an everyday word
	counted  bool    // whether the taxonomy has requirements of occupations
	spoken   []int32 // for each skill, how many labels of built-in skills say it
	table    *Words
	pool     sync.Pool
}

// NewExtractor returns an extractor for a taxonomy that was compiled with an index (see
// [Indexer]) and a table of word vectors.
func NewExtractor(taxonomy *skills.Taxonomy, table *Words) *Extractor {
	t := taxonomy.Index()
	if t == nil {
		panic("extraction: the taxonomy was compiled without an index")
	}
	e := &Extractor{
		taxonomy: taxonomy.Info().Name, t: t, stems: make(map[string]int32, t.Stems()), table: table,
		curated: taxonomy.Info().Name == skills.StarterName, spoken: make([]int32, t.Skills()),
	}
	for l := range t.Labels() {
		if t.LabelKind(l) == counterpart {
			e.spoken[t.LabelSkill(l)]++
		}
	}
	for i := range t.Stems() {
		e.stems[t.Stem(i)] = int32(i)
	}
	for s := 0; s < t.Skills() && !e.counted; s++ {
		e.counted = t.Uses(s) > 0
	}
	e.pool.New = func() any {
		return &extraction{Extractor: e, cache: map[string]int32{},
			stamped: make([]int32, t.Stems()), position: make([]int32, t.Stems()), tried: make([]int32, t.Labels())}
	}
	return e
}

// extraction is the working memory for one document.
type extraction struct {
	*Extractor
	doc     string
	blocks  []block
	tokens  []token
	tools   []int // bytes at which words from computing stand
	clauses []clause

	mentions []mention
	found    map[int32]*finding

	meanings meanings
	sayings  map[[2]int]saying

	count, functions, known int // all words, function words, words in the vocabulary
	passage                 bool
	capitals                bool // some word begins with a capital

	cache                    map[string]int32 // word -> stem
	stamped, position, tried []int32          // per stem and label, valid where equal to round
	round                    int32
}

// finding is a skill with its mentions.
type finding struct {
	skill    int32
	mentions []int32
	best     int32
	exact    [skills.LabelKinds]bool
	in       [sections]bool
	heading  bool
	beaten   bool
	capitals bool

	namedInOutcomes bool
	namedAlone      bool
	plain           bool
	named           bool
	taught          bool
	oneWord         bool
	filled          float64

	share       float64
	clauses     int
	labels      int
	asWritten   float64
	sameMeaning float64

	like                   like
	likeRank, documentRank float64
	support                float64
	kin                    kin
}

// maxCachedWords limits an extractor's word cache.
const maxCachedWords = 1 << 16

func (e *Extractor) begin(text string, blocks []block) *extraction {
	x := e.pool.Get().(*extraction)
	x.doc, x.blocks = text, blocks
	x.tools = x.tools[:0]
	x.tokens, x.clauses, x.mentions = x.tokens[:0], x.clauses[:0], x.mentions[:0]
	x.count, x.functions, x.known, x.capitals = 0, 0, 0, false
	x.found, x.sayings = map[int32]*finding{}, map[[2]int]saying{}
	if len(x.cache) > maxCachedWords {
		clear(x.cache)
	}
	if x.round > math.MaxInt32/2 {
		x.round = 0
		clear(x.stamped)
		clear(x.tried)
	}
	return x
}

func (e *Extractor) end(x *extraction) {
	x.doc, x.blocks, x.found, x.sayings, x.meanings = "", nil, nil, nil, meanings{}
	e.pool.Put(x)
}

// Extract returns the skills of a document whose confidence reaches the default cut,
// their evidence and warnings. Skills are ordered by confidence and level, both
// descending, then by name; every skill has at least one piece of evidence, and evidence
// follows the order of the skills. The same document, taxonomy and engine always give the
// same result. It returns the context's error when the context ends.
func (e *Extractor) Extract(ctx context.Context, doc catalog.SyllabusText) (catalog.ExtractionResult, error) {
	x := e.begin(doc.Text, blocks(doc.Text))
	defer e.end(x)
	return x.extract(ctx, doc)
}

func (x *extraction) extract(ctx context.Context, doc catalog.SyllabusText) (catalog.ExtractionResult, error) {
	place := newPlaces(doc)
	result := catalog.ExtractionResult{
		Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}, Warnings: []catalog.Warning{},
	}
	var more bool
	if result.Outcomes, more = x.foundOutcomes(place); more {
		warn(&result, catalog.OutcomesTruncated,
			fmt.Sprintf("The text has more than %d outcomes; only the first %[1]d were taken.", maxOutcomes))
	}
	if err := x.tokenize(ctx); err != nil {
		return result, err
	}
	if !x.covered() {
		warn(&result, catalog.LanguageNotCovered,
			"The text is not in a language that the taxonomy "+x.taxonomy+" covers here (English); no skills were looked for.")
		return result, nil
	}
	m := fitted().of(x.taxonomy, x.passage)
	cut := m.Cut
	if x.count < passageWords && m.ShortCut > 0 {
		cut = m.ShortCut
	}
	findings, err := x.findings(ctx)
	if err != nil {
		return result, err
	}
	evidence, given := map[string][]catalog.Evidence{}, map[string]*finding{}
	for _, f := range findings {
		c := m.Confidence(m.Score(x.t.ID(int(f.skill)), x.values(f)), x.bounds(f))
		if c < cut || c == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return result, err
		}
		level, shown := x.level(f)
		ref := catalog.SkillRef{SkillID: x.t.ID(int(f.skill)), SkillName: x.t.Name(int(f.skill)), Level: level, Confidence: c}
		result.Skills, given[ref.SkillID] = append(result.Skills, ref), f
		for _, s := range shown {
			evidence[ref.SkillID] = append(evidence[ref.SkillID], x.evidence(ref.SkillID, s, place))
		}
	}
	catalog.SortSkills(result.Skills)
	for _, ref := range result.Skills {
		result.Evidence = append(result.Evidence, evidence[ref.SkillID]...)
		x.allot(result.Outcomes, ref.SkillID, given[ref.SkillID], place)
	}
	if x.foreign() {
		warn(&result, catalog.NotACourse,
			"The text does not read like a description of a course or of work; the skills found may not be taught at all.")
	}
	if len(result.Skills) == 0 && x.count >= 60 && float64(x.known) < 0.5*float64(x.count-x.functions) {
		warn(&result, catalog.VocabularyMismatch,
			"The taxonomy "+x.taxonomy+" has few of the text's words: the text may teach skills that it does not cover.")
	}
	return result, nil
}

func warn(r *catalog.ExtractionResult, code catalog.WarningCode, message string) {
	r.Warnings = append(r.Warnings, catalog.Warning{Code: code, Message: message})
}

// Candidates returns every skill considered, with its features, ordered by id. Calibration
// learns from them.
func (e *Extractor) Candidates(doc catalog.SyllabusText) []Candidate {
	x := e.begin(doc.Text, blocks(doc.Text))
	defer e.end(x)
	ctx := context.Background() // never ends, so nothing below fails
	if x.tokenize(ctx) != nil || !x.covered() {
		return nil
	}
	findings, _ := x.findings(ctx)
	var all []Candidate
	for _, f := range findings {
		all = append(all, Candidate{
			SkillID: e.t.ID(int(f.skill)), Features: x.values(f), Passage: x.passage, Bounds: x.bounds(f),
		})
	}
	return all
}

const (
	passageWords      = 120  // a text with fewer may be a passage
	statementWords    = 40   // a text with fewer is a sentence or two
	leastLanguageText = 12   // with fewer words the language cannot be determined
	englishFunctions  = 0.15 // share of English function words that only English has
	englishKnown      = 0.55 // share of the other words that an English vocabulary knows only of English
	likelyKnown       = 0.4  // the same where statistics over letters cannot tell
)

// covered reports whether the text is in the vocabulary's language. Lists of terms have few
// function words and mislead letter statistics, which therefore come last.
func (x *extraction) covered() bool {
	if !latin(x.doc) {
		return false
	}
	content := float64(x.count - x.functions)
	if x.count < leastLanguageText || float64(x.functions) >= englishFunctions*float64(x.count) ||
		float64(x.known) >= englishKnown*content {
		return true
	}
	guess := whatlanggo.Detect(x.doc)
	return guess.Lang == whatlanggo.Eng || !guess.IsReliable() && float64(x.known) >= likelyKnown*content
}

// foreign reports whether a longer text is not about a course or a job: it has no section of a
// syllabus and hardly a word of teaching or tasks, but words of licences and contracts.
func (x *extraction) foreign() bool {
	for _, b := range x.blocks {
		if b.section == outcomes || b.section == topics || b.section == description || b.outcome != "" {
			return false
		}
	}
	words, legal, taught := 0, 0, 0
	skills.EachWord(x.doc, func(s, e int) {
		words++
		switch w := strings.ToLower(x.doc[s:e]); {
		case legalese(w):
			legal++
		case teaching(w):
			taught++
		}
	})
	return words >= leastForeign && taught*taughtShare < words && legal*legalShare > words
}

const (
	leastForeign = 200 // words
	taughtShare  = 200 // one word of teaching in so many makes a course
	legalShare   = 60  // one word of contracts in so many makes a contract
)

var (
	legalese = set(`license licence licensor licensee licensed copyright warranty warranties liability liable
		herein hereby thereof hereunder notwithstanding contributor contributions derivative redistribute
		redistribution sublicense trademark trademarks agreement party parties indemnify disclaimer merchantability
		damages terms clause jurisdiction privacy cookies subscriber`)
	teaching = set(`course courses student students learn learners learning outcomes objectives syllabus lecture
		lectures semester module modules exam exams homework teach teaches skills practice class classes lab labs
		assignment assignments topics`)
)

// latin reports whether most letters of a text are Latin.
func latin(text string) bool {
	script, letters := 0, 0
	for _, r := range text {
		switch {
		case r < 128 && (r|32) >= 'a' && (r|32) <= 'z', r >= 0xC0 && r < 0x250:
			script++
			letters++
		case r >= 0x250 && skills.WordRune(r):
			letters++
		}
	}
	return 2*script >= letters
}

// findings groups the mentions by skill and rates each skill as a whole.
func (x *extraction) findings(ctx context.Context) ([]*finding, error) {
	if err := x.propose(ctx); err != nil {
		return nil, err
	}
	for i := range x.mentions {
		m := &x.mentions[i]
		f := x.found[m.skill]
		if f == nil {
			f = &finding{skill: m.skill, beaten: true}
			x.found[m.skill] = f
		}
		f.mentions = append(f.mentions, int32(i))
	}
	found := make([]*finding, 0, len(x.found))
	for _, f := range x.found {
		found = append(found, f)
	}
	slices.SortFunc(found, func(a, b *finding) int { return int(a.skill - b.skill) })
	for _, f := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x.summarize(f)
	}
	x.mean()
	for _, f := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.like = x.likeness(f.skill, x.mentions[f.best].clause)
	}
	rank(found, func(f *finding) float64 { return f.like.labels },
		func(f *finding, place float64) { f.likeRank = 1 - place/float64(len(found)) })
	rank(found, func(f *finding) float64 { return f.like.document },
		func(f *finding, place float64) { f.documentRank = 1 - math.Log1p(place)/8 })
	x.accompany(found)
	x.relate(found)
	return found, nil
}

// rank numbers the findings by a value, highest first, from 0.
func rank(found []*finding, value func(*finding) float64, set func(*finding, float64)) {
	order := slices.Clone(found)
	slices.SortStableFunc(order, func(a, b *finding) int { return cmp.Compare(value(b), value(a)) })
	for i, f := range order {
		set(f, float64(i))
	}
}

// rate returns the strength of a mention as evidence for its skill.
func (x *extraction) rate(m *mention) float64 {
	r := m.strength * (0.5 + 0.5*m.share)
	if x.blocks[x.clauses[m.clause].block].section == readings {
		r *= 0.5
	}
	return r
}

// summarize chooses the best mention and records where and how the skill is mentioned.
func (x *extraction) summarize(f *finding) {
	f.best = f.mentions[0]
	labels := map[int32]bool{}
	for _, i := range f.mentions {
		m := &x.mentions[i]
		if x.rate(m) > x.rate(&x.mentions[f.best]) {
			f.best = i
		}
		if m.coverage > wholeCoverage {
			labels[m.label] = true
		}
		x.note(f, m)
		f.beaten = f.beaten && m.beaten
		f.share = max(f.share, m.share)
	}
	f.clauses, f.labels = max(1, f.clauses), max(1, len(labels))
	x.look(f)
}

// wholeCoverage is the share of a label's weight from which it counts as present.
const wholeCoverage = 0.75

// note adds the evidence of one mention.
func (x *extraction) note(f *finding, m *mention) {
	c := x.clauses[m.clause]
	b := &x.blocks[c.block]
	if m.coverage > wholeCoverage {
		f.in[b.section] = true
		f.heading = f.heading || b.heading
		f.clauses++
	}
	if b.section == readings {
		return
	}
	f.named = f.named || m.named && !m.within && b.section != readings
	for kind := range f.exact {
		f.exact[kind] = f.exact[kind] || m.kinds&(1<<kind) != 0
	}
	if m.exact {
		taught := x.taught(m)
		if teaches(b) {
			taught := taught && x.asWritten(m)
			f.plain = f.plain || m.own || taught
			f.named = f.named || taught
		}
		f.taught = f.taught || taught
	}
	if m.coverage > wholeCoverage {
		f.filled = max(f.filled, float64(m.matched)/float64(c.last-c.first))
		if m.exact && (m.kind == preferred || m.kind == synonym || m.kind == bare || m.kind == counterpart) {
			f.namedInOutcomes = f.namedInOutcomes || b.section == outcomes && !b.heading
			f.namedAlone = f.namedAlone || int(m.matched) == c.last-c.first
		}
	}
}

// taught reports whether a mention of one word is a name that is no other skill's, in a
// sentence that has it learned or a list of tools that has it among them. Of two
// readings of an everyday word, the one with the label's capital is meant.
func (x *extraction) taught(m *mention) bool {
	if m.matched != 1 || m.namesake || !named(m.kind) && (m.kind != synonym || m.shared > 1) {
		return false
	}
	tok := x.tokens[m.first]
	word := x.doc[tok.start:tok.end]
	if m.kind != synonym && riskyNames(strings.ToLower(word)) && !strings.Contains(x.t.LabelText(int(m.label)), word) {
		return false
	}
	return x.learned(int(m.clause), int(m.first)) || x.amongTools(int(m.clause), int(m.first))
}

// look evaluates how the best mention is written and where.
func (x *extraction) look(f *finding) {
	best := &x.mentions[f.best]
	c := x.clauses[best.clause]
	if f.filled == 0 {
		f.filled = float64(best.matched) / float64(c.last-c.first)
	}
	f.asWritten, f.sameMeaning = x.agreement(best)
	f.in[x.blocks[c.block].section] = true
	f.oneWord = best.matched == 1
	if !f.oneWord {
		return
	}
	tok := x.tokens[best.first]
	word := x.doc[tok.start:tok.end]
	label := x.t.LabelText(int(best.label))
	asWritten := strings.Contains(label, word) || tok.upper && len(word) > 1 &&
		strings.EqualFold(label, strings.TrimSuffix(word, "s"))
	// At the beginning of a clause every word has its capital.
	f.capitals = asWritten && (tok.upper || tok.initial && int(best.first) != c.first)
}

// everyday reports whether a single word may well be meant in its usual sense: the name is a
// verb, or only a common word without capitals that is not the name stands there.
func (x *extraction) everyday(f *finding) bool {
	return f.oneWord && (!f.exact[preferred] && !f.capitals && x.mentions[f.best].weight < rareWeight ||
		verbs()[strings.ToLower(x.t.Name(int(f.skill)))] > 0)
}

// rareWeight is the weight of a word that stands in the labels of two skills at most.
const rareWeight = 0.9

// How near in meaning a skill and the sentence that names it are at least: below it
// the word means something else there. In a short text little else speaks.
const (
	namedLikeness = 0.5
	briefLikeness = 0.3
)

// bounds returns the rules for a skill. An inferred one is never sure. One that an outcome
// plainly names is given, whatever else the document is about; so is one that a short text
// names, by a single-word alias only in a text of a sentence or two.
func (x *extraction) bounds(f *finding) Bounds {
	named := f.plain && f.namedInOutcomes && f.like.own >= namedLikeness
	short := x.count < statementWords || x.count < passageWords && f.plain
	brief := f.named && short && (x.curated || f.like.own >= briefLikeness || f.taught || !x.everyday(f))
	return Bounds{Plain: named || brief, Inferred: f.oneTopic()}
}

// own reports whether a mention is of a label that means this skill: its name, or an
// alias of several words that no other skill has.
func (x *extraction) own(m *mention) bool {
	switch m.kind {
	case preferred:
		return true
	case bare:
		return !m.namesake
	case alternative, hidden:
		return !m.namesake && m.matched > 1
	}
	return false
}

// names reports whether a mention is of a label that means this skill, with the label's
// endings: its name, or another word for it that is no other skill's. A single word must
// not be part of something longer, unless it is the name itself.
func (x *extraction) names(m *mention) bool {
	switch {
	case !m.exact:
		return m.kind == preferred && x.headed(m) && x.asWritten(m)
	case !named(m.kind) && m.kind != synonym:
		return false
	case m.kind == preferred:
		return x.asWritten(m)
	case m.namesake || m.kind == synonym && !m.alone || m.kind != bare && m.matched == 1 && !x.framed(m):
		return false
	}
	return x.asWritten(m)
}

// headed reports whether a mention is a name of two words whose second also ends the names
// between: "MLA style" in "MLA and APA style".
func (x *extraction) headed(m *mention) bool {
	stems := x.t.LabelStems(int(m.label))
	if stems.Len() != 2 || m.matched != 2 || m.gap == 0 || x.tokens[m.first].stem != int32(stems.At(0)) ||
		x.tokens[m.last].joined || x.tokens[m.last].comma != x.tokens[m.last-1].comma {
		return false
	}
	for i := m.first + 1; i < m.last; i++ {
		if tok := x.tokens[i]; !tok.joined && tok.comma == x.tokens[i-1].comma {
			return false
		}
	}
	return true
}

// framed reports whether a single word, not an everyday one, is all that its verb asks for or
// all of an item: no word that carries meaning stands directly beside it.
func (x *extraction) framed(m *mention) bool {
	tok := x.tokens[m.first]
	if riskyNames(strings.ToLower(x.doc[tok.start:tok.end])) {
		return false
	}
	before, after := x.neighbours(m)
	if before {
		w := x.lower(int(m.first) - 1)
		before = verbLevel(w, true) == 0 && !learning(w) && !degrees(w)
	}
	return !before && (!after || learning(x.lower(int(m.last)+1)))
}

// lower returns the word of a token in lower case.
func (x *extraction) lower(i int) string {
	return strings.ToLower(x.doc[x.tokens[i].start:x.tokens[i].end])
}

// degrees are words of titles that say how far a course goes.
var degrees = set(`advanced introductory intermediate elementary beginning basic applied fundamental`)

// teaches reports whether a line is where the document says what is taught.
func teaches(b *block) bool {
	return b.section != readings && (b.business == 0 || b.section != other)
}

// asWritten reports whether the words of a mention have the endings of its label's.
func (x *extraction) asWritten(m *mention) bool {
	same, _ := x.agreement(m)
	return same == 1
}

// agreement compares the words of a mention with those of the label that have their
// stems: the share that has the same ending, and the least likeness of meaning. The verb
// that an alias begins with may stand there as a command: manage time for managing time.
func (x *extraction) agreement(m *mention) (same, meaning float64) {
	label := x.t.LabelText(int(m.label))
	n := 0.0
	meaning = 1
	skills.EachWord(label, func(s, e int) {
		word := strings.ToLower(label[s:e])
		stem := x.stem(word)
		if stem < 0 || functionWords(word) {
			return
		}
		for i := m.first; i <= m.last; i++ {
			tok := x.tokens[i]
			if tok.stem != stem {
				continue
			}
			n++
			if written := strings.ToLower(x.doc[tok.start:tok.end]); written == word ||
				strings.TrimSuffix(written, "s") == strings.TrimSuffix(word, "s") ||
				!x.passage && (m.kind == alternative || m.kind == synonym) && s == 0 && m.matched > 1 &&
					strings.HasSuffix(word, "ing") {
				same++
			} else if own := x.table.find(word); own >= 0 && tok.word >= 0 {
				meaning = min(meaning, x.table.alike(own, tok.word))
			}
			return
		}
	})
	return same / max(1, n), meaning
}

// neighbours reports whether words that carry meaning stand directly next to a
// mention, with nothing but a space between.
func (x *extraction) neighbours(m *mention) (before, after bool) {
	joined := func(i int32) bool {
		a, b := x.tokens[i], x.tokens[i+1]
		return a.clause == b.clause && strings.Trim(x.doc[a.end:b.start], " -") == ""
	}
	c := x.clauses[m.clause]
	return int(m.first) > c.first && joined(m.first-1), int(m.last)+1 < c.last && joined(m.last)
}

// riskyNames are tools and languages that share their name with a letter or an
// everyday word.
var riskyNames = set(`c r d go less swift ruby rust scala shiny spring express access word excel outlook sketch
		ada basic chef puppet salt spark scratch source unity shiva rage absorb canvas eclipse julia dart flask
		hive pig storm sass groovy ml assembly project angular react grade`)

// mostGoverned mentions of a skill are asked for their verb: a course has far fewer.
const mostGoverned = 100

// maxEvidence is how many quotes are returned for a skill.
const maxEvidence = 3

// shown is a mention with the verb that governs it.
type shown struct {
	mention int32
	verb    string
	level   int
	printed bool
}

// level returns a skill's level, the highest over its mentions, and the mentions
// that are shown: the one that decided the level, and the strongest. Where no verb governs
// any of them, a skill that is done has the level of the verb with which its name begins if
// that word stands there, and is applied at most if not.
func (x *extraction) level(f *finding) (int, []shown) {
	knowledge := x.t.Kind(int(f.skill)) == "knowledge"
	var all []shown
	for _, i := range f.mentions {
		if len(all) == mostGoverned {
			break
		}
		if x.counts(f, i) {
			all = append(all, x.governing(i, knowledge))
		}
	}
	if slices.ContainsFunc(all, func(s shown) bool { return s.printed }) {
		for i := range all {
			if !all[i].printed {
				all[i].level = 0
			}
		}
	}
	level := 0
	for _, s := range all {
		level = max(level, s.level)
	}
	slices.SortStableFunc(all, func(a, b shown) int {
		if top := b2i(b.level == level) - b2i(a.level == level); top != 0 && level > 0 {
			return top
		}
		return cmp.Compare(x.mentions[b.mention].strength, x.mentions[a.mention].strength)
	})
	all = all[:min(len(all), maxEvidence)]
	if verb, own := ownVerb(x.t.Name(int(f.skill))); level == 0 && own > 0 && !knowledge {
		level = min(own, applied)
		if i := slices.IndexFunc(all, func(s shown) bool { return x.stands(verb, s.mention) }); i >= 0 {
			level, all[i].verb = own, verb
		}
	}
	return cmp.Or(level, unknownLevel), all
}

// counts reports whether a mention of a skill says about as much as the best one.
func (x *extraction) counts(f *finding, mention int32) bool {
	m, best := &x.mentions[mention], &x.mentions[f.best]
	return mention == f.best ||
		(m.exact || m.strength >= 0.6*best.strength && m.share >= 0.5*best.share) && (!m.beaten || best.beaten)
}

// stands reports whether a word, in any of its forms, is among the words of a mention.
func (x *extraction) stands(word string, mention int32) bool {
	m := &x.mentions[mention]
	stem := x.stem(strings.ToLower(word))
	return stem >= 0 && slices.ContainsFunc(x.tokens[m.first:m.last+1], func(t token) bool { return t.stem == stem })
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// governing finds the verb that governs a mention and the level that follows: a
// level printed on the line wins; 0 where there is neither. A verb governs its own
// clause, or the whole line of an outcome where the clause has none.
func (x *extraction) governing(mention int32, knowledge bool) shown {
	m := &x.mentions[mention]
	c := x.clauses[m.clause]
	b := x.blocks[c.block]
	if b.section == readings {
		return shown{mention: mention}
	}
	start, end := x.around(c)
	said := x.says(start, end)
	at, to := x.tokens[m.first].start, x.tokens[m.last].end
	var g governor
	switch b.section {
	case title:
	case topics:
		g = subjectVerb(x.doc[c.start:c.end], at-c.start, knowledge)
	default:
		verbs := between(said.verbs, c.start-start, c.end-start)
		if len(verbs) == 0 && b.section == outcomes {
			verbs = said.verbs
		}
		loose := !x.passage && (b.section == description || b.section == other)
		g = governed(verbs, to-1-start).reaching(x.doc[start:end], at-start, knowledge, loose)
	}
	if said.printed > 0 {
		g.level = said.printed
	}
	return shown{mention, g.verb, g.level, said.printed > 0}
}

// saying is the information of a line about levels.
type saying struct {
	verbs   []governor
	printed int
}

// says returns the information of a part of the document about levels, computed once for all
// skills in it.
func (x *extraction) says(start, end int) saying {
	s, ok := x.sayings[[2]int{start, end}]
	if !ok {
		line := x.doc[start:end]
		s = saying{governors(line), printedLevel(line)}
		x.sayings[[2]int{start, end}] = s
	}
	return s
}

// places converts byte offsets to code points and pages.
type places struct {
	doc   catalog.SyllabusText
	bytes []int // byte offsets, every stride code points
}

const placeStride = 256

func newPlaces(doc catalog.SyllabusText) *places {
	p := &places{doc: doc}
	n := 0
	for i := range doc.Text {
		if n%placeStride == 0 {
			p.bytes = append(p.bytes, i)
		}
		n++
	}
	return p
}

func (p *places) point(offset int) int {
	i, ok := slices.BinarySearch(p.bytes, offset)
	if ok {
		return i * placeStride
	}
	if i--; i < 0 {
		return utf8.RuneCountInString(p.doc.Text[:offset])
	}
	return i*placeStride + utf8.RuneCountInString(p.doc.Text[p.bytes[i]:offset])
}

func (p *places) page(offset int) int {
	n := 0
	for _, start := range p.doc.Pages {
		if start <= offset {
			n++
		}
	}
	return max(1, n)
}

// maxQuote is the length of a clause, in bytes, beyond which only the matched words are
// quoted.
const maxQuote = 240

func (x *extraction) evidence(id string, s shown, p *places) catalog.Evidence {
	m := &x.mentions[s.mention]
	c := x.clauses[m.clause]
	start, end := c.start, c.end
	if end-start > maxQuote {
		start, end = x.tokens[m.first].start, x.tokens[m.last].end
	}
	return catalog.Evidence{
		SkillID: id, Quote: x.doc[start:end], Page: p.page(start), Start: p.point(start), End: p.point(end),
		Label: x.t.LabelText(int(m.label)), Verb: s.verb, Section: x.blocks[c.block].section.String(),
	}
}
