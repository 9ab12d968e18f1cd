package rest

import (
	"context"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type jobInput struct {
	JobID string `path:"jobId"`
}

func (s *Server) bindJobs() {
	read(s, "listJobs", func(ctx context.Context, c *call, in *namedPageInput) (Page[*catalog.Job], error) {
		return list[*catalog.Job](ctx, c, *in)
	})
	read(s, "getJob", func(ctx context.Context, c *call, in *jobInput) (*catalog.Job, error) {
		return service.Get[*catalog.Job](ctx, c.Store, c.org, in.JobID, c.strong)
	})
	write(s, "createJob", createJob)
	write(s, "updateJob", func(ctx context.Context, c *call, in *with[jobInput, catalog.JobInput]) (*catalog.Job, *catalog.Change, error) {
		job, err := service.Get[*catalog.Job](ctx, c.Store, c.org, in.Path.JobID, true)
		return update(c, in.Body, job, err)
	})
	remove(s, "deleteJob", func(ctx context.Context, c *call, in *jobInput) (*catalog.Change, error) {
		return service.Delete[*catalog.Job](ctx, c.actor(), in.JobID)
	})
}

func createJob(ctx context.Context, c *call, in *body[catalog.JobInput]) (*catalog.Job, *catalog.Change, error) {
	job, change := &catalog.Job{}, &catalog.Change{}
	return job, change, service.Create(ctx, c.actor(), in.Body, job, change)
}
