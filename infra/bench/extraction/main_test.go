package main

import (
	"context"
	"os"
	"slices"
	"testing"

	"skillscurriculum/infra/bench/gold"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// TestFiguresReachTheTargets holds the extractor that is shipped to the contract's
// targets on the development data.
func TestFiguresReachTheTargets(t *testing.T) {
	const data = "../../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the development data is not here: %v", err)
	}
	set, err := gold.Load(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	e := skills.NewExtractor(set.Taxonomy)
	ours := func(doc catalog.SyllabusText) []string { return ids(e.Extract(doc)) }
	least := func(name string, got, want float64) {
		if got < want {
			t.Errorf("%s: %.3f, target %.2f", name, got, want)
		}
	}
	f := judge(ours, set.Syllabi)
	least("syllabi, precision", f.Precision, 0.80)
	least("syllabi, recall", f.Recall, 0.60)
	least("syllabi, F1", f.F1, 0.68)
	least("TECH, F1", judge(ours, set.Tech).F1, 0.40)
	least("HOUSE, F1", judge(ours, set.House).F1, 0.33)
	exact := 0
	for _, o := range set.Outcomes {
		if level, _ := skills.LevelOf(o.Text); level == o.Level {
			exact++
		}
	}
	least("levels, exact", float64(exact)/float64(len(set.Outcomes)), 0.80)
	for name, items := range map[string][]gold.Item{"syllabi": set.Syllabi, "our own labels": set.Own, "sentences": slices.Concat(set.Tech, set.House)} {
		if c := calibration(e, items); c > 0.05 {
			t.Errorf("calibration error of %s: %.3f", name, c)
		}
	}
}
