package official

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/xuri/excelize/v2"

	"skillscurriculum/pkg/labor"
)

// Bounds of a file; the largest official one, all metropolitan areas, is a tenth of them.
const (
	maxFileBytes     = 256 << 20 // before unpacking
	maxUnpackedBytes = 4 << 30   // a workbook's sheets
	maxSheetMemory   = 16 << 20  // larger sheets are read from temporary files
	headerLines      = 5         // a sheet may have titles above its header
)

// FileError is an error at a place in a file.
type FileError struct {
	Sheet  string // empty for csv
	Line   int    // from 1; 0 if the error is not in a line
	Column int    // from 1, counted in cells; 0 if the error is not in a cell
	Reason string
}

func (e *FileError) Error() string {
	var at []string
	if e.Sheet != "" {
		at = append(at, fmt.Sprintf("sheet %q", e.Sheet))
	}
	if e.Line > 0 {
		at = append(at, fmt.Sprintf("line %d", e.Line))
	}
	if e.Column > 0 {
		at = append(at, fmt.Sprintf("column %d", e.Column))
	}
	if len(at) == 0 {
		return e.Reason
	}
	return strings.Join(at, ", ") + ": " + e.Reason
}

// book is an official file: a workbook, or a CSV file, which is treated as a book of one unnamed sheet.
type book struct {
	xlsx     *excelize.File
	rows     []*excelize.Rows // of the sheets that were opened
	csv      []byte
	total    int // lines of the largest sheet
	progress labor.Progress
}

func openBook(r io.Reader, progress labor.Progress) (*book, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read: %w", err)
	}
	if len(data) > maxFileBytes {
		return nil, &FileError{Reason: fmt.Sprintf("larger than %d MiB", maxFileBytes>>20)}
	}
	if progress == nil {
		progress = func(int, int) {}
	}
	b := &book{progress: progress}
	if !bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		b.csv = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
		b.total = bytes.Count(b.csv, []byte("\n"))
		return b, nil
	}
	if b.total, err = checkSheets(data); err != nil {
		return nil, &FileError{Reason: "not a valid workbook: " + err.Error()}
	}
	b.xlsx, err = excelize.OpenReader(bytes.NewReader(data), excelize.Options{
		RawCellValue: true, UnzipSizeLimit: maxUnpackedBytes, UnzipXMLSizeLimit: maxSheetMemory})
	if err != nil {
		return nil, &FileError{Reason: "not a valid workbook: " + err.Error()}
	}
	return b, nil
}

// checkSheets reads every sheet of a workbook as XML and returns the number of rows of the largest. The library that
// reads the cells treats broken XML as the end of a sheet, and would need a whole sheet in memory to tell its length.
func checkSheets(workbook []byte) (rows int, err error) {
	archive, err := zip.NewReader(bytes.NewReader(workbook), int64(len(workbook)))
	if err != nil {
		return 0, err
	}
	for _, file := range archive.File {
		if !strings.HasPrefix(file.Name, "xl/worksheets/") || !strings.HasSuffix(file.Name, ".xml") {
			continue
		}
		n, err := checkSheet(file)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", file.Name, err)
		}
		rows = max(rows, n)
	}
	return rows, nil
}

func checkSheet(file *zip.File) (rows int, err error) {
	part, err := file.Open()
	if err != nil {
		return 0, err
	}
	defer part.Close()
	d := xml.NewDecoder(io.LimitReader(part, maxUnpackedBytes))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return rows, nil
		}
		if err != nil {
			return 0, err
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "row" {
			rows++
		}
	}
}

func (b *book) close() {
	for _, rows := range b.rows {
		rows.Close()
	}
	if b.xlsx != nil {
		b.xlsx.Close()
	}
}

func (b *book) sheets() []string {
	if b.xlsx == nil {
		return []string{""}
	}
	return b.xlsx.GetSheetList()
}

// column is a column that a reader needs.
type column struct {
	name     string
	title    *regexp.Regexp // matches the trimmed header cell
	optional bool
}

func col(name, title string) column {
	return column{name: name, title: regexp.MustCompile(`(?i)^(?:` + title + `)$`)}
}

// named returns columns whose titles are their names.
func named(names ...string) (columns []column) {
	for _, name := range names {
		columns = append(columns, col(name, name))
	}
	return columns
}

func optional(name, title string) column {
	c := col(name, title)
	c.optional = true
	return c
}

// table is a sheet read line by line below its header.
type table struct {
	book    *book
	sheet   string
	above   []string       // first cells of the lines above the header
	titles  []string       // the header
	columns map[string]int // cell of a column, by its name
	line    int
	cells   []string
	err     error // the first error; nothing is read after it
	next    func() (line int, cells []string, err error)
}

// open returns the first sheet that has the columns, positioned after its header, or an error if no sheet has them.
func (b *book) open(columns ...column) (*table, error) {
	var missing *FileError
	for _, sheet := range b.sheets() {
		t, err := b.table(sheet)
		if err != nil {
			return nil, err
		}
		lacks, err := t.header(columns)
		if err != nil {
			return nil, err
		}
		if lacks == nil {
			return t, nil
		}
		if missing == nil {
			missing = lacks
		}
	}
	if missing == nil {
		missing = &FileError{Reason: "the workbook has no sheet"}
	}
	return nil, missing
}

