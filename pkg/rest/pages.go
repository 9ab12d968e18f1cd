package rest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/danielgtaylor/huma/v2/negotiation"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// media returns the media type in which the client wants the response: format's, else
// the one of Accept.
func (c *call) media(format string) string {
	return cmp.Or(map[string]string{"json": api.JSON, "csv": api.CSV, "html": api.HTML}[format],
		negotiation.SelectQValue(strings.Join(c.request.Header.Values("Accept"), ","), c.op.Gives))
}

// renderPage sets the page that write writes as the response.
func (c *call) renderPage(write func(w io.Writer) (policy string, err error)) error {
	var text bytes.Buffer
	policy, err := write(&text)
	c.rendered = &rendered{contentType: api.HTML + "; charset=utf-8", policy: policy, body: text.Bytes()}
	return err
}

// articulationPage renders an articulation as the page on which it is read and signed.
func (c *call) articulationPage(ctx context.Context, id string) (anything, error) {
	decision, err := c.decisionOn(ctx, id)
	if err != nil {
		return anything{}, err
	}
	return anything{}, c.renderPage(func(w io.Writer) (string, error) { return c.Pages.Articulation(w, decision) })
}

// decisionOn loads an articulation with its history and what it rests on.
func (c *call) decisionOn(ctx context.Context, id string) (alignment.Decision, error) {
	d := alignment.Decision{
		SkillName: func(id string) string { name, _ := c.Taxonomy().Name(id); return name },
		Related:   c.Taxonomy().Related,
	}
	var err error
	d.Articulation, d.Moves, err = c.articulationMoves(ctx, id)
	if err != nil {
		return d, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		defer caught(&err)
		if ids := d.Articulation.GrantedCourses(); len(ids) > 0 {
			d.Courses, err = c.Store.CoursesByID(groupCtx, c.org, ids, c.strong)
		}
		return err
	})
	group.Go(func() (err error) {
		defer caught(&err)
		if ids := d.Articulation.ProgramIDs; len(ids) > 0 {
			d.Programs, err = c.Store.ProgramsByID(groupCtx, c.org, ids, c.strong)
		}
		return err
	})
	group.Go(func() (err error) {
		defer caught(&err)
		return c.loadEvidence(groupCtx, &d)
	})
	return d, group.Wait()
}

// loadEvidence loads what a decision compares: what the approval froze, before it what
// it would freeze now, and both sides as they are.
func (c *call) loadEvidence(ctx context.Context, d *alignment.Decision) (err error) {
	if d.Evidence = d.Articulation.Evidence; d.Articulation.Status != catalog.ArticulationApproved {
		d.Evidence, err = c.evidence(ctx, d.Articulation)
	}
	if d.Evidence == nil || err != nil {
		return err
	}
	d.Sent, d.Taught, err = parallel(ctx, func(ctx context.Context) (alignment.Side, error) {
		courses, _, err := c.Store.TransferCoursesByID(ctx, c.org, []string{d.Evidence.TransferCourseID})
		course := courses[d.Evidence.TransferCourseID]
		if err != nil || course == nil {
			return alignment.Side{}, err
		}
		return c.side(ctx, course.Name, course.ID, course.Skills, d.Evidence.Extraction.TransferCourse)
	}, func(ctx context.Context) (alignment.Side, error) {
		sections, err := c.Store.SectionsByID(ctx, c.org, []string{d.Evidence.SectionID}, c.strong)
		section := sections[d.Evidence.SectionID]
		if err != nil || section == nil {
			return alignment.Side{}, err
		}
		return c.side(ctx, section.Name, section.ID, section.Skills, d.Evidence.Extraction.Section)
	})
	return err
}

// side returns one side of a comparison. Quotes are those of the stamped extraction
// alone: what was extracted later was not compared.
func (c *call) side(ctx context.Context, name, id string, skills []catalog.SkillRef, stamp *catalog.Provenance) (alignment.Side, error) {
	side := alignment.Side{Name: name, Skills: skills, ByHand: stamp == nil}
	if stamp == nil {
		return side, nil
	}
	outcome, err := c.Store.Outcome(ctx, c.org, id)
	if outcome != nil && outcome.Provenance == *stamp {
		side.Quotes = outcome.Evidence
	}
	return side, err
}
