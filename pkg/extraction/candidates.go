package extraction

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillscurriculum/pkg/skills"
)

// token is a word of the document that carries meaning.
type token struct {
	start, end int   // bytes in the document
	stem       int32 // index in the taxonomy's vocabulary, -1 for a word that no label has
	word       int32 // row of the word table, -1 for a word that it lacks
	also       []int32
	clause     int32 // tokens of one clause stand together
	comma      int32 // counts the commas before it in its clause
	upper      bool  // written in capitals, or with a capital inside
	initial    bool  // begins with a capital
	joined     bool  // and, or stands between it and the token before
}

// clause is a run of tokens inside one block, between full stops, colons,
// semicolons and dashes.
type clause struct {
	first, last int // tokens first <= i < last
	start, end  int // bytes, for the quote
	block       int
}

// tokenize splits blocks into clauses and words, and determines whether the text is a
// passage or a document with parts.
func (x *extraction) tokenize(ctx context.Context) error {
	for bi, b := range x.blocks {
		if b.section.silent() || b.heading && b.section != title && structural(x.doc[b.start:b.end]) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		line := unmarked(x.doc[b.start:b.end])
		if b.section != outcomes && b.section != topics {
			line = withoutNotices(line)
		}
		last, comma, joined := 0, int32(0), false
		open := len(x.tokens)
		from := 0
		flush := func(to int) {
			if len(x.tokens) > open {
				s, e := trimmed(x.doc, b.start+from, b.start+to)
				x.clauses = append(x.clauses, clause{first: open, last: len(x.tokens), start: s, end: e, block: bi})
			}
			open, comma, from = len(x.tokens), 0, to
		}
		skills.EachWord(line, func(s, e int) {
			switch gap := line[last:s]; {
			case breaks(gap) && !abbreviates(line[:last], gap):
				flush(last)
				from = s
			case strings.ContainsAny(gap, ",()"):
				comma++
			}
			last = e
			x.count++
			w := line[s:e]
			lower := strings.ToLower(w)
			if clipped(line, s, e) {
				return
			}
			if functionWords(lower) && !(len(lower) == 1 && w != lower) && !(lower == "it" && w == "IT") {
				x.functions++
				joined = joined || lower == "and" || lower == "or"
				return
			}
			if computing(lower) {
				x.tools = append(x.tools, b.start+s)
			}
			stem := x.stem(lower)
			if stem >= 0 {
				x.known++
			}
			r, _ := utf8.DecodeRuneInString(w)
			if len(x.tokens)-open == longestClause {
				flush(s)
				from = s
			}
			x.tokens = append(x.tokens, token{start: b.start + s, end: b.start + e, stem: stem, word: x.table.find(lower),
				clause: int32(len(x.clauses)), comma: comma,
				initial: unicode.IsUpper(r), upper: capitals(w), joined: joined})
			joined = false
			x.capitals = x.capitals || unicode.IsUpper(r)
		})
		flush(len(line))
	}
	x.passage = x.isPassage()
	x.acronyms()
	return nil
}

// isPassage reports whether a text is a sentence or two that neither describe a course nor state an outcome. The
// built-in vocabulary has no model for such: it was made for courses.
func (x *extraction) isPassage() bool {
	if x.curated || x.count >= statementWords || len(x.blocks) != 1 || strings.Count(x.doc, ";") >= leastItems {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimSpace(x.doc), " ")
	return x.blocks[0].section != outcomes && x.blocks[0].section != topics && verbLevel(first, false) == 0 &&
		!courseWords().MatchString(x.doc)
}

// leastItems semicolons make a line a list of topics.
const leastItems = 3

// courseWords tell the description of a course from other short texts.
var courseWords = pattern(`^[A-Z]{2,5}[ -]?\d{2,4}[A-Z]?\b|(?i)\b(?:this course|the course|` +
	`course (?:covers|introduces|provides|focuses)|students?|learners?|syllabus|module \d|unit \d|introduction to|introduces|` +
	`(?:a|an) (?:study|survey|overview|introduction|examination|exploration) of|(?:survey|overview) of|` +
	`topics (?:include|covered|will)|emphasis (?:is |will be )?(?:placed )?on|prerequisites?)\b`)

