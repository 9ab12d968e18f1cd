// Package printing gives functions the contract's document.
package printing

import (
	"skillscurriculum"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Document is the group.Part that serves the contract as a document, with the configured examples.
func Document(c boot.Config, s *rest.Server) {
	s.Document = skillscurriculum.OpenAPI
	if len(c.Examples) == 0 { // as in AWS: parsing the document takes longer than the rest of the start
		return
	}
	document, err := WithExamples(skillscurriculum.OpenAPI, c.Examples)
	if err != nil {
		panic(err) // the examples are for another contract
	}
	s.Document = document
}
