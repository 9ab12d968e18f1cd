package rest

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// Approvals is the table as those need it who approve articulations: requests, imports
// and the demo.
type Approvals interface {
	Approved(ctx context.Context, org catalog.OrgID, under []catalog.ApprovedKey) ([]*catalog.Approved, error)
	ArticulationsByNumber(ctx context.Context, org catalog.OrgID, numbers []int) ([]*catalog.Articulation, error)
	ArticulationsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Articulation, error)
	CoursesByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Course, error)
}

// Approve completes the move of an articulation to APPROVED, with what it supersedes,
// and notes in the change what that takes. The evidence is found meanwhile.
func Approve(ctx context.Context, s Approvals, a *catalog.Articulation, move catalog.Move,
	evidence func(ctx context.Context) (*catalog.DecisionEvidence, error), change *catalog.Change) error {
	var under []*catalog.Approved
	var with catalog.Approval
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer caught(&err)
		under, with.Courses, err = beside(groupCtx, s, a)
		return err
	})
	group.Go(func() (err error) {
		defer caught(&err)
		with.Evidence, err = evidence(groupCtx)
		return err
	})
	if a.Supersedes != nil {
		group.Go(func() (err error) {
			defer caught(&err)
			found, err := s.ArticulationsByID(groupCtx, a.OrganizationID, []string{*a.Supersedes}, true)
			with.Superseded = found[*a.Supersedes]
			return err
		})
	}
	err := group.Wait()
	if err != nil {
		return err
	}
	superseded := ""
	var was catalog.Articulation
	if with.Superseded != nil {
		superseded, was = with.Superseded.ID, *with.Superseded
	}
	if with.Others, err = overlapping(ctx, s, a, under, superseded); err != nil {
		return err
	}
	if err := a.Approve(move, with); err != nil {
		return err
	}
	change.Enter(a, under)
	change.Lead(a)
	if with.Superseded != nil && catalog.ReplaceChanged(change, was, with.Superseded, move.At) {
		change.Shorten(with.Superseded)
	}
	return change.Grant(a, with.Courses)
}

// ExtendApproval holds an approved articulation, whose end has moved, to what was asked of it at
// its approval.
func ExtendApproval(ctx context.Context, s Approvals, a *catalog.Articulation, change *catalog.Change, now catalog.Time) error {
	under, courses, err := beside(ctx, s, a)
	if err != nil {
		return err
	}
	others, err := overlapping(ctx, s, a, under, "")
	if err == nil {
		err = a.CheckConflicts(others, "body.effectiveTo")
	}
	if err == nil && !a.EndedBefore(catalog.DateOf(now)) {
		err = change.Grant(a, courses)
	}
	change.Enter(a, under)
	return err
}

// beside reads what an articulation that is or becomes approved must agree with: what
// is approved for the same codes, and the courses that it grants.
func beside(ctx context.Context, s Approvals, a *catalog.Articulation) ([]*catalog.Approved, map[string]*catalog.Course, error) {
	return parallel(ctx, func(ctx context.Context) ([]*catalog.Approved, error) {
		return s.Approved(ctx, a.OrganizationID, a.ExactKeys())
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		ids := a.GrantedCourses()
		if len(ids) == 0 {
			return nil, nil
		}
		return s.CoursesByID(ctx, a.OrganizationID, ids, true)
	})
}

// overlapping loads the articulations that may conflict with one, but for that which it
// supersedes.
func overlapping(ctx context.Context, s Approvals, a *catalog.Articulation, under []*catalog.Approved, superseded string) ([]*catalog.Articulation, error) {
	numbers := a.Overlapping(under)
	if seq, ok := catalog.Sequence(catalog.ArticulationKind, superseded); ok {
		numbers = slices.DeleteFunc(numbers, func(n int) bool { return n == seq })
	}
	if len(numbers) == 0 {
		return nil, nil
	}
	return s.ArticulationsByNumber(ctx, a.OrganizationID, numbers)
}
