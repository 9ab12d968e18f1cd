package extraction

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// compileSmall compiles the small vocabulary of package skills.
func compileSmall(t testing.TB) []byte {
	t.Helper()
	b := skills.Builder{Index: Indexer{}.Index}
	for name, add := range map[string]func(*os.File) error{
		"small.csv":             func(f *os.File) error { return b.AddCSV(skills.Info{Name: "small"}, f) },
		"small-occupations.csv": func(f *os.File) error { return b.AddRequirements(f) },
	} {
		file, err := os.Open(filepath.Join("..", "skills", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if err := add(file); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func openSmall(t testing.TB) *skills.Taxonomy {
	t.Helper()
	tax, err := skills.Open(compileSmall(t))
	if err != nil {
		t.Fatal(err)
	}
	return tax
}

// openESCO returns ESCO with its occupations.
func openESCO(t testing.TB) *skills.Taxonomy {
	t.Helper()
	folder := devdata.Path(t, "esco")
	tax, err := esco(folder)
	if err != nil {
		t.Fatal(err)
	}
	return tax
}

var (
	escoOnce sync.Once
	escoTax  *skills.Taxonomy
	escoErr  error
)

func esco(folder string) (*skills.Taxonomy, error) {
	escoOnce.Do(func() {
		b := skills.Builder{Index: Indexer{}.Index}
		var sources []fs.FS
		for _, name := range []string{"esco-1.1.1-classification-en.zip", "esco-1.1.1-relations.zip"} {
			var z *zip.ReadCloser
			if z, escoErr = zip.OpenReader(filepath.Join(folder, name)); escoErr != nil {
				return
			}
			defer z.Close()
			sources = append(sources, z)
		}
		var compiled []byte
		if escoErr = b.AddESCO("1.1.1", sources...); escoErr == nil {
			compiled, escoErr = b.Compile()
		}
		if escoErr == nil {
			escoTax, escoErr = skills.Open(compiled)
		}
	})
	return escoTax, escoErr
}

// FuzzOpen damages a file and mends its checksum, so that the checks behind it are reached.
func FuzzOpen(f *testing.F) {
	const header = 16 // bytes
	good := compileSmall(f)
	f.Add(100, byte(1), 0)
	f.Add(20, byte(255), 3)
	f.Add(60, byte(128), 0)
	f.Fuzz(func(t *testing.T, at int, change byte, cut int) {
		raw := bytes.Clone(good)
		if at < 0 || cut < 0 || at >= len(raw) || cut >= len(raw)-header {
			t.Skip()
		}
		raw[at] ^= change
		raw = raw[:len(raw)-cut]
		if at >= header {
			binary.LittleEndian.PutUint32(raw[12:], crc32.Checksum(raw[header:], crc32.MakeTable(crc32.Castagnoli)))
		}
		tax, err := skills.Open(raw)
		if err != nil {
			return
		}
		page, _ := tax.Search("", 100, 0)
		for _, s := range page {
			tax.Skill(s.ID)
			tax.Related(s.ID)
		}
		tax.Search("c", 10, 0)
		tax.Requirements("15-1252")
		extracted(t, NewExtractor(tax, opened(t)),
			catalog.SyllabusText{Text: "Apply SQL, C++ and statistics to circuit design and software testing."})
	})
}
