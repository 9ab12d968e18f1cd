package service

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
	"skillscurriculum/pkg/skills"
)

// NamedBy returns the look-ups with what an articulation's input names by ids.
func NamedBy(ctx context.Context, s Store, a Actor, in catalog.ArticulationInput) (catalog.Lookups, error) {
	l := a.Lookups
	courses, transferCourses, programs, articulations := in.Names()
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		l.Courses, err = s.CoursesByID(ctx, a.Org, courses, true)
		return err
	}, func(ctx context.Context) (err error) {
		l.TransferCourses, _, err = s.TransferCoursesByID(ctx, a.Org, transferCourses)
		return err
	}, func(ctx context.Context) (err error) {
		l.Programs, err = s.ProgramsByID(ctx, a.Org, programs, true)
		return err
	}, func(ctx context.Context) (err error) {
		l.Articulations, err = s.ArticulationsByID(ctx, a.Org, articulations, true)
		return err
	})
	return l, err
}

// CreateArticulation makes an articulation, a DRAFT, which names records by their ids.
func CreateArticulation(
	ctx context.Context, s Store, actor Actor, in catalog.ArticulationInput, a *catalog.Articulation,
	change *catalog.Change,
) error {
	named, dir, err := parallel.Two(ctx, func(ctx context.Context) (catalog.Lookups, error) {
		return NamedBy(ctx, s, actor, in)
	}, func(ctx context.Context) (*catalog.Directory, error) {
		return s.Directory(ctx, actor.Org, catalog.KindOf(a))
	})
	if err == nil {
		err = catalog.Apply(in, a, named)
	}
	if err == nil {
		change.Add(a, actor.IDs, dir, actor.Clock)
	}
	return err
}

// ReviseArticulation changes a loaded articulation as its input says, and reports whether
// anything is different. An approved one whose end moves is held to what was asked of it at
// its approval.
func ReviseArticulation(
	ctx context.Context, s Store, actor Actor, a *catalog.Articulation, in catalog.ArticulationInput,
	change *catalog.Change,
) (changed bool, err error) {
	before := *a
	if err := in.Revise(a, actor.Lookups); err != nil {
		return false, err
	}
	if a.Status == catalog.ArticulationApproved && before.Period() != a.Period() {
		if err := extendApproval(ctx, s, actor, a, change); err != nil {
			return false, err
		}
	}
	return catalog.ReplaceChanged(change, before, a, actor.Now), nil
}

// extendApproval holds an approved articulation, whose end has moved, to what was asked
// of it at its approval.
func extendApproval(
	ctx context.Context, s Store, actor Actor, a *catalog.Articulation, change *catalog.Change,
) error {
	var under []*catalog.Approved
	var others []*catalog.Articulation
	var courses map[string]*catalog.Course
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		under, others, err = rivals(ctx, s, a, nil)
		return err
	}, func(ctx context.Context) (err error) {
		courses, err = s.CoursesByID(ctx, a.OrganizationID, a.GrantedCourses(), true)
		return err
	})
	if err == nil {
		err = a.CheckConflicts(others, "body.effectiveTo")
	}
	if err == nil && !a.EndedBefore(catalog.DateOf(actor.Now)) {
		err = change.Grant(a, courses)
	}
	if err == nil {
		change.Enter(a, under)
	}
	return err
}

// MoveArticulation makes one move of a loaded articulation. taxonomy is asked where an
// approval has evidence to compare.
func MoveArticulation(
	ctx context.Context, s Store, taxonomy func() *skills.Taxonomy, actor Actor, a *catalog.Articulation,
	in catalog.MoveInput,
) (*catalog.Change, error) {
	before := *a
	move, err := in.Apply(a, actor.KeyID, actor.Lookups, actor.Now)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	if move.To == catalog.ArticulationApproved {
		if err := approve(ctx, s, taxonomy, a, move, &change); err != nil {
			return nil, err
		}
	}
	catalog.ReplaceChanged(&change, before, a, actor.Now)
	if move.To == catalog.ArticulationApproved || move.To == catalog.ArticulationRejected {
		change.SetEvent(catalog.ArticulationDecided, a)
	}
	change.Move(a, move)
	return &change, nil
}

