package extraction

import (
	_ "embed"
	"encoding/json"
	"math"
	"slices"
	"sync"

	"skillscurriculum/pkg/skills"
)

// Candidate is a skill that a document may teach, with its features. The calibration program
// learns from candidates.
type Candidate struct {
	SkillID  string
	Features []float64
	Passage  bool // a sentence or two rather than a document with parts
	Bounds   Bounds
}

// Model has the fitted parameters for one genre. Score is the logistic of the bias plus the
// weighted features plus the skill's own record; confidence is the score mapped to a
// frequency by the steps (see infra/training/fit), with linear interpolation.
type Model struct {
	Bias    float64   `json:"bias"`
	Weights []float64 `json:"weights"`
	// Record is added for single skills, by id: it is positive for skills that were right in
	// labelled courses more often than their features predict.
	Record map[string]float64 `json:"record,omitempty"`
	Steps  [][2]float64       `json:"steps"`
	// Plain is the minimum confidence of a skill that a sentence plainly names: the frequency
	// with which such skills were right whose confidence would otherwise be lower, and at
	// least the cuts.
	Plain float64 `json:"plain"`
	// Bold is the threshold for a confidence of .80 or above: values from .80 to below it
	// become .79. 0 disables the rule.
	Bold float64 `json:"bold,omitempty"`
	Cut  float64 `json:"cut"` // confidence from which a skill is returned
	// ShortCut is the cut for texts of a few lines, which have little evidence; 0 means Cut.
	ShortCut float64 `json:"shortCut,omitempty"`
}

// Weights is the file that infra/training/calibrate writes.
type Weights struct {
	Features []string `json:"features"`
	Document Model    `json:"document"`
	Starter  Model    `json:"starter"` // for documents and the built-in vocabulary
	Passage  Model    `json:"passage"`
}

//go:embed weights.json
var weightsJSON []byte

var fitted = sync.OnceValue(func() *Weights {
	var w Weights
	if err := json.Unmarshal(weightsJSON, &w); err != nil || !slices.Equal(w.Features, FeatureNames()) {
		panic("skills: weights.json does not fit the features of this program: run infra/training/calibrate")
	}
	return &w
})

func (w *Weights) of(taxonomy string, passage bool) *Model {
	switch {
	case passage:
		return &w.Passage
	case taxonomy == skills.StarterName:
		return &w.Starter
	}
	return &w.Document
}

// Score returns the model's score of a candidate, 0..1, before calibration.
func (m *Model) Score(skillID string, features []float64) float64 {
	sum := m.Bias + m.Record[skillID]
	for i, w := range m.Weights {
		sum += float64(w * features[i])
	}
	return 1 / (1 + math.Exp(-sum))
}

// Bounds are rules that apply whatever the score.
type Bounds struct {
	Plain    bool // a sentence plainly names the skill: it is returned
	Inferred bool // only one subject of the lexicon leads to it: its confidence is limited
}

// The limit for inferred skills, the confidence that clients may rely on, and the confidence
// of skills that are wrong too often to reach it.
const (
	inferredConfidence = 0.6
	BoldConfidence     = 0.8
	heldConfidence     = 0.79
)

// Confidence maps a score to the frequency with which such scores were right, within bounds.
func (m *Model) Confidence(score float64, bounds Bounds) float64 {
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
	if bounds.Inferred {
		c = min(c, inferredConfidence)
	}
	if bounds.Plain {
		c = max(c, m.Plain)
	}
	if c < m.Bold {
		c = min(c, heldConfidence)
	}
	return math.Round(min(1, max(0, c))*1e4) / 1e4
}
