package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/infra/terms/validators"
	"skillscurriculum/pkg/catalog"
)

// facts are what an organization needs to publish under a handle.
func facts(handle string) catalog.OrganizationFacts {
	return catalog.OrganizationFacts{
		Description: "A public two-year college", Webpage: "https://college.example", AgentType: "TwoYear",
		Handle: handle, Publication: true,
	}
}

// publishes sets the facts of the client's organization.
func (c client) publishes(facts catalog.OrganizationFacts) {
	c.s.t.Helper()
	id := c.customer.OrganizationID
	before, err := c.s.store.Organization(c.s.t.Context(), id)
	if err != nil {
		c.s.t.Fatal(err)
	}
	if before == nil {
		before = &catalog.Organization{ID: id}
	}
	after := &catalog.Organization{ID: id, Name: "Lake College", OrganizationFacts: facts}
	if err := c.s.store.ReplaceOrganization(c.s.t.Context(), before, after); err != nil {
		c.s.t.Fatal(err)
	}
}

// published are the ids of records that are public, by kind.
type published struct{ course, program, credential, articulation string }

const webpage = `"webpage":"https://college.example/page"`

// publication creates records that are ready and refer to each other.
func (c client) publication() (p published) {
	c.s.t.Helper()
	course := c.must(201, "POST", "/courses", `{"name":"Databases","code":"CS 201","description":"Relational databases"}`)
	p.course = course.text("id")
	c.must(200, "PUT", "/courses/"+p.course+"/outcomes",
		`{"outcomes":[{"statement":"Query a database","level":3,"skills":[]},{"statement":"Model data","level":3,"skills":[]}]}`)
	p.credential = c.must(201, "POST", "/credentials", fmt.Sprintf(
		`{"name":"Data","description":"Skills with databases",%s,"courseSectionIds":[%q]}`, webpage, course.text("defaultSectionId"))).text("id")
	p.program = c.must(201, "POST", "/programs", fmt.Sprintf(
		`{"name":"Computing","description":"A program of computing",%s,"courseOrder":[%q],"credentialIds":[%q]}`, webpage, p.course, p.credential)).text("id")
	p.articulation = c.approved(elective("A 1", "B 1,B 2").with("published", true, "receiving", []fields{{
		"courseId": p.course, "credits": fields{"min": 3, "max": 3, "unit": "SEMESTER_HOUR"},
	}}))
	return p
}

func (p published) paths() []string {
	return []string{"/courses/" + p.course, "/programs/" + p.program, "/credentials/" + p.credential, "/articulations/" + p.articulation}
}

// public reads a public address without a key.
func (s *service) public(status int, method, path string, header ...string) reply {
	s.t.Helper()
	r := client{s: s}.must(status, method, path, "", header...)
	if r.Header.Get("Access-Control-Allow-Origin") != "*" {
		s.t.Errorf("%s: pages of other origins cannot read it: %v", r.call, r.Header)
	}
	return r
}

// local returns the path of a public address.
func local(address string) string {
	_, path, _ := strings.Cut(address, "/v1")
	return path
}

