package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// fields are the fields of a body.
type fields map[string]any

// with returns the fields with others, in pairs of name and value.
func (f fields) with(pairs ...any) fields {
	f = maps.Clone(f)
	for i := 0; i < len(pairs); i += 2 {
		f[pairs[i].(string)] = pairs[i+1]
	}
	return f
}

func (f fields) String() string {
	text, _ := json.Marshal(f)
	return string(text)
}

// sending are alternatives, each of codes that commas separate.
func sending(alternatives ...string) []fields {
	var all []fields
	for _, alternative := range alternatives {
		var courses []fields
		for code := range strings.SplitSeq(alternative, ",") {
			courses = append(courses, fields{"code": code})
		}
		all = append(all, fields{"courses": courses})
	}
	return all
}

// elective is the body of an articulation that grants no course of the catalog.
func elective(alternatives ...string) fields {
	return fields{
		"sendingInstitution": fields{"name": "Hill College"}, "sending": sending(alternatives...), "receiving": []fields{{"label": "Elective"}},
		"decision": "ELECTIVE", "effectiveFrom": "2026-08-01",
	}
}

func (c client) articulation(body fields) string {
	c.s.t.Helper()
	return c.must(201, "POST", "/articulations", body.String()).text("id")
}

const byRegistrar = `"decidedBy":{"name":"R. Egistrar","role":"Registrar"}`

// move moves an articulation and checks the status of the response.
func (c client) move(status int, id, to string) reply {
	c.s.t.Helper()
	return c.must(status, "POST", "/articulations/"+id+"/status", fmt.Sprintf(`{"status":%q,"note":"Decided.",%s}`, to, byRegistrar))
}

func (c client) approved(body fields) string {
	c.s.t.Helper()
	id := c.articulation(body)
	c.move(200, id, "IN_REVIEW")
	c.move(200, id, "APPROVED")
	return id
}

func (c client) lookup(institution, codes string, more ...string) reply {
	c.s.t.Helper()
	query := url.Values{"institution": {institution}, "codes": {codes}}
	for i := 0; i < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return c.must(200, "GET", "/articulations/lookup?"+query.Encode(), "")
}

