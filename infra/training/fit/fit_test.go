package fit

import (
	"math"
	"testing"

	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
)

// rows makes texts whose candidates are right exactly when their first feature is 1.
func rows() []Row {
	var out []Row
	for text := range 20 {
		item := &gold.Item{Set: gold.SyllabiSet, Group: string(rune('a' + text)), Must: map[string]int{"right": 1}}
		for c := range 10 {
			f := make([]float64, len(extraction.FeatureNames()))
			if c == 0 {
				f[0] = 1
			}
			out = append(out, Row{Item: item, Features: f, Right: c == 0, Must: c == 0, Weight: 1})
		}
	}
	return out
}

func TestModelLearnsWhatIsRight(t *testing.T) {
	all := rows()
	m := Model(all, extraction.Model{}, 0.1, 1, 5, 2, 10)
	f := Judge(Taken(all, &m, 0.5))
	if f.Precision != 1 || f.Recall != 1 || f.Given != 1 {
		t.Errorf("%+v", f)
	}
	if m.Weights[0] <= 0 {
		t.Errorf("weight of the feature that decides: %v", m.Weights[0])
	}
}

// TestRecordOfSkills: of two skills whose features say the same, the one that was always
// right gets a record above 0, the other below, and one seen once keeps next to none.
func TestRecordOfSkills(t *testing.T) {
	item := &gold.Item{Set: gold.CourseSet, Group: "a"}
	var all []Row
	for range 20 {
		f := make([]float64, len(extraction.FeatureNames()))
		all = append(all, Row{Item: item, ID: "good", Features: f, Right: true, Weight: 1}, Row{
			Item: item, ID: "bad", Features: f, Weight: 1,
		})
	}
	all = append(all, Row{Item: item, ID: "rare", Features: all[0].Features, Right: true, Weight: 0.1})
	m := learned(all, extraction.Model{}, 1, 1)
	if m.Record["good"] <= 1 || m.Record["bad"] >= -1 || m.Record["rare"] != 0 {
		t.Errorf("record %v", m.Record)
	}
}

// TestPlainlyCountsThoseThatNeedIt: what is plainly named and sure anyway says nothing of
// what else would be given too little.
func TestPlainlyCountsThoseThatNeedIt(t *testing.T) {
	plain := extraction.Bounds{Plain: true}
	var all []Row
	for i := range 20 {
		all = append(all, Row{Score: 0.9, Right: true, Bounds: plain}, Row{
			Score: 0.2, Right: i%2 == 0, Bounds: plain,
		}, Row{Score: 0.2})
	}
	if got := plainly(all, &extraction.Model{}); got != 0.5 {
		t.Errorf("%v, want 0.5", got)
	}
	if got := plainly(all[2:3], &extraction.Model{}); got != 0 {
		t.Errorf("none is plain: %v, want 0", got)
	}
}

// TestBoldFrom finds where few enough wrong skills a course are left.
func TestBoldFrom(t *testing.T) {
	a, b := &gold.Item{Name: "a"}, &gold.Item{Name: "b"}
	f := []float64{}
	all := []Row{
		{Item: a, Features: f, Score: 0.82}, {Item: b, Features: f, Score: 0.885},
		{Item: b, Features: f, Score: 0.95, Right: true},
	}
	if got := boldFrom(all, &extraction.Model{}); got != 0.89 {
		t.Errorf("%v, want 0.89", got)
	}
	if got := boldFrom(all[2:], &extraction.Model{}); got != extraction.BoldConfidence {
		t.Errorf("%v, want %v", got, extraction.BoldConfidence)
	}
}

func TestCalibratedNeverFalls(t *testing.T) {
	all := rows()
	for i := range all {
		all[i].Score = math.Mod(float64(i)*0.37, 1)
	}
	steps := calibrated(all, 7)
	if len(steps) < 2 {
		t.Fatalf("steps %v", steps)
	}
	for i := 1; i < len(steps); i++ {
		if steps[i][0] <= steps[i-1][0] || steps[i][1] < steps[i-1][1] {
			t.Errorf("steps %v", steps)
		}
	}
}

// TestCalibratedFindsFrequencies calibrates scores that are twice the frequency of
// being right.
func TestCalibratedFindsFrequencies(t *testing.T) {
	var all []Row
	item := &gold.Item{Set: gold.TechSet, Group: "a"}
	for i := range 2000 {
		score := float64(i%100)/100 + 0.005
		all = append(all, Row{
			Item: item, Features: []float64{}, Score: score, Right: float64(i/100)+0.5 < 10*score, Weight: 1,
		})
	}
	m := extraction.Model{Steps: calibrated(all, 50)}
	for _, score := range []float64{0.2, 0.5, 0.8} {
		if got := m.Confidence(score, extraction.Bounds{}); math.Abs(got-score/2) > 0.05 {
			t.Errorf("confidence of score %v: %v, want about %v", score, got, score/2)
		}
	}
}

func TestReliabilityKnowsChance(t *testing.T) {
	item := &gold.Item{Set: gold.TechSet, Group: "a"}
	var all []Row
	for i := range 100 {
		all = append(all, Row{Item: item, Features: []float64{}, Score: 0.5, Right: i%2 == 0})
	}
	// A fair coin thrown 100 times is off by 4 heads on average.
	r := ReliabilityOf(all)
	if r.Expected != 0 || math.Abs(r.Chance-0.04) > 0.001 {
		t.Errorf("%+v", r)
	}
}

func TestReliability(t *testing.T) {
	f := []float64{}
	r := ReliabilityOf([]Row{
		{}, {Features: f, Score: 0.9, Right: true}, {Features: f, Score: 0.9}, {Features: f, Score: 0.1},
		{Features: f, Score: 0.1},
	})
	if math.Abs(r.Expected-0.25) > 1e-9 {
		t.Errorf("expected error %v, want 0.25", r.Expected)
	}
}

func TestCurve(t *testing.T) {
	all := rows()
	for i := range all {
		all[i].Score = 0.2
		if all[i].Right {
			all[i].Score = 0.8
		}
	}
	thresholds, figures := Curve(all, func(r Row) float64 { return r.Score })
	if len(thresholds) != 2 || figures[0].F1 != 1 || figures[1].Recall != 1 || figures[1].Precision != 0.1 {
		t.Errorf("%v %+v", thresholds, figures)
	}
}