// unmarked blanks text that does not describe skills: the level of an outcome, the
// number of a module, citation marks, addresses, names of sites and files, and
// placeholders that programs fill in.
func unmarked(line string) string {
	if m := numbered().FindStringIndex(line); m != nil {
		line = strings.Repeat(" ", m[1]) + line[m[1]:]
	}
	blank := func(s string) string { return strings.Repeat(" ", len(s)) }
	if strings.ContainsAny(line, "[(*") || strings.Contains(line, "evel") {
		line = besides().ReplaceAllStringFunc(line, blank)
	}
	if strings.ContainsAny(line, "/@{`") || strings.Contains(line, ".") {
		line = addresses().ReplaceAllStringFunc(line, blank)
	}
	return line
}

// addresses are URLs, e-mail addresses, sites, files with their endings, and
// placeholders of templates.
var addresses = pattern(`(?i)(?:https?://|www\.)[^\s)\]>]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\{[{%][^}]*[%}]?\}|` +
	`\b[\w-]+(?:\.[\w-]+)*\.(?:com|org|edu|gov|io|ai|ac\.uk|co\.uk|net/)\b[^\s),;]*|\b[\w/-]+\.(?:pdf|html?|docx?|` +
	`pptx?|xlsx?|ipynb|md|csv|txt|zip|png|jpe?g|ya?ml|json|py|qmd|rmd)\b|(?:\.{1,2}|~)/[\w./-]+`)

var besides = pattern(`\[cite[^\]]*\]|(?i)[\[(]?\s*(?:cognitive(?: knowledge)?|knowledge|` +
	`bloom\S*(?: taxonomy)?) level\s*[:=–-]?\s*[\w &,/]*[\])]?|[\[(]\s*(?:remember|understand|apply|analy[sz]e|` +
	`evaluate|create|(?:k|bl|btl)-?\d(?:\s*[,&-]\s*k?-?\d)*)\s*[\])]`)

// breaks reports whether the text between two words ends a clause.
func breaks(gap string) bool {
	for i, r := range gap {
		switch r {
		case ';', ':', '!', '?', '–', '—', '•', '|':
			return true
		case '.':
			if rest := gap[i+1:]; rest == "" || rest[0] != ' ' && rest[0] != ')' {
				continue
			}
			return true
		case '-':
			if i > 0 && gap[i-1] == ' ' && strings.HasPrefix(gap[i+1:], " ") {
				return true
			}
		}
	}
	return false
}

// abbreviates reports whether a full stop belongs to the initial of a name or the v. of a case, with which the text
// before it ends.
func abbreviates(before, gap string) bool {
	return gap == ". " && abbreviation().MatchString(before[max(0, len(before)-maxInitialed):])
}

const maxInitialed = 24 // bytes before a full stop that are looked at

var abbreviation = pattern(`(?:\b[A-Z][a-z]+ |\b[A-Z]\. ?|^)[A-Z]$|\b[A-Z]\w* vs?$`)

func trimmed(text string, start, end int) (int, int) {
	cut := func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;:*_", r) }
	s := text[start:end]
	start += len(s) - len(strings.TrimLeftFunc(s, cut))
	return start, start + len(strings.TrimFunc(s, cut))
}

// capitals reports whether a word has a capital after its first letter, such as SQL, IoT or
// GitHub, or is a single capital.
func capitals(w string) bool {
	for i, r := range w {
		if i > 0 && unicode.IsUpper(r) || utf8.RuneCountInString(w) == 1 && unicode.IsUpper(r) {
			return true
		}
	}
	return false
}

// stem returns the index of a word's stem in the vocabulary, or -1. Compounds of known
// words (multithreaded, workflow) stay unknown, because guessing costs precision.
func (x *extraction) stem(lower string) int32 {
	if s, ok := x.cache[lower]; ok {
		return s
	}
	s, ok := x.stems[fold(lower)]
	if !ok {
		s = -1
	}
	x.cache[strings.Clone(lower)] = s
	return s
}

