// Package demo is what a newcomer finds in the service on one machine: two
// organizations with their catalogs, and the syllabi that these refer to.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed syllabi
var files embed.FS

// Syllabi holds the documents, which the local stack serves under their names.
func Syllabi() fs.FS {
	dir, err := fs.Sub(files, "syllabi")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return dir
}