// TestArticulationFromDraftToLookup follows one articulation through its states.
func TestArticulationFromDraftToLookup(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.course("Databases").text("id")
	program := one.must(201, "POST", "/programs", `{"name":"P"}`).text("id")
	body := fields{
		"sendingInstitution": fields{"name": "Hill College", "codeType": "IPEDS", "code": "123456"}, "sending": sending("CIS-0120l", "CIS 10,CIS 11"),
		"receiving": []fields{{"courseId": course, "credits": fields{"min": 3, "max": 3, "unit": "SEMESTER_HOUR"}}}, "decision": "EQUIVALENT",
		"effectiveFrom": "2026-08-01", "publicNote": "Bring the syllabus.", "privateNote": "Ask the dean.",
	}
	created := one.must(201, "POST", "/articulations", body.String())
	id := created.text("id")
	path := "/articulations/" + id
	created.want("status", "DRAFT")
	for _, empty := range []string{"decidedBy", "decidedAt", "evidence", "effectiveTo", "reason", "supersedes", "reviewAfter", "effectiveTerm", "deletedAt"} {
		created.want(empty, nil)
	}
	created.want("programIds", []any{})
	if read := one.must(200, "GET", path, ""); string(read.Body) != string(created.Body) {
		t.Errorf("GET shows %s, POST showed %s", read.Body, created.Body)
	}
	one.must(200, "PATCH", path, fields{"programIds": []string{program}}.String())
	one.must(200, "PATCH", path, `{"programIds":[]}`)
	one.lookup("Hill College", "CIS 120L").want("uncovered", []string{"CIS 120L"})

	one.move(409, id, "APPROVED")
	one.move(409, id, "DRAFT")
	one.move(200, id, "IN_REVIEW").want("decidedBy", nil)
	one.must(409, "PATCH", path, `{"publicNote":"x"}`)
	one.must(409, "DELETE", path, "")
	if r := one.must(422, "POST", path+"/status", `{"status":"APPROVED"}`); r.locations() != "body.decidedBy" {
		t.Errorf("field errors at %s", r.locations())
	}
	tag := one.must(200, "GET", path, "").header("ETag")
	one.must(412, "POST", path+"/status", `{"status":"REJECTED","note":"N"}`, "If-Match", `"stale"`)
	s.clock.Add(1000)
	approved := one.must(200, "POST", path+"/status", `{"status":"APPROVED",`+byRegistrar+`}`, "If-Match", tag, "Idempotency-Key", "a")
	approved.want("status", "APPROVED")
	approved.want("decidedBy", fields{"name": "R. Egistrar", "role": "Registrar"})
	approved.want("decidedAt", s.clock.Now())
	again := one.must(200, "POST", path+"/status", `{"status":"APPROVED",`+byRegistrar+`}`, "If-Match", tag, "Idempotency-Key", "a")
	if string(again.Body) != string(approved.Body) || again.header("Idempotency-Replayed") != "true" {
		t.Errorf("the same key shows %s", again.Body)
	}
	if got := one.must(200, "GET", path, "").header("ETag"); got != approved.header("ETag") {
		t.Errorf("the ETag of the GET is %s, of the POST %s", got, approved.header("ETag"))
	}

	r := one.lookup("HILL-COLLEGE", "ENG 1,cis 120l,CIS.120L")
	r.want("data", []fields{{"articulationId": id, "alternative": 0, "codes": []string{"cis 120l"}, "receiving": approved.get("receiving"), "decision": "EQUIVALENT", "publicNote": "Bring the syllabus."}})
	r.want("uncovered", []string{"ENG 1"})
	one.lookup("123456", "CIS 11,CIS 10").want("data.0.codes", []string{"CIS 11", "CIS 10"})
	half := one.lookup("Hill College", "CIS 10", "include", "trace")
	half.want("data", []any{})
	half.want("trace.0.considered.0.missing", []string{"CIS 11"})
	one.lookup("Hill College", "CIS 120L", "asOf", "2026-07-31").want("data", []any{})
	one.lookup("Hill", "CIS 120L").want("data", []any{})
	s.two.lookup("Hill College", "CIS 120L").want("data", []any{})
	if strings.Contains(string(half.Body)+string(r.Body), "dean") {
		t.Error("a look-up shows the private note")
	}

	one.must(409, "PATCH", path, `{"decision":"PARTIAL","publicNote":"x"}`)
	one.must(409, "DELETE", path, "")
	one.move(409, id, "DRAFT")
	one.must(200, "PATCH", path, `{"effectiveTo":"2026-12-31","published":true,"reviewAfter":"2026-10-01"}`)
	if r := one.must(422, "PATCH", path, `{"effectiveTo":"2026-07-31"}`); r.locations() != "body.effectiveTo" {
		t.Errorf("field errors at %s", r.locations())
	}
	one.lookup("Hill College", "CIS 120L", "asOf", "2026-12-31").want("data.0.articulationId", id)
	one.lookup("Hill College", "CIS 120L", "asOf", "2027-01-01").want("data", []any{})

	history := one.must(200, "GET", path+"/history", "")
	var moves struct{ Data []catalog.Move }
	if err := json.Unmarshal(history.Body, &moves); err != nil {
		t.Fatal(err)
	}
	if len(moves.Data) != 2 || moves.Data[0].From != "DRAFT" || moves.Data[1].To != "APPROVED" || moves.Data[0].DecidedBy.Name != "R. Egistrar" || moves.Data[1].KeyID == "" || moves.Data[1].At != s.clock.Now() {
		t.Errorf("history %s", history.Body)
	}
	changes := string(one.must(200, "GET", "/changes", "").Body)
	if n := strings.Count(changes, id); n < 6 {
		t.Errorf("the change feed names it %d times", n)
	}
}

