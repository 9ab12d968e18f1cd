package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every module has a permitted licence, and notices and bill of materials are complete.
func TestLicences(t *testing.T) {
	t.Chdir(root(t))
	dir := t.TempDir()
	notices, bill := filepath.Join(dir, "notices"), filepath.Join(dir, "sbom")
	var says bytes.Buffer
	if err := run(notices, bill, &says); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(notices)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(bill)
	if err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version, Purl string }
	}
	err = json.Unmarshal(packed, &parsed)
	if err != nil || parsed.BOMFormat != "CycloneDX" || len(parsed.Components) < 20 {
		t.Fatalf("bill of materials: %v: %.300s", err, packed)
	}
	for _, c := range parsed.Components {
		if !bytes.Contains(text, []byte("\n"+c.Name+" "+c.Version+" (")) {
			t.Errorf("the notices lack %s %s", c.Name, c.Version)
		}
		if c.Purl == "" && c.Name != "std" && !strings.HasPrefix(c.Name, "pdfium.") {
			t.Errorf("%s has no package URL", c.Name)
		}
	}
	for _, name := range []string{
		"github.com/aws/aws-lambda-go", "github.com/klippa-app/go-pdfium", "pdfium.googlesource.com/pdfium",
		"npm/preact", "std",
	} {
		if !strings.Contains(says.String(), name+" ") {
			t.Errorf("%s is not listed", name)
		}
	}
	if strings.Contains(says.String(), "goaws") {
		t.Error("a tool is listed as shipped")
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, m := range map[string]module{
		"none":          {},
		"another":       {Licences: []string{"GPL-3.0"}},
		"one of two":    {Licences: []string{"MIT", "AGPL-3.0"}},
		"only to build": {Licences: []string{"OFL-1.1"}},
	} {
		if m.check(shipped) == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	if err := (module{Licences: []string{"Apache-2.0", "MIT"}}).check(shipped); err != nil {
		t.Error(err)
	}
}

func TestLicenceIsRead(t *testing.T) {
	dir := t.TempDir()
	goes, err := os.ReadFile(filepath.Join(root(t), "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "LICENCE.md"), goes, 0o644); err != nil {
		t.Fatal(err)
	}
	m := module{Path: "x", Dir: dir}
	if err := m.read(); err != nil || len(m.Licences) != 1 || m.Licences[0] != "Apache-2.0" || m.Text == "" {
		t.Errorf("%v, %v", m.Licences, err)
	}
	m = module{Path: "x", Dir: t.TempDir()}
	if err := m.read(); err != nil || m.check(shipped) == nil {
		t.Errorf("a module without a licence: %v", err)
	}
}

var lambdaFlags = regexp.MustCompile(`(?m)^GOFLAGS_LAMBDA := -tags (\S+) (.*)-ldflags "(.*)"$`)

// Building the same source in another directory gives the same bundle.
func TestBundlesAreReproducible(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root(t), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	flags := lambdaFlags.FindStringSubmatch(string(makefile))
	if flags == nil {
		t.Fatal("the Makefile does not define GOFLAGS_LAMBDA")
	}
	build := func(dir string) [sha256.Size]byte {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		source := os.DirFS(root(t))
		for _, part := range []string{"go.mod", "go.sum", "pkg", "functions"} {
			if err := copyTree(source, part, dir); err != nil {
				t.Fatal(err)
			}
		}
		bundle := filepath.Join(dir, "bootstrap")
		args := append([]string{"build", "-tags", flags[1], "-ldflags", flags[3]}, strings.Fields(flags[2])...)
		command := exec.Command("go", append(args, "-o", bundle, "./functions/labor")...)
		command.Dir, command.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		built, err := os.ReadFile(bundle)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(built, []byte(dir)) {
			t.Error("the bundle contains the path of its build directory")
		}
		return sha256.Sum256(built)
	}
	if one, two := build(t.TempDir()), build(filepath.Join(t.TempDir(), "another", "place")); one != two {
		t.Errorf("%x and %x", one, two)
	}
}

func copyTree(source fs.FS, part, dir string) error {
	return fs.WalkDir(source, part, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(dir, path), 0o755)
		}
		text, err := fs.ReadFile(source, path)
		return errors.Join(err, os.WriteFile(filepath.Join(dir, path), text, 0o644))
	})
}
