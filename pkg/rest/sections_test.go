package rest_test

import (
	"fmt"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// When, where and how a section is taught: set, kept by what says nothing of it, emptied by
// null, and shown in the course's references.
func TestOfferings(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.course("A")
	path := "/courses/" + course.text("id")
	const term = `{"code":"202630","name":"Fall 2026","startDate":"2026-08-24","endDate":"2026-12-18"}`
	made := one.must(201, "POST", path+"/sections",
		`{"name":"E","externalId":"crn 1","instructorName":"I","campus":"Main","modality":"ONLINE","status":"PLANNED","term":`+term+`,"skills":[{"skillId":"core:sql","level":2}]}`)
	section := path + "/sections/" + made.text("id")
	made.want("term", map[string]any{"code": "202630", "name": "Fall 2026", "startDate": "2026-08-24", "endDate": "2026-12-18"})
	one.must(200, "PATCH", section, `{"name":"F"}`).want("campus", "Main")
	read := one.must(200, "GET", section, "")
	read.want("modality", "ONLINE")
	read.want("status", "PLANNED")
	shown := one.must(200, "GET", path, "")
	for field, want := range map[string]any{
		"name": "F", "externalId": "crn 1", "term": "202630", "status": "PLANNED", "instructorName": "I", "skillCount": 1,
	} {
		shown.want("sections.1."+field, want)
	}
	one.must(200, "GET", "/courses", "").want("data.0.sections.1.term", "202630")
	plain := one.must(200, "GET", path+"/sections/"+course.text("defaultSectionId"), "")
	plain.want("status", "ACTIVE")
	for _, field := range []string{"term", "campus", "modality"} {
		plain.want(field, nil)
	}
	for _, field := range []string{"externalId", "term", "instructorName"} {
		shown.want("sections.0."+field, nil)
	}
	shown.want("sections.0.status", "ACTIVE")
	shown.want("sections.0.skillCount", 0)

	for body, at := range map[string]string{
		`{"term":{"name":"Fall"}}`:            "body.term.code",
		`{"term":{"code":" "}}`:               "body.term.code",
		`{"term":"202630"}`:                   "body.term",
		`{"term":{"code":"1","x":1}}`:         "body.term.x",
		`{"status":"OPEN"}`:                   "body.status",
		`{"modality":"BY_POST"}`:              "body.modality",
		fmt.Sprintf(`{"campus":"%0101d"}`, 0): "body.campus",
		fmt.Sprintf(`{"term":{"code":"%051d","name":"%0101d"}}`, 0, 0):          "body.term.code,body.term.name",
		`{"term":{"code":"1","startDate":"2026-08-24","endDate":"2026-08-23"}}`: "body.term.endDate",
		`{"term":{"code":"1","startDate":"2026-02-30"}}`:                        "body.term.startDate",
	} {
		if r := one.must(422, "PATCH", section, body); r.locations() != at {
			t.Errorf("%s: field errors at %s, want %s: %s", body, r.locations(), at, r.Body)
		}
	}
	// A term is replaced as a whole; a day is a term too.
	one.must(200, "PATCH", section, `{"term":{"code":"x","startDate":"2026-08-24","endDate":"2026-08-24"}}`).want("term.name", nil)
	empty := one.must(200, "PATCH", section, `{"term":null,"status":null,"campus":null,"modality":null,"externalId":null,"instructorName":null,"skills":[]}`)
	for _, field := range []string{"term", "campus", "modality"} {
		empty.want(field, nil)
	}
	empty.want("status", "ACTIVE")
	shown = one.must(200, "GET", path, "")
	for field, want := range map[string]any{"externalId": nil, "term": nil, "status": "ACTIVE", "instructorName": nil, "skillCount": 0} {
		shown.want("sections.1."+field, want)
	}
}

// A course shows how many skills its sections have, set by hand or reviewed, and whether all of them are reviewed.
func TestSkillCount(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := "/courses/" + one.course("A").text("id")
	section := course + "/sections/" + one.must(201, "POST", course+"/sections", `{"name":"E"}`).text("id")
	known := one.known(2)
	counted := func(want int, reviewed bool, after reply) {
		t.Helper()
		shown := one.must(200, "GET", course, "")
		shown.want("sections.1.skillCount", want)
		shown.want("sections.1.reviewed", reviewed)
		if shown.text("updatedAt") < after.text("updatedAt") {
			t.Errorf("the course was changed at %s, its section at %s", shown.text("updatedAt"), after.text("updatedAt"))
		}
	}
	s.clock.Add(1000)
	counted(1, false, one.must(200, "PATCH", section, `{"skills":[{"skillId":"`+known[0]+`","level":2}]}`))
	s.clock.Add(1000)
	counted(2, false, one.must(200, "PUT", section+"/skills/"+known[1]+"/review", `{"verdict":"ACCEPTED","level":3}`))
	s.clock.Add(1000)
	counted(1, true, one.must(200, "PUT", section+"/skills/"+known[0]+"/review", `{"verdict":"REJECTED"}`))
	s.clock.Add(1000)
	one.must(204, "DELETE", section+"/skills/"+known[0]+"/review", "")
	counted(2, false, one.must(200, "GET", section, ""))
	s.clock.Add(1000)
	counted(2, true, one.must(200, "PUT", section+"/skills/"+known[0]+"/review", `{"verdict":"ACCEPTED"}`))
	// What changes nothing of the reference leaves the course alone.
	before := one.must(200, "GET", course, "")
	s.clock.Add(1000)
	one.must(200, "PUT", section+"/skills/"+known[0]+"/review", `{"verdict":"ACCEPTED","level":5}`)
	one.must(200, "GET", course, "").want("updatedAt", before.text("updatedAt"))
	// An extraction that finds another skill leaves something to review; its course is brought up to date with it.
	one.must(200, "PATCH", section, `{"syllabusHref":"https://example.org/a"}`)
	s.finish(s.queue.sent[0], resultOf(found(known[0], 3, 0.5)))
	counted(2, true, before)
	one.must(200, "PATCH", section, `{"syllabusHref":"https://example.org/b"}`)
	s.finish(s.queue.sent[1], resultOf(found(known[0], 3, 0.5), found(one.known(3)[2], 3, 0.5)))
	counted(3, false, one.must(200, "GET", section, ""))
}

// A cancelled section can be read, but no report, match, proposal or list of those that
// teach a skill has it.
func TestCancelledCountsNowhere(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	skill := one.known(1)[0]
	course := one.course("A").text("id")
	path := "/courses/" + course
	section := path + "/sections/" + one.must(201, "POST", path+"/sections", `{"name":"E","skills":[{"skillId":"`+skill+`","level":4}]}`).text("id")
	job := one.must(201, "POST", "/jobs", `{"name":"J","employerId":"e","skills":[{"skillId":"`+skill+`","level":4}]}`).text("id")
	report := one.must(201, "POST", "/reports", `{"name":"R","settings":{"courses":["`+course+`"],"jobs":[{"id":"`+job+`","lib":"custom"}]}}`).text("report.id")
	pack := "/transfer-packages/" + one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	sent := one.must(201, "POST", pack+"/courses", `{"courses":[{"name":"X"}]}`).text("0.id")
	transfer := pack + "/courses/" + sent
	s.finish(catalog.ExtractionJob{
		OrganizationID: one.customer.OrganizationID, Kind: catalog.TransferCourseKind, ID: sent, PackageID: strings.TrimPrefix(pack, "/transfer-packages/"),
	}, resultOf(found(skill, 4, 1)))
	build := `{"jobIdentifiers":[{"id":"` + job + `","lib":"custom"}]}`
	check := func(counts bool) {
		t.Helper()
		score, status, total := 0, 422, 0
		if counts {
			score, status, total = 1, 200, 1
		}
		one.must(200, "GET", "/reports/"+report, "").want("data.0.score", score)
		if matches := one.must(200, "POST", transfer+"/equivalencies", "").get("matches").([]any); len(matches) != total {
			t.Errorf("%d matches, want %d", len(matches), total)
		}
		one.must(status, "POST", "/credential-builder", build)
		one.must(200, "GET", "/skills/"+skill+"/sections", "").want("pagination.total", total)
	}
	check(true)
	one.must(200, "PATCH", section, `{"status":"CANCELLED"}`)
	check(false)
	read := one.must(200, "GET", section, "")
	read.want("status", "CANCELLED")
	read.want("skills.0.skillId", skill)
	one.must(200, "GET", path, "").want("sections.1.status", "CANCELLED")
	one.must(200, "PATCH", section, `{"status":"PLANNED"}`)
	check(true)
}

// Sections are found by course, term and status, each and together, with exact totals and
// as they are now.
func TestSectionsAreFound(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	var courses []string
	for i := range 3 {
		id := one.course(fmt.Sprint("C ", i)).text("id")
		courses = append(courses, id)
		for j, term := range []string{"202630f", "202710"} {
			status := []string{"ACTIVE", "CANCELLED"}[j]
			one.must(201, "POST", "/courses/"+id+"/sections", fmt.Sprintf(`{"name":"S%d%d","externalId":"x%d%d","status":%q,"term":{"code":%q}}`, i, j, i, j, status, term))
		}
	}
	found := func(query string, want ...string) {
		t.Helper()
		r := one.must(200, "GET", "/sections?limit=100&"+query, "")
		names := []string{}
		for _, section := range r.get("data").([]any) {
			names = append(names, section.(map[string]any)["name"].(string))
		}
		if strings.Join(names, " ") != strings.Join(want, " ") {
			t.Errorf("%s finds %v, want %v", query, names, want)
		}
		r.want("pagination.total", len(want))
	}
	found("term=202630F", "S00", "S10", "S20")
	found("term=202630")
	found("status=CANCELLED", "S01", "S11", "S21")
	found("status=ACTIVE", "C 0", "S00", "C 1", "S10", "C 2", "S20")
	found("status=PLANNED")
	found("courseId="+courses[1], "C 1", "S10", "S11")
	found("courseId="+courses[1]+"&status=CANCELLED", "S11")
	found("courseId=" + courses[1] + "&term=202710&status=ACTIVE")
	found("courseId=crs_unknown")
	found("externalId=x21", "S21")
	found("externalId=x21&term=202630f")
	found("externalId=x21&courseId="+courses[2]+"&status=CANCELLED&term=202710", "S21")
	second := one.must(200, "GET", "/sections?term=202710&limit=1&offset=1", "")
	second.want("data.0.name", "S11")
	second.want("pagination", map[string]any{"total": 3, "limit": 1, "offset": 1, "hasMore": true})
	for _, query := range []string{"", "?limit=5", "?term=", "?status=OPEN", "?courseId=", "?term=1&terms=2"} {
		one.must(400, "GET", "/sections"+query, "").want("code", "invalid_parameter")
	}
	if total := s.two.must(200, "GET", "/sections?term=202710", "").number("pagination.total"); total != 0 {
		t.Errorf("another organization finds %d", total)
	}
	// What changes is found at once.
	section := one.must(200, "GET", "/sections?externalId=x00", "").text("data.0.id")
	one.must(200, "PATCH", "/courses/"+courses[0]+"/sections/"+section, `{"status":"CANCELLED"}`)
	found("status=CANCELLED", "S00", "S01", "S11", "S21")
	one.must(204, "DELETE", "/courses/"+courses[0]+"/sections/"+section, "")
	found("status=CANCELLED", "S01", "S11", "S21")
	one.must(204, "DELETE", "/courses/"+courses[1], "")
	found("term=202710", "S01", "S21")
}
