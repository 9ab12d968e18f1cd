package extraction

import (
	"slices"
	"strings"
	"sync"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// unknownLevel is the level of a skill that no verb governs: understand.
const unknownLevel = 2

// applied is the level of skills that are used.
const applied = 3

// verbs returns the level that a verb asks for, after Bloom's revised taxonomy:
// 1 remember, 2 understand, 3 apply, 4 analyse, 5 evaluate and create. Verbs that
// curricula use on several levels stand where their printed levels mostly are:
// to develop or construct by a taught method is to apply it, to determine is to
// analyse.
var verbs = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	for level, list := range []string{
		1: `recall list name recite repeat reproduce enumerate remember memorize memorise`,
		2: `understand explain describe discuss summarize summarise outline classify interpret paraphrase express identify
			introduce learn know familiarize familiarise define state label
			recognize recognise appreciate comprehend relate report review locate indicate infer exemplify generalize extend
			acquire gain attain impart acquaint study cover present explore realize realise
			grasp elucidate elaborate clarify expose enlighten perceive visualize visualise sketch distinguish provide
			characterize characterise observe discover`,
		3: `apply use utilize utilise employ implement solve compute calculate demonstrate perform execute carry operate
			practice practise conduct prepare write develop program code illustrate
			construct build make experiment model manipulate show simulate produce draw plot convert complete administer
			configure install deploy run handle manage maintain
			measure exercise adopt adapt exhibit deliver communicate engage enhance foster cultivate address troubleshoot debug
			document record derive obtain design formulate
			find predict schedule transform translate modify enable equip work participate cope organize organise plan select
			choose take set test lead promote speak listen train teach
			collaborate negotiate support control monitor coordinate edit process collect gather search install assemble repair
			fit weld cook bake sell purchase fabricate estimate protect counsel prune sew sing solder splice titrate`,
		4: `analyze analyse examine compare contrast differentiate investigate inspect categorize categorise deduce
			correlate diagnose dissect question discriminate separate
			subdivide detect survey determine research`,
		5: `evaluate assess judge justify critique criticize criticise appraise defend recommend argue validate verify
			optimize optimise decide synthesize synthesise compose invent devise
			hypothesize hypothesise propose integrate generate originate create innovate`,
	} {
		for _, v := range strings.Fields(list) {
			m[v] = level
		}
	}
	return m
})

// nounsToo are verbs that are as often nouns: away from the beginning of a clause
// they count only next to another verb or before an article.
var nounsToo = set(`design model plan test use study report project state label list control measure program
		code sketch review survey experiment outline document record practice exercise process research question
		support work show run set take purchase fit schedule name lead train monitor search present relate contrast
		function sketch question`)

// verbLevel returns the level of a verb in its plain form, or with gerund as a gerund, such as
// writing; 0 for other words.
func verbLevel(word string, gerund bool) int {
	w := strings.ToLower(word)
	if l, ok := verbs()[w]; ok {
		return l
	}
	if stem, ok := strings.CutSuffix(w, "ing"); ok && gerund && len(stem) >= 2 {
		for _, base := range []string{stem, stem + "e", undouble(stem)} {
			if l, ok := verbs()[base]; ok {
				return l
			}
		}
	}
	return 0
}

// governor is a verb of a line, or several that are coordinated: design and test.
type governor struct {
	start int // byte at which it begins to govern
	verb  string
	level int
}

// leadIns may precede the first verb of an outcome.
var leadIns = set(`students student learners learner participants you they will be should can able to the a
		ability an ability and or then also successfully effectively critically clearly correctly confidently course
		this aims it enables enable helps help ability skills capability capable how`)

// wholes are things whose design or development creates them, unless they are small.
var (
	wholes = set(`application applications app apps website websites web product products prototype prototypes
		system systems solution solutions robot robots business plan`)
	small = set(`basic simple small elementary`)
	made  = set(`design develop construct build designing developing building`)
	light = set(`carry perform conduct undertake do make execute`)
	deeds = sync.OnceValue(func() map[string]int {
		return map[string]int{
			"analysis": 4, "analyses": 4, "investigation": 4, "comparison": 4, "evaluation": 5, "assessment": 5, "design": 5,
			"development": 5,
		}
	})
	apt = set(`suitable appropriate proper`)
)

// How many words after a verb may change its level, and how many bytes they take at
// most.
const (
	ahead      = 4
	aheadBytes = 120
)

// weighed returns the level of a verb after the words that follow it: performing an
// analysis is analysing, identifying suitable methods is choosing them, and
// developing whole applications is creating them.
func weighed(verb string, level int, rest string) int {
	n := 0
	skills.EachWord(rest[:min(len(rest), aheadBytes)], func(s, e int) {
		if n++; n > ahead || strings.ContainsAny(rest[:s], ".;:,") {
			return
		}
		w := strings.ToLower(rest[s:e])
		switch {
		case made(verb) && small(w):
			verb = ""
		case made(verb) && wholes(w):
			level = 5
		case light(verb) && deeds()[w] > 0:
			level = max(level, deeds()[w])
		case verb == "identify" && apt(w):
			level = 3
		}
	})
	return level
}

