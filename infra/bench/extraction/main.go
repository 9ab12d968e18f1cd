// Command extraction measures the extractor on the development data and prints
// every figure of the contract's table beside its target, beside a matcher of
// exact phrases and beside a TF-IDF ranking; then the worst errors. It draws a
// precision-recall curve and a reliability diagram.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"skillscurriculum/infra/bench/baseline"
	"skillscurriculum/infra/bench/fit"
	"skillscurriculum/infra/bench/gold"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

func main() {
	data := flag.String("data", "../shared/data", "folder of the development data")
	out := flag.String("out", "build/bench", "folder for the pictures")
	errors := flag.Int("errors", 25, "how many of the worst errors to list")
	flag.Parse()
	if err := run(context.Background(), *data, *out, *errors); err != nil {
		fmt.Fprintln(os.Stderr, "bench-extraction:", err)
		os.Exit(1)
	}
}

// system is an extractor as the table compares them.
type system func(doc catalog.SyllabusText) []string

func run(ctx context.Context, data, out string, errors int) error {
	set, err := gold.Load(ctx, data)
	if err != nil {
		return err
	}
	e := skills.NewExtractor(set.Taxonomy)
	exact, tfidf := baseline.NewExact(set.Taxonomy), baseline.NewTFIDF(set.Taxonomy)
	ours := func(doc catalog.SyllabusText) []string { return ids(e.Extract(doc)) }
	phrases := func(doc catalog.SyllabusText) []string { return exact.Extract(doc.Text) }
	// The ranking gets the cut that suits it best on each kind of text.
	sentences := slices.Concat(set.Tech, set.House)
	ranked := func(items []gold.Item) system { return bestRanking(tfidf, items) }
	rankSentences, rankSyllabi := ranked(sentences), ranked(set.Syllabi)

	documents, passages := crossValidated(e, set)
	w := tabwriter.NewWriter(os.Stdout, 2, 0, 2, ' ', 0)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }
	row("measure", "target", "ours", "ours, text unseen", "exact phrase", "TF-IDF")
	for _, s := range []struct {
		name, target string
		items        []gold.Item
		set          string
	}{{"ESCO sentences TECH, F1", ">= .40", set.Tech, gold.TechSet}, {"ESCO sentences HOUSE, F1", ">= .33", set.House, gold.HouseSet}} {
		row(s.name, s.target, number(judge(ours, s.items).F1), number(unseen(passages, s.set).F1), number(judge(phrases, s.items).F1), number(judge(rankSentences, s.items).F1))
	}
	row("ESCO sentences TECHWOLF, F1", ">= .34", "not in the development data")
	a, cv, b, c := judge(ours, set.Syllabi), unseen(documents, gold.SyllabiSet), judge(phrases, set.Syllabi), judge(rankSyllabi, set.Syllabi)
	row("syllabi, precision", ">= .80", number(a.Precision), number(cv.Precision), number(b.Precision), number(c.Precision))
	row("syllabi, recall", ">= .60", number(a.Recall), number(cv.Recall), number(b.Recall), number(c.Recall))
	row("syllabi, F1", ">= .68", number(a.F1), number(cv.F1), number(b.F1), number(c.F1))
	a, cv, b, c = judge(ours, set.Own), unseen(documents, gold.OwnSet), judge(phrases, set.Own), judge(rankSyllabi, set.Own)
	row("our own labels, precision", "", number(a.Precision), number(cv.Precision), number(b.Precision), number(c.Precision))
	row("our own labels, recall", "", number(a.Recall), number(cv.Recall), number(b.Recall), number(c.Recall))
	levels(row, e, set)
	row("calibration error, syllabi", "<= .05", number(calibration(e, set.Syllabi)), number(fit.ReliabilityOf(fit.Of(documents.rows, gold.SyllabiSet), &documents.model).Expected))
	row("calibration error, our own labels", "<= .05", number(calibration(e, set.Own)), number(fit.ReliabilityOf(fit.Of(documents.rows, gold.OwnSet), &documents.model).Expected))
	row("calibration error, sentences", "<= .05", number(calibration(e, sentences)), number(fit.ReliabilityOf(passages.rows, &passages.model).Expected))
	if err := formats(ctx, row, e, set); err != nil {
		return err
	}
	if err := laws(row, e, set); err != nil {
		return err
	}
	if err := speed(ctx, row, set); err != nil {
		return err
	}
	w.Flush()
	fmt.Println("\n\"text unseen\": the weights were fitted without the text that is judged (see infra/bench/calibrate/report.txt).")
	worst(e, set, errors)
	return draw(out, documents, passages)
}

