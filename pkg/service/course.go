package service

import (
	"context"
	"reflect"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// CreateCourse makes a course with its default section.
func CreateCourse(
	ctx context.Context, s Directories, a Actor, in catalog.CourseInput, of catalog.SectionInput,
	change *catalog.Change,
) (*catalog.Course, error) {
	course, section := &catalog.Course{}, &catalog.Section{}
	if wrong := append(in.Apply(course, a.Lookups), of.Apply(section, a.Lookups)...); wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	dir, err := s.Directory(ctx, a.Org, catalog.CourseKind)
	if err != nil {
		return nil, err
	}
	change.AddCourse(course, section, a.IDs, dir, a.Clock)
	return course, nil
}

// ReviseCourse changes a course. Its default section is read beside it where its skills may
// follow from what changes.
func ReviseCourse(
	ctx context.Context, s Store, a Actor, id string, in catalog.CourseInput,
) (*catalog.Course, *catalog.Change, error) {
	if !in.Name.Set && !in.Description.Set {
		course, err := s.Course(ctx, a.Org, id, true)
		if err != nil {
			return nil, nil, err
		}
		return Update(a, in, course)
	}
	course, section, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Course, error) {
		return s.Course(ctx, a.Org, id, true)
	}, func(ctx context.Context) (*catalog.Section, error) {
		section, err := s.Section(ctx, a.Org, catalog.DefaultSectionID(id), true)
		if isAbsent(err) {
			return nil, nil // the course was made before ids of sections followed from its own
		}
		return section, err
	})
	if err == nil && section == nil {
		section, err = s.Section(ctx, a.Org, course.DefaultSectionID, true)
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

// DeleteCourse deletes a course with its sections.
func DeleteCourse(ctx context.Context, s Store, a Actor, id string) (*catalog.Change, error) {
	course, dir, err := withDirectory(ctx, s, a, func(ctx context.Context) (*catalog.Course, error) {
		return s.Course(ctx, a.Org, id, true)
	})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(course.Sections))
	for i, ref := range course.Sections {
		ids[i] = ref.ID
	}
	var sections map[string]*catalog.Section
	err = parallel.All(ctx, func(ctx context.Context) (err error) {
		sections, err = s.SectionsByID(ctx, a.Org, ids, true)
		return err
	}, func(ctx context.Context) error {
		return notGranted(ctx, s, a, course)
	})
	if err != nil {
		return nil, err
	}
	reserved, err := notHeld(ctx, s, course, "")
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Revoke(course, reserved)
	change.Delete(course, a.Now, dir)
	for _, id := range ids {
		if section := sections[id]; section != nil {
			change.Delete(section, a.Now, nil)
		}
	}
	return &change, nil
}

// DeleteSection takes a section out of its course.
func DeleteSection(ctx context.Context, s Store, a Actor, courseID, id string) (*catalog.Change, error) {
	section, course, err := SectionOf(ctx, s, a, courseID, id)
	if err != nil {
		return nil, err
	}
	before := *course
	if err := course.Forget(section.ID); err != nil {
		return nil, err
	}
	reserved, err := notHeld(ctx, s, course, section.ID)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Revoke(course, reserved)
	change.Replace(&before, course, a.Now)
	change.Delete(section, a.Now, nil)
	return &change, nil
}

// SectionOf loads a section and its course, as they are now.
func SectionOf(
	ctx context.Context, s Store, a Actor, courseID, id string,
) (*catalog.Section, *catalog.Course, error) {
	section, course, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Section, error) {
		return s.Section(ctx, a.Org, id, true)
	}, func(ctx context.Context) (*catalog.Course, error) {
		return s.Course(ctx, a.Org, courseID, true)
	})
	if err == nil && section.CourseID != courseID {
		err = catalog.Absent()
	}
	return section, course, err
}

// CreateSection makes a section of a course.
func CreateSection(
	ctx context.Context, s Store, a Actor, courseID string, in catalog.SectionInput,
) (*catalog.Section, *catalog.Change, error) {
	section := &catalog.Section{}
	if err := catalog.Apply(in, section, a.Lookups); err != nil {
		return nil, nil, err
	}
	course, err := s.Course(ctx, a.Org, courseID, true)
	if err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	return section, &change, change.AddSection(section, course, a.IDs, a.Clock)
}

// ReviseSection changes a loaded section and its loaded course as the input says, and
// reports whether anything is different. Another syllabus is extracted, and where the default
// section has none and no skills set by hand, its course's description.
func ReviseSection(
	a Actor, section *catalog.Section, course *catalog.Course, in catalog.SectionInput, change *catalog.Change,
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

// ReviewSection puts a review of a section's skill in the place of the present one.
func ReviewSection(
	ctx context.Context, s Store, a Actor, courseID, id, skillID string, in catalog.ReviewInput,
) (*catalog.Section, *catalog.Change, error) {
	section, course, err := SectionOf(ctx, s, a, courseID, id)
	if err != nil {
		return nil, nil, err
	}
	before := *section
	if err := in.Apply(section, skillID, a.KeyID, a.Lookups, a.Now); err != nil {
		return nil, nil, err
	}
	var change catalog.Change
	return section, &change, change.ReplaceSection(&before, section, course, a.Now)
}

// UnreviewSection removes the review of a section's skill, if there is one.
func UnreviewSection(ctx context.Context, s Store, a Actor, courseID, id, skillID string) (*catalog.Change, error) {
	section, course, err := SectionOf(ctx, s, a, courseID, id)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	before := *section
	if removed, err := catalog.Unreview(section, skillID, a.Lookups); !removed {
		return &change, err
	}
	return &change, change.ReplaceSection(&before, section, course, a.Now)
}

// notGranted refuses what would take a course away from an approved articulation, in
// force or to come, that grants it. The course is read before: an approval in between
// counts on it, which makes the change stale.
func notGranted(ctx context.Context, s Store, a Actor, course *catalog.Course) error {
	filter := catalog.ArticulationFilter{CourseID: course.ID}
	if _, total, err := s.Articulations(ctx, a.Org, filter, 0, 0); err != nil || total == 0 {
		return err
	}
	filter.Lasting = catalog.DateOf(a.Now)
	keeping, total, err := s.Articulations(ctx, a.Org, filter, 0, 1)
	if err != nil || total == 0 {
		return err
	}
	return catalog.Errorf(catalog.Conflict,
		"%d approved articulations grant it, the first of them %s: it cannot be deleted before they end.", total, keeping[0].ID)
}

// notHeld refuses what would take a course (or one of its sections) away from a
// program or credential that contains it, and returns the reservations to be revoked
// of those that do not contain it yet. These are read before what they guard: a holder
// without a reservation either contains what it holds, or has to take it anew.
func notHeld(
	ctx context.Context, s Store, course *catalog.Course, sectionID string,
) ([]catalog.Reservation, error) {
	holders := course.Holders(sectionID)
	if len(holders) == 0 {
		return nil, nil
	}
	reserved, err := s.Reservations(ctx, course.OrganizationID, holders)
	if err != nil {
		return nil, err
	}
	for _, id := range holders {
		var holder catalog.Holder
		if catalog.CredentialKind.Made(id) {
			holder, err = s.Credential(ctx, course.OrganizationID, id, true)
		} else {
			holder, err = s.Program(ctx, course.OrganizationID, id, true)
		}
		if isAbsent(err) {
			continue
		}
		if err == nil {
			err = course.CheckNotHeld(holder, sectionID)
		}
		if err != nil {
			return nil, err
		}
	}
	return reserved, nil
}
