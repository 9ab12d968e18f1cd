package main

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	usecase "skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

type importArticulations struct {
	ofImport
	EffectiveFrom string `placeholder:"DATE" help:"Effective date of new articulations that have none in the file."`
	File          string `arg:"" help:"Table with one line per alternative, in the columns of the export or of TES."`
}

// Run imports articulations, or reports what an import would do.
func (c *importArticulations) Run(ctx context.Context, t *tool, s *service) error {
	in := intake.Options{Resource: catalog.ArticulationKind}
	return c.load(ctx, t, s, c.File, in, upsert.Options{EffectiveFrom: c.EffectiveFrom})
}

type exportArticulations struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the articulations."`
}

// Run writes all articulations, whatever their state, in the order of their creation.
func (c *exportArticulations) Run(ctx context.Context, t *tool, s *service) error {
	if _, err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	owners, err := s.owners(ctx, c.Organization)
	if err != nil {
		return err
	}
	e := intake.ArticulationExport{
		CourseName: owners.names[catalog.CourseKind].Of, ProgramName: owners.names[catalog.ProgramKind].Of,
	}
	if err := e.Begin(t.stdout); err != nil {
		return err
	}
	if err := usecase.Each(ctx, s.store, c.Organization, "", e.Write); err != nil {
		return err
	}
	return e.End()
}
