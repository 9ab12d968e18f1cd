// Supply lists what other people's code ends up in what we ship (the functions
// and the operator's tool): it writes its notices and a bill of materials
// (CycloneDX), and fails where a licence is not one that the project takes. It
// reads the modules from the module cache and asks nobody.
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

// Licences that the project takes, by their SPDX ids: for what is shipped, and
// in addition for what only builds, tests and measures.
var (
	shipped     = []string{"MIT", "MIT-0", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0"}
	development = []string{"BlueOak-1.0.0", "CC-BY-4.0", "FTL", "ISC", "MPL-2.0", "OFL-1.1"}
)

// judged are licences that no program reads off a module's root.
var judged = map[string]string{
	"github.com/golang/freetype": "FTL", // at the user's choice; the other is the GPL
}

// carried is code that modules carry along without its licence, by module.
var carried = map[string]module{
	"github.com/klippa-app/go-pdfium": {
		Path: "pdfium.googlesource.com/pdfium", Licences: []string{"BSD-3-Clause", "Apache-2.0"},
		Text: "PDFium as WebAssembly. Copyright The PDFium Authors. The terms, also of what PDFium itself contains, stand at\n" +
			"https://pdfium.googlesource.com/pdfium/+/refs/heads/main/LICENSE and in its third_party directory.\n",
	},
}

// viewer is the npm package whose one script the function docs carries (see
// infra/reference). What its own licence and that script's notices name beyond shipped
// licences is icons and an event emitter.
var viewer = struct {
	name, notices string
	licences      []string
}{"@stoplight/elements", "web-components.min.js.LICENSE.txt", []string{"Apache-2.0", "BSD-3-Clause", "CC-BY-4.0", "MIT", "Unlicense"}}

// readViewer returns the viewer as it is installed.
func readViewer() (module, error) {
	dir := filepath.Join("node_modules", filepath.FromSlash(viewer.name))
	var p struct{ Version, License string }
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return module{}, fmt.Errorf("%s: %w", viewer.name, err)
	}
	m := module{Path: "npm/" + viewer.name, Version: p.Version, Dir: dir, PURL: "pkg:npm/" + strings.Replace(viewer.name, "@", "%40", 1) + "@" + p.Version}
	if err := m.read(); err != nil {
		return module{}, err
	}
	if !slices.Equal(m.Licences, []string{p.License}) {
		return module{}, fmt.Errorf("%s: its package says %s, its licence is %v", viewer.name, p.License, m.Licences)
	}
	notices, err := os.ReadFile(filepath.Join(dir, viewer.notices))
	m.Text, m.Licences = m.Text+string(notices)+"\n", viewer.licences
	return m, err
}

func main() {
	notices := flag.String("notices", filepath.Join("build", "THIRD-PARTY-NOTICES.txt"), "takes the licences of what is shipped; empty for none")
	bill := flag.String("sbom", filepath.Join("build", "sbom.cdx.json"), "takes the bill of materials of what is shipped; empty for none")
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
	page, err := readViewer()
	if err != nil {
		return err
	}
	ours = append(ours, page)
	for _, m := range ours {
		fmt.Fprintf(out, "%-60s %-40s %s\n", m.Path, m.Version, strings.Join(m.Licences, ", "))
	}
	fmt.Fprintf(out, "%d modules are shipped, %d more build, test and measure\n", len(ours), len(everything)-len(ours)+1)
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

// module is somebody else's module, with what its licence files say.
type module struct {
	Path, Version, Dir, Sum string
	Main                    bool
	Replace                 *module

	PURL     string   // package URL of what is no Go module
	Licences []string // SPDX ids
	Text     string
}

// modules lists the modules of which packages are compiled into what the
// patterns name, in order of their paths; for Lambda when that is where it runs.
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
	var says bytes.Buffer
	command.Stderr = &says
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, says.Bytes())
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

// read reads the licence files of a module's root. A notice with them is kept,
// as the Apache licence demands.
func (m *module) read() error {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return fmt.Errorf("%s: %w", m.Path, err)
	}
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		kind, _, _ := strings.Cut(strings.TrimSuffix(name, filepath.Ext(name)), "-")
		if e.IsDir() || !slices.Contains([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT"}, kind) {
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
	if id, ok := judged[m.Path]; ok {
		m.Licences = []string{id}
	}
	slices.Sort(m.Licences)
	return nil
}

// check wants every licence of a module to be one of those.
func (m module) check(allowed []string) error {
	if len(m.Licences) == 0 {
		return fmt.Errorf("%s %s: no licence was found", m.Path, m.Version)
	}
	for _, id := range m.Licences {
		if !slices.Contains(allowed, id) {
			return fmt.Errorf("%s %s: licence %s is not one of %s", m.Path, m.Version, id, strings.Join(allowed, ", "))
		}
	}
	return nil
}

// notice is the text that goes along with what is shipped.
func notice(all []module) []byte {
	var b bytes.Buffer
	b.WriteString("This software contains code of the following modules, under the terms that stand below each.\n")
	for _, m := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s (%s)\n%s\n\n%s", strings.Repeat("=", 80), m.Path, m.Version, strings.Join(m.Licences, ", "), strings.Repeat("=", 80), m.Text)
	}
	return b.Bytes()
}

// materials is the bill of materials. It holds no time and no random number: the
// same modules make the same bytes.
func materials(all []module) ([]byte, error) {
	var components []cyclonedx.Component
	for _, m := range all {
		var licences cyclonedx.Licenses
		for _, id := range m.Licences {
			licences = append(licences, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
		}
		c := cyclonedx.Component{Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, Scope: cyclonedx.ScopeRequired, Licenses: &licences}
		c.PackageURL = m.PURL
		if m.Sum != "" {
			c.PackageURL = "pkg:golang/" + m.Path + "@" + m.Version
			c.Properties = &[]cyclonedx.Property{{Name: "go:module:sum", Value: m.Sum}}
		}
		c.BOMRef = m.Path + "@" + m.Version
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
