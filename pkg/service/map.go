package service

import (
	"context"
	"maps"
	"slices"
	"strings"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Curriculum loads a program with everything that its map is computed from, and, if quoted, the words of syllabi. jobs
// are job ids and, after soc:, SOC codes.
func (a Actor) Curriculum(
	ctx context.Context, programID, basis string, jobs []string, quoted bool,
) (alignment.Curriculum, error) {
	c := alignment.Curriculum{
		Basis: basis, Asked: jobs, Related: func(id string) []string { return a.Taxonomy().Related(id) },
		Address: func(o catalog.Outcome) string { return o.CTID },
	}
	asked := make([]catalog.ReportJob, len(jobs))
	for i, job := range jobs {
		asked[i] = catalog.ReportJob{ID: job, Lib: libCustom}
		if soc, ok := strings.CutPrefix(job, "soc:"); ok {
			asked[i] = catalog.ReportJob{ID: soc, Lib: libSOC}
		}
	}
	var wrong []catalog.FieldError
	var lists map[string]*catalog.OutcomeList
	loadProgram := one[*catalog.Program](a, programID)
	err := parallel.All(ctx, parallel.Into(&c.Program, loadProgram), func(ctx context.Context) (err error) {
		if catalog.ProgramKind.Made(programID) {
			lists, err = a.OutcomeLists(ctx, programID)
		}
		return err
	}, parallel.Into(&c.Decisions, parallel.Call2(a.Store.MapDecisions, a.Org, programID)), func(
		ctx context.Context,
	) (err error) {
		c.Jobs, wrong, err = a.jobProfiles(ctx, asked, "query.jobs")
		return err
	})
	if err != nil {
		return c, err
	}
	if len(wrong) > 0 {
		return c, catalog.Errorf(catalog.InvalidParameter, "jobs: %v: %s.", wrong[0].Value, wrong[0].Message)
	}
	if c.Outcomes = lists[programID]; c.Outcomes == nil {
		c.Outcomes = catalog.NewOutcomeList(c.Program)
	}
	courses, lists, err := parallel.Two(ctx, byID[*catalog.Course](a, c.Program.CourseOrder...),
		func(ctx context.Context) (map[string]*catalog.OutcomeList, error) {
			return a.OutcomeLists(ctx, c.Program.CourseOrder...)
		})
	if err != nil {
		return c, err
	}
	var results map[string]*catalog.ExtractionResult
	var surveyed map[string]alignment.ReportCourse
	var sections map[string]*catalog.Section
	err = parallel.All(ctx, func(ctx context.Context) (err error) {
		surveyed, sections, err = a.withSections(ctx, courses)
		return err
	}, func(ctx context.Context) (err error) {
		if quoted { // default sections represent most courses
			results, err = a.Store.ExtractionResults(ctx, a.Org, defaultSections(courses))
		}
		return err
	})
	if err == nil && quoted {
		err = a.addResults(ctx, results, surveyed, sections)
	}
	if err != nil {
		return c, err
	}
	for _, id := range c.Program.CourseOrder {
		course := courses[id]
		if course == nil {
			continue
		}
		of := alignment.CurriculumCourse{ReportCourse: surveyed[id], Outcomes: lists[id]}
		if section := of.Represented(); section != nil && results[section.SectionID] != nil {
			of.Quotes = results[section.SectionID].Evidence
		}
		if of.Outcomes == nil {
			of.Outcomes = catalog.NewOutcomeList(course)
		}
		c.Courses = append(c.Courses, of)
	}
	return c, nil
}

func defaultSections(courses map[string]*catalog.Course) (ids []string) {
	for _, course := range courses {
		ids = append(ids, course.DefaultSectionID)
	}
	return ids
}

// addResults loads what was read in the syllabi of the sections that represent courses, where it is not among the
// results yet, and leaves out what is obsolete.
func (a Actor) addResults(
	ctx context.Context, results map[string]*catalog.ExtractionResult,
	courses map[string]alignment.ReportCourse, sections map[string]*catalog.Section,
) error {
	var ids []string
	for _, course := range courses {
		section := course.Represented()
		if section != nil && section.SectionID != course.Profile.CourseDefaultSectionID &&
			sections[section.SectionID].Extracted() {
			ids = append(ids, section.SectionID)
		}
	}
	if len(ids) > 0 {
		more, err := a.Store.ExtractionResults(ctx, a.Org, ids)
		if err != nil {
			return err
		}
		maps.Copy(results, more)
	}
	maps.DeleteFunc(results, func(id string, result *catalog.ExtractionResult) bool {
		section := sections[id]
		if section == nil || !section.Extracted() {
			return true
		}
		stamp := section.Provenance // nil in early releases
		return stamp != nil && *stamp != result.Provenance
	})
	return nil
}

// DecideMapCell decides the mark of a course for an outcome.
func (a Actor) DecideMapCell(
	ctx context.Context, programID, outcomeID, courseID string, in catalog.MapDecisionInput,
) (alignment.MapCell, *catalog.Change, error) {
	c, err := a.Curriculum(ctx, programID, alignment.BothBasis, nil, false)
	if err != nil {
		return alignment.MapCell{}, nil, err
	}
	_, computed, ok := c.Cell(outcomeID, courseID)
	if !ok {
		return alignment.MapCell{}, nil, catalog.Absent()
	}
	decision, err := in.Apply(c.Outcomes.Find(outcomeID), courseID, computed, a.KeyID, a.Lookups, a.Now)
	if err != nil {
		return alignment.MapCell{}, nil, err
	}
	c.Decisions = append(c.Decisions, decision)
	cell, _, _ := c.Cell(outcomeID, courseID)
	var change catalog.Change
	change.DecideCell(c.Program, outcomeID, courseID, &decision, a.Now)
	change.RemoveDecisions(c.Program, c.Outcomes, c.Decisions)
	return cell, &change, nil
}

// DeleteMapDecision removes the decision on a cell, if there is one.
func (a Actor) DeleteMapDecision(ctx context.Context, programID, outcomeID, courseID string) (*catalog.Change, error) {
	c, err := a.Curriculum(ctx, programID, alignment.BothBasis, nil, false)
	if err != nil {
		return nil, err
	}
	if _, _, ok := c.Cell(outcomeID, courseID); !ok {
		return nil, catalog.Absent()
	}
	var change catalog.Change
	if slices.ContainsFunc(c.Decisions, func(d catalog.MapDecision) bool {
		return d.OutcomeID == outcomeID && d.CourseID == courseID
	}) {
		change.DecideCell(c.Program, outcomeID, courseID, nil, a.Now)
	}
	return &change, nil
}
