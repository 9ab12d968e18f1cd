package service

import (
	"context"
	"maps"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service/parallel"
)

// coursesOf returns the load of the courses of sections, by section id.
func (a Actor) coursesOf(sectionIDs ...string) Load[map[string]*catalog.Course] {
	return func(ctx context.Context) (map[string]*catalog.Course, error) {
		return a.Store.CoursesOfSections(ctx, a.Org, sectionIDs, !a.Eventual)
	}
}

// place returns the load of sections with their courses, by section id.
func (a Actor) place(ids ...string) Load[map[string]catalog.Placed] {
	return func(ctx context.Context) (map[string]catalog.Placed, error) {
		sections, courses, err := parallel.Two(ctx, byID[*catalog.Section](a, ids...), a.coursesOf(ids...))
		placed := make(map[string]catalog.Placed, len(sections))
		for id, section := range sections {
			if course := courses[id]; course != nil {
				placed[id] = catalog.Placed{Section: section, Course: course}
			}
		}
		return placed, err
	}
}

// coursesIn returns the courses of placed sections by id.
func coursesIn(placed map[string]catalog.Placed) map[string]*catalog.Course {
	courses := map[string]*catalog.Course{}
	for _, p := range placed {
		courses[p.Course.ID] = p.Course
	}
	return courses
}

// FillPrograms sets the profiles of the programs' existing courses.
func (a Actor) FillPrograms(ctx context.Context, programs ...*catalog.Program) error {
	var ids []string
	for _, program := range programs {
		ids = append(ids, program.CourseOrder...)
	}
	courses, err := byID[*catalog.Course](a, ids...)(ctx)
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

// FillCredentials sets the profiles of the credentials' existing sections.
func (a Actor) FillCredentials(ctx context.Context, credentials ...*catalog.Credential) error {
	var ids []string
	for _, credential := range credentials {
		for _, section := range credential.Sections {
			ids = append(ids, section.SectionID)
		}
	}
	placed, err := a.place(ids...)(ctx)
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

// CreateProgram creates a program, which holds its courses.
func (a Actor) CreateProgram(
	ctx context.Context, in catalog.ProgramInput,
) (*catalog.Program, *catalog.Change, error) {
	named, courses, err := parallel.Two(ctx,
		parallel.Call(a.namedByProgram, in), byID[*catalog.Course](a, in.CourseOrder.Value...))
	if err != nil {
		return nil, nil, err
	}
	a.Lookups = named
	a.Lookups.Courses = courses
	program, change, err := New(a, ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return program, change, change.Hold(program, nil, a.Lookups.Courses)
}

// UpdateProgram changes a program, except for its courses.
func (a Actor) UpdateProgram(
	ctx context.Context, id string, in catalog.ProgramInput,
) (*catalog.Program, *catalog.Change, error) {
	program, named, err := parallel.Two(ctx, parallel.Call(a.filledProgram, id), parallel.Call(a.namedByProgram, in))
	if err != nil {
		return nil, nil, err
	}
	a.Lookups = named
	return update(a, in, program)
}

// namedByProgram returns the lookups with the occupations and credentials that a program's input names.
func (a Actor) namedByProgram(ctx context.Context, in catalog.ProgramInput) (l catalog.Lookups, err error) {
	l = a.Lookups
	l.Occupations, l.Credentials, err = parallel.Two(ctx,
		parallel.Call2(labor.Occupations, a.Market, in.CIPCode.Value),
		byID[*catalog.Credential](a, in.CredentialIDs.Value...))
	return l, err
}

// DeriveOccupations updates the occupations of a loaded program from the crosswalk.
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

func (a Actor) filledProgram(ctx context.Context, id string) (*catalog.Program, error) {
	program, err := one[*catalog.Program](a, id)(ctx)
	if err == nil {
		err = a.FillPrograms(ctx, program)
	}
	return program, err
}

// AddProgramCourse appends a course to a program.
func (a Actor) AddProgramCourse(
	ctx context.Context, programID, courseID string,
) (*catalog.Program, *catalog.Change, error) {
	program, courses, err := parallel.Two(ctx,
		parallel.Call(a.filledProgram, programID), byID[*catalog.Course](a, courseID))
	if err != nil {
		return nil, nil, err
	}
	course := courses[courseID]
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
	return program, &change, change.Hold(program, members, courses)
}

// RemoveProgramCourse removes a course from a program.
func (a Actor) RemoveProgramCourse(ctx context.Context, programID, courseID string) (*catalog.Change, error) {
	return removeMember[catalog.Program](ctx, a, programID, courseID, byID[*catalog.Course](a, courseID))
}

// removeMember removes a member from a program or credential. courses loads its course.
func removeMember[T any, H interface {
	record[T]
	catalog.Holder
	Remove(member string) bool
}](
	ctx context.Context, a Actor, id, member string, courses Load[map[string]*catalog.Course],
) (*catalog.Change, error) {
	holder, held, err := parallel.Two(ctx, one[H](a, id), courses)
	if err != nil {
		return nil, err
	}
	before, members := *holder, holder.Members()
	if !holder.Remove(member) {
		return nil, catalog.Absent()
	}
	var change catalog.Change
	change.Replace(H(&before), holder, a.Now)
	return &change, change.Hold(holder, members, held)
}

// CreateCredential creates a credential, which holds the courses of its sections.
func (a Actor) CreateCredential(
	ctx context.Context, in catalog.CredentialInput,
) (*catalog.Credential, *catalog.Change, error) {
	var err error
	if a.Lookups.Sections, err = a.place(in.CourseSectionIDs.Value...)(ctx); err != nil {
		return nil, nil, err
	}
	credential, change, err := New(a, ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return credential, change, change.Hold(credential, nil, coursesIn(a.Lookups.Sections))
}

// UpdateCredential changes a credential, including its sections.
func (a Actor) UpdateCredential(
	ctx context.Context, id string, in catalog.CredentialInput,
) (*catalog.Credential, *catalog.Change, error) {
	credential, placed, err := parallel.Two(ctx,
		one[*catalog.Credential](a, id), a.place(in.CourseSectionIDs.Value...))
	if err != nil {
		return nil, nil, err
	}
	a.Lookups.Sections = placed
	members, courses := credential.Members(), coursesIn(placed)
	err = parallel.All(ctx, func(ctx context.Context) error {
		return a.FillCredentials(ctx, credential)
	}, func(ctx context.Context) error {
		if !in.CourseSectionIDs.Set {
			return nil
		}
		had, err := byID[*catalog.Course](a, slices.Collect(maps.Values(members))...)(ctx)
		maps.Copy(courses, had)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	credential, change, err := update(a, in, credential)
	if err == nil && in.CourseSectionIDs.Set {
		err = change.Hold(credential, members, courses)
	}
	return credential, change, err
}

// AddCredentialSection appends a section to a credential.
func (a Actor) AddCredentialSection(
	ctx context.Context, credentialID, sectionID string,
) (*catalog.Credential, *catalog.Change, error) {
	credential, placed, err := parallel.Two(ctx, one[*catalog.Credential](a, credentialID), a.place(sectionID))
	if err != nil {
		return nil, nil, err
	}
	before, members := *credential, credential.Members()
	if err := a.FillCredentials(ctx, credential); err != nil {
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

// RemoveCredentialSection removes a section from a credential.
func (a Actor) RemoveCredentialSection(ctx context.Context, credentialID, sectionID string) (*catalog.Change, error) {
	return removeMember[catalog.Credential](ctx, a, credentialID, sectionID, a.coursesOf(sectionID))
}
