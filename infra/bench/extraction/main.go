// Command extraction measures the extractor on the development data and prints every
// figure of the contract's table next to its target: cross-validated, in which no
// field of courses is judged by a model that saw it; on sealed courses, which nothing
// was fitted to; next to a matcher of exact phrases and a TF-IDF ranking. It fails
// when the sealed courses fall short of cross-validation by more than the allowed
// gap. Then it lists the worst errors on courses that are not sealed, and draws a
// precision-recall curve and a reliability diagram.
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
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/skills/wordvectors"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	courses := flag.String("courses", os.Getenv("COURSES"), "folder of the documents of courses that this project collected (COURSES)")
	out := flag.String("out", "build/bench", "folder for the pictures")
	worst := flag.Int("errors", 25, "how many of the worst errors to list")
	side := flag.Int("side", 0, "how many courses of different fields to list side by side with what is extracted")
	flag.Parse()
	if err := run(context.Background(), gold.Folders{Data: *data, Courses: *courses}, *out, *worst, *side); err != nil {
		fmt.Fprintln(os.Stderr, "bench-extraction:", err)
		os.Exit(1)
	}
}

// allowedGap is how far F1 of sealed courses may lie below cross-validation.
const allowedGap = 0.05

// bench is one run.
type bench struct {
	set   *gold.Data
	e     fit.Extractors
	w     *tabwriter.Writer
	exact *baseline.Exact
	tfidf *baseline.TFIDF

	documents, passages validated
}

// system is an extractor as the table compares them.
type system func(doc catalog.SyllabusText) []string

func run(ctx context.Context, folders gold.Folders, out string, worst, side int) error {
	set, err := gold.Load(ctx, folders)
	if err != nil {
		return err
	}
	b := &bench{
		set: set, exact: baseline.NewExact(set.Taxonomy), tfidf: baseline.NewTFIDF(set.Taxonomy), w: tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0),
		e: fit.Extractors{Taught: skills.NewExtractor(set.Taxonomy, wordvectors.Table()), Untaught: skills.NewExtractor(set.Untaught, wordvectors.Table())},
	}
	b.documents.rows = b.e.DocumentRows(set)
	b.documents.model = fit.Documents(b.documents.rows)
	b.passages.rows = b.e.PassageRows(set)
	b.passages.model = fit.Passages(b.passages.rows)

	fmt.Printf("%d courses, each judged by a model that did not see its field; %d sealed, judged by what is shipped; confidence intervals of 95 %% from 1,000 draws of courses\n\n", len(set.Courses), len(set.Sealed))
	b.row("measure", "target", "cross-validated", "sealed", "exact phrase", "TF-IDF")
	gap := b.courses()
	b.without()
	b.sentences()
	b.older()
	if err := b.plainly(); err != nil {
		return err
	}
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
	b.worst(worst)
	b.sideBySide(side)
	if err := draw(out, b.documents, b.passages); err != nil {
		return err
	}
	if gap > allowedGap {
		return fmt.Errorf("F1 of sealed courses is %.3f below cross-validation, more than %.2f: the weights follow the courses that they were fitted to", gap, allowedGap)
	}
	return nil
}

func (b *bench) row(cells ...string) { fmt.Fprintln(b.w, strings.Join(cells, "\t")) }

// found extracts with what is shipped. Documents of the development data have no
// deadline.
func (b *bench) found(doc catalog.SyllabusText) skills.Result {
	r, err := b.e.Taught.Extract(context.Background(), doc)
	if err != nil {
		panic(err) // a context that never ends ended
	}
	return r
}

// shipped returns the rows that the shipped extractor takes of some courses, with its
// confidence as their score.
func (b *bench) shipped(items []gold.Item) []fit.Row {
	var rows []fit.Row
	for i := range items {
		rows = append(rows, fit.Row{Item: &items[i]})
		for _, s := range b.found(items[i].Doc).Skills {
			_, must := items[i].Must[s.SkillID]
			rows = append(rows, fit.Row{Item: &items[i], ID: s.SkillID, Features: []float64{}, Right: items[i].Wanted(s.SkillID), Must: must, Score: s.Confidence})
		}
	}
	return rows
}

