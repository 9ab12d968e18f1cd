package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// Reviewable is a section, a transfer course or an outcome, loaded with what changes with its reviews.
type Reviewable struct {
	catalog.Reviewed
	Record catalog.Record // itself, or the list of an outcome
	save   func(change *catalog.Change) error
}

// ReviewableSection loads a section of a course.
func (a Actor) ReviewableSection(ctx context.Context, courseID, id string) (Reviewable, error) {
	section, course, err := a.SectionOf(ctx, courseID, id)
	if err != nil {
		return Reviewable{}, err
	}
	before := *section
	return Reviewable{section, section, func(change *catalog.Change) error {
		return change.ReplaceSection(&before, section, course, a.Now)
	}}, nil
}

// ReviewableTransferCourse loads a course of a transfer package.
func (a Actor) ReviewableTransferCourse(ctx context.Context, packageID, id string) (Reviewable, error) {
	course, err := a.TransferCourse(packageID, id)(ctx)
	if err != nil {
		return Reviewable{}, err
	}
	before := *course
	return Reviewable{course, course, func(change *catalog.Change) error {
		change.Replace(&before, course, a.Now)
		return nil
	}}, nil
}

// ReviewableOutcome loads an outcome of a course or a program.
func (a Actor) ReviewableOutcome(
	ctx context.Context, kind catalog.Kind, ownerID, id string,
) (Reviewable, error) {
	p, err := a.ownedOutcomes(ctx, kind, ownerID)
	if err != nil {
		return Reviewable{}, err
	}
	o := p.List.Find(id)
	if o == nil {
		return Reviewable{}, catalog.Absent()
	}
	was := catalog.Copy(p.List)
	return Reviewable{o, p.List, func(change *catalog.Change) error {
		if err := p.List.CheckReviews(); err != nil {
			return err
		}
		return change.SaveOutcomes(was, p.List, p.Owner, p.Section, a.Now)
	}}, nil
}

// Review replaces the review of a skill.
func (a Actor) Review(r Reviewable, skillID string, in catalog.ReviewInput) (*catalog.Change, error) {
	change := &catalog.Change{}
	err := in.Apply(r.Reviewed, skillID, a.KeyID, a.Lookups, a.Now)
	if err == nil {
		err = r.save(change)
	}
	return change, err
}

// Unreview removes the review of a skill, if there is one.
func (a Actor) Unreview(r Reviewable, skillID string) (*catalog.Change, error) {
	change := &catalog.Change{}
	removed, err := catalog.Unreview(r.Reviewed, skillID, a.Lookups)
	if removed {
		err = r.save(change)
	}
	return change, err
}
