package syllabus

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html/charset"

	"skillscurriculum/pkg/catalog"
)

const (
	zipEntries = 10_000
	xmlDepth   = 1_000
)

var mainPart = regexp.MustCompile(`^word/document\d*\.xml$`)

// readDOCX returns the text of an Office Open XML document: the body, then the footnotes and endnotes. Heads and feet
// of pages, comments, deleted text, field codes and hidden text are left out.
func readDOCX(data []byte, spent *budget) ([]block, error) {
	if manyEntries(data) {
		return nil, tooLarge("The document is an archive of too many files.")
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, malformed(DOCX)
	}
	i := slices.IndexFunc(archive.File, func(f *zip.File) bool { return mainPart.MatchString(f.Name) })
	if i < 0 {
		return nil, malformed(DOCX)
	}
	r := docxReader{spent: spent, styles: docxStyles{levels: map[string]int{}}}
	if err := r.optional(archive, "word/styles.xml", &r.styles); err != nil {
		return nil, err
	}
	body := docxBody{spent: spent, styles: r.styles.levels}
	if err := r.part(archive.File[i], &body); err != nil {
		return nil, err
	}
	for _, name := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		notes := docxBody{spent: spent, styles: r.styles.levels, blocks: body.blocks}
		if err := r.optional(archive, name, &notes); err != nil {
			return nil, err
		}
		body.blocks = notes.blocks
	}
	return body.blocks, nil
}

func manyEntries(archive []byte) bool {
	return bytes.Count(archive, []byte("PK\x01\x02")) > zipEntries
}

type docxReader struct {
	spent   *budget
	decoded int64
	styles  docxStyles
}

// docxPart takes what one file of the archive holds, in the order of its XML.
type docxPart interface {
	start(name string, attr attributes)
	end(name string)
	text(text []byte) error
}

// attributes are those of an element.
type attributes []xml.Attr

// value returns the value of an attribute and whether it is there.
func (a attributes) value(name string) (string, bool) {
	i := slices.IndexFunc(a, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return "", false
	}
	return a[i].Value, true
}

func (r *docxReader) optional(archive *zip.Reader, name string, to docxPart) error {
	for _, f := range archive.File {
		if path.Clean(f.Name) == name {
			return r.part(f, to)
		}
	}
	return nil
}

// part reads one file of the archive within the limits of the whole document, whatever size the archive declares.
func (r *docxReader) part(f *zip.File, to docxPart) error {
	if f.Flags&1 != 0 {
		return fail(catalog.Encrypted, "The document is protected by a password.")
	}
	content, err := f.Open()
	if err != nil {
		return malformed(DOCX)
	}
	defer func() { _ = content.Close() }()
	decoder := xml.NewDecoder(&inflating{from: reading{content, r.spent}, file: f, reader: r})
	decoder.CharsetReader = charset.NewReaderLabel
	err = r.tokens(decoder, to)
	var failure *catalog.Failure
	switch {
	case err == nil, errors.As(err, &failure), r.spent.ctx.Err() != nil:
		return err
	}
	return malformed(DOCX)
}

// inflating counts what a file of the archive expands to.
type inflating struct {
	from   io.Reader
	file   *zip.File
	reader *docxReader
	total  int64
}

func (i *inflating) Read(p []byte) (int, error) {
	n, err := i.from.Read(p)
	i.total += int64(n)
	i.reader.decoded += int64(n)
	limits := i.reader.spent.limits
	if i.reader.decoded > limits.decoded || limits.expands(i.total, int64(i.file.CompressedSize64)) {
		return 0, tooLarge("The document expands to far more than it should.")
	}
	return n, err
}

// tokens walks raw XML: no entities of the document's own, namespaces ignored since prefixes are as good as fixed.
// Elements end as they began, so that a part keeps nothing open beyond the limit of depth.
func (r *docxReader) tokens(d *xml.Decoder, to docxPart) error {
	var open []xml.Name
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) && len(open) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if open = append(open, t.Name); len(open) > xmlDepth {
				return malformed(DOCX)
			}
			to.start(t.Name.Local, t.Attr)
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != t.Name {
				return malformed(DOCX)
			}
			open = open[:len(open)-1]
			to.end(t.Name.Local)
		case xml.CharData:
			err = to.text(t)
		}
		if err = cmp.Or(err, r.spent.spend(0)); err != nil {
			return err
		}
	}
}

// docxStyles learns which paragraph styles are headings; their ids are translated
// in localised documents, their names are not.
type docxStyles struct {
	levels map[string]int // of a heading, by style id
	id     string         // of the open style
}