// What each operation returns passes the validators, is the same for the same records, and is what strangers read.
func TestDocumentsInCTDL(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	p := one.publication()
	for _, path := range p.paths() {
		if got := one.must(409, "GET", path+"/ctdl", "").locations(); !strings.HasPrefix(got, "organization.") || !strings.Contains(got, "organization.handle") {
			t.Errorf("%s without facts: %s", path, got)
		}
	}
	one.must(409, "GET", "/ctdl/readiness", "")
	facts := facts("lake")
	facts.Publication = false
	one.publishes(facts)
	ctid := one.must(200, "GET", "/courses/"+p.course, "").text("ctid")
	s.public(404, "GET", "/public/lake/ctdl/"+ctid)
	facts.Publication = true
	one.publishes(facts)
	var documents [][]byte
	names := map[string]bool{}
	for _, path := range p.paths() {
		r := one.must(200, "GET", path+"/ctdl", "")
		if r.header("Content-Type") != "application/ld+json" || r.header("X-RateLimit-Cost") != "1" {
			t.Errorf("%s: %v", r.call, r.Header)
		}
		if again := one.must(200, "GET", path+"/ctdl?graph=false", ""); string(again.Body) != string(r.Body) {
			t.Errorf("%s: another document:\n%s\n%s", r.call, r.Body, again.Body)
		}
		one.must(304, "GET", path+"/ctdl", "", "If-None-Match", r.header("ETag"))
		if strings.Contains(string(r.Body), "@graph") {
			t.Errorf("%s: a graph: %s", r.call, r.Body)
		}
		stranger := s.public(200, "GET", local(r.text("@id")))
		if string(stranger.Body) != string(r.Body) || stranger.header("Cache-Control") != "public, max-age=300" || stranger.header("X-RateLimit-Cost") != "0" {
			t.Errorf("%s is not %s: %v", stranger.Body, r.Body, stranger.Header)
		}
		s.public(304, "GET", local(r.text("@id")), "If-None-Match", stranger.header("ETag"))
		graph := one.must(200, "GET", path+"/ctdl?graph=true", "")
		if graph.text("@graph.0.@id") != r.text("@id") {
			t.Errorf("%s: the graph begins with another entity: %s", path, graph.Body)
		}
		for i := 0; ; i++ {
			if graph.get(fmt.Sprintf("@graph.%d", i)) == (absent{}) {
				break
			}
			kind := graph.get(fmt.Sprintf("@graph.%d.@type", i))
			names[fmt.Sprintf("%s %s", path[1:3], kind)] = true
		}
		documents = append(documents, r.Body, graph.Body)
	}
	for _, want := range []string{
		"co ceterms:CredentialOrganization", "co ceasn:Competency", "co ceasn:CompetencyFramework", "co ceterms:LearningProgram",
		"pr ceterms:Course", "pr ceterms:MicroCredential", "cr ceterms:Course", "ar ceterms:Course",
	} {
		if !names[want] {
			t.Errorf("no graph has %s: %v", want, names)
		}
	}
	one.must(200, "GET", "/articulations/"+p.articulation+"/ctdl?alternative=1", "").want("@id",
		"https://example.com/v1/public/lake/ctdl/"+catalog.DerivedCTID(p.articulation+"/1"))
	one.must(404, "GET", "/articulations/"+p.articulation+"/ctdl?alternative=2", "")
	one.must(404, "GET", "/courses/"+p.program+"/ctdl", "")

	index := s.public(200, "GET", "/public/lake/ctdl/index.json")
	var classes []string
	for i := 0; i < 7; i++ {
		classes = append(classes, index.text(fmt.Sprintf("classes.%d.class", i)))
		for n := 0; ; n++ {
			address, ok := index.get(fmt.Sprintf("classes.%d.addresses.%d", i, n)).(string)
			if !ok {
				break
			}
			r := s.public(200, "GET", local(address))
			r.want("@type", classes[i])
			documents = append(documents, r.Body)
		}
	}
	want := "ceasn:Competency ceasn:CompetencyFramework ceterms:Course ceterms:CredentialOrganization ceterms:LearningProgram " +
		"ceterms:MicroCredential ceterms:TransferValueProfile"
	if got := strings.Join(classes, " "); got != want || index.get("next") != nil {
		t.Errorf("classes %s: %s", got, index.Body)
	}
	index.want("classes.6.addresses.2", absent{})
	s.public(304, "GET", "/public/lake/ctdl/index.json", "If-None-Match", index.header("ETag"))
	after := s.public(200, "GET", "/public/lake/ctdl/index.json?after=ceterms:Course+"+ctid)
	after.want("classes.0.class", "ceterms:CredentialOrganization")
	validators.Documents(t, documents...)
}

