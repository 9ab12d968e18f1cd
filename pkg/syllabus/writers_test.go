package syllabus

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"fmt"
	"html"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
)

// The writers make the documents that the readers read, from one list of blocks.

// pdfWriter writes PDFs in Courier, whose characters are all equally wide, so that
// lines wrap where a word processor would wrap them.
type pdfWriter struct {
	pages   []string // content streams
	head    string   // running head of each page; %d is the page number
	foot    string
	content strings.Builder
	y       float64
}

const (
	pdfTop    = 740.0
	pdfBottom = 70.0
	pdfLeft   = 60.0
	pdfRight  = 550.0
)

func (w *pdfWriter) show(font string, size, x, y float64, text string) {
	latin, err := charmap.Windows1252.NewEncoder().String(text)
	if err != nil {
		panic(err)
	}
	escaped := strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(latin)
	fmt.Fprintf(&w.content, "BT /%s %g Tf 1 0 0 1 %g %g Tm (%s) Tj ET\n", font, size, x, y, escaped)
}

func (w *pdfWriter) endPage() {
	page := len(w.pages) + 1
	if w.head != "" {
		w.show("F1", 8, pdfLeft, 770, w.head)
	}
	if w.foot != "" {
		w.show("F1", 8, 280, 30, strings.ReplaceAll(w.foot, "%d", fmt.Sprint(page)))
	}
	w.pages = append(w.pages, w.content.String())
	w.content.Reset()
	w.y = pdfTop
}

// wrap breaks a text where a line of the width is full.
func wrap(text string, columns int) []string {
	var lines []string
	current := ""
	for _, word := range strings.Fields(text) {
		if current != "" && len([]rune(current))+1+len([]rune(word)) > columns {
			lines = append(lines, current)
			current = ""
		}
		if current != "" {
			current += " "
		}
		current += word
	}
	return append(lines, current)
}

func (w *pdfWriter) paragraph(font string, size, x, right, above float64, bullet, text string) {
	w.y -= above
	columns := int((right - x) / (size * 0.6))
	for i, l := range wrap(text, columns) {
		if w.y < pdfBottom {
			w.endPage()
		}
		if i == 0 && bullet != "" {
			w.show(font, size, x-15, w.y, bullet)
		}
		w.show(font, size, x, w.y, l)
		w.y -= size * 1.2
	}
}

func (w *pdfWriter) row(cells []string) {
	w.y -= 4
	if w.y < pdfBottom+60 {
		w.endPage()
	}
	top, lowest := w.y, w.y
	width := (pdfRight - pdfLeft) / float64(len(cells))
	for i, c := range cells {
		w.y = top
		w.paragraph("F1", 10, pdfLeft+float64(i)*width, pdfLeft+float64(i+1)*width-12, 0, "", c)
		lowest = min(lowest, w.y)
	}
	w.y = lowest
}

func (w *pdfWriter) bytes() []byte {
	if w.content.Len() > 0 || len(w.pages) == 0 {
		w.endPage()
	}
	return pdfFile(w.pages, "")
}

// pdfFile writes the syntax around content streams; trailer is added to the
// trailer dictionary.
func pdfFile(contents []string, trailer string) []byte {
	var objects []string
	var kids []string
	const first = 6 // objects before the pages
	for i := range contents {
		kids = append(kids, fmt.Sprintf("%d 0 R", first+2*i))
	}
	objects = append(objects,
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(contents), strings.Join(kids, " ")),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>",
		"<< /Type /Font /Subtype /Type1 /BaseFont /Courier-Bold /Encoding /WinAnsiEncoding >>",
		"<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 "+
			">>\nstream\n\x80\nendstream",
	)
	for i, c := range contents {
		var packed bytes.Buffer
		z := zlib.NewWriter(&packed)
		_, _ = z.Write([]byte(c))
		_ = z.Close()
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 3 0 "+
				"R /F2 4 0 R >> /XObject << /Im 5 0 R >> >> >>", first+2*i+1),
			fmt.Sprintf("<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream", packed.Len(), packed.String()))
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
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
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return out.Bytes()
}

func asPDF(blocks []block, head, foot string) []byte {
	w := &pdfWriter{head: head, foot: foot, y: pdfTop}
	for _, b := range blocks {
		switch b.kind {
		case heading:
			w.paragraph("F2", max(11, 20-3*float64(b.level)), pdfLeft, pdfRight, 10, "", b.text)
		case item:
			w.paragraph("F1", 10, pdfLeft+15, pdfRight, 1, "•", b.text)
		case row:
			w.row(strings.Split(b.text, "\t"))
		default:
			w.paragraph("F1", 10, pdfLeft, pdfRight, 6, "", b.text)
		}
	}
	return w.bytes()
}

