// Package sending connects functions to the queue of extractions. Only those load it whose
// operations have something extracted.
package sending

import (
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/rest"
)

// Queue is the group.Part that sends extractions to be run.
func Queue(c boot.Config, s *rest.Server) { s.Queue = sender.Jobs(c) }
