// Package demo contains the demo data of the local stack: two organizations with their
// catalogs and syllabi.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed syllabi
var files embed.FS

// Syllabi returns the demo's documents, which the local stack serves.
func Syllabi() fs.FS {
	dir, err := fs.Sub(files, "syllabi")
	if err != nil {
		panic(err) // the name is valid
	}
	return dir
}