// The index has at most 1,000 addresses a page; its pages have each address once, in order, and a class may span two.
func TestPagesOfThePublicIndex(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.one.publishes(facts("lake"))
	for course := range 11 {
		id := s.one.must(201, "POST", "/courses", fmt.Sprintf(
			`{"name":"Databases","code":"CS %d","description":"Relational databases"}`, course)).text("id")
		var outcomes []string
		for i := range 99 {
			outcomes = append(outcomes, fmt.Sprintf(`{"statement":"Outcome %d","level":1,"skills":[]}`, i))
		}
		s.one.must(200, "PUT", "/courses/"+id+"/outcomes", `{"outcomes":[`+strings.Join(outcomes, ",")+`]}`)
	}
	var all []string
	var sizes []int
	for path := "/public/lake/ctdl/index.json"; path != ""; {
		page := s.public(200, "GET", path)
		size := 0
		for i := 0; page.get(fmt.Sprintf("classes.%d", i)) != (absent{}); i++ {
			class := page.text(fmt.Sprintf("classes.%d.class", i))
			for n := 0; ; n++ {
				address, ok := page.get(fmt.Sprintf("classes.%d.addresses.%d", i, n)).(string)
				if !ok {
					break
				}
				all = append(all, class+" "+address)
				size++
			}
		}
		sizes = append(sizes, size)
		next, _ := page.get("next").(string)
		path = local(next)
	}
	if !slices.Equal(sizes, []int{1000, 11*99 - 1000 + 11 + 11 + 1}) || !slices.IsSorted(all) ||
		len(slices.Compact(all)) != 11*99+11+11+1 {
		t.Errorf("pages of %v addresses, sorted %t", sizes, slices.IsSorted(all))
	}
}

