// Command extraction measures the extractor on the development data and prints every figure of
// the contract's table next to its target: cross-validated, in which no field of courses is
// judged by a model that saw it; on sealed courses, which nothing was fitted to; and beside exact
// phrases and a TF-IDF ranking. It fails if the sealed courses fall short
// of cross-validation by more than the allowed gap.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"skillscurriculum/infra/training/baseline"
	"skillscurriculum/infra/training/fit"
	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	courses := flag.String("courses", os.Getenv("COURSES"),
		"folder of the documents of courses that this project collected (COURSES)")
	flag.Parse()
	if err := run(context.Background(), gold.Folders{Data: *data, Courses: *courses}); err != nil {
		fmt.Fprintln(os.Stderr, "bench-extraction:", err)
		os.Exit(1)
	}
}

// allowedGap is how far F1 of sealed courses may lie below cross-validation.
const allowedGap = 0.05

// bench is one run.
type bench struct {
	set *gold.Data
	e   fit.Extractors
	w   *tabwriter.Writer

	simple *baseline.Index

	documents, passages validated
}

func run(ctx context.Context, folders gold.Folders) error {
	set, err := gold.Load(ctx, folders)
	if err != nil {
		return err
	}
	b := &bench{
		set: set, w: tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0),
		simple: baseline.New(set.Taxonomy),
		e: fit.Extractors{
			Taught:   extraction.NewExtractor(set.Taxonomy, wordvectors.Table()),
			Untaught: extraction.NewExtractor(set.Untaught, wordvectors.Table()),
		},
	}
	b.documents.rows = b.e.DocumentRows(set)
	b.documents.model = fit.Documents(b.documents.rows)
	b.passages.rows = b.e.PassageRows(set)
	b.passages.model = fit.Passages(b.passages.rows)

	fmt.Printf("%d courses, each judged by a model that did not see its field; %d sealed, judged by what is shipped; "+
		"confidence intervals of 95 %% from 1,000 draws of courses\n\n", len(set.Courses), len(set.Sealed))
	b.row("measure", "target", "cross-validated", "sealed", "exact phrase", "TF-IDF")
	gap := b.courses()
	b.without()
	b.sentences()
	b.levels()
	if err := b.formats(ctx); err != nil {
		return err
	}
	if err := b.laws(); err != nil {
		return err
	}
	if err := b.speed(ctx); err != nil {
		return err
	}
	b.w.Flush()
	if gap > allowedGap {
		return fmt.Errorf("F1 of sealed courses is %.3f below cross-validation, more than %.2f: the weights follow the "+
			"courses that they were fitted to", gap, allowedGap)
	}
	return nil
}

func (b *bench) row(cells ...string) { fmt.Fprintln(b.w, strings.Join(cells, "\t")) }

// found extracts with the shipped model, without a deadline.
func (b *bench) found(doc catalog.SyllabusText) catalog.ExtractionResult {
	r, err := b.e.Taught.Extract(context.Background(), doc)
	if err != nil {
		panic(err) // context.Background never ends
	}
	return r
}

// shipped returns rows for the skills that the shipped extractor returns for some courses,
// with its confidence as their score.
func (b *bench) shipped(items []gold.Item) []fit.Row {
	var rows []fit.Row
	for i := range items {
		rows = append(rows, fit.Row{Item: &items[i]})
		for _, s := range b.found(items[i].Doc).Skills {
			r := fit.Found(&items[i], s.SkillID)
			r.Score = s.Confidence
			rows = append(rows, r)
		}
	}
	return rows
}

// crossed returns the cross-validated rows of courses above a model's cut.
func crossed(rows []fit.Row, m *extraction.Model) []fit.Row {
	return fit.Taken(fit.Of(rows, gold.CourseSet), m, m.Cut)
}

// courses prints the figures of courses and returns how far F1 of the sealed ones is below
// cross-validation.
func (b *bench) courses() (gap float64) {
	open, sealed := crossed(b.documents.rows, &b.documents.model), b.shipped(b.set.Sealed)
	o, s := fit.Judge(open), fit.Judge(sealed)
	e := fit.Judge(judged(b.set.Courses, b.simple.Phrases))
	t := fit.Judge(atBestCut(judged(b.set.Courses, b.simple.Ranked)))
	b.row("courses, precision", ">= .74",
		number(o.Precision), number(s.Precision), number(e.Precision), number(t.Precision))
	b.row("courses, recall of what both insist on", ">= .70",
		number(o.Recall), number(s.Recall), number(e.Recall), number(t.Recall))
	b.row("courses, F1", ">= .72",
		number(o.F1)+fit.Interval(open), number(s.F1)+fit.Interval(sealed), number(e.F1), number(t.F1))
	b.row("courses, skills a course", "",
		fmt.Sprintf("%.1f", o.Given), fmt.Sprintf("%.1f", s.Given), fmt.Sprintf("%.1f", e.Given),
		fmt.Sprintf("%.1f", t.Given))
	technical := func(area string) bool { return area == "technical" || area == "science" }
	b.row("technical fields, F1", "", number(fit.Judge(within(open, technical)).F1),
		number(fit.Judge(within(sealed, technical)).F1))
	others := func(area string) bool { return !technical(area) }
	b.row("other fields, F1", "", number(fit.Judge(within(open, others)).F1), number(fit.Judge(within(sealed, others)).F1))
	areas := areasOf(slices.Concat(open, sealed))
	worst, least := "", 2.0
	for _, area := range areas {
		is := func(a string) bool { return a == area }
		mine, closed := fit.Judge(within(open, is)), fit.Judge(within(sealed, is))
		b.row("  "+area+", F1", "", scored(mine, within(open, is)), scored(closed, within(sealed, is)))
		if len(within(open, is)) > 0 && mine.F1 < least {
			worst, least = area, mine.F1
		}
	}
	b.row("worst group of fields, F1", ">= .62", number(least)+" ("+worst+")")
	ours, theirs := fit.ReliabilityOf(open), fit.ReliabilityOf(sealed)
	b.row("calibration error", "<= .04", number(ours.Expected), number(theirs.Expected))
	b.row("  by chance, were confidence faultless", "", number(ours.Chance), number(theirs.Chance))
	b.row("wrong at .80 or above, a course", "<= .20", fmt.Sprintf("%.2f", boldly(open)),
		fmt.Sprintf("%.2f", boldly(sealed)))
	b.row("ceiling: what both insist on among the candidates", "", number(b.ceiling(b.e.Taught, b.set.Courses)),
		number(b.ceiling(b.e.Taught, b.set.Sealed)))
	if len(b.set.Sealed) == 0 {
		return 0
	}
	return o.F1 - s.F1
}