// sorted sorts locations.
func sorted(locations string) string {
	all := strings.Split(locations, ",")
	slices.Sort(all)
	return strings.Join(all, ",")
}

// TestArticulationReferences: what a body names must be the organization's.
func TestArticulationReferences(t *testing.T) {
	t.Parallel()
	s := newService(t)
	theirs := tenant(s.two)
	body := elective("A 1").with(
		"sending", []fields{{"courses": []fields{{"code": "A 1", "transferCourseId": theirs["transferCourseId"]}}}},
		"receiving", []fields{{"courseId": theirs["courseId"]}, {"courseId": "nonsense"}},
		"programIds", []string{theirs["programId"]}, "supersedes", theirs["articulationId"])
	want := "body.programIds[0],body.receiving[0].courseId,body.receiving[1].courseId,body.sending[0].courses[0].transferCourseId,body.supersedes"
	if r := s.one.must(422, "POST", "/articulations", body.String()); sorted(r.locations()) != want {
		t.Errorf("field errors at %s", r.locations())
	}
	mine := tenant(s.one)
	body = body.with(
		"sending", []fields{{"courses": []fields{{"code": "A 1", "transferCourseId": mine["transferCourseId"]}}}},
		"receiving", []fields{{"courseId": mine["courseId"]}}, "programIds", []string{mine["programId"]}, "supersedes", mine["articulationId"])
	s.one.must(201, "POST", "/articulations", body.String())
	for _, query := range []string{"?institution=&codes=A", "?institution=A&codes=", "?institution=A&codes=A,,B", "?institution=A", "?institution=A&codes=A&asOf=2026-02-30",
		"?institution=A&codes=" + strings.Repeat("A,", 50) + "A", "?institution=A&codes=A&student=1"} {
		s.one.must(400, "GET", "/articulations/lookup"+query, "").want("code", "invalid_parameter")
	}
	for _, query := range []string{"asOf=tomorrow", "published=yes", "status=OPEN", "courseId=", "limit=0"} {
		s.one.must(400, "GET", "/articulations?"+query, "").want("code", "invalid_parameter")
	}
	r := s.one.must(405, "DELETE", "/articulations/lookup", "")
	if r.header("Allow") != "GET" {
		t.Errorf("Allow %q", r.header("Allow"))
	}
}

// TestConflictsAndSuccessors: what overlaps is not approved, what is superseded ends.
func TestConflictsAndSuccessors(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	old := one.approved(elective("MATH 101"))
	conflict := func(r reply, other, location string) {
		t.Helper()
		r.want("code", "conflict")
		r.want("errors.0.value", other)
		r.want("errors.0.location", location)
	}
	second := one.articulation(elective("ENG 1", "math-0101").with("effectiveFrom", "2027-08-01"))
	one.move(200, second, "IN_REVIEW")
	conflict(one.move(409, second, "APPROVED"), old, "body.status")
	one.approved(elective("MATH 101,MATH 102")) // another set of codes
	one.approved(elective("MATH 101").with("sendingInstitution", fields{"name": "Valley College"}))

	one.move(200, second, "DRAFT")
	one.must(200, "PATCH", "/articulations/"+second, fields{"supersedes": old}.String())
	one.move(200, second, "IN_REVIEW")
	before := one.must(200, "GET", "/articulations/"+old, "")
	since := one.must(200, "GET", "/changes?limit=100", "").text("next")
	one.move(200, second, "APPROVED")
	after := one.must(200, "GET", "/articulations/"+old, "")
	after.want("effectiveTo", "2027-07-31")
	after.want("status", "APPROVED")
	if after.header("ETag") == before.header("ETag") || after.text("updatedAt") <= before.text("updatedAt") {
		t.Error("what was superseded has its old ETag or updatedAt")
	}
	if changes := string(one.must(200, "GET", "/changes?since="+since, "").Body); !strings.Contains(changes, old) || !strings.Contains(changes, second) {
		t.Errorf("the change feed goes on with %s", changes)
	}
	one.lookup("Hill College", "MATH 101", "asOf", "2027-07-31").want("data.0.articulationId", old)
	one.lookup("Hill College", "MATH 101", "asOf", "2027-08-01").want("data.0.articulationId", second)
	conflict(one.must(409, "PATCH", "/articulations/"+old, `{"effectiveTo":"2027-08-01"}`), second, "body.effectiveTo")
	conflict(one.must(409, "PATCH", "/articulations/"+old, `{"effectiveTo":null}`), second, "body.effectiveTo")
	one.must(200, "PATCH", "/articulations/"+old, `{"effectiveTo":"2026-12-31"}`)
	one.must(200, "PATCH", "/articulations/"+old, `{"effectiveTo":"2027-07-31"}`)

	third := one.articulation(elective("MATH 101").with("supersedes", second, "effectiveFrom", "2027-08-01"))
	one.move(200, third, "IN_REVIEW")
	one.move(409, third, "APPROVED") // does not begin later
	draft := one.articulation(elective("MATH 9"))
	fourth := one.articulation(elective("MATH 101").with("supersedes", draft, "effectiveFrom", "2029-08-01"))
	one.move(200, fourth, "IN_REVIEW")
	one.move(409, fourth, "APPROVED") // supersedes what is not approved
}