// Whatever is not public is the same 404: to strangers there is nothing else.
func TestOnlyWhatIsPublicHasAnAddress(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one, two := s.one, s.two
	one.publishes(facts("lake"))
	two.publishes(facts("hill"))
	mine, theirs := one.publication(), two.publication()
	ctid := func(c client, path string) string { return c.must(200, "GET", path, "").text("ctid") }
	course := ctid(one, "/courses/"+mine.course)
	draft := one.articulation(elective("C 1").with("published", true))
	hidden := one.approved(elective("D 1").with("receiving", []fields{{"label": "X", "credits": fields{"min": 1, "max": 1, "unit": "CEU"}}}))
	bare := one.must(201, "POST", "/courses", `{"name":"Bare","code":"B 1","description":"Fourteen chars"}`)
	outcome := one.must(200, "PUT", "/courses/"+bare.text("id")+"/outcomes", `{"outcomes":[{"statement":"O","level":1,"skills":[]}]}`).text("outcomes.0.ctid")
	gone := one.must(201, "POST", "/courses", `{"name":"Gone","code":"G 1","description":"A course that is deleted"}`)
	s.public(200, "GET", "/public/lake/ctdl/"+gone.text("ctid"))
	one.must(204, "DELETE", "/courses/"+gone.text("id"), "")
	for path, field := range map[string]string{
		"/articulations/" + draft: "", "/articulations/" + hidden: "", "/courses/" + bare.text("id"): "description",
	} {
		if got := one.must(409, "GET", path+"/ctdl", "").locations(); got != field {
			t.Errorf("%s: %s", path, got)
		}
	}
	last := course[:len(course)-1] + "0"
	if last == course {
		last = course[:len(course)-1] + "1"
	}
	var answers []string
	for _, path := range []string{
		"lake/ctdl/" + ctid(two, "/courses/"+theirs.course), "hill/ctdl/" + course, "lake/ctdl/" + ctid(one, "/articulations/"+draft),
		"lake/ctdl/" + ctid(one, "/articulations/"+hidden), "lake/ctdl/" + bare.text("ctid"), "lake/ctdl/" + outcome,
		"lake/ctdl/" + gone.text("ctid"), "lake/ctdl/" + last, "lake/ctdl/" + strings.ToUpper(course), "lake/ctdl/" + mine.course,
		"lake/ctdl/x", "lake/ctdl/" + strings.Repeat("x", 5000), "lake/ctdl/%00", "Lake/ctdl/" + course, "nobody/ctdl/index.json",
		"org_one/ctdl/" + course, "lake%23/ctdl/" + course, strings.Repeat("a", 41) + "/ctdl/index.json", "%E2%82%AC/ctdl/index.json",
	} {
		answers = append(answers, s.public(404, "GET", "/public/"+path).anonymous())
	}
	if answers = slices.Compact(answers); len(answers) != 1 {
		t.Errorf("what is not public can be told apart: %s", answers)
	}
	if index := s.public(200, "GET", "/public/lake/ctdl/index.json"); strings.Contains(string(index.Body), bare.text("ctid")) || strings.Contains(string(index.Body), outcome) {
		t.Errorf("the index has what is not ready: %s", index.Body)
	}
	// References name only what is public.
	one.must(200, "PATCH", "/credentials/"+mine.credential, `{"webpage":null}`)
	if r := one.must(200, "GET", "/programs/"+mine.program+"/ctdl", ""); r.get("ceterms:isPreparationFor") != (absent{}) {
		t.Errorf("%s", r.Body)
	}
	s.public(200, "GET", "/public/lake/ctdl/"+course)
	// Within 60 s nothing is public any more.
	off := facts("lake")
	off.Publication = false
	one.publishes(off)
	s.public(404, "GET", "/public/lake/ctdl/"+course)
	s.public(404, "GET", "/public/lake/ctdl/index.json")
	one.publishes(facts("other"))
	s.public(404, "GET", "/public/lake/ctdl/"+course)
	s.public(200, "GET", "/public/other/ctdl/"+course)
	two.publishes(facts("lake"))
	s.clock.Add(60_000)
	s.public(200, "GET", "/public/lake/ctdl/"+ctid(two, "/courses/"+theirs.course))
	// Only reads, and only of these two paths.
	one.must(405, "POST", "/public/other/ctdl/index.json", "")
	client{s: s}.must(401, "DELETE", "/public/other/ctdl/"+course, "")
	if r := (client{s: s}).must(401, "GET", "/courses", ""); r.Header["Access-Control-Allow-Origin"] != nil {
		t.Errorf("%v", r.Header)
	}
	r := s.public(204, "OPTIONS", "/public/lake/ctdl/"+course, "Origin", "https://other.example", "Access-Control-Request-Method", "GET")
	if r.header("Access-Control-Allow-Methods") != "GET, OPTIONS" || r.header("Access-Control-Allow-Headers") != "*" {
		t.Errorf("%v", r.Header)
	}
	s.public(204, "OPTIONS", "/public/lake/ctdl/index.json")
}

// The readers of one organization are refused above 600 reads a minute; those of another are not.
func TestReadersOfOneOrganizationAreBounded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.one.publishes(facts("lake"))
	s.two.publishes(facts("hill"))
	for range 600 {
		s.public(200, "GET", "/public/lake/ctdl/index.json")
	}
	r := s.public(429, "GET", "/public/lake/ctdl/"+catalog.DerivedCTID("org_one"))
	if r.header("Retry-After") == "" || r.header("X-RateLimit-Limit") != "600" {
		t.Errorf("%v", r.Header)
	}
	s.public(200, "GET", "/public/hill/ctdl/"+catalog.DerivedCTID("org_two"))
	s.one.course("A")
	s.clock.Add(60_000)
	s.public(200, "GET", "/public/lake/ctdl/"+catalog.DerivedCTID("org_one"))
}

