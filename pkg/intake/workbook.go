package intake

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"skillscurriculum/pkg/catalog"
)

// Limits of a workbook. Its format and its styles are held in memory; sheets and larger tables of texts lie in
// temporary files.
const (
	maxSheets    = 400 << 20 // bytes of all sheets and their texts, unpacked
	maxFormat    = 4 << 20   // bytes of any other part
	maxFormats   = 32 << 20  // bytes of all of those
	maxInMemory  = 64 << 10  // bytes of a sheet or a table of texts that needs no temporary file
	maxTexts     = 1_000_000
	maxElements  = 200_000 // of a part that is held in memory
	maxAttribute = 4 << 10
	maxDepth     = 100
)

// partsOfWorkbook opens a sheet of a workbook. The library reads only what was checked before: it takes broken XML for
// the end of a sheet, and holds a row, a text and all other parts in memory.
func partsOfWorkbook(archive *zip.Reader, name string, o Options) ([]part, io.Closer, error) {
	var checked bytes.Buffer
	w := zip.NewWriter(&checked)
	var total, held uint64
	for _, f := range archive.File {
		sheet, needed := needed(f.Name)
		if !needed {
			continue
		}
		size := f.UncompressedSize64
		if total += size; !sheet {
			held += size
		}
		if size > maxSheets || total > maxSheets || held > maxFormats || !sheet && size > maxFormat {
			return nil, nil, fail(catalog.TooLarge, "%s: %s is too large when it is unpacked", name, f.Name)
		}
		if err := checkXML(f, sheet); err != nil {
			var failure *Failure
			if errors.As(err, &failure) {
				return nil, nil, fail(failure.Code, "%s: %s: %s", name, f.Name, failure.Detail)
			}
			return nil, nil, fail(catalog.Malformed, "%s: %s: %s", name, f.Name, reason(err))
		}
		if err := w.Copy(f); err != nil {
			return nil, nil, fail(catalog.Malformed, "%s: %s: %s", name, f.Name, reason(err))
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	book, err := excelize.OpenReader(&checked, excelize.Options{
		UnzipSizeLimit: maxSheets, UnzipXMLSizeLimit: maxInMemory,
		ShortDatePattern: "yyyy-mm-dd", LongDatePattern: "yyyy-mm-dd",
	})
	if err != nil {
		return nil, nil, fail(catalog.Malformed, "%s is not a workbook: %s", name, reason(err))
	}
	sheets := book.GetSheetList()
	sheet := o.Sheet
	if sheet == "" && len(sheets) > 0 {
		sheet = sheets[0]
	}
	if i, err := book.GetSheetIndex(sheet); err != nil || i < 0 {
		return nil, book, fail(catalog.UnknownLayout, "%s has no sheet %q; it has %s", name, sheet,
			shown(strings.Join(sheets, ", ")))
	}
	p, err := newPart(name, func() (lines, error) { return newSheet(book, name, sheet) }, o)
	var failure *Failure
	if errors.As(err, &failure) && o.Sheet == "" && len(sheets) > 1 {
		failure.Detail += fmt.Sprintf("; the sheet %q was read, others are %s", sheet, shown(strings.Join(sheets[1:], ", ")))
	}
	return []part{p}, book, err
}

// needed reports whether a part of a workbook is needed to read cells, and whether it may be large.
func needed(name string) (large, needed bool) {
	name = strings.ToLower(name)
	switch {
	case name == "xl/sharedstrings.xml", strings.HasPrefix(name, "xl/worksheets/sheet"):
		return true, true
	case strings.HasPrefix(name, "xl/worksheets/") && strings.HasSuffix(name, ".xml"):
		return false, true
	case name == "[content_types].xml", name == "_rels/.rels", name == "xl/styles.xml", name == "xl/workbook.xml",
		name == "xl/_rels/workbook.xml.rels":
		return false, true
	}
	return false, false
}

// checkXML reads a part from its beginning to its end.
func checkXML(f *zip.File, large bool) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	w := &window{r: r, what: "a text", max: maxRecord}
	d := xml.NewDecoder(w)
	var row, column, depth, texts, elements int
	for {
		token, err := d.Token()
		w.used()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch token := token.(type) {
		case xml.Directive:
			return errors.New("it has a document type")
		case xml.EndElement:
			depth--
		case xml.StartElement:
			if depth++; depth > maxDepth {
				return fail(catalog.TooLarge, "more than %d elements inside each other", maxDepth)
			}
			if elements++; elements > maxElements && !large {
				return fail(catalog.TooLarge, "more than %d elements", maxElements)
			}
			at := ""
			for _, a := range token.Attr {
				if len(a.Value) > maxAttribute {
					return fail(catalog.TooLarge, "an attribute is larger than %d bytes", maxAttribute)
				}
				if a.Name.Local == "r" && a.Name.Space == "" {
					at = a.Value
				}
			}
			switch token.Name.Local {
			case "si":
				if texts++; texts > maxTexts {
					return fail(catalog.TooLarge, "more than %d different texts", maxTexts)
				}
			case "row":
				if row, err = following(row, at, strconv.Atoi); err != nil {
					return err
				}
				if row > excelize.TotalRows {
					return fail(catalog.TooLarge, "more than %d rows", excelize.TotalRows)
				}
				column = 0
			case "c":
				if column, err = following(column, at, columnOf); err != nil {
					return err
				}
				if column > maxColumns {
					return fail(catalog.TooLarge, "more than %d columns", maxColumns)
				}
			}
		}
	}
}

// following returns the number of a row or column, which must be higher than the one before; the next one if it is not
// given.
func following(before int, at string, number func(string) (int, error)) (int, error) {
	if at == "" {
		return before + 1, nil
	}
	n, err := number(at)
	if err == nil && n <= before {
		err = fmt.Errorf("%s does not follow the one before it", at)
	}
	return n, err
}

func columnOf(cell string) (int, error) {
	column, _, err := excelize.CellNameToCoordinates(cell)
	return column, err
}

// sheet is the lines of a sheet.
type sheet struct {
	*excelize.Rows
	name string
	line int
}

func newSheet(book *excelize.File, name, of string) (lines, error) {
	rows, err := book.Rows(of)
	if err != nil {
		return nil, fail(catalog.Malformed, "%s: %s", name, reason(err))
	}
	return &sheet{Rows: rows, name: name}, nil
}

func (s *sheet) next() (int, []string, error) {
	if !s.Next() {
		return 0, nil, io.EOF
	}
	s.line++
	cells, err := s.Columns()
	if err != nil {
		return 0, nil, fail(catalog.Malformed, "%s:%d: %s", s.name, s.line, reason(err))
	}
	return s.line, cells, nil
}
