package console

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/client"
)

// altered makes the proxy replace parts of the bodies of answers to a path that ends so; an empty ending ends it.
func (g *gate) altered(ending string, oldAndNew ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.alter = nil
	if ending == "" {
		return
	}
	g.alter = func(r *http.Response) error {
		if !strings.HasSuffix(r.Request.URL.Path, ending) || r.StatusCode != http.StatusOK {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body = []byte(strings.NewReplacer(oldAndNew...).Replace(string(body)))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		return nil
	}
}

// A person drops outcomes as Canvas exports them, says whose they are, and applies them.
func importsOutcomes(t *testing.T, s *service, p *browser.Page, size string) {
	program, _ := s.catalogOf(t, "V"+size)
	s.signIn(p, s.key, "#/imports")
	p.Put("Drop a file, or choose one", file(t, "outcomes.csv", "vendor_guid,object_type,title,description,parent_guids,workflow_state\n"+
		"g,group,LAB,Work in a laboratory,,active\no,outcome,SAFE,Follow the rules of safety,g,active\n"))
	p.Shows("Whose outcomes are these?")
	p.Shows("They are of a program")
	look(t, p, "import-canvas-"+size)
	for tries := 0; !p.Within(3*time.Second, `document.querySelector("[role=option]")?.textContent.includes("Program V`+size+`")`); tries++ {
		if tries == 10 {
			t.Fatal("the program is not found")
		}
		p.Fill("They are of a program", []string{"program v", "PROGRAM V"}[tries%2]+size)
	}
	p.Press("Enter")
	p.Shows("Your corrections are not checked yet")
	look(t, p, "import-canvas-owner-"+size)
	p.Click("Check again")
	p.Shows("Ready: create 2")
	look(t, p, "import-canvas-check-"+size)
	p.Click("Apply")
	p.Click("See the outcomes")
	p.Shows("Enter adds one below")
	if got := statements(s.call(t, client.Request{Operation: "getProgramOutcomes", IDs: []string{program}})); !same(got, "Work in a laboratory", "Follow the rules of safety") {
		t.Errorf("imported %q", got)
	}
}

// A person learns that a map is cut short, and that outcomes of the program and of a course could not be read.
func readsFailedMap(t *testing.T, s *service, p *browser.Page, size string) {
	program, courses := s.catalogOf(t, "L"+size)
	s.call(t, client.Request{Operation: "replaceProgramOutcomes", IDs: []string{program}, Body: map[string]any{"outcomes": []map[string]any{{"code": "P1", "statement": "Write SQL queries"}}}})
	defer s.altered("")
	s.altered(program+"/map", `"truncated":false`, `"truncated":true`, `"issues":[`, fmt.Sprintf(`"issues":[{"kind":"OUTCOMES_FAILED","outcomeId":null,"courseId":null,"detail":""},{"kind":"OUTCOMES_FAILED","outcomeId":null,"courseId":%q,"detail":""}],"others":[`, courses[0]))
	s.signIn(p, s.key, "#/programs/"+program)
	p.Shows("The outcomes could not be read")
	p.Shows("A large map")
	p.Until(`!document.body.innerText.includes("are being read")`)
	look(t, p, "map-failed-"+size)
	s.altered("/outcomes", `"failure":null`, `"failure":{"code":"internal","message":"The extraction failed."}`)
	p.Eval(`[...document.querySelectorAll(".issue a")].find((a) => a.hash.endsWith("/courses/`+courses[0]+`")).click()`, nil)
	p.Shows("The sentences could not be read")
	p.Shows("the sentences themselves are safe")
	look(t, p, "outcomes-failed-"+size)
}

// A person whose key ends goes on with another one where they are, with what they wrote. Answers that no other key mends
// are shown in their place. With a key of another organization, nothing of the first is left.
func renewsKey(t *testing.T, s *service, p *browser.Page, size string) {
	program, _ := s.catalogOf(t, "K"+size)
	s.signIn(p, s.key, "#/programs/"+program+"/outcomes")
	p.Click("Write the first outcome")
	p.Until(`document.activeElement.tagName === "TEXTAREA"`)
	p.Type("Write SQL queries")
	for _, answer := range []string{"403", "409", "500"} {
		s.next(fault{"PUT", "/outcomes", answer})
		p.Click("Save")
		p.Shows("Answered with " + answer)
		look(t, p, "outcomes-"+answer+"-"+size)
	}
	s.next(fault{"PUT", "/outcomes", "401"})
	p.Click("Save")
	p.Shows("Your key has ended")
	look(t, p, "key-ended-"+size)
	p.Fill("API key", "wrong")
	p.Press("Enter")
	p.Shows("This key is not valid")
	p.Fill("API key", s.key)
	p.Press("Enter")
	p.Until(`!document.querySelector("dialog") && !document.querySelector(".bar")`)
	list := client.Request{Operation: "getProgramOutcomes", IDs: []string{program}}
	if got := statements(s.call(t, list)); !same(got, "Write SQL queries") {
		t.Errorf("saved %q", got)
	}

	p.Fill("Statement of outcome 1", "Explain SQL queries")
	p.Shows("Not saved yet")
	s.next(fault{"PUT", "/outcomes", "401"})
	p.Click("Save")
	p.Shows("Your key has ended")
	s.altered("/me", "org_lake", "org_hill", "Lake College", "Hill College")
	defer s.altered("")
	p.Fill("API key", s.read)
	p.Press("Enter")
	p.Until(`document.querySelector(".brand")?.innerText.includes("Hill College") && !document.querySelector("dialog")`)
	p.Shows("Write SQL queries")
	var left string
	if p.Eval(`document.body.innerText`, &left); strings.Contains(left, "Explain SQL queries") {
		t.Error("what one organization wrote is shown to another")
	}
	if got := statements(s.call(t, list)); !same(got, "Write SQL queries") {
		t.Errorf("a write of the first key was sent with the second: %q", got)
	}

	// Closing the question signs out.
	s.next(fault{"GET", "/programs", "401"})
	p.Press("g", "p")
	p.Shows("Your key has ended")
	p.Press("Escape")
	p.Until(`document.querySelector(".signin")`)
}

// A person is led from an approval that is refused to the decision that is in its way.
func meetsOther(t *testing.T, s *service, p *browser.Page, size string) {
	var ids [2]created
	for i := range ids {
		s.do(t, "createArticulation", nil, object{
			"sendingInstitution": object{"name": "Way College"}, "sending": []object{{"courses": []object{{"code": "W " + size}}}}, "receiving": []object{{"label": "Elective"}},
			"decision": "ELECTIVE", "effectiveFrom": "2026-08-01",
		}, &ids[i])
		s.do(t, "moveArticulation", []string{ids[i].ID}, object{"status": "IN_REVIEW"}, nil)
	}
	s.do(t, "moveArticulation", []string{ids[0].ID}, object{"status": "APPROVED", "decidedBy": object{"name": "Ana Ruiz"}}, nil)
	s.signIn(p, s.key, "#/transfer/articulations/"+ids[1].ID)
	p.Until(`document.querySelector(".bar .primary:enabled")`)
	p.Press("a")
	p.Fill("Who decides", "Ana Ruiz")
	p.Press("Enter")
	p.Shows("Open the decision that is in the way")
	look(t, p, "decision-refused-"+size)
	p.Click("Open the decision that is in the way")
	p.Until(`location.hash.endsWith("` + ids[0].ID + `") && !document.querySelector("dialog")`)
	p.Shows("counts as")
	s.do(t, "moveArticulation", []string{ids[1].ID}, object{"status": "DRAFT"}, nil)
}

// twenty are courses' words for more than 20 skills.
const twenty = "Students write SQL queries, design relational databases, explain database normalization, apply data modeling, use Python and Java, " +
	"practice version control and unit testing, apply machine learning, linear regression, data visualization, data cleaning, project management, " +
	"technical writing, public speaking, network security, cryptography, operating systems, computer networking, cloud computing, web development, " +
	"algorithms, data structures, descriptive statistics, hypothesis testing, calculus and linear algebra."

// A person decides on the skills of a course with one key each: 20 of them in less than a minute.
func reviewsTwenty(t *testing.T, s *service, p *browser.Page, size string) {
	var course struct{ ID, DefaultSectionID string }
	s.do(t, "createCourse", nil, object{"code": "TW " + size, "name": "Everything", "description": twenty}, &course)
	s.signIn(p, s.key, "#/courses/"+course.ID)
	p.Until(`document.querySelectorAll("[data-note]").length >= 20`)
	var skills int
	p.Eval(`document.querySelectorAll("[data-note]").length`, &skills)
	begun := time.Now()
	keys := []string{"j", "a", "r", "u"} // an undone decision is taken again
	for i := range skills - 1 {
		keys = append(keys, []string{"a", "r", "3", "a", "5"}[i%5])
	}
	for _, key := range keys {
		p.Press(key)
	}
	p.Until(fmt.Sprintf(`document.querySelector(".bar").innerText.includes("%d of %d skills reviewed") && !document.querySelector(".bar").innerText.includes("saving")`, skills, skills))
	took := time.Since(begun)
	t.Logf("%d skills: %d keys, %v with what was saved", skills, len(keys), took.Round(100*time.Millisecond))
	if took > time.Minute*time.Duration(skills)/20 {
		t.Errorf("%d skills take %v", skills, took)
	}
	look(t, p, "review-done-"+size)
	var now struct{ Sections []struct{ Reviewed bool } }
	s.do(t, "getCourse", []string{course.ID}, nil, &now)
	if !now.Sections[0].Reviewed {
		t.Error("the course does not show that its section is reviewed")
	}
	p.Click("Sign out")
	s.signIn(p, s.key, "#/courses/"+course.ID)
	p.Until(fmt.Sprintf(`document.querySelectorAll("mark.REJECTED").length > 2 && document.querySelectorAll("[data-note]").length === %d`, skills))
	p.Click("Outcomes")
	p.Shows("This course has no outcomes yet.")
	look(t, p, "course-outcomes-none-"+size)
}
