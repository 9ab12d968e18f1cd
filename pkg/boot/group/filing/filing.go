// Package filing gives functions the files of documents.
package filing

import (
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/boot/files"
	"skillscurriculum/pkg/rest"
)

// Files is the group.Part for the files of documents.
func Files(c boot.Config, s *rest.Server) { s.Files = files.New(c) }
