// Package sending connects functions to the queue of extractions.
package sending

import (
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/sender"
	"skillscurriculum/pkg/rest"
)

// Queue is the group.Part that queues extractions.
func Queue(c boot.Config, s *rest.Server) { s.Queue = sender.Jobs(c) }

// Imports is the group.Part that queues imports.
func Imports(c boot.Config, s *rest.Server) { s.Imports = sender.Imports(c) }
