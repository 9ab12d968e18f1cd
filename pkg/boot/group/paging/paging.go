// Package paging renders the pages of reports for functions. Only that of the reports loads
// it.
package paging

import (
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Reports is the group.Part that writes reports as pages.
func Reports(_ boot.Config, s *rest.Server) { s.WritePage = page.Write }