// TestGrantedCoursesStay: an approved articulation keeps what it grants until it ends.
func TestGrantedCoursesStay(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.course("A").text("id")
	grants := func(from string, to any) fields {
		return elective("A 1").with("receiving", []fields{{"courseId": course}}, "effectiveFrom", from, "effectiveTo", to)
	}
	draft := one.articulation(grants("2040-01-01", nil))
	ended := one.approved(grants("2020-01-01", "2020-12-31"))
	to := catalog.DateOf(s.clock.Now())
	current := one.approved(grants("2021-01-01", to))
	if r := one.must(409, "DELETE", "/courses/"+course, ""); !strings.Contains(r.text("detail"), current) {
		t.Errorf("refused with %s", r.Body)
	}
	s.clock.Add(24 * 60 * 60 * 1000)
	one.must(204, "DELETE", "/courses/"+course, "")
	one.move(200, draft, "IN_REVIEW")
	one.move(409, draft, "APPROVED").want("code", "conflict")
	one.must(409, "PATCH", "/articulations/"+current, `{"effectiveTo":null}`)
	one.must(200, "PATCH", "/articulations/"+ended, `{"effectiveTo":"2020-11-30"}`)
	one.move(200, draft, "REJECTED")
	one.must(204, "DELETE", "/articulations/"+draft, "")
	one.must(404, "GET", "/articulations/"+draft+"/history", "")
}

// TestRejectionNeedsANote: REJECTED without a note is 422; notes stand in the history, null where none was given.
func TestRejectionNeedsANote(t *testing.T) {
	t.Parallel()
	s := newService(t)
	id := s.one.articulation(elective("A 1"))
	path := "/articulations/" + id + "/status"
	long := strings.Repeat("é", 2000)
	for _, c := range []struct {
		status int
		body   string
	}{
		{200, `{"status":"IN_REVIEW"}`},
		{422, `{"status":"REJECTED"}`}, {422, `{"status":"REJECTED","note":null}`}, {422, `{"status":"REJECTED","note":"  "}`},
		{422, `{"status":"REJECTED","note":"` + long + `x"}`}, {422, `{"status":"DRAFT","note":7}`},
		{200, `{"status":"REJECTED","note":" No laboratory. "}`},
		{200, `{"status":"DRAFT","note":null}`}, {200, `{"status":"IN_REVIEW","note":""}`}, {200, `{"status":"REJECTED","note":"` + long + `"}`},
	} {
		if r := s.one.must(c.status, "POST", path, c.body); c.status == 422 && r.locations() != "body.note" {
			t.Errorf("%s: field errors at %s", c.body, r.locations())
		}
	}
	history := s.one.must(200, "GET", "/articulations/"+id+"/history", "")
	for i, note := range []any{nil, "No laboratory.", nil, nil, long} {
		history.want(fmt.Sprintf("data.%d.note", i), note)
	}
}

