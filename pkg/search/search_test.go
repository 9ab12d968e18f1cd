package search_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"

	"skillscurriculum/pkg/search"
)

func TestFind(t *testing.T) {
	var entries []search.Entry
	for _, e := range [][3]string{
		{"1", "CS 101", "Introduction to Programming"},
		{"2", "CS 1010", "Programming in C++"},
		{"3", "C 1", "Basics: C# and .NET"},
		{"4", "MÚS-2.1", "Música, española"},
		{"5", "", "CS 101 for everyone"},
		{"6", "HIST-9", "introduction to PROGRAMMING"},
	} {
		entries = append(entries, search.NewEntry(e[0], e[1], e[2]))
	}
	search.Sort(entries)
	for query, want := range map[string]string{
		"cs 101": "1 2 5", "CS-101": "1 2 5", "cs101": "1 2", "Cs.1 01": "1 2", "cs 10": "1 2 5",
		"programming cs101": "1 2", "intro prog": "1 6", "introduction to": "1 6", "rogramming": "",
		"c": "3 1 2 5", "c++": "2", "C#": "3", "c+": "2", "musica espanola": "4", "MUS21": "4", "mús 2": "4", "net": "3",
		"cs 101 prog": "1 2", "program": "2 1 6", "hist9": "6", "9": "6", "-": "", "&": "", "everyone, 101": "5",
	} {
		var got []string
		for _, e := range search.Parse(query).Find(entries) {
			got = append(got, e.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q finds %v, want %s", query, got, want)
		}
	}
}

// The rule, read naively: fold everything, compare word by word, and sort all matches.
func TestFindAsTheRuleSays(t *testing.T) {
	random := rand.New(rand.NewPCG(19, 25))
	pick := func(from []string, n int) string {
		var s strings.Builder
		for range random.IntN(n + 1) {
			s.WriteString(from[random.IntN(len(from))])
		}
		return s.String()
	}
	codes := []string{"C", "cs", "É", "1", "10", "0", " ", "-", ".", "#", "/"}
	names := []string{"ab", "A", "c++", "é", "c", " ", " ", ", ", "-", "10", "1", ".", "#", "&"}
	matched := 0
	for range 3000 {
		var entries []search.Entry
		for i := range 12 {
			entries = append(entries, search.NewEntry(string(rune('a'+i)), pick(codes, 4), pick(names, 6)))
		}
		search.Sort(entries)
		query := pick(slices.Concat(codes, names), 4)
		var got []string
		for _, e := range search.Parse(query).Find(entries) {
			got = append(got, e.ID)
		}
		want := naive(entries, query)
		matched += len(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("query %q among %q: %s", query, entries, diff)
		}
	}
	if matched < 1000 {
		t.Errorf("only %d matches", matched)
	}
}

func naive(entries []search.Entry, query string) (ids []string) {
	plain := func(s string) string {
		var out []rune
		for _, r := range norm.NFD.String(s) {
			if !unicode.Is(unicode.Mn, r) {
				out = append(out, unicode.ToLower(r))
			}
		}
		return string(out)
	}
	split := func(s string) (words []string) {
		word := ""
		for _, r := range plain(s) + " " {
			if (unicode.IsPunct(r) || unicode.IsSpace(r) || unicode.IsSymbol(r)) && r != '+' && r != '#' {
				if word != "" {
					words = append(words, word)
				}
				word = ""
			} else {
				word += string(r)
			}
		}
		return words
	}
	squeeze := func(s string) string { return strings.NewReplacer(" ", "", "-", "", ".", "").Replace(plain(s)) }
	type hit struct {
		class    int
		name, id string
	}
	var hits []hit
	for _, e := range entries {
		asked, whole, code := split(query), squeeze(query), squeeze(e.Code)
		if len(asked) == 0 {
			continue
		}
		every := true
		for _, word := range asked {
			some := strings.HasPrefix(code, word)
			for _, own := range append(split(e.Code), split(e.Name)...) {
				some = some || strings.HasPrefix(own, word)
			}
			every = every && some
		}
		begins := code != "" && strings.HasPrefix(code, whole)
		switch {
		case code == whole:
			hits = append(hits, hit{0, strings.ToLower(e.Name), e.ID})
		case begins:
			hits = append(hits, hit{1, strings.ToLower(e.Name), e.ID})
		case every && strings.HasPrefix(strings.Join(split(e.Name), " "), strings.Join(asked, " ")):
			hits = append(hits, hit{2, strings.ToLower(e.Name), e.ID})
		case every:
			hits = append(hits, hit{3, strings.ToLower(e.Name), e.ID})
		}
	}
	for class := range 4 {
		var of []hit
		for _, h := range hits {
			if h.class == class {
				of = append(of, h)
			}
		}
		slices.SortFunc(of, func(a, b hit) int {
			if a.name != b.name {
				return strings.Compare(a.name, b.name)
			}
			return strings.Compare(a.id, b.id)
		})
		for _, h := range of {
			ids = append(ids, h.id)
		}
	}
	return ids
}
