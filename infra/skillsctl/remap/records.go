package remap

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/skills"
)

// Extracted reads the records of an organization for which skills are extracted: sections and transfer courses.
func Extracted(ctx context.Context, store *dynamo.Store, org catalog.OrgID) (records []catalog.Record, err error) {
	sections, err := store.AllSections(ctx, org)
	if err != nil {
		return nil, err
	}
	for _, section := range sections {
		records = append(records, section)
	}
	err = pages(ctx, org, store.TransferPackages, func(p *catalog.TransferPackage) error {
		courses, err := store.TransferCourses(ctx, org, p.ID)
		for _, course := range courses {
			records = append(records, course)
		}
		return err
	})
	return records, err
}

// Records reads all records of an organization that refer to skills: also its jobs and reports.
func Records(ctx context.Context, store *dynamo.Store, org catalog.OrgID) ([]catalog.Record, error) {
	records, err := Extracted(ctx, store, org)
	if err != nil {
		return nil, err
	}
	if err := pages(ctx, org, store.Jobs, func(j *catalog.Job) error {
		records = append(records, j)
		return nil
	}); err != nil {
		return nil, err
	}
	err = pages(ctx, org, store.Reports, func(r *catalog.Report) error {
		records = append(records, r)
		return nil
	})
	return records, err
}

// pages calls visit for every record of a list.
func pages[R any](
	ctx context.Context, org catalog.OrgID,
	list func(ctx context.Context, org catalog.OrgID, offset, limit int) ([]R, int, error), visit func(R) error,
) error {
	const page = 100
	for offset, total := 0, 1; offset < total; offset += page {
		records, all, err := list(ctx, org, offset, page)
		if err != nil {
			return err
		}
		total = all
		for _, record := range records {
			if err := visit(record); err != nil {
				return err
			}
		}
	}
	return nil
}

// Share counts the skills in use, and those of them that a taxonomy knows.
type Share struct {
	InUse int `json:"inUse"`
	Known int `json:"known"`
}

// String returns the share for people.
func (s Share) String() string {
	percent := 100.0
	if s.InUse > 0 {
		percent = 100 * float64(s.Known) / float64(s.InUse)
	}
	return fmt.Sprintf("%d of %d known (%.1f%%)", s.Known, s.InUse, percent)
}

// ShareOf counts the skills in use by all organizations.
func ShareOf(ctx context.Context, store *dynamo.Store, t *skills.Taxonomy) (Share, error) {
	organizations, err := store.Organizations(ctx)
	if err != nil {
		return Share{}, err
	}
	usage := t.Usage(nil)
	for _, o := range organizations {
		records, err := Records(ctx, store, o.ID)
		if err != nil {
			return Share{}, err
		}
		for _, record := range records {
			catalog.EachSkill(record, func(id, _ string) { usage.Add(id) })
		}
	}
	return Share{usage.InUse(), usage.InUse() - usage.Unknown()}, nil
}
