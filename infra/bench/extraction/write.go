package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"html"
	"slices"
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
	body.WriteString(`<?xml version="1.0"?>` +
		`<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>`)
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
	if w, err := z.Create("word/document.xml"); err == nil { // a bytes.Buffer never refuses a write
		w.Write(document)
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
	type set struct{ font, text string }
	const body, head = "F1 10", "F2 14"
	var lines []set
	font := head
	for block := range strings.Lines(text) {
		if strings.TrimSpace(block) == "" {
			font = head
			lines = append(lines, set{})
			continue
		}
		line := ""
		for word := range strings.FieldsSeq(block) {
			if len(line)+len(word)+1 > lineLetters && line != "" {
				lines = append(lines, set{font, line})
				line = ""
			}
			line = strings.TrimPrefix(line+" "+word, " ")
		}
		lines = append(lines, set{font, line})
		if font == body {
			lines = append(lines, set{}) // paragraphs stand apart
		}
		font = body
	}
	objects := []string{
		"<< /Type /Catalog /Pages 2 0 R >>", "", // the pages, once they are there
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
	}
	kids := ""
	for page := range slices.Chunk(lines, pageLines) {
		var content strings.Builder
		for i, l := range page {
			fmt.Fprintf(&content, "BT /%s Tf 50 %d Td (%s) Tj ET\n", cmp.Or(l.font, body), 790-i*15, escapedPDF(l.text))
		}
		n := len(objects) + 1
		kids += fmt.Sprintf("%d 0 R ", n)
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> "+
				">> /Contents %d 0 R >>", n+1),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", content.Len(), content.String()))
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.TrimSpace(kids), (len(objects)-4)/2)
	var out, table strings.Builder
	out.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		fmt.Fprintf(&table, "%010d 00000 n \n", out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	size := len(objects) + 1
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n",
		size, table.String(), size, out.Len())
	return []byte(out.String())
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
