package extraction

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"skillscurriculum/pkg/skills"
)

// The kinds of label, by their numbers in compiled taxonomies.
const (
	preferred = iota // the name
	alternative
	hidden      // spelling or product that stands for the skill
	bare        // the name without its bracket: Java for Java (computer programming)
	synonym     // another word for the skill (lexicon.go)
	topic       // a subject of teaching that leads to the skill (lexicon.go)
	object      // the name without its verb: job analysis for carry out job analysis
	counterpart // a label of a built-in skill that says the skill (lexicon.go)
	part        // a label of one that is part of it (lexicon.go)
)

// maxLabelTokens limits a label's content words; longer ones are sentences, not names.
const maxLabelTokens = 10

// Indexer builds indexes for [skills.Builder].
type Indexer struct {
	// Untaught leaves the lexicon out.
	Untaught bool
}

// Starter returns the built-in vocabulary with its index; skills.Starter has none.
var Starter = sync.OnceValue(func() *skills.Taxonomy { return skills.CompiledStarter(Indexer{}.Index) })

// Index builds an index.
func (x Indexer) Index(c skills.Contents) skills.Labelled {
	labels, stems, whole := x.labels(c)
	out := skills.Labelled{Labels: labels, Company: space(c)}
	out.Stems, out.Weights = weigh(labels, stems, whole, len(c.Skills))
	number := make(map[string]int, len(out.Stems))
	for i, s := range out.Stems {
		number[s] = i
	}
	for i := range labels {
		l := &labels[i]
		for _, s := range stems[i] {
			l.Stems = append(l.Stems, number[s])
		}
		if !whole[i] {
			l.Keys = rarest(l.Stems, out.Weights)
		}
	}
	return out
}

// labels returns every label of every skill with its stems, and whether it counts only where it stands whole; of labels
// of one skill with the same words, the strongest kind.
func (x Indexer) labels(c skills.Contents) (all []skills.Label, stems [][]string, whole []bool) {
	var taught map[int]taught
	if !x.Untaught {
		lines, err := readLexicon(lexiconFiles)
		if err != nil {
			panic("extraction: the lexicon is invalid: " + err.Error())
		}
		taught = taughtBy(c, lines)
	}
	for i, s := range c.Skills {
		seen := map[string]int{} // labels by their words
		of := taught[i]
		add := func(text string, kind int) {
			own := contentStems(text)
			key := strings.Join(own, " ")
			if len(own) == 0 || len(own) > maxLabelTokens {
				return
			}
			if l, ok := seen[key]; ok {
				switch {
				case all[l].Kind == synonym && named(int8(kind)):
					all[l].Text = text // as the vocabulary writes it
				case kind == counterpart && !named(int8(all[l].Kind)):
					all[l].Kind = kind
				}
				return
			}
			seen[key] = len(all)
			all, stems = append(all, skills.Label{Skill: i, Kind: kind, Text: text}), append(stems, own)
			whole = append(whole, kind == part || !named(int8(kind)) && of.whole[text])
		}
		add(s.Name, preferred)
		if name, _, bracketed := strings.Cut(s.Name, " ("); bracketed {
			add(name, bare)
		}
		for _, a := range of.synonyms {
			if !of.whole[a] {
				add(a, synonym)
			}
		}
		for _, a := range s.Hidden {
			add(a, hidden)
		}
		for _, a := range s.Aliases {
			add(a, alternative)
		}
		for _, a := range of.synonyms {
			add(a, synonym)
		}
		for _, a := range of.topics {
			add(a, topic)
		}
		if o := objectOf(s.Skill); o != "" {
			add(o, object)
		}
		for _, a := range builtinLabels(of.says) {
			add(a, counterpart)
		}
		for _, a := range builtinLabels(of.parts) {
			add(a, part)
		}
	}
	return all, stems, whole
}

// objectOf returns a name without its leading verb if at least two content words remain,
// otherwise "".
func objectOf(s skills.Skill) string {
	verb, rest, _ := strings.Cut(s.Name, " ")
	if s.Kind == "knowledge" || verbs()[strings.ToLower(verb)] == 0 || len(contentStems(rest)) < 2 {
		return ""
	}
	return rest
}

// genericStems is genericWords as they appear in labels.
var genericStems = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(genericWords) {
		m[fold(w)] = true
	}
	return m
})

// genericShare is the weight of a generic word against one of equal rarity.
const genericShare = 0.25

// weigh returns the vocabulary in order and what each stem says: the logarithm of
// how few skills have it in a label that may stand in part, scaled so that a unique stem weighs 1.
func weigh(labels []skills.Label, stems [][]string, whole []bool, count int) ([]string, []float32) {
	has := map[string]map[int]bool{}
	for i, l := range labels {
		for _, s := range stems[i] {
			if has[s] == nil {
				has[s] = map[int]bool{}
			}
			if !whole[i] {
				has[s][l.Skill] = true
			}
		}
	}
	vocabulary := slices.Sorted(maps.Keys(has))
	weights := make([]float32, len(vocabulary))
	most := math.Log(float64(count) + 1)
	for i, s := range vocabulary {
		w := 1 - math.Log(float64(max(1, len(has[s]))))/most
		if genericStems()[s] {
			w *= genericShare
		}
		weights[i] = float32(math.Round(max(w, 0.02)*1e4) / 1e4)
	}
	return vocabulary, weights
}

// rarest returns the two stems of a label that weigh most: a text that has neither
// cannot contain enough of it.
func rarest(tokens []int, weights []float32) []int {
	distinct := slices.Clone(tokens)
	slices.SortFunc(distinct, func(a, b int) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), a-b) })
	distinct = slices.Compact(distinct)
	return distinct[:min(2, len(distinct))]
}
