package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// A map is computed, decided and shown: in JSON, as a table and as a page.
func TestMapOfAProgram(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.one
	course := c.must(201, "POST", "/courses", `{"name":"Databases","code":"CS 1"}`).text("id")
	section := c.must(200, "GET", "/courses/"+course, "").text("defaultSectionId")
	c.must(200, "PATCH", "/courses/"+course+"/sections/"+section, `{"skills":[{"skillId":"core:sql","level":4}]}`)
	silent := c.must(201, "POST", "/courses", `{"name":"Silent","code":"CS 2"}`).text("id")
	program := c.must(201, "POST", "/programs", fmt.Sprintf(
		`{"name":"P","courseOrder":[%q,%q],"mapSettings":{"touch":0.35,"cover":0.6}}`, course, silent)).text("id")
	path := "/programs/" + program + "/map"
	if kind := c.must(200, "GET", path, "").text("issues.0.kind"); kind != "NO_OUTCOMES" {
		t.Errorf("a program without outcomes: %s", kind)
	}
	outcome := c.must(200, "PUT", "/programs/"+program+"/outcomes",
		`{"outcomes":[{"code":"P1","statement":"Query data","level":3,"skills":[{"skillId":"core:sql","level":3}]}]}`).text("outcomes.0.id")
	first := c.must(200, "GET", path, "")
	if got := first.text("cells.0.mark"); got != "MASTERED" || !strings.Contains(string(first.Body), `"touch":0.35`) {
		t.Errorf("the first map: %s\n%s", got, first.Body)
	}
	tag := first.header("ETag")
	if r := c.do("GET", path, "", "If-None-Match", tag); r.Status != 304 {
		t.Errorf("If-None-Match: %d", r.Status)
	}

	cell := path + "/" + outcome + "/" + silent
	c.must(422, "PUT", cell, `{"mark":"NONE","assessed":true}`)
	c.must(404, "PUT", path+"/"+outcome+"/crs_unknown", `{"mark":"NONE"}`)
	decided := c.must(200, "PUT", cell, `{"mark":"REINFORCED","assessed":true,"note":"Project"}`, "If-Match", tag)
	if got := decided.text("mark") + decided.text("decided.computedThen"); got != "REINFORCEDNONE" {
		t.Errorf("the decided cell: %s", decided.Body)
	}
	c.must(412, "PUT", cell, `{"mark":"INTRODUCED"}`, "If-Match", tag)
	// A map with parameters names the ETag of the one without, which decisions are compared with.
	plain := c.must(200, "GET", path, "")
	if got := plain.Header["X-Record-ETag"]; got != nil {
		t.Errorf("a map without parameters has X-Record-ETag %s", got)
	}
	for _, query := range []string{"?jobs=soc:15-1252", "?basis=skills"} {
		r := c.must(200, "GET", path+query, "")
		if got := r.header("X-Record-ETag"); got != plain.header("ETag") || got == r.header("ETag") {
			t.Errorf("%s: X-Record-ETag %s, want %s", query, got, plain.header("ETag"))
		}
		c.must(200, "PUT", cell, `{"mark":"REINFORCED","assessed":true,"note":"Project"}`, "If-Match", r.header("X-Record-ETag"))
	}
	if table := c.must(200, "GET", path+"/table", "").Body; string(table) != "code,name,P1\r\nCS 1,Databases,M\r\nCS 2,Silent,RA*\r\n" {
		t.Errorf("the table: %q", table)
	}
	if long := c.must(200, "GET", path+"/table?layout=long", "").Body; strings.Count(string(long), "\r\n") != 3 || !strings.Contains(string(long), "Project") {
		t.Errorf("the long table: %q", long)
	}
	if page := c.must(200, "GET", path+"/page?jobs=soc:15-1252", "").Body; !strings.Contains(string(page), "RA*") || !strings.Contains(string(page), "What jobs require") {
		t.Errorf("the page: %s", page)
	}
	c.must(400, "GET", path+"?jobs=job_unknown", "")
	shared := c.must(201, "POST", path+"/links", `{"expiresInSeconds":60}`).shared()
	if page := (client{s: s}).must(200, "GET", shared, "").Body; !strings.Contains(string(page), "RA*") {
		t.Errorf("the shared page: %s", page)
	}

	// Another statement makes the decision stale, and changes nothing else; without its outcome it is gone.
	c.must(202, "PUT", "/programs/"+program+"/outcomes", fmt.Sprintf(
		`{"outcomes":[{"id":%q,"code":"P1","statement":"Query all data","level":null,"skills":[{"skillId":"core:sql","level":3}]}]}`, outcome))
	if stale := c.must(200, "GET", path, ""); !strings.Contains(string(stale.Body), "DECISION_STALE") || !strings.Contains(string(stale.Body), `"settled":false`) {
		t.Errorf("another statement: %s", stale.Body)
	}
	c.must(412, "DELETE", cell, "", "If-Match", tag)
	c.must(204, "DELETE", cell, "", "If-Match", c.must(200, "GET", path, "").header("ETag"))
	c.must(204, "DELETE", cell, "")
	c.must(404, "DELETE", path+"/out_unknown/"+silent, "")
	c.must(404, "DELETE", path+"/"+outcome+"/crs_unknown", "")
	c.must(404, "DELETE", "/programs/prg_unknown/map/"+outcome+"/"+silent, "")
	if table := c.must(200, "GET", path+"/table", "").Body; strings.Contains(string(table), "*") {
		t.Errorf("a deleted decision: %q", table)
	}
	for _, wrong := range []string{`{"touch":0.31,"cover":0.6}`, `{"touch":0.7,"cover":0.6}`, `{"touch":0,"cover":0.6}`, `{"touch":0.3}`} {
		c.must(422, "PATCH", "/programs/"+program, `{"mapSettings":`+wrong+`}`)
	}
}

