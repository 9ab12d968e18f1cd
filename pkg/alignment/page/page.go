// Package page renders reports and articulations as self-contained HTML pages without
// scripts. It is separate from package alignment so that only functions that render pages
// link templates.
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

	reportPage = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("report").Parse(reportHTML))
	})
	articulationPage = sync.OnceValue(func() *template.Template {
		return template.Must(template.New("articulation").Parse(articulationHTML))
	})
)

// Pages renders pages. policy is a page's Content-Security-Policy, which allows its one style
// sheet, by digest, and nothing else. The page includes it; a response header, if any, must
// not be stricter.
type Pages struct{}

// frame is the data common to all pages.
type frame struct {
	Policy string
	Style  template.CSS
}

func newFrame() frame {
	digest := sha256.Sum256([]byte(css))
	return frame{
		"default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
			"'; base-uri 'none'; form-action 'none'", template.CSS(css),
	}
}

// view is a link to a view of the report.
type view struct {
	Name, Address string
	Current       bool
}

// Report renders a report's page; address returns the link to each view.
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

// Articulation renders the page of a decision, for reading and signing.
func (Pages) Articulation(w io.Writer, d alignment.Decision) (policy string, err error) {
	outer := newFrame()
	return outer.Policy, articulationPage().Execute(w, struct {
		alignment.DecisionPage
		frame
	}{d.Page(), outer})
}