// acronyms finds long forms that the document abbreviates in brackets, such as
// "product lifecycle management (PLM)", and lets the short form stand for them
// wherever it occurs.
func (x *extraction) acronyms() {
	long := map[string][]int32{}
	for i := 1; i < len(x.tokens); i++ {
		tok := x.tokens[i]
		word := x.doc[tok.start:tok.end]
		if !tok.upper || len(word) < 2 || len(word) > 6 || tok.start == 0 || x.doc[tok.start-1] != '(' {
			continue
		}
		letters := []rune(strings.ToLower(word))
		k := i - len(letters)
		if k < 0 || x.tokens[k].clause != tok.clause && x.clauses[tok.clause].block != x.clauses[x.tokens[k].clause].block {
			continue
		}
		fits := true
		var stems []int32
		for j, l := range letters {
			r, _ := utf8.DecodeRuneInString(x.doc[x.tokens[k+j].start:])
			fits = fits && unicode.ToLower(r) == l && x.tokens[k+j].stem >= 0
			stems = append(stems, x.tokens[k+j].stem)
		}
		if fits {
			long[word] = stems
		}
	}
	if len(long) == 0 {
		return
	}
	for i := range x.tokens {
		if tok := &x.tokens[i]; tok.upper {
			tok.also = long[x.doc[tok.start:tok.end]]
		}
	}
}

// mention is one place where a label may stand.
type mention struct {
	skill, label int32
	clause       int32
	first, last  int32 // the first and the last token that matched
	matched      int32 // number of tokens that matched
	tokens       uint64
	kind         int8
	shared       int32   // number of labels with the same words
	namesake     bool    // the vocabulary has another skill of this name or alias
	alone        bool    // no other skill has this name, alias or synonym
	named        bool    // a name, alias or synonym that is no other skill's stands here as written
	own          bool    // a label that means this skill does
	kinds        uint16  // the kinds of label that stand here whole, a bit each
	exact        bool    // the whole label, its words side by side
	coverage     float64 // share of the label's weight that matched
	weight       float64 // weight that matched
	gap          int32   // words between the first and last that did not match
	commas       int32   // commas between them
	strength     float64
	share        float64 // of the strongest mention that shares a word
	beaten       bool    // every word of it belongs to a stronger mention that has more words
	within       bool    // and to one of a whole label
}

const (
	// leastCoverage of a label's weight must stand in a clause.
	leastCoverage = 0.6
	// leastWeight that must match, so that generic words alone are not a candidate.
	leastWeight = 0.25
	// widestGap between the words of one label.
	widestGap = 5
	// wordCoverage is the least for a single word: what is missing must say little.
	wordCoverage = 0.75
	// longestClause bounds the words that may stand together.
	longestClause = 60
	// mostMentions bounds what one document may propose: a book of 300 pages has fewer.
	mostMentions = 500_000
	// mentionsPerClause bounds what one clause may propose besides skills that it names.
	mentionsPerClause = 48
)

// kindStrength weighs the kinds of label against each other.
var kindStrength = [skills.LabelKinds]float64{
	preferred: 1.1, alternative: 0.95, hidden: 0.95, bare: 1.05, synonym: 1.05, topic: 0.9, object: 0.95,
	counterpart: 1.05, part: 0.9,
}

// propose collects the mentions of every clause, up to mostMentions in all.
func (x *extraction) propose(ctx context.Context) error {
	for ci := range x.clauses {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := len(x.mentions)
		if from >= mostMentions {
			break
		}
		x.phrases(ci)
		x.containment(ci)
		x.settle(from)
	}
	return nil
}

// phrases finds labels whose words stand side by side.
func (x *extraction) phrases(ci int) {
	c := x.clauses[ci]
	for i := c.first; i < c.last; i++ {
		lo, hi := 0, x.t.Labels()
		for j := i; j < min(c.last, i+maxLabelTokens) && lo < hi; j++ {
			stem := x.tokens[j].stem
			if stem < 0 || x.tokens[j].comma != x.tokens[i].comma {
				break
			}
			lo, hi = x.narrow(lo, hi, j-i, int(stem))
			x.complete(ci, lo, hi, i, j, j-i+1)
		}
		if long := x.tokens[i].also; long != nil {
			lo, hi := 0, x.t.Labels()
			for k, stem := range long {
				lo, hi = x.narrow(lo, hi, k, int(stem))
			}
			x.complete(ci, lo, hi, i, i, len(long))
		}
	}
}

