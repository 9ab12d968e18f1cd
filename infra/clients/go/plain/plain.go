// Package plain is for what oapi-codegen makes of the contract by its own templates,
// of which nothing is asked but that it compiles.
package plain