// governors lists the verbs of a line in order. A verb counts at the beginning of
// the line or of a clause, after and, or, to or a comma; a gerund at the beginning only.
func governors(line string) []governor {
	var found []governor
	last, before := 0, ""
	opening, beside := true, false
	skills.EachWord(line, func(s, e int) {
		word, gap := line[s:e], line[last:s]
		lower := strings.ToLower(word)
		comma := strings.Contains(gap, ",") || strings.Contains(gap, "&") || strings.Contains(gap, "/")
		if breaks(gap) {
			opening, beside = true, false
		}
		joined := before == "and" || before == "or" || before == "&" || comma
		level := 0
		if opening || modal(before) || joined && (beside || !nounsToo(lower) || articleFollows(line[e:])) {
			level = asked(lower, line[e:], opening)
		}
		switch {
		case level == 0:
		case joined && beside && len(found) > 0:
			if g := &found[len(found)-1]; level > g.level {
				g.verb, g.level = word, level
			}
		default:
			found = append(found, governor{s, word, level})
		}
		if level > 0 {
			beside = true
		} else if lower != "and" && lower != "or" {
			beside = false
		}
		if !leadIns(lower) {
			opening = false
		}
		last, before = e, lower
	})
	return found
}

// asked returns the level of a word that may be a verb, by what follows it, or 0 if it is not
// one. To enable students to understand is to understand; a key is not a verb, nor is
// the subject of "survey of".
func asked(word, rest string, opening bool) int {
	level := verbLevel(word, opening)
	noun := nounsToo(word) && (strings.HasPrefix(rest, ":") || strings.HasPrefix(rest, " of "))
	if level == 0 || noun || causes(word, rest) {
		return 0
	}
	return weighed(word, level, rest)
}

// causes reports whether a word, with what follows it, means that somebody makes students
// do something, so that what they do counts.
func causes(word, rest string) bool {
	if !causing(word) {
		return false
	}
	rest = strings.TrimPrefix(strings.TrimLeft(strings.ToLower(rest[:min(len(rest), aheadBytes)]), " "), "the ")
	next, _, _ := strings.Cut(rest, " ")
	return learners(next)
}

var (
	causing = set(`enable enables enabling help helps helping allow allows allowing equip equips train trains
		teach teaches encourage encourages prepare prepares make makes`)
	learners = set(`student students learner learners participant participants trainee trainees you them`)
)

// modal are words that precede a verb.
var modal = set(`to can will should`)

func articleFollows(rest string) bool {
	next, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	return map[string]bool{
		"the": true, "a": true, "an": true, "various": true, "their": true, "suitable": true,
		"appropriate": true, "simple": true,
	}[strings.ToLower(next)]
}

// governed returns the verb, of those of a line, that governs what stands at a byte:
// the nearest before it, or the first. It raises mere understanding to the applying
// that the same verbs go on to ask for.
func governed(all []governor, at int) governor {
	if len(all) == 0 {
		return governor{}
	}
	g := all[0]
	for _, next := range all[1:] {
		if next.start <= at {
			g = next
		}
	}
	for _, next := range all {
		if g.level == 1 && next.level == 2 {
			g = next // to recall and to relate is more than to recall
		}
	}
	if g.level == 2 && strings.EqualFold(g.verb, "understand") {
		for _, next := range all {
			if next.level == 3 {
				g = next
				break
			}
		}
	}
	return g
}

// between returns the verbs between two bytes of their line.
func between(all []governor, from, to int) []governor {
	at := func(g governor, byte int) int { return g.start - byte }
	i, _ := slices.BinarySearchFunc(all, from, at)
	j, _ := slices.BinarySearchFunc(all, to, at)
	return all[i:max(i, j)]
}

// How many words from its verb on knowledge is no longer what is analysed or judged
// but what is used for it, and how many on, in running text, the verb says nothing of
// it.
const (
	farWords   = 5
	looseWords = 8
)

// reaching returns what is left of a verb at a skill that stands at a byte of its line.
// In loose text, such as a description, verbs reach less far than in an outcome.
func (g governor) reaching(line string, at int, knowledge, loose bool) governor {
	words := 0
	if knowledge && g.start < at {
		skills.EachWord(line[g.start:at], func(int, int) { words++ })
	}
	switch {
	case loose && words > looseWords:
		return governor{}
	case g.level > applied && (words > farWords || knowledge && creating(strings.ToLower(g.verb)) ||
		instrumental(line, at)):
		g.level = applied
	}
	return g
}

// creating are verbs that make something: knowledge is not made but applied to it.
var creating = set(`create creating design designing develop developing construct constructing build building
		compose composing generate generating integrate integrating invent inventing devise devising propose proposing
		synthesize synthesizing synthesise synthesising`)

// instrumental reports whether a skill that stands at a byte of a line is the means of
// what its verb asks for: to create a page using a language is to apply the language.
func instrumental(line string, at int) bool {
	line = line[max(0, at-aheadBytes):at]
	words := strings.Fields(strings.ToLower(line[strings.LastIndexAny(line, ".;:")+1:]))
	for _, w := range words[max(0, len(words)-ahead):] {
		if means(w) {
			return true
		}
	}
	return false
}

