// Package skillscurriculum holds the contract's document for the function that serves
// it: openapi.json, which `make openapi` makes of pkg/rest.
package skillscurriculum

import _ "embed"

// OpenAPI is the contract as an OpenAPI 3.1 document.
//
//go:embed openapi.json
var OpenAPI []byte
