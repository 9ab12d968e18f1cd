package skills

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"
)

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
	if err := json.Unmarshal(weightsJSON, &w); err != nil || !slices.Equal(w.Features, FeatureNames()) {
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
