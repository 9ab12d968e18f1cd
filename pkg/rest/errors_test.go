package rest_test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	s := newService(t)
	revoked, expired, later := s.clock.Now(), s.clock.Now(), s.clock.Now()+1000
	keep := func(change func(*catalog.Key)) string {
		secret := ids.NewSecret()
		key := &catalog.Key{ID: ids.New("key_"), CustomerID: s.one.customer.ID, OrganizationID: "org_one", Scope: catalog.WriteScope, Hash: catalog.HashSecret(secret), CreatedAt: s.clock.Now()}
		change(key)
		if err := s.store.SaveKey(t.Context(), key); err != nil {
			t.Fatal(err)
		}
		return secret
	}
	var answers []string
	for name, key := range map[string]string{
		"missing": "", "unknown": ids.NewSecret(), "no secret at all": "x", "far too long": strings.Repeat("k", 10_000),
		"revoked": keep(func(k *catalog.Key) { k.RevokedAt = &revoked }), "expired": keep(func(k *catalog.Key) { k.ExpiresAt = &expired }),
		"of an unknown customer": keep(func(k *catalog.Key) { k.CustomerID = "cus_gone" }),
	} {
		c := client{s, key, catalog.Customer{}}
		r := c.must(401, "GET", "/courses", "")
		for header, want := range map[string]string{"X-RateLimit-Limit": "0", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "0", "X-RateLimit-Cost": "0"} {
			if got := r.header(header); got != want {
				t.Errorf("%s key: %s is %s", name, header, got)
			}
		}
		answers = append(answers, r.anonymous())
	}
	for _, a := range answers {
		if a != answers[0] {
			t.Errorf("two refusals differ:\n%s\n%s", a, answers[0])
		}
	}
	nobody := client{s, "", catalog.Customer{}}
	for _, path := range []string{"/nothing", "/courses/", "//courses", "/courses/x/y/z"} {
		nobody.must(401, "GET", path, "")
		nobody.must(401, "PUT", path, "")
	}
	nobody.must(401, "DELETE", "/courses", "")
	nobody.must(401, "POST", "/openapi.json", "{}")
	nobody.must(200, "GET", "/openapi.json", "")

	good := client{s, keep(func(k *catalog.Key) { k.ExpiresAt = &later }), catalog.Customer{}}
	good.must(200, "GET", "/courses", "")
	s.clock.Add(1000)
	good.must(401, "GET", "/courses", "")
}

func TestRevokedKeyStopsWithinAMinute(t *testing.T) {
	t.Parallel()
	s := newService(t)
	s.one.must(200, "GET", "/courses", "")
	now := s.clock.Now()
	keys, err := s.store.Keys(t.Context(), s.one.customer.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		k.RevokedAt = &now
		if err := s.store.SaveKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	s.clock.Add(60_000)
	s.one.must(401, "GET", "/courses", "")
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := newService(t)
	long := strings.Repeat("a", 3000)
	for _, c := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{"GET", "/nothing", 404, ""},
		{"GET", "/courses/", 404, ""},
		{"GET", "//courses", 404, ""},
		{"GET", "/courses//sections", 404, ""},
		{"POST", "/", 405, "GET"},
		{"GET", "/Courses", 404, ""},
		{"GET", "/courses/x/", 404, ""},
		{"GET", "/transfer-packages/x/courses/y/z", 404, ""},
		{"PUT", "/courses", 405, "GET, POST"},
		{"HEAD", "/courses", 405, "GET, POST"},
		{"OPTIONS", "/courses", 405, "GET, POST"},
		{"POST", "/courses/x", 405, "DELETE, GET, PATCH"},
		{"GET", "/credentials/x/sections", 405, "POST"},
		{"GET", "/transfer-packages/x/courses/y/retry", 405, "POST"},
		{"DELETE", "/customers/x/usage", 405, "GET"},
		{"PATCH", "/openapi.json", 405, "GET"},
		{"GET", "/courses/x", 404, ""},
		{"GET", "/courses/%00", 404, ""},
		{"GET", "/courses/%2F", 404, ""},
		{"GET", "/courses/..", 404, ""},
		{"GET", "/courses/crs_" + strings.Repeat("%0A", 24), 404, ""},
		{"GET", "/courses/crs_" + strings.Repeat("=", 24), 404, ""},
		{"GET", "/courses/%ff/sections/%ff", 404, ""},
		{"GET", "/courses/" + long + "/sections/" + long, 404, ""},
		{"GET", "/transfer-packages/" + long + "/courses", 404, ""},
		{"GET", "/transfer-packages/" + long + "/courses/" + long, 404, ""},
		{"GET", "/transfer-packages/%ff/courses/%fe", 404, ""},
		{"DELETE", "/transfer-packages/" + long, 404, ""},
		{"GET", "/syllabus-extractions/" + long, 404, ""},
		{"GET", "/syllabus-extractions/%ff", 404, ""},
		{"GET", "/skills/" + long, 404, ""},
		{"GET", "/skills/%ff", 404, ""},
		{"GET", "/customers/" + long + "/usage", 403, ""},
		{"GET", "/reports/x?format=%ff", 400, ""},
	} {
		r := s.one.must(c.status, c.method, c.path, "")
		if got := r.Header.Get("Allow"); got != c.allow {
			t.Errorf("%s %s: Allow %q, want %q", c.method, c.path, got, c.allow)
		}
		wantCode := map[int]string{400: "invalid_parameter", 403: "forbidden", 404: "not_found", 405: "method_not_allowed"}[c.status]
		if c.method != "HEAD" {
			r.want("code", wantCode)
		}
	}
}

