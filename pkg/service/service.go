// Package service implements the use cases: the decisions of requests, imports, the demo and batches on records that
// they load. Each is a function that returns a record with its catalog.Change. Rules that read nothing belong to
// package catalog; a plain read is not a use case.
//
// The package saves nothing and does not depend on HTTP: the caller decodes, admits and commits. A use case may run
// again when its change is stale, so it never changes its input.
package service

import (
	"context"
	"maps"
	"slices"

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
	err = parallel.All(ctx, parallel.Into(&dir, parallel.Call2(a.Store.Directory, a.Org, kind)), func(
		ctx context.Context,
	) error {
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

// New creates a record of a list.
func New[I catalog.Input[R], T any, R record[T]](
	a Actor, ctx context.Context, in I,
) (R, *catalog.Change, error) {
	created, change := R(new(T)), &catalog.Change{}
	return created, change, Create(ctx, a, in, created, change)
}

// record is the pointer type of a record struct.
type record[T any] interface {
	*T
	catalog.Record
}

// Revise applies an input to the record with an id. The change is empty if the record stays the same.
func Revise[I catalog.Input[R], T any, R record[T]](
	a Actor, ctx context.Context, id string, in I,
) (R, *catalog.Change, error) {
	loaded, err := one[R](a, id)(ctx)
	if err != nil {
		return nil, nil, err
	}
	return update(a, in, loaded)
}

// update is Revise for a loaded record.
func update[T any, R record[T]](a Actor, in catalog.Input[R], record R) (R, *catalog.Change, error) {
	before := *record
	if err := catalog.Apply(in, record, a.Lookups); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	catalog.ReplaceChanged(&change, before, record, a.Now)
	return record, &change, nil
}

// Delete deletes a record of a list on which no other record depends, with its outcomes, and releases the courses that
// it holds. It returns the error of the record's CheckDelete, if it has one.
func Delete[R catalog.Record](a Actor, ctx context.Context, id string) (*catalog.Change, error) {
	var lists map[string]*catalog.OutcomeList
	record, dir, err := withDirectory(ctx, a, withOutcomes(a, one[R](a, id), id, &lists))
	if checked, ok := any(record).(interface{ CheckDelete() error }); ok && err == nil {
		err = checked.CheckDelete()
	}
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	holder, ok := any(record).(catalog.Holder)
	if !ok {
		change.Delete(record, a.Now, dir)
		return &change, nil
	}
	members := holder.Members()
	courses, err := byID[*catalog.Course](a, slices.Collect(maps.Values(members))...)(ctx)
	if err != nil {
		return nil, err
	}
	change.Delete(holder, a.Now, dir)
	change.DeleteOutcomes(lists, a.Now)
	return &change, change.Hold(holder, members, courses)
}

// withDirectory reads a record in parallel with the directory of its list.
func withDirectory[R catalog.Record](ctx context.Context, a Actor, load Load[R]) (R, *catalog.Directory, error) {
	return parallel.Two(ctx, load, parallel.Call2(a.Store.Directory, a.Org, kindOf[R]()))
}
