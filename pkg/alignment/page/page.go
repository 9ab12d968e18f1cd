// Package page writes reports and articulations as HTML pages that need nothing else,
// and run nothing. It stands apart from package alignment so that only who writes pages
// loads templates.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"strings"
	"sync"

	"skillscurriculum/pkg/alignment"
)

var (
	//go:embed report.html
	reportHTML string
	//go:embed articulation.html
	articulationHTML string
	//go:embed page.css
	css string

	reportPage       = sync.OnceValue(func() *template.Template { return template.Must(template.New("report").Parse(reportHTML)) })
	articulationPage = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("articulation").Parse(articulationHTML))
	})
)

// Pages writes pages. The policy of each is its Content-Security-Policy: its one style
// sheet, known by its digest, and nothing else. The page carries it; a response's
// header, where there is one, must not be stricter.
type Pages struct{}

// frame is what every page has.
type frame struct {
	Policy string
	Style  template.CSS
}

func newFrame() frame {
	digest := sha256.Sum256([]byte(css))
	return frame{"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'; base-uri 'none'; form-action 'none'", template.CSS(css)}
}

// view is a link to a view of the report.
type view struct {
	Name, Address string
	Current       bool
}

// Report writes a report's page, on which each view has the address that address
// returns.
func (Pages) Report(w io.Writer, r alignment.Report, address func(view string) string) (policy string, err error) {
	content, outer := r.Page(), newFrame()
	var views []view
	for _, name := range alignment.Views() {
		views = append(views, view{strings.ToUpper(name[:1]) + name[1:], address(name), name == content.View})
	}
	return outer.Policy, reportPage().Execute(w, struct {
		alignment.Page
		Views []view
		frame
	}{content, views, outer})
}

// Articulation writes the page on which people read, and sign, what was decided.
func (Pages) Articulation(w io.Writer, d alignment.Decision) (policy string, err error) {
	outer := newFrame()
	return outer.Policy, articulationPage().Execute(w, struct {
		alignment.DecisionPage
		frame
	}{d.Page(), outer})
}
