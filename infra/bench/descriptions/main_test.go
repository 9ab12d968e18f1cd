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
