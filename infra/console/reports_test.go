package console

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/client"
)

// A person makes a report of a program, a course, an occupation and a job, while answers are lost, opens its four views,
// and shares its page.
func makesReport(t *testing.T, s *service, p *browser.Page, size string) {
	_, courses := s.catalogOf(t, "R"+size)
	s.call(t, client.Request{Operation: "updateCourse", IDs: courses[2:], Body: map[string]any{"description": ""}})
	s.call(t, client.Request{Operation: "upsertRecords", Body: map[string]any{"resource": "job", "items": []map[string]any{
		{"externalId": "job " + size, "name": "Clerk " + size + " " + hostile[:200], "employerId": "emp_1"},
	}}})
	total := func() any {
		return s.call(t, client.Request{Operation: "listReports"})["pagination"].(map[string]any)["total"]
	}
	before := total().(float64)
	choose := func(label, words, found string) {
		for tries := 0; tries == 0 || !p.Within(3*time.Second, `document.querySelector("[role=option]")?.textContent.includes("`+found+`")`); tries++ {
			if tries == 10 {
				t.Fatalf("%s: %s is not found", label, words)
			}
			// What was made just now is found within 10 s; equal words are not asked for again.
			p.Fill(label, []string{strings.ToLower(words), strings.ToUpper(words)}[tries%2])
		}
		p.Press("Enter")
		p.Until(`!document.querySelector("[role=option]")`)
	}
	s.signIn(p, s.key, "#/reports")
	p.Until(`document.querySelector(".rows, .empty")`)
	look(t, p, "reports-"+size)
	p.Press("+")
	p.Shows("What is taught")
	look(t, p, "report-new-"+size)
	choose("Add a program", "R"+size, "Program R"+size)
	p.Fill("Add an occupation", "nothing at all")
	p.Shows("Nothing found.")
	choose("Add an occupation", "software dev", "Software Developers")
	choose("Add one of your jobs", "clerk "+size, "Clerk "+size)
	unharmed(t, p)
	look(t, p, "report-chosen-"+size)
	p.Press("Tab")
	p.Click("Courses")
	p.Shows("Search courses")
	p.Eval(`history.back()`, nil)
	p.Until(`document.querySelectorAll(".chips li").length === 3`) // what was chosen is still there
	p.Fill("Name", "Report "+size+" "+hostile[:150])
	s.next(fault{"POST", "/reports", "503"}, fault{"POST", "/reports", "lost after"}, fault{"POST", "/reports", "429"})
	p.Click("Make the report")
	p.Shows("How much of each job every course teaches")
	p.Shows("Software Developers")
	s.once(t, "/reports")
	if n := total().(float64); n != before+1 {
		t.Errorf("%v reports, %v before", n, before)
	}
	p.Eval(`document.querySelector("details.pair summary").click()`, nil)
	unharmed(t, p)
	look(t, p, "report-alignment-"+size)
	s.next(fault{"GET", "", "lost before"})
	p.Press("2")
	p.Shows("So it is")
	look(t, p, "report-coverage-"+size)
	p.Press("3")
	p.Shows("what they leave out")
	p.Until(`document.querySelectorAll("main table tbody tr").length > 5`)
	look(t, p, "report-gap-"+size)
	p.Press("4")
	p.Shows("Median wage a year")
	look(t, p, "report-market-"+size)
	p.Eval(`history.back()`, nil)
	p.Until(`document.querySelector("[aria-current=page][href*='view=gap']")`)
	var address, link string
	p.Eval(`location.hash`, &address)

	p.Press("p")
	s.next(fault{"POST", "/links", "503"})
	p.Click("Make a link")
	p.Shows("It is shown only now.")
	look(t, p, "report-share-"+size)
	p.Eval(`document.querySelector("dialog a.primary").href`, &link)
	r, err := http.Get(link) //nolint:noctx // of the stack
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if page, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 200 || !strings.Contains(link, "view=gap") || !strings.Contains(string(page), "Software Developers") {
		t.Errorf("%s: %d %v", link, r.StatusCode, err)
	}
	p.Press("Escape")

	p.Click("Sign out")
	s.signIn(p, s.read, address)
	p.Shows("what they leave out")
	look(t, p, "report-read-"+size)
	var offered int
	if p.Eval(`[...document.querySelectorAll("main button")].filter((b) => b.textContent.includes("Delete")).length`, &offered); offered != 0 {
		t.Error("a read key is offered to delete a report")
	}
	p.Press("g", "r")
	p.Until(`document.querySelector("[data-row]") && !document.body.innerText.includes("New report")`)
	p.Click("Sign out")

	s.signIn(p, s.key, address)
	p.Click("Delete")
	p.Shows("Its links end with it.")
	look(t, p, "report-delete-"+size)
	s.next(fault{"DELETE", "", "lost after"})
	p.Click("Delete the report")
	p.Until(`location.hash === "#/reports"`)
	if n := total().(float64); n != before {
		t.Errorf("%v reports after the deletion", n)
	}
}
