package skills

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/catalog"
)

// smallCSV is a vocabulary for tests: each skill is there for a rule.
//
//go:embed testdata/small.csv
var smallCSV string

//go:embed testdata/small-occupations.csv
var smallOccupations string

var smallInfo = Info{Name: "small", Version: "1", Licence: "none", Attribution: "tests"}

func compileSmall(t testing.TB) []byte {
	t.Helper()
	var b Builder
	if err := b.AddCSV(smallInfo, strings.NewReader(smallCSV)); err != nil {
		t.Fatal(err)
	}
	if err := b.AddRequirements(strings.NewReader(smallOccupations)); err != nil {
		t.Fatal(err)
	}
	compiled, err := b.Compile()
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func openSmall(t testing.TB) *Taxonomy {
	t.Helper()
	tax, err := Open(compileSmall(t))
	if err != nil {
		t.Fatal(err)
	}
	return tax
}

// compileESCO returns the full vocabulary with its occupations, compiled once.
func compileESCO(t testing.TB) []byte {
	t.Helper()
	folder := devdata.Path(t, "esco")
	escoOnce.Do(func() {
		var b Builder
		var sources []fs.FS
		for _, name := range []string{"esco-1.1.1-classification-en.zip", "esco-1.1.1-relations.zip"} {
			z, err := zip.OpenReader(filepath.Join(folder, name))
			if err != nil {
				escoErr = err
				return
			}
			defer z.Close()
			sources = append(sources, z)
		}
		crosswalk, err := os.ReadFile(filepath.Join(folder, "..", "onet", "soc_isco_crosswalk.csv"))
		if err != nil {
			escoErr = err
			return
		}
		if escoErr = b.AddESCO("1.1.1", sources...); escoErr != nil {
			return
		}
		if escoErr = b.AddONET("", fstest.MapFS{"soc_isco_crosswalk.csv": {Data: crosswalk}}); escoErr != nil {
			return
		}
		escoCompiled, escoErr = b.Compile()
	})
	if escoErr != nil {
		t.Fatal(escoErr)
	}
	return escoCompiled
}

var (
	escoOnce     sync.Once
	escoCompiled []byte
	escoErr      error
)

func openESCO(t testing.TB) *Taxonomy {
	t.Helper()
	tax, err := Open(compileESCO(t))
	if err != nil {
		t.Fatal(err)
	}
	return tax
}

func TestTaxonomyGivesWhatWasCompiled(t *testing.T) {
	tax := openSmall(t)
	want := Info{Name: "small", Version: "1", Licence: "none", Attribution: "tests", Skills: 18, Occupations: 1}
	if diff := cmp.Diff(want, tax.Info()); diff != "" {
		t.Error(diff)
	}
	if tax.Index() != nil {
		t.Error("an index of labels, which nobody made")
	}
	s, ok := tax.Skill("x:circuit")
	if !ok {
		t.Fatal("x:circuit is missing")
	}
	if diff := cmp.Diff(Skill{
		ID: "x:circuit", Name: "circuit design", Description: "Design of electronic circuits.", Aliases: []string{},
		Kind: "skill", Field: "engineering", Broader: []string{"x:electronics"},
	}, s); diff != "" {
		t.Error(diff)
	}
	if name, ok := tax.Name("x:cpp"); !ok || name != "C++" {
		t.Errorf("name of x:cpp: %q, %v", name, ok)
	}
	for _, id := range []string{"", "x:", "x:zzz", "a"} {
		if _, ok := tax.Skill(id); ok {
			t.Errorf("%q was found", id)
		}
	}
	if diff := cmp.Diff([]string{"x:c", "x:cpp", "x:go"}, tax.Related("x:programming")); diff != "" {
		t.Error(diff)
	}
	if got := tax.Related("x:none"); got != nil {
		t.Errorf("related to nothing: %v", got)
	}
}

func TestCompileIsDeterministic(t *testing.T) {
	if !bytes.Equal(compileSmall(t), compileSmall(t)) {
		t.Error("the same sources gave different bytes")
	}
}

func TestRequirements(t *testing.T) {
	tax := openSmall(t)
	want := []catalog.SkillRef{
		{SkillID: "x:programming", SkillName: "computer programming", Level: 5, Confidence: 1},
		{SkillID: "x:algorithms", SkillName: "algorithms", Level: 4, Confidence: 0.8},
		{SkillID: "x:sql", SkillName: "SQL", Level: 3, Confidence: 0.8},
	}
	for _, soc := range []string{"15-1252", "15-1252.00", "15-1252.01"} {
		if diff := cmp.Diff(want, tax.Requirements(soc)); diff != "" {
			t.Errorf("%s: %s", soc, diff)
		}
		if name, ok := tax.Occupation(soc); !ok || name != "Software Developers" {
			t.Errorf("%s is called %q", soc, name)
		}
	}
	if got := tax.Requirements("99-9999"); got != nil {
		t.Errorf("unknown occupation: %v", got)
	}
}

func TestSearch(t *testing.T) {
	tax := openSmall(t)
	names := func(query string, limit, offset int) ([]string, int) {
		page, total := tax.Search(query, limit, offset)
		var out []string
		for _, s := range page {
			out = append(out, s.Name)
		}
		return out, total
	}
	for _, c := range []struct {
		query         string
		limit, offset int
		want          []string
		total         int
	}{
		{"", 3, 0, []string{".NET", "algorithms", "C"}, 18},
		{"  ", 2, 17, []string{"welding techniques"}, 18},
		{"programming", 10, 0, []string{"computer programming", "Go (programming language)"}, 2},
		{"comp prog", 10, 0, nil, 0}, // only the last word may be a beginning
		{"computer prog", 10, 0, []string{"computer programming"}, 1},
		{"C++", 10, 0, []string{"C++"}, 1},
		{"stat", 10, 0, []string{"statistics"}, 1},
		{"c", 1, 0, []string{"C"}, 6},
		{"c", 1, 99, nil, 6},
		{"software testing", 10, 0, []string{"test software"}, 1},
		{"!!!", 10, 0, nil, 0},
		{"", 0, 0, nil, 18},
		{"", 1, -5, []string{".NET"}, 18},
	} {
		got, total := names(c.query, c.limit, c.offset)
		if diff := cmp.Diff(c.want, got); diff != "" || total != c.total {
			t.Errorf("%q %d %d: total %d, want %d: %s", c.query, c.limit, c.offset, total, c.total, diff)
		}
	}
}

func TestSearchPagesHoldEverythingOnce(t *testing.T) {
	tax := Starter()
	rapid.Check(t, func(rt *rapid.T) {
		query := rapid.SampledFrom([]string{"", "data", "de", "man", "c", "engineering", "software t"}).Draw(rt, "query")
		_, all := tax.Search(query, 0, 0)
		limit := rapid.IntRange(1+all/50, 40+all/50).Draw(rt, "limit")
		seen := map[string]bool{}
		_, total := tax.Search(query, limit, 0)
		for offset := 0; offset < total; offset += limit {
			page, again := tax.Search(query, limit, offset)
			if again != total {
				rt.Fatalf("total changed from %d to %d", total, again)
			}
			for _, s := range page {
				if seen[s.ID] {
					rt.Fatalf("%s came twice", s.ID)
				}
				seen[s.ID] = true
			}
		}
		if len(seen) != total {
			rt.Fatalf("%d of %d", len(seen), total)
		}
	})
}

func TestOpenRejectsInvalidFiles(t *testing.T) {
	good := compileSmall(t)
	version := bytes.Clone(good)
	binary.LittleEndian.PutUint32(version[4:], 99)
	damaged := bytes.Clone(good)
	damaged[len(damaged)/2] ^= 1
	for name, raw := range map[string][]byte{
		"not a compiled taxonomy": []byte("PK\x03\x04 something else entirely"),
		"file format 99":          version,
		"truncated or damaged":    good[:len(good)-5],
		"checksum mismatch":       damaged,
		"open taxonomy: not a":    nil,
	} {
		if _, err := Open(raw); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompileNeedsSkills(t *testing.T) {
	var b Builder
	if _, err := b.Compile(); err == nil {
		t.Error("an empty builder compiled")
	}
	if err := b.AddCSV(smallInfo, strings.NewReader("id,name\nx:1,one\n")); err != nil {
		t.Fatal(err)
	}
	if err := b.AddRequirements(strings.NewReader("soc,name,skillId,level,confidence\n11-1011,Chiefs,x:2,1,1\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Compile(); err == nil || !strings.Contains(err.Error(), "x:2") {
		t.Errorf("a requirement of an unknown skill compiled: %v", err)
	}
}

func TestStarter(t *testing.T) {
	tax := Starter()
	info := tax.Info()
	if info.Name == "" || info.Version == "" || info.Licence == "" || info.Attribution == "" {
		t.Errorf("the starter vocabulary does not say what it is: %+v", info)
	}
}

func TestESCO(t *testing.T) {
	tax := openESCO(t)
	info := tax.Info()
	if info.Skills != 13890 || info.Name != "ESCO" || info.Version != "1.1.1" ||
		!strings.Contains(info.Attribution, "European Commission") {
		t.Errorf("%+v", info)
	}
	s, ok := tax.Skill("esco:19a8293b-8e95-4de3-983f-77484079c389")
	if !ok || s.Name != "Java (computer programming)" || s.Kind != "knowledge" || len(s.Aliases) == 0 || s.Field == "" {
		t.Errorf("%v %+v", ok, s)
	}
	page, total := tax.Search("python", 5, 0)
	if total == 0 || page[0].Name != "Python (computer programming)" {
		t.Errorf("python: %d, %v", total, page)
	}
	refs := tax.Requirements("15-1252")
	if len(refs) == 0 || len(refs) > maxRequirements {
		t.Fatalf("%d requirements of software developers", len(refs))
	}
	for i, r := range refs {
		if r.Level < 1 || r.Level > 5 || r.Confidence < 0 || r.Confidence > 1 {
			t.Errorf("%+v", r)
		}
		if i > 0 && refs[i-1].Confidence < r.Confidence {
			t.Error("not ordered by confidence")
		}
	}
}

// What a function spares itself whose bundle carries the built-in vocabulary
// compiled.
func BenchmarkStarter(b *testing.B) {
	compile := func() []byte {
		var builder Builder
		err := builder.AddStarter()
		var compiled []byte
		if err == nil {
			compiled, err = builder.Compile()
		}
		if err != nil {
			b.Fatal(err)
		}
		return compiled
	}
	b.Run("compile", func(b *testing.B) {
		for b.Loop() {
			compile()
		}
	})
	compiled := compile()
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			if _, err := Open(compiled); err != nil {
				b.Fatal(err)
			}
		}
	})
}
