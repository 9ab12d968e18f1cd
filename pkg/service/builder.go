package service

import (
	"context"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// Proposal is a proposed credential: its sections, and how well they cover the jobs.
type Proposal struct {
	Sections []catalog.SectionProfile `json:"sections" doc:"Proposed sections, at most one per course"`
	alignment.Proposal
	Warnings []catalog.Warning `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: number of taught and required skills that are not in the loaded taxonomy"`
}

// BuildCredential proposes a credential for jobs from the sections of the allowed courses; of all courses if none are
// given. request has only the bounds and weights.
func (a Actor) BuildCredential(
	ctx context.Context, request alignment.CredentialRequest, jobIDs []catalog.ReportJob, allowed []string,
) (*Proposal, error) {
	jobs, wrong, err := a.jobProfiles(ctx, jobIDs, "body.jobIdentifiers")
	if err != nil {
		return nil, err
	}
	courses, more, err := a.namedCourses(ctx, allowed, "body.allowedCourseIds")
	if err != nil {
		return nil, err
	}
	if wrong = append(wrong, more...); wrong != nil {
		return nil, catalog.Invalid(wrong...)
	}
	candidates, err := a.candidates(ctx)
	if err != nil {
		return nil, err
	}
	request.Jobs = jobs
	for _, candidate := range candidates.list {
		if len(courses) == 0 || courses[candidate.CourseID] != nil {
			request.Candidates = append(request.Candidates, candidate)
		}
	}
	proposal, err := alignment.Build(request)
	if err != nil {
		return nil, err
	}
	placed, err := a.place(proposal.SectionIDs...)(ctx)
	if err != nil {
		return nil, err
	}
	usage := a.Taxonomy().Usage(candidates.usage)
	for _, job := range jobs {
		addSkills(usage, job.SkillRequirements)
	}
	out := &Proposal{Sections: []catalog.SectionProfile{}, Proposal: proposal, Warnings: warnings(a.Taxonomy(), usage)}
	for _, id := range proposal.SectionIDs {
		if p := placed[id]; p.Section != nil {
			out.Sections = append(out.Sections, p.Section.Profile(p.Course))
		}
	}
	return out, nil
}
