package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"skillscurriculum/pkg/catalog"
)

// restartBatch is how many records are put back in one transaction.
const restartBatch = 40

type reextract struct {
	Organization catalog.OrgID `placeholder:"ID" help:"Only this organization's."`
	Wait         bool          `default:"true" negatable:"" help:"Wait until all are extracted."`
}

// Run puts every section with a syllabus and every transfer course back to
// PENDING, and waits until all are extracted again.
func (c *reextract) Run(ctx context.Context, t *tool) error {
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	orgs, err := s.organizations(ctx, c.Organization)
	if err != nil {
		return err
	}
	var restarted []catalog.Record
	for _, org := range orgs {
		records, err := t.restartAll(ctx, s, org)
		if err != nil {
			return err
		}
		restarted = append(restarted, records...)
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

// restartAll puts an organization's records back and gives them.
func (t *tool) restartAll(ctx context.Context, s *service, org catalog.OrgID) ([]catalog.Record, error) {
	records, err := s.withSyllabus(ctx, org)
	if err != nil {
		return nil, err
	}
	step, end := progress(t.stderr, "queueing "+string(org))
	defer end()
	for from := 0; from < len(records); from += restartBatch {
		batch := records[from:min(from+restartBatch, len(records))]
		if err := s.restart(ctx, org, batch); err != nil {
			return nil, err
		}
		step(from+len(batch), len(records))
	}
	return records, nil
}

// withSyllabus reads the records of an organization that skills are extracted for.
func (s *service) withSyllabus(ctx context.Context, org catalog.OrgID) ([]catalog.Record, error) {
	records, err := s.withSkills(ctx, org)
	return slices.DeleteFunc(records, func(r catalog.Record) bool {
		section, ok := r.(*catalog.Section)
		return ok && section.SyllabusHref == nil && section.DocumentID == nil
	}), err
}

// withSkills reads the sections and transfer courses of an organization.
func (s *service) withSkills(ctx context.Context, org catalog.OrgID) ([]catalog.Record, error) {
	var records []catalog.Record
	sections, err := s.store.AllSections(ctx, org)
	if err != nil {
		return nil, err
	}
	for _, section := range sections {
		records = append(records, section)
	}
	const page = 100
	for offset, total := 0, 1; offset < total; offset += page {
		var packages []*catalog.TransferPackage
		if packages, total, err = s.store.TransferPackages(ctx, org, offset, page); err != nil {
			return nil, err
		}
		for _, p := range packages {
			courses, err := s.store.TransferCourses(ctx, org, p.ID)
			if err != nil {
				return nil, err
			}
			for _, course := range courses {
				records = append(records, course)
			}
		}
	}
	return records, nil
}

// restart puts records back to PENDING and queues them.
func (s *service) restart(ctx context.Context, org catalog.OrgID, records []catalog.Record) error {
	return s.alter(ctx, org, records, func(_ context.Context, change *catalog.Change, record catalog.Record) error {
		if state := catalog.ExtractionOf(record); state.ProcessingStatus != catalog.Pending && state.ProcessingStatus != catalog.Processing {
			*state = catalog.Extraction{ProcessingStatus: catalog.Pending}
			change.Replace(record, now())
			change.Restart(record)
		}
		return nil
	})
}

// alter changes records, together or, where others change them meanwhile or they are
// too large together, one by one, each as it is then. A record may be passed to decide
// several times.
func (s *service) alter(ctx context.Context, org catalog.OrgID, records []catalog.Record, decide func(context.Context, *catalog.Change, catalog.Record) error) error {
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
		if s.queue != nil && len(change.Jobs) > 0 {
			// What does not reach the queue now, the sweeper sends.
			_ = s.queue.Send(ctx, change.Jobs)
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
			continue // deleted meanwhile
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

// reload reads a record as it is now; nil where it is deleted.
func (s *service) reload(ctx context.Context, r catalog.Record) (catalog.Record, error) {
	fresh, err := s.store.Reload(ctx, r)
	var known *catalog.Error
	if errors.As(err, &known) && known.Code == catalog.NotFound {
		return nil, nil
	}
	return fresh, err
}

// await looks again and again until no extraction is open any more.
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
			switch catalog.ExtractionOf(fresh).ProcessingStatus {
			case catalog.Pending, catalog.Processing:
				still = append(still, fresh)
			case catalog.Completed:
				completed++
			default:
				failed++
			}
			step(all-len(still)-(len(open)-i-1), all)
			if len(still) > 20 { // the rest comes later in the queue
				still = append(still, open[i+1:]...)
				break
			}
		}
		open = still
	}
	return completed, failed, nil
}
