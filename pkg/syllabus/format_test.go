package syllabus

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"skillscurriculum/pkg/catalog"
)

func wantText(t *testing.T, name string, data []byte, hint Hint, want string) {
	t.Helper()
	if diff := cmp.Diff(want, read(t, data, hint).Text); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestHTML(t *testing.T) {
	for name, c := range map[string][2]string{
		"main part": {`<!doctype html><head><title>College</title><style>p{}</style></head><body><header><h1>CS 210 Data Structures</h1><p>Search</p></header>
			<nav><ul><li>Home</ul></nav><main><header><h2>Outcomes</h2></header><ul><li>Design <b>data</b>bases<li>Write <a href=x>SQL</a></ul></main>
			<aside>Related</aside><footer>Imprint</footer><script>x("<p>no")</script></body>`, "Outcomes\nDesign databases\nWrite SQL"},
		"no main part": {
			`<html><nav>Home</nav><h1>CS 210</h1><p>Design databases.</p><footer>Imprint</footer>`, "CS 210\nDesign databases.",
		},
		"head with the title": {
			`<html><header><h1>CS 210</h1>Menu</header><p>Design databases.</p>`, "CS 210\nDesign databases.",
		},
		"main part beside the text": {
			`<html><main><p>Welcome</p></main><div>Students design relational databases.</div>`,
			"Welcome\nStudents design relational databases.",
		},
		"everything in the page head": {`<html><header><p>Design databases.</p></header>`, "Design databases."},
		"inline and broken lines": {
			`<p>Design&nbsp;and <em>imple</em>ment&shy;<br>data &amp; files &#8211; all<wbr> of them</p>`,
			"Design and implement\ndata & files – all of them",
		},
		"unclosed everything": {`<div><p>One<p>Two<ul><li>Three<li>Four<h2>Five`, "One\nTwo\nThree\nFour\n\nFive"},
		"table": {
			`<table><tr><th>Week<th>Topic<tr><td>1<td><p>Trees</p><ul><li>binary<li>balanced.<li>red</ul><tr><td></td><td>Graphs</td></table>after`, "Week | Topic\n1 | Trees; binary; balanced. red\nGraphs\nafter",
		},
		"layout table": {
			`<table><tr><td><h1>CS 210</h1><p>Design.</p></td><td><table><tr><td>Week</td><td>1</td></tr></table></td></tr></table>`, "CS 210\nDesign.\nWeek | 1",
		},
		"preformatted": {
			"<h1>CS</h1><pre>\nStudents design databases and write queries that answer the\nquestions of a business.\n\n- " +
				"Normalise schemas\n</pre><p>End",
			"CS\nStudents design databases and write queries that answer the questions of a business.\nNormalise schemas\nEnd",
		},
		"definition list": {`<dl><dt>Credits<dd>3<dt>Level<dd>Two</dl>`, "Credits\n3\nLevel\nTwo"},
		"hidden parts": {
			`<p>Design</p><select><option>a</select><template><p>b</p></template><noscript>c</noscript><svg><text>d</text></svg><iframe>e</iframe><textarea>f</textarea>`, "Design",
		},
		"unknown elements": {`<html><o:p>Design</o:p> <course-card>databases</course-card>`, "Design databases"},
	} {
		wantText(t, name, []byte(c[0]), Hint{Kind: HTML}, c[1])
	}
}

func TestLoginPage(t *testing.T) {
	form := `<form><input name=user><input type="PASSWORD"></form>`
	wantFailure(t, reader, []byte("<html><h1>Sign in</h1>"+form), Hint{}, catalog.LoginRequired)
	page := "<html><main><p>" + strings.Repeat("Students design databases. ", 100) + "</main>" + form
	if got := read(t, []byte(page), Hint{}).Text; !strings.Contains(got, "databases") {
		t.Error("a page with a small login form is taken for a login page")
	}
}

func TestMarkdown(t *testing.T) {
	for name, c := range map[string][2]string{
		"blocks": {
			"Title\n=====\n\nSoft\nbreak and  \nhard break\n\n* one\n* two **bold** `code_x`\n  1. inner\n\n     more\n\n> " +
				"quote\n\n***\n\n    code line\n\n```go\nx := 1\n```\n",
			"Title\nSoft break and\nhard break\none\ntwo bold code_x\ninner\nmore\nquote\ncode line\nx := 1",
		},
		"signs": {
			"# A &amp; B \\* C &#8211; [link](http://x.example \"t\") ![picture](a.png) <http://u.example> ~~old~~ a<br>b " +
				"<span>c</span>", "A & B * C – link http://u.example old a b c",
		},
		"table": {
			"# T\n\n| Week | Topic |\n|---|---|\n| 1 | Trees<br>Graphs |\n| 2 | |\n", "T\nWeek | Topic\n1 | Trees; Graphs\n2",
		},
		"HTML inside": {
			"# T\n\n<details><summary>More</summary>\n<p>Design &amp; test</p>\n</details>\n", "T\nMore\nDesign & test",
		},
		"footnotes": {"# T\n\nText[^1].\n\n[^1]: Note.\n", "T\nText.\nNote."},
		"front matter": {
			"---\ncourse_code: \"est120\"\ncourse_title: \"basics-of-civil-engineering\"\nlanguage: english\n---\n\n## " +
				"outcomes\n\n- a b\n", "est120 basics of civil engineering\n\noutcomes\na b",
		},
		"front matter and a heading": {
			"---\r\ntitle: Other title\r\n---\r\n\r\n# EST 120: Basics\r\n\r\ntext\r\n", "EST 120: Basics\ntext",
		},
	} {
		wantText(t, name, []byte(c[0]), Hint{Name: "a.md"}, c[1])
	}
}

func TestDOCX(t *testing.T) {
	p := func(properties, text string) string {
		return `<w:p><w:pPr>` + properties + `</w:pPr><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`
	}
	cell := func(content string) string { return "<w:tc><w:tcPr/>" + content + "</w:tc>" }
	body := p(`<w:pStyle w:val="Titel"/>`, "CS 210") +
		p(`<w:outlineLvl w:val="1"/><w:tabs><w:tab w:val="left" w:pos="1"/></w:tabs>`, "Outcomes") +
		p(`<w:numPr><w:numId w:val="1"/></w:numPr>`, "Design data") +
		`<w:p><w:r><w:t>Kept </w:t></w:r><w:ins><w:r><w:t>inserted </w:t></w:r></w:ins><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:instrText>PAGEREF</w:instrText></w:r><w:hyperlink><w:r><w:t>link</w:t></w:r></w:hyperlink></w:p>` +
		`<w:p><w:r><w:t>Code:</w:t><w:tab/><w:t>CS</w:t><w:noBreakHyphen/><w:t>210</w:t><w:br/><w:t>Next line &amp; more</w:t></w:r></w:p>` +
		`<w:p><w:r><mc:AlternateContent><mc:Choice><w:drawing><w:txbxContent>` + p("", "In a box") +
		`</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>` + p("", "In a box") +
		`</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent><w:t>Around it</w:t></w:r></w:p>` +
		`<w:tbl><w:tr>` + cell(p("", "1")) + cell(p("", "Trees")+p("", "Graphs")+p("", "")) + `</w:tr><w:tr>` +
		cell(p("", "2")) + cell(`<w:tbl><w:tr>`+cell(p("", "a"))+cell(p("", "b"))+`</w:tr></w:tbl>`) + `</w:tr></w:tbl>` +
		`<w:sdt><w:sdtContent>` + p("", "Controlled") + `</w:sdtContent></w:sdt>` +
		`<w:p><m:oMath><m:r><m:t>E=mc²</m:t></m:r></m:oMath></w:p>`
	data := zipped(t, map[string]string{
		"word/document2.xml": `<w:document><w:body>` + body + `</w:body></w:document>`,
		"word/styles.xml":    `<w:styles><w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>`,
		"word/footnotes.xml": `<w:footnotes><w:footnote>` + p("", "A note.") + `</w:footnote></w:footnotes>`,
		"word/header1.xml":   `<w:hdr>` + p("", "Running head") + `</w:hdr>`,
		"word/comments.xml":  `<w:comments>` + p("", "A comment") + `</w:comments>`,
	})
	wantText(t, "DOCX", data, Hint{},
		"CS 210\n\nOutcomes\nDesign data\nKept inserted link\nCode: | CS-210\nNext line & more\nIn a box\nAround it\n1 | "+
			"Trees; Graphs\n2\na | b\nControlled\nE=mc²\nA note.")
}

func TestText(t *testing.T) {
	wrapped := `CS 210 DATA STRUCTURES

This course introduces the design and the analysis of data struc-
tures. Students implement well-known containers, and compare their
run-time and memory.
Credits:   3
Office:	Room 12

Outcomes
  * Implement lists, queues and trees in a language of your choice,
    and test them.
  * Analyse algorithms.
     - Recursive ones.
  1. Write proofs.
  (b) Read code.
=====================
Monday
Tuesday
`
	wantText(t, "wrapped", []byte(strings.ReplaceAll(wrapped, "\n", "\r\n")), Hint{}, `CS 210 DATA STRUCTURES
This course introduces the design and the analysis of data structures. Students implement well-known containers, and compare their run-time and memory.
Credits: | 3
Office: | Room 12

Outcomes
Implement lists, queues and trees in a language of your choice, and test them.
Analyse algorithms.
Recursive ones.
Write proofs.
Read code.
Monday
Tuesday`)
	long := "Students design relational databases, write queries, normalise schemas and reason about transactions and " +
		"their isolation levels in detail."
	wantText(t, "not wrapped", []byte(long+"\n"+long+"\n"), Hint{}, long+"\n"+long)
}

func TestEncodings(t *testing.T) {
	const text = "Étude – “données”\nnaïve Bayes, fiancé"
	encoded := func(e interface {
		Bytes([]byte) ([]byte, error)
	}) []byte {
		b, err := e.Bytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, c := range map[string]struct {
		data []byte
		hint Hint
	}{
		"UTF-8":                     {[]byte(text), Hint{}},
		"UTF-8 with mark":           {[]byte("\ufeff" + text), Hint{}},
		"UTF-8 declared as Latin-1": {[]byte(text), Hint{ContentType: "text/plain; charset=iso-8859-1"}},
		"decomposed": {
			[]byte(strings.NewReplacer("É", "E\u0301", "é", "e\u0301", "ï", "i\u0308", "fi", "ﬁ").Replace(text)), Hint{},
		},
		"UTF-16 little, mark": {encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()), Hint{}},
		"UTF-16 big, mark":    {encoded(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder()), Hint{}},
		"UTF-16 little": {
			encoded(unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder()), Hint{ContentType: "text/plain"},
		},
		"UTF-16 big":   {encoded(unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder()), Hint{}},
		"Windows-1252": {encoded(charmap.Windows1252.NewEncoder()), Hint{}},
		"Windows-1252 said UTF-8": {
			encoded(charmap.Windows1252.NewEncoder()), Hint{ContentType: "text/plain; charset=utf-8"},
		},
		"Windows-1252 said ISO": {
			encoded(charmap.Windows1252.NewEncoder()), Hint{ContentType: "text/plain; charset=ISO-8859-1"},
		},
		"Mac, declared": {
			encoded(charmap.Macintosh.NewEncoder()), Hint{ContentType: "text/plain; charset=macintosh"},
		},
		"HTML in UTF-16": {
			encoded(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder()), Hint{Kind: Text},
		},
		"zero width and soft hyphens": {[]byte(strings.ReplaceAll(text, "n", "\u200bn\u00ad")), Hint{}},
	} {
		wantText(t, name, c.data, c.hint, text)
	}
	meta, err := charmap.Windows1251.NewEncoder().String(`<html><head><meta charset="windows-1251"></head><p>Проектирование баз данных`)
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "HTML meta", []byte(meta), Hint{}, "Проектирование баз данных")
}

