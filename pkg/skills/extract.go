package skills

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/abadojack/whatlanggo"

	"skillscurriculum/pkg/catalog"
)

// Engine names this extractor in provenance; it changes whenever its results may.
const Engine = "skillscurriculum/1.1"

// Extractor finds the skills that a document teaches. It is safe for concurrent
// use and keeps its working memory between documents.
type Extractor struct {
	t    *Taxonomy
	pool sync.Pool
}

// NewExtractor makes an extractor for a taxonomy.
func NewExtractor(t *Taxonomy) *Extractor {
	e := &Extractor{t: t}
	e.pool.New = func() any {
		return &extraction{t: t, cache: map[string]int32{},
			stamped: make([]int32, t.stems.len()), position: make([]int32, t.stems.len()), tried: make([]int32, t.labels.rows())}
	}
	return e
}

// Result is what Extract found. Skills are ordered by confidence and level, both
// descending, then by name; every skill has at least one piece of evidence, and
// evidence follows the order of the skills.
type Result struct {
	Skills   []catalog.SkillRef
	Evidence []catalog.Evidence
	Warnings []catalog.Warning
}

// The warnings that tell why a document gave no skills.
const (
	LanguageNotCovered = "language_not_covered"
	VocabularyMismatch = "vocabulary_mismatch"
)

// extraction is the working memory for one document.
type extraction struct {
	t       *Taxonomy
	doc     string
	blocks  []block
	tokens  []token
	clauses []clause

	mentions []mention
	found    map[int32]*finding

	words, functions, known int // words in all, function words, words that the vocabulary knows
	passage                 bool
	capitals                bool // some word begins with a capital

	cache                    map[string]int32 // word -> stem
	stamped, position, tried []int32          // per stem and label, valid where equal to round
	round                    int32
}

// finding gathers the mentions of one skill.
type finding struct {
	skill      int32
	mentions   []int32
	best       int32
	exact      [labelKinds]bool
	in         [sections]bool
	heading    bool
	beaten     bool
	risky      bool
	capitals   bool
	wordBefore bool
	wordAfter  bool

	namedInOutcomes bool
	namedAlone      bool
	shared          int
	filled          float64

	share        float64
	clauses      int
	labels       int
	likeClause   float64
	likeDocument float64
	field        float64
}

// maxCachedWords bounds the word cache that an extractor keeps.
const maxCachedWords = 1 << 16

func (e *Extractor) begin(text string) *extraction {
	x := e.pool.Get().(*extraction)
	x.doc = text
	x.blocks = blocks(text)
	x.tokens, x.clauses, x.mentions = x.tokens[:0], x.clauses[:0], x.mentions[:0]
	x.words, x.functions, x.known, x.capitals = 0, 0, 0, false
	x.found = map[int32]*finding{}
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
	x.doc, x.blocks, x.found = "", nil, nil
	e.pool.Put(x)
}

// Extract gives the skills of a document whose confidence reaches the default
// cut. The same document, taxonomy and engine give the same result, always.
func (e *Extractor) Extract(doc catalog.SyllabusText) Result {
	x := e.begin(doc.Text)
	defer e.end(x)
	x.tokenize()
	result := Result{Skills: []catalog.SkillRef{}, Evidence: []catalog.Evidence{}, Warnings: []catalog.Warning{}}
	if !x.covered() {
		result.Warnings = append(result.Warnings, catalog.Warning{Code: LanguageNotCovered,
			Message: "The text is not in a language that the taxonomy " + e.t.info.Name + " covers here (English); no skills were looked for."})
		return result
	}
	m := fitted().of(x.passage)
	cut := m.Cut
	if x.words < passageWords && m.ShortCut > 0 {
		cut = m.ShortCut
	}
	type given struct {
		ref catalog.SkillRef
		f   *finding
	}
	var all []given
	findings := x.findings()
	scores := make([]float64, len(findings))
	for i, f := range findings {
		scores[i] = m.Score(x.features(f))
	}
	m.Rerank(scores, x.words)
	for i, f := range findings {
		if c := m.Confidence(scores[i]); c >= cut && c > 0 {
			all = append(all, given{catalog.SkillRef{SkillID: e.t.id(int(f.skill)), SkillName: e.t.name(int(f.skill)), Confidence: c}, f})
		}
	}
	place := newPlaces(doc)
	evidence := map[string][]catalog.Evidence{}
	for _, g := range all {
		level, shown := x.level(g.f)
		g.ref.Level = level
		result.Skills = append(result.Skills, g.ref)
		for _, s := range shown {
			evidence[g.ref.SkillID] = append(evidence[g.ref.SkillID], x.evidence(g.ref.SkillID, s, place))
		}
	}
	order(result.Skills)
	for _, ref := range result.Skills {
		result.Evidence = append(result.Evidence, evidence[ref.SkillID]...)
	}
	if len(all) == 0 && x.words >= 60 && float64(x.known) < 0.5*float64(x.words-x.functions) {
		result.Warnings = append(result.Warnings, catalog.Warning{Code: VocabularyMismatch,
			Message: "The taxonomy " + e.t.info.Name + " knows few of the text's words: it may well teach skills that this vocabulary does not cover."})
	}
	return result
}

