// Package skills implements taxonomies: vocabularies of skills with names, aliases,
// hierarchy, and the requirements of occupations.
//
// It never opens a file by name or a connection, or reads a clock: sources are passed as
// fs.FS or io.Reader, a compiled taxonomy as bytes. Invariants: the same sources compile to
// the same file, and an opened [Taxonomy] has no reference out of bounds.
//
// A [Builder] reads sources (esco.go, onet.go, csv.go) and compiles them into one flat
// file (compile.go), which [Open] loads without parsing (taxonomy.go, numbers.go);
// search.go answers queries. [Starter] is the built-in vocabulary (starter.go).
//
// The file also contains the index that package extraction matches texts with (index.go). That package builds and reads
// it; functions that extract nothing link neither the package nor its word lists.
package skills
