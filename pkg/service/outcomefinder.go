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

// OutcomeFinder finds the outcomes of an organization that name a skill. It keeps the skills of the outcomes of the
// organizations that asked last, and follows the change feed. Its zero value is ready for use.
type OutcomeFinder struct {
	followed[catalog.OrgID, outcomeSkills]
}

// OwnedOutcome is an outcome with the code and the name of its course or program.
type OwnedOutcome struct {
	List    *catalog.OutcomeList
	Outcome catalog.Outcome
	Code    string
	Name    string
}

// outcomeSkills has the skills of an organization's outcomes, by the id of the course or program.
type outcomeSkills map[string]ownerSkills

func (outcomeSkills) share() float64 { return organizationShare }

type ownerSkills struct {
	code, name string
	skills     []outcomeSkill
}

// outcomeSkill is a skill of an outcome at a place in its list.
type outcomeSkill struct {
	id      string
	level   int
	outcome string
	place   int
}

// Find returns a page of the outcomes that name a skill at a level or above, by the name of their course or program and
// their place, and how many there are.
func (x *OutcomeFinder) Find(
	ctx context.Context, a Actor, skillID string, level, offset, limit int,
) (page []OwnedOutcome, total int, err error) {
	for range searchAttempts {
		all, err := x.now(ctx, a, a.Org, func(c catalog.RecordChange) bool {
			return catalog.OutcomeOwner(c.ID) != ""
		}, func(ctx context.Context, last outcomeSkills, ids []string) (outcomeSkills, error) {
			return last.reread(ctx, a, ids)
		}, func(ctx context.Context) (outcomeSkills, error) {
			return loadOutcomeSkills(ctx, a)
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
		page = make([]OwnedOutcome, 0, len(wanted))
		for _, m := range wanted {
			if list := lists[m.owner]; list != nil && names(list.Find(m.outcome), skillID, level) {
				page = append(page, OwnedOutcome{list, *list.Find(m.outcome), m.code, m.name})
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

type outcomeMatch struct {
	ownerSkills
	outcomeSkill
	owner string
}

func (p outcomeSkills) matches(skillID string, level int) (all []outcomeMatch) {
	for owner, of := range p {
		for _, s := range of.skills {
			if s.id == skillID && s.level >= level {
				all = append(all, outcomeMatch{of, s, owner})
			}
		}
	}
	slices.SortFunc(all, func(a, b outcomeMatch) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), cmp.Compare(a.owner, b.owner),
			cmp.Compare(a.place, b.place))
	})
	return all
}

// loadOutcomeSkills reads all outcomes.
func loadOutcomeSkills(ctx context.Context, a Actor) (outcomeSkills, error) {
	var courses, programs []catalog.Record
	lists := map[string]*catalog.OutcomeList{}
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		courses, err = a.Store.Titles(ctx, a.Org, catalog.CourseKind)
		return err
	}, func(ctx context.Context) (err error) {
		programs, err = a.Store.Titles(ctx, a.Org, catalog.ProgramKind)
		return err
	}, func(ctx context.Context) error {
		return Each(ctx, a.Store, a.Org, "", func(list *catalog.OutcomeList) error {
			lists[list.OwnerID] = list
			return nil
		})
	})
	fresh := outcomeSkills{}
	for _, owner := range slices.Concat(courses, programs) {
		fresh.add(owner, lists[owner.Base().ID])
	}
	return fresh, err
}

func (p outcomeSkills) add(owner catalog.Record, list *catalog.OutcomeList) {
	if list == nil || len(list.Outcomes) == 0 {
		return
	}
	code, name := catalog.TitleOf(owner)
	of := ownerSkills{code: code, name: name}
	for place, o := range list.Outcomes {
		for _, s := range o.Skills {
			of.skills = append(of.skills, outcomeSkill{s.SkillID, s.Level, o.ID, place})
		}
	}
	p[owner.Base().ID] = of
}

// reread returns a copy with the outcomes of some courses and programs as they are now.
func (p outcomeSkills) reread(ctx context.Context, a Actor, ids []string) (outcomeSkills, error) {
	var courses, programs map[string]catalog.Record
	var lists map[string]*catalog.OutcomeList
	err := parallel.All(ctx, func(ctx context.Context) (err error) {
		courses, err = a.Store.RecordsByID(ctx, a.Org, catalog.CourseKind, ids, true)
		return err
	}, func(ctx context.Context) (err error) {
		programs, err = a.Store.RecordsByID(ctx, a.Org, catalog.ProgramKind, ids, true)
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
