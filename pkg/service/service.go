// Package service has the use cases: what requests, imports, the demo and batches decide on
// records that they load. Each is one function which takes the few reads that it needs, and
// returns the record with its catalog.Change. Rules that read nothing are package catalog's;
// a plain read needs no use case.
//
// It saves nothing and knows nothing of HTTP: the caller decodes, admits and commits.
// A use case may run again when its change is stale, so it never changes its input.
package service

import (
	"context"
	"errors"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Actor is on whose behalf a use case runs, and when.
type Actor struct {
	Org   catalog.OrgID
	KeyID string       // of the API key, or a name for the tool that decides
	Now   catalog.Time // when the use case began
	// Clock is read once more for new records, after the directory of their list.
	Clock func() catalog.Time
	IDs   catalog.IDs
	// Lookups has what rules ask beyond records: use cases add the records.
	Lookups catalog.Lookups
}

// Queue takes extractions that are to be run. What it loses, the sweeper finds.
type Queue interface {
	Send(ctx context.Context, jobs []catalog.ExtractionJob) error
}

// Directories reads the directories of lists as they are now.
type Directories interface {
	Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error)
}

// Create makes a listed record of its input.
func Create[R catalog.Record](
	ctx context.Context, s Directories, a Actor, in catalog.Input[R], record R, change *catalog.Change,
) error {
	if err := catalog.Apply(in, record, a.Lookups); err != nil {
		return err
	}
	dir, err := s.Directory(ctx, a.Org, catalog.KindOf(record))
	if err != nil {
		return err
	}
	change.Add(record, a.IDs, dir, a.Clock)
	return nil
}

// CreateExtraction asks for the skills of a text or a syllabus by itself.
func CreateExtraction(
	a Actor, in catalog.SyllabusExtractionInput, change *catalog.Change,
) (*catalog.SyllabusExtraction, error) {
	e := &catalog.SyllabusExtraction{Meta: catalog.NewMeta(a.IDs.Of(catalog.SyllabusExtractionKind), a.Org, a.Now)}
	if err := catalog.Apply(in, e, a.Lookups); err != nil {
		return nil, err
	}
	change.Create(e, nil)
	if words := in.Text.Value; words != nil {
		change.Keep(e, *words)
	}
	return e, nil
}

// Update changes a loaded record as its input says; nothing is saved where nothing is
// different.
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

// Load reads one record as it is now.
type Load[R catalog.Record] func(context.Context) (R, error)

// Delete deletes a listed record that nothing else depends on.
func Delete[R catalog.Record](ctx context.Context, s Directories, a Actor, load Load[R]) (*catalog.Change, error) {
	record, dir, err := withDirectory(ctx, s, a, load)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Delete(record, a.Now, dir)
	return &change, nil
}

// withDirectory reads a record in parallel with the directory of its list.
func withDirectory[R catalog.Record](
	ctx context.Context, s Directories, a Actor, load Load[R],
) (R, *catalog.Directory, error) {
	return parallel.Two(ctx, load, func(ctx context.Context) (*catalog.Directory, error) {
		var kind R
		return s.Directory(ctx, a.Org, catalog.KindOf(kind))
	})
}

// ReviewTransferCourse puts a review of a loaded course's skill in the place of the present one.
func ReviewTransferCourse(
	a Actor, course *catalog.TransferCourse, skillID string, in catalog.ReviewInput,
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
func UnreviewTransferCourse(a Actor, course *catalog.TransferCourse, skillID string) (*catalog.Change, error) {
	var change catalog.Change
	before := *course
	removed, err := catalog.Unreview(course, skillID, a.Lookups)
	if removed {
		change.Replace(&before, course, a.Now)
	}
	return &change, err
}

func hasCode(err error, code catalog.Code) bool {
	var known *catalog.Error
	return errors.As(err, &known) && known.Code == code
}

func isAbsent(err error) bool { return hasCode(err, catalog.NotFound) }
