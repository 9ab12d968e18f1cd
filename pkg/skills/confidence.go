package skills

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"
)

// FeatureNames names what confidence follows from, in the order of
// Candidate.Features. Each is between about 0 and 1.
var FeatureNames = []string{
	"exact name",        // the skill's name stands there, words side by side
	"exact alias",       // an alias or hidden label does
	"exact synonym",     // another word for the skill does
	"exact topic",       // a subject that leads to the skill does
	"exact bare name",   // the name without its bracket does
	"coverage",          // share of the label's weight that stands there
	"coverage squared",  //
	"weight",            // how rare the words that matched are
	"one word",          // only one word matched
	"three words",       // at least three matched
	"gap",               // other words stand between
	"commas",            // the words are spread over an enumeration
	"share",             // of the strongest candidate that uses one of the words
	"beaten",            // every mention is inside a stronger, longer one
	"sole winner",       // strongest of its words, by some distance
	"knowledge",         // kind of skill
	"language",          //
	"transversal",       //
	"popularity",        // how many occupations ask for it
	"in title",          // stands in the title
	"in outcomes",       //
	"in topics",         //
	"only in readings",  //
	"heading",           // stands in a heading
	"repetition",        // in how many clauses
	"distinct words",    // how many different labels or words led to it
	"opening",           // stands at the beginning of its clause
	"clause filled",     // share of the clause's words that it uses
	"likeness clause",   // of the clause and the skill in the vector space
	"likeness document", // of the document and the skill
	"field",             // share of the document's strength that lies in the skill's field
	"risky",             // an everyday word or letter that is also the name of a tool
	"capitals",          // written with the capitals of its label where others would not be
	"alias not name",    // no label of the name stands there, only other words
	"word before",       // another word stands directly before, so that this is part of something longer
	"word after",        // or directly after
	"one word exact",    // a label of a single word
	"one topic only",    // nothing but one subject leads to it
	"like, one word",    // likeness of the document where only one word matched
	"like, inexact",     // likeness of the document where no whole label stands there
	"field, one word",   // share of the field where only one word matched
	"shared",            // how many other skills have the same label
	"named in outcomes", // the name or another word for it stands in an outcome
	"named alone",       // or makes up a whole clause, such as a heading or the subject before a colon
}

// Candidate is a skill that a document may teach, with what speaks for it. It is
// what the calibration program learns from.
type Candidate struct {
	SkillID  string
	Features []float64
	Passage  bool // a sentence or two rather than a document with parts
	Words    int  // of the document
}

// Model holds what was fitted for one genre. Score is the logistic of the bias
// plus the weighted features; confidence is the score brought to a frequency
// through the steps (see infra/bench/fit), between which it is linear.
type Model struct {
	Bias    float64   `json:"bias"`
	Weights []float64 `json:"weights"`
	// Rank is how much standing behind better candidates of the same document
	// counts: a course teaches a few dozen skills, whether its text makes many of
	// them plain or not.
	Rank  float64      `json:"rank,omitempty"`
	Steps [][2]float64 `json:"steps"`
	Cut   float64      `json:"cut"` // confidence from which a skill is given
	// ShortCut is the cut for texts of a few lines, in which little speaks for
	// anything; 0 where there is none of its own.
	ShortCut float64 `json:"shortCut,omitempty"`
}

// Weights is the file that infra/bench/calibrate writes.
type Weights struct {
	Features []string `json:"features"`
	Document Model    `json:"document"`
	Passage  Model    `json:"passage"`
}

//go:embed weights.json
var weightsJSON []byte

var fitted = sync.OnceValue(func() *Weights {
	var w Weights
	if err := json.Unmarshal(weightsJSON, &w); err != nil || !slices.Equal(w.Features, FeatureNames) {
		panic("skills: weights.json does not fit the features of this program: run infra/bench/calibrate")
	}
	return &w
})

func (w *Weights) of(passage bool) *Model {
	if passage {
		return &w.Passage
	}
	return &w.Document
}

// Score is the model's judgement of a candidate, 0..1, before calibration.
func (m *Model) Score(features []float64) float64 {
	sum := m.Bias
	for i, w := range m.Weights {
		sum += w * features[i]
	}
	return 1 / (1 + math.Exp(-sum))
}

