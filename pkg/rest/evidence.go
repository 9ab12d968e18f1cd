package rest

import (
	"context"
	"maps"
	"slices"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// sides are what an articulation's evidence compares, as it is now.
type sides struct {
	transfer *catalog.TransferCourse // nil where it is gone, or none is named
	config   catalog.MatchingConfig  // of its package
	sections map[string]*catalog.Section
}

// sides loads a transfer course, in parallel with the sections whose ids are returned.
func (c *call) sides(ctx context.Context, transferCourseID string, sectionIDs func() ([]string, error)) (s sides, err error) {
	s.transfer, s.sections, err = parallel(ctx, func(ctx context.Context) (*catalog.TransferCourse, error) {
		courses, packages, err := c.Store.TransferCoursesByID(ctx, c.org, []string{transferCourseID})
		course := courses[transferCourseID]
		if course != nil {
			s.config = packages[course.PackageID].MatchingConfig
		}
		return course, err
	}, func(ctx context.Context) (map[string]*catalog.Section, error) {
		ids, err := sectionIDs()
		if err != nil {
			return nil, err
		}
		return c.Store.SectionsByID(ctx, c.org, ids, c.strong)
	})
	return s, err
}

// sidesOf loads the transfer course that an articulation names, and the sections of the
// course that it grants; nothing where no evidence is made of it.
func (c *call) sidesOf(ctx context.Context, a *catalog.Articulation, granted GrantedCourses) (sides, error) {
	transferCourseID, courseID, ok := a.EvidenceFor()
	if !ok {
		return sides{}, nil
	}
	return c.sides(ctx, transferCourseID, func() (ids []string, err error) {
		courses, err := granted()
		if course := courses[courseID]; course != nil {
			for _, section := range course.Sections {
				ids = append(ids, section.ID)
			}
		}
		return ids, err
	})
}

// evidence compares the transfer course with the sections, as equivalencies do, and
// returns the best match; nil where there is nothing to compare.
func (c *call) evidence(ctx context.Context, s sides) (*catalog.DecisionEvidence, error) {
	if s.transfer == nil || s.transfer.ProcessingStatus != catalog.Completed {
		return nil, nil
	}
	match := c.bestOf(s.transfer, s.config, slices.Collect(maps.Values(s.sections)))
	if match == nil {
		return nil, nil
	}
	section := s.sections[match.CourseSectionID]
	var stamps catalog.ExtractionStamps
	var err error
	stamps.TransferCourse, stamps.Section, err = parallel(ctx, func(ctx context.Context) (*catalog.Provenance, error) {
		return c.provenance(ctx, s.transfer.ID, s.transfer.Provenance)
	}, func(ctx context.Context) (*catalog.Provenance, error) {
		return c.sectionProvenance(ctx, section)
	})
	return &catalog.DecisionEvidence{
		TransferCourseID: s.transfer.ID, CourseID: section.CourseID, SectionID: section.ID, SkillsMatchScore: match.SkillsMatchScore,
		Equivalence: match.Equivalence, MatchingConfig: s.config, SkillMatches: match.SkillMatches, Extraction: stamps,
	}, err
}

// bestOf returns the section that matches a transfer course best; nil where none has
// skills.
func (c *call) bestOf(transfer *catalog.TransferCourse, config catalog.MatchingConfig, sections []*catalog.Section) *alignment.Match {
	candidates := make([]alignment.Candidate, len(sections))
	for i, section := range sections {
		candidates[i] = alignment.Candidate{SectionID: section.ID, CourseID: section.CourseID, SectionName: section.Name, Skills: section.Skills}
	}
	return alignment.NewIndex(candidates).Best(transfer.Skills, config, c.Taxonomy().Related)
}

// provenance returns how a record's skills were extracted; nil where they were not. It
// stands in the record; of one that was extracted before it did, it is looked up.
func (c *call) provenance(ctx context.Context, id string, stored *catalog.Provenance) (*catalog.Provenance, error) {
	if stored != nil {
		return stored, nil
	}
	outcome, err := c.Store.Outcome(ctx, c.org, id)
	if err != nil || outcome == nil {
		return nil, err
	}
	return &outcome.Provenance, nil
}

// sectionProvenance is provenance for a section, whose skills may be set by hand.
func (c *call) sectionProvenance(ctx context.Context, section *catalog.Section) (*catalog.Provenance, error) {
	if section.ByHand {
		return nil, nil
	}
	return c.provenance(ctx, section.ID, section.Provenance)
}
