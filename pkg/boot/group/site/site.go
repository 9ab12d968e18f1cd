// Package site opens the files of the page of GET /docs for the one function that
// carries them.
package site

import (
	"os"
	"path/filepath"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Beside is the group.Part that reads the files from the folder site beside the
// function's bootstrap.
func Beside(_ boot.Config, s *rest.Server) {
	program, err := os.Executable()
	if err != nil {
		return // then there is no page, and a request for it says so
	}
	s.Site = os.DirFS(filepath.Join(filepath.Dir(program), "site"))
}
