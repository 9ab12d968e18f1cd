package main

import (
	"bufio"
	"cmp"
	"context"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/infra/skillsctl/load"
	"skillscurriculum/pkg/catalog"
)

type importArticulations struct {
	Organization  catalog.OrgID `required:"" placeholder:"ID" help:"Id of the organization whose articulations they are."`
	Check         bool          `help:"Find errors and count, change nothing."`
	EffectiveFrom string        `placeholder:"DATE" help:"Day from which new articulations are in effect of which the file does not say it."`
	Rejects       string        `placeholder:"FILE" help:"File for the records with errors. FILE.rejects.csv where empty."`
	File          string        `arg:"" help:"Table with a line for each alternative: the columns of the export, or those of TES."`
}

// Run imports articulations, or finds what an import would do.
func (c *importArticulations) Run(ctx context.Context, t *tool) error {
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	if err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	rows, err := intake.ReadArticulationsFile(c.File)
	if err != nil {
		return err
	}
	loader := load.Loader{Store: s.store, Now: now, IDs: ids}
	return t.load(ctx, loader, c.Organization, rows, load.Options{Check: c.Check, EffectiveFrom: c.EffectiveFrom}, cmp.Or(c.Rejects, c.File+".rejects.csv"))
}

type exportArticulations struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Id of the organization whose articulations they are."`
}

// Run writes the articulations of all states, in creation order.
func (c *exportArticulations) Run(ctx context.Context, t *tool) error {
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	if err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	courses, err := s.store.AllCourses(ctx, c.Organization)
	if err != nil {
		return err
	}
	programs, err := s.store.AllPrograms(ctx, c.Organization)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(t.stdout)
	e := intake.ArticulationExport{CourseName: load.CourseNames(courses).Of, ProgramName: load.ProgramNames(programs).Of}
	if err := e.Begin(out); err != nil {
		return err
	}
	if err := s.store.EachArticulation(ctx, c.Organization, e.Write); err != nil {
		return err
	}
	if err := e.End(); err != nil {
		return err
	}
	return out.Flush()
}
