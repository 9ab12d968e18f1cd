// Package printing gives functions the contract's document. Only the one that serves it
// loads it.
package printing

import (
	"skillscurriculum"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Document is the group.Part that serves the contract as a document.
func Document(_ boot.Config, s *rest.Server) { s.Document = skillscurriculum.OpenAPI }
