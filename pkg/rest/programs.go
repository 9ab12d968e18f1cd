package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

type programInput struct {
	ProgramID string `path:"programId"`
}

type createProgramInput struct {
	Body struct{ catalog.ProgramInput }
}

type updateProgramInput struct {
	programInput
	Body struct {
		patch
		catalog.ProgramInput
	}
}

type addCourseInput struct {
	programInput
	Body struct {
		CourseID string `json:"courseId" minLength:"1" maxLength:"64" doc:"Course to be added to the end of the program"`
	}
}

type programCourseInput struct {
	programInput
	CourseID string `path:"courseId"`
}

func (s *Server) bindPrograms() {
	read(s, "listPrograms", func(ctx context.Context, c *call, in *namedPageInput) (Page[*catalog.Program], error) {
		programs, err := list(ctx, c, *in, c.Store.Programs)
		if err == nil {
			err = c.fillPrograms(ctx, programs.Data...)
		}
		return programs, err
	})
	read(s, "getProgram", func(ctx context.Context, c *call, in *programInput) (*catalog.Program, error) {
		program, err := c.Store.Program(ctx, c.org, in.ProgramID, c.strong)
		if err == nil {
			err = c.fillPrograms(ctx, program)
		}
		return program, err
	})
	write(s, "createProgram", createProgram)
	write(s, "updateProgram", updateProgram)
	write(s, "deleteProgram", deleteProgram)
	write(s, "addProgramCourse", addProgramCourse)
	write(s, "removeProgramCourse", removeProgramCourse)
}

// fillPrograms makes the profiles of the programs' courses from the live courses.
func (c *call) fillPrograms(ctx context.Context, programs ...*catalog.Program) error {
	var ids []string
	for _, program := range programs {
		ids = append(ids, program.CourseOrder...)
	}
	var courses map[string]*catalog.Course
	if len(ids) > 0 {
		var err error
		if courses, err = c.Store.CoursesByID(ctx, c.org, ids, c.strong); err != nil {
			return err
		}
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

// occupations looks up what the body's CIP code leads to.
func (c *call) occupations(ctx context.Context, in catalog.ProgramInput) (map[string][]string, error) {
	if in.CIPCode.Value == nil {
		return nil, nil
	}
	return labor.Occupations(ctx, c.Market, []string{*in.CIPCode.Value})
}

func createProgram(ctx context.Context, c *call, in *createProgramInput) (*catalog.Program, *catalog.Change, error) {
	l := c.lookups()
	var err error
	if l.Occupations, err = c.occupations(ctx, in.Body.ProgramInput); err != nil {
		return nil, nil, err
	}
	if l.Courses, _, err = c.namedCourses(ctx, in.Body.CourseOrder.Value, ""); err != nil {
		return nil, nil, err
	}
	program, change, err := create(ctx, c, in.Body.ProgramInput, &catalog.Program{}, l)
	if err == nil {
		err = program.Holds(change, nil, l.Courses)
	}
	return program, change, err
}

func updateProgram(ctx context.Context, c *call, in *updateProgramInput) (*catalog.Program, *catalog.Change, error) {
	program, err := c.filledProgram(ctx, in.programInput)
	if err != nil {
		return nil, nil, err
	}
	l := c.lookups()
	if l.Occupations, err = c.occupations(ctx, in.Body.ProgramInput); err != nil {
		return nil, nil, err
	}
	return update(c, in.Body.ProgramInput, program, l)
}

func (c *call) filledProgram(ctx context.Context, in programInput) (*catalog.Program, error) {
	program, err := c.Store.Program(ctx, c.org, in.ProgramID, true)
	if err == nil {
		err = c.fillPrograms(ctx, program)
	}
	return program, err
}

func deleteProgram(ctx context.Context, c *call, in *programInput) (none, *catalog.Change, error) {
	program, dir, err := parallel(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return c.Store.Program(ctx, c.org, in.ProgramID, true)
	}, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, catalog.ProgramKind)
	})
	if err != nil {
		return none{}, nil, err
	}
	courses := map[string]*catalog.Course{}
	if len(program.CourseOrder) > 0 {
		if courses, err = c.Store.CoursesByID(ctx, c.org, program.CourseOrder, true); err != nil {
			return none{}, nil, err
		}
	}
	var change catalog.Change
	change.Delete(program, c.now, dir)
	return none{}, &change, program.Holds(&change, program.CourseOrder, courses)
}

func addProgramCourse(ctx context.Context, c *call, in *addCourseInput) (*catalog.Program, *catalog.Change, error) {
	program, course, err := parallel(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return c.filledProgram(ctx, in.programInput)
	}, func(ctx context.Context) (*catalog.Course, error) {
		course, err := c.Store.Course(ctx, c.org, in.Body.CourseID, true)
		if isAbsent(err) {
			return nil, nil // reported as a field error, once it is clear that the program is there
		}
		return course, err
	})
	if err != nil {
		return nil, nil, err
	}
	if course == nil {
		return nil, nil, catalog.Invalid(catalog.FieldError{Location: "body.courseId", Message: "there is no such course", Value: in.Body.CourseID})
	}
	var change catalog.Change
	before := program.CourseOrder
	added, err := program.Add(course)
	if err != nil || !added {
		return program, &change, err
	}
	change.Replace(program, c.now)
	err = program.Holds(&change, before, map[string]*catalog.Course{course.ID: course})
	return program, &change, err
}

func removeProgramCourse(ctx context.Context, c *call, in *programCourseInput) (none, *catalog.Change, error) {
	program, courses, err := parallel(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return c.Store.Program(ctx, c.org, in.ProgramID, true)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return c.Store.CoursesByID(ctx, c.org, []string{in.CourseID}, true)
	})
	if err != nil {
		return none{}, nil, err
	}
	before := program.CourseOrder
	if !program.Remove(in.CourseID) {
		return none{}, nil, catalog.Absent()
	}
	var change catalog.Change
	change.Replace(program, c.now)
	return none{}, &change, program.Holds(&change, before, courses)
}
