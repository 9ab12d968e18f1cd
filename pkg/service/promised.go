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
type Promised struct {
	followed[catalog.OrgID, promised]
}

// PromisedOutcome is an outcome with the code and the name of its course or program.
type PromisedOutcome struct {
	List    *catalog.OutcomeList
	Outcome catalog.Outcome
	Code    string
	Name    string
}

// promised has the skills of an organization's outcomes, by the id of the course or program.
type promised map[string]promises

func (promised) share() float64 { return organizationShare }

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

// Find returns a page of the outcomes that name a skill at a level or above, by the name of their course or program and
// their place, and how many there are.
func (x *Promised) Find(
	ctx context.Context, a Actor, s Searched, skillID string, level, offset, limit int,
) (page []PromisedOutcome, total int, err error) {
	for range searchAttempts {
		all, err := x.now(ctx, s, a.Org, a.Org, func(c catalog.RecordChange) bool {
			return catalog.OutcomeOwner(c.ID) != ""
		}, func(ctx context.Context, last promised, ids []string) (promised, error) {
			return last.reread(ctx, a, s, ids)
		}, func(ctx context.Context) (promised, error) {
			return loadPromised(ctx, a, s)
		})
		if err != nil {
			return nil, 0, err
		}
		matches := all.matches(skillID, level)
		wanted := catalog.PageOf(matches, offset, limit)
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
	return nil, 0, catalog.ChangingTooFast()
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

func (p promised) matches(skillID string, level int) (all []promisedMatch) {
	for owner, of := range p {
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

// loadPromised reads all outcomes.
func loadPromised(ctx context.Context, a Actor, s Searched) (promised, error) {
	var courses, programs []catalog.Record
	lists := map[string]*catalog.OutcomeList{}
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
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
	fresh := promised{}
	for _, owner := range slices.Concat(courses, programs) {
		fresh.add(owner, lists[owner.Base().ID])
	}
	return fresh, err
}

func (p promised) add(owner catalog.Record, list *catalog.OutcomeList) {
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
	p[owner.Base().ID] = of
}

// reread returns a copy with the outcomes of some courses and programs as they are now.
func (p promised) reread(ctx context.Context, a Actor, s Searched, ids []string) (promised, error) {
	var courses, programs map[string]catalog.Record
	var lists map[string]*catalog.OutcomeList
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		courses, err = s.RecordsByID(ctx, a.Org, catalog.CourseKind, ids, true)
		return err
	}, func(ctx context.Context) (err error) {
		programs, err = s.RecordsByID(ctx, a.Org, catalog.ProgramKind, ids, true)
		return err
	}, func(ctx context.Context) (err error) {
		lists, err = a.OutcomeLists(ctx, ids...)
		return err
	})
	next := maps.Clone(p)
	for _, id := range ids {
		delete(next, id)
		if owner := cmp.Or(courses[id], programs[id]); owner != nil {
			next.add(owner, lists[id])
		}
	}
	return next, err
}
