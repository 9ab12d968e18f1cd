package console

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"skillscurriculum/infra/browser"
	"skillscurriculum/pkg/client"
)

// A person reviews a section by the keyboard alone, over a service that fails and beside somebody else.
func reviews(t *testing.T, s *service, p *browser.Page, size string) {
	var course struct{ ID, DefaultSectionID string }
	s.do(t, "createCourse", nil, object{"code": "RV " + size, "name": "Database Systems", "description": taught + " " + hostile[:400]}, &course)
	s.signIn(p, s.key, "#/courses")
	for tries := 0; ; tries++ { // what was made just now is found within 10 s; equal words are not asked for again
		p.Press("/")
		p.Fill("Search courses by code or name", []string{"RV ", "rv "}[tries%2]+size)
		p.Press("Enter")
		if p.Within(3*time.Second, `document.activeElement.matches("[data-row]") && document.activeElement.innerText.includes("RV `+size+`")`) {
			break
		}
		if tries == 10 {
			t.Fatal("the course is not found")
		}
	}
	p.Press("Enter")
	p.Until(`document.querySelectorAll("[data-note]").length > 4`)
	unharmed(t, p)
	notes := []string{}
	p.Eval(`[...document.querySelectorAll("[data-note]")].map((n) => n.dataset.note)`, &notes)
	saved := `!document.querySelector(".bar").innerText.includes("saving") && document.querySelector(".bar progress").value === `

	s.next(fault{"PUT", "/review", "429"}, fault{"PUT", "/review", "503"}, fault{"PUT", "/review", "lost after"})
	p.Press("j", "a")
	p.Shows("nothing is lost")
	look(t, p, "review-waiting-"+size)
	p.Press("r", "4")
	p.Until(saved + `3`)
	s.next(fault{"DELETE", "/review", "lost after"}, fault{"DELETE", "/review", "503"})
	p.Press("u")
	p.Until(saved + `2`)
	p.Until(`document.activeElement.dataset.note === "` + notes[2] + `"`)
	look(t, p, "review-"+size)

	s.do(t, "reviewSectionSkill", []string{course.ID, course.DefaultSectionID, notes[3]}, object{"verdict": "ACCEPTED", "level": 5}, nil)
	p.Press("5")
	p.Shows("Somebody else changed this meanwhile")
	p.Until(`document.querySelector(".bar [role=status]").textContent.startsWith("Not saved: ")`)
	look(t, p, "review-changed-"+size)
	p.Click("Save mine again")
	p.Until(saved + `4`)

	p.Press("+")
	p.Fill("Search the taxonomy", "project management")
	p.Until(`document.querySelector("[role=option]")`)
	look(t, p, "review-add-"+size)
	p.Press("Enter")
	p.Click("Add")
	p.Until(saved + `5`)
	response, err := s.api.Call(t.Context(), client.Request{
		Operation: "getSection", IDs: []string{course.ID, course.DefaultSectionID}, Query: url.Values{"include": {"reviews"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	var now struct {
		Reviews []struct {
			SkillID, Verdict string
			Level            int
		}
	}
	if err := json.Unmarshal(response.Body, &now); err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]string{}
	for _, r := range now.Reviews {
		verdicts[r.SkillID] = fmt.Sprint(r.Verdict, " ", r.Level)
	}
	for i, want := range []string{"ACCEPTED 0", "REJECTED 0", "ACCEPTED 5", "ACCEPTED 5"} {
		if verdicts[notes[i]] != want {
			t.Errorf("%s is %q, want %q", notes[i], verdicts[notes[i]], want)
		}
	}
	if len(now.Reviews) != 5 {
		t.Errorf("reviews %v", verdicts)
	}
	p.Click("Sign out")
	s.signIn(p, s.read, "#/courses/"+course.ID)
	p.Until(`document.querySelectorAll("[data-note]").length > 4`)
	var offered string
	if p.Eval(`document.querySelector(".bar").innerText`, &offered); strings.Contains(offered, "Accept") {
		t.Error("a read key is offered a review")
	}
	look(t, p, "review-read-"+size)
}
