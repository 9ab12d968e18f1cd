// Package console builds the page of GET /console: what registrars, committees and department
// chairs use instead of calls. It is a program in TypeScript (src) over the public API and
// nothing else. Its files are part of the bundle of the function docs, beside the reference.
package console

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path/filepath"

	"skillscurriculum/infra/reference"
	pages "skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/intake/entry"
)

//go:embed page.html
var page string

//go:embed style.css
var style string

// Build writes console.html and its assets into folder, which reference.Build has made, from
// the repository at root, including its node_modules.
func Build(root, folder string) error {
	bundle := exec.Command("node", filepath.Join("node_modules", "esbuild", "bin", "esbuild"),
		filepath.Join("infra", "console", "src", "main.tsx"),
		"--bundle", "--minify", "--format=iife", "--target=es2023", "--jsx=automatic", "--jsx-import-source=preact",
		"--charset=utf8", "--log-level=warning")
	bundle.Dir = root
	var stderr bytes.Buffer
	bundle.Stderr = &stderr
	script, err := bundle.Output()
	if err != nil {
		return fmt.Errorf("bundle the console (run make node_modules): %w\n%s", err, stderr.String())
	}
	names := map[string]string{}
	files := map[string]string{"console.js": string(script), "console.css": pages.Style + style}
	for name, text := range files {
		if names[name], err = reference.Asset(folder, name, text); err != nil {
			return err
		}
	}
	columns := map[string][]string{} // what a column of a file can become, by resource
	for _, kind := range entry.Tabular {
		columns[entry.Resource(kind)] = entry.Fields(kind)
	}
	fields, err := json.Marshal(columns)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := template.Must(template.New("page").Parse(page)).Execute(&b,
		map[string]any{"Base": api.BasePath, "Assets": names, "Fields": string(fields)}); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "console.html"), b.Bytes(), 0o644)
}
