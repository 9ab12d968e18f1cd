// Package site opens the files of the page of GET /docs.
package site

import (
	"os"
	"path/filepath"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Beside is the group.Part that reads the files from the folder site next to the function's bootstrap.
func Beside(_ boot.Config, s *rest.Server) {
	program, err := os.Executable()
	if err != nil {
		return // requests for the page fail
	}
	s.Site = os.DirFS(filepath.Join(filepath.Dir(program), "site"))
}
