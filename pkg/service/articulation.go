package service

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// NamedBy returns the lookups with the records to which an articulation's input refers by id.
func (a Actor) NamedBy(ctx context.Context, in catalog.ArticulationInput) (catalog.Lookups, error) {
	l := a.Lookups
	courses, transferCourses, programs, articulations := in.Names()
	err := parallel.All(ctx,
		parallel.Into(&l.Courses, byID[*catalog.Course](a, courses...)),
		parallel.Into(&l.Programs, byID[*catalog.Program](a, programs...)),
		parallel.Into(&l.Articulations, byID[*catalog.Articulation](a, articulations...)),
		func(ctx context.Context) (err error) {
			l.TransferCourses, _, err = a.Store.TransferCoursesByID(ctx, a.Org, transferCourses)
			return err
		})
	return l, err
}

// CreateArticulation creates a DRAFT, whose input refers to records by id.
func (a Actor) CreateArticulation(
	ctx context.Context, in catalog.ArticulationInput,
) (*catalog.Articulation, *catalog.Change, error) {
	draft, change := &catalog.Articulation{}, &catalog.Change{}
	named, dir, err := parallel.Two(ctx, parallel.Call(a.NamedBy, in),
		parallel.Call2(a.Store.Directory, a.Org, catalog.ArticulationKind))
	if err == nil {
		err = catalog.Apply(in, draft, named)
	}
	if err == nil {
		change.Add(draft, a.IDs, dir, a.Clock)
	}
	return draft, change, err
}

// ReviseArticulation applies an input to a loaded articulation and reports whether it changes. If the period of an
// approved one changes, the conditions of its approval are checked again.
func (a Actor) ReviseArticulation(
	ctx context.Context, articulation *catalog.Articulation, in catalog.ArticulationInput, change *catalog.Change,
) (changed bool, err error) {
	before := *articulation
	if err := in.Revise(articulation, a.Lookups); err != nil {
		return false, err
	}
	if articulation.Status == catalog.ArticulationApproved && before.Period() != articulation.Period() {
		if err := a.extendApproval(ctx, articulation, change); err != nil {
			return false, err
		}
	}
	return catalog.ReplaceChanged(change, before, articulation, a.Now), nil
}

// extendApproval checks the conditions of an approval for a new period.
func (a Actor) extendApproval(
	ctx context.Context, articulation *catalog.Articulation, change *catalog.Change,
) error {
	var under []*catalog.Approved
	var others []*catalog.Articulation
	var courses map[string]*catalog.Course
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		under, others, err = a.rivals(ctx, articulation, nil)
		return err
	}, parallel.Into(&courses, byID[*catalog.Course](a, articulation.GrantedCourses()...)))
	if err == nil {
		err = articulation.CheckConflicts(others, "body.effectiveTo")
	}
	if err == nil && !articulation.EndedBefore(catalog.DateOf(a.Now)) {
		err = change.GrantCourses(articulation, courses)
	}
	if err == nil {
		change.AddEntries(articulation, under)
	}
	return err
}

// MoveArticulation changes the status of a loaded articulation. It opens the taxonomy only if an approval has evidence
// to compare.
func (a Actor) MoveArticulation(
	ctx context.Context, articulation *catalog.Articulation, in catalog.MoveInput,
) (*catalog.Change, error) {
	before := *articulation
	move, err := in.Apply(articulation, a.KeyID, a.Lookups, a.Now)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	if move.To == catalog.ArticulationApproved {
		if err := a.approve(ctx, articulation, move, &change); err != nil {
			return nil, err
		}
	}
	catalog.ReplaceChanged(&change, before, articulation, a.Now)
	if move.To == catalog.ArticulationApproved || move.To == catalog.ArticulationRejected {
		change.SetEvent(catalog.ArticulationDecided, articulation)
	}
	change.Move(articulation, move)
	return &change, nil
}

