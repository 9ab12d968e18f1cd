package service

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// OwnedOutcomes are the outcomes of a course or a program, with what changes with them.
type OwnedOutcomes struct {
	Owner   catalog.Record
	List    *catalog.OutcomeList // empty if it was never written
	Section *catalog.Section     // the default section of a course; nil for a program, and where it is not needed
}

// Outcomes loads the outcomes of a course or a program, by its kind and id.
func (a Actor) Outcomes(ctx context.Context, kind catalog.Kind, ownerID string) (p OwnedOutcomes, err error) {
	p.Owner, p.List, err = parallel.Two(ctx, func(ctx context.Context) (catalog.Record, error) {
		return a.Store.Record(ctx, a.Org, kind, "", ownerID, !a.Eventual)
	}, func(ctx context.Context) (*catalog.OutcomeList, error) {
		lists, err := a.OutcomeLists(ctx, ownerID)
		return lists[ownerID], err
	})
	if err == nil && p.List == nil {
		p.List = catalog.NewOutcomeList(p.Owner)
	}
	return p, err
}

// OutcomeLists loads the outcomes of courses and programs, by their ids, in one round trip. It omits lists that were
// never written.
func (a Actor) OutcomeLists(ctx context.Context, ownerIDs ...string) (map[string]*catalog.OutcomeList, error) {
	ids := make([]string, len(ownerIDs))
	for i, id := range ownerIDs {
		ids[i] = catalog.OutcomeListID(id)
	}
	// A weak read that misses a list is followed by a strong one, and most owners have none.
	lists, err := GetByID[*catalog.OutcomeList](ctx, a.Store, a.Org, ids, true)
	byOwner := make(map[string]*catalog.OutcomeList, len(lists))
	for _, list := range lists {
		byOwner[list.OwnerID] = list
	}
	return byOwner, err
}

// withOutcomes returns the load of a record in parallel with its outcomes, which only courses and programs have.
func withOutcomes[R catalog.Record](a Actor, load Load[R], id string, lists *map[string]*catalog.OutcomeList) Load[R] {
	return func(ctx context.Context) (record R, err error) {
		record, *lists, err = parallel.Two(ctx, load, func(ctx context.Context) (map[string]*catalog.OutcomeList, error) {
			if catalog.OutcomeOwner(id) == "" {
				return nil, nil
			}
			return a.OutcomeLists(ctx, id)
		})
		return record, err
	}
}

// ownedOutcomes loads outcomes for a change.
func (a Actor) ownedOutcomes(ctx context.Context, kind catalog.Kind, ownerID string) (p OwnedOutcomes, err error) {
	if kind != catalog.CourseKind {
		return a.Outcomes(ctx, kind, ownerID)
	}
	sectionID := catalog.DefaultSectionID(ownerID)
	var sections map[string]*catalog.Section
	p, sections, err = parallel.Two(ctx,
		parallel.Call2(a.Outcomes, kind, ownerID), byID[*catalog.Section](a, sectionID))
	if err != nil {
		return p, err
	}
	// the ids of early sections do not follow from those of their courses
	if p.Section = sections[sectionID]; p.Section == nil {
		p.Section, err = one[*catalog.Section](a, p.Owner.(*catalog.Course).DefaultSectionID)(ctx)
	}
	return p, err
}

// save returns the change of a list that is no longer as it was; the change is empty if it is.
func (a Actor) save(p OwnedOutcomes, was *catalog.OutcomeList) (*catalog.Change, error) {
	change := &catalog.Change{}
	return change, change.SaveOutcomes(was, p.List, p.Owner, p.Section, a.Now)
}

// ReplaceOutcomes replaces the outcomes of a course or a program.
func (a Actor) ReplaceOutcomes(
	ctx context.Context, kind catalog.Kind, ownerID string, in catalog.OutcomesInput,
) (*catalog.OutcomeList, *catalog.Change, error) {
	p, decisions, err := parallel.Two(ctx, parallel.Call2(a.ownedOutcomes, kind, ownerID), func(
		ctx context.Context,
	) ([]catalog.MapDecision, error) {
		if kind != catalog.ProgramKind {
			return nil, nil
		}
		return a.Store.MapDecisions(ctx, a.Org, ownerID)
	})
	if err != nil {
		return nil, nil, err
	}
	was := catalog.Copy(p.List)
	changed, wrong := p.List.Replace(in, a.IDs, a.Lookups)
	if wrong != nil {
		return nil, nil, catalog.Invalid(wrong...)
	}
	if !changed {
		return p.List, &catalog.Change{}, nil
	}
	change, err := a.save(p, was)
	if program, ok := p.Owner.(*catalog.Program); ok {
		change.RemoveDecisions(program, p.List, decisions)
	}
	return p.List, change, err
}

// AdoptOutcomes appends outcomes that the syllabus of a section states to those of its course.
func (a Actor) AdoptOutcomes(
	ctx context.Context, courseID string, in catalog.AdoptionInput,
) (*catalog.OutcomeList, *catalog.Change, error) {
	var p OwnedOutcomes
	var sections map[string]*catalog.Section
	var result, before *catalog.ExtractionResult
	err := parallel.All(ctx,
		parallel.Into(&p, parallel.Call2(a.ownedOutcomes, catalog.CourseKind, courseID)),
		parallel.Into(&sections, byID[*catalog.Section](a, in.SectionID)),
		parallel.Into(&result, parallel.Call2(a.Store.ExtractionResult, a.Org, in.SectionID)),
		parallel.Into(&before, parallel.Call2(a.Store.ExtractionResult, a.Org, catalog.OutcomeListID(courseID))))
	if err != nil {
		return nil, nil, err
	}
	section := sections[in.SectionID]
	if section == nil || section.CourseID != courseID {
		return nil, nil, catalog.Invalid(catalog.FieldError{
			Location: "body.sectionId", Message: "must be a section of the course", Value: in.SectionID,
		})
	}
	if section.ProcessingStatus == catalog.Pending || section.ProcessingStatus == catalog.Processing {
		return nil, nil, catalog.Errorf(catalog.Conflict, "The section is being extracted: adopt its outcomes once it is "+
			"COMPLETED.")
	}
	was := catalog.Copy(p.List)
	adopted, err := p.List.Adopt(in, section.Found(result), result, a.IDs, a.Lookups)
	if err != nil || len(adopted) == 0 {
		return p.List, &catalog.Change{}, err
	}
	change, err := a.save(p, was)
	read := catalog.ExtractionResult{Provenance: *p.List.Provenance, Statements: p.List.Read(adopted, before)}
	change.ReplaceResult(p.List, &read)
	return p.List, change, err
}

// FoundOutcomes returns the outcomes that the section's syllabus states, as last extracted; none without a syllabus.
func (a Actor) FoundOutcomes(ctx context.Context, s *catalog.Section) ([]catalog.FoundOutcome, error) {
	if s.SyllabusHref == nil && s.DocumentID == nil {
		return []catalog.FoundOutcome{}, nil
	}
	result, err := a.Store.ExtractionResult(ctx, a.Org, s.ID)
	return s.Found(result), err
}
