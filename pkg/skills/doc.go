// Package skills holds the taxonomy of skills and finds the skills that a text
// teaches, each with a level, a confidence and evidence.
//
// It never reads a file by name, opens a connection, looks at a clock or draws an
// unseeded number: sources come as fs.FS or io.Reader, a taxonomy and a table of
// words as bytes, a document as text. Invariant: the same document, taxonomy and
// [Engine] give the same result on every machine, and every skill has a quote that
// stands in the text at its offsets. Work grows with the length of a text, never
// with its square, and ends with the context.
//
// # Taxonomies
//
// A [Builder] reads sources (esco.go, onet.go, csv.go) and compiles them into one
// flat file (compile.go), which [Open] loads without parsing (taxonomy.go);
// search.go answers queries. [Starter] is the built-in vocabulary (starter.go).
// topics.txt, the project's own list of other words for skills and of the subjects
// under which courses teach them, is compiled into any taxonomy that has skills of
// those names (topics.go). It is frozen.
//
// Two kinds of vectors are compiled with the skills: what their labels and
// descriptions mean, from a table of word vectors (words.go; package wordvectors
// holds it), and the company that they keep in occupations and hierarchy (space.go).
//
// # From text to skills
//
//	stage        file           rule
//	words        text.go        what a word is, one spelling, one stem, words that say nothing
//	sections     sections.go    which part of a syllabus a line belongs to, and which parts are silent
//	candidates   candidates.go  clauses, acronyms, phrases in order, most of a label in any order
//	competition  compete.go     overlapping candidates; a parent gives way to a child that says more
//	meaning      likeness.go    how near a skill is in meaning to the pieces of the document
//	company      company.go     how well it fits the skills that stand out
//	features     features.go    the table of all that speaks for or against a skill
//	confidence   confidence.go  weights (weights.json), calibration and bounds
//	level        level.go       verbs after Bloom, and levels that the document prints
//	result       extract.go     the order of the above, language, warnings, evidence
//
// There are two models of confidence: one for courses, one for passages, which are
// short texts that say nothing of a course. What fits weights.json and measures it
// stands in infra/training and infra/bench/extraction; docs/extraction.md has the
// figures.
package skills
