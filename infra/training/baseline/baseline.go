// Package baseline holds the two simple extractors that ours is compared with:
// a matcher of exact phrases and a TF-IDF ranking. They are no part of the
// product. Invariant: both see the same labels as the extractor does.
package baseline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"skillscurriculum/pkg/skills"
)

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#'
	})
}

// Exact matches labels word for word, the longest first, without overlap. A label
// that several skills share stands for the one whose name it is, else for the
// first by id.
type Exact struct {
	skill   map[string]string
	longest int
}

// NewExact indexes the names and aliases of a taxonomy.
func NewExact(t *skills.Taxonomy) *Exact {
	e := &Exact{skill: map[string]string{}}
	all, _ := t.Search("", t.Info().Skills, 0)
	slices.SortFunc(all, func(a, b skills.Skill) int { return strings.Compare(a.ID, b.ID) })
	for _, names := range []bool{true, false} {
		for _, s := range all {
			labels := s.Aliases
			if names {
				labels = []string{s.Name}
			}
			for _, l := range labels {
				w := words(l)
				key := strings.Join(w, " ")
				if _, taken := e.skill[key]; !taken && key != "" {
					e.skill[key] = s.ID
					e.longest = max(e.longest, len(w))
				}
			}
		}
	}
	return e
}

// Extract returns the ids found.
func (e *Exact) Extract(text string) []string {
	var ids []string
	for line := range strings.Lines(text) {
		w := words(line)
		for i := 0; i < len(w); {
			n := min(e.longest, len(w)-i)
			for ; n > 0; n-- {
				if id, ok := e.skill[strings.Join(w[i:i+n], " ")]; ok {
					ids = append(ids, id)
					break
				}
			}
			i += max(1, n)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// TFIDF ranks skills by the cosine between a text and their name, aliases and
// description.
type TFIDF struct {
	ids      []string
	postings map[string][]posting
	idf      map[string]float64
}

type posting struct {
	skill  int
	weight float64
}

// NewTFIDF indexes a taxonomy.
func NewTFIDF(t *skills.Taxonomy) *TFIDF {
	x := &TFIDF{postings: map[string][]posting{}, idf: map[string]float64{}}
	all, _ := t.Search("", t.Info().Skills, 0)
	counts := make([]map[string]float64, len(all))
	for i, s := range all {
		counts[i] = map[string]float64{}
		for _, w := range words(s.Name + " " + strings.Join(s.Aliases, " ") + " " + s.Description) {
			counts[i][w]++
		}
		for w := range counts[i] {
			x.idf[w]++
		}
		x.ids = append(x.ids, s.ID)
	}
	for w, n := range x.idf {
		x.idf[w] = math.Log(float64(len(all)) / n)
	}
	for i, c := range counts {
		norm := 0.0
		for w, n := range c {
			c[w] = (1 + math.Log(n)) * x.idf[w]
			norm += c[w] * c[w]
		}
		for _, w := range slices.Sorted(keys(c)) {
			x.postings[w] = append(x.postings[w], posting{i, c[w] / math.Sqrt(norm)})
		}
	}
	return x
}

func keys(m map[string]float64) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// Ranked is a skill with its cosine.
type Ranked struct {
	ID    string
	Score float64
}

// Rank returns the n nearest skills.
func (x *TFIDF) Rank(text string, n int) []Ranked {
	counts := map[string]float64{}
	for _, w := range words(text) {
		counts[w]++
	}
	norm := 0.0
	scores := map[int]float64{}
	for _, w := range slices.Sorted(keys(counts)) {
		v := (1 + math.Log(counts[w])) * x.idf[w]
		norm += v * v
		for _, p := range x.postings[w] {
			scores[p.skill] += v * p.weight
		}
	}
	ranked := make([]Ranked, 0, len(scores))
	for i, s := range scores {
		ranked = append(ranked, Ranked{x.ids[i], s / math.Sqrt(max(norm, 1e-9))})
	}
	slices.SortFunc(ranked, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return ranked[:min(n, len(ranked))]
}
