// Package site opens the files of the page of GET /docs.
package site

import (
	"os"
	"path/filepath"

	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/rest"
)

// Beside is the group.Part that reads the pages' files from the folder site next to the function's bootstrap.
func Beside(c boot.Config, s *rest.Server) {
	s.Uploads = c.StorageOrigin()
	program, err := os.Executable()
	if err != nil {
		return // requests for the page fail
	}
	s.Site = os.DirFS(filepath.Join(filepath.Dir(program), "site"))
}
