package syllabus

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// hyphens decides whether a hyphen at the end of a line of a document divides a word.
type hyphens struct {
	words   map[string]bool // that stand undivided, in lower case
	divides bool            // the document divides words: many lines end so
}

// compounding are first parts that keep their hyphen when a line ends after it.
var compounding = setOf("self non well co high low real long short open closed object problem decision user web " +
	"data cross state peer hands in on up two three one first second third multi end case " +
	"team project evidence computer client test event model full semi part half large small " +
	"time cost work")

// compounded are last parts that keep the hyphen before them.
var compounded = setOf("based driven oriented level order term time specific related making solving point free " +
	"wide scale like centered centred aware aided assisted dimensional building taking " +
	"quality effective efficient to of up in")

// setOf returns the words of a text as a set.
func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
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

// glue returns what stands between a wrapped line and the next, and whether the hyphen that ends the first only divides
// a word and goes: as the document writes the word elsewhere, else unless the first part usually keeps its hyphen or,
// in a document that hardly divides words, one of the parts is a word of it.
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
