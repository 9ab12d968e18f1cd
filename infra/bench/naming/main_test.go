package main

import (
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
)

func TestCountTellsWantedSkillsFromOthers(t *testing.T) {
	var c count
	c.add([]label{{"x:a", "a"}, {"x:b", "b"}}, []catalog.SkillRef{{SkillID: "x:a"}, {SkillID: "x:c"}})
	if c.sentences != 1 || c.wanted != 2 || c.given != 1 || c.besides != 1 {
		t.Errorf("%+v", c)
	}
}

func TestEachLabelBelongsToOneSkill(t *testing.T) {
	seen := map[string]string{}
	for _, l := range labelsOf(extraction.Starter()) {
		key := extraction.LabelKey(l.text)
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s: %q", other, l.skill, l.text)
		}
		seen[key] = l.skill
	}
	if skills := extraction.Starter().Info().Skills; len(seen) < 2*skills {
		t.Errorf("%d labels of %d skills", len(seen), skills)
	}
}