// approve completes the move of an articulation to APPROVED, and ends the one that it supersedes. It reads everything
// that the approval depends on in parallel.
func (a Actor) approve(
	ctx context.Context, articulation *catalog.Articulation, move catalog.Move, change *catalog.Change,
) error {
	var under, leads []*catalog.Approved
	var with catalog.Approval
	granted := a.grantedCourses(ctx, articulation)
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		under, with.Others, err = a.rivals(ctx, articulation, articulation.Supersedes)
		return err
	}, parallel.Into(&leads, parallel.Call2(a.Store.Approved, a.Org, articulation.PartKeys())), func(
		context.Context,
	) (err error) {
		with.Courses, err = granted()
		return err
	}, func(ctx context.Context) error {
		found, err := a.sidesOf(ctx, articulation, granted)
		if err == nil {
			with.Evidence, err = a.evidenceOf(ctx, found)
		}
		return err
	}, func(ctx context.Context) error {
		if articulation.Supersedes == nil {
			return nil
		}
		found, err := byID[*catalog.Articulation](a, *articulation.Supersedes)(ctx)
		with.Superseded = found[*articulation.Supersedes]
		return err
	})
	if err != nil {
		return err
	}
	var was catalog.Articulation
	if with.Superseded != nil {
		was = *with.Superseded
	}
	if err := articulation.Approve(move, with); err != nil {
		return err
	}
	change.AddEntries(articulation, under)
	change.AddHints(articulation, leads)
	if with.Superseded != nil && catalog.ReplaceChanged(change, was, with.Superseded, move.At) {
		change.ShortenEntries(with.Superseded)
	}
	return change.GrantCourses(articulation, with.Courses)
}

// grantedCourses returns a function that returns the existing courses that an articulation grants. They are read once.
func (a Actor) grantedCourses(
	ctx context.Context, articulation *catalog.Articulation,
) func() (map[string]*catalog.Course, error) {
	load := byID[*catalog.Course](a, articulation.GrantedCourses()...)
	return sync.OnceValues(func() (map[string]*catalog.Course, error) { return load(ctx) })
}

// rivals reads the approved entries under the keys of an articulation, and the articulations among them that may
// conflict with it, except for the one that it supersedes.
func (a Actor) rivals(
	ctx context.Context, articulation *catalog.Articulation, except *string,
) ([]*catalog.Approved, []*catalog.Articulation, error) {
	under, err := a.Store.Approved(ctx, a.Org, articulation.ExactKeys())
	if err != nil {
		return nil, nil, err
	}
	others, err := a.Store.ArticulationsByNumber(
		ctx, a.Org, articulation.Overlapping(under, except), catalog.LookupFields, true)
	return under, others, err
}

// Lookup is what is granted for courses of another institution.
type Lookup struct {
	Data      []catalog.Granted        `json:"data" doc:"Grants, in order of precedence"`
	Uncovered []string                 `json:"uncovered" doc:"Requested codes without a grant, as they were spelled and in that order"`
	Trace     *[]catalog.UncoveredCode `json:"trace,omitempty" doc:"With include=trace: for each uncovered code, what was considered"`
}

// Charge counts the items that a call is charged for; its error ends the call.
type Charge func(ctx context.Context, items int) error

// A lookup is charged an item for every 50 articulations, or part of 50, that it reads, and keeps at most 100 of them
// in memory.
const (
	lookupItem       = 50
	articulationPage = 100
)

