package demo

import (
	"testing"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// TestMaps: the maps of the demo show each kind of issue, and people's decisions.
func TestMaps(t *testing.T) {
	l, sent := loader(t)
	ctx := t.Context()
	if _, err := l.Load(ctx); err != nil {
		t.Fatal(err)
	}
	for _, job := range sent.sent {
		if err := l.extract(ctx, job); err != nil {
			t.Fatal(err)
		}
	}
	kinds, decided := map[alignment.IssueKind]int{}, 0
	for _, tenant := range tenants {
		err := l.Store.EachRecord(ctx, tenant.organization, catalog.ProgramKind, "", func(r catalog.Record) error {
			c, err := l.actor(tenant.organization).Curriculum(ctx, r.Base().ID, alignment.BothBasis, nil, false)
			if err != nil {
				return err
			}
			m := c.Map()
			for _, issue := range m.Issues {
				kinds[issue.Kind]++
			}
			for _, cell := range m.Cells {
				if cell.Decided != nil {
					decided++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if decided != 6 || kinds[alignment.DecisionStale] != 1 {
		t.Errorf("%d marks are decided, issues %v", decided, kinds)
	}
	for _, kind := range []alignment.IssueKind{
		alignment.NotCovered, alignment.NotIntroduced, alignment.NotMastered, alignment.NotAssessed, alignment.GapInSequence, alignment.Repeated,
		alignment.CourseWithoutOutcome, alignment.CourseWithoutSkills, alignment.SkillMissing, alignment.DecisionStale,
		alignment.NoOutcomes, alignment.OutcomesFailed,
	} {
		if kinds[kind] == 0 {
			t.Errorf("no map has the issue %s", kind)
		}
	}
}
