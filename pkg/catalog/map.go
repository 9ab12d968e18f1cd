package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
)

// Mark is what a course does for an outcome of its program.
type Mark string

// The marks.
const (
	NoMark     Mark = "NONE"
	Introduced Mark = "INTRODUCED"
	Reinforced Mark = "REINFORCED"
	Mastered   Mark = "MASTERED"
)

// MapSettings has the lowest scores of marks in the curriculum map of a program, multiples of 0.05 with
// 0 < touch <= cover <= 1.
type MapSettings struct {
	_     struct{} `nullable:"true"`
	Touch float64  `json:"touch" maximum:"1" exclusiveMinimum:"0" doc:"Score from which a course has a mark, a multiple of 0.05; not above cover"`
	Cover float64  `json:"cover" maximum:"1" exclusiveMinimum:"0" doc:"Score from which a course can complete an outcome, a multiple of 0.05"`
}

// DefaultMapSettings has the thresholds of programs without any.
var DefaultMapSettings = MapSettings{Touch: 0.30, Cover: 0.60}

// steps is the number of steps between the thresholds 0 and 1.
const steps = 20

// Steps returns a threshold as its number of twentieths.
func Steps(threshold float64) int64 { return int64(math.Round(threshold * steps)) }

func (m MapSettings) check(check checker) {
	stepped := func(name string, threshold float64) {
		if float64(Steps(threshold))/steps != threshold {
			check.fault(name, "must be a multiple of 0.05", threshold)
		}
	}
	stepped("cover", m.Cover)
	stepped("touch", m.Touch)
	if m.Touch > m.Cover {
		check.fault("touch", "must not be greater than cover", m.Touch)
	}
}

// DecidedMark is the mark that a person gave a course for an outcome.
type DecidedMark struct {
	_            struct{} `nullable:"true"`
	Mark         Mark     `json:"mark" enum:"INTRODUCED,REINFORCED,MASTERED,NONE" doc:"Mark that was decided"`
	Note         *string  `json:"note" doc:"Remark of the person who decided"`
	DecidedAt    Time     `json:"decidedAt" doc:"When it was decided"`
	KeyID        string   `json:"keyId" doc:"Id of the API key with which it was decided"`
	ComputedThen Mark     `json:"computedThen" enum:"INTRODUCED,REINFORCED,MASTERED,NONE" doc:"Mark that was computed, by skills and outcomes, when it was decided"`
}

// MapDecision is a decision on one cell of a program's map. Statement is a digest of the outcome's statement at that
// time: another statement makes the decision stale.
type MapDecision struct {
	DecidedMark
	OutcomeID string `json:"outcomeId"`
	CourseID  string `json:"courseId"`
	Assessed  bool   `json:"assessed"`
	Statement string `json:"statement"`
}

// MapDecisionInput is the input for a decision.
type MapDecisionInput struct {
	Mark     Mark              `json:"mark" enum:"INTRODUCED,REINFORCED,MASTERED,NONE" doc:"Mark that holds from now on, whatever is computed"`
	Assessed Optional[bool]    `json:"assessed,omitzero" doc:"Whether the course assesses the outcome; false when absent, and with NONE"`
	Note     Optional[*string] `json:"note,omitzero" maxLength:"1000" doc:"Remark for people; null when absent"`
}

// Apply returns the decision on an outcome and a course. computed is the mark that is computed now.
func (in MapDecisionInput) Apply(
	outcome *Outcome, courseID string, computed Mark, keyID string, l Lookups, now Time,
) (MapDecision, error) {
	if in.Mark == NoMark && in.Assessed.Value {
		return MapDecision{}, Invalid(FieldError{l.at("assessed"), "must not be true with NONE", true})
	}
	return MapDecision{
		DecidedMark: DecidedMark{
			Mark: in.Mark, Note: text(in.Note, nil), DecidedAt: now, KeyID: keyID, ComputedThen: computed,
		},
		OutcomeID: outcome.ID, CourseID: courseID, Assessed: in.Assessed.Value, Statement: outcome.Digest(),
	}, nil
}

// Digest identifies the outcome's statement.
func (o *Outcome) Digest() string {
	sum := sha256.Sum256([]byte(o.Statement))
	return hex.EncodeToString(sum[:8])
}

// DecideCell saves a decision on a cell of a program's map, or removes it if the decision is nil. It is a change of the
// program, which must be as it was loaded: its courses and outcomes are those that the decision is about.
func (c *Change) DecideCell(p *Program, outcomeID, courseID string, d *MapDecision, now Time) {
	before := *p
	c.Replace(&before, p, now)
	c.With(&MapDecisionChange{about[*Program]{p}, outcomeID, courseID, d})
}

// maxRemoved is the number of decisions removed by one change, which must fit into a transaction.
const maxRemoved = 50

// RemoveDecisions removes at most maxRemoved decisions on outcomes that have left the list. Later changes remove the
// rest, which no map shows.
func (c *Change) RemoveDecisions(p *Program, list *OutcomeList, decisions []MapDecision) {
	left := 0
	for _, d := range decisions {
		if list.Find(d.OutcomeID) == nil && left < maxRemoved {
			c.With(&MapDecisionChange{about[*Program]{p}, d.OutcomeID, d.CourseID, nil})
			left++
		}
	}
}