// TestApprovalsAtOnce: of conflicting approvals that come at once one succeeds; an
// approval and the deletion of what it grants exclude each other.
func TestApprovalsAtOnce(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	for round := range 4 {
		course := one.course("C").text("id")
		var all []string
		for i := range 4 {
			// The same institution by its name, by its code, or by both.
			institution := []fields{{"name": "Lake"}, {"name": "Lake", "codeType": "CEEB", "code": "77"}, {"name": "Lake College", "codeType": "CEEB", "code": "077"}, {"name": "lake"}}[i]
			id := one.articulation(elective(fmt.Sprint("R ", round), fmt.Sprintf("X %d", i)).with("sendingInstitution", institution, "receiving", []fields{{"courseId": course}}))
			one.move(200, id, "IN_REVIEW")
			all = append(all, id)
		}
		statuses := make([]int, 5)
		var group sync.WaitGroup
		for i, id := range all {
			group.Go(func() {
				statuses[i] = one.do("POST", "/articulations/"+id+"/status", `{"status":"APPROVED",`+byRegistrar+`}`).Status
			})
		}
		group.Go(func() { statuses[4] = one.do("DELETE", "/courses/"+course, "").Status })
		group.Wait()
		var approved []catalog.Articulation
		for _, id := range all {
			var a catalog.Articulation
			if err := json.Unmarshal(one.must(200, "GET", "/articulations/"+id, "").Body, &a); err != nil {
				t.Fatal(err)
			}
			if a.Status == catalog.ArticulationApproved {
				approved = append(approved, a)
			}
		}
		for i := range approved {
			for j := range i {
				if approved[i].ConflictsWith(&approved[j]) {
					t.Errorf("round %d: %s and %s are both approved", round, approved[i].ID, approved[j].ID)
				}
			}
		}
		gone := one.do("GET", "/courses/"+course, "").Status == 404
		if gone != (statuses[4] == 204) || gone == (len(approved) > 0) {
			t.Errorf("round %d: %d approved, the course is gone: %v, statuses %v", round, len(approved), gone, statuses)
		}
	}
}

// TestLargestArticulation has as many codes as there may be.
func TestLargestArticulation(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	var alternatives []string
	for i := range 10 {
		var codes []string
		for j := range 10 {
			codes = append(codes, fmt.Sprintf("L%d %d", i, 100+j))
		}
		alternatives = append(alternatives, strings.Join(codes, ","))
	}
	var receiving []fields
	for i := range 10 {
		receiving = append(receiving, fields{"courseId": one.course(fmt.Sprint("C ", i)).text("id")})
	}
	body := elective("Z 1").with("sendingInstitution", fields{"name": "Hill College", "codeType": "IPEDS", "code": "9"})
	id := one.must(201, "POST", "/articulations", body.String(), "Idempotency-Key", "k").text("id")
	one.must(200, "PATCH", "/articulations/"+id, fields{"sending": sending(alternatives...), "receiving": receiving}.String())
	one.must(200, "PATCH", "/articulations/"+id, fields{"sending": sending(strings.Split(strings.ReplaceAll(strings.Join(alternatives, ";"), "L", "M"), ";")...)}.String())
	one.must(200, "GET", "/articulations?sendingCode=L3+104", "").want("pagination.total", 0)
	one.must(200, "GET", "/articulations?sendingCode=m3-104", "").want("data.0.id", id)
	one.move(200, id, "IN_REVIEW")
	one.move(200, id, "APPROVED")
	one.lookup("9", strings.ReplaceAll(alternatives[7], "L", "m")).want("data.0.alternative", 7)
	one.lookup("9", "M7 105", "include", "trace").want("trace.0.considered.0.articulationId", id)
}

