package main

import (
	"testing"

	"skillscurriculum/infra/training/fit"
	"skillscurriculum/infra/training/gold"
)

// TestBoldlyCountsWrongSkillsAtHighConfidence holds a figure of the table to its name.
func TestBoldlyCountsWrongSkillsAtHighConfidence(t *testing.T) {
	a, b := &gold.Item{Name: "a"}, &gold.Item{Name: "b"}
	rows := []fit.Row{
		{Item: a}, {Item: b},
		{Item: a, Features: []float64{}, Score: 0.9}, {Item: a, Features: []float64{}, Score: 0.9, Right: true},
		{Item: b, Features: []float64{}, Score: 0.79},
	}
	if got := boldly(rows); got != 0.5 {
		t.Errorf("%v wrong skills a course at .80 or above, want 0.5", got)
	}
}

func TestJaccard(t *testing.T) {
	for _, c := range []struct {
		a, b []string
		want float64
	}{{nil, nil, 1}, {[]string{"x"}, nil, 0}, {[]string{"x", "y"}, []string{"y", "z"}, 1.0 / 3}} {
		if got := jaccard(c.a, c.b); got != c.want {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestAgreementCountsTheNearestOfSeveralLevels(t *testing.T) {
	var a agreement
	a.add(3, 3)
	a.add(3, 2, 5)
	a.add(3, 1, 5)
	if want := (agreement{n: 3, exact: 1, within: 2}); a != want {
		t.Errorf("%+v, want %+v", a, want)
	}
	if a.same() != "0.333" || a.near() != "0.667" {
		t.Errorf("%s and %s, want 0.333 and 0.667", a.same(), a.near())
	}
}
