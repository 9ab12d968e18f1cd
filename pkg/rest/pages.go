package rest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/danielgtaylor/huma/v2/negotiation"

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
	granted := grantedCourses(ctx, c.Store, d.Articulation, c.strong)
	err = inParallel(ctx, func(context.Context) (err error) {
		d.Courses, err = granted()
		return err
	}, func(ctx context.Context) (err error) {
		d.Programs, err = c.Store.ProgramsByID(ctx, c.org, d.Articulation.ProgramIDs, c.strong)
		return err
	}, func(ctx context.Context) error {
		return c.loadEvidence(ctx, &d, granted)
	})
	return d, err
}

// loadEvidence loads what a decision compares: what the approval froze, before it what
// it would freeze now, and both sides as they are.
func (c *call) loadEvidence(ctx context.Context, d *alignment.Decision, granted GrantedCourses) (err error) {
	var now sides
	if frozen := d.Articulation.Evidence; frozen != nil {
		d.Evidence = frozen
		now, err = c.sides(ctx, frozen.TransferCourseID, func() ([]string, error) { return []string{frozen.SectionID}, nil })
	} else if d.Articulation.Status != catalog.ArticulationApproved {
		if now, err = c.sidesOf(ctx, d.Articulation, granted); err == nil {
			d.Evidence, err = c.evidence(ctx, now)
		}
	}
	if d.Evidence == nil || err != nil {
		return err
	}
	d.Sent, d.Taught, err = parallel(ctx, func(ctx context.Context) (alignment.Side, error) {
		if now.transfer == nil {
			return alignment.Side{}, nil
		}
		return c.side(ctx, now.transfer.Name, now.transfer.ID, now.transfer.Skills, d.Evidence.Extraction.TransferCourse)
	}, func(ctx context.Context) (alignment.Side, error) {
		section := now.sections[d.Evidence.SectionID]
		if section == nil {
			return alignment.Side{}, nil
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
