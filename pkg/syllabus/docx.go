package syllabus

import (
	"archive/zip"
	"bytes"
	"context"
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

// readDOCX gives the text of an Office Open XML document: the body, then the
// footnotes and endnotes. Heads and feet of pages, comments, deleted text, field
// codes and hidden text are left out.
func readDOCX(ctx context.Context, data []byte, limits Limits) ([]block, error) {
	if bytes.Count(data, []byte("PK\x01\x02")) > zipEntries {
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
	r := docxReader{budget: budget{ctx: ctx, limits: limits}, styles: map[string]int{}}
	if err := r.optional(archive, "word/styles.xml", r.readStyles); err != nil {
		return nil, err
	}
	if err := r.part(archive.File[i], r.readBody); err != nil {
		return nil, err
	}
	for _, notes := range []string{"word/footnotes.xml", "word/endnotes.xml"} {
		if err := r.optional(archive, notes, r.readBody); err != nil {
			return nil, err
		}
	}
	return r.blocks, nil
}

type docxReader struct {
	budget
	decoded int64
	styles  map[string]int // heading level by style id
	blocks  []block
}

func (r *docxReader) optional(archive *zip.Reader, name string, read func(*xml.Decoder) error) error {
	for _, f := range archive.File {
		if path.Clean(f.Name) == name {
			return r.part(f, read)
		}
	}
	return nil
}

// part reads one file of the archive within the limits of the whole document,
// whatever the archive says about its size.
func (r *docxReader) part(f *zip.File, read func(*xml.Decoder) error) error {
	if f.Flags&1 != 0 {
		return fail(catalog.Encrypted, "The document is protected by a password.")
	}
	content, err := f.Open()
	if err != nil {
		return malformed(DOCX)
	}
	defer func() { _ = content.Close() }()
	decoder := xml.NewDecoder(&inflating{from: content, file: f, reader: r})
	decoder.CharsetReader = charset.NewReaderLabel
	err = read(decoder)
	var failure *catalog.Failure
	switch {
	case err == nil, errors.As(err, &failure), r.ctx.Err() != nil:
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
	limits := i.reader.limits
	if i.reader.decoded > limits.DecodedBytes || limits.expands(i.total, int64(i.file.CompressedSize64)) {
		return 0, tooLarge("The document expands to far more than it should.")
	}
	return n, err
}

// tokens walks raw XML: no entities of the document's own, no stack that grows
// with its depth, namespaces ignored since prefixes are as good as fixed.
func (r *docxReader) tokens(d *xml.Decoder, start func(name string, attr func(string) (string, bool)), end func(name string), text func([]byte) error) error {
	depth := 0
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) && depth == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth > xmlDepth {
				return malformed(DOCX)
			}
			start(t.Name.Local, func(name string) (string, bool) {
				for _, a := range t.Attr {
					if a.Name.Local == name {
						return a.Value, true
					}
				}
				return "", false
			})
			err = r.spend(0)
		case xml.EndElement:
			depth--
			end(t.Name.Local)
		case xml.CharData:
			err = text(t)
		}
		if err != nil {
			return err
		}
	}
}

var headingStyle = regexp.MustCompile(`(?i)^(?:heading\s*([1-9])|(title))$`)

// readStyles learns which paragraph styles are headings; their ids are translated
// in localised documents, their names are not.
func (r *docxReader) readStyles(d *xml.Decoder) error {
	id := ""
	return r.tokens(d, func(name string, attr func(string) (string, bool)) {
		switch name {
		case "style":
			id, _ = attr("styleId")
		case "name":
			value, _ := attr("val")
			if m := headingStyle.FindStringSubmatch(value); m != nil && id != "" {
				r.styles[id] = headingOf(m)
			}
		}
	}, func(name string) {
		if name == "style" {
			id = ""
		}
	}, func([]byte) error { return nil })
}

func headingOf(m []string) int {
	if m[2] != "" {
		return 1
	}
	return int(m[1][0] - '0')
}

