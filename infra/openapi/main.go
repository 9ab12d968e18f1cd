// Command openapi prints the contract as an OpenAPI 3.1 document: see `make openapi`.
// It is run at the root, where the events are that it takes examples from.
package main

import (
	"os"

	"skillscurriculum/pkg/rest"
)

func main() {
	if _, err := os.Stdout.Write(rest.OpenAPI(os.DirFS("events"))); err != nil {
		os.Exit(1)
	}
}
