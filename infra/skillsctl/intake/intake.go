// Package intake reads catalogs as other systems export them, JSON, CSV and
// OneRoster, and gives them as rows in the contract's words. It looks nothing up
// and decides nothing about the catalog: package load does.
//
// Invariant: a row's fields are what a POST of the record would carry, except
// that records are named by the ids of the system that exported them.
package intake

import (
	"archive/zip"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// Row is one record as a file has it.
type Row struct {
	Place  string // where it stands, for people: courses.csv:12
	Kind   catalog.Kind
	Name   string // the record's external id
	Parent string // of a section its course's, of a transfer course its package's external id
	Fields map[string]any
	// Members are the external ids of a program's courses in order, or of a
	// credential's sections, where a course's stands for its default section; nil
	// where the file does not say.
	Members []string
	// Effective is the term or the date from which a course is as the row says; ""
	// where the file does not say. A file may have a course once for each.
	Effective string
	// Untitled reports that a section's name is blank, and is its course's then.
	Untitled bool
	// Gone reports that the other system has deleted the record.
	Gone bool
	// Unreadable is what could not be read; empty for nothing.
	Unreadable string
	// Header and Source are the table's header and the line's cells, so that a line
	// can be written out again; from JSON, Source is the object and Header nil.
	Header, Source []string
	// More are the cells of the further lines that belong to the record.
	More [][]string
}

// maxFile bounds a file in bytes; a catalog of a million courses is smaller.
const maxFile = 1 << 30

// Read reads a catalog: a .json file (ReadJSON), a CSV file (ReadCSV), or a
// directory or .zip file of them, which may be a OneRoster 1.2 bundle. kind says
// what a single CSV file holds; empty leaves that to its name and headers.
func Read(name, kind string) ([]Row, error) {
	asked, ok := kinds[strings.ToLower(kind)]
	if !ok && kind != "" {
		return nil, fmt.Errorf("%q is no kind of record: courses, sections, programs, credentials or jobs", kind)
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return readBundle(os.DirFS(name), filepath.Base(name))
	}
	if strings.EqualFold(filepath.Ext(name), ".zip") {
		archive, err := zip.OpenReader(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		defer archive.Close()
		return readBundle(archive, filepath.Base(name))
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readFile(file, filepath.Base(name), asked)
}

// readFile reads a single file.
func readFile(r io.Reader, name string, kind catalog.Kind) ([]Row, error) {
	r = &bounded{r, maxFile}
	if strings.EqualFold(path.Ext(name), ".json") {
		return ReadJSON(r, name)
	}
	return ReadCSV(r, name, kind)
}

// bounded is a reader that refuses more than n bytes.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("larger than %d MB", maxFile>>20)
	}
	return n, err
}

// readBundle reads the files of a directory or archive, wherever in it they lie.
func readBundle(fsys fs.FS, name string) ([]Row, error) {
	files := map[string]string{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		base := strings.ToLower(path.Base(p))
		if err != nil || d.IsDir() || strings.HasPrefix(base, ".") || strings.HasPrefix(p, "__MACOSX/") {
			return err
		}
		if ext := path.Ext(base); ext == ".csv" || ext == ".json" {
			if files[base] != "" {
				return fmt.Errorf("%s has two files %s", name, base)
			}
			files[base] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if roster, err := isOneRoster(fsys, files); err != nil || roster {
		if err != nil {
			return nil, err
		}
		return readOneRoster(fsys, files)
	}
	var rows []Row
	for _, base := range slices.Sorted(maps.Keys(files)) {
		file, err := fsys.Open(files[base])
		if err != nil {
			return nil, err
		}
		more, err := readFile(file, base, "")
		_ = file.Close() // only read
		if err != nil {
			return nil, err
		}
		rows = append(rows, more...)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds neither CSV nor JSON files", name)
	}
	return rows, nil
}

// ownName is what people know a record by whose file has no external ids; empty
// where the row does not say it.
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
