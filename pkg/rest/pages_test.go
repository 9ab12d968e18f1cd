package rest_test

import (
	"fmt"
	"strings"
	"testing"
)

// page reads a page, whose text must have all of these.
func (c client) page(path string, all ...string) string {
	c.s.t.Helper()
	r := c.must(200, "GET", path, "")
	if got := r.header("Content-Type"); got != "text/html; charset=utf-8" {
		c.s.t.Errorf("GET %s: Content-Type %s", path, got)
	}
	for _, text := range all {
		if !strings.Contains(string(r.Body), text) {
			c.s.t.Errorf("GET %s: the page lacks %q:\n%s", path, text, r.Body)
		}
	}
	return string(r.Body)
}

// TestArticulationPage: before the approval the page compares what is there; after it
// what was frozen, also when both sides have changed or gone.
func TestArticulationPage(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	pack, transfer, course, section := one.compared()
	program := one.must(201, "POST", "/programs", `{"name":"Nursing <BSN>"}`).text("id")
	path := "/articulations/" + one.articulation(elective().with(
		"sending", []fields{{"courses": []fields{{"code": "CIS 12", "transferCourseId": transfer, "minimumGrade": "C", "takenFrom": "2020-01-01"}}}, {"courses": []fields{{"code": "CIS 13"}, {"code": "CIS 14"}}}},
		"receiving", []fields{{"courseId": course, "credits": fields{"min": 3, "max": 3, "unit": "SEMESTER_HOUR"}}},
		"programIds", []string{program}, "privateNote", "SECRET", "publicNote", "Bring <b>it</b>"))
	shown := one.page(path+"?format=html", "CIS 12 or CIS 13 with CIS 14 at Hill College", "Any one of the 2 alternatives", "<td>C</td>", "from 1 January 2020", "3 semester hours",
		"Nursing &lt;BSN&gt;", "Bring &lt;b&gt;it&lt;/b&gt;", ">draft<", "These are the current figures", "full match", "Nothing was decided yet", "<q>", "level 3 apply", "Its skills were set by hand")
	if strings.Contains(shown, "SECRET") {
		t.Error("the page shows the private note")
	}
	id := strings.TrimPrefix(path, "/articulations/")
	one.move(200, id, "IN_REVIEW")
	approved := one.move(200, id, "APPROVED")
	rule := fmt.Sprintf("A score of %.4f is a full match", approved.get("evidence.skillsMatchScore"))
	frozen := []string{">approved<", rule, "are those of the approval on", "R. Egistrar, Registrar", "<td>Decided.</td>", "<td>in review</td><td>approved</td>"}
	one.page(path+"/page", append(frozen, "<q>")...)
	s.reader.page(path+"?format=html", frozen...)

	one.must(200, "PATCH", "/courses/"+course+"/sections/"+section, `{"skills":[]}`)
	one.page(path+"/page", frozen...)
	one.must(204, "DELETE", "/transfer-packages/"+pack, "")
	if gone := one.page(path+"/page", append(frozen, "the transfer course (deleted since)")...); strings.Contains(gone, "<q>") {
		t.Error("the page quotes a syllabus that is gone")
	}
}

// TestArticulationPageQuotesBothSides: quotes are those of what was compared; a section
// extracted again has none.
func TestArticulationPageQuotesBothSides(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	_, transfer, course, section := one.compared()
	known, path := one.known(3), "/courses/"+course+"/sections/"+section
	extract := func(quote string) {
		t.Helper()
		one.must(200, "PATCH", path, fmt.Sprintf(`{"syllabusHref":"https://example.edu/%s.html"}`, quote))
		outcome := resultOf(found(known[0], 4, 0.9), found(known[2], 3, 0.5))
		for i := range outcome.Evidence {
			outcome.Evidence[i].Quote = quote
		}
		outcome.Provenance.DocumentSHA256 = quote
		s.finish(s.queue.sent[len(s.queue.sent)-1], outcome)
	}
	extract("first")
	id := one.articulation(elective().with("sending", []fields{{"courses": []fields{{"code": "CIS 12", "transferCourseId": transfer}}}}, "receiving", []fields{{"courseId": course}}))
	one.page("/articulations/"+id+"/page", "<q>first</q>", "not met", "The transfer course also teaches")
	one.move(200, id, "IN_REVIEW")
	one.move(200, id, "APPROVED")
	extract("second")
	if shown := one.page("/articulations/"+id+"/page", "Its skills have been replaced since"); strings.Contains(shown, "second") {
		t.Error("the page quotes what was not compared")
	}
}