// crossed returns the cross-validated rows of courses that a model takes, with their
// confidence as score, and one row for each course.
func crossed(rows []fit.Row, m *skills.Model) []fit.Row {
	var out []fit.Row
	seen := map[*gold.Item]bool{}
	for _, r := range fit.Of(rows, gold.CourseSet) {
		if !seen[r.Item] {
			seen[r.Item] = true
			out = append(out, fit.Row{Item: r.Item})
		}
		if c := m.Confidence(r.Score, r.Bounds); r.Features != nil && c >= m.Cut {
			r.Score = c
			out = append(out, r)
		}
	}
	return out
}

func all(fit.Row) bool { return true }

// courses prints the figures of courses and returns how far F1 of the sealed ones
// lies below cross-validation.
func (b *bench) courses() (gap float64) {
	open, sealed := crossed(b.documents.rows, &b.documents.model), b.shipped(b.set.Sealed)
	phrases, ranking := b.judged(func(doc catalog.SyllabusText) []string { return b.exact.Extract(doc.Text) }, b.set.Courses), b.judged(b.bestRanking(b.set.Courses), b.set.Courses)
	o, s, p, t := fit.Judge(open, all), fit.Judge(sealed, all), fit.Judge(phrases, all), fit.Judge(ranking, all)
	b.row("courses, precision", ">= .70 (.80)", number(o.Precision), number(s.Precision), number(p.Precision), number(t.Precision))
	b.row("courses, recall of what both insist on", ">= .60", number(o.Recall), number(s.Recall), number(p.Recall), number(t.Recall))
	b.row("courses, F1", ">= .65 (.68)", number(o.F1)+fit.Interval(open), number(s.F1)+fit.Interval(sealed), number(p.F1), number(t.F1))
	b.row("courses, skills a course", "", fmt.Sprintf("%.1f", o.Given), fmt.Sprintf("%.1f", s.Given), fmt.Sprintf("%.1f", p.Given), fmt.Sprintf("%.1f", t.Given))
	technical := func(area string) bool { return area == "technical" || area == "science" }
	b.row("technical fields, F1", "", number(fit.Judge(within(open, technical), all).F1), number(fit.Judge(within(sealed, technical), all).F1))
	others := func(area string) bool { return !technical(area) }
	b.row("other fields, F1", "", number(fit.Judge(within(open, others), all).F1), number(fit.Judge(within(sealed, others), all).F1))
	areas := areasOf(slices.Concat(open, sealed))
	worst, least := "", 2.0
	for _, area := range areas {
		is := func(a string) bool { return a == area }
		mine, closed := fit.Judge(within(open, is), all), fit.Judge(within(sealed, is), all)
		b.row("  "+area+", F1", "", told(mine, within(open, is)), told(closed, within(sealed, is)))
		if len(within(open, is)) > 0 && mine.F1 < least {
			worst, least = area, mine.F1
		}
	}
	b.row("worst group of fields, F1", ">= .55 (.60)", number(least)+" ("+worst+")")
	b.row("calibration error", "<= .05 (.10)", number(expected(open)), number(expected(sealed)))
	b.row("  by chance, were confidence faultless", "", number(fit.ChanceOf(open)), number(fit.ChanceOf(sealed)))
	b.row("wrong at .80 or above, a course", "<= .25 (.50)", fmt.Sprintf("%.2f", boldly(open)), fmt.Sprintf("%.2f", boldly(sealed)))
	b.row("ceiling: what both insist on among the candidates", "", number(b.ceiling(b.e.Taught, b.set.Courses)), number(b.ceiling(b.e.Taught, b.set.Sealed)))
	if len(b.set.Sealed) == 0 {
		return 0
	}
	return o.F1 - s.F1
}