// The bytes tell the kind; the declared type and the name only break ties.
func TestSniff(t *testing.T) {
	pdf, docx := asPDF(course, "", ""), asDOCX(t, course)
	for name, c := range map[string]struct {
		data []byte
		hint Hint
		want Kind
	}{
		"PDF said HTML":          {pdf, Hint{ContentType: "text/html", Name: "a.html"}, PDF},
		"PDF after noise":        {append([]byte("HTTP junk\r\n"), pdf...), Hint{}, PDF},
		"DOCX said PDF":          {docx, Hint{ContentType: "application/pdf", Name: "a.pdf"}, DOCX},
		"HTML said PDF":          {[]byte("<!DOCTYPE html><p>x"), Hint{ContentType: "application/pdf"}, HTML},
		"HTML after a comment":   {[]byte("\n<!-- saved --> <HTML lang=en><p>x"), Hint{}, HTML},
		"XHTML":                  {[]byte(`<?xml version="1.0"?><!DOCTYPE html PUBLIC "x"><html/>`), Hint{}, HTML},
		"HTML fragment declared": {[]byte("CS 210 <b>Data</b>"), Hint{ContentType: "text/html; charset=utf-8"}, HTML},
		"HTML fragment by name":  {[]byte("CS 210 <b>Data</b>"), Hint{Name: "frag.HTM"}, HTML},
		"HTML fragment":          {[]byte("<h2>Learning Outcomes</h2><p>x"), Hint{}, HTML},
		"text named HTML":        {[]byte("CS 210 Data"), Hint{Name: "a.html"}, Text},
		"text in brackets":       {[]byte("<Insert the title here>"), Hint{}, Text},
		"text said HTML":         {[]byte("CS 210 Data"), Hint{ContentType: "text/html"}, Text},
		"text like a bitmap":     {[]byte("BMGT 301 Management"), Hint{}, Text},
		"Markdown by name":       {[]byte("text"), Hint{Name: "https://x.example/a.MD"}, Markdown},
		"Markdown declared":      {[]byte("text"), Hint{ContentType: "text/markdown; charset=utf-8"}, Markdown},
		"text said PDF":          {[]byte("text"), Hint{ContentType: "application/pdf", Name: "a.pdf"}, Text},
	} {
		if got, err := sniff(c.data, c.hint); got != c.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.want)
		}
	}
	for _, c := range []struct {
		kind Kind
		data []byte
	}{{PDF, docx}, {DOCX, pdf}, {PDF, []byte("text")}, {DOCX, []byte("text")}} {
		wantFailure(t, reader, c.data, Hint{Kind: c.kind}, catalog.Malformed)
	}
	for s, want := range map[string]Kind{"": Auto, "PDF": PDF, "md": Markdown, "text": Text} {
		if got, err := ParseKind(s); got != want || err != nil {
			t.Errorf("kind %q: %q, %v", s, got, err)
		}
	}
	if _, err := ParseKind("doc"); err == nil {
		t.Error("kind doc is taken")
	}
}