// courseWordCount is the length up to which a document counts as one course; in a
// longer one more candidates may stand in front.
const courseWordCount = 700

// Rerank lowers the scores of one document's candidates by the logarithm of their
// rank.
func (m *Model) Rerank(scores []float64, words int) {
	if m.Rank == 0 {
		return
	}
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	scale := min(1, courseWordCount/float64(max(1, words)))
	for rank, i := range order {
		s := min(max(scores[i], 1e-6), 1-1e-6)
		z := math.Log(s/(1-s)) - m.Rank*math.Log(max(1, scale*float64(rank+1)))
		scores[i] = 1 / (1 + math.Exp(-z))
	}
}

// Confidence brings a score to the frequency with which such scores were right.
func (m *Model) Confidence(score float64) float64 {
	c := score
	if n := len(m.Steps); n > 0 {
		switch {
		case score <= m.Steps[0][0]:
			c = m.Steps[0][1]
		case score >= m.Steps[n-1][0]:
			c = m.Steps[n-1][1]
		default:
			for i := 1; i < n; i++ {
				if a, b := m.Steps[i-1], m.Steps[i]; score < b[0] {
					c = a[1] + (b[1]-a[1])*(score-a[0])/(b[0]-a[0])
					break
				}
			}
		}
	}
	return math.Round(min(1, max(0, c))*1e4) / 1e4
}

// features turns what was found about one skill into numbers.
func (x *extraction) features(f *finding) []float64 {
	v := make([]float64, len(FeatureNames))
	best := &x.mentions[f.best]
	i := 0
	put := func(value float64) { v[i] = value; i++ }
	yes := func(b bool) {
		if b {
			v[i] = 1
		}
		i++
	}
	yes(f.exact[preferred])
	yes(f.exact[alternative] || f.exact[hidden])
	yes(f.exact[synonym])
	yes(f.exact[topic])
	yes(f.exact[bare])
	put(best.coverage)
	put(best.coverage * best.coverage)
	put(min(best.weight, 3) / 3)
	yes(best.matched == 1)
	yes(best.matched >= 3)
	put(float64(min(best.gap, 4)) / 4)
	put(float64(min(best.commas, 4)) / 4)
	put(f.share)
	yes(f.beaten)
	yes(f.share == 1 && !f.beaten)
	kind := x.t.kind(int(f.skill))
	yes(kind == "knowledge")
	yes(kind == "language")
	yes(kind == "transversal")
	put(x.t.popularity(int(f.skill)))
	yes(f.in[title])
	yes(f.in[outcomes])
	yes(f.in[topics])
	yes(f.in[readings] && !f.in[title] && !f.in[outcomes] && !f.in[topics] && !f.in[description] && !f.in[other])
	yes(f.heading)
	put(min(math.Log1p(float64(f.clauses-1)), 3) / 3)
	put(min(math.Log1p(float64(f.labels-1)), 2) / 2)
	yes(int(best.first) == x.clauses[best.clause].first)
	put(f.filled)
	put(f.likeClause)
	put(f.likeDocument)
	put(f.field)
	yes(f.risky)
	yes(f.capitals)
	yes(!f.exact[preferred] && !f.exact[bare])
	yes(f.wordBefore)
	yes(f.wordAfter)
	yes(best.exact && best.matched == 1)
	yes(f.labels == 1 && f.exact[topic] && !f.exact[synonym] && !f.exact[preferred] && !f.exact[alternative])
	only := func(b bool, value float64) {
		if b {
			v[i] = value
		}
		i++
	}
	only(best.matched == 1, f.likeDocument)
	only(!best.exact, f.likeDocument)
	only(best.matched == 1, f.field)
	put(min(math.Log(float64(max(1, f.shared))), 2) / 2)
	yes(f.namedInOutcomes)
	yes(f.namedAlone)
	return v
}

// unknownPopularity stands where a vocabulary knows no occupations: what a skill
// of ESCO has on average.
const unknownPopularity = 0.35

// popularity grows with the number of occupations that ask for a skill.
func (t *Taxonomy) popularity(skill int) float64 {
	if !t.counted {
		return unknownPopularity
	}
	return math.Log1p(float64(t.skills.get(skill, skillPopularity))) / 8
}
