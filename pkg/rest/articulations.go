package rest

import (
	"cmp"
	"context"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/service/parallel"
)

type readArticulationInput struct {
	Format  string   `query:"format" doc:"Overrides Accept: html is a page to read, print and sign"`
	Include []string `query:"include" enum:"evidence" doc:"Fields to add: evidence, which before approval is the evidence that an approval would freeze now"`
}

type listArticulationsInput struct {
	pageInput
	Institution string                     `query:"institution" minLength:"1" doc:"Only articulations of the institution with this name or code; spelling differences such as case are ignored"`
	SendingCode string                     `query:"sendingCode" minLength:"1" doc:"Only articulations with this sending course code; spelling differences such as case are ignored"`
	CourseID    string                     `query:"courseId" minLength:"1" doc:"Only articulations that grant this course"`
	Status      catalog.ArticulationStatus `query:"status" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED" doc:"Only articulations with this status"`
	AsOf        string                     `query:"asOf" format:"date" doc:"Only approved articulations in force on this date"`
	Published   *bool                      `query:"published" doc:"Only articulations that are (true) or are not (false) published"`
}

type lookupInput struct {
	Institution string   `query:"institution" required:"true" minLength:"1" doc:"Name or code of the institution; spelling differences such as case are ignored"`
	Codes       string   `query:"codes" required:"true" minLength:"1" doc:"1 to 50 codes of courses, in any spelling, separated by commas"`
	AsOf        string   `query:"asOf" format:"date" doc:"the day that counts; today where nothing is said"`
	ProgramID   string   `query:"programId" minLength:"1" doc:"also what is for this program; without it only what is for all programs"`
	Include     []string `query:"include" enum:"trace" doc:"trace adds why each uncovered code is uncovered"`
}

// ArticulationHistory lists the status changes of an articulation, oldest first.
type ArticulationHistory struct {
	Data []catalog.Move `json:"data" doc:"Status changes, oldest first"`
}

func (s *Server) bindArticulations() {
	read(s, "getArticulationCTDL", func(ctx context.Context, c *call, in *articulationCTDLInput) (anything, error) {
		return c.describe(ctx, catalog.ArticulationKind, in.Alternative, in.Graph)
	})
	read(s, "listArticulations", func(
		ctx context.Context, c *call, in *listArticulationsInput,
	) (Page[*catalog.Articulation], error) {
		articulations, total, err := c.Store.Articulations(ctx, c.org, catalog.ArticulationFilter{
			Institution: in.Institution, SendingCode: in.SendingCode, CourseID: in.CourseID, Status: in.Status,
			Published: in.Published, AsOf: in.AsOf,
		}, in.Offset, in.Limit)
		return page(c, in.pageInput, articulations, total), err
	})
	read(s, "getArticulation", func(
		ctx context.Context, c *call, in *readArticulationInput,
	) (*catalog.Articulation, error) {
		if c.media(in.Format) == api.HTML {
			_, err := c.articulationPage(ctx)
			return nil, err
		}
		a, err := service.Get[*catalog.Articulation](ctx, c.Store, c.org, c.recordID(), c.strong)
		if err != nil || len(in.Include) == 0 {
			return a, err
		}
		c.current = catalog.Copy(a)
		if a.Status != catalog.ArticulationApproved {
			a.Evidence, err = c.actor().CurrentEvidence(ctx, a)
		}
		return a, err
	})
	read(s, "getArticulationPage", func(ctx context.Context, c *call, _ *none) (anything, error) {
		return c.articulationPage(ctx)
	})
	link[*catalog.Articulation](s, "createArticulationLink", "")
	read(s, "getSharedArticulation", func(ctx context.Context, c *call, in *tokenInput) (anything, error) {
		if err := follow[*catalog.Articulation](ctx, c, in.Token); err != nil {
			return anything{}, err
		}
		return c.articulationPage(ctx)
	})
	create(s, "createArticulation", service.Actor.CreateArticulation)
	write(s, "updateArticulation", updateArticulation)
	erase(s, "deleteArticulation", service.Delete[*catalog.Articulation])
	write(s, "moveArticulation", moveArticulation)
	read(s, "listArticulationMoves", func(ctx context.Context, c *call, _ *none) (*ArticulationHistory, error) {
		_, moves, err := c.actor().History(ctx, c.recordID())
		return &ArticulationHistory{moves}, err
	})
	read(s, "lookupArticulations", lookupArticulations)
	read(s, "listArticulationIssues", listArticulationIssues)
}

func updateArticulation(
	ctx context.Context, c *call, in *body[catalog.ArticulationInput],
) (*catalog.Articulation, *catalog.Change, error) {
	actor := c.actor()
	a, named, err := parallel.Two(ctx, func(ctx context.Context) (*catalog.Articulation, error) {
		return service.Get[*catalog.Articulation](ctx, c.Store, c.org, c.recordID(), true)
	}, parallel.Call(actor.NamedBy, in.Body))
	if err != nil {
		return nil, nil, err
	}
	actor.Lookups = named
	var change catalog.Change
	_, err = actor.ReviseArticulation(ctx, a, in.Body, &change)
	return a, &change, err
}

func moveArticulation(
	ctx context.Context, c *call, in *body[catalog.MoveInput],
) (*catalog.Articulation, *catalog.Change, error) {
	a, err := service.Get[*catalog.Articulation](ctx, c.Store, c.org, c.recordID(), true)
	if err != nil {
		return nil, nil, err
	}
	change, err := c.actor().MoveArticulation(ctx, a, in.Body)
	return a, change, err
}

func lookupArticulations(ctx context.Context, c *call, in *lookupInput) (*service.Lookup, error) {
	codes, err := catalog.ParseCodes(in.Codes)
	if err != nil {
		return nil, err
	}
	query := catalog.ArticulationQuery{Institution: in.Institution, Codes: codes,
		AsOf: cmp.Or(in.AsOf, catalog.DateOf(c.now)), ProgramID: in.ProgramID}
	return c.actor().LookUp(ctx, query, len(in.Include) > 0, c.admission.items)
}

func listArticulationIssues(ctx context.Context, c *call, in *pageInput) (Page[catalog.ArticulationIssue], error) {
	issues, total, err := c.Server.health.Issues(ctx, c.actor(), in.Offset, in.Limit, c.admission.items)
	return page(c, *in, issues, total), err
}