func (s *docxStyles) start(name string, attr attributes) {
	switch name {
	case "style":
		s.id, _ = attr.value("styleId")
	case "name":
		value, _ := attr.value("val")
		if level := headingLevel(value); level > 0 && s.id != "" {
			s.levels[s.id] = level
		}
	}
}

func (s *docxStyles) end(name string) {
	if name == "style" {
		s.id = ""
	}
}

func (s *docxStyles) text([]byte) error { return nil }

var headingStyle = regexp.MustCompile(`(?i)^(?:heading\s*([1-9])|(title))$`)

// headingLevel is the level of a heading with a style of that name; 0 for no heading.
func headingLevel(style string) int {
	m := headingStyle.FindStringSubmatch(style)
	switch {
	case m == nil:
		return 0
	case m[2] != "":
		return 1
	}
	return int(m[1][0] - '0')
}

// docxBody reads the paragraphs and tables of a part.
type docxBody struct {
	spent  *budget
	styles map[string]int
	blocks []block
	tables tables

	open       []*docxParagraph // the innermost last: text boxes nest paragraphs
	silent     int              // open elements whose text is not the document's
	properties int              // open elements that say how something looks
	written    int              // open elements that hold text
}

// docxParagraph is an open paragraph.
type docxParagraph struct {
	words  strings.Builder
	kind   blockKind
	level  int
	hidden bool // of the open run
}

// silent elements hold text that does not belong to the document's.
var silent = setOf("delText instrText delInstrText Fallback del moveFrom")

// properties hold no content.
var properties = setOf("pPr rPr tabs")

func (b *docxBody) start(name string, attr attributes) {
	switch {
	case silent[name]:
		b.silent++
	case b.silent > 0:
	case properties[name]:
		b.properties++
	case name == "p":
		b.open = append(b.open, &docxParagraph{})
	case name == "t":
		b.written++
	case len(b.open) > 0 && b.open[len(b.open)-1].property(name, attr, b.styles):
	case b.properties == 0:
		b.content(name)
	}
}

// property applies a property of the paragraph or of its open run; false if the element is not one.
func (p *docxParagraph) property(name string, attr attributes, styles map[string]int) bool {
	value, set := attr.value("val")
	switch name {
	case "pStyle":
		if level := cmp.Or(styles[value], headingLevel(value)); level > 0 {
			p.kind, p.level = heading, min(level, 6)
		} else if strings.Contains(strings.ToLower(value), "list") {
			p.kind = item
		}
	case "outlineLvl":
		if len(value) == 1 && value >= "0" && value <= "5" && p.kind != heading {
			p.kind, p.level = heading, int(value[0]-'0')+1
		}
	case "numPr":
		if p.kind != heading {
			p.kind = item
		}
	case "vanish":
		p.hidden = !set || value != "0" && value != "false"
	case "r":
		p.hidden = false
	default:
		return false
	}
	return true
}

// content takes an element that is text or holds blocks.
func (b *docxBody) content(name string) {
	switch name {
	case "tbl":
		b.tables.start()
	case "tc":
		b.tables.startCell(b.blocks)
	}
	if len(b.open) == 0 {
		return
	}
	p := b.open[len(b.open)-1]
	switch name {
	case "tab", "ptab":
		p.words.WriteByte('\t')
	case "noBreakHyphen":
		p.words.WriteByte('-')
	case "br", "cr":
		if p.kind == heading {
			p.words.WriteByte(' ')
		} else {
			b.emit(p)
		}
	}
}

func (b *docxBody) end(name string) {
	switch {
	case silent[name]:
		b.silent--
	case b.silent > 0:
	case properties[name]:
		b.properties--
	case name == "p":
		b.emit(b.open[len(b.open)-1])
		b.open = b.open[:len(b.open)-1]
	case name == "t":
		b.written--
	case name == "tr":
		b.blocks = b.tables.endRow(b.blocks)
	case name == "tbl":
		b.blocks = b.tables.end(b.blocks)
	}
}

// emit makes a block of what a paragraph holds by now.
func (b *docxBody) emit(p *docxParagraph) {
	if text := p.words.String(); hasWord(text) {
		b.blocks = append(b.blocks, block{kind: p.kind, level: p.level, text: text})
	}
	p.words.Reset()
}

func (b *docxBody) text(text []byte) error {
	if len(b.open) == 0 || b.written == 0 || b.silent > 0 {
		return nil
	}
	p := b.open[len(b.open)-1]
	if p.hidden {
		return nil
	}
	p.words.WriteString(spaces.Replace(string(text)))
	return b.spent.spend(len(text))
}
