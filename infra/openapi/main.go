// Command openapi prints the contract as an OpenAPI 3.1 document: see `make openapi`. Run it
// in the root of the repository: it takes examples from events.
package main

import (
	"os"

	"skillscurriculum/pkg/rest/openapi"
)

func main() {
	if _, err := os.Stdout.Write(openapi.Document(os.DirFS("events"))); err != nil {
		os.Exit(1)
	}
}