// A decision leaves with its outcome, and comes back with its course.
func TestDecisionsLeaveWithTheirOutcome(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c := s.one
	course := c.must(201, "POST", "/courses", `{"name":"Databases","code":"CS 1"}`).text("id")
	program := c.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, course)).text("id")
	path := "/programs/" + program
	const two = `{"outcomes":[{"code":"P1","statement":"Query data","level":3,"skills":[]},{"code":"P2","statement":"Store data","level":3,"skills":[]}]}`
	list := c.must(200, "PUT", path+"/outcomes", two)
	for i := range 2 {
		c.must(200, "PUT", path+"/map/"+list.text(fmt.Sprintf("outcomes.%d.id", i))+"/"+course, `{"mark":"MASTERED"}`)
	}
	left := func() (codes []string) {
		t.Helper()
		all, err := s.store.MapDecisions(t.Context(), "org_one", program)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			for _, d := range all {
				if d.OutcomeID == list.text(fmt.Sprintf("outcomes.%d.id", i)) {
					codes = append(codes, list.text(fmt.Sprintf("outcomes.%d.code", i)))
				}
			}
		}
		return codes
	}
	c.must(200, "PUT", path+"/outcomes", `{"outcomes":[{"code":"P2","statement":"Store data"}]}`)
	if got := left(); fmt.Sprint(got) != "[P2]" {
		t.Errorf("without P1, decisions on %v are left", got)
	}
	c.must(204, "DELETE", path+"/courses/"+course, "")
	if m := c.must(200, "GET", path+"/map", ""); strings.Contains(string(m.Body), "decidedAt") {
		t.Errorf("the decision on a course that left: %s", m.Body)
	}
	c.must(200, "POST", path+"/courses", fmt.Sprintf(`{"courseId":%q}`, course))
	if m := c.must(200, "GET", path+"/map", ""); !strings.Contains(string(m.Body), "decidedAt") {
		t.Errorf("the decision on a course that came back: %s", m.Body)
	}
	c.must(200, "PUT", path+"/outcomes", `{"outcomes":[]}`)
	if got := left(); got != nil {
		t.Errorf("without outcomes, decisions on %v are left", got)
	}
}

// The page quotes what was read for the section that represents a course; JSON and table do not.
func TestMapPageQuotes(t *testing.T) {
	t.Parallel()
	s := newService(t)
	skill := s.one.known(1)[0]
	d := s.one.described(`{"name":"Databases","code":"CS 1","description":"Students write SQL."}`)
	const quote = "Students write SQL."
	result := resultOf(found(skill, 3, 0.9))
	result.Evidence[0].Quote, result.Provenance.Source = quote, catalog.FromDescription
	s.finish(d.job, result)
	program := s.one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, strings.TrimPrefix(d.course, "/courses/"))).text("id")
	s.one.must(200, "PUT", "/programs/"+program+"/outcomes",
		fmt.Sprintf(`{"outcomes":[{"statement":"Query data","level":3,"skills":[{"skillId":%q,"level":3}]}]}`, skill))
	path := "/programs/" + program + "/map"
	if page := s.one.must(200, "GET", path+"/page", "").Body; !strings.Contains(string(page), "<q>"+quote+"</q>") {
		t.Errorf("the page lacks %q: %s", quote, page)
	}
	for _, other := range []string{"", "/table", "/table?layout=long"} {
		if body := s.one.must(200, "GET", path+other, "").Body; strings.Contains(string(body), quote) {
			t.Errorf("%q quotes: %s", other, body)
		}
	}
	// What a person set was not read anywhere.
	s.one.must(200, "PATCH", d.section, fmt.Sprintf(`{"skills":[{"skillId":%q,"level":4}]}`, skill))
	if page := s.one.must(200, "GET", path+"/page", "").Body; strings.Contains(string(page), "<q>") || !strings.Contains(string(page), "Teaches:") {
		t.Errorf("the page quotes for skills set by hand: %s", page)
	}
}

