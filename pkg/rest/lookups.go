package rest

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// namedCourses loads courses that a body names; an unknown one and one named
// twice are field errors.
func (c *call) namedCourses(ctx context.Context, ids []string, location string) (map[string]*catalog.Course, []catalog.FieldError, error) {
	if len(ids) == 0 {
		return nil, nil, nil
	}
	courses, err := c.Store.CoursesByID(ctx, c.org, ids, true)
	return courses, catalog.CheckCourses(ids, courses, location), err
}

// place loads sections with their courses, side by side; what is not there is
// left out.
func (c *call) place(ctx context.Context, ids []string, strong bool) (map[string]catalog.Placed, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	sections, courses, err := parallel(ctx, func(ctx context.Context) (map[string]*catalog.Section, error) {
		return c.Store.SectionsByID(ctx, c.org, ids, strong)
	}, func(ctx context.Context) (map[string]*catalog.Course, error) {
		return c.Store.CoursesOfSections(ctx, c.org, ids, strong)
	})
	placed := make(map[string]catalog.Placed, len(sections))
	for id, section := range sections {
		if course := courses[id]; course != nil {
			placed[id] = catalog.Placed{Section: section, Course: course}
		}
	}
	return placed, err
}

// socOf returns the SOC code of an occupation that a report or builder names.
func socOf(job catalog.ReportJob) (string, bool) {
	if job.Lib != libSOC || !catalog.ONETSOCPattern().MatchString(job.ID) {
		return "", false
	}
	return job.ID[:7], true
}

// The libraries that a job may be of.
const (
	libSOC    = "soc"
	libCustom = "custom"
)

// jobProfiles loads jobs of the organization and occupations, with what they
// require.
func (c *call) jobProfiles(ctx context.Context, jobs []catalog.ReportJob, location string) ([]alignment.JobProfile, []catalog.FieldError, error) {
	var ids, socs []string
	for _, job := range jobs {
		if job.Lib == libCustom {
			ids = append(ids, job.ID)
		} else if soc, ok := socOf(job); ok {
			socs = append(socs, soc)
		}
	}
	var own map[string]*catalog.Job
	var err error
	if len(ids) > 0 {
		if own, err = c.Store.JobsByID(ctx, c.org, ids, c.strong); err != nil {
			return nil, nil, err
		}
	}
	var names map[string]string
	if len(socs) > 0 {
		facts, err := c.Market.Facts(ctx, []labor.Area{labor.Nation}, socs)
		if err != nil {
			return nil, nil, err
		}
		names = facts.Names
	}
	var wrong []catalog.FieldError
	profiles := make([]alignment.JobProfile, 0, len(jobs))
	seen := map[string]bool{}
	for i, job := range jobs {
		at := fmt.Sprintf("%s[%d]", location, i)
		profile := alignment.JobProfile{JobID: job.ID}
		fieldError := catalog.FieldError{Location: at + ".id", Value: job.ID}
		soc, isSOC := socOf(job)
		switch {
		case seen[job.ID]:
			fieldError.Message = "the job is named twice"
		case job.Lib == libCustom && own[job.ID] == nil:
			fieldError.Message = "there is no such job"
		case job.Lib == libCustom:
			profile.JobName, profile.SkillRequirements = own[job.ID].Name, own[job.ID].Skills
		case !isSOC:
			fieldError.Message = "no SOC code (NN-NNNN)"
		default:
			name, ok := c.Taxonomy().Occupation(job.ID)
			if known := names[soc]; known != "" {
				name, ok = known, true
			}
			if !ok {
				fieldError.Message = "there is no such occupation"
			}
			profile.JobName, profile.SkillRequirements = name, c.Taxonomy().Requirements(job.ID)
		}
		seen[job.ID] = true
		if fieldError.Message != "" {
			wrong = append(wrong, fieldError)
			continue
		}
		if profile.SkillRequirements == nil {
			profile.SkillRequirements = []catalog.SkillRef{}
		}
		profiles = append(profiles, profile)
	}
	return profiles, wrong, nil
}