func ids(r skills.Result) []string {
	var out []string
	for _, s := range r.Skills {
		out = append(out, s.SkillID)
	}
	return out
}

func number(v float64) string { return fmt.Sprintf("%.3f", v) }

// judge compares what a system gives with the labels.
func judge(s system, items []gold.Item) fit.Figures {
	var rows []fit.Row
	for i := range items {
		rows = append(rows, fit.Row{Item: &items[i]})
		for _, id := range s(items[i].Doc) {
			_, must := items[i].Must[id]
			rows = append(rows, fit.Row{Item: &items[i], Features: []float64{}, Right: items[i].Wanted(id), Must: must})
		}
	}
	return fit.Judge(rows, func(fit.Row) bool { return true })
}

// bestRanking cuts the ranking where its F1 on the items is highest.
func bestRanking(x *baseline.TFIDF, items []gold.Item) system {
	const depth = 60
	var rows []fit.Row
	for i := range items {
		for _, r := range x.Rank(items[i].Doc.Text, depth) {
			_, must := items[i].Must[r.ID]
			rows = append(rows, fit.Row{Item: &items[i], Features: []float64{}, Right: items[i].Wanted(r.ID), Must: must, Score: r.Score})
		}
	}
	cut := fit.BestCut(rows, func(r fit.Row) float64 { return r.Score })
	return func(doc catalog.SyllabusText) []string {
		var out []string
		for _, r := range x.Rank(doc.Text, depth) {
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

func crossValidated(e *skills.Extractor, set *gold.Data) (documents, passages validated) {
	documents.rows = fit.DocumentRows(e, set)
	documents.model = fit.Documents(documents.rows)
	all := fit.PassageRows(e, set)
	passages.model = fit.Passages(all)
	passages.rows = fit.Judged(all)
	return documents, passages
}

func unseen(v validated, set string) fit.Figures {
	return fit.Judge(fit.Of(v.rows, set), func(r fit.Row) bool { return v.model.Confidence(r.Score) >= v.model.Cut })
}

func levels(row func(...string), e *skills.Extractor, set *gold.Data) {
	share := func(n, of int) string { return number(float64(n) / float64(max(1, of))) }
	near := func(a, b int) bool { return math.Abs(float64(a-b)) <= 1 }
	var exact, within, firstExact, firstWithin int
	for _, o := range set.Outcomes {
		level, _ := skills.LevelOf(o.Text)
		first := firstVerb(o.Text)
		exact += one(level == o.Level)
		within += one(near(level, o.Level))
		firstExact += one(first == o.Level)
		firstWithin += one(near(first, o.Level))
	}
	row("levels of outcomes, exact", ">= .80", share(exact, len(set.Outcomes)), "", "first verb "+share(firstExact, len(set.Outcomes)))
	row("levels of outcomes, within one", ">= .95", share(within, len(set.Outcomes)), "", "first verb "+share(firstWithin, len(set.Outcomes)))
	var n int
	exact, within = 0, 0
	for _, item := range set.Syllabi {
		for _, s := range e.Extract(item.Doc).Skills {
			if item.Wanted(s.SkillID) {
				want := max(item.Must[s.SkillID], item.OK[s.SkillID])
				n++
				exact += one(want == s.Level)
				within += one(near(want, s.Level))
			}
		}
	}
	row("levels in syllabi, exact", ">= .80", share(exact, n))
	row("levels in syllabi, within one", ">= .95", share(within, n))
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// firstVerb looks the first word up in the usual table of Bloom's verbs.
func firstVerb(text string) int {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	for level, list := range []string{"define list recall recognize name state label", "explain describe summarize understand discuss classify interpret outline illustrate relate identify",
		"apply use solve implement demonstrate compute calculate utilize employ perform execute", "analyze analyse compare examine differentiate investigate distinguish",
		"evaluate assess judge design create develop construct formulate justify propose write"} {
		if slices.Contains(strings.Fields(list), word) {
			return level + 1
		}
	}
	return 2
}

func calibration(e *skills.Extractor, items []gold.Item) float64 {
	var confidence []float64
	var right []bool
	for _, item := range items {
		for _, s := range e.Extract(item.Doc).Skills {
			confidence = append(confidence, s.Confidence)
			right = append(right, item.Wanted(s.SkillID))
		}
	}
	_, expected := fit.Calibration(confidence, right)
	return expected
}

// formats writes the courses in every format, reads them back and compares the skills.
func formats(ctx context.Context, row func(...string), e *skills.Extractor, set *gold.Data) error {
	reader, err := syllabus.NewReader(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	sum, least, n := 0.0, 1.0, 0.0
	for _, item := range set.Syllabi {
		want := ids(e.Extract(item.Doc))
		for kind, raw := range written(item.Doc.Text) {
			doc, err := reader.Read(ctx, raw, syllabus.Hint{Kind: kind})
			if err != nil {
				return fmt.Errorf("%s as %s: %w", item.Name, kind, err)
			}
			j := jaccard(want, ids(e.Extract(doc)))
			sum += j
			n++
			least = min(least, j)
		}
	}
	row("same course as PDF, DOCX, HTML, Markdown, text: Jaccard", ">= .95", fmt.Sprintf("%.3f (least %.3f)", sum/n, least))
	return nil
}

func jaccard(a, b []string) float64 {
	both := 0.0
	for _, x := range a {
		if slices.Contains(b, x) {
			both++
		}
	}
	return both / max(1, float64(len(a)+len(b))-both)
}

// laws checks what must always hold: equal runs, and quotes that stand in the text.
func laws(row func(...string), e *skills.Extractor, set *gold.Data) error {
	same, quotes, wrong := true, 0, 0
	for _, item := range slices.Concat(set.Syllabi, set.Own, set.Tech, set.House) {
		first := e.Extract(item.Doc)
		a, err := json.Marshal(first)
		if err != nil {
			return err
		}
		b, err := json.Marshal(skills.NewExtractor(set.Taxonomy).Extract(item.Doc))
		if err != nil {
			return err
		}
		same = same && bytes.Equal(a, b)
		text := []rune(item.Doc.Text)
		shown := map[string]bool{}
		for _, ev := range first.Evidence {
			quotes++
			shown[ev.SkillID] = true
			if ev.Start >= ev.End || ev.End > len(text) || string(text[ev.Start:ev.End]) != ev.Quote {
				wrong++
			}
		}
		for _, s := range first.Skills {
			if !shown[s.SkillID] {
				wrong++
			}
		}
	}
	row("two runs", "identical", map[bool]string{true: "identical", false: "DIFFERENT"}[same])
	row("skills with a quote that stands in the text", "100 %", fmt.Sprintf("%.1f %% of %d quotes", 100*(1-float64(wrong)/float64(max(1, quotes))), quotes))
	return nil
}

// tenPages is the size of the document that speed is measured on.
const tenPages = 30000

func speed(ctx context.Context, row func(...string), set *gold.Data) error {
	var text strings.Builder
	for i := 0; text.Len() < tenPages; i++ {
		text.WriteString(set.Syllabi[i%len(set.Syllabi)].Doc.Text + "\n\n")
	}
	reader, err := syllabus.NewReader(ctx)
	if err != nil {
		return err
	}
	defer reader.Close()
	pdf := writtenPDF(text.String())
	compiled := slices.Clone(set.Compiled)
	runtime.GC()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	t, err := skills.Open(compiled)
	if err != nil {
		return err
	}
	e := skills.NewExtractor(t)
	opened := time.Since(start)
	e.Extract(set.Syllabi[0].Doc)
	runtime.GC() // the extractor's working memory stays in its pool for one collection
	runtime.ReadMemStats(&after)
	run := func() (pages, found int, took, extracting time.Duration, err error) {
		start := time.Now()
		doc, err := reader.Read(ctx, pdf, syllabus.Hint{Kind: syllabus.PDF})
		if err != nil {
			return 0, 0, 0, 0, err
		}
		read := time.Now()
		found = len(e.Extract(doc).Skills)
		return len(doc.Pages), found, time.Since(start), time.Since(read), nil
	}
	if _, _, _, _, err := run(); err != nil {
		return err
	}
	pages, found, took, extracting, err := run()
	if err != nil {
		return err
	}
	row(fmt.Sprintf("%d pages of PDF to %d skills, warm", pages, found), "< 1 s", fmt.Sprintf("%v (extraction %v)", took.Round(time.Millisecond), extracting.Round(time.Millisecond)))
	row("start with full ESCO", "< 0.3 s", opened.Round(100*time.Microsecond).String())
	row("memory of taxonomy and extractor, file included", "< 256 MB", fmt.Sprintf("%d MB", (int(after.HeapAlloc)-int(before.HeapAlloc)+len(compiled))>>20))
	runtime.KeepAlive(e)
	runtime.KeepAlive(compiled)
	return nil
}

// worst lists what was given with most confidence though wrong, and what is
// insisted on but missing.
func worst(e *skills.Extractor, set *gold.Data, n int) {
	type fault struct {
		confidence    float64
		where, what   string
		quote, remark string
	}
	var wrong, missing []fault
	for _, item := range slices.Concat(set.Syllabi, set.Own, set.Tech, set.House) {
		r := e.Extract(item.Doc)
		given := map[string]bool{}
		for _, s := range r.Skills {
			given[s.SkillID] = true
			if !item.Wanted(s.SkillID) {
				i := slices.IndexFunc(r.Evidence, func(ev catalog.Evidence) bool { return ev.SkillID == s.SkillID })
				wrong = append(wrong, fault{s.Confidence, item.Name, s.SkillName, r.Evidence[i].Quote, "label " + r.Evidence[i].Label})
			}
		}
		considered := map[string]bool{}
		for _, c := range e.Candidates(item.Doc) {
			considered[c.SkillID] = true
		}
		for id := range item.Must {
			if !given[id] {
				name, _ := set.Taxonomy.Name(id)
				remark := "never a candidate"
				if considered[id] {
					remark = "below the cut"
				}
				missing = append(missing, fault{0, item.Name, name, "", remark})
			}
		}
	}
	order := func(a, b fault) int {
		if a.confidence != b.confidence {
			return int(math.Copysign(1, b.confidence-a.confidence))
		}
		return strings.Compare(a.where+a.what, b.where+b.what)
	}
	slices.SortFunc(wrong, order)
	slices.SortFunc(missing, order)
	fmt.Printf("\nworst of %d given but not wanted:\n", len(wrong))
	for _, f := range wrong[:min(n, len(wrong))] {
		fmt.Printf("  %.2f  %s  %s  (%s)  %.90q\n", f.confidence, f.where, f.what, f.remark, f.quote)
	}
	fmt.Printf("\nworst of %d insisted on but not given:\n", len(missing))
	for _, f := range missing[max(0, len(missing)-n):] {
		fmt.Printf("  %s  %s  (%s)\n", f.where, f.what, f.remark)
	}
}
