package extraction

import (
	"context"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
)

// Statement reads the statement of one outcome as a syllabus whose only block it is, in the part of the outcomes.
// It returns the context's error when the context ends.
func (e *Extractor) Statement(ctx context.Context, statement string) (catalog.StatementResult, error) {
	x := e.begin(statement, []block{{end: len(statement), section: outcomes, words: wordCount(statement)}})
	defer e.end(x)
	found, err := x.extract(ctx, catalog.SyllabusText{Text: statement})
	r := catalog.StatementResult{Skills: found.Skills, Evidence: found.Evidence}
	r.Level, r.LevelSource, r.Verb = promise(statement)
	return r, err
}

// The limits of what is found.
const (
	maxOutcomes  = catalog.MaxOutcomes
	maxStatement = 2000 // characters
)

// cellGap stands between the cells of a row (package syllabus).
const cellGap = " | "

// sentence is an outcome of the document: what stands between two bytes, without label and lead-in.
type sentence struct {
	start, end int
	code       string // its label, such as "CLO 3"
	block      int
}

// sentences returns the outcomes of the document in its order, at most one more than are found.
func (x *extraction) sentences() []sentence {
	var all []sentence
	list := listing{doc: x.doc}
	for i, b := range x.blocks {
		if len(all) > maxOutcomes {
			break
		}
		if !list.holds(b) {
			continue
		}
		before := len(all)
		for _, s := range x.split(b, list.item) {
			if utf8.RuneCountInString(x.doc[s.start:s.end]) <= maxStatement {
				s.block = i
				all = append(all, s)
			}
		}
		list.filled = list.filled || len(all) > before
	}
	return all
}

// listing is the state of a walk through the blocks: whether it stands in a list of outcomes.
type listing struct {
	doc    string
	under  bool   // a heading of outcomes stands above, and perhaps headings of its parts
	led    bool   // a lead-in or such a heading came last: blocks of any part that begin with a verb follow from it
	item   bool   // the block is an item of a list that a lead-in opens, and so one outcome whatever its words
	listed bool   // a lead-in under such a heading came last: all blocks up to the next heading are items
	closed bool   // a line that names another part came since
	after  bool   // a sentence about the list came since: only blocks that say what is learned are outcomes
	filled bool   // since then an outcome was found
	head   string // the first word of the last heading below that of the outcomes
}

// holds reports whether a block may have outcomes.
func (l *listing) holds(b block) bool {
	text := l.doc[b.start:b.end]
	l.item = false
	switch {
	case b.outcome != "":
		return b.section == outcomes
	case !b.heading && !b.section.silent() && labelledClaim().MatchString(text):
		return true
	case b.heading && b.section == other:
		first, _, _ := strings.Cut(text, " ")
		*l = listing{doc: l.doc, under: l.under && (!l.filled || l.head == first), head: first}
		l.led = l.under
	case b.heading, b.section.silent(), b.section == readings:
		*l = listing{doc: l.doc, under: b.section == outcomes}
	case b.section == outcomes && closes(text):
		l.closed = true
	case b.section == outcomes:
		if l.under = true; leadIn(text) {
			l.led, l.filled, l.after = true, false, false
		} else if l.filled && remarks(text) {
			l.after = true
		}
		return !l.closed && (!l.after || opensWithVerb(text) || learnersDo().MatchString(text))
	case leadIn(text) && learnersDo().MatchString(text) && (l.under || promising().MatchString(text)):
		l.led, l.filled, l.listed = true, false, l.under
		return l.under && whole(text)
	case l.led && !remarks(text) && (l.listed || opensWithVerb(text)):
		l.item = l.listed
		return true
	default:
		l.led = false
	}
	return false
}

var (
	// claim is an outcome in the words of the learner: "I can solve a system of equations".
	claim = pattern(`^I can\b`)
	// labelledClaim is such an outcome of a list that needs no heading: "LA.1: I can".
	labelledClaim = pattern(`^([A-Z]{1,4}[.-]?\d{1,2}(?:\.\d{1,2})?)[:.)]?\s+I can\b`)
)

