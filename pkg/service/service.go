// Package service implements the use cases: the decisions of requests, imports, the demo and batches on records that
// they load. Each is a function that returns a record with its catalog.Change. Rules that read nothing belong to
// package catalog; a plain read is not a use case.
//
// The package saves nothing and does not depend on HTTP: the caller decodes, admits and commits. A use case may run
// again when its change is stale, so it never changes its input.
package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service/parallel"
	"skillscurriculum/pkg/skills"
)

// Actor runs use cases for an organization.
type Actor struct {
	Org   catalog.OrgID
	KeyID string       // id of the API key, or the name of the tool that decides
	Now   catalog.Time // start of the use case
	// Clock is read again for new records, after the directory of their list.
	Clock func() catalog.Time
	IDs   catalog.IDs
	// Name looks up the external id of a new record, in parallel with the directory of its list; may be nil.
	Name func(ctx context.Context, kind catalog.Kind, external string) error
	// Lookups are what rules need besides records, which use cases add.
	Lookups catalog.Lookups

	Store    Store
	Market   labor.Source
	Taxonomy func() *skills.Taxonomy
	Index    *Index
	// Eventual permits slightly stale reads, for use cases that return no change.
	Eventual bool
}

// Queue receives extractions to run. The sweeper finds those that it loses.
type Queue interface {
	Send(ctx context.Context, jobs []catalog.ExtractionJob) error
}

// Directories reads the directories of lists with strong reads.
type Directories interface {
	Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error)
}

// Load reads records.
type Load[R any] func(context.Context) (R, error)

// one returns the load of a record whose kind is not nested.
func one[R catalog.Record](a Actor, id string) Load[R] {
	return func(ctx context.Context) (R, error) { return Get[R](ctx, a.Store, a.Org, id, !a.Eventual) }
}

// byID returns the load of records by id.
func byID[R catalog.Record](a Actor, ids ...string) Load[map[string]R] {
	return func(ctx context.Context) (map[string]R, error) {
		return GetByID[R](ctx, a.Store, a.Org, ids, !a.Eventual)
	}
}

// Create applies an input to a new record of a list.
func Create[R catalog.Record](
	ctx context.Context, a Actor, in catalog.Input[R], record R, change *catalog.Change,
) error {
	if err := catalog.Apply(in, record, a.Lookups); err != nil {
		return err
	}
	return a.add(ctx, record, change)
}

// add gives a new record a place in its list.
func (a Actor) add(ctx context.Context, record catalog.Record, change *catalog.Change) error {
	dir, err := a.directoryFor(ctx, record)
	if err == nil {
		change.Add(record, a.IDs, dir, a.Clock)
	}
	return err
}

// directoryFor reads the directory of a new record's list.
func (a Actor) directoryFor(ctx context.Context, record catalog.Record) (dir *catalog.Directory, err error) {
	kind, external := catalog.KindOf(record), catalog.ExternalOf(record)
	err = parallel.All(ctx, func(ctx context.Context) (err error) {
		dir, err = a.Store.Directory(ctx, a.Org, kind)
		return err
	}, func(ctx context.Context) error {
		if a.Name == nil || external == nil || external.ExternalID == nil {
			return nil
		}
		return a.Name(ctx, kind, *external.ExternalID)
	})
	return dir, err
}

// CreateExtraction requests the skills of a text or syllabus that belongs to no other record.
func (a Actor) CreateExtraction(
	in catalog.SyllabusExtractionInput, change *catalog.Change,
) (*catalog.SyllabusExtraction, error) {
	e := &catalog.SyllabusExtraction{Meta: catalog.NewMeta(a.IDs.Of(catalog.SyllabusExtractionKind), a.Org, a.Now)}
	if err := catalog.Apply(in, e, a.Lookups); err != nil {
		return nil, err
	}
	change.Create(e, nil)
	if words := in.Text.Value; words != nil {
		change.StoreText(e, *words)
	}
	return e, nil
}

// Update applies an input to a loaded record. The change is empty if the record stays the same.
func Update[T any, R interface {
	*T
	catalog.Record
}](a Actor, in catalog.Input[R], record R) (R, *catalog.Change, error) {
	before := *record
	if err := catalog.Apply(in, record, a.Lookups); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	catalog.ReplaceChanged(&change, before, record, a.Now)
	return record, &change, nil
}

// Delete deletes a record of a list on which no other record depends. It returns the error of a check that refuses
// the record.
func Delete[R catalog.Record](
	ctx context.Context, a Actor, id string, checks ...func(R) error,
) (*catalog.Change, error) {
	record, dir, err := withDirectory(ctx, a, one[R](a, id))
	for _, check := range checks {
		if err == nil {
			err = check(record)
		}
	}
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Delete(record, a.Now, dir)
	return &change, nil
}

// withDirectory reads a record in parallel with the directory of its list.
func withDirectory[R catalog.Record](ctx context.Context, a Actor, load Load[R]) (R, *catalog.Directory, error) {
	return parallel.Two(ctx, load, func(ctx context.Context) (*catalog.Directory, error) {
		return a.Store.Directory(ctx, a.Org, kindOf[R]())
	})
}

// ReviewTransferCourse replaces the review of a loaded course's skill.
func (a Actor) ReviewTransferCourse(
	course *catalog.TransferCourse, skillID string, in catalog.ReviewInput,
) (*catalog.TransferCourse, *catalog.Change, error) {
	before := *course
	if err := in.Apply(course, skillID, a.KeyID, a.Lookups, a.Now); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	change.Replace(&before, course, a.Now)
	return course, &change, nil
}

// UnreviewTransferCourse removes the review of a loaded course's skill, if there is one.
func (a Actor) UnreviewTransferCourse(course *catalog.TransferCourse, skillID string) (*catalog.Change, error) {
	var change catalog.Change
	before := *course
	removed, err := catalog.Unreview(course, skillID, a.Lookups)
	if removed {
		change.Replace(&before, course, a.Now)
	}
	return &change, err
}