// compared makes a transfer course that is COMPLETED and a course with a section that
// shares its skills, and returns the ids.
func (c client) compared() (pack, transfer, course, section string) {
	c.s.t.Helper()
	known := c.known(3)
	course = c.course("Databases").text("id")
	skills := fmt.Sprintf(`[{"skillId":%q,"level":4},{"skillId":%q,"level":2}]`, known[0], known[1])
	section = c.must(201, "POST", "/courses/"+course+"/sections", `{"name":"S","skills":`+skills+`}`).text("id")
	pack = c.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"Hill College","matchingConfig":{"fullEquivalentThreshold":0.7}}`).text("id")
	c.s.queue.sent = nil
	transfer = c.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"X","code":"CIS 12"}]}`).text("0.id")
	c.s.finish(c.s.queue.sent[0], resultOf(found(known[0], 3, 0.9), found(known[1], 2, 0.9)))
	return pack, transfer, course, section
}

// TestEvidence: an approval freezes what equivalencies say then, and these name it.
func TestEvidence(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	pack, transfer, course, section := one.compared()
	match := func() reply {
		return one.must(200, "POST", "/transfer-packages/"+pack+"/courses/"+transfer+"/equivalencies", "")
	}
	before := match()
	before.want("matches.0.articulationId", nil)
	body := elective("CIS 12").with("receiving", []fields{{"courseId": course}})
	id := one.articulation(body.with("sending", []fields{{"courses": []fields{{"code": "OTHER", "transferCourseId": transfer}}}}))
	one.move(200, id, "IN_REVIEW")
	one.must(200, "GET", "/articulations/"+id, "").want("evidence", nil)
	offered := one.must(200, "GET", "/articulations/"+id+"?include=evidence", "").get("evidence")
	approved := one.move(200, id, "APPROVED")
	approved.want("evidence", offered)
	one.must(200, "GET", "/articulations/"+id+"?include=evidence", "").want("evidence", offered)
	approved.want("evidence.transferCourseId", transfer)
	approved.want("evidence.packageId", pack)
	approved.want("evidence.courseId", course)
	approved.want("evidence.sectionId", section)
	approved.want("evidence.equivalence", "FULL")
	approved.want("evidence.matchingConfig.fullEquivalentThreshold", 0.7)
	for _, field := range []string{"skillsMatchScore", "skillMatches"} {
		approved.want("evidence."+field, before.get("matches.0."+field))
	}
	approved.want("evidence.extraction.section", nil)
	if approved.get("evidence.extraction.transferCourse") == nil {
		t.Error("the evidence lacks the transfer course's extraction")
	}
	match().want("matches.0.articulationId", id)
	later := one.approved(body.with("effectiveFrom", "2026-09-01"))
	match().want("matches.0.articulationId", later)
	one.must(200, "POST", "/transfer-packages/"+pack+"/equivalencies", "").want("courses.0.matches.0.articulationId", later)
	one.must(200, "PATCH", "/articulations/"+later, `{"effectiveTo":"2026-09-30"}`)
	match().want("matches.0.articulationId", id)
	if other := one.approved(elective("CIS 12,CIS 13").with("receiving", []fields{{"courseId": course}})); match().get("matches.0.articulationId") == other {
		t.Error("an alternative of two courses counts for one")
	}

	one.must(204, "DELETE", "/transfer-packages/"+pack, "")
	one.must(200, "GET", "/articulations/"+id, "").want("evidence", approved.get("evidence"))
	draft := one.articulation(elective("Z 1"))
	one.must(422, "PATCH", "/articulations/"+draft, fields{"sending": []fields{{"courses": []fields{{"code": "Z", "transferCourseId": transfer}}}}}.String())
}

