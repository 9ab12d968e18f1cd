package rest

import (
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

type jobInput struct {
	JobID string `path:"jobId"`
}

func (s *Server) bindJobs() {
	find[*catalog.Job](s, "listJobs")
	get[jobInput, *catalog.Job](s, "getJob")
	create(s, "createJob", service.New[catalog.JobInput, catalog.Job])
	revise[jobInput](s, "updateJob", service.Revise[catalog.JobInput, catalog.Job])
	erase[jobInput](s, "deleteJob", service.Delete[*catalog.Job])
}