// TestArticulationPageWithoutComparison: the page says why nothing is compared.
func TestArticulationPageWithoutComparison(t *testing.T) {
	t.Parallel()
	one := newService(t).one
	id := one.articulation(elective("A 1").with("decision", "NO_CREDIT", "receiving", []fields{}, "reason", "No laboratory."))
	one.page("/articulations/"+id+"/page", "No skills are compared: that requires", "No laboratory.", "Nothing, for all programs.", ">no credit<")
	one.must(404, "GET", "/articulations/art_0/page", "")
}

// TestArticulationLinks: a link shows that page and nothing else, until it ends.
func TestArticulationLinks(t *testing.T) {
	t.Parallel()
	s := newService(t)
	nobody := client{s: s}
	path := "/articulations/" + s.one.articulation(elective("A 1"))
	s.reader.must(403, "POST", path+"/links", `{"expiresInSeconds":60}`)
	s.two.must(404, "POST", path+"/links", `{"expiresInSeconds":60}`)
	made := s.one.must(201, "POST", path+"/links", `{"expiresInSeconds":60}`)
	made.want("expiresAt", s.clock.Now()+60_000)
	page := made.shared()
	nobody.page(page, "A 1 at Hill College")
	report := "/reports/" + s.one.report("gap")
	_, token, _ := strings.Cut(page, "?")
	_, reports, _ := strings.Cut(s.one.must(201, "POST", report+"/links", `{"expiresInSeconds":60}`).shared(), "?")
	for path, status := range map[string]int{
		"/articulations/" + s.one.articulation(elective("A 2")) + "/shared?" + token: 404, report + "/shared?" + token: 404,
		path + "/shared?" + reports: 404, path + "/shared": 400, path + "/page?" + token: 401, path + "?" + token: 401,
	} {
		nobody.must(status, "GET", path, "")
	}
	s.clock.Add(60_000)
	nobody.must(404, "GET", page, "")
	again := s.one.must(201, "POST", path+"/links", `{"expiresInSeconds":60}`).shared()
	nobody.page(again)
	s.one.must(204, "DELETE", path, "")
	nobody.must(404, "GET", again, "")
}

// TestMediaTypesOfArticulations: JSON unless a page is asked for; what is compared with
// If-Match is the record.
func TestMediaTypesOfArticulations(t *testing.T) {
	t.Parallel()
	one := newService(t).one
	path := "/articulations/" + one.articulation(elective("A 1"))
	record := one.must(200, "GET", path, "", "Accept", "*/*")
	page := one.must(200, "GET", path, "", "Accept", "text/html,*/*;q=0.8")
	for name, r := range map[string]reply{"application/json; charset=utf-8": record, "text/html; charset=utf-8": page} {
		if got := r.header("Content-Type"); got != name || r.header("Vary") == "" {
			t.Errorf("Content-Type %s, want %s; Vary %q", got, name, r.header("Vary"))
		}
	}
	one.must(400, "GET", path+"?format=csv", "")
	one.must(412, "PATCH", path, `{"publicNote":"N"}`, "If-Match", page.header("ETag"))
	one.must(200, "PATCH", path, `{"publicNote":"N"}`, "If-Match", record.header("ETag"))
}

// TestPagesOfOneDay: a page states the day on which it was made, not the time, so that it stays the same.
func TestPagesOfOneDay(t *testing.T) {
	t.Parallel()
	s := newService(t)
	program := s.one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")
	for _, path := range []string{
		"/programs/" + program + "/map/page", "/reports/" + s.one.report("gap") + "/page",
		"/articulations/" + s.one.articulation(elective("A 1")) + "/page",
	} {
		tag := s.one.must(200, "GET", path, "").header("ETag")
		s.clock.Add(1_000)
		s.one.must(304, "GET", path, "", "If-None-Match", tag)
	}
}
