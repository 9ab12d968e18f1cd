package skills

import (
	"regexp"
	"strings"
)

// unknownLevel is the level of a skill that no verb governs: it is understood.
const unknownLevel = 2

// verbs gives the level that a verb asks for, after Bloom's revised taxonomy:
// 1 remember, 2 understand, 3 apply, 4 analyse, 5 evaluate and create.
var verbs = func() map[string]int {
	m := map[string]int{}
	for level, list := range []string{
		1: `recall define list name state label recognize recognise memorize memorise recite repeat reproduce enumerate remember`,
		2: `understand explain describe discuss summarize summarise outline classify illustrate interpret paraphrase express identify introduce learn know familiarize familiarise
			appreciate comprehend relate report review locate translate indicate infer exemplify generalize extend acquire gain attain impart acquaint study cover present recognise explore realize realise
			grasp elucidate elaborate clarify overview expose enlighten perceive distinguish visualize visualise sketch`,
		3: `apply use utilize utilise employ implement solve compute calculate demonstrate perform execute carry operate practice practise conduct prepare write develop program code
			construct build make experiment model manipulate show simulate produce draw plot convert complete administer configure install deploy run handle manage maintain test
			measure exercise adopt adapt exhibit deliver communicate engage enhance foster cultivate address troubleshoot debug document record derive obtain estimate determine
			find predict schedule transform translate modify enable equip work participate acquire cope document design create formulate organize organise plan select choose`,
		4: `analyze analyse examine compare contrast differentiate investigate inspect distinguish categorize categorise deduce correlate diagnose dissect question test discriminate separate
			subdivide breakdown detect survey`,
		5: `evaluate assess judge justify critique criticize criticise appraise defend recommend argue validate verify optimize optimise decide synthesize synthesise compose invent devise
			hypothesize hypothesise propose integrate generate originate design create formulate construct innovate`,
	} {
		for _, v := range strings.Fields(list) {
			m[v] = max(m[v], level)
		}
	}
	return m
}()

// verbLevel knows a verb in any of its forms.
func verbLevel(word string) (verb string, level int) {
	w := strings.ToLower(word)
	for _, base := range []string{w, strings.TrimSuffix(w, "s"), strings.TrimSuffix(w, "es"), ied(w)} {
		if l, ok := verbs[base]; ok {
			return base, l
		}
	}
	if stem, ok := strings.CutSuffix(w, "ing"); ok && len(stem) >= 3 {
		for _, base := range []string{stem + "e", stem, undouble(stem)} {
			if l, ok := verbs[base]; ok {
				return base, l
			}
		}
	}
	return "", 0
}

func ied(w string) string {
	if s, ok := strings.CutSuffix(w, "ies"); ok {
		return s + "y"
	}
	return w
}

func undouble(s string) string {
	if n := len(s); n > 2 && s[n-1] == s[n-2] {
		return s[:n-1]
	}
	return s
}

var (
	printedCode  = regexp.MustCompile(`(?i)(?:[(\[|,]\s*|\b(?:level|bloom\S*|k-?level|taxonomy)\s*[:=-]?\s*)(?:k|l|bl|btl|bt)\s*-?\s*([1-6])\b|\bK([1-6])\s*[)\]]?\s*\.?\s*$`)
	printedDigit = regexp.MustCompile(`(?i)\b(?:k|l|bl|btl|bt)\s*-?\s*([1-6])\b`)
	printedWord  = regexp.MustCompile(`(?i)(?:cognitive(?:\s+knowledge)?\s+level|knowledge\s+level|bloom'?’?s?(?:\s+taxonomy)?(?:\s+level)?|learning\s+level)\s*[:=–-]?\s*((?:remember|understand|appl|analy|evaluat|creat)\w*(?:\s*(?:,|&|and|/)\s*(?:remember|understand|appl|analy|evaluat|creat)\w*)*)|[(\[|]\s*(remember|understand|apply|analy[sz]e|evaluate|create)(?:ing)?\s*[)\]|]`)
	bloomWord    = regexp.MustCompile(`(?i)remember|understand|appl|analy|evaluat|creat`)
)

// printedLevel finds a level that the document itself prints on a line: [K3],
// (Cognitive level: Apply), Bloom's level: Analyse. Where it prints several, the
// highest counts. 0 is none.
func printedLevel(line string) int {
	level := 0
	if at := printedCode.FindStringIndex(line); at != nil {
		for _, m := range printedDigit.FindAllStringSubmatch(line[at[0]:], -1) {
			level = max(level, fromSix(m[1][0]))
		}
	}
	for _, m := range printedWord.FindAllStringSubmatch(line, -1) {
		for _, w := range bloomWord.FindAllString(m[1]+" "+m[2], -1) {
			level = max(level, bloomLevels[strings.ToLower(w)])
		}
	}
	return level
}

var bloomLevels = map[string]int{"remember": 1, "understand": 2, "appl": 3, "analy": 4, "evaluat": 5, "creat": 5}

// fromSix maps the digit of Bloom's six levels to our five.
func fromSix(digit byte) int { return min(5, int(digit-'0')) }
