package syllabus

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"skillscurriculum/pkg/catalog"
)

var course = []block{
	{kind: heading, level: 1, text: "CS 210 Data Structures"},
	{kind: paragraph, text: "Students design and analyse data structures in a modern language."},
	{kind: item, text: "Implement lists, trees and hash tables."},
	{kind: item, text: "Analyse the running time of algorithms."},
}

func TestPDFFailures(t *testing.T) {
	whole := asPDF(course, "", "")
	picture := pdfFile([]string{"q 600 0 0 700 0 0 cm /Im Do Q", "q 600 0 0 700 0 0 cm /Im Do Q"}, "")
	stamped := pdfFile([]string{"q 600 0 0 700 0 0 cm /Im Do Q BT /F1 8 Tf 300 20 Td (Page 1 of 1) Tj ET"}, "")
	encrypted := pdfFile([]string{"BT /F1 10 Tf (text) Tj ET"},
		fmt.Sprintf("/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -44 /O <%s> /U <%s> >> /ID [<00> <00>]",
			strings.Repeat("41", 32), strings.Repeat("42", 32)))
	otherHandler := pdfFile([]string{"BT /F1 10 Tf (text) Tj ET"},
		"/Encrypt << /Filter /Adobe.PubSec /V 4 >> /ID [<00> <00>]")
	for name, c := range map[string]struct {
		data []byte
		code catalog.FailureCode
	}{
		"pictures only":          {picture, catalog.ScannedNoText},
		"a picture and a stamp":  {stamped, catalog.ScannedNoText},
		"nothing on the pages":   {pdfFile([]string{"", ""}, ""), catalog.EmptyDocument},
		"password":               {encrypted, catalog.Encrypted},
		"other security handler": {otherHandler, catalog.Encrypted},
		"301 pages":              {pdfFile(make([]string, 301), ""), catalog.TooLarge},
		"no pages":               {pdfFile(nil, ""), catalog.Malformed},
		"cut after the header":   {whole[:40], catalog.Malformed},
		"header only":            {[]byte("%PDF-1.7\n"), catalog.Malformed},
		"header and noise": {
			append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte{0, 255, 13, 7}, 1000)...), catalog.Malformed,
		},
	} {
		t.Run(name, func(t *testing.T) { wantFailure(t, reader, c.data, Hint{Name: name}, c.code) })
	}
	missing := bytes.Replace(pdfFile([]string{"BT /F1 10 Tf 60 700 Td (Students design and analyse data structures.) Tj ET", ""}, ""), []byte("8 0 R]"), []byte("99 0 R]"), 1)
	if got := read(t, missing, Hint{}).Text; !strings.Contains(got, "Students design") {
		t.Errorf("with one of two pages missing: %q", got)
	}
	// PDFium mends a file that lost its end as long as the pages are there.
	_, err := reader.Read(context.Background(), whole[:len(whole)*9/10], Hint{})
	if err != nil && err.(*catalog.Failure).Code != catalog.Malformed {
		t.Errorf("cut: %v", err)
	}
	if got := read(t, whole, Hint{}).Text; !strings.Contains(got, "hash tables") {
		t.Errorf("after all that, a good document reads as %q", got)
	}
}

func TestPDFPages(t *testing.T) {
	var contents []string
	for i := range 300 {
		// What stands at the same height everywhere would be a running head.
		contents = append(contents, fmt.Sprintf("BT /F1 10 Tf 60 %d Td (This is what stands on sheet %d.) Tj ET",
			50+i*37%650, i+1))
	}
	doc := read(t, pdfFile(contents, ""), Hint{})
	if len(doc.Pages) != 300 {
		t.Fatalf("got %d pages", len(doc.Pages))
	}
	for i, at := range doc.Pages {
		if want := fmt.Sprintf("This is what stands on sheet %d.", i+1); !strings.HasPrefix(doc.Text[at:], want) {
			t.Fatalf("page %d begins with %.40q", i+1, doc.Text[at:])
		}
	}
}