// Readiness lists everything that can be published, each once, and follows changes at once.
func TestReadiness(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	one.publishes(facts("lake"))
	p := one.publication()
	one.articulation(elective("C 1").with("published", true))
	noCredit := one.approved(elective("D 1").with("published", true, "decision", "NO_CREDIT", "reason", "R", "receiving", []fields{}))
	list := one.must(200, "GET", "/ctdl/readiness", "")
	var got []string
	for i := range list.number("pagination.total") {
		item := fmt.Sprintf("data.%d.", i)
		if list.text(item+"ctid") == "" {
			t.Error("no ctid")
		}
		got = append(got, fmt.Sprintf("%s %s %v", list.text(item+"resource"), list.text(item+"id"), list.get(item+"ready")))
	}
	want := []string{
		"course " + p.course + " true", "program " + p.program + " true", "credential " + p.credential + " true",
		"articulation " + p.articulation + " true", "articulation " + noCredit + " false", "framework " + p.course + " true",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if list.header("X-RateLimit-Cost") != "5" {
		t.Errorf("%v", list.Header)
	}
	list.want("data.4.missing.0", map[string]string{"property": "ceterms:transferValue", "level": "REQUIRED", "field": "receiving"})
	one.must(200, "PATCH", "/courses/"+p.course, `{"description":null}`)
	courses := one.must(200, "GET", "/ctdl/readiness?resource=course", "")
	courses.want("pagination.total", 1)
	courses.want("data.0.ready", false)
	courses.want("data.0.missing.0", map[string]string{"property": "ceterms:description", "level": "REQUIRED", "field": "description"})
	one.must(200, "GET", "/ctdl/readiness?resource=framework", "").want("pagination.total", 0)
	page := one.must(200, "GET", "/ctdl/readiness?limit=1&offset=1", "")
	page.want("data.0.id", p.program)
	page.want("pagination", map[string]any{"total": 5, "limit": 1, "offset": 1, "hasMore": true})
	one.must(400, "GET", "/ctdl/readiness?resource=job", "")
	one.must(200, "GET", "/ctdl/readiness?offset=99", "").want("data", []any{})
}

// Each required field that a record or the organization lacks is named in the 409, in readiness too.
func TestWhatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	one.publishes(facts("lake"))
	p := one.publication()
	for _, lacks := range []struct{ resource, path, field, value string }{
		{"course", "/courses/" + p.course, "description", "Relational databases"},
		{"program", "/programs/" + p.program, "description", "A program of computing"},
		{"program", "/programs/" + p.program, "webpage", "https://college.example/page"},
		{"credential", "/credentials/" + p.credential, "description", "Skills with databases"},
		{"credential", "/credentials/" + p.credential, "webpage", "https://college.example/page"},
	} {
		one.must(200, "PATCH", lacks.path, fmt.Sprintf(`{%q:null}`, lacks.field))
		if got := one.must(409, "GET", lacks.path+"/ctdl", "").locations(); got != lacks.field {
			t.Errorf("%s without %s: %s", lacks.resource, lacks.field, got)
		}
		list := one.must(200, "GET", "/ctdl/readiness?resource="+lacks.resource, "")
		list.want("data.0.ready", false)
		list.want("data.0.missing.0.field", lacks.field)
		one.must(200, "PATCH", lacks.path, fmt.Sprintf(`{%q:%q}`, lacks.field, lacks.value))
		one.must(200, "GET", lacks.path+"/ctdl", "")
	}
	for fact, remove := range map[string]func(*catalog.OrganizationFacts){
		"description": func(f *catalog.OrganizationFacts) { f.Description = "" },
		"webpage":     func(f *catalog.OrganizationFacts) { f.Webpage = "" },
		"agentType":   func(f *catalog.OrganizationFacts) { f.AgentType = "" },
		"handle":      func(f *catalog.OrganizationFacts) { f.Handle, f.Publication = "", false },
	} {
		without := facts("lake")
		remove(&without)
		one.publishes(without)
		for _, path := range []string{
			"/courses/" + p.course + "/ctdl", "/articulations/" + p.articulation + "/ctdl", "/ctdl/readiness",
		} {
			if got := one.must(409, "GET", path, "").locations(); got != "organization."+fact {
				t.Errorf("%s without the fact %s: %s", path, fact, got)
			}
		}
	}
}

