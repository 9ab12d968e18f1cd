// Package skills holds the taxonomy of skills and finds the skills that a text
// teaches, each with a level, a confidence and evidence.
//
// It never reads a file by name, opens a connection, looks at a clock or draws an
// unseeded number: sources come as fs.FS or io.Reader, a taxonomy as bytes, a
// document as a catalog.Document. Invariant: the same document, taxonomy and
// [Engine] give the same result, and every skill has a quote that stands in the
// text at its offsets.
//
// # Taxonomies
//
// A [Builder] reads sources (esco.go, onet.go, csv.go) and compiles them into one
// flat file (compile.go), which [Open] loads without parsing (taxonomy.go);
// search.go answers queries. [Starter] is the built-in vocabulary (starter.go).
// topics.txt, the project's own list of the subjects under which courses teach a
// skill, is compiled into any taxonomy that has skills of those names (topics.go).
//
// # From text to skills
//
//	stage        file           rule
//	words        text.go        what a word is, one spelling, one stem, words that say nothing
//	sections     sections.go    which part of a syllabus a line belongs to, and which parts are silent
//	candidates   candidates.go  clauses, acronyms, phrases side by side, most of a label in any order
//	competition  compete.go     overlapping candidates; a parent gives way to a child that says more
//	confidence   confidence.go  named features, weights (weights.json) and calibration
//	level        level.go       verbs after Bloom, and levels that the document prints
//	result       extract.go     the order of the above, language, evidence
//
// infra/bench/calibrate fits weights.json; infra/bench/extraction measures.
package skills
