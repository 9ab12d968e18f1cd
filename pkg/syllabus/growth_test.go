package syllabus

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"skillscurriculum/pkg/catalog"
)

// repeated is a hostile document of n of a part.
type repeated struct {
	kind                Kind
	before, part, after string
	n                   int
}

func (r repeated) bytes(t testing.TB, n int) []byte {
	text := r.before + strings.Repeat(r.part, n) + r.after
	switch r.kind {
	case DOCX:
		return docxWith(t, text)
	case PDF:
		return pdfFile([]string{text}, "")
	}
	return []byte(text)
}

const sentence = "Students design databases."

// hostile documents cost a reader that is careless a square of their size. The
// smaller of the two sizes that are compared is n.
var hostile = map[string]repeated{
	"blocks in a cell":       {HTML, "<table><tr><td>x<td>", "<p>a", "", 20_000},
	"blocks in nested cells": {HTML, strings.Repeat("<table><tr><td>x<td>", 50), "<p>a", "", 10_000},
	"cells in a row":         {HTML, "<table><tr>", "<td>a", "", 20_000},
	"nested tables":          {HTML, sentence, "<table><tr><td>a<td>b", "", 10_000},
	"entities":               {HTML, "<p>" + sentence, "&amp", "", 50_000},
	"entity without an end":  {HTML, "<p>" + sentence + "&", "a", "", 200_000},
	"attributes":             {HTML, sentence + "<p ", "a=b ", ">", 50_000},
	"raw text":               {HTML, sentence + "<textarea>", "</textare", "", 100_000},
	"script":                 {HTML, sentence + "<script><!--", "<script", "", 100_000},
	"lists":                  {HTML, sentence, "<ul><li>a", "", 20_000},
	"preformatted lines":     {HTML, "<pre>", "a   b   c\n", "", 10_000},
	"mains":                  {HTML, sentence, "<main><header>a", "", 20_000},
	"paragraphs in a cell": {
		DOCX, "<w:tbl><w:tr><w:tc/><w:tc>", "<w:p><w:r><w:t>a</w:t></w:r></w:p>", "</w:tc></w:tr></w:tbl>", 2000,
	},
	"paragraphs, nested cells": {
		DOCX, strings.Repeat("<w:tbl><w:tr><w:tc/><w:tc>", 200), "<w:p><w:r><w:t>a</w:t></w:r></w:p>",
		strings.Repeat("</w:tc></w:tr></w:tbl>", 200), 2000,
	},
	"cells": {
		DOCX, "<w:tbl><w:tr>", "<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>", "</w:tr></w:tbl>", 1500,
	},
	"runs":              {DOCX, "<w:p>", "<w:r><w:t>a </w:t></w:r>", "</w:p>", 2500},
	"words on a line":   {Text, "", "word ", "", 50_000},
	"lines":             {Text, "", "a\n", "", 20_000},
	"wide gaps":         {Text, "", "a    ", "", 40_000},
	"markers with gaps": {Text, "", "1.    ", sentence, 40_000},
	"hyphenated lines":  {Text, "", "compu-\n", "", 10_000},
	"long lines":        {Text, "", strings.Repeat("compute ", 13) + "compu-\n", "", 2_000},
	"columns":           {Text, strings.Repeat("word ", 5000) + "\n", "a          b\n", "", 20_000},
	"accents":           {Text, "a", "\u0301\u0323", "", 50_000},
	"spaces":            {Text, sentence, " \u00a0\t", sentence, 60_000},
	"courses of one name": {
		Text, "", "CS 101 Databases\n\n" + strings.Repeat("much ", 25) + "\n\nCS 102 Databases\n\n" +
			strings.Repeat("much ", 25) + "\n\n", "", 400,
	},
	"headings of one name": {Markdown, "", "# Databases\n\n" + strings.Repeat("much ", 25) + "\n\n", "", 300},
	"open brackets":        {Markdown, "", strings.Repeat("[a](\"", 1000) + "\n\n", sentence, 5},
	"emphasis":             {Markdown, "", strings.Repeat("_a*", 2000) + "\n\n", sentence, 5},
	"footnotes":            {Markdown, "", "[^1]: a\n\n[^1]\n\n", sentence, 2500},
	"a row and columns":    {Markdown, "|a|b\n|-|-\n", "a\n", "", 400},
	"columns and rows": {
		Markdown, strings.Repeat("|a", 1000) + "\n" + strings.Repeat("|-", 1000) + "\n", "a\n", "", 100,
	},
	"quotes":          {Markdown, "", "> > > a\n> b\n\n", sentence, 2000},
	"lines of a page": {PDF, "BT /F1 1 Tf 60 702 Td (" + sentence + ") Tj 0 -2 Td ", "(word) Tj 0 -.2 Td\n", "ET", 300},
	"words of a page": {PDF, "BT /F1 10 Tf 60 700 Td ", "(word word ) Tj\n", "ET", 500},
	"drawn bullets": {
		PDF, "BT /F1 10 Tf 60 702 Td (" + sentence + ") Tj 0 -2 Td ",
		"(word) Tj ET 50 700 3 3 re f BT /F1 10 Tf 60 700 Td\n", "ET", 300,
	},
}

// Ten times as much of a hostile document costs about ten times as much processor
// time, never a hundred times.
func TestWorkGrowsWithTheDocument(t *testing.T) {
	const growth, most = 10, 40
	work := func(t *testing.T, r repeated, n int) time.Duration {
		data := r.bytes(t, n)
		least := time.Duration(1 << 62)
		for range 2 {
			start := processorTime(t)
			_, err := reader.Read(context.Background(), data, Hint{Kind: r.kind, Course: "Databases"})
			if err != nil && err.(*catalog.Failure).Code != catalog.TooLarge {
				t.Fatal(err)
			}
			least = min(least, processorTime(t)-start)
		}
		return least
	}
	for name, r := range hostile {
		t.Run(name, func(t *testing.T) {
			// What takes less than a few milliseconds cannot be compared.
			small, large := max(work(t, r, r.n), 3*time.Millisecond), work(t, r, growth*r.n)
			t.Logf("%v, %v: %.1f", small, large, float64(large)/float64(small))
			if large > most*small {
				t.Errorf("%d times as much takes %.0f times as long", growth, float64(large)/float64(small))
			}
		})
	}
}

func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		t.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// lapsing is a context whose time is up once it has been asked often enough.
type lapsing struct {
	context.Context
	left int
}

func (c *lapsing) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// Readers look at their time while they read and after it: whenever it is up before
// the document is read, that is what they say.
func TestReadersStopWhenTheirTimeIsUp(t *testing.T) {
	stops := map[Kind]int{}
	for name, r := range hostile {
		data := r.bytes(t, r.n)
		// PDFium is halted from outside, and slow: see TestPDFGivenUp.
		for left := 1; r.kind != PDF; left *= 3 {
			ctx := &lapsing{context.Background(), left}
			_, err := reader.read(data, Hint{Kind: r.kind, Course: "Databases"}, &budget{ctx: ctx, limits: bounds{}.withDefaults()})
			if ctx.left >= 0 {
				break
			}
			if err != context.DeadlineExceeded {
				t.Fatalf("%s, after %d looks at the time: %v", name, left, err)
			}
			stops[r.kind]++
		}
	}
	for _, kind := range []Kind{DOCX, HTML, Markdown, Text} {
		if stops[kind] < 10 {
			t.Errorf("%s was stopped %d times", kind, stops[kind])
		}
	}
}
