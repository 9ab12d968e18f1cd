package syllabus

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/extraction"
)

// TestFormatsHaveTheSameOutcomes finds the outcomes of one syllabus, over lines and pages, in five formats.
func TestFormatsHaveTheSameOutcomes(t *testing.T) {
	file, err := os.ReadFile("../extraction/wordvectors/words.bin")
	if err != nil {
		t.Fatal(err)
	}
	words, err := extraction.OpenWords(file)
	if err != nil {
		t.Fatal(err)
	}
	e := extraction.NewExtractor(extraction.Starter(), words)
	long := "using the tools of the laboratory, the library of the course and whatever else a careful engineer has at hand"
	blocks := []block{
		{kind: heading, level: 1, text: "CS 201 Data Structures"},
		{kind: heading, level: 2, text: "Description"},
		{kind: paragraph, text: "The course introduces data structures. " + strings.Repeat("It has lectures and laboratories. ", 20)},
		{kind: heading, level: 2, text: "Learning Outcomes"},
		{kind: paragraph, text: "Upon completion of this course, students will be able to:"},
	}
	var want []string
	for i := range 40 {
		text := fmt.Sprintf("Design and test the structure of case %d %s.", i, long)
		blocks, want = append(blocks, block{kind: item, text: text}), append(want, " 3 "+text)
	}
	blocks = append(blocks, block{kind: heading, level: 2, text: "Course Outcomes"},
		block{kind: row, text: "CO\tStatement\tLevel"})
	for i := range 5 {
		text := fmt.Sprintf("Explain sorting of kind %d", i)
		blocks = append(blocks, block{kind: row, text: fmt.Sprintf("CO%d\t%s\tK4", i+1, text)})
		want = append(want, fmt.Sprintf("CO%d 4 %s", i+1, text))
	}
	blocks = append(blocks, block{kind: heading, level: 2, text: "Topics"}, block{kind: item, text: "Lists"},
		block{kind: heading, level: 2, text: "Objectives"})
	for i := range 3 {
		text := fmt.Sprintf("CLO %d: Compare queues of kind %d %s", i+1, i, long)
		blocks = append(blocks, block{kind: paragraph, text: text})
		want = append(want, strings.Replace(text, ": ", " 4 ", 1))
	}
	blocks = append(blocks, block{kind: heading, level: 2, text: "Intended Learning Outcomes"},
		block{kind: heading, level: 3, text: "What should a student remember?"},
		block{kind: paragraph, text: "By the end of the course, the students should be able to:"},
		block{kind: item, text: "Routing algorithms"}, block{kind: item, text: "Layers of a network"})
	want = append(want, " 2 Routing algorithms", " 2 Layers of a network")
	for name, data := range map[string][]byte{
		"a.pdf": asPDF(blocks, "CS 201 page %d", "%d"), "a.docx": asDOCX(t, blocks), "a.html": asHTML(blocks),
		"a.md": markdownOf(blocks), "a.txt": asText(blocks),
	} {
		doc := read(t, data, Hint{Name: name})
		r, err := e.Extract(context.Background(), doc)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		pages := []int{}
		for _, o := range r.Outcomes {
			code := ""
			if o.Code != nil {
				code = *o.Code
			}
			got = append(got, fmt.Sprintf("%s %d %s", code, o.Level, o.Statement))
			if at := string([]rune(doc.Text)[o.Start:o.End]); at != o.Statement {
				t.Errorf("%s: %q stands at %d, not %q", name, at, o.Start, o.Statement)
			}
			pages = append(pages, o.Page)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if !slices.IsSorted(pages) || name == "a.pdf" && pages[len(pages)-1] < 2 {
			t.Errorf("%s: pages %v", name, pages)
		}
	}
}

// markdownOf writes blocks as Markdown.
func markdownOf(blocks []block) []byte {
	var out strings.Builder
	before := heading
	for _, b := range blocks {
		if b.kind != before || b.kind == heading || b.kind == paragraph {
			out.WriteByte('\n')
		}
		switch {
		case b.kind == heading:
			fmt.Fprintf(&out, "%s %s\n", strings.Repeat("#", b.level), b.text)
		case b.kind == item:
			fmt.Fprintf(&out, "1. %s\n", b.text)
		case b.kind == row:
			cells := strings.Split(b.text, "\t")
			fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | "))
			if before != row {
				out.WriteString(strings.Repeat("|---", len(cells)) + "|\n")
			}
		default:
			out.WriteString(b.text + "\n")
		}
		before = b.kind
	}
	return []byte(out.String())
}
