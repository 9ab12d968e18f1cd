// Command calibrate fits the weights of the extractor's confidence on the
// development data and writes them with a report.
//
// Two models are fitted: one for documents, on courses that two labelers read, and
// one for passages, on single sentences. Each is a logistic regression with a ridge
// penalty over the extractor's named features; its score is brought to a frequency
// by isotonic regression, drawn to a logistic curve, over scores from
// cross-validation, in which no field of courses and no sentence is judged by a model
// that saw it. The default cut comes from the same scores. Older syllabi, which
// the lexicon was written with, help to fit as they are seen without it. Sealed
// courses are not opened. Beside the calibration error stands what a faultless
// confidence would show by chance, on so few skills.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"skillscurriculum/infra/training/fit"
	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	courses := flag.String("courses", os.Getenv("COURSES"),
		"folder of the documents of courses that this project collected (COURSES)")
	out := flag.String("out", "pkg/extraction/weights.json", "where the weights go")
	report := flag.String("report", "infra/training/calibrate/report.txt", "where the report goes")
	flag.Parse()
	if err := run(gold.Folders{Data: *data, Courses: *courses}, *out, *report); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(folders gold.Folders, out, report string) error {
	set, err := gold.Load(context.Background(), folders)
	if err != nil {
		return err
	}
	e := fit.Extractors{
		Taught:   extraction.NewExtractor(set.Taxonomy, wordvectors.Table()),
		Untaught: extraction.NewExtractor(set.Untaught, wordvectors.Table()),
	}
	var text strings.Builder
	w := io.MultiWriter(os.Stdout, &text)

	documents := e.DocumentRows(set)
	weights := extraction.Weights{Features: extraction.FeatureNames(), Document: fit.Documents(documents)}
	fmt.Fprintf(w, "documents, each judged by a model that did not see its field: %d courses, %d sealed not among them\n",
		len(set.Courses), len(set.Sealed))
	print(w, "courses", fit.Of(documents, gold.CourseSet), &weights.Document, weights.Document.Cut)
	print(w, "excerpts (no recall)", fit.Of(documents, gold.ExcerptSet), &weights.Document, weights.Document.ShortCut)

	passages := e.PassageRows(set)
	weights.Passage = fit.Passages(passages)
	fmt.Fprintln(w, "passages, ten folds, without the lexicon; synthetic sentences help to fit, not to choose the cut")
	print(w, "SkillSpan sentences", fit.Judged(passages), &weights.Passage, weights.Passage.Cut)
	print(w, "TECH", fit.Of(passages, gold.TechSet), &weights.Passage, weights.Passage.Cut)
	print(w, "HOUSE", fit.Of(passages, gold.HouseSet), &weights.Passage, weights.Passage.Cut)

	fmt.Fprintf(w, "\n%-24s %9s %9s\n", "weight of", "documents", "passages")
	for i, name := range extraction.FeatureNames() {
		fmt.Fprintf(w, "%-24s %9.3f %9.3f\n", name, weights.Document.Weights[i], weights.Passage.Weights[i])
	}
	raw, err := json.MarshalIndent(weights, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, append(raw, '\n'), 0o644); err != nil {
		return err
	}
	return os.WriteFile(report, []byte(text.String()), 0o644)
}

// print reports the cross-validated figures of some of the rows.
func print(w io.Writer, name string, rows []fit.Row, m *extraction.Model, cut float64) {
	taken := fit.Taken(rows, m, cut)
	f, c := fit.Judge(taken), fit.ReliabilityOf(taken)
	fmt.Fprintf(w, "  %-20s precision %.3f  recall %.3f  F1 %.3f  calibration error %.3f (by chance %.3f)  skills a "+
		"text %.1f  (cut %.4f)\n",
		name, f.Precision, f.Recall, f.F1, c.Expected, c.Chance, f.Given, cut)
}
