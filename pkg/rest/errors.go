package rest

import (
	"fmt"
	"html"

	"skillscurriculum/pkg/api"
)

// problemPage returns a problem as an HTML page.
func problemPage(p api.Problem) []byte {
	return fmt.Appendf(nil, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"+
		"<meta name=\"color-scheme\" content=\"light dark\">\n<title>%[1]s</title>\n<h1>%[1]s</h1>\n<p>%[2]s</p>\n<p><small>%[3]d <a href=\"%[4]s\">%[5]s</a>, request %[6]s</small></p>\n",
		html.EscapeString(p.Title), html.EscapeString(p.Detail), p.Status, html.EscapeString(p.Type), p.Code, html.EscapeString(p.RequestID))
}
