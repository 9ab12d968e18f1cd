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

// Write writes a report's page. policy is its Content-Security-Policy: its one style
// sheet, known by its digest, and nothing else. The page carries it; an answer's
// header, where there is one, must not be stricter.
func Write(w io.Writer, r alignment.Report) (policy string, err error) {
	digest := sha256.Sum256([]byte(css))
	policy = "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'; base-uri 'none'; form-action 'none'"
	return policy, page().Execute(w, struct {
		alignment.Page
		Policy string
		Style  template.CSS
	}{r.Page(), policy, template.CSS(css)})
}