// remarks reports whether a text is a sentence about the list or the course.
func remarks(text string) bool {
	return wordCount(text) > remarkWords && strings.HasSuffix(text, ".") && aside().MatchString(text)
}

const remarkWords = 12 // of a remark at least; items of a list have fewer or no full stop

// whole reports whether a lead-in is an outcome as well: "The student will integrate color and form by:".
func whole(text string) bool {
	return wordCount(text) >= wholeWords && wholeLead().MatchString(text)
}

const wholeWords = 7

var wholeLead = pattern(`(?i)\b(?:will|shall|should|can) \w.* by:?[ *_]*$`)

var (
	// ownLabel is what a list numbers its outcomes with, besides the labels of outcomeTag.
	ownLabel = pattern(`^((?:[A-Z]{1,4}L?O[ .#-]{0,2}|(?i:(?:course |learning )*(?:outcome|objective|goal|competency` +
		`|aim)) ?#?)` +
		`\d{1,2}(?:\.\d{1,2})?[a-z]?(?: ?\([A-Z]{2,4} ?\d{1,2}\))?)(?:\s*[:.)|–—-]\s*|\s+|$)`)
	// learnersDo are the words with which a sentence says what people learn.
	learnersDo = pattern(`(?i)\b(?:students?|learners?|participants?|trainees?|graduates?|candidates?|you|they` +
		`|one)\b.{0,80}?` +
		`\b(?:will|should|shall|can|must|may|able|learn|gain|develop|acquire|understand|know|become|demonstrate)\b` +
		`|\b(?:aims?|objectives?|goals?|purpose)\b.{0,40}?\b(?:to|is|are)\b` +
		`|\b(?:be|being) able to\b|\b(?:enables?|prepares?|equips?|provides?|helps?|familiari[sz]es?|introduces?|teaches` +
		`|gives?)\b.{0,30}?` +
		`\b(?:students?|learners?|participants?|you)\b`)
	// aside opens sentences about the list or the course, and not about what is learned.
	aside = pattern(`(?i)^(?:this|these|the|our|my|your|all|each|in|for|as|given|it|there|we|i|please|note|see|if` +
		`|some|most|many|any|` +
		`two|three|four|five|no|not|students who|at|on|by|upon|after|to [^.]{1,60}, (?:we|i))\b`)
	// levelCell is a cell of a table without an outcome: a level, a number, other outcomes that it maps to.
	levelCell = pattern(`(?i)^(?:[\W\d]*|[klb]t?l?\s*-?\d.*|(?:p[so]*o|so|clo|co|lo|plo|ilo|peo|ga|m|l` +
		`|h)s?[\s\d,.;&-]*(?:(?:and|to|p[so]*o|co|so)[\s\d,.;&-]*)*|` +
		`(?:remember|understand|apply|analy[sz]e|evaluate|create|cognitive|affective|psychomotor|low|medium|high|yes` +
		`|x)(?:ing|e?d)?(?:[ ,/&]+(?:remember|understand|apply|analy[sz]e|evaluate|create)(?:ing)?)*)$`)
	enumerator = pattern(`(?:^|[\s:;,.])(\(?(?:\d{1,2}|[a-h]|[ivx]{1,4})[.)]|[•▪●*])\s+`)
)

// closes reports whether a line begins another part than that of its heading: "Assigned reading:".
func closes(text string) bool {
	if closing().MatchString(text) {
		return true
	}
	s, told := toldSection(text)
	return told && s != outcomes && strings.HasSuffix(text, ":") && wordCount(text) <= headingWords &&
		!promising().MatchString(text) && !learnersDo().MatchString(text)
}

// closing are lines that begin another part and that no list of words for headings has.
var closing = pattern(`(?i)^(?:(?:target |intended )?audience|who (?:is this|should)\b.*|format|duration|level|` +
	`requirements?|assignments?|activities|tasks)\s*:$`)

// promising are words of a lead-in that stands under no heading of outcomes.
var promising = pattern(`(?i)\b(?:able to|objectives?|outcomes?|goals?|competenc\w+|learn|by the end` +
	`|(?:up)?on (?:successful )?completion|` +
	`complet(?:e|ing) (?:the|this)|successful students|opportunit(?:y|ies) (?:for|to))\b`)