// without prints what is left when topics.txt is left out, fitted and cut anew.
func (b *bench) without() {
	e := fit.Extractors{Taught: b.e.Untaught, Untaught: b.e.Untaught}
	rows := e.DocumentRows(b.set)
	m := fit.Documents(rows)
	f := fit.Judge(crossed(rows, &m), all)
	b.row("courses, F1, without topics.txt", "", fmt.Sprintf("%s (precision %s, recall %s)", number(f.F1), number(f.Precision), number(f.Recall)))
	b.row("ceiling, without topics.txt", "", number(b.ceiling(b.e.Untaught, b.set.Courses)), number(b.ceiling(b.e.Untaught, b.set.Sealed)))
}

func (b *bench) sentences() {
	both := slices.Concat(b.set.Tech, b.set.House)
	rank := b.bestRanking(both)
	for _, s := range []struct {
		name, target, set string
		items             []gold.Item
	}{{"ESCO sentences TECH, F1", ">= .45", gold.TechSet, b.set.Tech}, {"ESCO sentences HOUSE, F1", ">= .35", gold.HouseSet, b.set.House}} {
		m := &b.passages.model
		f := fit.Judge(fit.Of(b.passages.rows, s.set), func(r fit.Row) bool { return m.Confidence(r.Score, r.Bounds) >= m.Cut })
		b.row(s.name, s.target, number(f.F1), "", number(fit.Judge(b.judged(func(doc catalog.SyllabusText) []string { return b.exact.Extract(doc.Text) }, s.items), all).F1),
			number(fit.Judge(b.judged(rank, s.items), all).F1))
	}
	b.row("ESCO sentences TECHWOLF, F1", ">= .36", "not in the development data")
	r := fit.ReliabilityOf(fit.Judged(b.passages.rows), &b.passages.model, b.passages.model.Cut)
	b.row("calibration error, sentences", "<= .05", number(r.Expected), "", "by chance "+number(r.Chance))
}

// older prints the syllabi that topics.txt was written with: home, where nothing is
// proved.
func (b *bench) older() {
	home, own := fit.Judge(b.shipped(b.set.Syllabi), all), fit.Judge(b.shipped(b.set.Own), all)
	b.row("home: syllabi that topics.txt was written with, F1", "", number(home.F1), fmt.Sprintf("ceiling %s", number(b.ceiling(b.e.Taught, b.set.Syllabi))))
	b.row("home: our own labels of such, F1", "", number(own.F1), fmt.Sprintf("ceiling %s", number(b.ceiling(b.e.Taught, b.set.Own))))
}

func ids(r skills.Result) []string {
	var out []string
	for _, s := range r.Skills {
		out = append(out, s.SkillID)
	}
	return out
}

func number(v float64) string { return fmt.Sprintf("%.3f", v) }

