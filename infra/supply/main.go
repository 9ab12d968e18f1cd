// Command supply lists the third-party code in what the project ships (the functions and
// skillsctl), writes its notices and a bill of materials (CycloneDX), and fails if a licence
// is not permitted. It reads the modules from the module cache and uses no network.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/licensecheck"
)

// Permitted licences by SPDX id: for shipped code, and additionally for code that only
// builds, tests and measures.
var (
	shipped     = []string{"MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
	development = []string{"BlueOak-1.0.0", "CC-BY-4.0", "ISC", "MPL-2.0", "OFL-1.1"}
)

// carried is third-party code that modules include without its licence, by module.
var carried = map[string]module{
	"github.com/klippa-app/go-pdfium": {
		Path: "pdfium.googlesource.com/pdfium", Licences: []string{"BSD-3-Clause", "Apache-2.0"},
		Text: "PDFium as WebAssembly. Copyright The PDFium Authors. The terms, also those of the code that PDFium\n" +
			"includes, are in https://pdfium.googlesource.com/pdfium/+/refs/heads/main/LICENSE and in its\n" +
			"third_party directory.\n",
	},
}

// scripts are the npm packages whose code is part of the function docs (see infra/reference and
// infra/console).
var scripts = []string{"preact"}

// readScript returns an installed npm package.
func readScript(name string) (module, error) {
	dir := filepath.Join("node_modules", filepath.FromSlash(name))
	var p struct{ Version, License string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return module{}, fmt.Errorf("%s: %w", name, err)
	}
	purl := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
	m := module{Path: "npm/" + name, Version: p.Version, Dir: dir, PURL: purl}
	if err := m.read(); err != nil {
		return module{}, err
	}
	if !slices.Equal(m.Licences, []string{p.License}) {
		return module{}, fmt.Errorf("%s: package.json declares %s, but the licence files are %v", name, p.License, m.Licences)
	}
	return m, m.check(shipped)
}

func main() {
	notices := flag.String("notices", filepath.Join("build", "THIRD-PARTY-NOTICES.txt"),
		"output `file` of the licences; empty for none")
	bill := flag.String("sbom", filepath.Join("build", "sbom.cdx.json"), "output `file` of the bill of materials; "+
		"empty for none")
	flag.Parse()
	if err := run(*notices, *bill, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(notices, bill string, out io.Writer) error {
	ours, err := modules(true, "./functions/...", "./infra/skillsctl")
	if err != nil {
		return err
	}
	everything, err := modules(false, "-test", "./...", "tool")
	if err != nil {
		return err
	}
	var problems []error
	for _, m := range everything {
		allowed := shipped
		if !slices.ContainsFunc(ours, func(o module) bool { return o.Path == m.Path }) {
			allowed = append(slices.Clone(shipped), development...)
		}
		problems = append(problems, m.check(allowed))
	}
	for _, name := range scripts {
		m, err := readScript(name)
		if err != nil {
			return err
		}
		ours = append(ours, m)
	}
	for _, m := range ours {
		fmt.Fprintf(out, "%-60s %-40s %s\n", m.Path, m.Version, strings.Join(m.Licences, ", "))
	}
	fmt.Fprintf(out, "%d modules are shipped, %d more build, test and measure\n", len(ours),
		len(everything)-len(ours)+len(scripts))
	if err := errors.Join(problems...); err != nil {
		return err
	}
	if notices != "" {
		problems = append(problems, write(notices, notice(ours)))
	}
	if bill != "" {
		text, err := materials(ours)
		problems = append(problems, err, write(bill, text))
	}
	return errors.Join(problems...)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// module is a third-party module with its licences.
type module struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Replace                 *module

	PURL     string   // package URL, if it is not a Go module
	Licences []string // SPDX ids
	Text     string
}

// modules lists the modules that the packages of the patterns are compiled from, by path.
// lambda selects the build for Lambda.
func modules(lambda bool, patterns ...string) ([]module, error) {
	args := []string{"list", "-deps", "-json=Module,Standard"}
	if lambda {
		args = append(args, "-tags", "lambda.norpc")
	}
	command := exec.Command("go", append(args, patterns...)...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if lambda {
		command.Env = append(command.Env, "GOOS=linux", "GOARCH=arm64")
	}
	var stderr bytes.Buffer
	command.Stderr = &stderr
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &stderr)
	}
	found := map[string]module{}
	for decoder := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct{ Module *module }
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		m := p.Module
		if m == nil || m.Main {
			continue
		}
		if m.Replace != nil {
			m = m.Replace
		}
		found[m.Path] = *m
	}
	std, err := exec.Command("go", "env", "GOVERSION", "GOROOT").Output()
	version, dir, ok := strings.Cut(strings.TrimSpace(string(std)), "\n")
	if err != nil || !ok {
		return nil, fmt.Errorf("go env: %w: %s", err, std)
	}
	found["std"] = module{Path: "std", Version: version, Dir: dir}
	var all []module
	for _, m := range found {
		if err := m.read(); err != nil {
			return nil, err
		}
		all = append(all, m)
		if c, ok := carried[m.Path]; ok {
			c.Version = "as in " + m.Path + " " + m.Version
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// read reads the licence files in a module's root, and notices, which the Apache licence
// requires to be kept.
func (m *module) read() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		kind, _, _ := strings.Cut(strings.TrimSuffix(name, filepath.Ext(name)), "-")
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"},
			kind) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Path, err)
		}
		m.Text += string(text) + "\n"
		for _, match := range licensecheck.Scan(text).Match {
			if !match.IsURL && !slices.Contains(m.Licences, match.ID) {
				m.Licences = append(m.Licences, match.ID)
			}
		}
	}
	slices.Sort(m.Licences)
	return nil
}

