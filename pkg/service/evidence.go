package service

import (
	"context"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
	"skillscurriculum/pkg/skills"
)

// Outcomes reads how skills were extracted.
type Outcomes interface {
	// Outcome returns the outcome of a record's last extraction; nil for none.
	Outcome(ctx context.Context, org catalog.OrgID, id string) (*catalog.Outcome, error)
}

// sides are what an articulation's evidence compares, as it is now.
type sides struct {
	transfer *catalog.TransferCourse // nil where it is gone, or none is named
	config   catalog.MatchingConfig  // of its package
	sections map[string]*catalog.Section
}

// loadSides loads a transfer course, in parallel with the sections whose ids are returned.
func loadSides(
	ctx context.Context, s Store, org catalog.OrgID, transferCourseID string, strong bool,
	sectionIDs func() ([]string, error),
) (found sides, err error) {
	found.transfer, found.sections, err = parallel.Two(ctx, func(ctx context.Context) (*catalog.TransferCourse, error) {
		courses, packages, err := s.TransferCoursesByID(ctx, org, []string{transferCourseID})
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
		return s.SectionsByID(ctx, org, ids, strong)
	})
	return found, err
}

// sidesOf loads the transfer course that an articulation names, and the sections of the
// course that it grants; nothing where no evidence is made of it.
func sidesOf(
	ctx context.Context, s Store, a *catalog.Articulation, granted func() (map[string]*catalog.Course, error),
	strong bool,
) (sides, error) {
	transferCourseID, courseID, ok := a.EvidenceFor()
	if !ok {
		return sides{}, nil
	}
	return loadSides(ctx, s, a.OrganizationID, transferCourseID, strong, func() (ids []string, err error) {
		courses, err := granted()
		if course := courses[courseID]; course != nil {
			for _, section := range course.Sections {
				ids = append(ids, section.ID)
			}
		}
		return ids, err
	})
}

// evidenceOf compares the transfer course with the sections, as equivalencies do, and
// returns the best match; nil where there is nothing to compare.
func evidenceOf(
	ctx context.Context, s Outcomes, taxonomy func() *skills.Taxonomy, found sides,
) (*catalog.DecisionEvidence, error) {
	if found.transfer == nil || !found.transfer.Matchable() {
		return nil, nil
	}
	var candidates []alignment.Candidate
	for _, section := range found.sections {
		if section.Cancelled() {
			continue
		}
		candidates = append(candidates, alignment.Candidate{
			SectionID: section.ID, CourseID: section.CourseID, SectionName: section.Name, Skills: section.Skills,
		})
	}
	match := alignment.NewIndex(candidates).Best(found.transfer.Skills, found.config, taxonomy().Related)
	if match == nil {
		return nil, nil
	}
	section := found.sections[match.CourseSectionID]
	var stamps catalog.ExtractionStamps
	var err error
	stamps.TransferCourse, stamps.Section, err = parallel.Two(ctx, func(ctx context.Context) (*catalog.Provenance, error) {
		return provenance(ctx, s, found.transfer, found.transfer.Provenance)
	}, func(ctx context.Context) (*catalog.Provenance, error) {
		return sectionProvenance(ctx, s, section)
	})
	return &catalog.DecisionEvidence{
		TransferCourseID: found.transfer.ID, CourseID: section.CourseID, SectionID: section.ID,
		SkillsMatchScore: match.SkillsMatchScore, Equivalence: match.Equivalence, MatchingConfig: found.config, SkillMatches: match.SkillMatches,
		Extraction: stamps,
	}, err
}

// provenance returns how a record's skills were extracted; nil where they were not. It
// stands in the record; of one that was extracted before it did, it is looked up.
func provenance(
	ctx context.Context, s Outcomes, r catalog.Record, stored *catalog.Provenance,
) (*catalog.Provenance, error) {
	if stored != nil {
		return stored, nil
	}
	outcome, err := s.Outcome(ctx, r.Base().OrganizationID, r.Base().ID)
	if err != nil || outcome == nil {
		return nil, err
	}
	return &outcome.Provenance, nil
}

// sectionProvenance is provenance for a section, whose skills may be set by hand.
func sectionProvenance(ctx context.Context, s Outcomes, section *catalog.Section) (*catalog.Provenance, error) {
	if !section.Extracted() {
		return nil, nil
	}
	return provenance(ctx, s, section, section.Provenance)
}

// loadEvidence loads what a decision compares: what the approval froze, before it what
// it would freeze now, and both sides as they are.
func loadEvidence(
	ctx context.Context, s Store, taxonomy func() *skills.Taxonomy, d *alignment.Decision,
	granted func() (map[string]*catalog.Course, error),
) (err error) {
	var now sides
	org := d.Articulation.OrganizationID
	if frozen := d.Articulation.Evidence; frozen != nil {
		d.Evidence = frozen
		now, err = loadSides(ctx, s, org, frozen.TransferCourseID, false, func() ([]string, error) {
			return []string{frozen.SectionID}, nil
		})
	} else if d.Articulation.Status != catalog.ArticulationApproved {
		if now, err = sidesOf(ctx, s, d.Articulation, granted, false); err == nil {
			d.Evidence, err = evidenceOf(ctx, s, taxonomy, now)
		}
	}
	if d.Evidence == nil || err != nil {
		return err
	}
	d.Sent, d.Taught, err = parallel.Two(ctx, func(ctx context.Context) (alignment.Side, error) {
		if now.transfer == nil {
			return alignment.Side{}, nil
		}
		return side(ctx, s, now.transfer, now.transfer.Name, now.transfer.Skills, d.Evidence.Extraction.TransferCourse)
	}, func(ctx context.Context) (alignment.Side, error) {
		section := now.sections[d.Evidence.SectionID]
		if section == nil {
			return alignment.Side{}, nil
		}
		return side(ctx, s, section, section.Name, section.Skills, d.Evidence.Extraction.Section)
	})
	return err
}

// side returns one side of a comparison. Quotes are those of the stamped extraction
// alone: what was extracted later was not compared.
func side(
	ctx context.Context, s Outcomes, r catalog.Record, name string, refs []catalog.SkillRef,
	stamp *catalog.Provenance,
) (alignment.Side, error) {
	side := alignment.Side{Name: name, Skills: refs, ByHand: stamp == nil}
	if stamp == nil {
		return side, nil
	}
	outcome, err := s.Outcome(ctx, r.Base().OrganizationID, r.Base().ID)
	if outcome != nil && outcome.Provenance == *stamp {
		side.Quotes = outcome.Evidence
	}
	return side, err
}
