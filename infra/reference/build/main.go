// Command build writes the page of GET /docs into the bundle of the function docs; see
// package reference. Run it in the root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"skillscurriculum/infra/reference"
)

func main() {
	for _, bundle := range os.Args[1:] {
		if err := reference.Build(".", filepath.Join(bundle, reference.Folder)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