// leadIn reports whether a text only leads to a list: "Students will be able to:".
func leadIn(text string) bool {
	return bareLead().MatchString(text)
}

var bareLead = pattern(`(?i)(?::[-–—]?|…|\.\.\.|\b(?:able to|will|should|the following|as follows|to|by` +
	`|that)\s*[-–—.]?)[ *_]*$`)

// opensWithVerb reports whether a text begins with a verb that tells what is learned, as items of a list do.
func opensWithVerb(text string) bool {
	for w := range strings.FieldsSeq(text) {
		w = strings.ToLower(strings.Trim(w, ",;:*_()[]/"))
		if first, _, _ := strings.Cut(w, "/"); verbLevel(first, true) > 0 || doing(first) {
			return true
		}
		if !leadIns(w) && !strings.HasSuffix(w, "ly") {
			break
		}
	}
	return false
}

// doing are verbs of outcomes that ask for no level of their own.
var doing = set(`incorporate adhere overcome strengthen instill instil inculcate automate grapple revise experiment
	think reflect respect protect master publish become becoming increase improve build inspect read articulate draft
	argue follow meet pursue value advocate appraise approach assume assist balance begin bring broaden challenge combine
	complete conceptualize confront connect consider consult contextualize contribute critically deepen delegate detail
	direct discern employ encourage ensure establish exploit extract facilitate form foster function guide highlight
	honor implement inform inspire interact interrogate interview invest judge link locate look make map mentor minimize
	motivate navigate negotiate offer optimize orient own perceive persuade place play position possess prioritize
	promote prove quantify rank rate reach reason refine relate resolve respond restate reveal seek sense separate serve
	share situate specify speak stimulate strategize structure succeed suggest sustain tackle talk tell think trace
	translate treat turn uncover unpack update use view visit weigh widen wield write being be have hone master get
	ingest quantitatively sharpen nurture enrich empower provide give ascertain benchmark care code collaborate comply
	configure correct counsel create debate demonstrate detect diagnose digitize edit elicit engineer expand fix fulfil
	fulfill identify import initiate inquire intervene invoke justify know lead learn listen manipulate mitigate obtain
	organise outline participate perform pitch plan practise predict present preserve process program rehearse render
	replicate report represent rewrite safeguard select simplify sing solve sort start stay step store study submit
	summarise support survey synthesise teach test think track transfer transcribe uphold utilise validate verify
	visualise work`)

// split returns the outcomes of one block. A row has its outcome in one cell. A label stands before one outcome. Of a
// paragraph, each sentence that says what is learned is one, with those after it that do not.
func (x *extraction) split(b block, item bool) []sentence {
	start, end := x.cell(b.start, b.end)
	code := b.outcome
	if m := ownLabel().FindStringSubmatchIndex(x.doc[start:end]); m != nil && code == "" {
		code = x.doc[start+m[2] : start+m[3]]
		start += m[1]
	} else if code == "" && start > b.start {
		if m := ownLabel().FindStringSubmatchIndex(x.doc[b.start:start]); m != nil {
			code = x.doc[b.start+m[2] : b.start+m[3]]
		}
	}
	if start, end = stripped(x.doc, start, end); start >= end {
		return nil
	}
	if m := labelledClaim().FindStringSubmatchIndex(x.doc[start:end]); m != nil {
		code, start = x.doc[start+m[2]:start+m[3]], start+m[1]-len("I can")
	}
	item = item || claim().MatchString(x.doc[start:end])
	if code != "" || item && numberedItems(x.doc[start:end]) == nil {
		start = x.led(start, end)
		if text := x.doc[start:end]; leadIn(text) || strings.HasSuffix(text, "?") || !worded(text) {
			return nil
		}
		return []sentence{{start: start, end: end, code: code}}
	}
	var all []sentence
	prose := false // the sentences of a paragraph are apart, those of an item are one outcome
	for _, part := range x.parts(start, end) {
		text := x.doc[part[0]:part[1]]
		learner := learnersDo().MatchString(text)
		verb := opensWithVerb(text) && (len(all) == 0 || !gerund().MatchString(text))
		says := (verb || learner) && !outcomeNames().MatchString(text)
		switch {
		case whole(text):
			all = append(all, sentence{start: part[0], end: part[0] + strings.LastIndex(text, " by")})
		case leadIn(text) || strings.HasSuffix(text, "?") || !worded(text):
		case says || len(all) == 0 && !aside().MatchString(text):
			all = append(all, sentence{start: part[0], end: part[1]})
			prose = prose || learner
		case len(all) > 0 && !prose:
			all[len(all)-1].end = part[1]
		}
	}
	return all
}

