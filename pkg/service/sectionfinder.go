package service

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// SectionFinder finds the sections of an organization by what their courses' sectionRefs say of them. It keeps the
// sectionRefs of the organizations that asked last, and follows the change feed. Its zero value is ready for use.
type SectionFinder struct {
	followed[catalog.OrgID, sectionRefs]
}

// sectionRefs are the sectionRefs to an organization's sections, by the id of the course.
type sectionRefs map[string][]catalog.SectionRef

func (sectionRefs) share() float64 { return organizationShare }

// Find returns a page of the sections that the filter selects, in the order of their courses and in theirs, and how
// many there are.
func (o *SectionFinder) Find(
	ctx context.Context, a Actor, filter catalog.SectionFilter, offset, limit int,
) (page []*catalog.Section, total int, err error) {
	for attempt := range searchAttempts {
		all, err := o.refs(ctx, a, filter.CourseID)
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
		wanted := catalog.PageOf(ids, offset, limit)
		sections, err := GetByID[*catalog.Section](ctx, a.Store, a.Org, wanted, attempt > 0)
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
	return nil, 0, catalog.ChangingTooFast()
}

// inOrder returns the ids of courses in creation order.
func inOrder(courses sectionRefs) []string {
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

// refs returns the sectionRefs of one course, or of all if the id is "", as they are now.
func (o *SectionFinder) refs(ctx context.Context, a Actor, courseID string) (sectionRefs, error) {
	if courseID == "" {
		return o.now(ctx, a, a.Org, ofKinds(catalog.CourseKind), func(
			ctx context.Context, last sectionRefs, ids []string,
		) (sectionRefs, error) {
			courses, err := GetByID[*catalog.Course](ctx, a.Store, a.Org, ids, true)
			of := maps.Clone(last)
			for _, id := range ids {
				delete(of, id)
			}
			for id, course := range courses {
				of[id] = course.Sections
			}
			return of, err
		}, func(ctx context.Context) (sectionRefs, error) {
			of := sectionRefs{}
			courses, err := a.Store.Titles(ctx, a.Org, catalog.CourseKind, "sections")
			for _, course := range courses {
				of[course.Base().ID] = course.(*catalog.Course).Sections
			}
			return of, err
		})
	}
	course, err := Get[*catalog.Course](ctx, a.Store, a.Org, courseID, true)
	if err == nil {
		return sectionRefs{course.ID: course.Sections}, nil
	}
	if catalog.HasCode(err, catalog.NotFound) {
		err = nil
	}
	return nil, err
}
