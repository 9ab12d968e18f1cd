package remap

import (
	"cmp"
	"context"
	"fmt"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/skills"
)

// Extracted reads the records of an organization for which skills are extracted: sections and transfer courses.
func Extracted(ctx context.Context, store *dynamo.Store, org catalog.OrgID) ([]catalog.Record, error) {
	records, err := all(ctx, store, org, catalog.SectionKind, "")
	if err != nil {
		return nil, err
	}
	packages, err := all(ctx, store, org, catalog.TransferPackageKind, "")
	for _, p := range packages {
		courses, err := all(ctx, store, org, catalog.TransferCourseKind, p.Base().ID)
		if err != nil {
			return nil, err
		}
		records = append(records, courses...)
	}
	return records, err
}

// Records reads all records of an organization that refer to skills: also its jobs and reports.
func Records(ctx context.Context, store *dynamo.Store, org catalog.OrgID) ([]catalog.Record, error) {
	records, err := Extracted(ctx, store, org)
	for _, kind := range []catalog.Kind{catalog.JobKind, catalog.ReportKind} {
		more, moreErr := all(ctx, store, org, kind, "")
		records, err = append(records, more...), cmp.Or(err, moreErr)
	}
	return records, err
}

// all reads every record of a kind.
func all(
	ctx context.Context, store *dynamo.Store, org catalog.OrgID, kind catalog.Kind, parent string,
) (records []catalog.Record, err error) {
	err = store.EachRecord(ctx, org, kind, parent, func(r catalog.Record) error {
		records = append(records, r)
		return nil
	})
	return records, err
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
