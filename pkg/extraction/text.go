package extraction

import (
	"regexp"
	"strings"
	"sync"

	"github.com/kljensen/snowball/english"

	"skillscurriculum/pkg/skills"
)

// fold returns the form of a word in which labels and text are compared: lower case, one
// spelling for British and American, one stem for a family of words.
func fold(word string) string {
	word = strings.ToLower(word)
	if word == ". net" {
		return ".net"
	}
	if len(word) > 4 && (strings.HasSuffix(word, ".js") || strings.HasSuffix(word, "js")) {
		return strings.TrimSuffix(strings.TrimSuffix(word, "js"), ".") + ".js"
	}
	if len(word) <= 3 || strings.ContainsAny(word, "+#.") {
		return strings.TrimSuffix(word, "'s")
	}
	if stem, ok := apart()[word]; ok {
		return stem
	}
	if same, ok := respelled()[word]; ok {
		word = same
	}
	for _, s := range spellings {
		if len(word) > len(s.from) && strings.HasSuffix(word, s.from) {
			word = strings.TrimSuffix(word, s.from) + s.to
			break
		}
	}
	stem := english.Stem(word, true)
	if same, ok := families()[stem]; ok {
		return same
	}
	return stem
}

// spellings maps British endings to American ones; the first match wins.
var spellings = []struct{ from, to string }{
	{"isations", "ization"}, {"isation", "ization"}, {"ising", "izing"}, {"ised", "ized"}, {"iser", "izer"},
	{"isers", "izer"}, {"ise", "ize"}, {"ises", "ize"},
	{"ysing", "yzing"}, {"ysed", "yzed"}, {"yse", "yze"}, {"yses", "yze"}, {"yser", "yzer"},
	{"elling", "eling"}, {"elled", "eled"}, {"eller", "eler"}, {"alling", "aling"},
	{"iour", "ior"}, {"ioural", "ioral"}, {"olour", "olor"}, {"olours", "olor"}, {"abour", "abor"}, {"avour", "avor"},
	{"umour", "umor"},
	{"ogue", "og"}, {"ometre", "ometer"},
}

// respelled lists words whose ending is not regular.
var respelled = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"fibre": "fiber", "fibres": "fiber", "centre": "center", "centres": "center", "programme": "program",
		"programmes": "program", "aluminium": "aluminum", "sulphur": "sulfur", "tyre": "tire", "tyres": "tire",
		"defence": "defense", "licence": "license", "mould": "mold", "moulding": "molding", "moulds": "mold",
		"plough": "plow", "grey": "gray", "catalogue": "catalog", "paediatric": "pediatric",
		"paediatrics": "pediatric", "anaesthesia": "anesthesia", "haematology": "hematology",
		"oestrogen": "estrogen", "foetal": "fetal", "orthopaedic": "orthopedic", "orthopaedics": "orthopedic",
		"gynaecology": "gynecology", "manoeuvre": "maneuver", "exercise": "exercise", "enterprise": "enterprise",
		"expertise": "expertise", "raise": "raise", "noise": "noise", "precise": "precise", "exercises": "exercise",
		"promise": "promise", "franchise": "franchise", "merchandise": "merchandise", "devise": "devise",
		"revise": "revise", "supervise": "supervise", "supervised": "supervise", "supervising": "supervise",
		"advise": "advise", "advised": "advise", "advising": "advise", "concise": "concise", "comprise": "comprise",
		"data": "data", "datum": "data", "matrices": "matrix", "vertices": "vertex", "indices": "index",
		"axes": "axis", "media": "media", "mathematics": "mathematical", "maths": "mathematical",
		"math": "mathematical", "children": "child", "people": "people", "women": "woman", "men": "man",
		"criteria": "criterion", "phenomena": "phenomenon", "communicator": "communication",
	}
})

// apart lists words that the stemmer would conflate with words of another meaning.
var apart = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields(`physics engine mechanism oscillator organic organ generator general operator policy
		police marketing community university internal international intern
		important objective authority security person personal personality personnel training production productivity
		elementary character characteristic customer customs experiment experience
		conditional integrity relativity animal animation news ethics optics logistics securities wireless universal minor
		mining miner mineral planet plane reactor active activity accessory
		department departure elevator factory factor formal format former nation nationality native patient patience commune
		commission committee emission mission permission transmission module modulation modular modulator comparator utility
		statics coding counter computability`) {
		m[w] = w
		switch {
		case strings.HasSuffix(w, "y"):
			m[strings.TrimSuffix(w, "y")+"ies"] = w
		case !strings.HasSuffix(w, "s"):
			m[w+"s"] = w
		}
	}
	m["ethical"], m["optical"] = "ethics", "optics"
	return m
})

