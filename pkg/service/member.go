package service

import (
	"context"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service/parallel"
)

// place loads sections with their courses, side by side; what is not there is
// left out.
func place(
	ctx context.Context, s Store, org catalog.OrgID, ids []string, strong bool,
) (map[string]catalog.Placed, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	sections, courses, err := parallel.Two(ctx, func(ctx context.Context) (map[string]*catalog.Section, error) {
		return s.SectionsByID(ctx, org, ids, strong)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return s.CoursesOfSections(ctx, org, ids, strong)
	})
	placed := make(map[string]catalog.Placed, len(sections))
	for id, section := range sections {
		if course := courses[id]; course != nil {
			placed[id] = catalog.Placed{Section: section, Course: course}
		}
	}
	return placed, err
}

// coursesIn returns the courses of placed sections by id.
func coursesIn(placed map[string]catalog.Placed) map[string]*catalog.Course {
	courses := map[string]*catalog.Course{}
	for _, p := range placed {
		courses[p.Course.ID] = p.Course
	}
	return courses
}

// coursesOf loads courses by id; it reads nothing where none is asked for.
func coursesOf(
	ctx context.Context, s Store, org catalog.OrgID, ids []string, strong bool,
) (map[string]*catalog.Course, error) {
	if len(ids) == 0 {
		return map[string]*catalog.Course{}, nil
	}
	return s.CoursesByID(ctx, org, ids, strong)
}

// FillPrograms makes the profiles of the programs' courses from the live courses.
func FillPrograms(ctx context.Context, s Store, org catalog.OrgID, strong bool, programs ...*catalog.Program) error {
	var ids []string
	for _, program := range programs {
		ids = append(ids, program.CourseOrder...)
	}
	courses, err := coursesOf(ctx, s, org, ids, strong)
	if err != nil {
		return err
	}
	for _, program := range programs {
		program.Courses = make([]catalog.CourseProfile, 0, len(program.CourseOrder))
		order := make([]string, 0, len(program.CourseOrder))
		for _, id := range program.CourseOrder {
			if course := courses[id]; course != nil {
				order = append(order, id)
				program.Courses = append(program.Courses, course.Profile())
			}
		}
		program.CourseOrder = order
	}
	return nil
}

// FillCredentials makes the profiles of the credentials' sections from the live
// courses and sections.
func FillCredentials(
	ctx context.Context, s Store, org catalog.OrgID, strong bool, credentials ...*catalog.Credential,
) error {
	var ids []string
	for _, credential := range credentials {
		for _, section := range credential.Sections {
			ids = append(ids, section.SectionID)
		}
	}
	placed, err := place(ctx, s, org, ids, strong)
	if err != nil {
		return err
	}
	for _, credential := range credentials {
		profiles := make([]catalog.SectionProfile, 0, len(credential.Sections))
		for _, section := range credential.Sections {
			if p := placed[section.SectionID]; p.Section != nil {
				profiles = append(profiles, p.Section.Profile(p.Course))
			}
		}
		credential.Sections = profiles
	}
	return nil
}

// CreateProgram makes a program, which holds its courses.
func CreateProgram(
	ctx context.Context, s Store, market labor.Source, a Actor, in catalog.ProgramInput,
) (*catalog.Program, *catalog.Change, error) {
	var err error
	if a.Lookups.Occupations, err = labor.Occupations(ctx, market, in.CIPCode.Value); err != nil {
		return nil, nil, err
	}
	if ids := in.CourseOrder.Value; len(ids) > 0 {
		if a.Lookups.Courses, err = s.CoursesByID(ctx, a.Org, ids, true); err != nil {
			return nil, nil, err
		}
	}
	program, change := &catalog.Program{}, &catalog.Change{}
	if err := Create(ctx, s, a, in, program, change); err != nil {
		return nil, nil, err
	}
	return program, change, change.Hold(program, nil, a.Lookups.Courses)
}

