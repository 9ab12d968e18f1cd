// Package search finds what has a code and a name by words of a query. It is pure.
//
// A query matches if each of its words begins a word of the code or of the name, or if the query as a whole begins the
// code. Case and accents do not count. Words are separated by blanks and by punctuation other than + and #, so that C++
// and C# are words; the code counts as a word without its blanks, hyphens and dots as well.
package search

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Entry is something that can be found. Code may be empty.
type Entry struct {
	ID, Code, Name string

	text  string // every word after a blank: those of the code, the whole code, and those of the name
	whole string // the code without blanks, hyphens and dots
	title string // the words of the name, separated by blanks
	order string // the name in lower case
}

// NewEntry returns an entry.
func NewEntry(id, code, name string) Entry {
	e := Entry{ID: id, Code: code, Name: name, whole: whole(code), title: words(name), order: strings.ToLower(name)}
	e.text = " " + words(code) + " " + e.whole + " " + e.title
	return e
}

// Compare orders entries by name without case, then by id.
func (e Entry) Compare(other Entry) int {
	return cmp.Or(strings.Compare(e.order, other.order), strings.Compare(e.ID, other.ID))
}

// Sort sorts entries as Find expects them.
func Sort(entries []Entry) { slices.SortFunc(entries, Entry.Compare) }

// Query is a parsed query.
type Query struct {
	prefixes []string // of words, each after a blank
	whole    string
	title    string
}

// Parse parses a query. One without any word matches nothing.
func Parse(text string) Query {
	q := Query{whole: whole(text), title: words(text)}
	for _, word := range strings.Fields(q.title) {
		q.prefixes = append(q.prefixes, " "+word)
	}
	return q
}

// The classes of matches, the best first.
const (
	equalCode = iota
	codePrefix
	namePrefix
	allWords
	classes
)

// class returns how an entry matches; classes if it does not.
func (q Query) class(e Entry) int {
	switch {
	case len(q.prefixes) == 0:
		return classes
	case q.whole == e.whole:
		return equalCode
	case e.whole != "" && strings.HasPrefix(e.whole, q.whole):
		return codePrefix
	case strings.HasPrefix(e.title, q.title):
		return namePrefix
	}
	for _, prefix := range q.prefixes {
		if !strings.Contains(e.text, prefix) {
			return classes
		}
	}
	return allWords
}

// Matches reports whether the query matches an entry.
func (q Query) Matches(e Entry) bool { return q.class(e) < classes }

// Find returns the entries that match, the best first: equal codes, codes that begin with the query, names that begin
// with it, and the others, each in the order of entries, which Sort has sorted.
func (q Query) Find(entries []Entry) []Entry {
	var found [classes][]Entry
	for _, e := range entries {
		if class := q.class(e); class < classes {
			found[class] = append(found[class], e)
		}
	}
	return slices.Concat(found[:]...)
}

// fold returns a text without case and accents.
func fold(text string) string {
	ascii := true
	for i := range len(text) {
		ascii = ascii && text[i] < 0x80
	}
	if !ascii {
		text = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Mn, r) {
				return -1
			}
			return r
		}, norm.NFD.String(text))
	}
	return strings.ToLower(text)
}

// words returns the folded words of a text, separated by blanks.
func words(text string) string {
	return strings.Join(strings.FieldsFunc(fold(text), func(r rune) bool {
		return r != '+' && r != '#' && !unicode.In(r, unicode.L, unicode.N, unicode.M)
	}), " ")
}

// whole returns a folded text without blanks, hyphens and dots.
func whole(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || unicode.IsSpace(r) {
			return -1
		}
		return r
	}, fold(text))
}
