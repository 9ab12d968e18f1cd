// Package filing gives functions the files of documents. Only those load it whose
// operations take documents.
package filing

import (
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/rest"
)

// Files is the group.Part that looks after the files of documents.
func Files(c boot.Config, s *rest.Server) { s.Files = files.New(c) }