// LookUp returns what is granted for the codes of a query and, with trace, also why the others are uncovered. It is
// charged while it reads.
func (a Actor) LookUp(
	ctx context.Context, query catalog.ArticulationQuery, trace bool, charge Charge,
) (*Lookup, error) {
	approved, err := a.Store.Approved(ctx, a.Org, catalog.LookupKeys(query.Institution, query.Codes))
	if err != nil {
		return nil, err
	}
	numbers := catalog.NumbersOf(approved)
	decision := query.Consider(trace)
	var last []*catalog.Articulation
	err = parallel.All(ctx, func(ctx context.Context) error {
		return charge(ctx, items(len(numbers), lookupItem))
	}, func(ctx context.Context) error {
		return a.eachPage(ctx, numbers, func(page []*catalog.Articulation) {
			last = page
			for _, found := range page {
				decision.Add(found)
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
	return out, a.fillGrants(ctx, out.Data, last)
}

// items returns how many items of a size a number of records fills, counting the last one as full.
func items(records, each int) int { return (records + each - 1) / each }

// eachPage passes the articulations with the sequence numbers to visit, one page at a time.
func (a Actor) eachPage(ctx context.Context, numbers []int, visit func([]*catalog.Articulation)) error {
	for chunk := range slices.Chunk(numbers, articulationPage) {
		page, err := a.Store.ArticulationsByNumber(ctx, a.Org, chunk, catalog.LookupFields, true)
		if err != nil {
			return err
		}
		visit(page)
	}
	return nil
}

// fillGrants sets what the articulations grant; those that are not among loaded are read again.
func (a Actor) fillGrants(ctx context.Context, granted []catalog.Granted, loaded []*catalog.Articulation) error {
	found := map[string]*catalog.Articulation{}
	for _, articulation := range loaded {
		found[articulation.ID] = articulation
	}
	var again []int
	for _, g := range granted {
		if found[g.ArticulationID] == nil {
			seq, _ := catalog.Sequence(catalog.ArticulationKind, g.ArticulationID)
			again = append(again, seq)
		}
	}
	more, err := a.Store.ArticulationsByNumber(ctx, a.Org, again, catalog.LookupFields, true)
	if err != nil {
		return err
	}
	for _, articulation := range more {
		found[articulation.ID] = articulation
	}
	for i := range granted {
		articulation := found[granted[i].ArticulationID]
		if articulation == nil { // approved articulations are never deleted
			return fmt.Errorf("articulation %s is missing", granted[i].ArticulationID)
		}
		granted[i].Fill(articulation)
	}
	return nil
}

// decisions are articulations by the keys under which they are entered.
type decisions struct {
	under map[catalog.ApprovedKey][]*catalog.Articulation
}

// decisionsUnder loads the articulations under the keys that are in force on a day.
func (a Actor) decisionsUnder(ctx context.Context, keys []catalog.ApprovedKey, day string) (decisions, error) {
	d := decisions{under: map[catalog.ApprovedKey][]*catalog.Articulation{}}
	approved, err := a.Store.Approved(ctx, a.Org, keys)
	if err != nil {
		return d, err
	}
	at := map[int]*catalog.Articulation{}
	err = a.eachPage(ctx, catalog.NumbersOf(approved), func(page []*catalog.Articulation) {
		for _, articulation := range page {
			if articulation.InForce(day) {
				at[articulation.Number()] = articulation
			}
		}
	})
	for _, entry := range approved {
		for seq := range entry.Periods {
			if found := at[seq]; found != nil {
				d.under[entry.Key] = append(d.under[entry.Key], found)
			}
		}
	}
	return d, err
}

// of lists the articulations under some of the keys, with duplicates.
func (d decisions) of(keys []catalog.ApprovedKey) (some []*catalog.Articulation) {
	for _, key := range keys {
		some = append(some, d.under[key]...)
	}
	return some
}

// History loads an articulation with its moves.
func (a Actor) History(ctx context.Context, id string) (*catalog.Articulation, []catalog.Move, error) {
	return parallel.Two(ctx, one[*catalog.Articulation](a, id), parallel.Call2(a.Store.Moves, a.Org, id))
}

// DecisionOn loads an articulation with its history and evidence.
func (a Actor) DecisionOn(ctx context.Context, id string) (alignment.Decision, error) {
	d := alignment.Decision{
		SkillName: func(id string) string { name, _ := a.Taxonomy().Name(id); return name },
		Related:   func(id string) []string { return a.Taxonomy().Related(id) },
	}
	var err error
	if d.Articulation, d.Moves, err = a.History(ctx, id); err != nil {
		return d, err
	}
	granted := a.grantedCourses(ctx, d.Articulation)
	loadPrograms := byID[*catalog.Program](a, d.Articulation.ProgramIDs...)
	err = parallel.All(ctx, parallel.Into(&d.Programs, loadPrograms), func(context.Context) (err error) {
		d.Courses, err = granted()
		return err
	}, func(ctx context.Context) error {
		return a.loadEvidence(ctx, &d, granted)
	})
	return d, err
}
