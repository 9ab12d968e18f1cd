package service

import (
	"context"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// Proposal is a proposed credential: the sections, and how well they serve.
type Proposal struct {
	Sections []catalog.SectionProfile `json:"sections" doc:"Proposed sections, at most one per course"`
	alignment.Proposal
	Warnings []catalog.Warning `json:"warnings,omitempty" doc:"skills_not_in_taxonomy: number of taught and required skills that are not in the loaded taxonomy"`
}

// BuildCredential proposes a credential for jobs, of the sections of the allowed courses;
// of all where none is named. The request has its bounds and weights, and no more.
func (a Actor) BuildCredential(
	ctx context.Context, request alignment.CredentialRequest, jobIDs []catalog.ReportJob, allowed []string,
) (*Proposal, error) {
	if request.MinSections > request.MaxSections {
		return nil, catalog.Invalid(catalog.FieldError{
			Location: "body.minSections", Message: "greater than maxSections", Value: request.MinSections,
		})
	}
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