// Candidates gives every skill that was considered, with its features, ordered by
// id: what calibration learns from.
func (e *Extractor) Candidates(doc catalog.SyllabusText) []Candidate {
	x := e.begin(doc.Text)
	defer e.end(x)
	x.tokenize()
	if !x.covered() {
		return nil
	}
	var all []Candidate
	for _, f := range x.findings() {
		all = append(all, Candidate{SkillID: e.t.id(int(f.skill)), Features: x.features(f), Passage: x.passage, Words: x.words})
	}
	return all
}

const (
	passageWords      = 120  // below which a text is a passage
	leastLanguageText = 12   // words below which the language cannot be told
	englishFunctions  = 0.15 // share of English function words that only English has
	englishKnown      = 0.5  // share of the other words that an English vocabulary knows only of English
	likelyKnown       = 0.4  // the same where statistics over letters cannot tell
)

// covered says whether the text is in the vocabulary's language. Lists of terms
// have few function words and mislead statistics over letters, so that these are
// asked last.
func (x *extraction) covered() bool {
	if !latin(x.doc) {
		return false
	}
	content := float64(x.words - x.functions)
	if x.words < leastLanguageText || float64(x.functions) >= englishFunctions*float64(x.words) || float64(x.known) >= englishKnown*content {
		return true
	}
	guess := whatlanggo.Detect(x.doc)
	return guess.Lang == whatlanggo.Eng || !guess.IsReliable() && float64(x.known) >= likelyKnown*content
}

// latin says whether most letters of a text are Latin.
func latin(text string) bool {
	script, letters := 0, 0
	for _, r := range text {
		switch {
		case r < 128 && (r|32) >= 'a' && (r|32) <= 'z', r >= 0xC0 && r < 0x250:
			script++
			letters++
		case r >= 0x250 && wordRune(r):
			letters++
		}
	}
	return 2*script >= letters
}

// findings gathers the mentions by skill and rates each skill as a whole.
func (x *extraction) findings() []*finding {
	x.propose()
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
	document := x.vector(0, len(x.tokens))
	fields := map[int]float64{}
	total := 0.0
	for _, f := range found {
		x.summarize(f)
		if !f.beaten && f.share > 0.9 {
			s := x.mentions[f.best].strength
			fields[x.t.skills.get(int(f.skill), skillField)] += s
			total += s
		}
	}
	for _, f := range found {
		c := x.clauses[x.mentions[f.best].clause]
		f.likeClause = x.likeness(x.vector(c.first, c.last), f.skill)
		f.likeDocument = x.likeness(document, f.skill)
		if total > 0 {
			f.field = fields[x.t.skills.get(int(f.skill), skillField)] / total
		}
	}
	return found
}

// summarize chooses the best mention and notes where and how the skill stands.
func (x *extraction) summarize(f *finding) {
	f.best = f.mentions[0]
	seen := map[int32]bool{}
	f.wordBefore, f.wordAfter = x.neighbours(&x.mentions[f.best])
	rate := func(i int32) float64 {
		m := &x.mentions[i]
		r := m.strength * (0.5 + 0.5*m.share)
		if x.blocks[x.clauses[m.clause].block].section == readings {
			r *= 0.5
		}
		return r
	}
	for _, i := range f.mentions {
		m := &x.mentions[i]
		b := x.blocks[x.clauses[m.clause].block]
		if rate(i) > rate(f.best) {
			f.best = i
		}
		if m.exact && b.section != readings {
			f.exact[m.kind] = true
			before, after := x.neighbours(m)
			f.wordBefore = f.wordBefore && before
			f.wordAfter = f.wordAfter && after
		}
		if c := x.clauses[m.clause]; m.coverage > 0.75 && b.section != readings {
			f.filled = max(f.filled, float64(m.matched)/float64(c.last-c.first))
			if m.exact && (m.kind == preferred || m.kind == synonym || m.kind == bare) {
				f.namedInOutcomes = f.namedInOutcomes || b.section == outcomes && !b.heading
				f.namedAlone = f.namedAlone || int(m.matched) == c.last-c.first
			}
		}
		if m.coverage > 0.75 {
			f.in[b.section] = true
			f.heading = f.heading || b.heading
			f.clauses++
			if !seen[m.label] {
				seen[m.label] = true
				f.labels++
			}
		}
		f.beaten = f.beaten && m.beaten
		f.share = max(f.share, m.share)
	}
	f.clauses, f.labels = max(1, f.clauses), max(1, f.labels)
	best := &x.mentions[f.best]
	f.shared = int(best.shared)
	if f.filled == 0 {
		c := x.clauses[best.clause]
		f.filled = float64(best.matched) / float64(c.last-c.first)
	}
	tok := x.tokens[best.first]
	f.in[x.blocks[x.clauses[best.clause].block].section] = true
	if best.matched == 1 {
		word := x.doc[tok.start:tok.end]
		label := x.t.text(x.t.labels.get(int(best.label), labelText))
		asWritten := strings.Contains(label, word) || tok.upper && len(word) > 1 && strings.EqualFold(label, strings.TrimSuffix(word, "s"))
		// At the beginning of a clause every word has its capital.
		f.risky = riskyNames(strings.ToLower(word)) && (!asWritten || int(best.first) == x.clauses[best.clause].first)
		f.capitals = asWritten && (tok.upper || tok.initial && int(best.first) != x.clauses[best.clause].first)
	}
}

