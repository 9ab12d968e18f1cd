package rest

import (
	"context"
	"slices"
	"sync"

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

// GrantedCourses returns the courses that an articulation grants, those that are live.
// They are read once, however often it is called.
type GrantedCourses func() (map[string]*catalog.Course, error)

func grantedCourses(ctx context.Context, s Approvals, a *catalog.Articulation, strong bool) GrantedCourses {
	return sync.OnceValues(func() (map[string]*catalog.Course, error) {
		return s.CoursesByID(ctx, a.OrganizationID, a.GrantedCourses(), strong)
	})
}

// FindEvidence returns what an approval freezes as its evidence; nil for nothing.
type FindEvidence func(ctx context.Context, granted GrantedCourses) (*catalog.DecisionEvidence, error)

// Approve completes the move of an articulation to APPROVED, with what it supersedes,
// and notes in the change what that takes. All that it depends on is read in parallel.
func Approve(ctx context.Context, s Approvals, a *catalog.Articulation, move catalog.Move, evidence FindEvidence, change *catalog.Change) error {
	var under []*catalog.Approved
	var with catalog.Approval
	granted := grantedCourses(ctx, s, a, true)
	err := inParallel(ctx, func(ctx context.Context) (err error) {
		under, with.Others, err = rivals(ctx, s, a, a.Supersedes)
		return err
	}, func(context.Context) (err error) {
		with.Courses, err = granted()
		return err
	}, func(ctx context.Context) (err error) {
		with.Evidence, err = evidence(ctx, granted)
		return err
	}, func(ctx context.Context) error {
		if a.Supersedes == nil {
			return nil
		}
		found, err := s.ArticulationsByID(ctx, a.OrganizationID, []string{*a.Supersedes}, true)
		with.Superseded = found[*a.Supersedes]
		return err
	})
	if err != nil {
		return err
	}
	var was catalog.Articulation
	if with.Superseded != nil {
		was = *with.Superseded
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

// ExtendApproval holds an approved articulation, whose end has moved, to what was asked
// of it at its approval.
func ExtendApproval(ctx context.Context, s Approvals, a *catalog.Articulation, change *catalog.Change, now catalog.Time) error {
	var under []*catalog.Approved
	var others []*catalog.Articulation
	var courses map[string]*catalog.Course
	err := inParallel(ctx, func(ctx context.Context) (err error) {
		under, others, err = rivals(ctx, s, a, nil)
		return err
	}, func(ctx context.Context) (err error) {
		courses, err = grantedCourses(ctx, s, a, true)()
		return err
	})
	if err == nil {
		err = a.CheckConflicts(others, "body.effectiveTo")
	}
	if err == nil && !a.EndedBefore(catalog.DateOf(now)) {
		err = change.Grant(a, courses)
	}
	change.Enter(a, under)
	return err
}

// rivals reads what is approved under the keys of an articulation, and of that the
// articulations that may conflict with it; except for one that it supersedes, if any.
func rivals(ctx context.Context, s Approvals, a *catalog.Articulation, except *string) ([]*catalog.Approved, []*catalog.Articulation, error) {
	under, err := s.Approved(ctx, a.OrganizationID, a.ExactKeys())
	if err != nil {
		return nil, nil, err
	}
	numbers := a.Overlapping(under)
	if except != nil {
		superseded, ok := catalog.Sequence(catalog.ArticulationKind, *except)
		numbers = slices.DeleteFunc(numbers, func(n int) bool { return ok && n == superseded })
	}
	others, err := s.ArticulationsByNumber(ctx, a.OrganizationID, numbers)
	return under, others, err
}
