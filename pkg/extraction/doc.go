// Package extraction finds the skills of a taxonomy that a text teaches, each with a
// level, a confidence and evidence.
//
// It never opens a file by name or a connection, reads a clock or uses unseeded random
// numbers: the taxonomy and the table of words are passed in opened, a document as text.
// Invariants: the same document, taxonomy and [Engine] give the same result on every
// machine, and every skill has a quote that is in the text at its offsets. Work is linear in
// the length of a text and ends with the context.
//
// # The index
//
// [Indexer] builds the index that a taxonomy is compiled with (index.go): labels, by the
// stems of their words, and vectors of the company that skills keep in occupations and
// hierarchy (space.go). The lexicon, the project's own list of synonyms for skills, of
// subjects under which courses teach them and of built-in skills that say them, adds labels
// to any taxonomy that has these skills (lexicon.go). Vectors of meaning are made for the
// candidates of a document, from a table of word vectors (words.go, package wordvectors).
//
// # From text to skills
//
//	stage        file           rule
//	words        text.go        one spelling, one stem, words without meaning of their own
//	sections     sections.go    which part of a syllabus a line belongs to, and which parts are ignored
//	candidates   candidates.go  clauses, acronyms, phrases in order, most of a label in any order
//	competition  compete.go     overlapping candidates; a parent gives way to a child that says more
//	meaning      likeness.go    how near a skill is in meaning to the pieces of the document
//	company      company.go     how well it fits the skills that stand out
//	features     features.go    the table of all evidence for or against a skill
//	confidence   confidence.go  weights (weights.json), calibration and bounds
//	level        level.go       verbs after Bloom, and levels that the document prints
//	result       extract.go     the order of the above, language, warnings, evidence
//
// There are three models of confidence: for courses, for courses with the built-in
// vocabulary, and for passages, which are short texts that do not describe a course.
// infra/training fits weights.json and
// infra/bench/extraction measures it; docs/extraction.md has the figures.
package extraction