// Pages that all say the same are no pages of running heads; a stamp on pictures is one.
func TestPDFSamePages(t *testing.T) {
	const text = "BT /F1 10 Tf 60 700 Td (Students design and analyse data structures.) Tj ET"
	for _, pages := range []int{2, 300} {
		var contents []string
		for i := range pages {
			contents = append(contents, fmt.Sprintf("%s BT /F1 10 Tf 60 30 Td (Sheet %d) Tj ET", text, i+1))
		}
		doc := read(t, pdfFile(contents, ""), Hint{})
		if got := strings.Count(doc.Text, "Students design and analyse data structures."); got != pages {
			t.Errorf("%d of %d pages were read", got, pages)
		}
	}
	const picture = " q 500 0 0 700 50 50 cm BI /W 1 /H 1 /CS /G /BPC 8 ID 0 EI Q"
	wantFailure(t, reader, pdfFile([]string{text + picture, text + picture}, ""), Hint{}, catalog.ScannedNoText)
}

// A document that takes too much memory or time is given up, and the next is read.
func TestPDFGivenUp(t *testing.T) {
	r := &Reader{limits: bounds{memory: 64 << 20, parse: time.Hour}}
	defer r.Close()
	good := asPDF(course, "", "")
	next := func() {
		t.Helper()
		if doc, err := r.Read(context.Background(), good, Hint{}); err != nil || !strings.Contains(doc.Text, "hash tables") {
			t.Fatalf("the next document: %v", err)
		}
	}
	next()
	// Behind a good page, one of a few bytes that holds 400,000 words.
	fat := pdfFile([]string{
		"BT /F1 10 Tf 60 700 Td (Students design and analyse data structures.) Tj ET",
		strings.Repeat("BT /F1 10 Tf 60 700 Td (text) Tj ET\n", 400_000),
	}, "")
	wantFailure(t, r, fat, Hint{}, catalog.TooLarge)
	next()

	r.limits.parse = 50 * time.Millisecond
	wantFailure(t, r, fat, Hint{}, catalog.TooLarge)
	r.limits.parse = time.Hour
	next()

	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err := r.Read(ctx, fat, Hint{})
	if failure, ok := err.(*catalog.Failure); !ok || failure.Code != catalog.TimedOut {
		t.Errorf("a caller without time: %v", err)
	}
	next()
}

func docxWith(t testing.TB, body string) []byte {
	return zipped(t, map[string]string{"word/document.xml": `<w:document ` + wordNamespace + `><w:body>` + body +
		`</w:body></w:document>`})
}

