package dynamo

import (
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
)

// outcomesOf reads the outcomes of a course or program; an empty list if there are none.
func (s *Store) outcomesOf(ctx context.Context, owner catalog.Record) (*catalog.OutcomeList, error) {
	r, err := s.Record(ctx, owner.Base().OrganizationID, catalog.OutcomeListKind, "",
		catalog.OutcomeListID(owner.Base().ID), true)
	if catalog.HasCode(err, catalog.NotFound) {
		return catalog.NewOutcomeList(owner), nil
	}
	if err != nil {
		return nil, err
	}
	return r.(*catalog.OutcomeList), nil
}

// finishOutcomes is Finish for the outcomes of a course or program: the owner, and the section that takes its skills
// from them, change with the list. What was read before of statements that stay remains among the results.
func (s *Store) finishOutcomes(ctx context.Context, task *catalog.Task, result *catalog.ExtractionResult) error {
	event := catalog.ExtractionCompleted
	if result.Failure != nil {
		event = catalog.ExtractionFailed
	}
	for {
		var change catalog.Change
		list, owner, err := s.concluded(ctx, task, *result, &change)
		if err != nil {
			return err
		}
		change.SetEvent(event, owner)
		err = s.Commit(ctx, list.OrganizationID, &change)
		if !errors.Is(err, catalog.ErrStale) {
			return err
		}
	}
}

// concluded loads a list that the task has claimed, and adds the result to it and to what follows from it.
func (s *Store) concluded(
	ctx context.Context, task *catalog.Task, result catalog.ExtractionResult, change *catalog.Change,
) (*catalog.OutcomeList, catalog.Record, error) {
	org, ownerID := task.Job.OrganizationID, task.Outcomes.OwnerID
	var row item
	var owner, section catalog.Record
	var before *catalog.ExtractionResult
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		row, err = s.row(groupCtx, jobKey(task.Job), true)
		return err
	})
	group.Go(func() (err error) {
		owner, err = s.Record(groupCtx, org, catalog.OutcomeOwner(ownerID), "", ownerID, true)
		return err
	})
	group.Go(func() error {
		id := catalog.DefaultSectionID(ownerID)
		sections, err := s.RecordsByID(groupCtx, org, catalog.SectionKind, []string{id}, true)
		section = sections[id]
		return err
	})
	group.Go(func() (err error) {
		before, err = s.ExtractionResult(groupCtx, org, task.Outcomes.ID)
		return err
	})
	err := group.Wait()
	if course, ok := owner.(*catalog.Course); ok && err == nil && section == nil { // an early one
		section, err = s.Record(ctx, org, catalog.SectionKind, "", course.DefaultSectionID, true)
	}
	if err == nil && row == nil || catalog.HasCode(err, catalog.NotFound) {
		err = catalog.ErrFinished
	}
	if err != nil {
		return nil, nil, err
	}
	x, err := decodeExtraction(task.Job.Kind, row)
	if err != nil {
		return nil, nil, err
	}
	if x.LeaseToken != task.Lease || !catalog.Completing.StartsIn(x.ProcessingStatus) {
		return nil, nil, catalog.ErrFinished
	}
	list := x.record.(*catalog.OutcomeList)
	was := catalog.Copy(list)
	list.Outcomes = slices.Clone(list.Outcomes)
	result.Provenance.FinishedAt = s.Now()
	if result.Failure == nil {
		result.Statements = list.Read(result.Statements, before)
		change.ReplaceResult(list, &result)
	}
	list.ApplyResult(&result)
	followed, _ := section.(*catalog.Section)
	return list, owner, change.SaveOutcomes(was, list, owner, followed, s.Now())
}
