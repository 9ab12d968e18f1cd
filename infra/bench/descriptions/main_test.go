package main

import (
	"testing"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/catalog"
)

func TestJudgeCountsSkillsAndImportantThings(t *testing.T) {
	courses := []course{{doc: "A", skillsGiven: [][]catalog.SkillRef{nil, {
		{SkillName: "SQL", Confidence: 0.5}, {SkillName: "ale", Confidence: 0.25}, {SkillName: "new", Confidence: 1},
	}}}}
	got := judge(courses, 1, [][]string{
		{"A", "important", "databases", "use databases|SQL"}, {"A", "important", "maps", ""},
		{"A", "given", "SQL", "right"}, {"A", "given", "ale", "wrong"}, {"A", "given", "gone", "right"}, {"B", "given", "SQL", "right"},
	})
	if want := (tally{right: 1, judged: 2, unjudged: 1, things: 2, found: 1, confidence: 0.75}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestAgreementIsThatOfSkillsBothJudged leaves out things and skills that one reader did not judge.
func TestAgreementIsThatOfSkillsBothJudged(t *testing.T) {
	first := [][]string{
		{"A", "important", "SQL", "SQL"}, {"A", "given", "SQL", "right"}, {"A", "given", "ale", "wrong"},
		{"A", "given", "law", "right"}, {"B", "given", "SQL", "wrong"}, {"B", "given", "art", "right"},
	}
	second := [][]string{
		{"A", "important", "ale", "SQL"}, {"A", "given", "SQL", "right"}, {"A", "given", "ale", "wrong"},
		{"A", "given", "law", "wrong"}, {"B", "given", "SQL", "wrong"}, {"B", "given", "ale", "wrong"},
	}
	if got, want := agreement(first, second).String(), "3 of 4 judged alike (0.750), kappa 0.500"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDescriptionsAreThoseOfTheList(t *testing.T) {
	devdata.Path(t, "syllabi", "collected")
	courses, err := draw(devdata.Path(t))
	if err != nil || len(courses) != 60 {
		t.Fatalf("%d courses, %v", len(courses), err)
	}
	for _, c := range courses {
		if c.name == "" || len(c.text) < 40 || len(c.text) > 1200 {
			t.Errorf("%s: name %q, description %q", c.doc, c.name, c.text)
		}
	}
}
