package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"skillscurriculum/infra/training/gold"
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/syllabus"
)

// agreement counts how often two levels are the same, and how often they are within
// one.
type agreement struct{ n, exact, within int }

func (a *agreement) add(level int, others ...int) {
	a.n++
	a.exact += one(slices.Contains(others, level))
	a.within += one(slices.ContainsFunc(others, func(l int) bool { return math.Abs(float64(l-level)) <= 1 }))
}

func (a agreement) same() string { return number(float64(a.exact) / float64(max(1, a.n))) }
func (a agreement) near() string { return number(float64(a.within) / float64(max(1, a.n))) }

func (b *bench) levels() {
	var ours agreement
	for _, o := range b.set.Outcomes {
		level, _ := extraction.LevelOf(o.Text)
		ours.add(level, o.Level)
	}
	b.row("levels of outcomes, exact", ">= .80", ours.same())
	b.row("levels of outcomes, within one", ">= .95", ours.near())
	open, sealed := b.levelled(b.set.Courses), b.levelled(b.set.Sealed)
	b.row("levels in courses, exactly that of a labeler", ">= .62", open.either.same(), sealed.either.same())
	b.row("levels in courses, within one of it", ">= .92", open.either.near(), sealed.either.near())
	b.row("  of skills that both labelled, exactly that of one", "", open.single.same(), sealed.single.same(),
		"the other labeler "+open.labelers.same(), "sealed "+sealed.labelers.same())
	b.row("  of skills that both labelled, within one of it", "", open.single.near(), sealed.single.near(),
		"the other labeler "+open.labelers.near(), "sealed "+sealed.labelers.near())
}

// levelled compares the levels found with those of labelers: of either; and of each, for skills
// that both gave a level, beside the labelers' own agreement, which is the best to expect.
func (b *bench) levelled(items []gold.Item) (a struct{ either, single, labelers agreement }) {
	for _, item := range items {
		for _, s := range b.found(item.Doc).Skills {
			levels := item.Levels[s.SkillID]
			if len(levels) == 0 {
				continue
			}
			a.either.add(s.Level, levels...)
			if len(levels) == 2 {
				a.single.add(levels[0], s.Level)
				a.single.add(levels[1], s.Level)
				a.labelers.add(levels[0], levels[1])
			}
		}
	}
	return a
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// formats writes the courses in every format, reads them back and compares the skills.
func (b *bench) formats(ctx context.Context) error {
	reader, err := syllabus.NewReader()
	if err != nil {
		return err
	}
	defer reader.Close()
	sum, least, n := 0.0, 1.0, 0.0
	for _, item := range slices.Concat(b.set.Courses, b.set.Syllabi) {
		want := ids(b.found(item.Doc))
		for kind, raw := range written(item.Doc.Text) {
			doc, err := reader.Read(ctx, raw, syllabus.Hint{Kind: kind})
			if err != nil {
				return fmt.Errorf("%s as %v: %w", item.Name, kind, err)
			}
			j := jaccard(want, ids(b.found(doc)))
			sum += j
			n++
			least = min(least, j)
		}
	}
	b.row("same course as PDF, DOCX, HTML, Markdown, text: Jaccard", ">= .99",
		fmt.Sprintf("%.3f (least %.3f)", sum/n, least))
	return nil
}

func jaccard(a, b []string) float64 {
	both := 0.0
	for _, x := range a {
		if slices.Contains(b, x) {
			both++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return both / (float64(len(a)+len(b)) - both)
}

// laws checks the invariants: equal runs, and quotes that are in the text.
func (b *bench) laws() error {
	same, quotes, wrong := true, 0, 0
	again := extraction.NewExtractor(b.set.Taxonomy, wordvectors.Table())
	for _, item := range slices.Concat(b.set.Courses, b.set.Sealed, b.set.Syllabi, b.set.Own, b.set.Tech, b.set.House) {
		first := b.found(item.Doc)
		second, err := again.Extract(context.Background(), item.Doc)
		if err != nil {
			return err
		}
		x, err := json.Marshal(first)
		if err != nil {
			return err
		}
		y, err := json.Marshal(second)
		if err != nil {
			return err
		}
		same = same && bytes.Equal(x, y)
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
	b.row("two runs", "identical", map[bool]string{true: "identical", false: "DIFFERENT"}[same])
	b.row("skills with a quote that stands in the text", "100 %",
		fmt.Sprintf("%.1f %% of %d quotes", 100*(1-float64(wrong)/float64(max(1, quotes))), quotes))
	return nil
}

// tenPages is the size of the document that speed is measured on.
const tenPages = 30000

func (b *bench) speed(ctx context.Context) error {
	var text strings.Builder
	for i := 0; text.Len() < tenPages; i++ {
		text.WriteString(b.set.Syllabi[i%len(b.set.Syllabi)].Doc.Text + "\n\n")
	}
	reader, err := syllabus.NewReader()
	if err != nil {
		return err
	}
	defer reader.Close()
	pdf := writtenPDF(text.String())
	compiled := slices.Clone(b.set.Compiled)
	runtime.GC()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	t, err := skills.Open(compiled)
	if err != nil {
		return err
	}
	e := extraction.NewExtractor(t, wordvectors.Table())
	opened := time.Since(start)
	if _, err := e.Extract(ctx, b.set.Syllabi[0].Doc); err != nil {
		return err
	}
	runtime.GC() // the extractor's working memory stays in its pool for one collection
	runtime.ReadMemStats(&after)
	run := func() (pages, found int, took, extracting time.Duration, err error) {
		start := time.Now()
		doc, err := reader.Read(ctx, pdf, syllabus.Hint{Kind: syllabus.PDF})
		if err != nil {
			return 0, 0, 0, 0, err
		}
		read := time.Now()
		r, err := e.Extract(ctx, doc)
		return len(doc.Pages), len(r.Skills), time.Since(start), time.Since(read), err
	}
	if _, _, _, _, err := run(); err != nil {
		return err
	}
	pages, found, took, extracting, err := run()
	if err != nil {
		return err
	}
	b.row(fmt.Sprintf("%d pages of PDF to %d skills, warm", pages, found), "< 0.5 s",
		fmt.Sprintf("%v (extraction %v)", took.Round(time.Millisecond), extracting.Round(time.Millisecond)))
	b.row("start with full ESCO", "< 0.3 s", opened.Round(100*time.Microsecond).String())
	b.row("memory of taxonomy and extractor, file included", "< 256 MB",
		fmt.Sprintf("%d MB", (int(after.HeapAlloc)-int(before.HeapAlloc)+len(compiled))>>20))
	runtime.KeepAlive(e)
	runtime.KeepAlive(compiled)
	return nil
}
