// Command calibrate fits the weights of the extractor's confidence on the
// development data and writes them with a report.
//
// Two models are fitted: one for documents, on the labelled syllabi and those that
// this project labelled itself, and one for passages, on single sentences. Each is
// a logistic regression with a ridge penalty over the extractor's named features;
// its score is brought to a frequency by isotonic regression, drawn to a logistic
// curve, over scores from cross-validation, in which a text is never judged by a
// model that saw it. The default cut comes from the same scores. Beside the
// calibration error stands what a faultless confidence would show by chance, on so
// few skills.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"skillscurriculum/infra/bench/fit"
	"skillscurriculum/infra/bench/gold"
	"skillscurriculum/pkg/skills"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	out := flag.String("out", "pkg/skills/weights.json", "where the weights go")
	report := flag.String("report", "infra/bench/calibrate/report.txt", "where the report goes")
	flag.Parse()
	if err := run(*data, *out, *report); err != nil {
		fmt.Fprintln(os.Stderr, "calibrate:", err)
		os.Exit(1)
	}
}

func run(data, out, report string) error {
	set, err := gold.Load(context.Background(), data)
	if err != nil {
		return err
	}
	e := skills.NewExtractor(set.Taxonomy)
	var text strings.Builder
	w := io.MultiWriter(os.Stdout, &text)

	documents := fit.DocumentRows(e, set)
	weights := skills.Weights{Features: skills.FeatureNames, Document: fit.Documents(documents)}
	fmt.Fprintln(w, "documents, each judged by a model that did not see it")
	print(w, "all", fit.Judged(documents), &weights.Document)
	print(w, "development syllabi", fit.Of(documents, gold.SyllabiSet), &weights.Document)
	print(w, "our own labels", fit.Of(documents, gold.OwnSet), &weights.Document)
	print(w, "excerpts (no recall)", fit.Of(documents, gold.ExcerptSet), &weights.Document)

	passages := fit.PassageRows(e, set)
	weights.Passage = fit.Passages(passages)
	fmt.Fprintln(w, "passages, ten folds; synthetic sentences help to fit, not to choose the cut")
	print(w, "SkillSpan sentences", fit.Judged(passages), &weights.Passage)
	print(w, "TECH", fit.Of(passages, gold.TechSet), &weights.Passage)
	print(w, "HOUSE", fit.Of(passages, gold.HouseSet), &weights.Passage)

	fmt.Fprintf(w, "\n%-20s %9s %9s\n", "weight of", "documents", "passages")
	for i, name := range skills.FeatureNames {
		fmt.Fprintf(w, "%-20s %9.3f %9.3f\n", name, weights.Document.Weights[i], weights.Passage.Weights[i])
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
func print(w io.Writer, name string, rows []fit.Row, m *skills.Model) {
	f := fit.Judge(rows, func(r fit.Row) bool { return m.Confidence(r.Score) >= m.Cut })
	c := fit.ReliabilityOf(rows, m)
	fmt.Fprintf(w, "  %-20s precision %.3f  recall %.3f  F1 %.3f  calibration error %.3f (by chance %.3f)  skills a text %.1f  (cut %.4f)\n",
		name, f.Precision, f.Recall, f.F1, c.Expected, c.Chance, f.Given, m.Cut)
}