// docxParagraph is a paragraph being read; text boxes nest paragraphs.
type docxParagraph struct {
	text   strings.Builder
	kind   blockKind
	level  int
	hidden bool // of the run in the making
}

// docxTable is an open table and the cells of its open row.
type docxTable struct {
	cells [][]block
	outer []block // the blocks around the open cell
}

// silent elements hold text that does not belong to the document's.
var silent = map[string]bool{"delText": true, "instrText": true, "delInstrText": true, "Fallback": true, "del": true, "moveFrom": true}

func (r *docxReader) readBody(d *xml.Decoder) error {
	var open []*docxParagraph
	var tables []*docxTable
	quiet, properties, inText := 0, 0, 0
	current := func() *docxParagraph {
		if len(open) == 0 {
			return &docxParagraph{}
		}
		return open[len(open)-1]
	}
	emit := func(p *docxParagraph) {
		if text := p.text.String(); hasWord(text) {
			r.blocks = append(r.blocks, block{kind: p.kind, level: p.level, text: text})
		}
		p.text.Reset()
	}
	start := func(name string, attr func(string) (string, bool)) {
		p := current()
		switch {
		case silent[name]:
			quiet++
		case quiet > 0:
		case name == "p":
			open = append(open, &docxParagraph{})
		case name == "pPr" || name == "rPr" || name == "tabs":
			properties++
		case name == "pStyle":
			style, _ := attr("val")
			level := r.styles[style]
			if m := headingStyle.FindStringSubmatch(style); level == 0 && m != nil {
				level = headingOf(m)
			}
			if level > 0 {
				p.kind, p.level = heading, min(level, 6)
			} else if strings.Contains(strings.ToLower(style), "list") {
				p.kind = item
			}
		case name == "outlineLvl":
			if level, _ := attr("val"); len(level) == 1 && level >= "0" && level <= "5" && p.kind != heading {
				p.kind, p.level = heading, int(level[0]-'0')+1
			}
		case name == "numPr" && p.kind != heading:
			p.kind = item
		case name == "vanish":
			value, set := attr("val")
			p.hidden = !set || value != "0" && value != "false"
		case name == "r":
			p.hidden = false
		case name == "t":
			inText++
		case properties > 0:
		case name == "tab" || name == "ptab":
			p.text.WriteByte('\t')
		case name == "br" || name == "cr":
			if p.kind != heading {
				emit(p)
			} else {
				p.text.WriteByte(' ')
			}
		case name == "noBreakHyphen":
			p.text.WriteByte('-')
		case name == "tbl":
			tables = append(tables, &docxTable{})
		case name == "tc" && len(tables) > 0:
			t := tables[len(tables)-1]
			t.outer, r.blocks = r.blocks, nil
		}
	}
	end := func(name string) {
		switch {
		case silent[name]:
			quiet = max(0, quiet-1)
		case quiet > 0:
		case name == "p" && len(open) > 0:
			emit(current())
			open = open[:len(open)-1]
		case name == "pPr" || name == "rPr" || name == "tabs":
			properties = max(0, properties-1)
		case name == "t":
			inText = max(0, inText-1)
		case name == "tc" && len(tables) > 0:
			t := tables[len(tables)-1]
			t.cells = append(t.cells, r.blocks)
			r.blocks, t.outer = t.outer, nil
		case name == "tr" && len(tables) > 0:
			t := tables[len(tables)-1]
			r.blocks = append(r.blocks, tableRow(t.cells)...)
			t.cells = nil
		case name == "tbl" && len(tables) > 0:
			tables = tables[:len(tables)-1]
		}
	}
	return r.tokens(d, start, end, func(text []byte) error {
		p := current()
		if inText == 0 || quiet > 0 || p.hidden {
			return nil
		}
		p.text.WriteString(spaces.Replace(string(text)))
		return r.spend(len(text))
	})
}