// without prints the figures without the lexicon, with weights and cut fitted again.
func (b *bench) without() {
	e := fit.Extractors{Taught: b.e.Untaught, Untaught: b.e.Untaught}
	rows := e.DocumentRows(b.set)
	m := fit.Documents(rows)
	f := fit.Judge(crossed(rows, &m))
	b.row("courses, F1, without the lexicon", "",
		fmt.Sprintf("%s (precision %s, recall %s)", number(f.F1), number(f.Precision), number(f.Recall)))
	b.row("ceiling, without the lexicon", "", number(b.ceiling(b.e.Untaught, b.set.Courses)),
		number(b.ceiling(b.e.Untaught, b.set.Sealed)))
}

func (b *bench) sentences() {
	m := &b.passages.model
	exact := judged(slices.Concat(b.set.Tech, b.set.House), b.simple.Phrases)
	ranked := atBestCut(judged(slices.Concat(b.set.Tech, b.set.House), b.simple.Ranked))
	for _, s := range []struct{ name, target, set string }{
		{"ESCO sentences TECH, F1", ">= .50", gold.TechSet}, {"ESCO sentences HOUSE, F1", ">= .40", gold.HouseSet},
	} {
		f1 := func(rows []fit.Row) string { return number(fit.Judge(fit.Of(rows, s.set)).F1) }
		b.row(s.name, s.target, f1(fit.Taken(b.passages.rows, m, m.Cut)), "", f1(exact), f1(ranked))
	}
	b.row("ESCO sentences TECHWOLF, F1", ">= .38", "not in the development data")
	r := fit.ReliabilityOf(fit.Taken(fit.Judged(b.passages.rows), m, m.Cut))
	b.row("calibration error, sentences", "<= .05", number(r.Expected), "", "by chance "+number(r.Chance))
}

func ids(r catalog.ExtractionResult) []string {
	var out []string
	for _, s := range r.Skills {
		out = append(out, s.SkillID)
	}
	return out
}

func number(v float64) string { return fmt.Sprintf("%.3f", v) }

// scored formats F1 of a group and its number of courses.
func scored(f fit.Figures, rows []fit.Row) string {
	n := len(fit.Texts(rows))
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f of %d", f.F1, n)
}

// within keeps the rows of some areas.
func within(rows []fit.Row, area func(string) bool) []fit.Row {
	return slices.DeleteFunc(slices.Clone(rows), func(r fit.Row) bool { return !area(r.Item.Area) })
}

func areasOf(rows []fit.Row) []string {
	var areas []string
	for _, r := range rows {
		areas = append(areas, r.Item.Area)
	}
	slices.Sort(areas)
	return slices.Compact(areas)
}

// boldly returns the number of wrong skills per course at high confidence.
func boldly(rows []fit.Row) float64 {
	n := 0.0
	for _, r := range rows {
		if r.Features != nil && r.Score >= extraction.BoldConfidence && !r.Right {
			n++
		}
	}
	return n / float64(max(1, len(fit.Texts(rows))))
}

// ceiling returns the share of the skills insisted on that are among the candidates.
func (b *bench) ceiling(e *extraction.Extractor, items []gold.Item) float64 {
	var held, wanted float64
	for _, item := range items {
		wanted += float64(len(item.Must))
		for _, c := range e.Candidates(item.Doc) {
			if _, must := item.Must[c.SkillID]; must {
				held++
			}
		}
	}
	return held / max(1, wanted)
}

// judged returns the rows of the skills that a baseline finds in texts.
func judged(items []gold.Item, find func(text string) []baseline.Match) []fit.Row {
	var rows []fit.Row
	for i := range items {
		rows = append(rows, fit.Row{Item: &items[i]})
		for _, m := range find(items[i].Doc.Text) {
			r := fit.Found(&items[i], m.ID)
			r.Score = m.Score
			rows = append(rows, r)
		}
	}
	return rows
}

// atBestCut keeps the skills above the score at which F1 of these same texts is highest: the baseline
// is given the best cut that it could have had.
func atBestCut(rows []fit.Row) []fit.Row {
	thresholds, all := fit.Curve(rows, func(r fit.Row) float64 { return r.Score })
	best := slices.MaxFunc(all, func(a, b fit.Figures) int { return cmp.Compare(a.F1, b.F1) })
	cut := thresholds[slices.Index(all, best)]
	return slices.DeleteFunc(rows, func(r fit.Row) bool { return r.Features != nil && r.Score < cut })
}

// validated is a model with rows scored by models that did not see them.
type validated struct {
	rows  []fit.Row
	model extraction.Model
}
