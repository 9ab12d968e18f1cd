// Package intake reads files of catalogs as institutions have them: tables in CSV and XLSX, JSON, NDJSON and OneRoster.
// It returns rows in the terms of the contract. It looks nothing up and makes no decisions about the catalog.
//
// Invariants: a row's fields are the body of a POST of the record, except that records are named by the ids of the
// system that exported them. Reading holds a bounded part of the file in memory, whatever the file contains.
package intake

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake/entry"
)

// Layout is a system's way of writing catalogs.
type Layout string

// Layouts. All of them but Auto restrict the headers to common ones and to those of the system.
const (
	Auto      Layout = "AUTO"
	Generic   Layout = "GENERIC"
	Banner    Layout = "BANNER"
	Canvas    Layout = "CANVAS"
	OneRoster Layout = "ONEROSTER"
	TES       Layout = "TES"
)

// Layouts lists the layouts that may be asked for.
func Layouts() []Layout { return []Layout{Auto, Generic, Banner, Canvas, OneRoster, TES} }

// Options configures how a file is read. The zero value detects everything.
type Options struct {
	Layout   Layout
	Resource catalog.Kind // of the records in a single table
	Sheet    string       // of a workbook; the first by default
	// Columns overrides the fields of columns, by header; "" ignores the column.
	Columns map[string]string
	MaxRows int    // 0 for no limit
	Owner   string // course or program of outcomes whose lines name none
}

// Content is the content of a file: a bytes.Reader, strings.Reader or io.SectionReader.
type Content interface {
	io.ReaderAt
	Size() int64
}

// Column is a column of a table.
type Column struct {
	File   string `json:"file"` // that has the table
	Header string `json:"header"`
	// Field that the column became; "" if it is ignored. See Fields.
	Field string `json:"field,omitempty"`
	// Suggestion is the field whose header differs by one edit from that of an ignored column.
	Suggestion string `json:"suggestion,omitempty"`
	Example    string `json:"example"` // first value, of at most MaxValue characters
	// Count is how often a property of JSON-LD occurs.
	Count int `json:"count,omitempty"`
}

// What a file is read into.
type (
	Row     = entry.Row
	Problem = catalog.ImportProblem
)

// MaxValue is the maximum length of a value that is shown, in characters.
const MaxValue = 200

func shown(value string) string {
	if utf8.RuneCountInString(value) > MaxValue {
		return string([]rune(value)[:MaxValue-1]) + "…"
	}
	return value
}

// Failure is the reason why a file cannot be read as a whole.
type Failure struct {
	Code    catalog.FailureCode
	Detail  string
	Columns []Column // of a table that lacks some
}

func (f *Failure) Error() string { return f.Detail }

func fail(code catalog.FailureCode, format string, args ...any) error {
	return &Failure{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// File is an opened file. It has been read once, so that reading its rows fails only if the content has changed.
type File struct {
	Layout   Layout       // as found
	Resource catalog.Kind // "" if there are several
	Columns  []Column
	Count    int // rows
	parts    []part
	closers  []io.Closer
}

// part is a table or a JSON document of a file.
type part interface {
	rows(visit func(Row) error) error // from the beginning
	columns() []Column                // complete once the rows were read
	layout() Layout
}

// Open opens and checks a file. name tells its format and its records apart where the content does not. The error is a
// *Failure if the file cannot be read as a whole.
func Open(content Content, name string, o Options) (*File, error) {
	parts, closer, err := partsOf(content, name, o)
	return newFile(parts, closer, name, o, err)
}

// OpenPath opens a file, or a directory as an archive of its files.
func OpenPath(path string, o Options) (*File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		parts, err := bundle(os.DirFS(path), filepath.Base(path), o)
		return newFile(parts, nil, path, o, err)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f, err := Open(io.NewSectionReader(file, 0, info.Size()), filepath.Base(path), o)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	f.closers = append(f.closers, file)
	return f, nil
}

func newFile(parts []part, closer io.Closer, name string, o Options, err error) (*File, error) {
	f := &File{parts: parts, Layout: Generic}
	if closer != nil {
		f.closers = append(f.closers, closer)
	}
	if err == nil {
		err = f.check(name, o)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// check reads all rows once.
func (f *File) check(name string, o Options) error {
	kinds := map[catalog.Kind]bool{}
	for row, err := range f.Rows() {
		if err != nil {
			return err
		}
		f.Count += row.Count()
		f.Resource = row.Kind
		kinds[row.Kind] = true
		if o.MaxRows > 0 && f.Count > o.MaxRows {
			return fail(catalog.TooLarge, "%s has more than %d rows", name, o.MaxRows)
		}
	}
	if f.Count == 0 {
		return fail(catalog.EmptyDocument, "%s has no rows", name)
	}
	if len(kinds) > 1 {
		f.Resource = ""
	}
	found := map[string]bool{}
	for _, p := range f.parts {
		f.Columns = append(f.Columns, p.columns()...)
		if layout := p.layout(); layout != Generic {
			f.Layout = layout
		}
	}
	for _, c := range f.Columns {
		found[entry.Plain(c.Header)] = true
	}
	for header := range o.Columns {
		if !found[entry.Plain(header)] {
			return fail(catalog.MissingColumns, "%s has no column %q", name, header)
		}
	}
	return nil
}

// errStop ends a reading whose rows are no longer wanted.
var errStop = errors.New("stop")

// Rows reads the file from its beginning.
func (f *File) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for _, p := range f.parts {
			err := p.rows(func(row Row) error {
				if !yield(row, nil) {
					return errStop
				}
				return nil
			})
			if err == errStop {
				return
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
		}
	}
}

// Close releases what the file holds.
func (f *File) Close() error {
	var errs []error
	for _, c := range f.closers {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// All returns all rows of the file and closes it.
func (f *File) All() (rows []Row, err error) {
	for row, err := range f.Rows() {
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		rows = append(rows, row)
	}
	return rows, f.Close()
}

// Read returns the rows of a file.
func Read(content Content, name string, o Options) ([]Row, error) {
	f, err := Open(content, name, o)
	if err != nil {
		return nil, err
	}
	return f.All()
}

// ownName returns a substitute for the external id in a file that has none; "" if the row has no such fields.
func ownName(row Row) string {
	field := func(name string) string {
		text, _ := row.Fields[name].(string)
		return strings.TrimSpace(text)
	}
	name := field("name")
	switch row.Kind {
	case catalog.CourseKind:
		return field("code")
	case catalog.ProgramKind, catalog.CredentialKind:
		return cmp.Or(field("code"), name)
	case catalog.TransferPackageKind:
		return cmp.Or(field("uniqueTag"), name)
	case catalog.SectionKind:
		return within(row.Parent, name)
	case catalog.JobKind:
		return within(field("employerId"), name)
	}
	return name
}

func within(whole, part string) string {
	if whole == "" || part == "" {
		return ""
	}
	return whole + "/" + part
}