// complete records the labels of a range that have exactly length words.
func (x *extraction) complete(ci, lo, hi, first, last, length int) {
	if length == 1 && x.doubtful(ci, first) {
		return
	}
	shared := lo
	for shared < hi && x.length(shared) == length {
		shared++
	}
	namesake, alone := x.namesakes(lo, shared)
	for l := lo; l < hi && x.length(l) == length; l++ {
		if x.coordinated(first, last) && !coordinates(x.t.LabelText(l)) {
			continue // "architecture and design" does not name architectural design
		}
		if strings.HasPrefix(x.t.LabelText(l), "how ") && !x.asks(ci, first) {
			continue // "students learn to weld" does not name how students learn
		}
		if length == 1 && (!x.literal(l, ci, first) ||
			!x.passage && x.t.Kind(x.t.LabelSkill(l)) == "language" && x.adjective(ci, last)) {
			continue
		}
		weight := x.weight(l)
		x.mentions = append(x.mentions, mention{
			skill: int32(x.t.LabelSkill(l)), label: int32(l), clause: int32(ci), first: int32(first), last: int32(last),
			matched: int32(last - first + 1), tokens: x.mask(ci, first, last), kind: int8(x.t.LabelKind(l)), exact: true,
			coverage: 1, weight: weight, shared: int32(shared - lo), namesake: namesake(l),
			alone: alone,
		})
	}
}

// literal reports whether a label of which only one word carries meaning, such as "free will" or "how to sell", stands
// at a token with all its words; an article before it may be left out where both have a capital.
func (x *extraction) literal(label, ci, at int) bool {
	text := x.t.LabelText(label)
	if !strings.Contains(text, " ") {
		return true
	}
	tok, b, stem := x.tokens[at], x.blocks[x.clauses[ci].block], x.t.LabelStems(label).At(0)
	before := words(x.doc[max(b.start, tok.start-aheadBytes):tok.start])
	after := words(x.doc[tok.end:min(b.end, tok.end+aheadBytes)])
	all := words(text)
	i := slices.IndexFunc(all, func(w string) bool { return x.stem(strings.ToLower(w)) == int32(stem) })
	if i < 0 {
		return true // the word is written in another way, such as in two
	}
	same := func(a, b string) bool { return a == b || a != strings.ToUpper(a) && strings.EqualFold(a, b) }
	if i == 1 && strings.EqualFold(all[0], "the") && tok.initial && all[1] != strings.ToLower(all[1]) {
		all, i = all[1:], 0
	}
	return len(before) >= i && slices.EqualFunc(all[:i], before[len(before)-i:], same) &&
		len(after) >= len(all)-i-1 && slices.EqualFunc(all[i+1:], after[:len(all)-i-1], same)
}

func words(text string) (all []string) {
	skills.EachWord(text, func(start, end int) { all = append(all, text[start:end]) })
	return all
}

// asks reports whether a how stands before a token, with only function words between.
func (x *extraction) asks(ci, at int) bool {
	from := x.blocks[x.clauses[ci].block].start
	if at > x.clauses[ci].first {
		from = x.tokens[at-1].end
	}
	words := strings.Fields(strings.ToLower(x.doc[from:x.tokens[at].start]))
	return slices.Contains(words, "how")
}

// adjective reports whether the name of a language describes the word after it, which has nothing to do with language:
// "Latin America", "Italian fascism", not "Latin prose".
func (x *extraction) adjective(ci, at int) bool {
	if at+1 >= x.clauses[ci].last || x.doc[x.tokens[at].end:x.tokens[at+1].start] != " " {
		return false
	}
	next := x.lower(at + 1)
	return next[0] >= 'a' && next[0] <= 'z' && !linguistic(next)
}

// linguistic are words after the name of a language that leave it one.
var linguistic = set(`language languages grammar vocabulary composition conversation conversational prose poetry poems
	literature literary sentences sentence verbs nouns texts text passages words phrases reading writing speaking listening
	pronunciation phonetics phonology morphology syntax linguistics alphabet script characters dialogue dialogues
	translation interpreting instruction teacher teachers student students learners speakers speaker class classes course
	courses lessons lesson skills fluency proficiency level i ii iii iv is are taught using`)

