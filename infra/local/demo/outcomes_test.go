package demo

import (
	"slices"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/service"
)

// TestOutcomes: all programs and courses of both organizations have outcomes, whose statements name skills.
func TestOutcomes(t *testing.T) {
	l, queue := loader(t)
	ctx := t.Context()
	if _, err := l.Load(ctx); err != nil {
		t.Fatal(err)
	}
	extractor := extraction.NewExtractor(extraction.Starter(), wordvectors.Table())
	statements, withSkills, unwritten, unread := 0, 0, 0, 0
	for _, tenant := range tenants {
		var owners []string
		for _, kind := range []catalog.Kind{catalog.CourseKind, catalog.ProgramKind} {
			err := l.Store.EachRecord(ctx, tenant.organization, kind, "", func(r catalog.Record) error {
				owners = append(owners, r.Base().ID)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		lists, err := l.actor(tenant.organization).OutcomeLists(ctx, owners...)
		if err != nil {
			t.Fatal(err)
		}
		for _, owner := range owners {
			list := lists[owner]
			if list == nil { // of the new program
				unwritten++
				continue
			}
			if list.ProcessingStatus == catalog.Failed {
				unread++
				continue
			}
			if len(list.Outcomes) < 3 || list.ProcessingStatus != catalog.Pending {
				t.Errorf("%s has %+v", owner, list)
				continue
			}
			if !slices.ContainsFunc(queue.sent, func(j catalog.ExtractionJob) bool { return j.ID == list.ID }) {
				t.Errorf("the outcomes of %s are not queued", owner)
			}
			for _, o := range list.Outcomes {
				read, err := extractor.Statement(ctx, o.Statement)
				if err != nil {
					t.Fatal(err)
				}
				if statements++; len(read.Skills) > 0 {
					withSkills++
				} else {
					t.Logf("no skills: %s", o.Statement)
				}
			}
		}
	}
	if unwritten != 1 || unread != 1 {
		t.Errorf("%d lists are not written, %d could not be read", unwritten, unread)
	}
	if withSkills < statements*7/10 {
		t.Errorf("%d of %d statements name skills", withSkills, statements)
	}
	program, err := known[*catalog.Program](ctx, l, tenants[1].organization, []string{"AAS-NURS"})
	if err != nil || len(program["AAS-NURS"].CourseOrder) != 6 {
		t.Fatalf("nursing: %+v, %v", program, err)
	}
	if _, err := service.Get[*catalog.Program](ctx, l.Store, tenants[0].organization, program["AAS-NURS"].ID, true); !catalog.HasCode(err, catalog.NotFound) {
		t.Errorf("the other organization has it too: %v", err)
	}
}