// A graph of more than 500 entities is refused.
func TestGraphsAreBounded(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	one.publishes(facts("lake"))
	var programs [5][]string
	course := one.must(201, "POST", "/courses", `{"name":"Databases","code":"CS 201","description":"Relational databases"}`).text("id")
	for i := range programs {
		for n := range 100 {
			programs[i] = append(programs[i], fmt.Sprintf(
				`{"externalId":"%d-%d","name":"P","description":"A program of computing",%s,"courseOrder":[%q]}`, i, n, webpage, course))
		}
		one.must(200, "POST", "/batches", fmt.Sprintf(`{"resource":"program","items":[%s]}`, strings.Join(programs[i], ",")))
	}
	if got := one.must(422, "GET", "/courses/"+course+"/ctdl?graph=true", "").locations(); got != "query.graph" {
		t.Error(got)
	}
	one.must(200, "GET", "/courses/"+course+"/ctdl", "")
	first := one.must(200, "GET", "/programs?externalId=0-0", "").text("data.0.id")
	one.must(200, "GET", "/programs/"+first+"/ctdl?graph=true", "")
	second := one.must(200, "GET", "/programs?externalId=0-1", "").text("data.0.id")
	one.must(204, "DELETE", "/programs/"+first, "")
	one.must(204, "DELETE", "/programs/"+second, "")
	one.must(200, "GET", "/courses/"+course+"/ctdl?graph=true", "")
}

// A CTID that another record has, set or derived, cannot be set; nor can the organization's.
func TestDerivedCTIDsAreTaken(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	p := one.publication()
	other := one.must(201, "POST", "/courses", `{"name":"Other","code":"O 1"}`).text("id")
	list := one.must(200, "GET", "/courses/"+p.course+"/outcomes", "")
	for what, ctid := range map[string]string{
		"course": one.must(200, "GET", "/courses/"+p.course, "").text("ctid"), "program": catalog.DerivedCTID(p.program),
		"articulation": catalog.DerivedCTID(p.articulation), "alternative": catalog.DerivedCTID(p.articulation + "/1"),
		"outcome": list.text("outcomes.1.ctid"), "organization": catalog.DerivedCTID("org_one"),
	} {
		if got := one.must(409, "PATCH", "/courses/"+other, fmt.Sprintf(`{"ctid":%q}`, ctid)).locations(); got != "body.ctid" {
			t.Errorf("%s: %s", what, got)
		}
		one.must(409, "POST", "/programs", fmt.Sprintf(`{"name":"P","ctid":%q}`, ctid))
		one.outcomes("course", fmt.Sprintf(`{"externalId":"X","name":"X","code":"X","ctid":%q}`, ctid), "FAILED")
	}
	one.must(422, "PUT", "/courses/"+p.course+"/outcomes", fmt.Sprintf(
		`{"outcomes":[{"statement":"New","level":1,"skills":[],"ctid":%q},{"id":%q,"statement":"Model data"}]}`,
		list.text("outcomes.1.ctid"), list.text("outcomes.1.id")))
	// An approved articulation may have a CTID at the Registry already.
	const registered = "ce-00000000-0000-4000-8000-000000000001"
	one.must(200, "PATCH", "/articulations/"+p.articulation, fmt.Sprintf(`{"ctid":%q}`, registered)).want("ctid", registered)
	one.must(409, "PATCH", "/articulations/"+p.articulation, fmt.Sprintf(`{"ctid":%q}`, catalog.DerivedCTID(p.articulation)))
	// Its own is not a change, that of another organization is free, and so is that of a deleted record.
	one.must(200, "PATCH", "/courses/"+other, fmt.Sprintf(`{"ctid":%q}`, catalog.DerivedCTID(other)))
	theirs := s.two.course("A").text("ctid")
	gone := one.course("Gone")
	one.must(204, "DELETE", "/courses/"+gone.text("id"), "")
	one.must(200, "PATCH", "/courses/"+other, fmt.Sprintf(`{"ctid":%q}`, gone.text("ctid")))
	one.must(201, "POST", "/courses", fmt.Sprintf(`{"name":"N","code":"N","ctid":%q}`, theirs))
}