// namesakes returns, of labels lo <= l < hi with the same words, whether another skill
// than that of a label has them as a name or alias, and whether one skill alone has them as a
// name, alias or synonym.
func (x *extraction) namesakes(lo, hi int) (namesake func(l int) bool, alone bool) {
	one, several, alone := -1, false, true
	first := -1
	for l := lo; l < hi; l++ {
		skill, kind := x.t.LabelSkill(l), int8(x.t.LabelKind(l))
		if named(kind) {
			several = several || one >= 0 && one != skill
			one = skill
		}
		if named(kind) || kind == synonym {
			alone = alone && (first < 0 || first == skill)
			first = skill
		}
	}
	return func(l int) bool { return several || one >= 0 && one != x.t.LabelSkill(l) }, alone
}

// named reports whether labels of a kind are the vocabulary's own names and aliases.
func named(kind int8) bool {
	return kind == preferred || kind == alternative || kind == hidden || kind == bare
}

// doubtful reports whether a word is an everyday word or a letter rather than the tool of
// that name: a word needs its capital and a neighbour from computing in the same
// block, or at least the neighbour where the document has no capitals; a letter
// without its capital, or in an abbreviation, needs the neighbour next to it. A sentence that has the word
// learned by its name needs no neighbour.
func (x *extraction) doubtful(ci, at int) bool {
	tok := x.tokens[at]
	word := x.doc[tok.start:tok.end]
	if !riskyNames(strings.ToLower(word)) {
		return false
	}
	beside := func(i int) bool {
		return i >= x.clauses[ci].first && i < x.clauses[ci].last &&
			computing(strings.ToLower(x.doc[x.tokens[i].start:x.tokens[i].end]))
	}
	if len(word) == 1 && (!tok.initial || x.slashed(tok)) {
		return !beside(at-1) && !beside(at+1)
	}
	if !tok.initial && x.capitals {
		return true
	}
	return !x.toolNear(ci, at) && !x.learned(ci, at)
}

// slashed reports whether a letter is part of an abbreviation such as A/R or R&D.
func (x *extraction) slashed(t token) bool {
	return t.start > 0 && strings.IndexByte("/&", x.doc[t.start-1]) >= 0 ||
		t.end < len(x.doc) && strings.IndexByte("/&", x.doc[t.end]) >= 0
}

// learned reports whether a word stands directly after a verb of learning, teaching or
// using, or makes up what an introduction is to, with a capital that the line gives to
// no other word but its first, and is not part of a longer name: "Students will learn
// Assembly", "Introduction to R", not "The course covers Spring Break" nor "learn the
// Basic Rules".
func (x *extraction) learned(ci, at int) bool {
	c := x.clauses[ci]
	tok := x.tokens[at]
	if at == c.first || !tok.initial {
		return false
	}
	word, gap := x.lower(at-1), x.doc[x.tokens[at-1].end:tok.start]
	if word == "introduction" && gap == " to " || degrees(word) && gap == " " {
		return at == c.first+1 && at == c.last-1
	}
	learnt := learning(word) && gap == " " || gained(word) && (gap == " in " || gap == " with ")
	if !learnt || x.blocks[c.block].heading {
		return false
	}
	if _, after := x.neighbours(&mention{clause: int32(ci), first: int32(at), last: int32(at)}); after {
		return false
	}
	for i := c.first + 1; i < c.last; i++ {
		if i != at && x.tokens[i].initial {
			return false
		}
	}
	return true
}

// gained are the nouns for what students have of a subject.
var gained = set(`experience proficiency skill skills competence fluency practice`)

// learning are the verbs whose object is what is taught.
var learning = set(`learn learns learning teach teaches teaching cover covers covering apply applies applying
		master use uses using`)

// amongTools reports whether a capitalized word that may be the name of a tool is an item
// of a list next to a word from computing: "Python, Access
// and SQL".
func (x *extraction) amongTools(ci, at int) bool {
	c := x.clauses[ci]
	tok := x.tokens[at]
	if !tok.initial || !riskyNames(strings.ToLower(x.doc[tok.start:tok.end])) {
		return false
	}
	item := func(a, b token) bool { return a.comma != b.comma || b.joined }
	tool := func(t token) bool { return computing(strings.ToLower(x.doc[t.start:t.end])) }
	before := at == c.first || item(x.tokens[at-1], tok)
	after := at == c.last-1 || item(tok, x.tokens[at+1])
	return before && after && (at > c.first && tool(x.tokens[at-1]) || at < c.last-1 && tool(x.tokens[at+1]))
}

