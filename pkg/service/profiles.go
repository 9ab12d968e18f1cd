package service

import (
	"context"
	"fmt"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// socOf returns the SOC code of an occupation in a report or builder.
func socOf(job catalog.ReportJob) (string, bool) {
	if job.Lib != libSOC || !catalog.ONETSOCPattern().MatchString(job.ID) {
		return "", false
	}
	return socCode(job.ID), true
}

// socCode returns the SOC code NN-NNNN of a SOC or O*NET-SOC code.
func socCode(code string) string { return code[:len("15-1252")] }

// The libraries of jobs.
const (
	libSOC    = "soc"
	libCustom = "custom"
)

// jobProfiles loads jobs of the organization and occupations, with what they require.
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

// jobProfile returns what a job requires, or what is wrong with its id.
func (a Actor) jobProfile(
	job catalog.ReportJob, own map[string]*catalog.Job, names map[string]string,
) (profile alignment.JobProfile, message string) {
	profile.JobID, profile.Lib = job.ID, job.Lib
	soc, isSOC := socOf(job)
	switch {
	case job.Lib == libCustom && own[job.ID] == nil:
		return profile, "there is no such job"
	case job.Lib == libCustom:
		profile.JobName, profile.SkillRequirements = own[job.ID].Name, own[job.ID].Skills
		if code := own[job.ID].ONETSOCCode; code != nil {
			profile.SOCCode = socCode(*code)
		}
	case !isSOC:
		return profile, "must be a SOC code (NN-NNNN)"
	default:
		name, ok := a.Taxonomy().Occupation(job.ID)
		if known := names[soc]; known != "" {
			name, ok = known, true
		}
		if !ok {
			return profile, "there is no such occupation"
		}
		profile.JobName, profile.SkillRequirements, profile.SOCCode = name, a.Taxonomy().Requirements(job.ID), soc
	}
	return profile, ""
}