func asText(blocks []block) []byte {
	var out strings.Builder
	before := heading
	for i, b := range blocks {
		if i > 0 && (b.kind == heading || b.kind == paragraph || b.kind != before) {
			out.WriteByte('\n')
		}
		before = b.kind
		switch b.kind {
		case item:
			out.WriteString("- " + strings.Join(wrap(b.text, 70), "\n  ") + "\n")
		case row:
			out.WriteString(b.text + "\n")
		default:
			out.WriteString(strings.Join(wrap(b.text, 72), "\n") + "\n")
		}
	}
	return []byte(out.String())
}

func asHTML(blocks []block) []byte {
	var out strings.Builder
	out.WriteString("<!DOCTYPE html><html><head><meta " +
		"charset=utf-8><title>Syllabus</title><style>p{margin:0}</style></head><body><nav><a href=/>Home</a><a " +
		"href=/courses>Courses</a></nav><main>")
	before := heading
	for _, b := range append(blocks, block{kind: heading, level: 6}) {
		if before != b.kind {
			out.WriteString(map[blockKind]string{item: "</ul>", row: "</table>"}[before] + map[blockKind]string{
				item: "<ul>", row: "<table>",
			}[b.kind])
		}
		before = b.kind
		text := html.EscapeString(b.text)
		switch b.kind {
		case heading:
			fmt.Fprintf(&out, "<h%d>%s</h%d>\n", b.level, text, b.level)
		case item:
			fmt.Fprintf(&out, "<li>%s</li>\n", text)
		case row:
			fmt.Fprintf(&out, "<tr><td>%s</td></tr>\n", strings.ReplaceAll(text, "\t", "</td>\n<td>"))
		default:
			fmt.Fprintf(&out, "<p>%s</p>\n", strings.ReplaceAll(text, ", ", ",\n"))
		}
	}
	out.WriteString("</main><footer>Copyright of the college</footer><script>track()</script></body></html>")
	return []byte(out.String())
}

const wordNamespace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"`

func asDOCX(t testing.TB, blocks []block) []byte {
	var body strings.Builder
	before := heading
	for _, b := range append(blocks, block{kind: heading, level: 1}) {
		if before != row && b.kind == row {
			body.WriteString("<w:tbl><w:tblPr/>")
		}
		if before == row && b.kind != row {
			body.WriteString("</w:tbl>")
		}
		before = b.kind
		var text bytes.Buffer
		// Word divides a paragraph into runs wherever it likes.
		for i, part := range strings.SplitAfter(b.text, "a") {
			if i%2 == 1 {
				text.WriteString("<w:r><w:rPr><w:b/></w:rPr>")
			} else {
				text.WriteString("<w:r>")
			}
			text.WriteString(`<w:t xml:space="preserve">` +
				strings.ReplaceAll(html.EscapeString(part), "\t", "</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>") +
				"</w:t></w:r>")
		}
		switch b.kind {
		case heading:
			fmt.Fprintf(&body, `<w:p><w:pPr><w:pStyle w:val="Kop%d"/></w:pPr>%s</w:p>`, b.level, text.String())
		case item:
			fmt.Fprintf(&body, `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>%s</w:p>`,
				text.String())
		case row:
			fmt.Fprintf(&body, "<w:tr><w:tc><w:p>%s</w:p></w:tc></w:tr>", text.String())
		default:
			fmt.Fprintf(&body, "<w:p>%s</w:p>", text.String())
		}
	}
	var styles strings.Builder
	for level := 1; level <= 6; level++ {
		fmt.Fprintf(&styles, `<w:style w:type="paragraph" w:styleId="Kop%d"><w:name w:val="heading %d"/></w:style>`, level,
			level)
	}
	return zipped(t, map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"word/document.xml": `<?xml version="1.0" encoding="UTF-8"?><w:document ` + wordNamespace + `><w:body>` +
			body.String() + `</w:body></w:document>`,
		"word/styles.xml": `<w:styles ` + wordNamespace + `>` + styles.String() + `</w:styles>`,
	})
}

func zipped(t testing.TB, files map[string]string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, content := range files {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