// check returns an error unless all licences of the module are in allowed.
func (m module) check(allowed []string) error {
	if len(m.Licences) == 0 {
		return fmt.Errorf("%s %s: no licence found", m.Path, m.Version)
	}
	for _, id := range m.Licences {
		if !slices.Contains(allowed, id) {
			return fmt.Errorf("%s %s: licence %s is not one of %s", m.Path, m.Version, id, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// notice returns the notices to ship.
func notice(all []module) []byte {
	var b bytes.Buffer
	b.WriteString("This software contains code from the following modules under the terms listed with each.\n")
	for _, m := range all {
		line, licences := strings.Repeat("=", 80), strings.Join(m.Licences, ", ")
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n%s\n\n%s", line, m.Path, m.Version, licences, line, m.Text)
	}
	return b.Bytes()
}

// materials returns the bill of materials. It contains no time or random value, so that it
// is reproducible.
func materials(all []module) ([]byte, error) {
	var components []cyclonedx.Component
	for _, m := range all {
		var licences cyclonedx.Licenses
		for _, id := range m.Licences {
			licences = append(licences, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
		}
		c := cyclonedx.Component{
			Type: cyclonedx.ComponentTypeLibrary, Scope: cyclonedx.ScopeRequired, BOMRef: m.Path + "@" + m.Version,
			Name: m.Path, Version: m.Version, PackageURL: m.PURL, Licenses: &licences,
		}
		if m.Sum != "" {
			c.PackageURL = "pkg:golang/" + m.Path + "@" + m.Version
			c.Properties = &[]cyclonedx.Property{{Name: "go:module:sum", Value: m.Sum}}
		}
		components = append(components, c)
	}
	bill := cyclonedx.NewBOM()
	bill.Metadata = &cyclonedx.Metadata{Component: &cyclonedx.Component{
		BOMRef: "skillscurriculum", Type: cyclonedx.ComponentTypeApplication, Name: "skillscurriculum",
		Licenses: &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
	}}
	bill.Components = &components
	var b bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&b, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bill); err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	return b.Bytes(), nil
}