// approve completes the move of an articulation to APPROVED, with what it supersedes,
// and notes in the change what that takes. All that it depends on is read in parallel.
func approve(
	ctx context.Context, s Store, taxonomy func() *skills.Taxonomy, a *catalog.Articulation, move catalog.Move,
	change *catalog.Change,
) error {
	var under []*catalog.Approved
	var leads []*catalog.Approved
	var with catalog.Approval
	granted := grantedCourses(ctx, s, a, true)
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		under, with.Others, err = rivals(ctx, s, a, a.Supersedes)
		return err
	}, func(ctx context.Context) (err error) {
		leads, err = s.Approved(ctx, a.OrganizationID, a.PartKeys())
		return err
	}, func(context.Context) (err error) {
		with.Courses, err = granted()
		return err
	}, func(ctx context.Context) error {
		found, err := sidesOf(ctx, s, a, granted, true)
		if err == nil {
			with.Evidence, err = evidenceOf(ctx, s, taxonomy, found)
		}
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
	change.Lead(a, leads)
	if with.Superseded != nil && catalog.ReplaceChanged(change, was, with.Superseded, move.At) {
		change.Shorten(with.Superseded)
	}
	return change.Grant(a, with.Courses)
}

// grantedCourses returns a function that returns the courses which an articulation grants,
// those that are live. They are read once, however often it is called.
func grantedCourses(
	ctx context.Context, s Store, a *catalog.Articulation, strong bool,
) func() (map[string]*catalog.Course, error) {
	return sync.OnceValues(func() (map[string]*catalog.Course, error) {
		return s.CoursesByID(ctx, a.OrganizationID, a.GrantedCourses(), strong)
	})
}

// rivals reads what is approved under the keys of an articulation, and of that the
// articulations that may conflict with it; except for one that it supersedes, if any.
func rivals(
	ctx context.Context, s Store, a *catalog.Articulation, except *string,
) ([]*catalog.Approved, []*catalog.Articulation, error) {
	under, err := s.Approved(ctx, a.OrganizationID, a.ExactKeys())
	if err != nil {
		return nil, nil, err
	}
	others, err := s.ArticulationsByNumber(
		ctx, a.OrganizationID, a.Overlapping(under, except), catalog.LookupFields, true)
	return under, others, err
}

// Lookup is what is granted for courses of another institution.
type Lookup struct {
	Data      []catalog.Granted        `json:"data" doc:"What is granted, in the order of precedence"`
	Uncovered []string                 `json:"uncovered" doc:"the codes for which nothing is decided, as they were asked for and in that order"`
	Trace     *[]catalog.UncoveredCode `json:"trace,omitempty" doc:"with include=trace: for each uncovered code what was considered"`
}

// Charge counts the items of a call that the table shows; its error ends the call.
type Charge func(ctx context.Context, items int) error

// A look-up is charged an item for each started 50 articulations that it reads. It has at
// most 100 of them in memory.
const (
	lookupItem       = 50
	articulationPage = 100
)

