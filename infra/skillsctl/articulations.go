package main

import (
	"bufio"
	"cmp"
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	usecase "skillscurriculum/pkg/service"
	"skillscurriculum/pkg/upsert"
)

type importArticulations struct {
	Organization  catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the articulations."`
	Check         bool          `help:"Count and report errors, but change nothing."`
	EffectiveFrom string        `placeholder:"DATE" help:"Effective date of new articulations that have none in the file."`
	Rejects       string        `placeholder:"FILE" help:"File for the records with errors. The default is FILE.rejects.csv."`
	File          string        `arg:"" help:"Table with one line per alternative, in the columns of the export or of TES."`
}

// Run imports articulations, or reports what an import would do.
func (c *importArticulations) Run(ctx context.Context, t *tool, s *service) error {
	if err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	file, err := intake.OpenPath(c.File, intake.Options{Resource: catalog.ArticulationKind})
	if err != nil {
		return err
	}
	loader := upsert.Loader{Store: s.store, Now: now, IDs: ids, ArticulationFields: intake.ArticulationFields}
	options := upsert.Options{Check: c.Check, EffectiveFrom: c.EffectiveFrom}
	return t.load(ctx, loader, c.Organization, file, options, cmp.Or(c.Rejects, c.File+".rejects.csv"))
}

type exportArticulations struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the articulations."`
}

// Run writes all articulations, whatever their state, in the order of their creation.
func (c *exportArticulations) Run(ctx context.Context, t *tool, s *service) error {
	if err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	courses, err := usecase.All[*catalog.Course](ctx, s.store, c.Organization, "")
	if err != nil {
		return err
	}
	programs, err := usecase.All[*catalog.Program](ctx, s.store, c.Organization, "")
	if err != nil {
		return err
	}
	out := bufio.NewWriter(t.stdout)
	e := intake.ArticulationExport{
		CourseName: upsert.CourseNames(courses).Of, ProgramName: upsert.ProgramNames(programs).Of,
	}
	if err := e.Begin(out); err != nil {
		return err
	}
	if err := usecase.Each(ctx, s.store, c.Organization, "", e.Write); err != nil {
		return err
	}
	if err := e.End(); err != nil {
		return err
	}
	return out.Flush()
}
