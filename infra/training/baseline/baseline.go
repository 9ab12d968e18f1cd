// Package baseline has the simple methods that the extractor is compared with: a matcher of exact
// phrases and a TF-IDF ranking. No function links it.
package baseline

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"skillscurriculum/pkg/skills"
)

// Match is a skill found in a text, with a score in 0..1.
type Match struct {
	ID    string
	Score float64
}

// Index is a taxonomy indexed for both methods.
type Index struct {
	labels   map[string]string // label -> id
	longest  int               // words of the longest label
	idf      map[string]float64
	postings map[string][]Match // word -> the skills that have it, with its weight
}

// New indexes a taxonomy. A label shared by several skills stands for the skill with that name, or
// else for the first by id.
func New(t *skills.Taxonomy) *Index {
	x := &Index{labels: map[string]string{}, idf: map[string]float64{}, postings: map[string][]Match{}}
	all, _ := t.Search("", t.Info().Skills, 0)
	slices.SortFunc(all, func(a, b skills.Skill) int { return strings.Compare(a.ID, b.ID) })
	texts := make([]string, len(all))
	for i, s := range all {
		x.addLabel(s.Name, s.ID)
		texts[i] = s.Name + " " + strings.Join(s.Aliases, " ") + " " + s.Description
		for _, w := range slices.Compact(slices.Sorted(slices.Values(words(texts[i])))) {
			x.idf[w]++
		}
	}
	for w, n := range x.idf {
		x.idf[w] = math.Log(float64(len(all)) / n)
	}
	for i, s := range all {
		for _, alias := range s.Aliases {
			x.addLabel(alias, s.ID)
		}
		for w, weight := range x.weigh(texts[i]) {
			x.postings[w] = append(x.postings[w], Match{s.ID, weight})
		}
	}
	return x
}

func (x *Index) addLabel(label, id string) {
	w := words(label)
	key := strings.Join(w, " ")
	if _, taken := x.labels[key]; !taken && key != "" {
		x.labels[key] = id
		x.longest = max(x.longest, len(w))
	}
}

func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '+' && r != '#'
	})
}

// weigh returns the words of a text with weights that make a vector of length 1. Sums of floats go in
// alphabetical order, so that every run yields the same.
func (x *Index) weigh(text string) map[string]float64 {
	weights := map[string]float64{}
	for _, w := range words(text) {
		weights[w]++
	}
	norm := 0.0
	for _, w := range slices.Sorted(maps.Keys(weights)) {
		weights[w] = (1 + math.Log(weights[w])) * x.idf[w]
		norm += weights[w] * weights[w]
	}
	for w := range weights {
		weights[w] /= math.Sqrt(max(norm, 1e-9))
	}
	return weights
}

// Phrases returns the skills whose labels a text has word for word, the longest first, without
// overlap: each skill once, with score 1.
func (x *Index) Phrases(text string) []Match {
	found := map[Match]bool{}
	for line := range strings.Lines(text) {
		for w := words(line); len(w) > 0; {
			n := min(x.longest, len(w))
			for n > 1 && x.labels[strings.Join(w[:n], " ")] == "" {
				n--
			}
			if id := x.labels[strings.Join(w[:n], " ")]; id != "" {
				found[Match{id, 1}] = true
			}
			w = w[n:]
		}
	}
	return slices.Collect(maps.Keys(found))
}

// Ranked returns the 60 skills whose name, aliases and description are nearest to a text by cosine,
// nearest first.
func (x *Index) Ranked(text string) []Match {
	scores, query := map[string]float64{}, x.weigh(text)
	for _, w := range slices.Sorted(maps.Keys(query)) {
		for _, p := range x.postings[w] {
			scores[p.ID] += query[w] * p.Score
		}
	}
	var ranked []Match
	for id, score := range scores {
		ranked = append(ranked, Match{id, score})
	}
	slices.SortFunc(ranked, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(a.ID, b.ID))
	})
	return ranked[:min(60, len(ranked))]
}