// toolNear reports whether another word from computing is in the same block, as
// near as the words around a clause go.
func (x *extraction) toolNear(ci, at int) bool {
	start, end := x.around(x.clauses[ci])
	from, _ := slices.BinarySearchFunc(x.tools, start, func(t, start int) int { return t - start })
	for _, t := range x.tools[from:] {
		if t >= end {
			return false
		}
		if t != x.tokens[at].start {
			return true
		}
	}
	return false
}

// nearby is how many bytes of its block are looked at on each side of a clause:
// more than a paragraph has, so that only a text without line ends is cut.
const nearby = 1500

// around returns the block of a clause, or the part of a long one that is near.
func (x *extraction) around(c clause) (start, end int) {
	b := x.blocks[c.block]
	start, end = b.start, b.end
	if c.start-start > nearby {
		start = c.start - nearby
		for !utf8.RuneStart(x.doc[start]) {
			start++
		}
	}
	if end-c.end > nearby {
		end = c.end + nearby
		for !utf8.RuneStart(x.doc[end]) {
			end--
		}
	}
	return start, end
}

// computing are words that make a neighbour the name of a tool or language.
var computing = set(`programming program programs programmer language languages code coding script scripting
		software package packages framework frameworks library libraries statistical python java javascript typescript
		sql mysql matlab c++ c# php perl ruby html css sas spss stata scala kotlin swift docker kubernetes linux unix
		excel word powerpoint access outlook office microsoft ms apache github gitlab hadoop spark hive react angular
		vue node.js sass less bootstrap database databases nosql api apis app apps web frontend backend devops aws
		azure cloud compiler compilers developer development tool tools engine adobe google oracle jvm .net version
		control spreadsheet spreadsheets`)

// coordinated reports whether and, or stands among the tokens first..last.
func (x *extraction) coordinated(first, last int) bool {
	return slices.ContainsFunc(x.tokens[first+1:last+1], func(t token) bool { return t.joined })
}

func coordinates(label string) bool {
	return strings.Contains(label, " and ") || strings.Contains(label, " or ") || strings.Contains(label, "&") ||
		strings.Contains(label, "-or-")
}

func (x *extraction) mask(ci, first, last int) uint64 {
	var m uint64
	for i := first; i <= last; i++ {
		m |= 1 << min(63, i-x.clauses[ci].first)
	}
	return m
}

// narrow returns the labels lo <= l < hi, which agree in depth words, whose next
// word is stem. Labels are ordered by their words, so this is a binary search.
func (x *extraction) narrow(lo, hi, depth, stem int) (int, int) {
	at := func(l int) int {
		if stems := x.t.LabelStems(l); depth < stems.Len() {
			return stems.At(depth)
		}
		return -1
	}
	bound := func(limit int) int {
		a, b := lo, hi
		for a < b {
			if mid := (a + b) / 2; at(mid) < limit {
				a = mid + 1
			} else {
				b = mid
			}
		}
		return a
	}
	return bound(stem), bound(stem + 1)
}

// length returns how many stems a label has.
func (x *extraction) length(l int) int { return x.t.LabelStems(l).Len() }

// weight returns how much all stems of a label say.
func (x *extraction) weight(l int) float64 {
	w := 0.0
	stems := x.t.LabelStems(l)
	for i := range stems.Len() {
		w += x.t.Weight(stems.At(i))
	}
	return w
}

// containment finds labels most of whose weight is in the clause, in any order.
func (x *extraction) containment(ci int) {
	c := x.clauses[ci]
	x.round++
	stamp := func(stem int32, i int) {
		if stem >= 0 && x.stamped[stem] != x.round {
			x.stamped[stem], x.position[stem] = x.round, int32(i)
		}
	}
	for i := c.first; i < c.last; i++ {
		stamp(x.tokens[i].stem, i)
		for _, s := range x.tokens[i].also {
			stamp(s, i)
		}
	}
	for i := c.first; i < c.last; i++ {
		x.contained(ci, x.tokens[i].stem, i)
		for _, s := range x.tokens[i].also {
			x.contained(ci, s, i)
		}
	}
}

