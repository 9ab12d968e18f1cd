// Package printing gives functions the contract's document. Only the one that serves it
// loads it.
package printing

import (
	"skillscurriculum"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Document is the group.Part that serves the contract as a document, with the examples
// that the configuration has.
func Document(c boot.Config, s *rest.Server) {
	s.Document = skillscurriculum.OpenAPI
	if len(c.Examples) == 0 { // as in AWS: to read the document takes longer than all the rest of a start
		return
	}
	document, err := WithExamples(skillscurriculum.OpenAPI, c.Examples)
	if err != nil {
		panic(err) // who set the examples knows another contract
	}
	s.Document = document
}
