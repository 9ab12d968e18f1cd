package rest

import (
	"fmt"
	"html"

	"skillscurriculum/pkg/api"
)

// problemPage returns a problem as an HTML page.
func problemPage(p api.Problem) []byte {
	return fmt.Appendf(nil, `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%[1]s</title>
<h1>%[1]s</h1>
<p>%[2]s</p>
<p><small>%[3]d <a href="%[4]s">%[5]s</a>, request %[6]s</small></p>
`, html.EscapeString(p.Title), html.EscapeString(p.Detail), p.Status, html.EscapeString(p.Type), p.Code,
		html.EscapeString(p.RequestID))
}