// LookUp returns what is granted for the codes of a query, and with trace also why others
// are uncovered. It is charged while it reads.
func LookUp(
	ctx context.Context, s ApprovedReader, org catalog.OrgID, query catalog.ArticulationQuery, trace bool, charge Charge,
) (*Lookup, error) {
	approved, err := s.Approved(ctx, org, catalog.LookupKeys(query.Institution, query.Codes))
	if err != nil {
		return nil, err
	}
	numbers := catalog.NumbersOf(approved)
	decision := query.Consider(trace)
	var last []*catalog.Articulation
	err = parallel.All(ctx, func(ctx context.Context) error {
		return charge(ctx, items(len(numbers), lookupItem))
	}, func(ctx context.Context) error {
		return eachPage(ctx, s, org, numbers, func(page []*catalog.Articulation) {
			last = page
			for _, a := range page {
				decision.Add(a)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	out := &Lookup{}
	var why []catalog.UncoveredCode
	out.Data, out.Uncovered, why = decision.Decide()
	if trace {
		out.Trace = &why
	}
	return out, fill(ctx, s, org, out.Data, last)
}

// items returns how many items a number of records is.
func items(records, each int) int { return (records + each - 1) / each }

// eachPage passes the articulations with the sequence numbers to visit, a page at a time.
func eachPage(
	ctx context.Context, s ApprovedReader, org catalog.OrgID, numbers []int, visit func([]*catalog.Articulation),
) error {
	for chunk := range slices.Chunk(numbers, articulationPage) {
		page, err := s.ArticulationsByNumber(ctx, org, chunk, catalog.LookupFields, true)
		if err != nil {
			return err
		}
		visit(page)
	}
	return nil
}

// fill adds what the articulations grant; those that are not at hand any more are read again.
func fill(
	ctx context.Context, s ApprovedReader, org catalog.OrgID, granted []catalog.Granted, atHand []*catalog.Articulation,
) error {
	found := map[string]*catalog.Articulation{}
	for _, a := range atHand {
		found[a.ID] = a
	}
	var again []int
	for _, g := range granted {
		if found[g.ArticulationID] == nil {
			seq, _ := catalog.Sequence(catalog.ArticulationKind, g.ArticulationID)
			again = append(again, seq)
		}
	}
	more, err := s.ArticulationsByNumber(ctx, org, again, catalog.LookupFields, true)
	if err != nil {
		return err
	}
	for _, a := range more {
		found[a.ID] = a
	}
	for i := range granted {
		a := found[granted[i].ArticulationID]
		if a == nil { // an approved one is never deleted
			return fmt.Errorf("articulation %s is gone", granted[i].ArticulationID)
		}
		granted[i].Fill(a)
	}
	return nil
}

// decisions are articulations by the keys that lead to them.
type decisions struct {
	under map[catalog.ApprovedKey][]*catalog.Articulation
}

// decisionsUnder loads the articulations in force on the day to which the keys lead.
func decisionsUnder(
	ctx context.Context, s ApprovedReader, org catalog.OrgID, keys []catalog.ApprovedKey, day string,
) (decisions, error) {
	d := decisions{under: map[catalog.ApprovedKey][]*catalog.Articulation{}}
	approved, err := s.Approved(ctx, org, keys)
	if err != nil {
		return d, err
	}
	at := map[int]*catalog.Articulation{}
	err = eachPage(ctx, s, org, catalog.NumbersOf(approved), func(page []*catalog.Articulation) {
		for _, a := range page {
			if a.InForce(day) {
				at[a.Number()] = a
			}
		}
	})
	for _, a := range approved {
		for seq := range a.Periods {
			if found := at[seq]; found != nil {
				d.under[a.Key] = append(d.under[a.Key], found)
			}
		}
	}
	return d, err
}

// of lists the articulations to which some of the keys lead; one may stand there twice.
func (d decisions) of(keys []catalog.ApprovedKey) (some []*catalog.Articulation) {
	for _, key := range keys {
		some = append(some, d.under[key]...)
	}
	return some
}

// History loads an articulation with its moves.
func History(
	ctx context.Context, s Store, org catalog.OrgID, id string, strong bool,
) (*catalog.Articulation, []catalog.Move, error) {
	return parallel.Two(ctx, func(ctx context.Context) (*catalog.Articulation, error) {
		return s.Articulation(ctx, org, id, strong)
	}, func(ctx context.Context) ([]catalog.Move, error) {
		return s.Moves(ctx, org, id)
	})
}

// DecisionOn loads an articulation with its history and what it rests on.
func DecisionOn(
	ctx context.Context, s Store, taxonomy func() *skills.Taxonomy, org catalog.OrgID, id string,
) (alignment.Decision, error) {
	d := alignment.Decision{
		SkillName: func(id string) string { name, _ := taxonomy().Name(id); return name },
		Related:   func(id string) []string { return taxonomy().Related(id) },
	}
	var err error
	d.Articulation, d.Moves, err = History(ctx, s, org, id, false)
	if err != nil {
		return d, err
	}
	granted := grantedCourses(ctx, s, d.Articulation, false)
	err = parallel.All(ctx, func(context.Context) (err error) {
		d.Courses, err = granted()
		return err
	}, func(ctx context.Context) (err error) {
		d.Programs, err = s.ProgramsByID(ctx, org, d.Articulation.ProgramIDs, false)
		return err
	}, func(ctx context.Context) error {
		return loadEvidence(ctx, s, taxonomy, &d, granted)
	})
	return d, err
}
