package syllabus

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/text/unicode/norm"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/catalog"
)

// reader is shared by the tests, since PDFium takes a second to start. It has the time
// that a busy machine needs.
var reader = &Reader{limits: bounds{parse: time.Hour}}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := reader.Close(); err != nil {
		panic(err)
	}
	if code == 0 {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			code = 1
		}
	}
	os.Exit(code)
}

// read reads and checks what holds for every document.
func read(t testing.TB, data []byte, hint Hint) catalog.SyllabusText {
	t.Helper()
	doc, err := reader.Read(context.Background(), data, hint)
	if err != nil {
		t.Fatalf("read %s: %v", hint.Name, err)
	}
	checkDocument(t, doc)
	return doc
}

func checkDocument(t testing.TB, doc catalog.SyllabusText) {
	t.Helper()
	if !utf8.ValidString(doc.Text) || !norm.NFC.IsNormalString(doc.Text) {
		t.Error("the text is not UTF-8 in NFC")
	}
	if doc.Text == "" || strings.HasPrefix(doc.Text, "\n") || strings.HasSuffix(doc.Text, "\n") ||
		strings.Contains(doc.Text, "\n\n\n") {
		t.Errorf("the text has empty lines where none belong")
	}
	for l := range strings.Lines(doc.Text) {
		l = strings.TrimSuffix(l, "\n")
		if strings.TrimSpace(l) != l || strings.ContainsAny(l, "\t\r\v\f") || strings.Contains(l, "  ") {
			t.Errorf("line %q is not clean", l)
		}
	}
	for i, at := range doc.Pages {
		if at < 0 || at > len(doc.Text) || i > 0 && at < doc.Pages[i-1] || at > 0 && at < len(doc.Text) &&
			doc.Text[at-1] != '\n' {
			t.Errorf("page %d begins at %d of %d, in the middle of a line or out of order", i+1, at, len(doc.Text))
		}
	}
	if len(doc.SHA256) != 64 {
		t.Errorf("SHA256 is %q", doc.SHA256)
	}
}

// wantFailure reads what must fail with the code.
func wantFailure(t testing.TB, r *Reader, data []byte, hint Hint, code catalog.FailureCode) {
	t.Helper()
	doc, err := r.Read(context.Background(), data, hint)
	var failure *catalog.Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v and %d bytes of text, want %s", err, len(doc.Text), code)
	}
	if failure.Code != code {
		t.Errorf("got %v, want %s", failure, code)
	}
	if failure.Message == "" {
		t.Error("the failure has no message")
	}
}

// The same course in five formats must be the same text.
func TestFormatsAgree(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(devdata.Path(t, "syllabi", "dev"), "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		formatsAgree(t, filepath.Base(file), string(source), "Running head of the department")
	}
}

func TestFormatsAgreeOnTables(t *testing.T) {
	formatsAgree(t, "tables", tabled, "")
}

const tabled = `# NUR 210 Adult Health

## Learning outcomes

1. Assess patients with chronic conditions and write a care plan that the team can follow over several shifts.
2. Administer medication safely & document it, using the “five rights”.
   - Calculate doses for infusions.

## Schedule

| Week | Topic | Reading and preparation |
|---|---|---|
| 1 | Introduction to the adult patient and the clinical environment | Chapter 1 and the notes on the ward that you will be assigned to |
| 2 | Wound care | Chapter 2 |
| 3 | Fluid balance, electrolytes, and acid–base disorders in patients after surgery | Chapters 3 to 5 |

Attendance at clinical placements is required. Students who miss more than two must repeat the course in the following term, unless the dean decides otherwise.
`

func formatsAgree(t *testing.T, name, markdown, head string) {
	t.Helper()
	blocks, err := readMarkdown(markdown, &budget{ctx: context.Background(), limits: bounds{}.withDefaults()})
	if err != nil {
		t.Fatal(err)
	}
	for i := range blocks {
		blocks[i].text = strings.Join(strings.FieldsFunc(blocks[i].text, func(r rune) bool { return r == ' ' }), " ")
	}
	want := read(t, []byte(markdown), Hint{Name: "x.md"}).Text
	for _, c := range []struct {
		hint Hint
		data []byte
	}{
		{Hint{Name: "a.pdf"}, asPDF(blocks, head, "Page %d of 9")},
		{Hint{Name: "a.docx"}, asDOCX(t, blocks)},
		{Hint{Name: "a.html"}, asHTML(blocks)},
		{Hint{Name: "a.txt"}, asText(blocks)},
	} {
		got := read(t, c.data, c.hint).Text
		if diff := cmp.Diff(bare(want), bare(got)); diff != "" {
			t.Errorf("%s as %s (-markdown +%s):\n%s", name, c.hint.Name, c.hint.Name, diff)
		}
	}
}