func TestDOCXFailures(t *testing.T) {
	paragraph := "<w:p><w:r><w:t>Students design databases.</w:t></w:r></w:p>"
	whole := docxWith(t, paragraph)
	laughs := `<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;&lol;"><!ENTITY lol2 "&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;&lol1;">]><w:document ` + wordNamespace + `><w:body><w:p><w:r><w:t>&lol2;</w:t></w:r></w:p></w:body></w:document>`
	file := `<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]><w:document ` + wordNamespace +
		`><w:body><w:p><w:r><w:t>&x;</w:t></w:r></w:p></w:body></w:document>`
	encryptedEntry := bytes.Replace(bytes.Clone(whole), []byte("PK\x01\x02\x14\x00\x14\x00\x08"),
		[]byte("PK\x01\x02\x14\x00\x14\x00\x09"), -1)
	many := map[string]string{"word/document.xml": "<w:document/>"}
	for i := range zipEntries {
		many[fmt.Sprint(i)] = ""
	}
	const types = `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/d.xml" ` +
		`ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`
	office := append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 2000)...)
	for _, c := range utf16.Encode([]rune("EncryptedPackage")) {
		office = binary.LittleEndian.AppendUint16(office, c)
	}
	for name, c := range map[string]struct {
		data []byte
		code catalog.FailureCode
	}{
		"zip bomb":           {docxWith(t, "<w:p>"+strings.Repeat(" ", 60<<20)), catalog.TooLarge},
		"bomb by ratio":      {docxWith(t, "<w:p>"+strings.Repeat(" ", 5<<20)), catalog.TooLarge},
		"text without end":   {docxWith(t, "<w:p><w:r><w:t>"+noise(5<<20)+"</w:t></w:r></w:p>"), catalog.TooLarge},
		"too many files":     {zipped(t, many), catalog.TooLarge},
		"ends without start": {docxWith(t, strings.Repeat("<w:p></w:x>", 2000)+paragraph), catalog.Malformed},
		"deep nesting":       {docxWith(t, strings.Repeat("<w:p>", 2000)), catalog.Malformed},
		"billion laughs":     {zipped(t, map[string]string{"word/document.xml": laughs}), catalog.Malformed},
		"external entity":    {zipped(t, map[string]string{"word/document.xml": file}), catalog.Malformed},
		"XML cut short": {
			zipped(t, map[string]string{"word/document.xml": "<w:document><w:body><w:p>"}), catalog.Malformed,
		},
		"no XML":            {zipped(t, map[string]string{"word/document.xml": "a < b & c"}), catalog.Malformed},
		"archive cut short": {whole[:len(whole)/2], catalog.Malformed},
		"no parts":          {zipped(t, map[string]string{"[Content_Types].xml": types}), catalog.Malformed},
		"other parts": {
			zipped(t, map[string]string{"[Content_Types].xml": types, "a.txt": "text"}), catalog.Malformed,
		},
		"encrypted entry":     {encryptedEntry, catalog.Encrypted},
		"encrypted by Office": {office, catalog.Encrypted},
		"empty paragraphs":    {docxWith(t, "<w:p/><w:p><w:r><w:t> </w:t></w:r></w:p>"), catalog.EmptyDocument},
		"pictures only":       {docxWith(t, "<w:p><w:r><w:drawing/></w:r></w:p>"), catalog.EmptyDocument},
	} {
		t.Run(name, func(t *testing.T) { wantFailure(t, reader, c.data, Hint{Name: name}, c.code) })
	}
	// Cut before the name of its main part, or not an archive at all.
	for _, data := range [][]byte{whole[:20], []byte("PK\x03\x04 and noise")} {
		for _, hint := range []Hint{
			{Name: "https://a.example/Syllabus.DOCX"},
			{ContentType: "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
		} {
			wantFailure(t, reader, data, hint, catalog.Malformed)
		}
		wantFailure(t, reader, data, Hint{}, catalog.UnsupportedType)
	}
}

// noise is text that does not compress well.
func noise(n int) string {
	var out strings.Builder
	for x := uint32(1); out.Len() < n; {
		x = x*1664525 + 1013904223
		fmt.Fprintf(&out, "%x ", x)
	}
	return out.String()
}

func TestUnsupported(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("Students design databases."))
	_ = z.Close()
	png := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
		binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(nil))...)
	for name, c := range map[string]struct {
		data []byte
		hint Hint
	}{
		"image":             {png, Hint{}},
		"image called PDF":  {png, Hint{ContentType: "application/pdf", Name: "a.pdf"}},
		"JPEG":              {[]byte("\xff\xd8\xff\xe0\x00\x10JFIF\x00"), Hint{}},
		"archive":           {zipped(t, map[string]string{"a.txt": "text"}), Hint{}},
		"empty archive":     {append([]byte("PK\x05\x06"), make([]byte, 18)...), Hint{}},
		"spreadsheet":       {zipped(t, map[string]string{"xl/workbook.xml": "<x/>"}), Hint{Name: "a.docx"}},
		"called a document": {zipped(t, map[string]string{"[Content_Types].xml": "<Types/>"}), Hint{Name: "a.docx"}},
		"slides":            {zipped(t, map[string]string{"ppt/presentation.xml": "<x/>"}), Hint{}},
		"open document": {
			zipped(t, map[string]string{"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}), Hint{},
		},
		"old Word": {
			append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 2000)...), Hint{
				ContentType: "application/msword", Name: "a.doc",
			},
		},
		"program": {
			append([]byte("MZ\x90\x00\x03\x00\x00\x00"), make([]byte, 100)...), Hint{ContentType: "text/plain"},
		},
		"ELF": {
			append([]byte("\x7fELF\x02\x01\x01\x00"), make([]byte, 100)...), Hint{ContentType: "text/html"},
		},
		"gzip":                {packed.Bytes(), Hint{Name: "a.txt"}},
		"RTF":                 {[]byte(`{\rtf1\ansi Students design databases.}`), Hint{}},
		"PostScript":          {[]byte("%!PS-Adobe-3.0\nshowpage"), Hint{}},
		"other XML":           {[]byte(`<?xml version="1.0"?><rss><channel/></rss>`), Hint{ContentType: "text/html"}},
		"JSON":                {[]byte(`{"error":"no such course"}`), Hint{ContentType: "application/json"}},
		"noise without zeros": {bytes.Repeat([]byte("\x01\x02\x80\x1f\xff"), 100), Hint{}},
	} {
		t.Run(name, func(t *testing.T) { wantFailure(t, reader, c.data, c.hint, catalog.UnsupportedType) })
	}
}

