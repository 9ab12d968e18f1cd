// Package skills holds the taxonomy of skills and finds the skills that a text
// teaches, each with a level, a confidence and evidence.
//
// It never reads a file by name, opens a connection, looks at a clock or draws an
// unseeded number: sources come as fs.FS or io.Reader, a taxonomy as bytes, a
// document as a catalog.SyllabusText. Invariant: the same document, taxonomy and
// [Engine] give the same result, and every skill has a quote that stands in the
// text at its offsets.
//
// # Taxonomies
//
// A [Builder] reads sources (esco.go, onet.go, csv.go) and compiles them into one
// flat file (compile.go), which [Open] loads without parsing (taxonomy.go);
// search.go answers queries. [Starter] is the built-in vocabulary (starter.go).
// topics.txt, the project's own list of other words for skills and of the subjects
// under which courses teach them, is compiled into any taxonomy that has skills of
// those names (topics.go). vectors.go places words and skills in one space, from
// the taxonomy's own labels, descriptions and fields.
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
//	result       extract.go     the order of the above, language, likeness, evidence
//
// There are two models of confidence: one for courses, one for passages, which are
// short texts that say nothing of a course. In a course a candidate also loses by
// standing behind many better ones ([Model.Rerank]). infra/training/calibrate fits
// weights.json and reports; infra/bench/extraction measures.
package skills
