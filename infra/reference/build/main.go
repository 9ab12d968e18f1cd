// Command build writes the pages of GET /docs and GET /console into the bundle of the function
// docs; see packages reference and console. Run it in the root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"skillscurriculum/infra/console"
	"skillscurriculum/infra/reference"
)

func main() {
	for _, bundle := range os.Args[1:] {
		folder := filepath.Join(bundle, reference.Folder)
		err := reference.Build(".", folder)
		if err == nil {
			err = console.Build(".", folder)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