// What calls of the map cost, refuse and answer.
func TestMapRefusals(t *testing.T) {
	t.Parallel()
	s := newService(t)
	c, other := s.one, s.two
	course := c.must(201, "POST", "/courses", `{"name":"Databases","code":"CS 1"}`).text("id")
	program := c.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, course)).text("id")
	foreign := other.must(201, "POST", "/jobs", `{"name":"J","employerId":"E"}`).text("id")
	own := c.must(201, "POST", "/jobs", `{"name":"J","employerId":"E"}`).text("id")
	path := "/programs/" + program + "/map"
	outcome := c.must(200, "PUT", "/programs/"+program+"/outcomes", `{"outcomes":[{"statement":"Query data","level":3,"skills":[]}]}`).text("outcomes.0.id")
	cell := path + "/" + outcome + "/" + course
	for _, call := range []struct {
		method, path, body, cost string
		status                   int
	}{
		{"GET", path, "", "10", 200}, {"GET", path + "/table", "", "10", 200}, {"GET", path + "/page", "", "10", 200},
		{"GET", path + "?basis=skills&jobs=" + own + ",soc:15-1252", "", "10", 200}, {"POST", path + "/links", `{"expiresInSeconds":60}`, "2", 201},
		{"PUT", cell, `{"mark":"INTRODUCED"}`, "2", 200}, {"DELETE", cell, "", "2", 204},
		{"GET", path + "?basis=levels", "", "", 400}, {"GET", path + "?jobs=", "", "", 400}, {"GET", path + "?jobs=" + foreign, "", "", 400},
		{"GET", path + "?jobs=soc:99-9999", "", "", 400}, {"GET", path + "?jobs=" + own + ",,", "", "", 400},
		{"GET", path + "?jobs=" + strings.TrimSuffix(strings.Repeat(own+",", 11), ","), "", "", 400}, {"GET", path + "/table?layout=tall", "", "", 400},
		{"GET", "/programs/prg_unknown/map", "", "", 404}, {"GET", "/programs/prg_unknown/map/page", "", "", 404}, {"POST", "/programs/prg_unknown/map/links", `{"expiresInSeconds":60}`, "", 404},
		{"PUT", cell, `{}`, "", 422}, {"PUT", cell, `{"mark":"TAUGHT"}`, "", 422}, {"PUT", cell, `{"mark":null}`, "", 422}, {"PUT", cell, `{"mark":"NONE","more":1}`, "", 422},
		{"PUT", cell, fmt.Sprintf(`{"mark":"NONE","note":%q}`, strings.Repeat("x", 1001)), "", 422}, {"PATCH", cell, `{}`, "", 405},
	} {
		r := c.do(call.method, call.path, call.body)
		if r.Status != call.status || call.cost != "" && r.header("X-RateLimit-Cost") != call.cost {
			t.Errorf("%s %s %.40s: %d, cost %s: %s", call.method, call.path, call.body, r.Status, r.header("X-RateLimit-Cost"), r.Body)
		}
	}
	if at := c.must(422, "PUT", cell, `{"mark":"NONE","assessed":true}`).text("errors.0.location"); at != "body.assessed" {
		t.Errorf("NONE with assessed: the fault is at %s", at)
	}
	other.must(404, "GET", path, "")
	other.must(404, "PUT", cell, `{"mark":"NONE"}`)
	other.must(404, "DELETE", cell, "")
	// The tag of an answer is that of its query.
	whole, skills := c.must(200, "GET", path, "").header("ETag"), c.must(200, "GET", path+"?basis=skills", "").header("ETag")
	if whole == skills || c.do("GET", path+"?basis=skills", "", "If-None-Match", skills).Status != 304 {
		t.Errorf("tags %s and %s", whole, skills)
	}
	c.must(412, "PUT", cell, `{"mark":"NONE"}`, "If-Match", skills)
	c.must(200, "PUT", cell, `{"mark":"NONE","note":null}`, "If-Match", whole)
	r := c.must(200, "GET", path, "")
	r.want("cells.0.mark", "NONE")
	r.want("cells.0.decided.note", nil)
	r.want("cells.0.taughtLevel", nil)
	r.want("issues.0.kind", "NOT_COVERED")
	r.want("settings.basis", "both")
	r.want("market", []any{})
	if table := c.must(200, "GET", path+"/table", ""); string(table.Body) != "code,name,1\r\nCS 1,Databases,*\r\n" {
		t.Errorf("the table: %q", table.Body)
	}
	jobs := c.must(200, "GET", path+"?jobs="+own+",soc:15-1252", "")
	jobs.want("settings.jobs", []any{own, "soc:15-1252"})
	jobs.want("market.0.job.lib", "custom")
	jobs.want("market.1.job.id", "15-1252")
	jobs.want("market.1.job.lib", "soc")
}
