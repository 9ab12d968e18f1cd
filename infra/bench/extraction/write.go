package main

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"html"
	"strings"

	"golang.org/x/text/encoding/charmap"

	"skillscurriculum/pkg/syllabus"
)

// written returns the text of a document, one block a line with an empty line before
// each heading, in every format that the service reads.
func written(text string) map[syllabus.Kind][]byte {
	var page, md strings.Builder
	page.WriteString("<!doctype html><html><head><title>Syllabus</title></head><body><main>")
	var body bytes.Buffer
	body.WriteString(`<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`)
	heading := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			heading = true
			continue
		}
		tag, mark, style := "p", "", ""
		if heading {
			tag, mark, style = "h2", "## ", `<w:pPr><w:pStyle w:val="Heading2"/></w:pPr>`
		}
		fmt.Fprintf(&page, "<%s>%s</%s>\n", tag, html.EscapeString(line), tag)
		fmt.Fprintf(&md, "%s%s\n\n", mark, line)
		body.WriteString("<w:p>" + style + "<w:r><w:t>")
		xml.EscapeText(&body, []byte(line))
		body.WriteString("</w:t></w:r></w:p>")
		heading = false
	}
	page.WriteString("</main></body></html>")
	body.WriteString("</w:body></w:document>")
	return map[syllabus.Kind][]byte{
		syllabus.Text: []byte(text), syllabus.HTML: []byte(page.String()), syllabus.Markdown: []byte(md.String()),
		syllabus.DOCX: writtenDOCX(body.Bytes()), syllabus.PDF: writtenPDF(text),
	}
}

func writtenDOCX(document []byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, part := range []struct {
		name string
		body []byte
	}{
		{"[Content_Types].xml", []byte(`<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`)},
		{"_rels/.rels", []byte(`<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`)},
		{"word/document.xml", document},
	} {
		// A bytes.Buffer never refuses a write.
		if w, err := z.Create(part.name); err == nil {
			w.Write(part.body)
		}
	}
	z.Close()
	return out.Bytes()
}

const (
	pageLines   = 50
	lineLetters = 92
)

// writtenPDF sets the text in Helvetica, headings in bold, on as many pages as it needs.
func writtenPDF(text string) []byte {
	type set struct {
		text    string
		heading bool
	}
	var lines []set
	heading := true
	for block := range strings.Lines(text) {
		block = strings.TrimSpace(block)
		if block == "" {
			heading = true
			lines = append(lines, set{})
			continue
		}
		line := ""
		for word := range strings.FieldsSeq(block) {
			if len(line)+len(word)+1 > lineLetters && line != "" {
				lines = append(lines, set{line, heading})
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, set{line, heading})
		if !heading {
			lines = append(lines, set{}) // paragraphs stand apart
		}
		heading = false
	}
	var objects []string
	var kids []string
	for from := 0; from < len(lines); from += pageLines {
		var content strings.Builder
		for i, l := range lines[from:min(len(lines), from+pageLines)] {
			font := "F1 10"
			if l.heading {
				font = "F2 14"
			}
			fmt.Fprintf(&content, "BT /%s Tf 50 %d Td (%s) Tj ET\n", font, 790-i*15, escapedPDF(l.text))
		}
		n := 5 + len(objects)
		kids = append(kids, fmt.Sprintf("%d 0 R", n))
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents %d 0 R >>", n+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", content.Len(), content.String()))
	}
	objects = append([]string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(kids)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
	}, objects...)
	var out bytes.Buffer
	out.WriteString("%PDF-1.4\n")
	var offsets []int
	for i, o := range objects {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return out.Bytes()
}

// escapedPDF returns a text in WinAnsi with the marks of a PDF string escaped;
// letters that it lacks become question marks.
func escapedPDF(s string) string {
	var b strings.Builder
	for _, r := range s {
		c, ok := charmap.Windows1252.EncodeRune(r)
		switch {
		case !ok:
			b.WriteByte('?')
		case c == '(' || c == ')' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
