package console

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/client"
)

// do calls the API as another program would, and decodes the response.
func (s *service) do(t *testing.T, operation string, ids []string, body any, out any) {
	t.Helper()
	response, err := s.api.Call(t.Context(), client.Request{Operation: operation, IDs: ids, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	if out != nil {
		if err := json.Unmarshal(response.Body, out); err != nil {
			t.Fatal(err)
		}
	}
}

type object = map[string]any

type created struct {
	ID string `json:"id"`
}

const taught = "Students write SQL queries, design relational databases, explain database normalization and discuss data ethics."

// transferred creates a course, and a package with a course like it and one with a hostile name, and waits for their skills.
func (s *service) transferred(t *testing.T, size string) {
	t.Helper()

	var course, pack created
	s.do(t, "createCourse", nil, object{
		"code": "CSC " + size, "name": "Database Systems", "description": taught, "credits": object{"min": 3, "max": 3, "unit": "SEMESTER_HOUR"},
	}, &course)
	s.do(t, "createTransferPackage", nil, object{"name": "Fall " + size, "transferFromInstitution": "Hill College"}, &pack)
	var courses []struct {
		created
		ProcessingStatus string
	}
	s.do(t, "createTransferCourses", []string{pack.ID}, object{"courses": []object{
		{"code": "DB " + size, "name": "Databases", "description": "Students write SQL queries and design relational databases."},
		{"code": "F " + size, "name": "Gone", "syllabusHref": "https://example.invalid/syllabus.pdf"},
		{"code": "H " + size, "name": hostile[:200] + " SQL", "description": hostile[:5000]},
	}}, &courses)
	for t.Context().Err() == nil {
		s.do(t, "listTransferCourses", []string{pack.ID}, nil, &courses)
		if courses[0].ProcessingStatus != "COMPLETED" || courses[2].ProcessingStatus != "COMPLETED" {
			continue
		}
		var found struct{ Matches []struct{ CourseID string } }
		s.do(t, "matchTransferCourse", []string{pack.ID, courses[0].ID}, nil, &found)
		for _, m := range found.Matches {
			if m.CourseID == course.ID {
				return
			}
		}
	}
}

// A person finds the best match of a transfer course, proposes an articulation, and decides it although somebody else
// moves it meanwhile and the connection fails.
func transfers(t *testing.T, s *service, p *browser.Page, size string) {
	s.transferred(t, size)
	s.signIn(p, s.key, "#/transfer")
	p.Shows("Fall " + size)
	look(t, p, "transfer-packages-"+size)
	s.next(fault{"POST", "/equivalencies", "503"}, fault{"POST", "/equivalencies", "lost before"})
	p.Press("j")
	p.Eval(`[...document.querySelectorAll("[data-row]")].find((e) => e.innerText.includes("Fall `+size+`")).click()`, nil)
	p.Until(`document.querySelectorAll(".row .best, .row .small").length > 2 && !document.body.innerText.includes("Comparing")`)
	unharmed(t, p)
	look(t, p, "transfer-package-"+size)
	p.Eval(`[...document.querySelectorAll("[data-row]")].find((e) => e.innerText.includes("F `+size+`")).click()`, nil)
	p.Shows("Read it again")
	look(t, p, "transfer-failed-"+size)
	p.Eval(`history.back()`, nil)
	p.Until(`document.querySelectorAll("[data-row]").length === 3`)
	p.Eval(`[...document.querySelectorAll("[data-row]")].find((e) => e.innerText.includes("DB `+size+`")).click()`, nil)
	p.Until(`document.querySelectorAll(".compare tbody tr").length > 2`)
	p.Press("j", "k")
	p.Shows("CSC " + size) // the names of the matches come one by one
	p.Eval(`[...document.querySelectorAll(".row.match")].find((e) => e.innerText.includes("CSC `+size+`")).click()`, nil)
	p.Shows("Not met")
	look(t, p, "transfer-matches-"+size)
	p.Click("Skills and evidence")
	p.Until(`document.querySelectorAll("[data-note]").length > 2`)
	look(t, p, "transfer-skills-"+size)
	p.Click("Matches")
	p.Until(`document.querySelectorAll(".compare tbody tr").length > 2`)
	p.Press("p")
	p.Shows("would count as")
	p.Choose("Decision", "PARTIAL")
	p.Fill("Reason", hostile[:2000])
	look(t, p, "transfer-propose-"+size)
	s.next(fault{"POST", "/articulations", "lost after"}, fault{"POST", "/status", "429"})
	p.Click("Send to review")
	p.Until(`location.hash.startsWith("#/transfer/articulations/") && document.querySelector(".compare")`)
	p.Shows("In review")
	unharmed(t, p)
	s.once(t, "/articulations")
	look(t, p, "decision-"+size)

	var id string
	p.Eval(`location.hash.split("/").pop()`, &id)
	p.Until(`document.querySelector(".bar .primary:enabled")`)
	p.Eval(`[...document.querySelectorAll(".bar button")].find((e) => e.textContent.startsWith("Approve")).focus()`, nil)
	p.Press("r")
	p.Shows("Why it is rejected")
	p.Fill("Who decides", "Ana Ruiz")
	p.Fill("Why it is rejected", "Too little on normalization.")
	look(t, p, "decision-reject-"+size)
	s.do(t, "moveArticulation", []string{id}, object{"status": "DRAFT"}, nil)
	s.do(t, "moveArticulation", []string{id}, object{"status": "IN_REVIEW"}, nil)
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog button")].find((e) => e.textContent === "Reject"); b.click(); return true; })()`)
	p.Shows("Somebody else changed this meanwhile")
	look(t, p, "decision-changed-"+size)
	p.Until(`document.querySelectorAll(".history li").length === 3 && document.querySelector(".bar .primary:enabled")`)
	p.Press("a")
	p.Shows("Who decides")
	p.Fill("Who decides", "Ana Ruiz") // Press types into what its key opens, which no keyboard does
	p.Fill("Note", "As the committee decided.")
	s.next(fault{"POST", "/status", "lost after"}, fault{"POST", "/status", "503"})
	p.Until(`(() => { const b = [...document.querySelectorAll("dialog button")].find((e) => e.textContent === "Approve"); b.click(); return true; })()`)
	p.Shows("counts as")
	s.once(t, "/status")
	p.Until(`document.querySelectorAll(".history li").length === 4 && document.activeElement.tagName === "H1"`)
	look(t, p, "decision-approved-"+size)
	var history struct {
		Data []struct {
			To        string
			DecidedBy *struct{ Name string }
		}
	}
	s.do(t, "listArticulationMoves", []string{id}, nil, &history)
	var to []string
	for _, m := range history.Data {
		to = append(to, m.To)
	}
	if !slices.Equal(to, []string{"IN_REVIEW", "DRAFT", "IN_REVIEW", "APPROVED"}) || history.Data[3].DecidedBy.Name != "Ana Ruiz" {
		t.Errorf("moves %v, by %+v", to, history.Data[3].DecidedBy)
	}
	var all struct{ Data []struct{ Sending any } }
	s.do(t, "listArticulations", nil, nil, &all)
	if n := strings.Count(fmt.Sprint(all.Data), "DB "+size); n != 1 {
		t.Errorf("%d articulations of DB %s", n, size)
	}
	p.Click("Open the page to sign")
	p.Until(`!document.querySelector("[role=alert]") && !document.querySelector(".actions button:disabled")`)
	p.Do("Page.bringToFront", nil, nil)

	var other created
	s.do(t, "createArticulation", nil, object{
		"sendingInstitution": object{"name": hostile[:255]}, "sending": []object{{"courses": []object{{"code": "X" + size + strings.Repeat("Y", 40)}}}}, "receiving": []object{{"label": hostile[:255]}},
		"decision": "ELECTIVE", "effectiveFrom": "2026-08-01", "publicNote": hostile[:10_000],
	}, &other)
	s.do(t, "moveArticulation", []string{other.ID}, object{"status": "IN_REVIEW"}, nil)
	p.Press("g", "t")
	p.Until(`document.querySelector(".tabs .badge")`)
	p.Eval(`[...document.querySelectorAll(".tabs a")].find((a) => a.textContent.startsWith("Decisions")).click()`, nil)
	p.Shows("is proposed to count as")
	unharmed(t, p)
	look(t, p, "decisions-"+size)
	p.Click("Rejected")
	p.Shows("Nothing was rejected.")
	look(t, p, "decisions-none-"+size)
	p.Click("Sign out")
	s.signIn(p, s.read, "#/transfer/articulations/"+other.ID)
	p.Shows("Save the page to sign")
	p.Shows("There is nothing to compare")
	unharmed(t, p)
	look(t, p, "decision-read-"+size)
	var offered int
	if p.Eval(`document.querySelectorAll(".bar button").length`, &offered); offered != 0 {
		t.Error("a read key is offered a decision")
	}
	s.do(t, "moveArticulation", []string{other.ID}, object{"status": "DRAFT"}, nil)

}
