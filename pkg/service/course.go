package service

import (
	"context"
	"reflect"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// CreateCourse creates a course with its default section.
func (a Actor) CreateCourse(
	ctx context.Context, in catalog.CourseInput, of catalog.SectionInput, change *catalog.Change,
) (*catalog.Course, error) {
	course, section := &catalog.Course{}, &catalog.Section{}
	if wrong := append(in.Apply(course, a.Lookups), of.Apply(section, a.Lookups)...); wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	dir, err := a.directoryFor(ctx, course)
	if err != nil {
		return nil, err
	}
	change.AddCourse(course, section, a.IDs, dir, a.Clock)
	return course, nil
}

// ReviseCourse applies an input to a course. It also reads the default section if its skills may follow from the
// changes.
func (a Actor) ReviseCourse(
	ctx context.Context, id string, in catalog.CourseInput,
) (*catalog.Course, *catalog.Change, error) {
	if !in.Name.Set && !in.Description.Set {
		return Revise(a, ctx, id, in)
	}
	sectionID := catalog.DefaultSectionID(id)
	course, sections, err := parallel.Two(ctx, one[*catalog.Course](a, id), byID[*catalog.Section](a, sectionID))
	section := sections[sectionID]
	if err == nil && section == nil { // the ids of early sections do not follow from those of their courses
		section, err = one[*catalog.Section](a, course.DefaultSectionID)(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	before, was := *course, *section
	if err := catalog.Apply(in, course, a.Lookups); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	_, err = change.ReplaceCourse(&before, course, &was, section, a.Now)
	return course, &change, err
}

// DeleteCourse deletes a course with its sections, or what an interrupted deletion has left of them.
func (a Actor) DeleteCourse(ctx context.Context, id string) (*catalog.Change, error) {
	var lists map[string]*catalog.OutcomeList
	course, dir, err := withDirectory(ctx, a, withOutcomes(a, one[*catalog.Course](a, id), id, &lists))
	if catalog.HasCode(err, catalog.NotFound) {
		return a.Store.Completion(ctx, a.Org, catalog.CourseKind, id)
	}
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(course.Sections))
	for i, ref := range course.Sections {
		ids[i] = ref.ID
	}
	var sections map[string]*catalog.Section
	loadSections := byID[*catalog.Section](a, ids...)
	err = parallel.All(ctx, parallel.Into(&sections, loadSections), func(ctx context.Context) error {
		return a.checkNotGranted(ctx, course)
	})
	if err != nil {
		return nil, err
	}
	reserved, err := a.checkNotHeld(ctx, course, "")
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Revoke(course, reserved)
	change.Delete(course, a.Now, dir)
	change.DeleteOutcomes(lists, a.Now)
	for _, id := range ids {
		if section := sections[id]; section != nil {
			change.Delete(section, a.Now, nil)
		}
	}
	return &change, nil
}

// DeleteSection removes a section from its course.
func (a Actor) DeleteSection(ctx context.Context, courseID, id string) (*catalog.Change, error) {
	section, course, err := a.SectionOf(ctx, courseID, id)
	if err != nil {
		return nil, err
	}
	before := *course
	if err := course.Forget(section.ID); err != nil {
		return nil, err
	}
	reserved, err := a.checkNotHeld(ctx, course, section.ID)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Revoke(course, reserved)
	change.Replace(&before, course, a.Now)
	change.Delete(section, a.Now, nil)
	return &change, nil
}

// SectionOf loads a section with its course.
func (a Actor) SectionOf(ctx context.Context, courseID, id string) (*catalog.Section, *catalog.Course, error) {
	section, course, err := parallel.Two(ctx, one[*catalog.Section](a, id), one[*catalog.Course](a, courseID))
	if err == nil && section.CourseID != courseID {
		err = catalog.Absent()
	}
	return section, course, err
}

// CreateSection creates a section of a course.
func (a Actor) CreateSection(
	ctx context.Context, courseID string, in catalog.SectionInput,
) (*catalog.Section, *catalog.Change, error) {
	section := &catalog.Section{}
	if err := catalog.Apply(in, section, a.Lookups); err != nil {
		return nil, nil, err
	}
	course, err := one[*catalog.Course](a, courseID)(ctx)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	return section, &change, change.AddSection(section, course, a.IDs, a.Clock)
}

// ReviseSection applies an input to a loaded section and its loaded course, and reports whether the section changes. A
// new syllabus is extracted.
func (a Actor) ReviseSection(
	section *catalog.Section, course *catalog.Course, in catalog.SectionInput, change *catalog.Change,
) (changed bool, err error) {
	before := *section
	if err := catalog.Apply(in, section, a.Lookups); err != nil {
		return false, err
	}
	if reflect.DeepEqual(before, *section) {
		return false, nil
	}
	return true, change.ReplaceSection(&before, section, course, a.Now)
}

// checkNotGranted returns a conflict if an approved articulation that has not ended grants the course. The course is
// read first: an approval in between increments its counter, which makes the deletion stale.
func (a Actor) checkNotGranted(ctx context.Context, course *catalog.Course) error {
	filter := catalog.ArticulationFilter{CourseID: course.ID}
	if _, total, err := a.Store.Articulations(ctx, a.Org, filter, 0, 0); err != nil || total == 0 {
		return err
	}
	filter.Lasting = catalog.DateOf(a.Now)
	keeping, total, err := a.Store.Articulations(ctx, a.Org, filter, 0, 1)
	if err != nil || total == 0 {
		return err
	}
	return catalog.Errorf(catalog.Conflict,
		"%d approved articulations, such as %s, grant this course: it cannot be deleted before they end.",
		total, keeping[0].ID)
}

// checkNotHeld returns a conflict if a program or credential contains the course, or one of its sections. Otherwise it
// returns the reservations to revoke of holders that do not contain it yet. Reservations are read before what they
// guard: a holder without one either contains the course or must hold it again.
func (a Actor) checkNotHeld(
	ctx context.Context, course *catalog.Course, sectionID string,
) ([]catalog.Reservation, error) {
	holders := course.Holders(sectionID)
	reserved, err := a.Store.Reservations(ctx, a.Org, holders)
	if err != nil {
		return nil, err
	}
	for _, id := range holders {
		kind := catalog.ProgramKind
		if catalog.CredentialKind.Made(id) {
			kind = catalog.CredentialKind
		}
		holder, err := a.Store.Record(ctx, a.Org, kind, "", id, true)
		if catalog.HasCode(err, catalog.NotFound) {
			continue
		}
		if err == nil {
			err = course.CheckNotHeld(holder.(catalog.Holder), sectionID)
		}
		if err != nil {
			return nil, err
		}
	}
	return reserved, nil
}