func TestReadWithoutTime(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, data := range [][]byte{asPDF(course, "", ""), []byte("<html>" + strings.Repeat("<p>Students design.", 1000))} {
		_, err := reader.Read(ctx, data, Hint{})
		if failure, ok := err.(*catalog.Failure); !ok || failure.Code != catalog.TimedOut {
			t.Errorf("got %v", err)
		}
	}
}

func TestHyphens(t *testing.T) {
	words := hyphens{words: map[string]bool{"cooperation": true, "e-learning": true}, divides: true}
	for _, c := range []struct{ text, next, want string }{
		{"data struc-", "tures", "data structures"},
		{"problem-", "solving skills", "problem-solving skills"},
		{"co-", "operation, and", "cooperation, and"},
		{"e-", "learning", "e-learning"},
		{"pre-", "and post-tests", "pre- and post-tests"},
		{"non-", "English", "non-English"},
		{"1990-", "2000", "1990-2000"},
		{"Euler–", "Lagrange", "Euler–Lagrange"},
		{"rule-", "based", "rule-based"},
		{"K-", "means", "K-means"},
		{"trees –", "and graphs", "trees – and graphs"},
		{"end", "begin", "end begin"},
		{"a -", "b", "a - b"},
	} {
		between, dehyphenate := words.glue(c.text, c.next)
		got := c.text
		if dehyphenate {
			got = strings.TrimSuffix(got, "-")
		}
		if got += between + c.next; got != c.want {
			t.Errorf("%q + %q: got %q, want %q", c.text, c.next, got, c.want)
		}
	}
}

