package demo

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
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
	}
	if err := json.Unmarshal(text, &lists); err != nil {
		return err
	}
	if err := replaceOutcomes[*catalog.Program](ctx, l, t.organization, lists.Programs, held); err != nil {
		return err
	}
	return replaceOutcomes[*catalog.Course](ctx, l, t.organization, lists.Courses, held)
}

func replaceOutcomes[R catalog.Record](
	ctx context.Context, l Loader, org catalog.OrgID, lists map[string][]catalog.OutcomeInput, held *heldQueue,
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
		held.jobs = append(held.jobs, change.Jobs()...)
	}
	return nil
}