func (b *book) table(sheet string) (*table, error) {
	t := &table{book: b, sheet: sheet}
	if b.xlsx == nil {
		r := csv.NewReader(bytes.NewReader(b.csv))
		r.ReuseRecord = true
		r.FieldsPerRecord = -1 // lines above the header are shorter
		t.next = func() (int, []string, error) {
			cells, err := r.Read()
			var wrong *csv.ParseError
			if errors.As(err, &wrong) {
				return 0, nil, &FileError{Line: wrong.Line, Reason: fmt.Sprintf("byte %d of the line: %v", wrong.Column, wrong.Err)}
			}
			if err != nil {
				return 0, nil, err
			}
			line, _ := r.FieldPos(0)
			return line, cells, nil
		}
		return t, nil
	}
	rows, err := b.xlsx.Rows(sheet)
	if err != nil {
		return nil, &FileError{Sheet: sheet, Reason: err.Error()}
	}
	b.rows = append(b.rows, rows)
	line := 0
	t.next = func() (int, []string, error) {
		if !rows.Next() {
			if err := rows.Error(); err != nil {
				return 0, nil, &FileError{Sheet: sheet, Line: line + 1, Reason: err.Error()}
			}
			return 0, nil, io.EOF
		}
		if line++; line > excelize.TotalRows {
			return 0, nil, &FileError{Sheet: sheet, Line: line, Reason: "more lines than a sheet can have"}
		}
		cells, err := rows.Columns()
		if err != nil {
			return 0, nil, &FileError{Sheet: sheet, Line: line, Reason: err.Error()}
		}
		return line, cells, nil
	}
	return t, nil
}

// header finds the line that has the columns; otherwise lacks names those that the best line lacks.
func (t *table) header(columns []column) (lacks *FileError, err error) {
	lacks = &FileError{Sheet: t.sheet, Reason: "empty"}
	best := -1
	for range headerLines {
		line, cells, err := t.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		t.line, t.columns = line, map[string]int{}
		var lacking []string
		for _, c := range columns {
			for i, title := range cells {
				if _, have := t.columns[c.name]; !have && c.title.MatchString(strings.TrimSpace(title)) {
					t.columns[c.name] = i
				}
			}
			if _, have := t.columns[c.name]; !have && !c.optional {
				lacking = append(lacking, c.name)
			}
		}
		if len(lacking) == 0 {
			t.titles = append([]string{}, cells...)
			return nil, nil
		}
		if found := len(columns) - len(lacking); found > best {
			best = found
			lacks = &FileError{Sheet: t.sheet, Line: line, Reason: "no column " + strings.Join(lacking, ", ")}
		}
		if len(cells) > 0 {
			t.above = append(t.above, cells[0])
		}
	}
	return lacks, nil
}

// scan advances to the next non-empty line; it returns false at the end or after an error.
func (t *table) scan() bool {
	for t.err == nil {
		line, cells, err := t.next()
		if err == io.EOF {
			t.book.progress(t.line, max(t.line, t.book.total))
			return false
		}
		if err != nil {
			t.err = err
			return false
		}
		t.line, t.cells = line, cells
		if line%1000 == 0 {
			t.book.progress(line, max(line, t.book.total))
		}
		if strings.TrimSpace(strings.Join(cells, "")) == "" {
			continue
		}
		if t.book.xlsx == nil && len(cells) != len(t.titles) {
			t.err = &FileError{Line: line, Reason: fmt.Sprintf("%d cells below a header of %d", len(cells), len(t.titles))}
		}
		for i, cell := range cells {
			if t.err == nil && !utf8.ValidString(cell) {
				t.err = &FileError{Sheet: t.sheet, Line: line, Column: i + 1, Reason: "not UTF-8"}
			}
		}
		return t.err == nil
	}
	return false
}

// end returns the first error, which may be that there was nothing below the header.
func (t *table) end(found int, what string) error {
	if t.err == nil && found == 0 {
		t.err = &FileError{Sheet: t.sheet, Line: t.line, Reason: "no " + what + " below the header"}
	}
	return t.err
}

// has reports whether the sheet has an optional column.
func (t *table) has(column string) bool {
	_, ok := t.columns[column]
	return ok
}

// title returns a column's title as the file prints it.
func (t *table) title(column string) string { return strings.TrimSpace(t.titles[t.columns[column]]) }

// cell returns a trimmed cell; empty if the line is shorter or the sheet lacks the column.
func (t *table) cell(column string) string {
	i, ok := t.columns[column]
	if !ok || i >= len(t.cells) {
		return ""
	}
	return strings.TrimSpace(t.cells[i])
}

// fail records an error in a cell of the current line, unless there is one already.
func (t *table) fail(column, format string, args ...any) {
	if t.err == nil {
		t.err = &FileError{Sheet: t.sheet, Line: t.line, Column: t.columns[column] + 1,
			Reason: column + ": " + fmt.Sprintf(format, args...)}
	}
}

// code returns a cell that must have the form; like is an example for the error.
func (t *table) code(column string, form func(code string) bool, like string) string {
	value := t.cell(column)
	if !form(value) {
		t.fail(column, "%q is not a code like %s", value, like)
	}
	return value
}

// text returns a cell that must not be empty.
func (t *table) text(column string) string {
	value := t.cell(column)
	if value == "" {
		t.fail(column, "empty")
	}
	return value
}
