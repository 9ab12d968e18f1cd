package service

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

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
func (a Actor) jobProfiles(
	ctx context.Context, jobs []catalog.ReportJob, location string,
) ([]alignment.JobProfile, []catalog.FieldError, error) {
	var ids, socs []string
	for _, job := range jobs {
		if job.Lib == libCustom {
			ids = append(ids, job.ID)
		} else if soc, ok := socOf(job); ok {
			socs = append(socs, soc)
		}
	}
	own, err := byID[*catalog.Job](a, ids...)(ctx)
	if err != nil {
		return nil, nil, err
	}
	var names map[string]string
	if len(socs) > 0 {
		facts, err := a.Market.Facts(ctx, []labor.Area{labor.Nation}, socs)
		if err != nil {
			return nil, nil, err
		}
		names = facts.Names
	}
	var wrong []catalog.FieldError
	profiles := make([]alignment.JobProfile, 0, len(jobs))
	seen := map[string]bool{}
	for i, job := range jobs {
		profile, message := a.jobProfile(job, own, names)
		if seen[job.ID] {
			message = "the job is named twice"
		}
		seen[job.ID] = true
		if message != "" {
			wrong = append(wrong, catalog.FieldError{
				Location: fmt.Sprintf("%s[%d].id", location, i), Message: message, Value: job.ID,
			})
			continue
		}
		if profile.SkillRequirements == nil {
			profile.SkillRequirements = []catalog.SkillRef{}
		}
		profiles = append(profiles, profile)
	}
	return profiles, wrong, nil
}

// jobProfile returns what a job requires, or what is wrong with its name.
func (a Actor) jobProfile(
	job catalog.ReportJob, own map[string]*catalog.Job, names map[string]string,
) (profile alignment.JobProfile, message string) {
	profile.JobID = job.ID
	soc, isSOC := socOf(job)
	switch {
	case job.Lib == libCustom && own[job.ID] == nil:
		return profile, "there is no such job"
	case job.Lib == libCustom:
		profile.JobName, profile.SkillRequirements = own[job.ID].Name, own[job.ID].Skills
	case !isSOC:
		return profile, "no SOC code (NN-NNNN)"
	default:
		name, ok := a.Taxonomy().Occupation(job.ID)
		if known := names[soc]; known != "" {
			name, ok = known, true
		}
		if !ok {
			return profile, "there is no such occupation"
		}
		profile.JobName, profile.SkillRequirements = name, a.Taxonomy().Requirements(job.ID)
	}
	return profile, ""
}
