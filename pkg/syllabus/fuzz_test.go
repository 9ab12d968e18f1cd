package syllabus

import (
	"context"
	"errors"
	"os"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// fuzz reads any bytes as one kind: what comes out keeps the rules of a document or
// is a failure that says something.
func fuzz(f *testing.F, kind Kind) {
	f.Fuzz(func(t *testing.T, data []byte, course string) {
		doc, err := reader.Read(context.Background(), data, Hint{Kind: kind, Course: course})
		if err == nil {
			checkDocument(t, doc)
			return
		}
		var failure *catalog.Failure
		if !errors.As(err, &failure) || failure.Message == "" || failure.Code == catalog.InternalFailure {
			t.Errorf("got %v", err)
		}
	})
}

// seed adds what costs careless readers too much, in small.
func seed(f *testing.F, kind Kind) {
	for _, r := range hostile {
		if r.kind == kind {
			f.Add(r.bytes(f, 2), "Databases")
		}
	}
}

func FuzzPDF(f *testing.F) {
	f.Add(asPDF(course, "head", "%d"), "")
	f.Add(pdfFile([]string{"q /Im Do Q"}, ""), "CS 210")
	seed(f, PDF)
	fuzz(f, PDF)
}

func FuzzDOCX(f *testing.F) {
	f.Add(asDOCX(f, course), "")
	f.Add(docxWith(f, "<w:tbl><w:tr><w:tc><w:tbl/></w:tc></w:tr></w:tbl><w:p><w:br/></w:p>"), "CS 210")
	seed(f, DOCX)
	fuzz(f, DOCX)
}

// FuzzDOCXBody reads any XML, which mutations of an archive hardly reach.
func FuzzDOCXBody(f *testing.F) {
	for _, body := range []string{
		"<w:p><w:r><w:t>a</w:t></w:r></w:p>", "<tbl><tr><tc><p><r><t>a</t><br/><tab/></r></p></tc></tr></tbl>",
		"</tc></tr></tbl></p>", "<tc><tc></tc>", "<p><p><pPr><numPr/></p></p>", "<del><t>a</del>",
		"<p><p/><r><t>a</t></r></p>", "<tbl><tc/><tr><tc/><tc><p><r><t>a</t></r></p></tc></tbl>",
		"&amp;&#65;&lol;<!DOCTYPE a><?x?><!--",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		doc, err := reader.Read(context.Background(), docxWith(t, body), Hint{Kind: DOCX})
		if err == nil {
			checkDocument(t, doc)
		}
	})
}

func FuzzHTML(f *testing.F) {
	f.Add(asHTML(course), "")
	f.Add([]byte("<table><tr><td><table><td>a</table><main><pre>x\ty</pre></header><li>"), "CS 210")
	f.Add([]byte("<header></main><h1><br>a<script><!--"), "")
	seed(f, HTML)
	fuzz(f, HTML)
}

func FuzzMarkdown(f *testing.F) {
	f.Add([]byte(tabled), "NUR 210")
	f.Add([]byte("---\ntitle: x\n---\n> - a\n\n<div>\n[^1]: b\n"), "")
	seed(f, Markdown)
	fuzz(f, Markdown)
}

func FuzzText(f *testing.F) {
	f.Add(asText(course), "CS 210")
	f.Add([]byte("a-\nb\t\tc   d\r\n\xff\x00\n• \u00ad\n(iv) x"), "")
	seed(f, Text)
	fuzz(f, Text)
}

// FuzzAuto lets the bytes choose.
func FuzzAuto(f *testing.F) {
	for _, data := range [][]byte{
		asPDF(course, "", ""), asDOCX(f, course), asHTML(course), asText(course), []byte(tabled), []byte("\xff\xfea\x00"),
	} {
		f.Add(data, "")
	}
	if self, err := os.ReadFile("fuzz_test.go"); err == nil {
		f.Add(self, "")
	}
	fuzz(f, Auto)
}
