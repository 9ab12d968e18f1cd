package rest

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// ProgramStore is what the handlers of programs need. The courses of a loaded
// program are only the ids in its CourseOrder.
type ProgramStore interface {
	Programs(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Program, int, error)
	Program(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Program, error)
}

type programInput struct {
	ProgramID string `path:"programId"`
}

type createProgramInput struct {
	Body struct {
		Name        string   `json:"name" minLength:"1" maxLength:"255"`
		Description *string  `json:"description,omitempty" nullable:"true" maxLength:"10000"`
		Code        *string  `json:"code,omitempty" nullable:"true" maxLength:"50"`
		CIPCode     *string  `json:"cipCode,omitempty" nullable:"true" pattern:"^\\d{2}\\.\\d{4}$"`
		CourseOrder []string `json:"courseOrder,omitempty" maxItems:"200" doc:"ids of the program's courses, in order"`
	}
}

type updateProgramInput struct {
	programInput
	Body struct {
		Name        catalog.Optional[string]   `json:"name,omitempty" minLength:"1" maxLength:"255"`
		Description catalog.Optional[*string]  `json:"description,omitempty" maxLength:"10000"`
		Code        catalog.Optional[*string]  `json:"code,omitempty" maxLength:"50"`
		CIPCode     catalog.Optional[*string]  `json:"cipCode,omitempty" pattern:"^\\d{2}\\.\\d{4}$"`
		CourseOrder catalog.Optional[[]string] `json:"courseOrder,omitempty" maxItems:"200" doc:"a permutation of the program's courses"`
	}
}

type addCourseInput struct {
	programInput
	Body struct {
		CourseID string `json:"courseId" minLength:"1" maxLength:"64"`
	}
}

type programCourseInput struct {
	programInput
	CourseID string `path:"courseId"`
}

func (s *Server) bindPrograms() {
	read(s, "listPrograms", func(ctx context.Context, c *call, in *pageInput) (Page[*catalog.Program], error) {
		programs, total, err := c.Store.Programs(ctx, c.org, in.Offset, in.Limit)
		if err == nil {
			err = c.fillPrograms(ctx, programs...)
		}
		return page(c, *in, programs, total), err
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

// deriveSOCs sets the program's CIP code and the occupations that it leads to.
func (c *call) deriveSOCs(ctx context.Context, program *catalog.Program, cip *string) error {
	program.CIPCode, program.DerivedSOCs = cip, []string{}
	if cip == nil {
		return nil
	}
	scope, err := c.Market.Scope(ctx, labor.Nation, []string{*cip})
	if err != nil {
		return err
	}
	study, known := scope.CIPs[*cip]
	if !known {
		return catalog.Invalid(catalog.FieldError{Location: "body.cipCode", Message: "not in the loaded CIP to SOC crosswalk", Value: *cip})
	}
	program.DerivedSOCs = append(program.DerivedSOCs, study.SOCCodes...)
	return nil
}

// namedCourses loads courses that a body names; an unknown one and one named
// twice are faults.
func (c *call) namedCourses(ctx context.Context, ids []string, location string) (map[string]*catalog.Course, []catalog.FieldError, error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	courses, err := c.Store.CoursesByID(ctx, c.org, ids, true)
	var faults []catalog.FieldError
	seen := map[string]bool{}
	for i, id := range ids {
		fault := ""
		if courses[id] == nil {
			fault = "there is no such course"
		} else if seen[id] {
			fault = "the course is named twice"
		}
		seen[id] = true
		if fault != "" {
			faults = append(faults, catalog.FieldError{Location: fmt.Sprintf("%s[%d]", location, i), Message: fault, Value: id})
		}
	}
	return courses, faults, err
}

func createProgram(ctx context.Context, c *call, in *createProgramInput) (*catalog.Program, *catalog.Change, error) {
	body := in.Body
	program := &catalog.Program{Name: body.Name, Description: orNull(body.Description), Code: orNull(body.Code), CourseOrder: []string{}, Courses: []catalog.CourseProfile{}}
	if err := c.deriveSOCs(ctx, program, body.CIPCode); err != nil {
		return nil, nil, err
	}
	courses, faults, err := c.namedCourses(ctx, body.CourseOrder, "body.courseOrder")
	if err != nil {
		return nil, nil, err
	}
	if faults != nil {
		return nil, nil, catalog.Invalid(faults...)
	}
	dir, err := c.Store.Directory(ctx, c.org, catalog.ProgramKind)
	if err != nil {
		return nil, nil, err
	}
	program.Meta = catalog.NewMeta(c.IDs.Sequenced(catalog.ProgramKind, dir.Take()), c.org, c.now)
	for _, id := range body.CourseOrder {
		if _, err := program.Add(courses[id]); err != nil {
			return nil, nil, err
		}
	}
	var change catalog.Change
	change.Create(program, dir)
	program.Holds(&change, courses)
	c.created(program)
	return program, &change, nil
}

func updateProgram(ctx context.Context, c *call, in *updateProgramInput) (*catalog.Program, *catalog.Change, error) {
	body := in.Body
	program, err := c.filledProgram(ctx, in.programInput)
	if err != nil {
		return nil, nil, err
	}
	before := *program
	program.Name = body.Name.Or(program.Name)
	program.Description = orNull(body.Description.Or(program.Description))
	program.Code = orNull(body.Code.Or(program.Code))
	if body.CIPCode.Set {
		if err := c.deriveSOCs(ctx, program, body.CIPCode.Value); err != nil {
			return nil, nil, err
		}
	}
	if body.CourseOrder.Set {
		if err := program.Reorder(body.CourseOrder.Value, "body.courseOrder"); err != nil {
			return nil, nil, err
		}
	}
	return program, replaced(c, before, program), nil
}

func (c *call) filledProgram(ctx context.Context, in programInput) (*catalog.Program, error) {
	program, err := c.Store.Program(ctx, c.org, in.ProgramID, true)
	if err == nil {
		err = c.fillPrograms(ctx, program)
	}
	return program, err
}

func deleteProgram(ctx context.Context, c *call, in *programInput) (none, *catalog.Change, error) {
	program, dir, err := beside(ctx, func(ctx context.Context) (*catalog.Program, error) {
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
	program.Holds(&change, courses)
	return none{}, &change, nil
}

func addProgramCourse(ctx context.Context, c *call, in *addCourseInput) (*catalog.Program, *catalog.Change, error) {
	program, course, err := beside(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return c.filledProgram(ctx, in.programInput)
	}, func(ctx context.Context) (*catalog.Course, error) {
		course, err := c.Store.Course(ctx, c.org, in.Body.CourseID, true)
		if isAbsent(err) {
			return nil, nil // told as a fault, once it is clear that the program is there
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
	added, err := program.Add(course)
	if err != nil || !added {
		return program, &change, err
	}
	change.Replace(program, c.now)
	program.Holds(&change, map[string]*catalog.Course{course.ID: course})
	return program, &change, nil
}

func removeProgramCourse(ctx context.Context, c *call, in *programCourseInput) (none, *catalog.Change, error) {
	program, courses, err := beside(ctx, func(ctx context.Context) (*catalog.Program, error) {
		return c.Store.Program(ctx, c.org, in.ProgramID, true)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return c.Store.CoursesByID(ctx, c.org, []string{in.CourseID}, true)
	})
	if err != nil {
		return none{}, nil, err
	}
	if !program.Remove(in.CourseID) {
		return none{}, nil, catalog.Absent()
	}
	var change catalog.Change
	change.Replace(program, c.now)
	program.Holds(&change, courses)
	return none{}, &change, nil
}
