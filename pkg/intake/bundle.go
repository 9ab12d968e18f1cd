package intake

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// maxUnpacked is the maximum size of a file in an archive, in bytes; maxFiles that of the number of files.
const (
	maxUnpacked = 512 << 20
	maxFiles    = 1000
)

// partsOf recognises a file and opens its parts.
func partsOf(content Content, name string, o Options) ([]part, io.Closer, error) {
	head := make([]byte, 8)
	n, err := content.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, nil, err
	}
	switch head = head[:n]; {
	case n == 0:
		return nil, nil, fail(catalog.EmptyDocument, "%s is empty", name)
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return nil, nil, compound(content, name)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return partsOfZip(content, name, o)
	}
	text := text{name, func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(content, 0, content.Size())), nil
	}}
	p, err := partOfText(text, o)
	return []part{p}, nil, err
}

func partsOfZip(content Content, name string, o Options) ([]part, io.Closer, error) {
	archive, err := zip.NewReader(content, content.Size())
	if err != nil {
		return nil, nil, fail(catalog.Malformed, "%s: %s", name, reason(err))
	}
	if len(archive.File) > maxFiles {
		return nil, nil, fail(catalog.TooLarge, "%s has more than %d files", name, maxFiles)
	}
	for _, f := range archive.File {
		if f.Flags&1 != 0 {
			return nil, nil, fail(catalog.Encrypted, "%s is protected by a password", name)
		}
	}
	for _, f := range archive.File {
		if strings.EqualFold(f.Name, "xl/workbook.xml") {
			return partsOfWorkbook(archive, name, o)
		}
	}
	for _, f := range archive.File {
		if f.Name == "[Content_Types].xml" || f.Name == "mimetype" {
			return nil, nil, fail(catalog.UnsupportedType, "%s is not a workbook in XLSX; save it as XLSX or CSV", name)
		}
	}
	parts, err := bundle(archive, name, o)
	return parts, nil, err
}

// compound returns the failure of a file in the format of old Office documents, in which encrypted ones are wrapped.
func compound(content Content, name string) error {
	const wrapped = "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"
	window := make([]byte, sniffed)
	for at := int64(0); at < content.Size(); at += int64(len(window) - len(wrapped)) {
		n, err := content.ReadAt(window, at)
		if bytes.Contains(window[:n], []byte(wrapped)) {
			return fail(catalog.Encrypted, "%s is protected by a password", name)
		}
		if err != nil {
			break
		}
	}
	return fail(catalog.UnsupportedType, "%s has the format of Excel before 2007 (XLS); save it as XLSX or CSV", name)
}

// partOfText opens a text: JSON by its beginning or its name, else a table.
func partOfText(t text, o Options) (part, error) {
	r, err := t.decoded()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	start := make([]byte, 256)
	n, err := io.ReadFull(r, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, t.broken(err)
	}
	start = bytes.TrimSpace(start[:n])
	switch ext := strings.ToLower(path.Ext(t.name)); {
	case ext == ".jsonld", ext != ".ndjson" && ext != ".jsonl" && isLinked(start):
		return &linked{text: t}, nil
	case ext == ".json":
		return &catalogs{text: t}, nil
	case ext == ".ndjson", ext == ".jsonl", bytes.HasPrefix(start, []byte("{")):
		return &catalogs{text: t, kind: o.Resource, lined: true}, nil
	}
	return newPart(t.name, t.separated, o)
}

// newPart opens a table.
func newPart(name string, open func() (lines, error), o Options) (part, error) {
	t, err := newTable(name, open, o)
	if err == nil && t.kind == catalog.ArticulationKind {
		return &articulations{table: t}, nil
	}
	if err == nil && t.kind == catalog.OutcomeListKind {
		return &outcomes{t, o.Owner}, nil
	}
	return t, err
}

// textOf returns a file of a directory or archive.
func textOf(fsys fs.FS, name, base string) text {
	return text{base, func() (io.ReadCloser, error) {
		file, err := fsys.Open(name)
		if err != nil {
			return nil, err
		}
		return struct {
			io.Reader
			io.Closer
		}{&window{r: file, what: base, max: maxUnpacked}, file}, nil
	}}
}

// bundle opens the files of a directory or archive and of the directories in it.
func bundle(fsys fs.FS, name string, o Options) ([]part, error) {
	files := map[string]text{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		base := strings.ToLower(path.Base(p))
		if err != nil || d.IsDir() || strings.HasPrefix(base, ".") || strings.HasPrefix(p, "__MACOSX/") {
			return err
		}
		if slices.Contains([]string{".csv", ".tsv", ".json", ".jsonld", ".ndjson", ".jsonl"}, path.Ext(base)) {
			if _, twice := files[base]; twice {
				return fail(catalog.Malformed, "%s has two files %s", name, base)
			}
			files[base] = textOf(fsys, p, path.Base(p))
		}
		return nil
	})
	if err != nil {
		var failure *Failure
		if !errors.As(err, &failure) {
			err = fail(catalog.Malformed, "%s: %s", name, reason(err))
		}
		return nil, err
	}
	if len(files) == 0 {
		return nil, fail(catalog.UnsupportedType, "%s contains neither CSV nor JSON files", name)
	}
	if roster, err := newRoster(files, o); roster != nil || err != nil {
		return roster, err
	}
	if o.Layout == OneRoster {
		return nil, fail(catalog.UnknownLayout, "%s is not a OneRoster bundle: it needs courses.csv or classes.csv with a "+
			"column sourcedId", name)
	}
	o.Resource = ""
	var parts []part
	for _, base := range slices.Sorted(maps.Keys(files)) {
		p, err := partOfText(files[base], o)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}
