// Package intake reads catalogs in JSON, CSV and OneRoster, as other systems export them, and returns rows in the terms
// of the contract. It looks nothing up and makes no decisions about the catalog; package load does.
//
// Invariant: a row's fields are the body of a POST of the record, except that records are named by the ids of the
// system that exported them.
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

// Row is one record of a file.
type Row struct {
	Place  string // for people: courses.csv:12
	Kind   catalog.Kind
	Name   string // the record's external id
	Parent string // external id of a section's course or of a transfer course's package
	Fields map[string]any
	// Members are the external ids of a program's courses in order or of a credential's sections, where a course's id
	// stands for its default section; nil if the file does not list them.
	Members []string
	// Effective is the term or date from which the row applies to its course; "" if the file has none. A file may
	// repeat a course for each.
	Effective string
	// Untitled reports that a section's name is blank: it gets the name of its course.
	Untitled bool
	// Gone reports that the other system has deleted the record.
	Gone bool
	// Unreadable lists what could not be read; "" if everything could.
	Unreadable string
	// Header and Source are the table's header and the line's cells, from which the line can be written again. For
	// JSON, Source is the object and Header is nil.
	Header, Source []string
	// More are the cells of further lines that belong to the record.
	More [][]string
}

// maxFile is the maximum size of a file in bytes; a catalog of a million courses is smaller.
const maxFile = 1 << 30

// Read reads a .json file (ReadJSON), a CSV file (ReadCSV), or a directory or .zip file of them, which may be a
// OneRoster 1.2 bundle. kind is the kind of records in a single CSV file; the default is derived from name and headers.
func Read(name, kind string) ([]Row, error) {
	asked, ok := kinds[strings.ToLower(kind)]
	if !ok && kind != "" {
		return nil, fmt.Errorf("%q is not a kind of record: courses, sections, programs, credentials or jobs", kind)
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

// readBundle reads the files of a directory or archive and of the directories in it.
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
	if roster, err := isOneRoster(fsys, files); err != nil {
		return nil, err
	} else if roster {
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
		return nil, fmt.Errorf("%s contains neither CSV nor JSON files", name)
	}
	return rows, nil
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
