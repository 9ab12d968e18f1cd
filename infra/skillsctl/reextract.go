package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// restartBatch is the number of records restarted in one transaction.
const restartBatch = 40

type reextract struct {
	Organization catalog.OrgID `placeholder:"ID" help:"Limit to one organization."`
	Wait         bool          `default:"true" negatable:"" help:"Wait until all extractions have finished."`
}

// Run sets every section and transfer course with a text to extract skills from back to PENDING, default sections with
// their courses' descriptions included, and waits for the extractions. It also brings courses' references to sections
// up to date.
func (c *reextract) Run(ctx context.Context, t *tool, s *service) error {
	orgs, err := s.organizations(ctx, c.Organization)
	if err != nil {
		return err
	}
	var restarted []catalog.Record
	for _, org := range orgs {
		records, err := remap.Extracted(ctx, s.store, org)
		if err != nil {
			return err
		}
		if err := t.alterAll(ctx, s, "queueing "+string(org), org, records, restartBatch, s.restart); err != nil {
			return err
		}
		restarted = append(restarted, slices.DeleteFunc(records, func(r catalog.Record) bool { return !unfinished(r) })...)
	}
	result := struct {
		Queued    int `json:"queued"`
		Completed int `json:"completed"`
		Failed    int `json:"failed"`
	}{Queued: len(restarted)}
	if c.Wait {
		if result.Completed, result.Failed, err = t.await(ctx, s, restarted); err != nil {
			return err
		}
	}
	return t.show(result, func(w io.Writer) {
		fmt.Fprintf(w, "%d queued", result.Queued)
		if c.Wait {
			fmt.Fprintf(w, ", %d completed, %d failed", result.Completed, result.Failed)
		}
		fmt.Fprintln(w)
	})
}

// unfinished reports whether the extraction of a record is pending or running.
func unfinished(r catalog.Record) bool {
	state := catalog.ExtractionOf(r)
	return state != nil && (state.ProcessingStatus == catalog.Pending || state.ProcessingStatus == catalog.Processing)
}

// restart sets a record back to PENDING, unless its extraction is unfinished or has nothing to read.
func (s *service) restart(ctx context.Context, change *catalog.Change, record catalog.Record) error {
	if unfinished(record) {
		return nil
	}
	if section, ok := record.(*catalog.Section); ok {
		course, err := s.courseOf(ctx, change, section)
		if err != nil || course == nil {
			return err
		}
		return change.Reextract(section, course, now())
	}
	if list, ok := record.(*catalog.OutcomeList); ok {
		before := catalog.Copy(list)
		owner, err := s.ownerOf(ctx, change, list)
		if err != nil || owner == nil || !list.Forget() {
			return err
		}
		var section *catalog.Section
		if course, ok := owner.(*catalog.Course); ok {
			if section, err = usecase.Get[*catalog.Section](ctx, s.store, list.OrganizationID, course.DefaultSectionID,
				true); err != nil {
				return err
			}
		}
		return change.SaveOutcomes(before, list, owner, section, now())
	}
	before := catalog.Copy(record)
	*catalog.ExtractionOf(record) = catalog.Extraction{ProcessingStatus: catalog.Pending}
	change.Replace(before, record, now())
	return nil
}

// courseOf returns the course of a section as the change leaves it; nil if it was deleted.
func (s *service) courseOf(
	ctx context.Context, change *catalog.Change, section *catalog.Section,
) (*catalog.Course, error) {
	owner, err := s.recordIn(ctx, change, section.OrganizationID, catalog.CourseKind, section.CourseID)
	course, _ := owner.(*catalog.Course)
	return course, err
}

// ownerOf returns the course or program of outcomes as the change leaves it; nil if it was deleted.
func (s *service) ownerOf(
	ctx context.Context, change *catalog.Change, list *catalog.OutcomeList,
) (catalog.Record, error) {
	return s.recordIn(ctx, change, list.OrganizationID, catalog.OutcomeOwner(list.OwnerID), list.OwnerID)
}

