// Package reference builds the page of GET /docs: the operations of the OpenAPI document, which its script shows and
// calls, with guides from the pages in docs. The files are part of the bundle of the
// function docs. Their names contain their hashes, so that they can be cached forever.
package reference

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"

	pages "skillscurriculum/pkg/alignment/page"
	"skillscurriculum/pkg/api"
)

// Folder is the directory of the files, next to the bootstrap of the function docs.
const Folder = "site"

var (
	//go:embed page.html
	page string
	//go:embed page.css
	style string
	//go:embed page.js
	script string
)

// guide is an article of the page: sections of pages in docs by heading, or the whole page
// without headings.
type guide struct {
	ID, Title string
	sections  []section
}

type section struct {
	page     string
	headings []string
}

const contract = "docs/contract.md"

var guides = []guide{
	{"first-request", "First request", []section{
		{"docs/first-request.md", nil}, {"docs/clients.md", []string{"curl", "Python", "TypeScript"}},
		{contract, []string{"Authentication", "Requests", "Responses"}},
	}},
	{"errors-guide", "Errors", []section{{contract, []string{"Errors", "Idempotency", "Conditional requests"}}}},
	{"limits", "Limits", []section{{contract, []string{"Rate limits", "Lists"}}}},
	{"extraction-guide", "Extraction and evidence", []section{
		{contract, []string{"Extraction", "Skills", "Reviews", "Documents", "Equivalencies"}},
	}},
	{"reports-guide", "Reports and figures", []section{{contract, []string{"Reports", "Labor market"}}}},
	{"in-step", "Staying in sync", []section{{"docs/in-step.md", nil}, {contract, []string{"Change feed", "Webhooks"}}}},
}

// Build writes the files into folder from the repository at root.
func Build(root, folder string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(folder, "assets"), 0o755); err != nil {
		return err
	}
	names := map[string]string{}
	files := map[string]string{"page.js": script, "page.css": pages.Style + style}
	for name, text := range files {
		var err error
		if names[name], err = Asset(folder, name, text); err != nil {
			return err
		}
	}
	type article struct {
		ID, Title string
		Text      template.HTML
	}
	var articles []article
	for _, g := range guides {
		text, err := g.render(root)
		if err != nil {
			return err
		}
		articles = append(articles, article{g.ID, g.Title, text})
	}
	var b bytes.Buffer
	data := map[string]any{"Base": api.BasePath, "Assets": names, "Articles": articles, "Groups": groups()}
	if err := template.Must(template.New("page").Parse(page)).Execute(&b, data); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "index.html"), b.Bytes(), 0o644)
}

// Asset writes a file into folder under a name that contains its hash, and returns the name.
func Asset(folder, name, text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	stem, extension, _ := strings.Cut(name, ".")
	name = stem + "-" + hex.EncodeToString(sum[:6]) + "." + extension
	return name, os.WriteFile(filepath.Join(folder, "assets", name), []byte(text), 0o644)
}

type operationGroup struct {
	Name       string
	Operations []api.Operation
}

// groups returns the operations by tag.
func groups() (all []operationGroup) {
	for _, tag := range api.Tags() {
		group := operationGroup{Name: tag.Name}
		for _, g := range tag.Groups {
			group.Operations = append(group.Operations, api.In(g)...)
		}
		all = append(all, group)
	}
	return all
}

// Raw HTML is allowed: the pages are trusted and contain anchors.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Table),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

func (g guide) render(root string) (template.HTML, error) {
	var out bytes.Buffer
	for _, s := range g.sections {
		text, err := os.ReadFile(filepath.Join(root, s.page))
		if err != nil {
			return "", err
		}
		for _, piece := range pieces(string(text), s.headings) {
			if err := markdown.Convert([]byte(piece), &out); err != nil {
				return "", fmt.Errorf("%s: %w", s.page, err)
			}
		}
	}
	text := strings.ReplaceAll(relinked(out.String()), "BASE_ADDRESS", `<span class="base">`+api.BasePath+`</span>`)
	text = strings.ReplaceAll(text, "build/", "") // where the repository's tests write
	// What scrolls must be within reach of the keyboard.
	return template.HTML(strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>",
		`<table tabindex="0">`).Replace(text)), nil
}

var (
	title  = regexp.MustCompile(`(?m)^# .*\n`)
	second = regexp.MustCompile(`(?m)^## `)
	link   = regexp.MustCompile(`<a href="([^"]*)">((?s).*?)</a>`)
)

// pieces returns the sections of a page in the order of headings, or the whole page if
// headings is nil. A missing section is empty.
func pieces(text string, headings []string) []string {
	if headings == nil {
		return []string{title.ReplaceAllString(text, "")}
	}
	sections := map[string]string{}
	for _, s := range second.Split(text, -1)[1:] {
		name, _, _ := strings.Cut(s, "\n")
		sections[strings.TrimSpace(name)] = "## " + s
	}
	var found []string
	for _, name := range headings {
		found = append(found, sections[name])
	}
	return found
}

// relinked replaces links between pages by links to the guides' headings, or by their text
// if the guides do not include the target.
func relinked(text string) string {
	return link.ReplaceAllStringFunc(text, func(whole string) string {
		m := link.FindStringSubmatch(whole)
		target, words := m[1], m[2]
		path, fragment, _ := strings.Cut(target, "#")
		switch {
		case strings.HasSuffix(path, "openapi.json"):
			return `<a href="` + api.BasePath + `/openapi.json">` + words + `</a>`
		case strings.Contains(target, "://"):
			return `<a href="` + target + `" rel="noreferrer">` + words + `</a>`
		case (path == "" || strings.HasSuffix(path, "contract.md")) && shown(fragment):
			return `<a href="#` + fragment + `">` + words + `</a>`
		}
		return words
	})
}

// shown reports whether the guides include the heading with the fragment.
func shown(fragment string) bool {
	for _, g := range guides {
		for _, s := range g.sections {
			for _, heading := range s.headings {
				if strings.ReplaceAll(strings.ToLower(heading), " ", "-") == fragment {
					return true
				}
			}
		}
	}
	return false
}
