// Package intake reads catalogs as other systems export them, JSON, CSV and
// OneRoster, and gives them as rows in the contract's words. It looks nothing up
// and decides nothing about the catalog: package load does.
//
// Invariant: a row's fields are what a POST of the record would carry, except
// that records are named by the ids of the system that exported them.
package intake

import "skillscurriculum/pkg/catalog"

// Row is one record as a file has it.
type Row struct {
	Place  string // where it stands, for people: courses.csv:12
	Kind   catalog.Kind
	Name   string // the record's external id
	Parent string // of a section its course's, of a transfer course its package's external id
	Fields map[string]any
	// Members are the external ids of a program's courses in order, or of a
	// credential's sections, where a course's stands for its default section; nil
	// where the file does not say.
	Members []string
	// Source is the record as the file has it, for the file of rejects.
	Source []string
}
