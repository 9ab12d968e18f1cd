package rest

import (
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

func (s *Server) bindJobs() {
	find[*catalog.Job](s, "listJobs")
	get[*catalog.Job](s, "getJob")
	create(s, "createJob", service.New[catalog.JobInput, catalog.Job])
	revise(s, "updateJob", service.Revise[catalog.JobInput, catalog.Job])
	erase(s, "deleteJob", service.Delete[*catalog.Job])
}
