// Package paging renders pages for functions. Only those of the reports and of the
// articulations load it.
package paging

import (
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Pages is the group.Part that writes pages.
func Pages(_ boot.Config, s *rest.Server) { s.Pages = page.Pages{} }
