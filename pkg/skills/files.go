package skills

import (
	"fmt"
	"io"
	"io/fs"
	"path"
)

// maxSourceFile limits the size of a source file, in bytes; the largest official one is 25 MB.
const maxSourceFile = 256 << 20

// file is a source file in its file system.
type file struct {
	fsys fs.FS
	path string
}

func (f file) open() (io.ReadCloser, error) {
	r, err := f.fsys.Open(f.path)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(r, maxSourceFile), r}, nil
}

// eachRow calls row for every row of a file of comma-separated values that has the required columns.
func (f file) eachRow(required []string, row func(*rowReader) error) error {
	r, err := f.open()
	if err != nil {
		return err
	}
	defer r.Close()
	return eachRow(r, required, row)
}

// findFiles returns the files that fit, by base name; the first of equal names wins.
func findFiles(sources []fs.FS, fits func(name string) bool) (map[string]file, error) {
	found := map[string]file{}
	for _, fsys := range sources {
		err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if _, taken := found[path.Base(p)]; !d.IsDir() && !taken && fits(path.Base(p)) {
				found[path.Base(p)] = file{fsys, p}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("list files: %w", err)
		}
	}
	return found, nil
}