// neighbours says whether words that carry meaning stand directly beside a
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
var riskyNames = set(`c r d go less swift ruby rust scala shiny spring express access word excel outlook sketch ada basic chef puppet salt spark scratch source unity shiva rage absorb
	canvas eclipse julia dart flask git hive pig storm sass groovy ml assembly project angular react grade`)

// vector is the sum of the tokens' places in the space, rarer words first.
func (x *extraction) vector(first, last int) []float64 {
	v := make([]float64, dims)
	for _, tok := range x.tokens[first:last] {
		if tok.stem < 0 {
			continue
		}
		w := x.t.weights.float(int(tok.stem))
		for d, b := range x.t.vectors[int(tok.stem)*dims : (int(tok.stem)+1)*dims] {
			v[d] += w * float64(int8(b))
		}
	}
	return v
}

// likeness is the cosine of a vector and a skill's place, 0 where it is negative.
func (x *extraction) likeness(v []float64, skill int32) float64 {
	at := (x.t.stems.len() + int(skill)) * dims
	dot, n, m := 0.0, 0.0, 0.0
	for d, b := range x.t.vectors[at : at+dims] {
		s := float64(int8(b))
		dot += v[d] * s
		n += v[d] * v[d]
		m += s * s
	}
	if n == 0 || m == 0 {
		return 0
	}
	return max(0, dot/math.Sqrt(n*m))
}

// mostMentions of a skill are asked for their verb: a course has far fewer.
const mostMentions = 100

// maxEvidence is how many places are shown for a skill.
const maxEvidence = 3

// shown is a mention with the verb that governs it.
type shown struct {
	mention int32
	verb    string
	level   int
	printed bool
}

// level gives a skill's level, the highest over its mentions, and the mentions
// that are shown: the one that decided the level, and the strongest.
func (x *extraction) level(f *finding) (int, []shown) {
	best := x.mentions[f.best]
	var all []shown
	for _, i := range f.mentions {
		m := &x.mentions[i]
		if len(all) == mostMentions {
			break
		}
		if i != f.best && (!m.exact && (m.strength < 0.6*best.strength || m.share < 0.5*best.share) || m.beaten && !best.beaten) {
			continue
		}
		verb, level, printed := x.governed(m)
		all = append(all, shown{i, verb, level, printed})
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
	if level == 0 {
		level = unknownLevel
	}
	return level, all[:min(len(all), maxEvidence)]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// governed finds the verb that governs a mention and the level that follows: a
// level printed on the line wins; 0 where there is neither.
func (x *extraction) governed(m *mention) (verb string, level int, printed bool) {
	c := x.clauses[m.clause]
	b := x.blocks[c.block]
	if b.section == readings {
		return "", 0, false
	}
	start, end := x.around(c)
	line := x.doc[start:end]
	if b.section == topics || b.section == title {
		first, _, _ := strings.Cut(x.doc[c.start:c.end], " ")
		if b.section == topics && subjectVerbs(strings.ToLower(first)) {
			verb, level = governing(x.doc[c.start:c.end], x.tokens[m.first].start-c.start)
		}
	} else {
		verb, level = governing(line, x.tokens[m.first].start-start)
	}
	if p := printedLevel(line); p > 0 {
		return verb, p, true
	}
	return verb, level, false
}

// places turns byte offsets into code points and pages.
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

// maxQuote is the length in bytes beyond which the quote is the words that
// matched rather than their clause.
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
		Label: x.t.text(x.t.labels.get(int(m.label), labelText)), Verb: s.verb, Section: x.blocks[c.block].section.String(),
	}
}
