package remap

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/skills"
)

// Extracted reads the records of an organization for which skills are extracted: sections, transfer
// courses and outcomes.
func Extracted(ctx context.Context, store *dynamo.Store, org catalog.OrgID) ([]catalog.Record, error) {
	return Of(ctx, store, org, catalog.SectionKind, catalog.TransferCourseKind, catalog.OutcomeListKind)
}

// Records reads all records of an organization that refer to skills: also its jobs and reports.
func Records(ctx context.Context, store *dynamo.Store, org catalog.OrgID) ([]catalog.Record, error) {
	return Of(ctx, store, org, catalog.SectionKind, catalog.TransferCourseKind, catalog.JobKind, catalog.ReportKind,
		catalog.OutcomeListKind)
}

// Of reads the records of an organization of some kinds.
func Of(
	ctx context.Context, store *dynamo.Store, org catalog.OrgID, kinds ...catalog.Kind,
) (records []catalog.Record, err error) {
	for _, kind := range kinds {
		if err := store.EachRecord(ctx, org, kind, "", func(r catalog.Record) error {
			records = append(records, r)
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return records, nil
}

// Share counts the skills in use, and those that are in a taxonomy.
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
