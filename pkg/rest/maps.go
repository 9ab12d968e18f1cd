package rest

import (
	"context"
	"io"
	"strings"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

type mapInput struct {
	Basis string `query:"basis" enum:"skills,outcomes,both" default:"both" doc:"What marks are computed from: the skills of the courses' sections, the courses' outcomes, or the better of both"`
	Jobs  string `query:"jobs" minLength:"1" doc:"At most 10 jobs to compare with, separated by commas: ids of jobs, and SOC codes after soc:, such as soc:15-1252"`
}

type mapTableInput struct {
	mapInput
	Layout string `query:"layout" enum:"wide,long" default:"wide" doc:"wide: a row for each course; long: a row for each cell"`
}

type sharedMapInput struct {
	mapInput
	tokenInput
}

// maxMapJobs is the maximum number of jobs that a map is compared with.
const maxMapJobs = 10

func (s *Server) bindMaps() {
	read(s, "getProgramMap", func(ctx context.Context, c *call, in *mapInput) (alignment.CurriculumMap, error) {
		curriculum, err := c.curriculum(ctx, *in, false)
		if err != nil {
			return alignment.CurriculumMap{}, err
		}
		if in.Basis != alignment.BothBasis || in.Jobs != "" {
			plain := curriculum
			plain.Basis, plain.Asked, plain.Jobs = alignment.BothBasis, nil, nil
			c.current = plain.Map()
		}
		return curriculum.Map(), nil
	})
	read(s, "getProgramMapTable", func(ctx context.Context, c *call, in *mapTableInput) (anything, error) {
		curriculum, err := c.curriculum(ctx, in.mapInput, false)
		if err != nil {
			return anything{}, err
		}
		return anything{}, c.render(api.CSV, func(w io.Writer) (string, error) {
			return "", curriculum.WriteCSV(w, in.Layout == "long")
		})
	})
	read(s, "getProgramMapPage", showMap)
	link[*catalog.Program](s, "createProgramMapLink", "/map")
	read(s, "getSharedProgramMap", func(ctx context.Context, c *call, in *sharedMapInput) (anything, error) {
		if err := follow[*catalog.Program](ctx, c, in.Token); err != nil {
			return anything{}, err
		}
		return showMap(ctx, c, &in.mapInput)
	})
	write(s, "decideMapCell", func(
		ctx context.Context, c *call, in *body[catalog.MapDecisionInput],
	) (alignment.MapCell, *catalog.Change, error) {
		return c.actor().DecideMapCell(ctx, c.param("programId"), c.param("outcomeId"), c.param("courseId"), in.Body)
	})
	remove(s, "deleteMapDecision", func(ctx context.Context, c *call, _ *none) (*catalog.Change, error) {
		return c.actor().DeleteMapDecision(ctx, c.param("programId"), c.param("outcomeId"), c.param("courseId"))
	})
}

// curriculum loads the program of a map, and, if quoted, the words of syllabi.
func (c *call) curriculum(ctx context.Context, in mapInput, quoted bool) (alignment.Curriculum, error) {
	var jobs []string
	if in.Jobs != "" {
		jobs = strings.Split(in.Jobs, ",")
	}
	if len(jobs) > maxMapJobs {
		return alignment.Curriculum{}, catalog.Errorf(catalog.InvalidParameter, "jobs must name at most %d jobs.", maxMapJobs)
	}
	return c.actor().Curriculum(ctx, c.recordID(), in.Basis, jobs, quoted)
}

func showMap(ctx context.Context, c *call, in *mapInput) (anything, error) {
	m, curriculum, err := parallel.Two(ctx,
		parallel.Call(c.masthead, c.recordID()), parallel.Call2(c.curriculum, *in, true))
	if err != nil {
		return anything{}, err
	}
	return anything{}, c.render(api.HTML, func(w io.Writer) (string, error) { return c.Pages.Map(w, m, curriculum) })
}
