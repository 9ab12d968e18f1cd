package service

import (
	"context"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// sides are what an articulation's evidence compares, as it is now.
type sides struct {
	transfer *catalog.TransferCourse // nil if it was deleted or there is none
	config   catalog.MatchingConfig  // of its package
	sections map[string]*catalog.Section
}

// loadSides loads a transfer course, in parallel with the sections whose ids are returned.
func (a Actor) loadSides(
	ctx context.Context, transferCourseID string, sectionIDs func() ([]string, error),
) (found sides, err error) {
	found.transfer, found.sections, err = parallel.Two(ctx, func(ctx context.Context) (*catalog.TransferCourse, error) {
		courses, packages, err := a.Store.TransferCoursesByID(ctx, a.Org, []string{transferCourseID})
		course := courses[transferCourseID]
		if course != nil {
			found.config = packages[course.PackageID].MatchingConfig
		}
		return course, err
	}, func(ctx context.Context) (map[string]*catalog.Section, error) {
		ids, err := sectionIDs()
		if err != nil {
			return nil, err
		}
		return byID[*catalog.Section](a, ids...)(ctx)
	})
	return found, err
}

// sidesOf loads the transfer course to which an articulation refers and the sections of the course that it grants, or
// nothing if it has no evidence.
func (a Actor) sidesOf(
	ctx context.Context, articulation *catalog.Articulation, granted func() (map[string]*catalog.Course, error),
) (sides, error) {
	transferCourseID, courseID, ok := articulation.EvidenceFor()
	if !ok {
		return sides{}, nil
	}
	return a.loadSides(ctx, transferCourseID, func() (ids []string, err error) {
		courses, err := granted()
		if course := courses[courseID]; course != nil {
			for _, section := range course.Sections {
				ids = append(ids, section.ID)
			}
		}
		return ids, err
	})
}

// evidenceOf compares the transfer course with the sections, as equivalencies do, and returns the best match; nil if
// there is nothing to compare.
func (a Actor) evidenceOf(ctx context.Context, found sides) (*catalog.DecisionEvidence, error) {
	if found.transfer == nil || !found.transfer.Matchable() {
		return nil, nil
	}
	var candidates []catalog.SectionProfile
	for _, section := range found.sections {
		if !section.Cancelled() {
			candidates = append(candidates, section.Profile(&catalog.Course{Meta: catalog.Meta{ID: section.CourseID}}))
		}
	}
	match := alignment.NewIndex(candidates).Best(found.transfer.Skills, found.config, a.Taxonomy().Related)
	if match == nil {
		return nil, nil
	}
	section := found.sections[match.CourseSectionID]
	var stamps catalog.ExtractionStamps
	var err error
	stamps.TransferCourse, stamps.Section, err = parallel.Two(ctx, func(ctx context.Context) (*catalog.Provenance, error) {
		return a.provenance(ctx, found.transfer, found.transfer.Provenance)
	}, parallel.Call(a.sectionProvenance, section))
	return &catalog.DecisionEvidence{
		TransferCourseID: found.transfer.ID, PackageID: found.transfer.PackageID,
		CourseID: section.CourseID, SectionID: section.ID,
		SkillsMatchScore: match.SkillsMatchScore, Equivalence: match.Equivalence, MatchingConfig: found.config,
		SkillMatches: match.SkillMatches, Extraction: stamps,
	}, err
}

// CurrentEvidence returns the evidence that an approval of the articulation would freeze now; nil for none.
func (a Actor) CurrentEvidence(
	ctx context.Context, articulation *catalog.Articulation,
) (*catalog.DecisionEvidence, error) {
	found, err := a.sidesOf(ctx, articulation, a.grantedCourses(ctx, articulation))
	if err != nil {
		return nil, err
	}
	return a.evidenceOf(ctx, found)
}

// provenance returns how a record's skills were extracted; nil if they were not. Records extracted by early versions do
// not store it themselves.
func (a Actor) provenance(
	ctx context.Context, r catalog.Record, stored *catalog.Provenance,
) (*catalog.Provenance, error) {
	if stored != nil {
		return stored, nil
	}
	outcome, err := a.Store.ExtractionResult(ctx, a.Org, r.Base().ID)
	if err != nil || outcome == nil {
		return nil, err
	}
	return &outcome.Provenance, nil
}

// sectionProvenance is provenance for a section, whose skills may be set by hand.
func (a Actor) sectionProvenance(ctx context.Context, section *catalog.Section) (*catalog.Provenance, error) {
	if !section.Extracted() {
		return nil, nil
	}
	return a.provenance(ctx, section, section.Provenance)
}

// loadEvidence loads the evidence of a decision, which an approval freezes, and both sides as they are now. Without an
// approval it is the current evidence.
func (a Actor) loadEvidence(
	ctx context.Context, d *alignment.Decision, granted func() (map[string]*catalog.Course, error),
) (err error) {
	var now sides
	if frozen := d.Articulation.Evidence; frozen != nil {
		d.Evidence = frozen
		now, err = a.loadSides(ctx, frozen.TransferCourseID, func() ([]string, error) {
			return []string{frozen.SectionID}, nil
		})
	} else if d.Articulation.Status != catalog.ArticulationApproved {
		if now, err = a.sidesOf(ctx, d.Articulation, granted); err == nil {
			d.Evidence, err = a.evidenceOf(ctx, now)
		}
	}
	if d.Evidence == nil || err != nil {
		return err
	}
	d.Sent, d.Taught, err = parallel.Two(ctx, func(ctx context.Context) (alignment.Side, error) {
		if now.transfer == nil {
			return alignment.Side{}, nil
		}
		return a.side(ctx, now.transfer, now.transfer.Name, now.transfer.Skills, d.Evidence.Extraction.TransferCourse)
	}, func(ctx context.Context) (alignment.Side, error) {
		section := now.sections[d.Evidence.SectionID]
		if section == nil {
			return alignment.Side{}, nil
		}
		return a.side(ctx, section, section.Name, section.Skills, d.Evidence.Extraction.Section)
	})
	return err
}

// side returns one side of a comparison. It quotes only the stamped extraction: later ones were not compared.
func (a Actor) side(
	ctx context.Context, r catalog.Record, name string, refs []catalog.SkillRef, stamp *catalog.Provenance,
) (alignment.Side, error) {
	side := alignment.Side{Name: name, Skills: refs, ByHand: stamp == nil}
	if stamp == nil {
		return side, nil
	}
	outcome, err := a.Store.ExtractionResult(ctx, a.Org, r.Base().ID)
	if outcome != nil && outcome.Provenance == *stamp {
		side.Quotes = outcome.Evidence
	}
	return side, err
}