// families joins stems of related words that the stemmer keeps separate.
var families = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"analysi": "analyz", "analyt": "analyz", "analyst": "analyz", "analys": "analyz", "synthesi": "synthes",
		"diagnosi": "diagnos", "diagnost": "diagnos", "hypothesi": "hypothes", "chemistri": "chemic",
		"chemist": "chemic", "economi": "econom", "economist": "econom", "statistician": "statist",
		"mathematician": "mathemat", "physicist": "physic", "biolog": "biolog", "biologi": "biolog",
		"geolog": "geolog", "geologi": "geolog", "ecologi": "ecolog", "technologi": "technolog",
		"methodologi": "methodolog", "psychologi": "psycholog", "sociologi": "sociolog", "theori": "theoret",
		"histori": "histor", "geographi": "geograph", "geometri": "geometr", "photographi": "photograph",
		"philosophi": "philosoph", "strategi": "strateg", "industri": "industri", "energi": "energet",
		"electr": "electr", "decis": "decid", "solut": "solv", "presentat": "present", "maintain": "mainten",
		"mainten": "mainten", "pricing": "price", "market": "market", "cybernet": "cybernet", "writer": "write",
		"written": "write", "taught": "teach", "teacher": "teach", "manufactur": "manufactur", "fabric": "fabric",
		"microcontrol": "microcontrol", "robot": "robot", "simul": "simul", "debugg": "debug", "debug": "debug",
		"troubleshoot": "troubleshoot", "programm": "program", "accuraci": "accur", "effici": "effici",
		"probabilist": "probabl", "stochast": "stochast", "semant": "semant", "architectur": "architect",
		"hydrologi": "hydrolog", "meteorologi": "meteorolog", "topolog": "topolog", "topologi": "topolog",
		"ontologi": "ontolog", "enzymolog": "enzym", "genet": "genet", "electronica": "electron",
	}
})

// functionWords have no meaning of their own: they are skipped in labels and in text.
var functionWords = set(`a an the and or of in on to for with by at from as into onto via per its their your our
		his her my this that these those is are be been being was were will shall should can could may might must do
		does did has have had having not no nor but if than then so such it they them he she we you i who whom whose
		which what when where how why there here also both each any all some other others etc eg ie about above across
		after against along among around before behind below between beyond during over through throughout toward
		towards under until up upon within without out off while`)

// genericWords say little about a label's subject; see genericShare.
const genericWords = `use using used apply applying perform performing conduct conducting carry carrying provide
	providing ensure ensuring do
	make making have develop developing undertake execute executing understand understanding know knowledge ability skill
	skills work working
	principle principles technique techniques technology technologies method methods methodology methodologies type types
	concept concepts
	process processes procedure procedures theory theories fundamental fundamentals basic basics element elements system
	systems
	product products tool tools practice practices field study science sciences discipline topic topics aspect aspects
	function functions
	characteristic characteristics property properties kind kinds variety various different general several appropriate
	specific relevant
	related introduction standard standards good effective`

// set returns a lookup in a list of words. Lists, tables and patterns are built on first use,
// so that programs that link this package without extracting do not pay for them.
func set(list string) func(word string) bool {
	words := sync.OnceValue(func() map[string]bool {
		m := map[string]bool{}
		for w := range strings.FieldsSeq(list) {
			m[w] = true
		}
		return m
	})
	return func(word string) bool { return words()[word] }
}

func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// contentStems returns the stems of a label, function words left out.
func contentStems(label string) []string {
	var stems []string
	skills.EachWord(label, func(start, end int) {
		if w := strings.ToLower(label[start:end]); !functionWords(w) && !clipped(label, start, end) ||
			single(label, start, end) {
			stems = append(stems, fold(w))
		}
	})
	return stems
}

// clipped reports whether a word is what follows an apostrophe, such as the s of Ohm's.
func clipped(text string, start, end int) bool {
	return end-start <= 2 && (strings.HasSuffix(text[:start], "'") || strings.HasSuffix(text[:start], "’"))
}

// single reports whether a word is the whole text, so that it names something even
// when it looks like a function word.
func single(text string, start, end int) bool { return strings.TrimSpace(text) == text[start:end] }