// bare is the lines of a text without the empty ones, whose place depends on which
// headings a format can show.
func bare(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == '\n' })
}

func TestRealDocuments(t *testing.T) {
	for _, file := range []string{"*.docx", "dev/*.md"} {
		files, _ := filepath.Glob(filepath.Join(devdata.Path(t, "syllabi"), file))
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if doc := read(t, data, Hint{Name: f}); len(doc.Text) < 1000 {
				t.Errorf("%s gives %d bytes of text only", f, len(doc.Text))
			}
		}
	}
	archive, err := zip.OpenReader(devdata.Path(t, "syllabi", "unlabelled.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	for _, f := range archive.File {
		if f.FileInfo().IsDir() {
			continue
		}
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		doc := read(t, data, Hint{Name: f.Name})
		if strings.Contains(doc.Text, "**") || strings.Contains(doc.Text, "\n#") || 2*len(doc.Text) < len(data) {
			t.Errorf("%s: markup in the text, or half of it lost: %d of %d bytes", f.Name, len(doc.Text), len(data))
		}
	}
}

// The demo syllabi are made by other programs than the test's own writers: the PDFs
// by a browser, which draws its bullets.
func TestDemoSyllabi(t *testing.T) {
	for name, want := range map[string][]string{
		"adult-health-nursing.pdf": {
			"NUR 210 Adult Health Nursing I",
			"Develop individualized nursing care plans using the nursing process, and evaluate patient outcomes.",
			"Explain the pathophysiology of diabetes mellitus, heart failure, chronic obstructive pulmonary disease and renal " +
				"failure as a basis for nursing interventions.",
			"Week | Theory | Clinical and simulation",
			"11–12 | Endocrine disorders: diabetes mellitus, thyroid disease | Blood glucose monitoring, insulin " +
				"administration, patient education",
			"13 | Renal and urinary disorders | Catheter care, intake and output",
		},
		"database-systems.pdf": {
			"CSC 340 Database Systems",
			"write SQL queries with joins, grouping, subqueries and window functions;",
			"5–6 | SQL: data definition, queries, views | Query exercises",
		},
		"financial-accounting.docx": {
			"Record business transactions in journals and post them to the general ledger using double-entry bookkeeping.",
			"5 | Cash, bank reconciliation and internal control | Case: the missing deposit",
		},
		"gas-metal-arc-welding.txt": {
			"Apply shop safety rules and use personal protective equipment, ventilation and fire prevention measures.",
			"Week 11-12 | Flux-cored arc welding",
		},
		"linear-algebra.md": {
			"MTH 220 Linear Algebra",
			"solve systems of linear equations by Gaussian elimination and describe their solution sets;",
			"2–3 | Linear systems and Gaussian elimination | Balancing chemical equations",
		},
		"programming-fundamentals.html": {
			"CIS 110 Programming Fundamentals",
			"3–4 | Conditions, Boolean logic and loops | Number guessing and input validation",
		},
		"project-management.txt": {
			"build a schedule with dependencies and determine the critical path",
			"Module 7: Agile project management: Scrum, Kanban, user stories, retrospectives",
		},
		"structural-analysis.html": {
			"CVE 331 Structural Analysis",
			"calculate the member forces of trusses by the method of joints and the method of sections",
			"5-6 | Beams and frames: internal forces | Portal frame",
		},
	} {
		data, err := os.ReadFile(filepath.Join("..", "..", "infra", "local", "demo", "syllabi", name))
		if err != nil {
			t.Fatal(err)
		}
		lines := bare(read(t, data, Hint{Name: name}).Text)
		for _, l := range want {
			if !slices.Contains(lines, l) {
				t.Errorf("%s has no line %q", name, l)
			}
		}
	}
}

func BenchmarkPDFOfTenPages(b *testing.B) {
	w := &pdfWriter{head: "Running head", foot: "%d", y: pdfTop}
	for len(w.pages) < 10 {
		w.paragraph("F1", 10, pdfLeft, pdfRight, 6, "", strings.Repeat("Students design and analyse data structures. ", 12))
	}
	data := w.bytes()
	read(b, data, Hint{})
	for b.Loop() {
		read(b, data, Hint{})
	}
}
