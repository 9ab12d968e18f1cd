package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type programInput struct {
	ProgramID string `path:"programId"`
}

type addCourseInput struct {
	programInput
	Body struct {
		CourseID string `json:"courseId" minLength:"1" maxLength:"64" doc:"Course to append to the program"`
	}
}

type programCourseInput struct {
	programInput
	CourseID string `path:"courseId"`
}

func (s *Server) bindPrograms() {
	bindOutcomes[programInput](s, "Program")
	read(s, "getProgramCTDL", func(ctx context.Context, c *call, in *ctdlInput[programInput]) (anything, error) {
		return c.describe(ctx, catalog.ProgramKind, in.Path.ProgramID, 0, in.Graph)
	})
	read(s, "listPrograms", func(ctx context.Context, c *call, in *namedPageInput) (Page[*catalog.Program], error) {
		programs, err := list[*catalog.Program](ctx, c, *in)
		if err == nil {
			err = c.actor().FillPrograms(ctx, programs.Data...)
		}
		return programs, err
	})
	read(s, "getProgram", func(ctx context.Context, c *call, in *programInput) (*catalog.Program, error) {
		program, err := service.Get[*catalog.Program](ctx, c.Store, c.org, in.ProgramID, c.strong)
		if err == nil {
			err = c.actor().FillPrograms(ctx, program)
		}
		return program, err
	})
	write(s, "createProgram", func(
		ctx context.Context, c *call, in *body[catalog.ProgramInput],
	) (*catalog.Program, *catalog.Change, error) {
		return c.actor().CreateProgram(ctx, in.Body)
	})
	write(s, "updateProgram", func(
		ctx context.Context, c *call, in *with[programInput, catalog.ProgramInput],
	) (*catalog.Program, *catalog.Change, error) {
		return c.actor().UpdateProgram(ctx, in.Path.ProgramID, in.Body)
	})
	remove(s, "deleteProgram", func(ctx context.Context, c *call, in *programInput) (*catalog.Change, error) {
		return service.DeleteHolder[*catalog.Program](ctx, c.actor(), in.ProgramID)
	})
	write(s, "addProgramCourse", func(
		ctx context.Context, c *call, in *addCourseInput,
	) (*catalog.Program, *catalog.Change, error) {
		return c.actor().AddProgramCourse(ctx, in.ProgramID, in.Body.CourseID)
	})
	remove(s, "removeProgramCourse", func(ctx context.Context, c *call, in *programCourseInput) (*catalog.Change, error) {
		return c.actor().RemoveProgramCourse(ctx, in.ProgramID, in.CourseID)
	})
}
