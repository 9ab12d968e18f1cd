package service_test

import (
	"context"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// empty is a table that has one course, and nothing that approvals conflict with.
type empty struct {
	service.Store
	course *catalog.Course
}

func (empty) Approved(context.Context, catalog.OrgID, []catalog.ApprovedKey) ([]*catalog.Approved, error) {
	return nil, nil
}

func (empty) ArticulationsByNumber(
	context.Context, catalog.OrgID, []int, []string, bool,
) ([]*catalog.Articulation, error) {
	return nil, nil
}

func (e empty) RecordsByID(
	_ context.Context, _ catalog.OrgID, _ catalog.Kind, ids []string, _ bool,
) (map[string]catalog.Record, error) {
	records := map[string]catalog.Record{}
	for _, id := range ids {
		if e.course != nil && id == e.course.ID {
			records[id] = e.course
		}
	}
	return records, nil
}

func (empty) TransferCoursesByID(
	context.Context, catalog.OrgID, []string,
) (map[string]*catalog.TransferCourse, map[string]*catalog.TransferPackage, error) {
	return nil, nil, nil
}

func (empty) ExtractionResult(context.Context, catalog.OrgID, string) (*catalog.ExtractionResult, error) {
	return nil, nil
}

// Whoever moves an articulation, an approval and a rejection are told as decisions, and no
// other move is; each stands in the history.
func TestMovesThatDecide(t *testing.T) {
	for _, c := range []struct {
		from, to catalog.ArticulationStatus
		event    string
	}{
		{catalog.ArticulationDraft, catalog.ArticulationInReview, ""},
		{catalog.ArticulationInReview, catalog.ArticulationDraft, ""},
		{catalog.ArticulationInReview, catalog.ArticulationApproved, catalog.ArticulationDecided},
		{catalog.ArticulationInReview, catalog.ArticulationRejected, catalog.ArticulationDecided},
	} {
		a := &catalog.Articulation{Status: c.from, Receiving: []catalog.Grant{{CourseID: new("crs")}}}
		in := catalog.MoveInput{Status: c.to, DecidedBy: catalog.Optional[*catalog.PersonInput]{
			Set: true, Value: &catalog.PersonInput{Name: "Registrar"},
		}, Note: catalog.Optional[*string]{Set: true, Value: new("Because.")}}
		store := empty{course: &catalog.Course{Meta: catalog.Meta{ID: "crs"}}}
		change, err := service.Actor{Store: store, KeyID: "key", Now: 5}.MoveArticulation(t.Context(), a, in)
		if err != nil {
			t.Fatal(err)
		}
		replaced := catalog.EffectsOf[*catalog.Replacement](change)
		if len(replaced) != 1 || replaced[0].Event != c.event || a.Status != c.to {
			t.Errorf("%s to %s: %+v", c.from, c.to, replaced)
		}
		moves := catalog.EffectsOf[*catalog.ArticulationMove](change)
		if len(moves) != 1 || moves[0].KeyID != "key" || moves[0].At != 5 {
			t.Errorf("%s to %s: history %+v", c.from, c.to, moves)
		}
	}
}

// A granted course that is gone is a conflict, and leaves no change.
func TestApprovalNeedsItsCourses(t *testing.T) {
	a := &catalog.Articulation{Status: catalog.ArticulationInReview, Receiving: []catalog.Grant{{CourseID: new("crs")}}}
	in := catalog.MoveInput{Status: catalog.ArticulationApproved, DecidedBy: catalog.Optional[*catalog.PersonInput]{
		Set: true, Value: &catalog.PersonInput{Name: "Registrar"},
	}}
	if change, err := (service.Actor{Store: empty{}}).MoveArticulation(t.Context(), a, in); err == nil {
		t.Errorf("approved: %+v", change)
	}
}