// told is F1 of a group and how many courses it has.
func told(f fit.Figures, rows []fit.Row) string {
	n := fit.Texts(rows)
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

// expected is the calibration error of rows whose score is a confidence.
func expected(rows []fit.Row) float64 {
	_, e := fit.Calibration(fit.Given(rows))
	return e
}

// boldly is how many wrong skills a course has at high confidence.
func boldly(rows []fit.Row) float64 {
	n := 0.0
	for _, r := range rows {
		if r.Features != nil && r.Score >= skills.BoldConfidence && !r.Right {
			n++
		}
	}
	return n / float64(max(1, fit.Texts(rows)))
}

// ceiling is the share of what is insisted on that is among the candidates.
func (b *bench) ceiling(e *skills.Extractor, items []gold.Item) float64 {
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

// judged returns what a system takes of texts.
func (b *bench) judged(s system, items []gold.Item) []fit.Row {
	var rows []fit.Row
	for i := range items {
		rows = append(rows, fit.Row{Item: &items[i]})
		for _, id := range s(items[i].Doc) {
			_, must := items[i].Must[id]
			rows = append(rows, fit.Row{Item: &items[i], Features: []float64{}, Right: items[i].Wanted(id), Must: must})
		}
	}
	return rows
}

// bestRanking cuts the ranking where its F1 on the items is highest.
func (b *bench) bestRanking(items []gold.Item) system {
	const depth = 60
	var rows []fit.Row
	for i := range items {
		for _, r := range b.tfidf.Rank(items[i].Doc.Text, depth) {
			_, must := items[i].Must[r.ID]
			rows = append(rows, fit.Row{Item: &items[i], Features: []float64{}, Right: items[i].Wanted(r.ID), Must: must, Score: r.Score})
		}
	}
	cut := fit.BestCut(rows, func(r fit.Row) float64 { return r.Score })
	return func(doc catalog.SyllabusText) []string {
		var out []string
		for _, r := range b.tfidf.Rank(doc.Text, depth) {
			if r.Score >= cut {
				out = append(out, r.ID)
			}
		}
		return out
	}
}

// validated is a model with rows that it did not see.
type validated struct {
	rows  []fit.Row
	model skills.Model
}

// worst lists what was given with most confidence though wrong, and what is insisted
// on but missing, on courses that are not sealed.
func (b *bench) worst(n int) {
	type fault struct {
		confidence         float64
		where, what, quote string
		remark             string
	}
	var wrong, missing []fault
	for _, item := range b.set.Courses {
		r := b.found(item.Doc)
		given, considered := map[string]bool{}, map[string]bool{}
		for _, s := range r.Skills {
			given[s.SkillID] = true
			if !item.Wanted(s.SkillID) {
				i := slices.IndexFunc(r.Evidence, func(ev catalog.Evidence) bool { return ev.SkillID == s.SkillID })
				wrong = append(wrong, fault{s.Confidence, item.Name, s.SkillName, r.Evidence[i].Quote, "label " + r.Evidence[i].Label})
			}
		}
		for _, c := range b.e.Taught.Candidates(item.Doc) {
			considered[c.SkillID] = true
		}
		for id := range item.Must {
			if !given[id] {
				name, _ := b.set.Taxonomy.Name(id)
				remark := "never a candidate"
				if considered[id] {
					remark = "below the cut"
				}
				missing = append(missing, fault{where: item.Name, what: name, remark: remark})
			}
		}
	}
	order := func(a, b fault) int {
		return cmp.Or(cmp.Compare(b.confidence, a.confidence), strings.Compare(a.where+a.what, b.where+b.what))
	}
	slices.SortFunc(wrong, order)
	slices.SortFunc(missing, order)
	fmt.Printf("\nworst of %d given but not wanted:\n", len(wrong))
	for _, f := range wrong[:min(n, len(wrong))] {
		fmt.Printf("  %.2f  %s  %s  (%s)  %.90q\n", f.confidence, f.where, f.what, f.remark, f.quote)
	}
	fmt.Printf("\n%d insisted on but not given, of them:\n", len(missing))
	for _, f := range missing[:min(n, len(missing))] {
		fmt.Printf("  %s  %s  (%s)\n", f.where, f.what, f.remark)
	}
}

// sideBySide lists courses of different fields, none sealed: what both labelers insist
// on with what became of it, what else was right, and what was wrong.
func (b *bench) sideBySide(n int) {
	seen := map[string]bool{}
	for _, item := range b.set.Courses {
		if len(seen) == n || seen[item.Field] {
			continue
		}
		seen[item.Field] = true
		var found, missed, right, wrong []string
		given := map[string]bool{}
		for _, s := range b.found(item.Doc).Skills {
			given[s.SkillID] = true
			told := fmt.Sprintf("%s %.2f", s.SkillName, s.Confidence)
			if _, must := item.Must[s.SkillID]; must {
				found = append(found, told)
			} else if item.Wanted(s.SkillID) {
				right = append(right, told)
			} else {
				wrong = append(wrong, told)
			}
		}
		for id := range item.Must {
			if !given[id] {
				name, _ := b.set.Taxonomy.Name(id)
				missed = append(missed, name)
			}
		}
		slices.Sort(missed)
		title, _, _ := strings.Cut(item.Doc.Text, "\n")
		fmt.Printf("\n%s (%s): %s\n", item.Name, item.Field, title)
		for _, list := range []struct {
			name string
			what []string
		}{{"insisted on, found", found}, {"insisted on, missed", missed}, {"right besides", right}, {"wrong", wrong}} {
			fmt.Printf("- %s: %s\n", list.name, cmp.Or(strings.Join(list.what, ", "), "none"))
		}
	}
}
