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
	describe[programInput](s, "getProgramCTDL", catalog.ProgramKind)
	find(s, "listPrograms", service.Actor.FillPrograms)
	get[programInput](s, "getProgram", service.Actor.FillPrograms)
	create(s, "createProgram", service.Actor.CreateProgram)
	revise[programInput](s, "updateProgram", service.Actor.UpdateProgram)
	erase[programInput](s, "deleteProgram", service.Delete[*catalog.Program])
	write(s, "addProgramCourse", func(
		ctx context.Context, c *call, in *addCourseInput,
	) (*catalog.Program, *catalog.Change, error) {
		return c.actor().AddProgramCourse(ctx, in.ProgramID, in.Body.CourseID)
	})
	remove(s, "removeProgramCourse", func(ctx context.Context, c *call, in *programCourseInput) (*catalog.Change, error) {
		return c.actor().RemoveProgramCourse(ctx, in.ProgramID, in.CourseID)
	})
}
