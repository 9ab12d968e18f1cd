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
	f, n := counted(docs, false, measures[i].judge)
	if n != 20 || f.precision() < 0.90 || f.recall() < 0.97 {
		t.Errorf("%d open documents: precision %.3f, want at least .90; recall %.3f, want at least .97", n, f.precision(), f.recall())
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

func TestBaselineTakesListsUnderHeadingsOfOutcomes(t *testing.T) {
	got := baseline("# A\n- one\n## Course outcomes\nText\n* two\n1. three\n\nTopics\n------\n- four\n\n**Objectives:**\n- five\n")
	if want := []string{"two", "three", "five"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
