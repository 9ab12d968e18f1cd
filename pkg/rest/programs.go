package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type addCourseInput struct {
	Body struct {
		CourseID string `json:"courseId" minLength:"1" maxLength:"64" doc:"Course to append to the program"`
	}
}

func (s *Server) bindPrograms() {
	bindOutcomes(s, catalog.ProgramKind)
	describe(s, "getProgramCTDL", catalog.ProgramKind)
	find(s, "listPrograms", service.Actor.FillPrograms)
	get(s, "getProgram", service.Actor.FillPrograms)
	create(s, "createProgram", service.Actor.CreateProgram)
	revise(s, "updateProgram", service.Actor.UpdateProgram)
	erase(s, "deleteProgram", service.Delete[*catalog.Program])
	write(s, "addProgramCourse", func(
		ctx context.Context, c *call, in *addCourseInput,
	) (*catalog.Program, *catalog.Change, error) {
		return c.actor().AddProgramCourse(ctx, c.recordID(), in.Body.CourseID)
	})
	remove(s, "removeProgramCourse", func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		return c.actor().RemoveProgramCourse(ctx, c.param("programId"), c.param("courseId"))
	})
}
