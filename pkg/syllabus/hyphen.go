package syllabus

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphens is what is known of a document's hyphens at its line ends.
type hyphens struct {
	words   map[string]bool // that stand undivided, in lower case
	divides bool            // the document divides words: many lines end so
}

// compounding are first parts that keep their hyphen when a line ends after it.
var compounding = map[string]bool{
	"self": true, "non": true, "well": true, "co": true, "high": true, "low": true, "real": true,
	"long": true, "short": true,
	"open": true, "closed": true, "object": true, "problem": true, "decision": true, "user": true,
	"web": true, "data": true,
	"cross": true, "state": true, "peer": true, "hands": true, "in": true, "on": true, "up": true,
	"two": true, "three": true,
	"one": true, "first": true, "second": true, "third": true, "multi": true, "end": true, "case": true, "team": true,
	"project": true, "evidence": true, "computer": true, "client": true, "test": true, "event": true, "model": true,
	"full": true, "semi": true, "part": true, "half": true, "large": true, "small": true, "time": true,
	"cost": true, "work": true,
}

// compounded are last parts that keep the hyphen before them.
var compounded = map[string]bool{
	"based": true, "driven": true, "oriented": true, "level": true, "order": true, "term": true, "time": true,
	"specific": true,
	"related":  true, "making": true, "solving": true, "point": true, "free": true, "wide": true,
	"scale": true, "like": true,
	"centered": true, "centred": true, "aware": true, "aided": true, "assisted": true, "dimensional": true,
	"building": true,
	"taking":   true, "quality": true, "effective": true, "efficient": true, "to": true, "of": true,
	"up": true, "in": true,
}

func hyphensOf(lines []line) hyphens {
	h := hyphens{words: map[string]bool{}}
	ending := 0
	for _, l := range lines {
		if strings.HasSuffix(l.text, "-") {
			ending++
		}
	}
	if ending == 0 {
		return h
	}
	h.divides = ending*33 >= len(lines)
	for _, l := range lines {
		words := strings.FieldsFunc(l.text, notWord)
		if len(words) > 0 {
			words = words[1:] // the first may be the rest of a divided one
		}
		for _, w := range words {
			h.words[strings.ToLower(w)] = true
		}
	}
	return h
}

func notWord(r rune) bool { return !unicode.IsLetter(r) && r != '-' }

// glue returns what stands between a wrapped line and the next, and whether the
// hyphen that ends the first only divides a word and goes: as the document writes
// the word elsewhere, else unless the first part usually keeps its hyphen or, in a
// document that hardly divides words, one of the parts is a word of it.
func (h hyphens) glue(text, next string) (between string, dehyphenate bool) {
	stem, hyphen := strings.CutSuffix(text, "-")
	if !hyphen {
		stem, hyphen = strings.CutSuffix(text, "–")
		hyphen = hyphen && !strings.HasSuffix(stem, " ")
		return map[bool]string{false: " "}[hyphen], false
	}
	first, _ := utf8.DecodeRuneInString(next)
	head := strings.ToLower(stem[strings.LastIndexFunc(stem, notWord)+1:])
	tail := strings.ToLower(next)
	if n := strings.IndexFunc(tail, notWord); n >= 0 {
		tail = tail[:n]
	}
	whole, compound := h.words[head+tail], h.words[head+"-"+tail]
	switch {
	case stem == "" || strings.HasSuffix(stem, " ") || tail == "and" || tail == "or":
		return " ", false
	case !unicode.IsLower(first) || len(head) < 2 || compound && !whole:
		return "", false
	}
	keeps := compounding[head] || compounded[tail] || !h.divides && (h.words[head] || h.words[tail])
	return "", whole || !keeps
}
