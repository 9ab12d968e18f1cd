// Package page writes a report as one HTML page that needs nothing else, and runs
// nothing. It stands apart from package alignment so that only who writes pages loads
// templates.
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
	//go:embed page.html
	html string
	//go:embed page.css
	css string

	page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(html)) })
)

// view is a link to a view of the report.
type view struct {
	Name, Address string
	Current       bool
}

// Write writes a report's page, on which each view has the address that address
// returns. policy is its Content-Security-Policy: its one style sheet, known by its
// digest, and nothing else. The page carries it; a response's header, where there is
// one, must not be stricter.
func Write(w io.Writer, r alignment.Report, address func(view string) string) (policy string, err error) {
	digest := sha256.Sum256([]byte(css))
	policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'; base-uri 'none'; form-action 'none'"
	content := r.Page()
	var views []view
	for _, name := range alignment.Views() {
		views = append(views, view{strings.ToUpper(name[:1]) + name[1:], address(name), name == content.View})
	}
	return policy, page().Execute(w, struct {
		alignment.Page
		Views  []view
		Policy string
		Style  template.CSS
	}{content, views, policy, template.CSS(css)})
}
