package extraction

import (
	"context"
	"slices"
	"testing"

	"skillscurriculum/pkg/catalog"
)

func TestStatementHasLevelVerbAndEvidence(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, c := range []struct {
		statement, verb, skill string
		level                  int
		source                 catalog.LevelSource
	}{
		{"Write SQL queries.", "Write", "SQL", 3, catalog.VerbLevel},
		{"Describe, apply and evaluate machine learning.", "evaluate", "machine learning", 5, catalog.VerbLevel},
		{"Design relational databases (K3)", "Design", "", 3, catalog.PrintedLevel},
		{"Explain photosynthesis [Apply]", "Explain", "", 3, catalog.PrintedLevel},
		{"Design a bridge of steel – Cognitive level: Analyse", "Design", "", 4, catalog.PrintedLevel},
		{"Python", "", "Python", 2, catalog.NoLevel},
		{"Über SQL-Abfragen: ★ write SQL queries", "write", "SQL", 3, catalog.VerbLevel},
	} {
		r, err := e.Statement(context.Background(), c.statement)
		if err != nil {
			t.Fatal(err)
		}
		verb := ""
		if r.Verb != nil {
			verb = *r.Verb
		}
		if r.Level != c.level || r.LevelSource != c.source || verb != c.verb {
			t.Errorf("%q: level %d, %s, verb %q; want %d, %s, %q", c.statement, r.Level, r.LevelSource, verb, c.level, c.source, c.verb)
		}
		if c.skill != "" && !slices.ContainsFunc(r.Skills, func(s catalog.SkillRef) bool { return s.SkillName == c.skill }) {
			t.Errorf("%q has %v, not %s", c.statement, r.Skills, c.skill)
		}
		runes := []rune(c.statement)
		for _, ev := range r.Evidence {
			if string(runes[ev.Start:ev.End]) != ev.Quote || ev.Section != "outcomes" || ev.Page != 1 {
				t.Errorf("%q: evidence %+v", c.statement, ev)
			}
		}
		if len(r.Evidence) < len(r.Skills) {
			t.Errorf("%q: %d skills with %d pieces of evidence", c.statement, len(r.Skills), len(r.Evidence))
		}
	}
}

// TestStatementIsTheOnlyBlockOfASyllabus: what would be a heading, or a line about grades, elsewhere is read.
func TestStatementIsTheOnlyBlockOfASyllabus(t *testing.T) {
	e := NewExtractor(Starter(), opened(t))
	for _, statement := range []string{"Course Policies: Python programming", "Python programming; grades and exams due"} {
		r, err := e.Statement(context.Background(), statement)
		if err != nil || len(r.Skills) == 0 {
			t.Errorf("%q has no skills, %v", statement, err)
		}
	}
}