var means = set(`using with via through`)

// ownVerb returns the verb with which the name of a skill begins and its level, 0
// where it begins with none: to analyse stress is to analyse, whatever governs its
// mention. Where a name says design or develop it means creating, as outcomes need
// not.
func ownVerb(name string) (verb string, level int) {
	first, rest, several := strings.Cut(name, " ")
	switch {
	case !several:
		return "", 0
	case making(first), first == "think" && rest == "creatively":
		return first, 5
	case first == "think": // critically, analytically
		return first, 4
	}
	return first, verbLevel(first, false)
}

// making are the verbs of names of skills that create something.
var making = set(`design develop create compose plan invent build`)

// subjectVerbs are the gerunds and plain verbs that govern in a list of subjects,
// where most that look like verbs are names of things.
var subjectVerbs = set(`writing preparing using applying implementing designing solving creating developing
		analysing analyzing evaluating comparing explaining describing programming calculating computing conducting
		performing delivering presenting write prepare use apply implement solve create develop analyse analyze
		evaluate compare explain describe calculate compute conduct perform deliver present explore demonstrate`)

// subjectVerb returns the verb that governs what stands at a byte of an entry in a list
// of subjects, which begins with the verb where it has one.
func subjectVerb(entry string, at int, knowledge bool) governor {
	if first, _, _ := strings.Cut(entry, " "); !subjectVerbs(strings.ToLower(first)) {
		return governor{}
	}
	return governed(governors(entry), at).reaching(entry, at, knowledge, false)
}

// LevelOf returns the level that a course outcome asks for, 1..5, and the verb that
// decides it, "" where the outcome prints its level itself or has no verb.
func LevelOf(outcome string) (level int, verb string) {
	if level = printedLevel(outcome); level > 0 {
		return level, ""
	}
	g := governed(governors(outcome), 0)
	if g.level == 0 {
		return unknownLevel, ""
	}
	return g.level, g.verb
}

// promise returns the level of an outcome: the one that it prints, or that of the verb that asks for most, whose
// first one is returned, or 2.
func promise(outcome string) (level int, source catalog.LevelSource, verb *string) {
	for _, g := range governors(besides().ReplaceAllString(outcome, ";")) {
		if g.level > level {
			level, source, verb = g.level, catalog.VerbLevel, &g.verb
		}
	}
	if printed := printedLevel(outcome); printed > 0 {
		return printed, catalog.PrintedLevel, verb
	}
	if level == 0 {
		return unknownLevel, catalog.NoLevel, nil
	}
	return level, source, verb
}

func undouble(s string) string {
	if n := len(s); n > 2 && s[n-1] == s[n-2] {
		return s[:n-1]
	}
	return s
}

var (
	printedCode = pattern(`(?i)(?:[(\[|,]\s*|\b(?:level|bloom\S*|k-?level|taxonomy)\s*[:=-]?\s*)(?:k|l|bl|btl|` +
		`bt)\s*-?\s*([1-6])\b|\bK([1-6])\s*[)\]]?\s*\.?\s*$`)
	printedDigit = pattern(`(?i)\b(?:k|l|bl|btl|bt)\s*-?\s*([1-6])\b`)
	printedWord  = pattern(`(?i)(?:cognitive(?:\s+knowledge)?\s+level|knowledge\s+level|` +
		`bloom'?’?s?(?:\s+taxonomy)?(?:\s+level)?|learning\s+level)\s*[:=–-]?\s*((?:remember|understand|appl|analy|` +
		`evaluat|creat)\w*(?:\s*(?:,|&|and|/)\s*(?:remember|understand|appl|analy|evaluat|creat)\w*)*)|[(\[|` +
		`]\s*(remember|understand|apply|analy[sz]e|evaluate|create)(?:ing)?\s*[)\]|]`)
	bloomWord = pattern(`(?i)remember|understand|appl|analy|evaluat|creat`)
)

// printedLevel finds a level that the document itself prints on a line: [K3],
// (Cognitive level: Apply), Bloom's level: Analyse. Where it prints several, the
// highest counts. 0 is none.
func printedLevel(line string) int {
	level := 0
	if at := printedCode().FindStringIndex(line); at != nil {
		for _, m := range printedDigit().FindAllStringSubmatch(line[at[0]:], -1) {
			level = max(level, fromSix(m[1][0]))
		}
	}
	for _, m := range printedWord().FindAllStringSubmatch(line, -1) {
		for _, w := range bloomWord().FindAllString(m[1]+" "+m[2], -1) {
			level = max(level, bloomLevels()[strings.ToLower(w)])
		}
	}
	return level
}

var bloomLevels = sync.OnceValue(func() map[string]int {
	return map[string]int{"remember": 1, "understand": 2, "appl": 3, "analy": 4, "evaluat": 5, "creat": 5}
})

// fromSix maps a digit of Bloom's six levels to our five.
func fromSix(digit byte) int { return min(5, int(digit-'0')) }