func TestUnmarked(t *testing.T) {
	for text, want := range map[string]string{
		"• Design": "Design", "- Design": "Design", "•Design": "Design", "1. Design": "Design", "(iv) Design": "Design",
		"b) Design":  "Design",
		"12) Design": "Design", "2.1 Trees": "Trees", "1. | Trees": "Trees", "o Design": "Design", "1. • Trees": "Trees",
		"2.5 hours a week": "2.5 hours a week", "C. elegans": "C. elegans", "C++ and C#": "C++ and C#",
		"-5 degrees": "-5 degrees", "e.g. trees": "e.g. trees",
		"R programming": "R programming", "2019. A year": "2019. A year", "CO1: Explain": "CO1: Explain", ".NET": ".NET",
		"Mr. X": "Mr. X", "1.": "1.",
	} {
		if got := unmarked(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestRaggedLinesOfPDF joins lines that end before the margin where the words of a sentence run on.
func TestRaggedLinesOfPDF(t *testing.T) {
	w := &pdfWriter{}
	wide := []string{"This line of the document is as wide as its column and runs on, as others do,", "to the next."}
	y, want := pdfTop, ""
	for _, paragraph := range [][]string{
		wide, wide, wide, wide,
		{"Know about inertial frames and how they relate to accelerating", "(non-inertial frames)"},
		{"Recall the role of a civil engineer in the disciplines of", "Civil Engineering."},
		{"apply loops"}, {"Explain loops.", "write programs"},
	} {
		for _, line := range paragraph {
			w.show("F1", 10, pdfLeft, y, line)
			y -= 12
		}
		y -= 12
		want += strings.Join(paragraph, " ") + "\n"
	}
	want = strings.Replace(want, "loops. write", "loops.\nwrite", 1) // too short to be wrapped
	if got := strings.TrimSpace(read(t, w.bytes(), Hint{Name: "a.pdf"}).Text) + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