// stripped returns a part of a text without marks around it, but with the colon or full stop that ends it.
func stripped(text string, start, end int) (int, int) {
	part := strings.TrimRight(text[start:end], " \t,;*_")
	if rest, ok := strings.CutSuffix(part, " and"); ok && strings.HasSuffix(rest, ",") || strings.HasSuffix(rest, ";") {
		part = rest[:len(rest)-1]
	}
	end = start + len(part)
	return end - len(strings.TrimLeft(part, " \t,;:*_–—-•▪●")), end
}

var gerund = pattern(`^\w+ing\b`)

// outcomeNames are words of sentences about the outcomes of others, or about the author.
var outcomeNames = pattern(`(?i)\b(?:student|program(?:me)?) (?:learning )?outcomes\b|\bdisclaimer\b|\b(?:I|my)\b` +
	`|\bwe have\b`)

// worded reports whether a text has at least two words, or one of more than three letters.
func worded(text string) bool {
	letters, words := 0, 0
	for w := range strings.FieldsSeq(text) {
		if n := strings.IndexFunc(w, unicode.IsLetter); n >= 0 {
			words++
			letters = max(letters, utf8.RuneCountInString(w))
		}
	}
	return words > 1 || letters > 3
}

// cell returns the part of a row that has the outcome: the first cell that reads like one, else the longest; of a
// line that is not a row, all of it.
func (x *extraction) cell(start, end int) (int, int) {
	if !strings.Contains(x.doc[start:end], cellGap) {
		return start, end
	}
	best, bestEnd, like := end, end, false
	for at := start; at <= end; {
		stop := strings.Index(x.doc[at:end], cellGap)
		if stop < 0 {
			stop = end
		} else {
			stop += at
		}
		text := strings.TrimSpace(x.doc[at:stop])
		verb := opensWithVerb(text) && wordCount(text) > 2
		if !like && !levelCell().MatchString(text) && (verb || stop-at > bestEnd-best) {
			best, bestEnd, like = at, stop, verb
		}
		at = stop + len(cellGap)
	}
	if !like && wordCount(x.doc[best:bestEnd]) <= 4 && outcomeHead().MatchString(x.doc[start:end]) {
		return end, end
	}
	return best, bestEnd
}

// outcomeHead are words of the head of a table of outcomes.
var outcomeHead = pattern(`(?i)\b(?:outcomes?|objectives?|statements?|description|level|c\.?o\.?s?|competenc\w+` +
	`|goals?)\b`)

// led returns where the outcome begins after a lead-in of its own: "Students will be able to: explain".
func (x *extraction) led(start, end int) int {
	text := x.doc[start:end]
	colon := strings.Index(text, ": ")
	if colon < 0 {
		return start
	}
	if head := text[:colon]; wordCount(head) <= leadWords && (leadIn(head) || promising().MatchString(head)) {
		from, _ := stripped(x.doc, start+colon+1, end)
		return from
	}
	return start
}

const leadWords = 40 // of a lead-in at most

