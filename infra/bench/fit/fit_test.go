package fit

import (
	"math"
	"testing"

	"skillscurriculum/infra/bench/gold"
	"skillscurriculum/pkg/skills"
)

// rows makes texts whose candidates are right exactly when their first feature is 1.
func rows() []Row {
	var out []Row
	for text := range 20 {
		item := &gold.Item{Set: gold.SyllabiSet, Group: string(rune('a' + text)), Must: map[string]int{"right": 1}}
		for c := range 10 {
			f := make([]float64, len(skills.FeatureNames))
			if c == 0 {
				f[0] = 1
			}
			out = append(out, Row{Item: item, Features: f, Right: c == 0, Must: c == 0, Weight: 1, Words: 100})
		}
	}
	return out
}

func TestModelLearnsWhatIsRight(t *testing.T) {
	all := rows()
	m := Model(all, 0.1, 0, 5, 10)
	f := Judge(all, func(r Row) bool { return m.Confidence(r.Score) > 0.5 })
	if f.Precision != 1 || f.Recall != 1 || f.Given != 1 {
		t.Errorf("%+v", f)
	}
	if m.Weights[0] <= 0 {
		t.Errorf("weight of the feature that decides: %v", m.Weights[0])
	}
}

func TestIsotonicNeverFalls(t *testing.T) {
	all := rows()
	for i := range all {
		all[i].Score = math.Mod(float64(i)*0.37, 1)
	}
	steps := isotonic(all, 7)
	for i := 1; i < len(steps); i++ {
		if steps[i][0] <= steps[i-1][0] || steps[i][1] < steps[i-1][1] {
			t.Errorf("steps %v", steps)
		}
	}
}

func TestCalibration(t *testing.T) {
	_, e := Calibration([]float64{0.9, 0.9, 0.1, 0.1}, []bool{true, false, false, false})
	if math.Abs(e-0.25) > 1e-9 {
		t.Errorf("expected error %v, want 0.25", e)
	}
}

func TestCurveAndCut(t *testing.T) {
	all := rows()
	for i := range all {
		all[i].Score = 0.2
		if all[i].Right {
			all[i].Score = 0.8
		}
	}
	if cut := BestCut(all, func(r Row) float64 { return r.Score }); cut != 0.8 {
		t.Errorf("cut %v", cut)
	}
	thresholds, figures := Curve(all, func(r Row) float64 { return r.Score })
	if len(thresholds) != 2 || figures[0].F1 != 1 || figures[1].Recall != 1 || figures[1].Precision != 0.1 {
		t.Errorf("%v %+v", thresholds, figures)
	}
}
