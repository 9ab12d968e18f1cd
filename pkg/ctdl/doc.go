// Package ctdl describes records of the catalog in CTDL, the language of the Credential Registry, and reads them back.
// It is pure.
//
// A table for each kind of entity maps fields of the record to terms (mapping.go). Documents, readiness and imports are
// all made from it. Equal input yields equal bytes. References are addresses of other entities, which are
// never embedded.
package ctdl