// TestNoEvidence: what cannot be compared does not keep an approval.
func TestNoEvidence(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	_, transfer, course, _ := one.compared()
	bare := one.course("Bare").text("id")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	pending := one.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"X"}]}`).text("0.id")
	for i, c := range []struct {
		transfer  string
		receiving []fields
	}{{pending, []fields{{"courseId": course}}}, {transfer, []fields{{"courseId": bare}}}, {transfer, []fields{{"courseId": course}, {"courseId": bare}}}, {transfer, []fields{{"label": "L"}}}} {
		id := one.articulation(elective("A").with("sending", []fields{{"courses": []fields{{"code": fmt.Sprint("A", i+1), "transferCourseId": c.transfer}}}}, "receiving", c.receiving))
		one.move(200, id, "IN_REVIEW")
		one.move(200, id, "APPROVED").want("evidence", nil)
	}
}

// TestHealth: what changes after an approval is an issue until the articulation ends.
func TestHealth(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	_, transfer, course, section := one.compared()
	href := one.must(200, "PATCH", "/courses/"+course+"/sections/"+section, `{"syllabusHref":"http://127.0.0.1:9/s.html"}`)
	job := catalog.ExtractionJob{OrganizationID: "org_one", Kind: catalog.SectionKind, ID: href.text("id")}
	extracted := func(document string) {
		t.Helper()
		outcome := resultOf(found(one.known(1)[0], 3, 0.9))
		outcome.Provenance.DocumentSHA256 = document
		s.finish(job, outcome)
	}
	extracted("first")
	id := one.approved(elective("A").with(
		"sending", []fields{{"courses": []fields{{"code": "A 1", "transferCourseId": transfer}}}}, "receiving", []fields{{"courseId": course}},
		"effectiveTo", "2028-01-01", "reviewAfter", catalog.DateOf(s.clock.Now())))
	one.articulation(elective("A 2").with("effectiveTo", "2026-12-01"))
	issues := func(want ...string) {
		t.Helper()
		r := one.must(200, "GET", "/articulations/health", "")
		var found struct{ Data []catalog.ArticulationIssue }
		if err := json.Unmarshal(r.Body, &found); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, issue := range found.Data {
			if issue.ArticulationID != id || issue.Detail == "" {
				t.Errorf("%+v", issue)
			}
			got = append(got, string(issue.Issue))
		}
		if !slices.Equal(got, want) {
			t.Errorf("issues %v, want %v", got, want)
		}
		r.want("pagination.total", len(want))
	}
	issues()
	one.must(200, "PATCH", "/courses/"+course, `{"name":"Data","credits":{"min":3,"max":3,"unit":"ECTS"}}`)
	issues("COURSE_RENAMED", "CREDITS_CHANGED")
	one.must(200, "PATCH", "/courses/"+course+"/sections/"+section, `{"syllabusHref":"http://127.0.0.1:9/t.html"}`)
	extracted("second")
	s.clock.Add(24 * 60 * 60 * 1000)
	issues("COURSE_RENAMED", "CREDITS_CHANGED", "SYLLABUS_CHANGED", "REVIEW_DUE")
	one.must(200, "PATCH", "/courses/"+course, `{"name":"Databases","credits":null,"lifecycleStatus":"RETIRED"}`)
	soon := catalog.DateOf(s.clock.Now() + 90*24*60*60*1000)
	one.must(200, "PATCH", "/articulations/"+id, fmt.Sprintf(`{"effectiveTo":%q,"reviewAfter":null}`, soon))
	issues("COURSE_RETIRED", "SYLLABUS_CHANGED", "EXPIRING")
	one.must(200, "GET", "/articulations/health?offset=1&limit=1", "").want("data.0.issue", "SYLLABUS_CHANGED")
	s.clock.Add(91 * 24 * 60 * 60 * 1000)
	issues()
	s.two.must(200, "GET", "/articulations/health", "").want("data", []any{})
}