// parts splits a paragraph into sentences, and what follows a lead-in into its numbered items.
func (x *extraction) parts(start, end int) [][2]int {
	var all [][2]int
	add := func(from, to int) {
		from, to = stripped(x.doc, from, to)
		if from < to {
			all = append(all, [2]int{from, to})
		}
	}
	each := func(from, to int, ends [][]int, cut func(m []int) (int, int)) {
		for _, m := range ends {
			stop, next := cut(m)
			add(from, stop)
			from = next
		}
		add(from, to)
	}
	sentences := func(from, to int) {
		base, text := from, x.doc[from:to]
		var ends [][]int
		for _, m := range sentenceEnd().FindAllStringIndex(text, -1) {
			if begins(text, m[0], m[1]) {
				ends = append(ends, m)
			}
		}
		each(from, to, ends, func(m []int) (int, int) { return base + m[1], base + m[1] })
	}
	text := x.doc[start:end]
	if items := numberedItems(text); items != nil {
		sentences(start, start+items[0][0])
		base := start
		each(base+items[0][1], end, items[1:], func(m []int) (int, int) { return base + m[0], base + m[1] })
		return all
	}
	sentences(start, end)
	for i, part := range all {
		all[i][0] = x.led(part[0], part[1])
	}
	return all
}

// begins reports whether a new sentence begins after a full stop: the next letter is a capital, and the word before
// is not an abbreviation.
func begins(text string, stop, next int) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[next:], `("“‘[`))
	if !unicode.IsUpper(r) {
		return false
	}
	word := strings.ToLower(text[strings.LastIndexAny(text[:stop], " (")+1 : stop])
	return utf8.RuneCountInString(word) > 1 && !abbreviations(word)
}

var abbreviations = set(`e.g i.e etc vs cf al dr mr ms mrs prof st no vol fig eq dept univ u.s u.k ph.d approx incl`)

// numberedItems returns where the items of a list inside a paragraph begin, each with its marker: (1) ... (2) ...
func numberedItems(text string) [][]int {
	var items [][]int
	for _, m := range enumerator().FindAllStringSubmatchIndex(text, -1) {
		mark := strings.Trim(text[m[2]:m[3]], "().")
		if strings.ContainsAny(mark, "•▪●*") || mark == ordinals[0][min(len(items), len(ordinals[0])-1)] ||
			mark == ordinals[1][min(len(items), len(ordinals[1])-1)] ||
			mark == ordinals[2][min(len(items), len(ordinals[2])-1)] {
			items = append(items, []int{m[2], m[1]})
		}
	}
	if len(items) < 2 {
		return nil
	}
	return items
}

var ordinals = [3][]string{
	strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"), strings.Fields("a b c d e f g h"),
	strings.Fields("i ii iii iv v vi vii viii ix x"),
}

// foundOutcomes returns the outcomes of the document, without their skills, and whether it has more.
func (x *extraction) foundOutcomes(p *places) (found []catalog.FoundOutcome, more bool) {
	all := x.sentences()
	if more = len(all) > maxOutcomes; more {
		all = all[:maxOutcomes]
	}
	found = make([]catalog.FoundOutcome, 0, len(all))
	for i, s := range all {
		b := x.blocks[s.block]
		o := catalog.FoundOutcome{
			Number: i + 1, Statement: x.doc[s.start:s.end], Page: p.page(s.start), Start: p.point(s.start), End: p.point(s.end),
			SkillIDs: []string{},
		}
		if s.code != "" {
			o.Code = &s.code
		}
		o.Level, o.LevelSource, o.Verb = promise(o.Statement)
		row := x.doc[b.start:b.end]
		if printed := printedLevel(row); printed > 0 && strings.Contains(row, cellGap) {
			o.Level, o.LevelSource = printed, catalog.PrintedLevel // perhaps in a cell of its own
		}
		found = append(found, o)
	}
	return found, more
}

// allot adds a skill to the outcomes that mention it.
func (x *extraction) allot(found []catalog.FoundOutcome, id string, f *finding, p *places) {
	for _, m := range f.mentions {
		if len(found) == 0 || !x.counts(f, m) {
			continue
		}
		at := p.point(x.tokens[x.mentions[m].first].start)
		i := sort.Search(len(found), func(i int) bool { return found[i].End > at })
		if i < len(found) && found[i].Start <= at && !slices.Contains(found[i].SkillIDs, id) {
			found[i].SkillIDs = append(found[i].SkillIDs, id)
		}
	}
}
