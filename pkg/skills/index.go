package skills

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"
)

const (
	// LabelKinds is the number of kinds of label that package extraction distinguishes.
	LabelKinds = 9
	// CompanyWidth is the number of signed bytes of a skill's company vector.
	CompanyWidth = 48
)

const (
	labelSkill = iota
	labelText
	labelKind
	labelStart // start in labelTokens; the end is the next label's start
	labelStride
)

// Index is the part of a compiled taxonomy that package extraction matches texts with: labels, their stems, and
// company vectors. Skills, labels and stems are numbered from 0, skills in the order of their ids.
type Index struct {
	t *Taxonomy

	labels      table   // labelStride numbers a label, ordered by token sequence
	labelTokens Numbers // stem indexes
	stems       Numbers // string indexes, ordered by text
	weights     Numbers // float32 bits: how specific a stem is
	postings    list    // stem -> labels that are looked up by it

	company []byte // CompanyWidth signed bytes for each skill
}

// Index returns the index of labels; nil if the taxonomy was compiled without one.
func (t *Taxonomy) Index() *Index {
	if t.index.Labels() == 0 {
		return nil
	}
	return &t.index
}

// whole reports whether every reference of the index is within the taxonomy.
func (x *Index) whole() bool {
	n := x.Skills()
	if !x.labels.closed(labelStart) || x.labels.get(x.Labels(), labelStart) > x.labelTokens.Len() {
		return false
	}
	if !x.labels.refers(n, labelSkill) || !x.labels.refers(x.t.texts(), labelText) ||
		!x.labels.refers(LabelKinds, labelKind) || !x.labelTokens.below(x.stems.Len()) {
		return false
	}
	for l := range x.Labels() {
		if x.LabelStems(l).Len() == 0 {
			return false
		}
	}
	for i := range x.weights.Len() {
		if w := x.weights.float(i); !(w >= 0 && w < 100) {
			return false
		}
	}
	return x.stems.below(x.t.texts()) && x.weights.Len() == x.stems.Len() && x.postings.maps(x.stems.Len(), x.Labels()) &&
		(len(x.company) == CompanyWidth*n || x.Labels() == 0)
}

// Skills returns the number of skills.
func (x *Index) Skills() int { return x.t.count() }

// Skill returns the skill with a number.
func (x *Index) Skill(s int) Skill { return x.t.skill(s) }

// ID returns the id of a skill.
func (x *Index) ID(s int) string { return x.t.id(s) }

// Name returns the name of a skill.
func (x *Index) Name(s int) string { return x.t.name(s) }

// Kind returns the kind of a skill.
func (x *Index) Kind(s int) string { return x.t.kind(s) }

// Broader yields the broader skills of a skill.
func (x *Index) Broader(s int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := x.t.skills.get(s, skillBroader); i < x.t.skills.get(s+1, skillBroader); i++ {
			if !yield(x.t.broader.At(i)) {
				return
			}
		}
	}
}

// Uses returns the number of occupations that require a skill.
func (x *Index) Uses(s int) int { return x.t.skills.get(s, skillPopularity) }

// Company returns a skill's vector of the skills that it shares occupations and hierarchy with.
func (x *Index) Company(s int) []byte { return x.company[s*CompanyWidth : (s+1)*CompanyWidth] }

// Labels returns the number of labels.
func (x *Index) Labels() int { return x.labels.rows() - 1 }

// LabelSkill returns the skill of a label.
func (x *Index) LabelSkill(l int) int { return x.labels.get(l, labelSkill) }

// LabelKind returns the kind of a label.
func (x *Index) LabelKind(l int) int { return x.labels.get(l, labelKind) }

// LabelText returns a label as written.
func (x *Index) LabelText(l int) string { return x.t.text(x.labels.get(l, labelText)) }

// LabelStems returns the stems of a label. Labels are ordered by them.
func (x *Index) LabelStems(l int) Numbers {
	return x.labelTokens[4*x.labels.get(l, labelStart) : 4*x.labels.get(l+1, labelStart)]
}

// Stems returns the number of stems.
func (x *Index) Stems() int { return x.stems.Len() }

// Stem returns a stem by number; stems are in alphabetical order.
func (x *Index) Stem(i int) string { return x.t.text(x.stems.At(i)) }

// Weight returns how specific a stem is, at most 1.
func (x *Index) Weight(stem int) float64 { return x.weights.float(stem) }

// Postings returns the labels that a stem is a key of.
func (x *Index) Postings(stem int) Numbers { return x.postings.At(stem) }

// Contents is the input for an index: the skills of a [Builder] in the order of their ids,
// and the groups that skills belong to together.
type Contents struct {
	Skills []*Entry
	Groups [][]Member
}

// Member is a skill's membership of a group, weighted by a share of at most 1.
type Member struct {
	ID    string
	Share float64
}

// Labelled is the data that an index is compiled from.
type Labelled struct {
	Labels  []Label
	Stems   []string  // ordered
	Weights []float32 // of the stems
	Company []byte    // CompanyWidth signed bytes for each skill
}

// Label is a name by which a text may mention a skill. Stems are all its stems, Keys those
// that it is looked up by; both are indexes into Labelled.Stems.
type Label struct {
	Skill, Kind int
	Text        string
	Stems, Keys []int
}

// putLabels writes the labels in the order of their words, and the words.
func (c *compilation) putLabels(index Labelled) {
	slices.SortStableFunc(index.Labels, func(a, b Label) int {
		return cmp.Or(slices.Compare(a.Stems, b.Stems), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Skill, b.Skill),
			strings.Compare(a.Text, b.Text))
	})
	labels := make([][]uint32, len(index.Stems))
	for i, l := range index.Labels {
		c.put(partLabels, uint32(l.Skill), c.text(l.Text), uint32(l.Kind), c.end(partLabelTokens))
		for _, stem := range l.Stems {
			c.put(partLabelTokens, uint32(stem))
		}
		for _, stem := range l.Keys {
			labels[stem] = append(labels[stem], uint32(i))
		}
	}
	c.put(partLabels, 0, 0, 0, c.end(partLabelTokens))
	for i, s := range index.Stems {
		c.put(partStems, c.text(s))
		c.put(partWeights, math.Float32bits(index.Weights[i]))
		c.put(partPostingStarts, c.end(partPostings))
		c.put(partPostings, labels[i]...)
	}
	c.put(partPostingStarts, c.end(partPostings))
}
