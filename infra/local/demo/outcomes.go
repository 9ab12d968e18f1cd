package demo

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
)

//go:embed outcomes
var promised embed.FS

// outcomes loads the outcomes of an organization's programs and courses, by their external ids. Lists that exist are
// kept, as users may have changed them.
func (l Loader) outcomes(ctx context.Context, t tenant, held *heldQueue) error {
	text, err := fs.ReadFile(promised, "outcomes/"+t.file)
	if err != nil {
		return err
	}
	var lists struct {
		Programs, Courses map[string][]catalog.OutcomeInput
		Decisions         map[string][]decision // by program
		Unread            []string              // owners whose statements could not be read
	}
	if err := json.Unmarshal(text, &lists); err != nil {
		return err
	}
	if err := replaceOutcomes[*catalog.Program](ctx, l, t.organization, lists.Programs, lists.Unread, held); err != nil {
		return err
	}
	if err := l.decideMaps(ctx, t.organization, lists.Decisions); err != nil {
		return err
	}
	return replaceOutcomes[*catalog.Course](ctx, l, t.organization, lists.Courses, lists.Unread, held)
}

// leaveUnread ends a reading of outcomes as one that failed too often does.
func (l Loader) leaveUnread(ctx context.Context, job catalog.ExtractionJob) error {
	task, err := l.Store.Claim(ctx, job, l.Keyring.IDs.New("run_"), l.Store.Now()+60_000)
	if errors.Is(err, catalog.ErrFinished) || errors.Is(err, catalog.ErrLeased) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.Store.Finish(ctx, task, &catalog.ExtractionResult{Failure: &catalog.Failure{
		Code: catalog.InternalFailure, Message: "The extraction was started too often without completing.",
	}})
}

// decision is the mark of a course, by its external id, for an outcome, by its code. Computed is the mark that is
// computed once everything is read; with another one the decision is to be looked at again.
type decision struct {
	Outcome, Course, Note string
	Mark, Computed        catalog.Mark
	Assessed              bool
}

// decideMaps decides marks of programs whose outcomes have just been loaded.
func (l Loader) decideMaps(ctx context.Context, org catalog.OrgID, decisions map[string][]decision) error {
	programs, err := known[*catalog.Program](ctx, l, org, slices.Sorted(maps.Keys(decisions)))
	if err != nil {
		return err
	}
	actor := l.actor(org)
	for name, program := range programs {
		list, err := actor.Outcomes(ctx, catalog.ProgramKind, program.ID)
		if err != nil {
			return err
		}
		made, err := l.Store.MapDecisions(ctx, org, program.ID)
		if err != nil {
			return err
		}
		if list.List.ProcessingStatus != catalog.Pending || len(made) > 0 {
			continue
		}
		var codes []string
		for _, d := range decisions[name] {
			codes = append(codes, d.Course)
		}
		courses, err := known[*catalog.Course](ctx, l, org, codes)
		if err != nil {
			return err
		}
		for _, d := range decisions[name] {
			at := slices.IndexFunc(list.List.Outcomes, func(o catalog.Outcome) bool {
				return o.Code != nil && *o.Code == d.Outcome
			})
			course := courses[d.Course]
			if at < 0 || course == nil {
				continue
			}
			outcome := &list.List.Outcomes[at]
			decided := catalog.MapDecision{
				DecidedMark: catalog.DecidedMark{
					Mark: d.Mark, Note: &d.Note, DecidedAt: actor.Now, KeyID: actor.KeyID, ComputedThen: d.Computed,
				},
				OutcomeID: outcome.ID, CourseID: course.ID, Assessed: d.Assessed, Statement: outcome.Digest(),
			}
			fresh, err := service.Get[*catalog.Program](ctx, l.Store, org, program.ID, true)
			if err != nil {
				return err
			}
			var change catalog.Change
			change.DecideCell(fresh, outcome.ID, course.ID, &decided, actor.Now)
			if err := l.Store.Commit(ctx, org, &change); err != nil {
				return fmt.Errorf("decision on %s: %w", name, err)
			}
		}
	}
	return nil
}

func replaceOutcomes[R catalog.Record](
	ctx context.Context, l Loader, org catalog.OrgID, lists map[string][]catalog.OutcomeInput, unread []string,
	held *heldQueue,
) error {
	names := slices.Sorted(maps.Keys(lists))
	owners, err := known[R](ctx, l, org, names)
	if err != nil {
		return err
	}
	actor := l.actor(org)
	actor.Lookups.SkillName = skills.Starter().Name
	for _, name := range names {
		owner, found := owners[name]
		if !found {
			continue // deleted by a user
		}
		p, err := actor.Outcomes(ctx, catalog.KindOf(owner), owner.Base().ID)
		if err != nil {
			return err
		}
		if p.List.Stored() {
			continue
		}
		in := catalog.OutcomesInput{Outcomes: lists[name]}
		_, change, err := actor.ReplaceOutcomes(ctx, catalog.KindOf(owner), owner.Base().ID, in)
		if err == nil {
			err = l.Store.Commit(ctx, org, change)
		}
		if err != nil {
			return fmt.Errorf("outcomes of %s: %w", name, err)
		}
		if !slices.Contains(unread, name) {
			held.jobs = append(held.jobs, change.Jobs()...)
			continue
		}
		for _, job := range change.Jobs() {
			if err := l.leaveUnread(ctx, job); err != nil {
				return err
			}
		}
	}
	return nil
}