// recordIn returns a record as the change leaves it; nil if it was deleted.
func (s *service) recordIn(
	ctx context.Context, change *catalog.Change, org catalog.OrgID, kind catalog.Kind, id string,
) (catalog.Record, error) {
	for _, replaced := range catalog.EffectsOf[*catalog.Replacement](change) {
		if replaced.Record.Base().ID == id {
			return replaced.Record, nil
		}
	}
	record, err := s.store.Record(ctx, org, kind, "", id, true)
	if catalog.HasCode(err, catalog.NotFound) {
		return nil, nil
	}
	return record, err
}

// alteration adds the changes of a record to a change. It may be called several times for a record.
type alteration func(context.Context, *catalog.Change, catalog.Record) error

// alterAll changes many records in batches.
func (t *tool) alterAll(
	ctx context.Context, s *service, what string, org catalog.OrgID, records []catalog.Record, size int,
	decide alteration,
) error {
	step, end := progress(t.stderr, what)
	defer end()
	done := 0
	for batch := range slices.Chunk(records, size) {
		if err := s.alter(ctx, org, batch, decide); err != nil {
			return err
		}
		done += len(batch)
		step(done, len(records))
	}
	return nil
}

// alter changes records in one transaction. If they were changed concurrently or are too large for one, it reloads them
// and changes them one by one.
func (s *service) alter(ctx context.Context, org catalog.OrgID, records []catalog.Record, decide alteration) error {
	var change catalog.Change
	for _, record := range records {
		if err := decide(ctx, &change, record); err != nil {
			return err
		}
	}
	if change.Empty() {
		return nil
	}
	err := s.store.Commit(ctx, org, &change)
	if err == nil {
		if jobs := change.Jobs(); s.queue != nil && len(jobs) > 0 {
			_ = s.queue.Send(ctx, jobs) // the sweeper sends the jobs that are lost
		}
		return nil
	}
	if len(records) == 1 && !errors.Is(err, catalog.ErrStale) {
		return err
	}
	for i, record := range records {
		fresh, err := s.reload(ctx, record)
		if err != nil {
			return err
		}
		if fresh == nil {
			continue // deleted in the meantime
		}
		records[i] = fresh
		if len(records) == 1 {
			if err := pause(ctx, 50*time.Millisecond); err != nil {
				return err
			}
		}
		if err := s.alter(ctx, org, records[i:i+1], decide); err != nil {
			return err
		}
	}
	return nil
}

// reload reads the current state of a record; nil if it was deleted.
func (s *service) reload(ctx context.Context, r catalog.Record) (catalog.Record, error) {
	fresh, err := s.store.Reload(ctx, r)
	if catalog.HasCode(err, catalog.NotFound) {
		return nil, nil
	}
	return fresh, err
}

// await polls records until all extractions have finished.
func (t *tool) await(ctx context.Context, s *service, open []catalog.Record) (completed, failed int, err error) {
	step, end := progress(t.stderr, "extracting")
	defer end()
	all := len(open)
	for len(open) > 0 {
		if err := t.pause(ctx, time.Second); err != nil {
			return completed, failed, err
		}
		var still []catalog.Record
		for i, record := range open {
			fresh, err := s.reload(ctx, record)
			if err != nil {
				return completed, failed, err
			}
			if fresh == nil {
				continue
			}
			switch {
			case unfinished(fresh):
				still = append(still, fresh)
			case catalog.ExtractionOf(fresh).ProcessingStatus == catalog.Completed:
				completed++
			default:
				failed++
			}
			step(all-len(still)-(len(open)-i-1), all)
			if len(still) > 20 { // the rest is further back in the queue
				still = append(still, open[i+1:]...)
				break
			}
		}
		open = still
	}
	return completed, failed, nil
}
