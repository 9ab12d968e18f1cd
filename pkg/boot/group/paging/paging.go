// Package paging gives functions the renderer of pages.
package paging

import (
	"skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Pages is the group.Part that renders pages.
func Pages(_ boot.Config, s *rest.Server) { s.Pages = page.Pages{} }
