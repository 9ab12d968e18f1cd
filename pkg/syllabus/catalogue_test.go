package syllabus

import (
	"strings"
	"testing"
)

const bodyText = "Students learn to solve the problems of the field, to explain their solutions to others and to " +
	"judge those of their peers by agreed measures. "

func chosen(t *testing.T, blocks []block, course string) []block {
	t.Helper()
	got, err := choose(blocks, course, &budget{ctx: t.Context(), limits: bounds{}.withDefaults()})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func assembled(t *testing.T, blocks []block) string {
	t.Helper()
	doc, err := assemble(blocks, &budget{ctx: t.Context(), limits: bounds{}.withDefaults()})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Text
}

// catalogueOf is a catalogue of four courses whose first lines are given by line.
func catalogueOf(line func(code, name string) block) []block {
	blocks := []block{
		{kind: heading, level: 1, text: "Catalogue of the College"},
		{text: "Courses offered in this academic year: MATH 101, CS-210 and others."},
	}
	for _, c := range [][2]string{
		{"MATH 101", "Calculus I"}, {"CS-210", "Data Structures & Algorithms"}, {"CS 310A", "Databases"},
		{"NUR 110", "Fundamentals of Nursing"},
	} {
		blocks = append(blocks, line(c[0], c[1]), block{text: "About " + c[1] + ". " + bodyText}, block{
			kind: heading, level: 4, text: "Prerequisites",
		}, block{text: "MATH 101 or consent"})
	}
	return blocks
}

func TestCatalogue(t *testing.T) {
	coded := catalogueOf(func(code, name string) block {
		return block{kind: heading, level: 2, text: code + ": " + name}
	})
	labelled := catalogueOf(func(code, name string) block {
		return block{text: "Course Code: " + code + " – " + name + " (3 credits)"}
	})
	named := catalogueOf(func(_, name string) block { return block{kind: heading, level: 2, text: name} })
	for name, c := range map[string]struct {
		blocks []block
		course string
		want   string
	}{
		"by name":           {coded, "data structures and algorithms", "About Data Structures & Algorithms."},
		"by label":          {labelled, "Fundamentals of Nursing", "About Fundamentals of Nursing."},
		"by name, no codes": {named, "Databases", "About Databases."},
		"by code and name": {
			coded, "CS-210: Data Structures & Algorithms", "About Data Structures & Algorithms.",
		},
		"no such course":               {coded, "Welding", ""},
		"nothing asked":                {coded, "", ""},
		"part of a word":               {coded, "Data", "About Data Structures & Algorithms."},
		"not a catalogue, but a title": {course, "Data Structures", ""},
	} {
		got := chosen(t, c.blocks, c.course)
		if c.want == "" {
			if len(got) != len(c.blocks) {
				t.Errorf("%s: got %d blocks of %d", name, len(got), len(c.blocks))
			}
			continue
		}
		text := assembled(t, got)
		if !strings.Contains(text, c.want) || strings.Count(text, "About") != 1 {
			t.Errorf("%s: got %q", name, text)
		}
	}
}

// The name of one course may be part of another's.
func TestCatalogueWholeNames(t *testing.T) {
	var blocks []block
	for _, l := range []string{
		"CHE 110 Organic Chemistry", "CHE 101 Chemistry", "CHE 102 Chemistry Laboratory", "CHE 201 Chemistry II",
	} {
		blocks = append(blocks, block{kind: heading, level: 2, text: l}, block{text: bodyText + strings.Repeat("x", len(l))})
	}
	for name, want := range map[string]string{
		"Chemistry": "CHE 101", "chemistry ii": "CHE 201", "Organic chemistry": "CHE 110",
	} {
		if got := assembled(t, chosen(t, blocks, name)); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %.20q", name, got)
		}
	}
}

// A syllabus that names other courses is not a catalogue.
func TestCatalogueLeavesSyllabiWhole(t *testing.T) {
	blocks := []block{
		{kind: heading, level: 1, text: "CS 210 Data Structures"}, {text: bodyText},
		{kind: heading, level: 2, text: "Prerequisites"}, {text: "CS 101 Introduction to Programming"},
		{text: "MATH 101 Calculus"}, {text: "ENG 101 Composition"},
		{kind: heading, level: 2, text: "Outcomes"}, {text: bodyText},
		{kind: heading, level: 2, text: "Data Structures"}, {text: bodyText},
	}
	for _, want := range []string{"Data Structures", "CS 210 Data Structures", "Calculus"} {
		if got := chosen(t, blocks, want); len(got) != len(blocks) {
			t.Errorf("%v: got %q", want, assembled(t, got))
		}
	}
}

// Headings of one syllabus are no courses, also where a course has the name of one, or
// of a word in one.
func TestCatalogueLeavesPartsOfASyllabusTogether(t *testing.T) {
	blocks := []block{{kind: heading, level: 1, text: "Speech and Debate"}}
	for _, part := range []string{"Course Description", "Course Outcomes", "Communication", "Schedule of Topics"} {
		blocks = append(blocks, block{kind: heading, level: 2, text: part}, block{text: bodyText})
	}
	for _, name := range []string{
		"Course", "Communication", "Course Outcomes", "Outcomes", "Topics", "Speech and Debate",
	} {
		if got := chosen(t, blocks, name); len(got) != len(blocks) {
			t.Errorf("%v: got %q", name, assembled(t, got))
		}
	}
	// Without a code, only a whole name finds a course.
	named := catalogueOf(func(_, name string) block { return block{kind: heading, level: 2, text: name} })
	if got := chosen(t, named, "Data"); len(got) != len(named) {
		t.Errorf("part of a name: got %q", assembled(t, got))
	}
}

func TestCatalogueKeepsPages(t *testing.T) {
	blocks := catalogueOf(func(code, name string) block { return block{kind: heading, level: 1, text: code + " " + name} })
	var contents []string
	for i := 0; i < len(blocks); i += 3 {
		part := blocks[i:min(i+3, len(blocks))]
		w := &pdfWriter{y: pdfTop}
		for _, b := range part {
			w.paragraph(map[bool]string{true: "F2", false: "F1"}[b.kind == heading], 10+4*float64(b.level%4), pdfLeft,
				pdfRight, 12, "", b.text)
		}
		contents = append(contents, w.content.String())
	}
	doc := read(t, pdfFile(contents, ""), Hint{Course: "Fundamentals of Nursing"})
	if !strings.HasPrefix(doc.Text, "NUR 110") || strings.Contains(doc.Text, "Databases") {
		t.Fatalf("got %q", doc.Text)
	}
	// The course begins on the fifth page; those before it are empty now.
	if len(doc.Pages) < 5 || doc.Pages[4] != 0 {
		t.Errorf("pages begin at %v", doc.Pages)
	}
}
