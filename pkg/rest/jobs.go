package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

// JobStore is what the handlers of jobs need.
type JobStore interface {
	Jobs(ctx context.Context, org catalog.OrgID, offset, limit int) ([]*catalog.Job, int, error)
	Job(ctx context.Context, org catalog.OrgID, id string, strong bool) (*catalog.Job, error)
	JobsByID(ctx context.Context, org catalog.OrgID, ids []string, strong bool) (map[string]*catalog.Job, error)
}

type jobInput struct {
	JobID string `path:"jobId"`
}

type createJobInput struct {
	Body struct {
		Name               string                `json:"name" minLength:"1" maxLength:"255"`
		EmployerID         string                `json:"employerId" minLength:"1" maxLength:"255"`
		Description        *string               `json:"description,omitempty" nullable:"true" maxLength:"10000"`
		JobDescriptionHref *string               `json:"jobDescriptionHref,omitempty" nullable:"true" maxLength:"2000"`
		Locations          []catalog.JobLocation `json:"locations,omitempty" nullable:"true" maxItems:"100"`
		SalaryMin          *float64              `json:"salaryMin,omitempty" nullable:"true" minimum:"0" maximum:"1000000000000"`
		SalaryMax          *float64              `json:"salaryMax,omitempty" nullable:"true" minimum:"0" maximum:"1000000000000"`
		ONETSOCCode        *string               `json:"onetSocCode,omitempty" nullable:"true" pattern:"^\\d{2}-\\d{4}(\\.\\d{2})?$"`
		Skills             []catalog.SkillInput  `json:"skills,omitempty" nullable:"true" maxItems:"500"`
	}
}

type updateJobInput struct {
	jobInput
	Body struct {
		Name               catalog.Optional[string]                `json:"name,omitempty" minLength:"1" maxLength:"255"`
		EmployerID         catalog.Optional[string]                `json:"employerId,omitempty" minLength:"1" maxLength:"255"`
		Description        catalog.Optional[*string]               `json:"description,omitempty" maxLength:"10000"`
		JobDescriptionHref catalog.Optional[*string]               `json:"jobDescriptionHref,omitempty" maxLength:"2000"`
		Locations          catalog.Optional[[]catalog.JobLocation] `json:"locations,omitempty" nullable:"true" maxItems:"100"`
		SalaryMin          catalog.Optional[*float64]              `json:"salaryMin,omitempty" minimum:"0" maximum:"1000000000000"`
		SalaryMax          catalog.Optional[*float64]              `json:"salaryMax,omitempty" minimum:"0" maximum:"1000000000000"`
		ONETSOCCode        catalog.Optional[*string]               `json:"onetSocCode,omitempty" pattern:"^\\d{2}-\\d{4}(\\.\\d{2})?$"`
		Skills             catalog.Optional[[]catalog.SkillInput]  `json:"skills,omitempty" nullable:"true" maxItems:"500"`
	}
}

func (s *Server) bindJobs() {
	read(s, "listJobs", func(ctx context.Context, c *call, in *pageInput) (Page[*catalog.Job], error) {
		jobs, total, err := c.Store.Jobs(ctx, c.org, in.Offset, in.Limit)
		return page(c, *in, jobs, total), err
	})
	read(s, "getJob", func(ctx context.Context, c *call, in *jobInput) (*catalog.Job, error) {
		return c.Store.Job(ctx, c.org, in.JobID, c.strong)
	})
	write(s, "createJob", createJob)
	write(s, "updateJob", updateJob)
	write(s, "deleteJob", func(ctx context.Context, c *call, in *jobInput) (none, *catalog.Change, error) {
		return deleteListed(ctx, c, catalog.JobKind, func(ctx context.Context) (*catalog.Job, error) {
			return c.Store.Job(ctx, c.org, in.JobID, true)
		})
	})
}

// deleteListed deletes a listed record that nothing else depends on.
func deleteListed[R catalog.Record](ctx context.Context, c *call, kind catalog.Kind, load func(context.Context) (R, error)) (none, *catalog.Change, error) {
	record, dir, err := beside(ctx, load, func(ctx context.Context) (*catalog.Directory, error) {
		return c.Store.Directory(ctx, c.org, kind)
	})
	if err != nil {
		return none{}, nil, err
	}
	var change catalog.Change
	change.Delete(record, c.now, dir)
	return none{}, &change, nil
}

func createJob(ctx context.Context, c *call, in *createJobInput) (*catalog.Job, *catalog.Change, error) {
	body := in.Body
	job := &catalog.Job{
		Name: body.Name, EmployerID: body.EmployerID, Description: orNull(body.Description), JobDescriptionHref: orNull(body.JobDescriptionHref),
		Locations: append([]catalog.JobLocation{}, body.Locations...), SalaryMin: body.SalaryMin, SalaryMax: body.SalaryMax, ONETSOCCode: body.ONETSOCCode,
	}
	skills, faults := catalog.Skills(body.Skills, c.Taxonomy().Name, "body.skills")
	job.Skills = skills
	if faults = append(faults, job.Check("body")...); faults != nil {
		return nil, nil, catalog.Invalid(faults...)
	}
	dir, err := c.Store.Directory(ctx, c.org, catalog.JobKind)
	if err != nil {
		return nil, nil, err
	}
	job.Meta = catalog.NewMeta(c.IDs.Sequenced(catalog.JobKind, dir.Take()), c.org, c.now)
	var change catalog.Change
	change.Create(job, dir)
	c.created(job)
	return job, &change, nil
}

func updateJob(ctx context.Context, c *call, in *updateJobInput) (*catalog.Job, *catalog.Change, error) {
	job, err := c.Store.Job(ctx, c.org, in.JobID, true)
	if err != nil {
		return nil, nil, err
	}
	before, body := *job, in.Body
	job.Name = body.Name.Or(job.Name)
	job.EmployerID = body.EmployerID.Or(job.EmployerID)
	job.Description = orNull(body.Description.Or(job.Description))
	job.JobDescriptionHref = orNull(body.JobDescriptionHref.Or(job.JobDescriptionHref))
	job.Locations = append([]catalog.JobLocation{}, body.Locations.Or(job.Locations)...)
	job.SalaryMin = body.SalaryMin.Or(job.SalaryMin)
	job.SalaryMax = body.SalaryMax.Or(job.SalaryMax)
	job.ONETSOCCode = body.ONETSOCCode.Or(job.ONETSOCCode)
	faults := job.Check("body")
	if body.Skills.Set {
		var wrong []catalog.FieldError
		job.Skills, wrong = catalog.Skills(body.Skills.Value, c.Taxonomy().Name, "body.skills")
		faults = append(faults, wrong...)
	}
	if faults != nil {
		return nil, nil, catalog.Invalid(faults...)
	}
	return job, replaced(c, before, job), nil
}
