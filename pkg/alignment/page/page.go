// Package page renders reports and articulations as self-contained HTML pages without scripts. It is separate from
// package alignment so that only functions that render pages link templates.
package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
	"unicode"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

var (
	//go:embed *.html
	files     embed.FS
	templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(files, "*.html")) })

	//go:embed page.css
	own string
	// Style is the style sheet that the pages share with the console and the reference.
	//go:embed style.css
	Style string
	css   = Style + own
)

// Pages renders pages. policy is a page's Content-Security-Policy, which allows its two style sheets, by digest, and
// nothing else. The page includes it; a response header, if any, must not be stricter.
type Pages struct{}

// frame is the data common to all pages.
type frame struct {
	Policy        string
	Style, Margin template.CSS // Margin is printed on every sheet
	Organization  string
	Made, MadeDay string
}

func newFrame(m alignment.Masthead) frame {
	made := m.Made.Std().Format("2 January 2006")
	named := m.Record + ", " + made
	if m.Organization != "" {
		named = shortened(m.Organization, 60) + ", " + named
	}
	margin := "@page { @bottom-left { content: " + quoted(named) + "; } }"
	return frame{
		Policy: "default-src 'none'; style-src " + digest(css) + " " + digest(margin) +
			"; base-uri 'none'; form-action 'none'",
		Style: template.CSS(css), Margin: template.CSS(margin),
		Organization: m.Organization, Made: catalog.DateOf(m.Made), MadeDay: made,
	}
}

// digest returns the source expression that allows a style sheet.
func digest(style string) string {
	sum := sha256.Sum256([]byte(style))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// quoted returns a CSS string that has no character with a meaning in HTML or CSS. Controls of direction are left out:
// nothing isolates them in the margin of a sheet.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Cf, r):
		case r == ' ' || r == ',' || r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "\\%06x", r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func shortened(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return text
}

// unisolated drops the controls that would end the isolation of their element (every element is isolated by the style
// sheet). The pages themselves have none.
var unisolated = strings.NewReplacer("\u2066", "", "\u2067", "", "\u2068", "", "\u2069", "")

func render(w io.Writer, page string, data any) error {
	var text strings.Builder
	if err := templates().ExecuteTemplate(&text, page, data); err != nil {
		return err
	}
	_, err := unisolated.WriteString(w, text.String())
	return err
}

// view is a link to a view of the report.
type view struct {
	Name, Address string
	Current       bool
}

// Report renders a report's page; address returns the link to each view.
func (Pages) Report(
	w io.Writer, m alignment.Masthead, r alignment.Report, address func(view string) string,
) (policy string, err error) {
	content, outer := r.Page(), newFrame(m)
	var views []view
	for _, name := range alignment.Views() {
		views = append(views, view{strings.ToUpper(name[:1]) + name[1:], address(name), name == content.View})
	}
	return outer.Policy, render(w, "report.html", struct {
		alignment.Page
		Views []view
		frame
	}{content, views, outer})
}

// Articulation renders the page of a decision, for reading and signing.
func (Pages) Articulation(w io.Writer, m alignment.Masthead, d alignment.Decision) (policy string, err error) {
	outer := newFrame(m)
	return outer.Policy, render(w, "articulation.html", struct {
		alignment.DecisionPage
		frame
	}{d.Page(catalog.DateOf(m.Made)), outer})
}

// Map renders the curriculum map of a program.
func (Pages) Map(w io.Writer, m alignment.Masthead, c alignment.Curriculum) (policy string, err error) {
	outer := newFrame(m)
	return outer.Policy, render(w, "map.html", struct {
		alignment.MapPage
		frame
	}{c.Page(), outer})
}