// UpdateProgram changes a program, but not what its courses are.
func UpdateProgram(
	ctx context.Context, s Store, market labor.Source, a Actor, id string, in catalog.ProgramInput,
) (*catalog.Program, *catalog.Change, error) {
	program, err := filledProgram(ctx, s, a, id)
	if err != nil {
		return nil, nil, err
	}
	if a.Lookups.Occupations, err = labor.Occupations(ctx, market, in.CIPCode.Value); err != nil {
		return nil, nil, err
	}
	return Update(a, in, program)
}

// DeriveOccupations brings the occupations of a loaded program in line with the crosswalk.
func DeriveOccupations(
	ctx context.Context, market labor.Source, program *catalog.Program, now catalog.Time,
) (*catalog.Change, error) {
	occupations, err := labor.Occupations(ctx, market, program.CIPCode)
	if err != nil {
		return nil, err
	}
	before := *program
	program.Derive(occupations)
	var change catalog.Change
	catalog.ReplaceChanged(&change, before, program, now)
	return &change, nil
}

func filledProgram(ctx context.Context, s Store, a Actor, id string) (*catalog.Program, error) {
	program, err := s.Program(ctx, a.Org, id, true)
	if err == nil {
		err = FillPrograms(ctx, s, a.Org, true, program)
	}
	return program, err
}

// DeleteProgram deletes a program and releases its courses.
func DeleteProgram(ctx context.Context, s Store, a Actor, id string) (*catalog.Change, error) {
	return deleteHolder(ctx, s, a, func(ctx context.Context) (*catalog.Program, error) {
		return s.Program(ctx, a.Org, id, true)
	})
}

func deleteHolder[H catalog.Holder](ctx context.Context, s Store, a Actor, load Load[H]) (*catalog.Change, error) {
	holder, dir, err := withDirectory(ctx, s, a, load)
	if err != nil {
		return nil, err
	}
	members := holder.Members()
	courses, err := coursesOf(ctx, s, a.Org, slices.Collect(maps.Values(members)), true)
	if err != nil {
		return nil, err
	}
	var change catalog.Change
	change.Delete(holder, a.Now, dir)
	return &change, change.Hold(holder, members, courses)
}

// AddProgramCourse puts a course at the end of a program.
func AddProgramCourse(
	ctx context.Context, s Store, a Actor, programID, courseID string,
) (*catalog.Program, *catalog.Change, error) {
	program, course, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return filledProgram(ctx, s, a, programID)
	}, func(ctx context.Context) (*catalog.Course, error) {
		course, err := s.Course(ctx, a.Org, courseID, true)
		if isAbsent(err) {
			return nil, nil // reported as a field error, once it is clear that the program is there
		}
		return course, err
	})
	if err != nil {
		return nil, nil, err
	}
	if course == nil {
		return nil, nil, catalog.Invalid(catalog.FieldError{
			Location: "body.courseId", Message: "there is no such course", Value: courseID,
		})
	}
	var change catalog.Change
	before, members := *program, program.Members()
	added, err := program.Add(course)
	if err != nil || !added {
		return program, &change, err
	}
	change.Replace(&before, program, a.Now)
	return program, &change, change.Hold(program, members, map[string]*catalog.Course{course.ID: course})
}

// RemoveProgramCourse takes a course out of a program.
func RemoveProgramCourse(ctx context.Context, s Store, a Actor, programID, courseID string) (*catalog.Change, error) {
	program, courses, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return s.Program(ctx, a.Org, programID, true)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return s.CoursesByID(ctx, a.Org, []string{courseID}, true)
	})
	if err != nil {
		return nil, err
	}
	before, members := *program, program.Members()
	if !program.Remove(courseID) {
		return nil, catalog.Absent()
	}
	var change catalog.Change
	change.Replace(&before, program, a.Now)
	return &change, change.Hold(program, members, courses)
}

