package main

import (
	"slices"
	"testing"

	"skillscurriculum/infra/devdata"
)

// TestFoundOutcomesOfOpenDocuments keeps the figures of open documents from falling.
func TestFoundOutcomesOfOpenDocuments(t *testing.T) {
	devdata.Path(t, "syllabi", "collected")
	docs, err := measured(t.Context(), devdata.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(measures, func(m measure) bool { return m.name == agreed })
	f := counted(docs, false, measures[i].judge)
	if f.wanted == 0 || f.precision() < 0.90 || f.recall() < 0.97 {
		t.Errorf("open documents: precision %.3f, want at least .90; recall %.3f, want at least .97", f.precision(), f.recall())
	}
}

func TestMatchedPairsStatementsOnce(t *testing.T) {
	a := compared([]string{"Students will be able to *write* SQL.", "Write SQL", "Explain [loops](loops.html) in long programs, and"})
	b := compared([]string{"write SQL", "explain loops in long programs", "Draw maps"})
	with, without := matched(a, b)
	if !slices.Equal(with, []string{"write sql", "explain loops in long programs and"}) || !slices.Equal(without, []string{"write sql"}) {
		t.Errorf("with a partner %q, without %q", with, without)
	}
	var f figures
	f.judge(a, b, b)
	if f.precision() != 2.0/3 || f.recall() != 2.0/3 {
		t.Errorf("%+v", f)
	}
}
