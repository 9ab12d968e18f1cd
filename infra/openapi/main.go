// Command openapi prints the contract as an OpenAPI 3.1 document: see `make openapi`.
package main

import (
	"os"

	"skillscurriculum/pkg/rest"
)

func main() {
	if _, err := os.Stdout.Write(rest.OpenAPI()); err != nil {
		os.Exit(1)
	}
}