// contained tries the labels that one stem of the clause may lead to.
func (x *extraction) contained(ci int, stem int32, at int) {
	if stem < 0 || x.position[stem] != int32(at) {
		return // unknown, or met before in this clause
	}
	posts := x.t.Postings(int(stem))
	for p := range posts.Len() {
		l := posts.At(p)
		if x.tried[l] == x.round {
			continue
		}
		x.tried[l] = x.round
		stems := x.t.LabelStems(l)
		if stems.Len() < 2 {
			continue
		}
		total, found := 0.0, 0.0
		first, last, n := int32(1<<30), int32(-1), int32(0)
		var mask uint64
		for k := range stems.Len() {
			s := stems.At(k)
			if repeated(stems, k) {
				continue
			}
			w := x.t.Weight(s)
			total += w
			if x.stamped[s] != x.round {
				continue
			}
			found += w
			pos := x.position[s]
			first, last = min(first, pos), max(last, pos)
			n++
			mask |= 1 << min(63, int(pos)-x.clauses[ci].first)
		}
		coverage := found / total
		if coverage < leastCoverage || found < leastWeight || last-first+1-n > widestGap || n == 1 &&
			(coverage < wordCoverage || x.doubtful(ci, int(first)) || learning(x.lower(int(first)))) ||
			x.lowered(l, first, last) {
			continue
		}
		x.mentions = append(x.mentions, mention{
			skill: int32(x.t.LabelSkill(l)), label: int32(l), clause: int32(ci), first: first, last: last,
			matched: n, tokens: mask,
			kind: int8(x.t.LabelKind(l)), coverage: coverage, weight: found,
			gap: max(0, last-first+1-n), commas: x.tokens[last].comma - x.tokens[first].comma,
		})
	}
}

// lowered reports whether a word of a tool's name is written as the everyday word that it also
// is: "have access to Microsoft Office" does not name Microsoft Access.
func (x *extraction) lowered(label int, first, last int32) bool {
	if !x.capitals {
		return false
	}
	text := x.t.LabelText(label)
	return slices.ContainsFunc(x.tokens[first:last+1], func(t token) bool {
		word := x.doc[t.start:t.end]
		return !t.initial && riskyNames(word) && strings.Contains(text, strings.ToUpper(word[:1])+word[1:])
	})
}

// repeated reports whether a label has the word at k before already.
func repeated(stems skills.Numbers, k int) bool {
	for i := range k {
		if stems.At(i) == stems.At(k) {
			return true
		}
	}
	return false
}

// settle rates the mentions of one clause, keeps the best of each skill and the
// strongest of all, and lets them compete.
func (x *extraction) settle(from int) {
	all := x.mentions[from:]
	for i := range all {
		m := &all[i]
		m.strength = m.weight * m.coverage * m.coverage * kindStrength[m.kind]
		if !m.exact {
			m.strength *= 0.85 / (1 + 0.12*float64(m.gap) + 0.1*float64(m.commas))
		}
	}
	slices.SortFunc(all, func(a, b mention) int {
		return cmp.Or(cmp.Compare(b.strength, a.strength), int(a.skill-b.skill), int(a.first-b.first), int(a.label-b.label),
			int(a.last-b.last))
	})
	kept := all[:0]
	for _, m := range all {
		m.named = x.names(&m)
		if m.exact {
			m.own, m.kinds = x.own(&m) && x.asWritten(&m), 1<<m.kind
		}
		// A whole label is kept with a longer one of the same skill that appears in part.
		i := slices.IndexFunc(kept, func(k mention) bool { return k.skill == m.skill && (k.exact || !m.exact) })
		switch {
		case i >= 0:
			k := &kept[i]
			k.named, k.own, k.kinds = k.named || m.named, k.own || m.own, k.kinds|m.kinds
		case len(kept) < mentionsPerClause || m.named:
			kept = append(kept, m)
		}
	}
	compete(kept)
	// Some words of a label inside the whole label of another skill are that skill's.
	kept = slices.DeleteFunc(kept, func(m mention) bool { return m.within && !m.exact && !m.named })
	x.mentions = x.mentions[:from+len(kept)]
}
