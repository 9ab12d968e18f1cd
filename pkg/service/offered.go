package service

import (
	"cmp"
	"context"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Offered finds the sections of an organization by what their courses' references say of them. It keeps the
// references of the organizations that asked last, and follows the change feed. Its zero value is ready for use.
type Offered struct{ kept kept[*references] }

// references are the references to an organization's sections at one point of its change feed, by the id of the course.
type references struct {
	of map[string][]catalog.SectionRef
	at catalog.Cursor
}

// offeredChanges is the number of changes after which all courses are read again.
const offeredChanges = 1_000

// Find returns a page of the sections that the filter selects, in the order of their courses and in theirs, and how
// many there are.
func (o *Offered) Find(
	ctx context.Context, s Searched, org catalog.OrgID, filter catalog.SectionFilter, offset, limit int,
) (page []*catalog.Section, total int, err error) {
	for attempt := range searchAttempts {
		all, err := o.references(ctx, s, org, filter.CourseID)
		if err != nil {
			return nil, 0, err
		}
		var ids []string
		for _, courseID := range inOrder(all) {
			for _, ref := range all[courseID] {
				if filter.Selects(courseID, ref) {
					ids = append(ids, ref.ID)
				}
			}
		}
		wanted := ids[min(offset, len(ids)):]
		wanted = wanted[:min(limit, len(wanted))]
		sections, err := GetByID[*catalog.Section](ctx, s, org, wanted, attempt > 0)
		if err != nil {
			return nil, 0, err
		}
		page = make([]*catalog.Section, 0, len(wanted))
		for _, id := range wanted {
			if section := sections[id]; section != nil && filter.Selects(section.CourseID, section.Ref()) {
				page = append(page, section)
			}
		}
		if len(page) == len(wanted) {
			return page, len(ids), nil
		}
		// A section was changed or deleted since its course was read.
	}
	return nil, 0, catalog.Errorf(catalog.Unavailable, "The list is changing too fast at the moment.")
}

// inOrder returns the ids of courses in creation order.
func inOrder(courses map[string][]catalog.SectionRef) []string {
	ids := make([]string, 0, len(courses))
	for id := range courses {
		ids = append(ids, id)
	}
	number := func(id string) int {
		n, _ := catalog.Sequence(catalog.CourseKind, id)
		return n
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return ids
}

// references returns the references of one course, or of all if the id is "", as they are now.
func (o *Offered) references(
	ctx context.Context, s Searched, org catalog.OrgID, courseID string,
) (map[string][]catalog.SectionRef, error) {
	of := map[string][]catalog.SectionRef{}
	if courseID != "" {
		course, err := Get[*catalog.Course](ctx, s, org, courseID, true)
		if catalog.HasCode(err, catalog.NotFound) {
			return of, nil
		}
		if err == nil {
			of[course.ID] = course.Sections
		}
		return of, err
	}
	if last, _ := o.kept.get(org, catalog.Cursor{}); last != nil {
		next, err := last.follow(ctx, s, org)
		if err != nil || next != nil {
			return o.keep(org, next, err)
		}
	}
	end, err := s.FeedEnd(ctx, org)
	var courses []catalog.Record
	if err == nil {
		courses, err = s.Titles(ctx, org, catalog.CourseKind, "sections")
	}
	for _, course := range courses {
		of[course.Base().ID] = course.(*catalog.Course).Sections
	}
	return o.keep(org, &references{of, end}, err)
}

func (o *Offered) keep(org catalog.OrgID, fresh *references, err error) (map[string][]catalog.SectionRef, error) {
	if err != nil {
		return nil, err
	}
	o.kept.put(org, fresh.at, fresh)
	return fresh.of, nil
}

// follow applies the changes since the references were read; nil if they are too many.
func (r *references) follow(ctx context.Context, s Searched, org catalog.OrgID) (*references, error) {
	changes, more, err := s.Changes(ctx, org, r.at.String(), offeredChanges)
	if err != nil || more {
		return nil, err
	}
	next := &references{r.of, r.at}
	touched := map[string]bool{}
	var ids []string
	for _, change := range changes {
		next.at = change.Cursor
		if change.Kind == catalog.CourseKind && !touched[change.ID] {
			touched[change.ID] = true
			ids = append(ids, change.ID)
		}
	}
	if len(ids) == 0 {
		return next, nil
	}
	courses, err := GetByID[*catalog.Course](ctx, s, org, ids, true)
	next.of = make(map[string][]catalog.SectionRef, len(r.of))
	for id, refs := range r.of {
		if !touched[id] {
			next.of[id] = refs
		}
	}
	for id, course := range courses {
		next.of[id] = course.Sections
	}
	return next, err
}