// A path that cannot be decoded reaches the server beside the request, as it
// cannot be put into a URL.
func TestUndecodablePath(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, path := range []string{"/v1/courses/%zz", "/v1/%", "/v1/courses/%a"} {
		request := httptest.NewRequestWithContext(rest.WithPath(t.Context(), path), "GET", "/v1/", nil)
		request.Header.Set("X-API-Key", s.one.key)
		recorder := httptest.NewRecorder()
		s.server.ServeHTTP(recorder, request)
		r := reply{t, recorder.Code, recorder.Result().Header, recorder.Body.Bytes(), path}
		r.checkContract("GET", path)
		r.want("code", "invalid_parameter")
		r.want("status", 400)
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := s.one.course("A").text("id")
	const good = `{"name":"A","code":"B"}`
	for _, c := range []struct {
		name, method, path, body, media string
		status                          int
		code                            string
	}{
		{"good", "POST", "/courses", good, "application/json", 201, ""},
		{"charset", "POST", "/courses", good, "application/json; charset=UTF-8", 201, ""},
		{"other charset", "POST", "/courses", good, "application/json; charset=latin1", 415, "unsupported_media_type"},
		{"text", "POST", "/courses", good, "text/plain", 415, "unsupported_media_type"},
		{"form", "POST", "/courses", "name=A", "application/x-www-form-urlencoded", 415, "unsupported_media_type"},
		{"merge patch on POST", "POST", "/courses", good, "application/merge-patch+json", 415, "unsupported_media_type"},
		{"merge patch", "PATCH", "/courses/" + course, good, "application/merge-patch+json", 200, ""},
		{"broken media type", "POST", "/courses", good, "application", 415, "unsupported_media_type"},
		{"no body", "POST", "/courses", "", "", 400, "malformed_json"},
		{"cut off", "POST", "/courses", `{"name":"A"`, "application/json", 400, "malformed_json"},
		{"behind it", "POST", "/courses", good + "x", "application/json", 400, "malformed_json"},
		{"two values", "POST", "/courses", good + good, "application/json", 400, "malformed_json"},
		{"comma", "POST", "/courses", `{"name":"A","code":"B",}`, "application/json", 400, "malformed_json"},
		{"same key twice", "POST", "/courses", `{"name":"A","name":"A","code":"B"}`, "application/json", 400, "malformed_json"},
		{"same key twice, spelt otherwise", "POST", "/courses", `{"name":"A","n\u0061me":"A","code":"B"}`, "application/json", 400, "malformed_json"},
		{"same key twice, deep", "POST", "/reports", `{"name":"A","settings":{"area":{"code":"1","code":"1"}}}`, "application/json", 400, "malformed_json"},
		{"broken UTF-8", "POST", "/courses", "{\"name\":\"\xff\",\"code\":\"B\"}", "application/json", 400, "malformed_json"},
		{"byte order mark", "POST", "/courses", "\ufeff" + good, "application/json", 400, "malformed_json"},
		{"half a surrogate", "POST", "/courses", `{"name":"\ud800","code":"B"}`, "application/json", 400, "malformed_json"},
		{"too deep", "POST", "/courses", strings.Repeat("[", 100_000), "application/json", 400, "malformed_json"},
		{"array", "POST", "/courses", "[]", "application/json", 422, "validation_failed"},
		{"null", "POST", "/courses", "null", "application/json", 422, "validation_failed"},
		{"text value", "POST", "/courses", `"x"`, "application/json", 422, "validation_failed"},
		{"number value", "PATCH", "/courses/" + course, "1", "application/json", 422, "validation_failed"},
		{"largest", "POST", "/courses", `{"name":"A","code":"B"` + strings.Repeat(" ", 1<<20-len(good)) + "}", "application/json", 201, ""},
		{"too large", "POST", "/courses", `{"name":"A","code":"B"` + strings.Repeat(" ", 1<<20-len(good)+1) + "}", "application/json", 413, "payload_too_large"},
		{"too large and of another type", "POST", "/courses", strings.Repeat("x", 1<<20+1), "text/plain", 413, "payload_too_large"},
	} {
		r := s.one.do(c.method, c.path, c.body, "Content-Type", c.media)
		if r.Status != c.status {
			t.Errorf("%s: status %d, want %d: %.300s", c.name, r.Status, c.status, r.Body)
		} else if c.code != "" {
			r.want("code", c.code)
		}
	}
}

func TestQueryParameters(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, c := range []struct {
		query  string
		status int
	}{
		{"limit=1", 200}, {"limit=100", 200}, {"limit=0", 400}, {"limit=101", 400}, {"limit=-1", 400}, {"limit=", 400}, {"limit=x", 400},
		{"limit=%2B5", 400}, {"limit=+5", 400}, {"limit=5.0", 400}, {"limit=5e0", 400}, {"limit=0x5", 400}, {"limit=%205", 400}, {"limit=5%20", 400}, {"limit=05", 200},
		{"limit=99999999999999999999", 400}, {"limit=5&limit=5", 400}, {"limit=%D9%A5", 400}, {"limit=1_0", 400},
		{"offset=0", 200}, {"offset=-1", 400}, {"offset=1.5", 400}, {"offset=9223372036854775807", 200}, {"offset=9223372036854775808", 400},
		{"offset=1&offset=2", 400}, {"offset=", 400}, {"offset=NaN", 400},
		{"unknown=1", 400}, {"unknown=1&unknown=2", 400}, {"Limit=0", 400}, {"limt=3", 400}, {"=", 400}, {"include=evidence", 400},
		{"limit=%zz", 400}, {"limit=5;offset=1", 400},
	} {
		for _, path := range []string{"/courses", "/jobs", "/transfer-packages", "/programs", "/credentials", "/reports", "/skills"} {
			r := s.one.do("GET", path+"?"+c.query, "")
			if r.Status != c.status {
				t.Errorf("GET %s?%s: status %d, want %d: %s", path, c.query, r.Status, c.status, r.Body)
			} else if c.status == 400 {
				r.want("code", "invalid_parameter")
			}
		}
	}
	for _, path := range []string{
		"/labor-market", "/labor-market?cipCodes=", "/labor-market?cipCodes=11", "/labor-market?cipCodes=11.0701&regionType=town", "/labor-market?cipCodes=11.0701&regionType=state",
		"/labor-market?cipCodes=11.0701&regionType=state&region=99", "/labor-market?cipCodes=11.0701&cipCodes=11.0701", "/labor-market/regions?regionType=x",
		"/changes?since=x", "/changes?limit=0", "/changes?limit=1001", "/labor-market?cipCodes=" + strings.Repeat("11.0701,", 25) + "11.0702",
	} {
		s.one.must(400, "GET", path, "").want("code", "invalid_parameter")
	}
}

// Every way to break the rules of a body, with where it is told.
func TestFaultsAreLocated(t *testing.T) {
	t.Parallel()
	s := newService(t)
	skill := s.one.must(200, "GET", "/skills?limit=2", "")
	id, other := skill.text("data.0.id"), skill.text("data.1.id")
	course := s.one.course("A")
	section := course.text("defaultSectionId")
	pack := s.one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	credential := s.one.must(201, "POST", "/credentials", `{"name":"C"}`).text("id")
	program := s.one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, course.text("id"))).text("id")
	job := s.one.job("J").text("id")
	text := func(n int) string { return strings.Repeat("é", n) }
	type invalid struct{ method, path, body, at string }
	for _, c := range []invalid{
		{"POST", "/courses", `{}`, "body.code,body.name"},
		{"POST", "/courses", `{"name":"A"}`, "body.code"},
		{"POST", "/courses", `{"name":"A","code":"B","extra":1}`, "body.extra"},
		{"POST", "/courses", `{"name":"A","code":"B","Name":"A"}`, "body.Name"},
		{"POST", "/courses", `{"name":"A","code":"B","id":"x"}`, "body.id"},
		{"POST", "/courses", `{"name":"A","code":"B","organizationId":"x"}`, "body.organizationId"},
		{"POST", "/courses", `{"name":"  ","code":"B"}`, "body.name"},
		{"POST", "/courses", `{"name":"","code":"B"}`, "body.name"},
		{"POST", "/courses", `{"name":5,"code":"B"}`, "body.name"},
		{"POST", "/courses", `{"name":null,"code":"B"}`, "body.name"},
		{"POST", "/courses", `{"name":"` + text(256) + `","code":"B"}`, "body.name"},
		{"POST", "/courses", `{"name":"A","code":"` + text(51) + `"}`, "body.code"},
		{"POST", "/courses", `{"name":"A","code":"B","description":"` + text(10001) + `"}`, "body.description"},
		{"POST", "/courses", `{"name":"A","code":"B","description":[]}`, "body.description"},
		{"PATCH", "/courses/" + course.text("id"), `{"name":null}`, "body.name"},
		{"PATCH", "/courses/" + course.text("id"), `{"code":" "}`, "body.code"},
		{"PATCH", "/courses/" + course.text("id"), `{"name":"\u0000\u200b \ufeff\u0001"}`, "body.name"},
		{"PATCH", "/courses/" + course.text("id"), `{"sections":[]}`, "body.sections"},

		{"POST", "/courses/" + course.text("id") + "/sections", `{}`, "body.name"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","syllabusHref":"ftp://example.org/x"}`, "body.syllabusHref"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","syllabusHref":"http://example.org/x"}`, "body.syllabusHref"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","syllabusHref":"https://user:pw@example.org/x"}`, "body.syllabusHref"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","syllabusHref":"::"}`, "body.syllabusHref"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"level":1}]}`, "body.skills[0].skillId"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `"}]}`, "body.skills[0].level"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"nope","level":1}]}`, "body.skills[0].skillId"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `","level":1},{"skillId":"` + id + `","level":2}]}`, "body.skills[1].skillId"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `","level":1},{"skillId":"` + other + `","level":6}]}`, "body.skills[1].level"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `","level":0}]}`, "body.skills[0].level"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `","level":2.5}]}`, "body.skills[0].level"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `","level":1,"confidence":1.1}]}`, "body.skills[0].confidence"},
		{"POST", "/courses/" + course.text("id") + "/sections", `{"name":"S","skills":[{"skillId":"` + id + `","level":1,"confidence":0.12345}]}`, "body.skills[0].confidence"},
		{"PATCH", "/courses/" + course.text("id") + "/sections/" + section, `{"syllabusHref":"file:///etc/passwd"}`, "body.syllabusHref"},

		{"POST", "/credentials", `{"name":"C","courseSectionIds":["` + section + `","sec_x"]}`, "body.courseSectionIds[1]"},
		{"POST", "/credentials", `{"name":"C","courseSectionIds":null}`, "body.courseSectionIds"},
		{"PATCH", "/credentials/" + credential, `{"courseSectionIds":["` + section + `","` + section + `"]}`, "body.courseSectionIds[1]"},
		{"PATCH", "/credentials/" + credential, `{"courseSectionIds":null}`, "body.courseSectionIds"},
		{"PATCH", "/credentials/" + credential, `{"courseSectionIds":[5]}`, "body.courseSectionIds[0]"},
		{"PATCH", "/credentials/" + credential, `{"courseSectionIds":"` + section + `"}`, "body.courseSectionIds"},
		{"PATCH", "/credentials/" + credential, `{"courseSectionIds":["` + strings.Repeat("x", 5000) + `"]}`, "body.courseSectionIds[0]"},
		{"PATCH", "/credentials/" + credential, `{"name":null}`, "body.name"},
		{"PATCH", "/credentials/" + credential, `{"sections":[]}`, "body.sections"},
		{"PATCH", "/credentials/" + credential, `{"courseSectionIds":[` + strings.TrimSuffix(strings.Repeat(`"x",`, 201), ",") + `]}`, "body.courseSectionIds"},
		{"POST", "/credentials/" + credential + "/sections", `{}`, "body.sectionId"},
		{"POST", "/credentials/" + credential + "/sections", `{"sectionId":"nope"}`, "body.sectionId"},
		{"POST", "/credentials/" + credential + "/sections", `{"sectionId":null}`, "body.sectionId"},

		{"POST", "/programs", `{"name":"P","cipCode":"11.07"}`, "body.cipCode"},
		{"POST", "/programs", `{"name":"P","cipCode":"99.9998"}`, "body.cipCode"},
		{"POST", "/programs", `{"name":"P","courseOrder":["nope"]}`, "body.courseOrder[0]"},
		{"POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q,%[1]q]}`, course.text("id")), "body.courseOrder[1]"},
		{"PATCH", "/programs/" + program, `{"courseOrder":[]}`, "body.courseOrder"},
		{"PATCH", "/programs/" + program, `{"courseOrder":["nope"]}`, "body.courseOrder[0]"},
		{"PATCH", "/programs/" + program, `{"cipCode":"110701"}`, "body.cipCode"},
		{"POST", "/programs/" + program + "/courses", `{"courseId":"nope"}`, "body.courseId"},
		{"POST", "/programs/" + program + "/courses", `{"courseId":"` + section + `"}`, "body.courseId"},

		{"POST", "/jobs", `{"name":"J"}`, "body.employerId"},
		{"POST", "/jobs", `{"name":"J","employerId":" "}`, "body.employerId"},
		{"POST", "/jobs", `{"name":"J","employerId":"e","salaryMin":-1}`, "body.salaryMin"},
		{"POST", "/jobs", `{"name":"J","employerId":"e","salaryMin":2,"salaryMax":1}`, "body.salaryMin"},
		{"POST", "/jobs", `{"name":"J","employerId":"e","onetSocCode":"15-12"}`, "body.onetSocCode"},
		{"POST", "/jobs", `{"name":"J","employerId":"e","onetSocCode":"15-1252.0"}`, "body.onetSocCode"},
		{"POST", "/jobs", `{"name":"J","employerId":"e","locations":[{"type":"location"}]}`, "body.locations[0].locationId"},
		{"POST", "/jobs", `{"name":"J","employerId":"e","locations":[{"type":"location","locationId":"` + strings.Repeat("x", 500_000) + `"}]}`, "body.locations[0].locationId"},
		{"PATCH", "/jobs/" + job, `{"employerId":null}`, "body.employerId"},
		{"PATCH", "/jobs/" + job, `{"salaryMax":-5}`, "body.salaryMax"},

		{"POST", "/transfer-packages", `{"name":"P"}`, "body.transferFromInstitution"},
		{"POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","matchingConfig":{"fullEquivalentThreshold":1.5}}`, "body.matchingConfig.fullEquivalentThreshold"},
		{"POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","matchingConfig":{"partialEquivalentThreshold":0.9}}`, "body.matchingConfig.partialEquivalentThreshold"},
		{"POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"A"},{"name":""}]}`, "body.courses[1].name"},
		{"PATCH", "/transfer-packages/" + pack, `{"matchingConfig":null}`, "body.matchingConfig"},
		{"PATCH", "/transfer-packages/" + pack, `{"matchingConfig":{"partialEquivalentThreshold":-0.1}}`, "body.matchingConfig.partialEquivalentThreshold"},
		{"PATCH", "/transfer-packages/" + pack, `{"courses":[]}`, "body.courses"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{}`, "body.courses"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":[]}`, "body.courses"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":null}`, "body.courses"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":[{}]}`, "body.courses[0].name"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":[{"name":"A","skills":[]}]}`, "body.courses[0].skills"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":[{"name":"A"},{"name":"B","syllabusHref":"http://10.0.0.1/"}]}`, "body.courses[1].syllabusHref"},
		{"POST", "/transfer-packages/" + pack + "/courses", `{"courses":[` + strings.TrimSuffix(strings.Repeat(`{"name":"A"},`, 51), ",") + `]}`, "body.courses"},

		{"POST", "/reports", `{"name":"R","settings":{}}`, "body.settings"},
		{"POST", "/reports", `{"name":"R"}`, "body.settings"},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["nope"]}}`, "body.settings.courses[0]"},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"15-1252","lib":"other"}]}}`, "body.settings.jobs[0].lib"},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"15-1252"}]}}`, "body.settings.jobs[0].lib"},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"99-9999","lib":"soc"}]}}`, "body.settings.jobs[0].id"},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"nope","lib":"custom"}]}}`, "body.settings.jobs[0].id"},
		{"POST", "/reports", `{"name":"R","settings":{"skills":[{"id":"nope"}]}}`, "body.settings.skills[0].id"},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["` + course.text("id") + `"],"view":"other"}}`, "body.settings.view"},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["` + course.text("id") + `"],"version":2}}`, "body.settings.version"},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["` + course.text("id") + `"],"version":1.5}}`, "body.settings.version"},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["` + course.text("id") + `"],"area":{"code":"99999"}}}`, "body.settings.area.code"},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["` + course.text("id") + `"],"area":{"code":"nowhere"}}}`, "body.settings.area.code"},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[` + strings.TrimSuffix(strings.Repeat(`{"id":"15-1252","lib":"soc"},`, 51), ",") + `]}}`, "body.settings.jobs"},

		{"POST", "/syllabus-extractions", `{}`, "body"},
		{"POST", "/syllabus-extractions", `{"text":"x","syllabusHref":"https://example.org/"}`, "body"},
		{"POST", "/syllabus-extractions", `{"text":" "}`, "body.text"},
		{"POST", "/syllabus-extractions", `{"syllabusHref":"gopher://example.org/"}`, "body.syllabusHref"},

		{"POST", "/credential-builder", `{}`, "body.jobIdentifiers"},
		{"POST", "/credential-builder", `{"jobIdentifiers":[]}`, "body.jobIdentifiers"},
		{"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"nope","lib":"custom"}]}`, "body.jobIdentifiers[0].id"},
		{"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}],"allowedCourseIds":["nope"]}`, "body.allowedCourseIds[0]"},
		{"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}],"minSections":3,"maxSections":2}`, "body.minSections"},
		{"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}],"weights":{"overlapPenalty":101}}`, "body.weights.overlapPenalty"},
	} {
		short := c.body[:min(len(c.body), 120)]
		r := s.one.do(c.method, c.path, c.body)
		if r.Status != 422 {
			t.Errorf("%s %s %s: status %d, want 422: %.200s", c.method, c.path, short, r.Status, r.Body)
			continue
		}
		r.want("code", "validation_failed")
		if got := r.locations(); !strings.Contains(","+got+",", ","+c.at+",") {
			t.Errorf("%s %s %s: field errors at %s, want %s", c.method, c.path, short, got, c.at)
		}
	}
}

func TestOneFaultForEachBrokenRule(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := s.one.must(422, "POST", "/jobs", `{"name":"","employerId":7,"salaryMin":-1,"onetSocCode":"x","extra":true}`)
	if got, want := r.locations(), "body.employerId,body.extra,body.name,body.onetSocCode,body.salaryMin"; got != want {
		t.Errorf("field errors at %s, want %s", got, want)
	}
	r = s.one.must(422, "POST", "/credentials", `{"name":"C","courseSectionIds":["a","b"]}`)
	if got, want := r.locations(), "body.courseSectionIds[0],body.courseSectionIds[1]"; got != want {
		t.Errorf("field errors at %s, want %s", got, want)
	}
	r.want("errors.0.value", "a")
	for range 20 { // Go's maps have no order
		r = s.one.must(422, "POST", "/courses", `{"e":1,"d":1,"c":1,"b":1,"a":1}`)
		if got, want := r.locations(), "body.a,body.b,body.c,body.code,body.d,body.e,body.name"; got != want {
			t.Fatalf("field errors at %s, want %s", got, want)
		}
	}
	r = s.one.must(422, "POST", "/credentials", `{"name":"C","courseSectionIds":[1,1,1,1,1,1,1,1,1,1,1]}`)
	r.want("errors.2.location", "body.courseSectionIds[2]")
	r.want("errors.10.location", "body.courseSectionIds[10]")
	r = s.one.must(422, "POST", "/programs", `{"name":"P","cipCode":"99.9999","courseOrder":["crs_none","crs_nowhere"]}`)
	if got, want := r.locations(), "body.cipCode,body.courseOrder[0],body.courseOrder[1]"; got != want {
		t.Errorf("field errors at %s, want %s", got, want)
	}
}

// A number beyond what a computer counts with is still JSON.
func TestNumberTooLarge(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for body, at := range map[string]string{
		`{"name":"J","employerId":"E","salaryMin":1e400}`:                           "body.salaryMin",
		`{"name":"J","employerId":"E","skills":[{"skillId":"x"},{"level":-1e999}]}`: "body.skills[1].level",
		`{"":-1e400}`: "body.",
		`1e400`:       "body",
	} {
		r := s.one.must(422, "POST", "/jobs", body)
		r.want("code", "validation_failed")
		if got := r.locations(); got != at {
			t.Errorf("%s: field errors at %s, want %s", body, got, at)
		}
	}
	s.one.must(400, "POST", "/jobs", `{"name":"J","name":"J","salaryMin":1e400}`)
}

func TestReadOnlyKey(t *testing.T) {
	t.Parallel()
	s := newService(t)
	course := s.one.course("A").text("id")
	s.reader.must(200, "GET", "/courses/"+course, "")
	s.reader.must(200, "GET", "/customers/"+string(s.one.customer.ID)+"/usage", "")
	for _, c := range [][3]string{
		{"POST", "/courses", `{"name":"A","code":"B"}`}, {"PATCH", "/courses/" + course, `{}`}, {"DELETE", "/courses/" + course, ""},
		{"POST", "/reports", `{"name":"A","settings":{}}`}, {"POST", "/syllabus-extractions", `{"text":"x"}`},
	} {
		r := s.reader.must(403, c[0], c[1], c[2])
		r.want("code", "forbidden")
	}
	s.one.must(200, "GET", "/courses/"+course, "")
	s.reader.must(422, "POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}]}`)
}

func TestQueryStringStaysOutOfTheProblem(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := s.one.must(400, "GET", "/courses?limit=0&x="+url.QueryEscape("<script>"), "")
	r.want("instance", "/v1/courses")
	if strings.Contains(string(r.Body), "script") {
		t.Errorf("the problem repeats the query: %s", r.Body)
	}
}

// Numbers are judged by their value, in every spelling; what the store cannot hold is
// an error at its place.
func TestNumbers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	skill := s.one.must(200, "GET", "/skills?query=sql", "").text("data.0.id")
	job := "/jobs/" + s.one.job("J").text("id")
	for text, place := range map[string]string{
		"0": "", "1": "", "0.1234": "", "1.0000": "", "1e-4": "", "1234e-4": "", "0.12340000": "", "0.0": "", "0e-500": "", "10E-1": "", "0.7": "", "0.0003": "",
		"0.12345": "x", "1.2345e-1": "x", "1e-5": "x", "1e-130": "x", "1e-131": "x", "1e-400": "x", "0.00001": "x", "1.0001": "x", "-1": "x", "-0.1": "x",
	} {
		if place != "" {
			place = "body.skills[0].confidence"
		}
		r := s.one.do("PATCH", job, fmt.Sprintf(`{"skills":[{"skillId":%q,"level":1,"confidence":%s}]}`, skill, text))
		if (r.Status == 200) != (place == "") || r.Status != 200 && (r.Status != 422 || r.locations() != place) {
			t.Errorf("confidence %s: status %d: %s", text, r.Status, r.Body)
		}
	}
	for text, status := range map[string]int{
		"1e-130": 200, "1.5": 200, "123456789.123456789": 200, "1e12": 200, "0e999": 200,
		"1e-131": 422, "9.9e-131": 422, "1e-999999": 422, "1e13": 422, "1e126": 422, "1e400": 422, "-1e400": 422,
	} {
		r := s.one.must(status, "PATCH", job, fmt.Sprintf(`{"salaryMin":%s}`, text))
		if status == 422 && r.locations() != "body.salaryMin" {
			t.Errorf("%s: %s", text, r.Body)
		}
	}
	for _, zero := range []string{"-0", "-0.0", "-0e5"} {
		for _, r := range []reply{s.one.must(200, "PATCH", job, fmt.Sprintf(`{"salaryMin":%s}`, zero)), s.one.must(200, "GET", job, "")} {
			if !strings.Contains(string(r.Body), `"salaryMin":0,`) {
				t.Errorf("%s is shown as %s", zero, r.Body)
			}
		}
	}
	both := s.one.must(422, "PATCH", job, `{"salaryMin":1e-131,"salaryMax":1e400}`)
	if both.locations() != "body.salaryMin" { // a body that cannot be read is refused at its first fault
		t.Errorf("%s", both.Body)
	}
}
