package service

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Promised finds the outcomes of an organization that name a skill. It keeps the skills of the outcomes of the
// organizations that asked last, and follows the change feed. Its zero value is ready for use.
type Promised struct{ kept kept[*promised] }

// PromisedOutcome is an outcome with the code and the name of its course or program.
type PromisedOutcome struct {
	List    *catalog.OutcomeList
	Outcome catalog.Outcome
	Code    string
	Name    string
}

// promised has the skills of an organization's outcomes at one point of its change feed, by the id of the course or
// program.
type promised struct {
	of map[string]promises
	at catalog.Cursor
}

type promises struct {
	code, name string
	skills     []promisedSkill
}

// promisedSkill is a skill of an outcome at a place in its list.
type promisedSkill struct {
	id      string
	level   int
	outcome string
	place   int
}

// promisedChanges is the number of changes after which all outcomes are read again.
const promisedChanges = 1_000

// Find returns a page of the outcomes that name a skill at a level or above, by the name of their course or program and
// their place, and how many there are.
func (x *Promised) Find(
	ctx context.Context, a Actor, s Searched, skillID string, level, offset, limit int,
) (page []PromisedOutcome, total int, err error) {
	for range searchAttempts {
		all, err := x.promised(ctx, a, s)
		if err != nil {
			return nil, 0, err
		}
		matches := all.matches(skillID, level)
		wanted := matches[min(offset, len(matches)):]
		wanted = wanted[:min(limit, len(wanted))]
		owners := make([]string, len(wanted))
		for i, m := range wanted {
			owners[i] = m.owner
		}
		lists, err := a.OutcomeLists(ctx, owners...)
		if err != nil {
			return nil, 0, err
		}
		page = make([]PromisedOutcome, 0, len(wanted))
		for _, m := range wanted {
			if list := lists[m.owner]; list != nil && names(list.Find(m.outcome), skillID, level) {
				page = append(page, PromisedOutcome{list, *list.Find(m.outcome), m.code, m.name})
			}
		}
		if len(page) == len(wanted) {
			return page, len(matches), nil
		}
		// A list was changed or deleted since the feed was read.
	}
	return nil, 0, catalog.Errorf(catalog.Unavailable, "The list is changing too fast at the moment.")
}

func names(o *catalog.Outcome, skillID string, level int) bool {
	return o != nil && slices.ContainsFunc(o.Skills, func(s catalog.SkillRef) bool {
		return s.SkillID == skillID && s.Level >= level
	})
}

type promisedMatch struct {
	promises
	promisedSkill
	owner string
}

func (p *promised) matches(skillID string, level int) (all []promisedMatch) {
	for owner, of := range p.of {
		for _, s := range of.skills {
			if s.id == skillID && s.level >= level {
				all = append(all, promisedMatch{of, s, owner})
			}
		}
	}
	slices.SortFunc(all, func(a, b promisedMatch) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), cmp.Compare(a.owner, b.owner),
			cmp.Compare(a.place, b.place))
	})
	return all
}

// promised returns the skills of the outcomes as they are now.
func (x *Promised) promised(ctx context.Context, a Actor, s Searched) (*promised, error) {
	var fresh *promised
	var err error
	if last, _ := x.kept.get(a.Org, catalog.Cursor{}); last != nil {
		fresh, err = last.follow(ctx, a, s)
	}
	if fresh == nil && err == nil {
		fresh, err = loadPromised(ctx, a, s)
	}
	if err == nil {
		x.kept.put(a.Org, fresh.at, fresh)
	}
	return fresh, err
}

// loadPromised reads all outcomes.
func loadPromised(ctx context.Context, a Actor, s Searched) (*promised, error) {
	end, err := s.FeedEnd(ctx, a.Org)
	if err != nil {
		return nil, err
	}
	var courses, programs []catalog.Record
	lists := map[string]*catalog.OutcomeList{}
	err = parallel.All(ctx, func(ctx context.Context) (err error) {
		courses, err = s.Titles(ctx, a.Org, catalog.CourseKind)
		return err
	}, func(ctx context.Context) (err error) {
		programs, err = s.Titles(ctx, a.Org, catalog.ProgramKind)
		return err
	}, func(ctx context.Context) error {
		return Each(ctx, s, a.Org, "", func(list *catalog.OutcomeList) error {
			lists[list.OwnerID] = list
			return nil
		})
	})
	fresh := &promised{map[string]promises{}, end}
	for _, owner := range slices.Concat(courses, programs) {
		fresh.add(owner, lists[owner.Base().ID])
	}
	return fresh, err
}

func (p *promised) add(owner catalog.Record, list *catalog.OutcomeList) {
	if list == nil || len(list.Outcomes) == 0 {
		return
	}
	code, name := catalog.TitleOf(owner)
	of := promises{code: code, name: name}
	for place, o := range list.Outcomes {
		for _, s := range o.Skills {
			of.skills = append(of.skills, promisedSkill{s.SkillID, s.Level, o.ID, place})
		}
	}
	p.of[owner.Base().ID] = of
}

// follow applies the changes since the outcomes were read; nil if they are too many.
func (p *promised) follow(ctx context.Context, a Actor, s Searched) (*promised, error) {
	changes, more, err := s.Changes(ctx, a.Org, p.at.String(), promisedChanges)
	if err != nil || more {
		return nil, err
	}
	next := &promised{p.of, p.at}
	touched := map[string]bool{}
	for _, change := range changes {
		next.at = change.Cursor
		if catalog.OutcomeOwner(change.ID) != "" {
			touched[change.ID] = true
		}
	}
	if len(touched) == 0 {
		return next, nil
	}
	ids := slices.Collect(maps.Keys(touched))
	owners := make([]map[string]catalog.Record, 2)
	var lists map[string]*catalog.OutcomeList
	err = parallel.All(ctx, func(ctx context.Context) (err error) {
		owners[0], err = s.RecordsByID(ctx, a.Org, catalog.CourseKind, ids, true)
		return err
	}, func(ctx context.Context) (err error) {
		owners[1], err = s.RecordsByID(ctx, a.Org, catalog.ProgramKind, ids, true)
		return err
	}, func(ctx context.Context) (err error) {
		lists, err = a.OutcomeLists(ctx, ids...)
		return err
	})
	next.of = maps.Clone(p.of)
	for _, id := range ids {
		delete(next.of, id)
		for _, found := range owners {
			if owner := found[id]; owner != nil {
				next.add(owner, lists[id])
			}
		}
	}
	return next, err
}