// CreateCredential makes a credential, which holds the courses of its sections.
func CreateCredential(
	ctx context.Context, s Store, a Actor, in catalog.CredentialInput,
) (*catalog.Credential, *catalog.Change, error) {
	var err error
	if a.Lookups.Sections, err = place(ctx, s, a.Org, in.CourseSectionIDs.Value, true); err != nil {
		return nil, nil, err
	}
	credential, change := &catalog.Credential{}, &catalog.Change{}
	if err := Create(ctx, s, a, in, credential, change); err != nil {
		return nil, nil, err
	}
	return credential, change, change.Hold(credential, nil, coursesIn(a.Lookups.Sections))
}

// UpdateCredential changes a credential, also what its sections are.
func UpdateCredential(
	ctx context.Context, s Store, a Actor, id string, in catalog.CredentialInput,
) (*catalog.Credential, *catalog.Change, error) {
	credential, placed, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return s.Credential(ctx, a.Org, id, true)
	}, func(ctx context.Context) (map[string]catalog.Placed, error) {
		return place(ctx, s, a.Org, in.CourseSectionIDs.Value, true)
	})
	if err != nil {
		return nil, nil, err
	}
	a.Lookups.Sections = placed
	members, courses := credential.Members(), coursesIn(placed)
	err = parallel.All(ctx, func(ctx context.Context) error {
		return FillCredentials(ctx, s, a.Org, true, credential)
	}, func(ctx context.Context) error {
		if !in.CourseSectionIDs.Set {
			return nil
		}
		had, err := coursesOf(ctx, s, a.Org, slices.Collect(maps.Values(members)), true)
		maps.Copy(courses, had)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	credential, change, err := Update(a, in, credential)
	if err == nil && in.CourseSectionIDs.Set {
		err = change.Hold(credential, members, courses)
	}
	return credential, change, err
}

// DeleteCredential deletes a credential and releases the courses of its sections.
func DeleteCredential(ctx context.Context, s Store, a Actor, id string) (*catalog.Change, error) {
	return deleteHolder(ctx, s, a, func(ctx context.Context) (*catalog.Credential, error) {
		return s.Credential(ctx, a.Org, id, true)
	})
}

// AddCredentialSection puts a section at the end of a credential.
func AddCredentialSection(
	ctx context.Context, s Store, a Actor, credentialID, sectionID string,
) (*catalog.Credential, *catalog.Change, error) {
	credential, placed, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return s.Credential(ctx, a.Org, credentialID, true)
	}, func(ctx context.Context) (map[string]catalog.Placed, error) {
		return place(ctx, s, a.Org, []string{sectionID}, true)
	})
	if err != nil {
		return nil, nil, err
	}
	before, members := *credential, credential.Members()
	if err := FillCredentials(ctx, s, a.Org, true, credential); err != nil {
		return nil, nil, err
	}
	if placed[sectionID].Section == nil {
		return nil, nil, catalog.Invalid(catalog.FieldError{
			Location: "body.sectionId", Message: "there is no such section", Value: sectionID,
		})
	}
	var change catalog.Change
	added, err := credential.Add(placed[sectionID])
	if err != nil || !added {
		return credential, &change, err
	}
	change.Replace(&before, credential, a.Now)
	return credential, &change, change.Hold(credential, members, coursesIn(placed))
}

// RemoveCredentialSection takes a section out of a credential.
func RemoveCredentialSection(
	ctx context.Context, s Store, a Actor, credentialID, sectionID string,
) (*catalog.Change, error) {
	credential, mentioned, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Credential, error) {
		return s.Credential(ctx, a.Org, credentialID, true)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return s.CoursesOfSections(ctx, a.Org, []string{sectionID}, true)
	})
	if err != nil {
		return nil, err
	}
	before, members := *credential, credential.Members()
	if !credential.Remove(sectionID) {
		return nil, catalog.Absent()
	}
	courses := map[string]*catalog.Course{}
	for _, course := range mentioned {
		courses[course.ID] = course
	}
	var change catalog.Change
	change.Replace(&before, credential, a.Now)
	return &change, change.Hold(credential, members, courses)
}