func TestEmpty(t *testing.T) {
	for _, data := range []string{
		"", " \r\n\t", "\xef\xbb\xbf", "\xff\xfe", "--- *** ___",
		"<html><body><script>x()</script></body></html>", "\u200b\u00ad",
	} {
		wantFailure(t, reader, []byte(data), Hint{}, catalog.EmptyDocument)
	}
	wantFailure(t, reader, []byte("---\nlanguage: english\n---\n"), Hint{Name: "a.md"}, catalog.EmptyDocument)
}

func TestHostileText(t *testing.T) {
	big := &Reader{limits: bounds{decoded: 8 << 20}}
	wantFailure(t, big, make([]byte, 9<<20), Hint{}, catalog.TooLarge)
	wantFailure(t, big, []byte(strings.Repeat("Students design databases.\n", 200_000)), Hint{}, catalog.TooLarge)
	// Input that costs naive parsers a square of its size, or their stack: a reader
	// that did so would not be done within the minutes that a test may take.
	n := 400_000
	for name, data := range map[string]string{
		"nested elements": "<html><body>" + strings.Repeat("<div>", n) + "Students design databases.",
		"nested tables":   "<html><body>" + strings.Repeat("<table><tr><td>", n/4) + "Students design databases.",
		"open formatting": "<html><body>" + strings.Repeat("<b x=1><font><p>", n/4) + "Students design databases.",
		"rows in one table": "<html><table>" + strings.Repeat("<tr><td>a</td><td>b</td></tr>", n/10) +
			"</table>Students design databases.",
		"nested lists":      "<html><body>" + strings.Repeat("<ul><li>", n/4) + "Students design databases.",
		"attributes":        "<html><body><p " + strings.Repeat("a=b ", n) + ">Students design databases.",
		"comment":           "<html><body><!-- " + strings.Repeat("-", n) + "--><p>Students design databases.",
		"unclosed tag":      "<html><body><p>Students design databases.</p>" + strings.Repeat("<", n),
		"quotes":            "# a\n# b\n" + strings.Repeat(">", n) + "Students design databases.",
		"list markers":      "# a\n# b\n" + strings.Repeat("- ", n/2) + "Students design databases.",
		"brackets":          "# a\n# b\n" + strings.Repeat("[", n) + "Students design databases.",
		"links":             "# a\n# b\n" + strings.Repeat("[a](", n/4) + "Students design databases.",
		"emphasis":          "# a\n# b\n" + strings.Repeat("*a _b ", n/6) + "Students design databases.",
		"code spans":        "# a\n# b\n" + strings.Repeat("`a``b", n/5) + "Students design databases.",
		"indented lists":    "# a\n# b\n" + nestedList(400) + "Students design databases.",
		"footnotes":         "# a\n# b\n" + strings.Repeat("[^1]", n/4) + "\n\n[^1]: Students design databases.",
		"one line":          strings.Repeat("word ", n) + "Students design databases.",
		"one letter a line": strings.Repeat("a\n", n) + "Students design databases.",
		"hyphens":           strings.Repeat("compu-\n", n/4) + "Students design databases.",
		"tabs":              strings.Repeat("a\tb\t", n/4) + "Students design databases.",
		"spaces":            strings.Repeat("a    ", n/4) + "Students design databases.",
	} {
		if doc := read(t, []byte(data), Hint{Name: name}); !strings.Contains(doc.Text, "Students design databases") {
			t.Errorf("%s: the text is lost", name)
		}
	}
}

func nestedList(depth int) string {
	var out strings.Builder
	for i := range depth {
		out.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return out.String()
}
