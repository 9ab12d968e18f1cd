package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
)

type jobInput struct {
	JobID string `path:"jobId"`
}

type createJobInput struct {
	Body struct{ catalog.JobInput }
}

type updateJobInput struct {
	jobInput
	Body struct {
		patch
		catalog.JobInput
	}
}

func (s *Server) bindJobs() {
	read(s, "listJobs", func(ctx context.Context, c *call, in *namedPageInput) (Page[*catalog.Job], error) {
		return list(ctx, c, *in, c.Store.Jobs)
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

func createJob(ctx context.Context, c *call, in *createJobInput) (*catalog.Job, *catalog.Change, error) {
	return create(ctx, c, in.Body.JobInput, &catalog.Job{}, c.lookups())
}

func updateJob(ctx context.Context, c *call, in *updateJobInput) (*catalog.Job, *catalog.Change, error) {
	job, err := c.Store.Job(ctx, c.org, in.JobID, true)
	if err != nil {
		return nil, nil, err
	}
	return update(c, in.Body.JobInput, job, c.lookups())
}
