package rest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// fields lists the members of an object of the body, sorted.
func (r reply) fields(path string) string {
	r.t.Helper()
	v := r.get(path)
	object, ok := v.(map[string]any)
	if !ok {
		r.t.Fatalf("%s: %s is not an object: %s", r.call, path, r.Body)
	}
	return strings.Join(slices.Sorted(maps.Keys(object)), " ")
}

// whole puts the body below one member, so that fields can list it.
func (r reply) whole() reply {
	r.Body, _ = json.Marshal(map[string]json.RawMessage{"whole": r.Body})
	return r
}

// What is required is there, what is nullable is there as null, what is optional
// and empty is left out, and lists are never null.
func TestFieldPresence(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	const meta = "createdAt deletedAt id organizationId updatedAt"
	course := one.course("A")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","description":"","uniqueTag":" "}`)
	path := "/transfer-packages/" + pack.text("id")
	transfer := one.must(201, "POST", path+"/courses", `{"courses":[{"name":"X"}]}`)
	for _, c := range []struct {
		r      reply
		fields string
		nulls  string
		lists  string
	}{
		{course, meta + " code credits ctid defaultSectionId description effectiveFrom effectiveTo externalId level lifecycleStatus name sections webpage", "credits description effectiveFrom effectiveTo externalId level webpage deletedAt", "sections"},
		{one.must(200, "GET", "/courses/"+course.text("id")+"/sections/"+course.text("defaultSectionId"), ""), meta + " campus courseId description documentId externalId instructorId instructorName modality name processingStatus skills status syllabusHref term", "campus description documentId externalId instructorId instructorName modality syllabusHref term deletedAt", "skills"},
		{one.job("J"), meta + " description employerId externalId jobDescriptionHref locations name onetSocCode salaryMax salaryMin skills", "description externalId jobDescriptionHref onetSocCode salaryMax salaryMin deletedAt", "locations skills"},
		{one.must(201, "POST", "/credentials", `{"name":"C"}`), meta + " code credentialType ctid description externalId name sections status webpage", "code description externalId webpage deletedAt", "sections"},
		{one.must(201, "POST", "/programs", `{"name":"P"}`), meta + " cipCode code courseOrder courses credentialIds ctid derivedSocs description externalId lifecycleStatus mapSettings name webpage", "cipCode code description externalId mapSettings webpage deletedAt", "courseOrder courses credentialIds derivedSocs"},
		{pack, meta + " description externalId matchingConfig name transferFromInstitution uniqueTag", "description externalId uniqueTag deletedAt", ""},
		{one.must(200, "GET", path+"/courses/"+transfer.text("0.id"), ""), meta + " code credits description documentId name packageId processingStatus skills syllabusHref takenTerm", "code credits description documentId syllabusHref takenTerm deletedAt", "skills"},
	} {
		if got, want := c.r.whole().fields("whole"), strings.Join(slices.Sorted(slices.Values(strings.Fields(c.fields))), " "); got != want {
			t.Errorf("%s has %s\nwant %s", c.r.call, got, want)
		}
		for _, name := range strings.Fields(c.nulls) {
			c.r.want(name, nil)
		}
		for _, name := range strings.Fields(c.lists) {
			if _, ok := c.r.get(name).([]any); !ok {
				t.Errorf("%s: %s is not a list: %s", c.r.call, name, c.r.Body)
			}
		}
	}
	course.want("sections.0.description", "")
	course.want("createdAt", s.clock.Now())
	course.want("organizationId", "org_one")
	if got := transfer.header("Location"); got != "/v1"+path+"/courses/"+transfer.text("0.id") {
		t.Errorf("Location %s", got)
	}
	pack.want("matchingConfig", map[string]any{"fullEquivalentThreshold": 0.85, "partialEquivalentThreshold": 0.6})
}

func TestCourses(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.must(201, "POST", "/courses", `{"name":" Algorithms ","code":"\tCS 201 ","description":"  "}`)
	path := "/courses/" + course.text("id")
	course.want("name", "Algorithms")
	course.want("code", "CS 201")
	course.want("description", nil)
	course.want("sections.0.name", "Algorithms")
	course.want("defaultSectionId", course.get("sections.0.id"))

	section := one.must(201, "POST", path+"/sections", `{"name":"Evening","description":"at night","instructorName":"Ada"}`)
	if section.header("Location") != "/v1"+path+"/sections/"+section.text("id") {
		t.Errorf("Location %s", section.header("Location"))
	}
	section.want("processingStatus", absent{})
	read := one.must(200, "GET", path, "")
	reference := map[string]any{
		"id": section.get("id"), "name": "Evening", "description": "at night",
		"externalId": nil, "term": nil, "status": "ACTIVE", "instructorName": "Ada", "skillCount": 0, "reviewed": false,
	}
	read.want("sections.1", reference)
	read.want("sections.2", absent{})
	one.must(200, "PATCH", path+"/sections/"+section.text("id"), `{"name":"Late","description":null}`).want("instructorName", "Ada")
	reference["name"], reference["description"] = "Late", ""
	one.must(200, "GET", path, "").want("sections.1", reference)
	one.must(200, "PATCH", path, `{"description":"d","code":"X"}`).want("name", "Algorithms")
	one.must(200, "PATCH", path, `{"description":null}`).want("description", nil)

	other := one.course("Other").text("id")
	one.must(404, "GET", "/courses/"+other+"/sections/"+section.text("id"), "")
	one.must(404, "PATCH", "/courses/"+other+"/sections/"+section.text("id"), `{}`)
	one.must(404, "DELETE", "/courses/"+other+"/sections/"+section.text("id"), "")
	one.must(204, "DELETE", path+"/sections/"+section.text("id"), "")
	one.must(404, "GET", path+"/sections/"+section.text("id"), "")
	one.must(200, "GET", path, "").want("sections.1", absent{})
	one.must(204, "DELETE", path, "")
	one.must(404, "GET", path+"/sections/"+course.text("defaultSectionId"), "")
	one.must(404, "DELETE", path, "")
}

func TestSectionSyllabus(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	course := one.course("A")
	path := "/courses/" + course.text("id") + "/sections/"
	section := one.must(201, "POST", strings.TrimSuffix(path, "/"), `{"name":"S","syllabusHref":"https://example.org/a.pdf"}`)
	path += section.text("id")
	section.want("processingStatus", "PENDING")
	if len(s.queue.sent) != 1 || s.queue.sent[0].ID != section.text("id") || s.queue.sent[0].Kind != catalog.SectionKind {
		t.Fatalf("sent %v", s.queue.sent)
	}
	one.must(200, "PATCH", path, `{"syllabusHref":"https://example.org/a.pdf","name":"T"}`)
	if len(s.queue.sent) != 1 {
		t.Error("an unchanged syllabus was queued again")
	}
	skill := one.must(200, "GET", "/skills?query=sql", "").text("data.0.id")
	s.finish(s.queue.sent[0], &catalog.ExtractionResult{
		Skills: []catalog.SkillRef{{SkillID: skill, SkillName: "SQL", Level: 3, Confidence: 0.9}}, Text: "Write SQL.",
		Evidence: []catalog.Evidence{{SkillID: skill, Quote: "SQL", Page: 1, Start: 6, End: 9, Label: "SQL", Verb: "write", Section: "outcomes"}},
	})
	read := one.must(200, "GET", path, "")
	read.want("processingStatus", "COMPLETED")
	read.want("skills.0.skillId", skill)
	read.want("evidence", absent{})
	with := one.must(200, "GET", path+"?include=evidence", "")
	with.want("evidence.0.quote", "SQL")
	with.want("extraction.finishedAt", s.clock.Now())
	s.clock.Add(10)
	one.must(200, "PATCH", path, `{"syllabusHref":"https://example.org/b.pdf"}`).want("processingStatus", "PENDING")
	if len(s.queue.sent) != 2 {
		t.Error("a changed syllabus was not queued")
	}
	s.finish(s.queue.sent[1], &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.Encrypted, Message: "the document is encrypted"}})
	read = one.must(200, "GET", path, "")
	read.want("failure", map[string]any{"code": "encrypted", "message": "the document is encrypted"})
	read.want("processingStatus", "FAILED")
	gone := one.must(200, "PATCH", path, `{"syllabusHref":null}`)
	gone.want("processingStatus", absent{})
	gone.want("failure", absent{})
	gone.want("syllabusHref", nil)
	one.must(400, "GET", path+"?include=all", "")
	one.must(400, "GET", path+"?include=", "")
}

func TestCredentials(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	a, b := one.must(201, "POST", "/courses", `{"name":"A","code":"CA"}`), one.course("B")
	a1, b1 := a.text("defaultSectionId"), b.text("defaultSectionId")
	a2 := one.must(201, "POST", "/courses/"+a.text("id")+"/sections", `{"name":"A2","instructorName":"Ada"}`).text("id")
	credential := one.must(201, "POST", "/credentials", fmt.Sprintf(`{"name":"C","code":"c","courseSectionIds":[%q,%q]}`, b1, a2))
	path := "/credentials/" + credential.text("id")
	credential.want("sections.1", map[string]any{
		"courseId": a.get("id"), "courseName": "A", "courseCode": "CA", "courseDefaultSectionId": a1, "courseDisplayName": "CA A",
		"sectionId": a2, "sectionName": "A2", "sectionSkills": []any{}, "sectionInstructorName": "Ada",
	})
	credential.want("sections.0.sectionInstructorName", nil)
	order := func(r reply, want ...string) {
		t.Helper()
		var got []string
		for i := range r.get("sections").([]any) {
			got = append(got, r.text(fmt.Sprintf("sections.%d.sectionId", i)))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: sections %v, want %v", r.call, got, want)
		}
	}
	order(credential, b1, a2)
	// One section of each course.
	r := one.must(422, "PATCH", path, fmt.Sprintf(`{"courseSectionIds":[%q,%q,%q]}`, a1, b1, a2))
	if r.locations() != "body.courseSectionIds[2]" {
		t.Errorf("field errors at %s", r.locations())
	}
	one.must(422, "POST", "/credentials", fmt.Sprintf(`{"name":"C","courseSectionIds":[%q,%q]}`, a1, a2))
	one.must(409, "POST", path+"/sections", fmt.Sprintf(`{"sectionId":%q}`, a1)).want("code", "conflict")
	same := one.must(200, "POST", path+"/sections", fmt.Sprintf(`{"sectionId":%q}`, a2))
	order(same, b1, a2)
	same.want("updatedAt", credential.get("updatedAt"))
	// PATCH replaces the set, in its order.
	order(one.must(200, "PATCH", path, fmt.Sprintf(`{"courseSectionIds":[%q,%q]}`, a1, b1)), a1, b1)
	order(one.must(200, "PATCH", path, `{"code":null}`), a1, b1)
	order(one.must(200, "GET", path, ""), a1, b1)
	order(one.must(200, "PATCH", path, `{"courseSectionIds":[]}`))
	order(one.must(200, "POST", path+"/sections", fmt.Sprintf(`{"sectionId":%q}`, b1)), b1)
	order(one.must(200, "POST", path+"/sections", fmt.Sprintf(`{"sectionId":%q}`, a2)), b1, a2)
	// Profiles are of the live course and section.
	one.must(200, "PATCH", "/courses/"+a.text("id"), `{"name":"Renamed"}`)
	one.must(200, "GET", path, "").want("sections.1.courseDisplayName", "CA Renamed")
	one.must(200, "GET", "/credentials", "").want("data.0.sections.1.courseName", "Renamed")
	one.must(204, "DELETE", path+"/sections/"+b1, "")
	one.must(404, "DELETE", path+"/sections/"+b1, "")
	order(one.must(200, "GET", path, ""), a2)
	// A deleted section is as unknown as one that never was.
	b2 := one.must(201, "POST", "/courses/"+b.text("id")+"/sections", `{"name":"B2"}`).text("id")
	one.must(204, "DELETE", "/courses/"+b.text("id")+"/sections/"+b2, "")
	one.must(422, "PATCH", path, fmt.Sprintf(`{"courseSectionIds":[%q]}`, b2))
	order(one.must(200, "GET", path, ""), a2)
}

func TestPrograms(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	a, b := one.course("A").text("id"), one.course("B").text("id")
	program := one.must(201, "POST", "/programs", `{"name":"P","cipCode":"11.0701"}`)
	path := "/programs/" + program.text("id")
	socs := program.get("derivedSocs").([]any)
	if len(socs) == 0 || !slices.Contains(socs, any("15-1252")) {
		t.Errorf("derived %v", socs)
	}
	for i := 1; i < len(socs); i++ {
		if socs[i-1].(string) >= socs[i].(string) {
			t.Errorf("not sorted and distinct: %v", socs)
		}
	}
	one.must(200, "POST", path+"/courses", fmt.Sprintf(`{"courseId":%q}`, a))
	added := one.must(200, "POST", path+"/courses", fmt.Sprintf(`{"courseId":%q}`, b))
	added.want("courseOrder", []string{a, b})
	added.want("courses.1.courseDisplayName", "C 1 B")
	again := one.must(200, "POST", path+"/courses", fmt.Sprintf(`{"courseId":%q}`, a))
	if string(again.Body) != string(added.Body) {
		t.Errorf("adding again changes %s\nto %s", added.Body, again.Body)
	}
	turned := one.must(200, "PATCH", path, fmt.Sprintf(`{"courseOrder":[%q,%q]}`, b, a))
	turned.want("courses.0.courseId", b)
	if r := one.must(422, "PATCH", path, fmt.Sprintf(`{"courseOrder":[%q]}`, b)); r.locations() != "body.courseOrder" {
		t.Errorf("field errors at %s", r.locations())
	}
	one.must(200, "PATCH", path, `{"cipCode":null}`).want("derivedSocs", []any{})
	one.must(200, "PATCH", path, `{"cipCode":"51.3801"}`).want("cipCode", "51.3801")
	one.must(204, "DELETE", path+"/courses/"+b, "")
	one.must(404, "DELETE", path+"/courses/"+b, "")
	one.must(200, "GET", path, "").want("courseOrder", []string{a})
}

func TestJobs(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	skills := one.must(200, "GET", "/skills?limit=3", "")
	id := func(i int) string { return skills.text(fmt.Sprintf("data.%d.id", i)) }
	body := fmt.Sprintf(`{"name":"J","employerId":"e","salaryMin":10,"salaryMax":10,"onetSocCode":"15-1252.00","locations":[{"type":"location","locationId":"l"}],
		"skills":[{"skillId":%q,"level":2,"confidence":0.5},{"skillId":%q,"level":3},{"skillId":%q,"level":4,"confidence":0.5,"skillName":"mine"}]}`, id(0), id(1), id(2))
	job := one.must(201, "POST", "/jobs", body)
	path := "/jobs/" + job.text("id")
	for i, want := range []int{1, 2, 0} {
		job.want(fmt.Sprintf("skills.%d.skillId", i), id(want))
		job.want(fmt.Sprintf("skills.%d.skillName", i), skills.get(fmt.Sprintf("data.%d.name", want)))
	}
	job.want("skills.0.confidence", 1)
	one.must(422, "PATCH", path, `{"salaryMax":9}`)
	one.must(422, "PATCH", path, `{"salaryMin":11}`)
	one.must(200, "PATCH", path, `{"salaryMin":null,"salaryMax":9,"skills":[],"locations":[],"onetSocCode":null}`).want("skills", []any{})
	one.must(204, "DELETE", path, "")

	// Every optional field is nullable; a list without entries is empty.
	nothing := `"description":null,"jobDescriptionHref":null,"locations":null,"salaryMin":null,"salaryMax":null,"onetSocCode":null,"skills":null`
	bare := one.must(201, "POST", "/jobs", `{"name":"J","employerId":"e",`+nothing+`}`)
	path = "/jobs/" + one.must(201, "POST", "/jobs", body).text("id")
	cleared := one.must(200, "PATCH", path, `{`+nothing+`}`)
	for _, r := range []reply{bare, cleared, one.must(200, "GET", path, "")} {
		r.want("skills", []any{})
		r.want("locations", []any{})
		for _, field := range []string{"description", "jobDescriptionHref", "salaryMin", "salaryMax", "onetSocCode"} {
			r.want(field, nil)
		}
	}
}

func TestTransfers(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","matchingConfig":{"fullEquivalentThreshold":0.7}}`)
	pack.want("matchingConfig.partialEquivalentThreshold", 0.6)
	path := "/transfer-packages/" + pack.text("id")
	one.must(422, "PATCH", path, `{"matchingConfig":{"fullEquivalentThreshold":0.5}}`)
	one.must(200, "PATCH", path, `{"matchingConfig":{"partialEquivalentThreshold":0.2}}`).want("matchingConfig.fullEquivalentThreshold", 0.7)
	made := one.must(201, "POST", path+"/courses", `{"courses":[{"name":"A","syllabusHref":"https://example.org/a"},{"name":"B","description":"d"}]}`)
	if made.Header["Location"] != nil {
		t.Errorf("two records and one Location %s", made.Header["Location"])
	}
	for i, name := range []string{"A", "B"} {
		made.want(fmt.Sprintf("%d.name", i), name)
		made.want(fmt.Sprintf("%d.processingStatus", i), "PENDING")
		made.want(fmt.Sprintf("%d.skills", i), []any{})
		made.want(fmt.Sprintf("%d.packageId", i), pack.get("id"))
	}
	one.must(422, "POST", path+"/courses", `{"courses":[{"name":"C"},{"name":"D","syllabusHref":"x:"}]}`)
	s.clock.Add(1)
	one.must(201, "POST", path+"/courses", `{"courses":[{"name":"E"}]}`)
	all := one.must(200, "GET", path+"/courses", "")
	for i, name := range []string{"A", "B", "E"} {
		all.want(fmt.Sprintf("%d.name", i), name)
	}
	all.want("3", absent{})
	if len(s.queue.sent) != 3 {
		t.Errorf("%d extractions were sent", len(s.queue.sent))
	}
	a := path + "/courses/" + made.text("0.id")
	one.must(409, "POST", a+"/retry", "").want("code", "conflict")
	one.must(409, "POST", a+"/equivalencies", "")
	s.finish(s.queue.sent[slices.IndexFunc(s.queue.sent, func(j catalog.ExtractionJob) bool { return j.ID == made.text("0.id") })],
		&catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.DocumentNotFound, Message: "gone"}})
	one.must(200, "GET", a, "").want("failure", map[string]any{"code": "not_found", "message": "gone"})
	retried := one.must(202, "POST", a+"/retry", "")
	retried.want("processingStatus", "PENDING")
	retried.want("failure", absent{})
	if len(s.queue.sent) != 4 {
		t.Error("the retry was not sent")
	}
	// The queue is down: what was asked for is saved, and the sweeper will send it.
	s.queue.err = errDown
	one.must(201, "POST", path+"/courses", `{"courses":[{"name":"F"}]}`)
	one.must(204, "DELETE", a, "")
	one.must(404, "GET", a, "")
	one.must(404, "POST", a+"/retry", "")
	one.must(404, "POST", path+"/courses/nope/equivalencies", "")
	other := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	one.must(404, "GET", "/transfer-packages/"+other+"/courses/"+made.text("1.id"), "")
}

func TestEquivalencies(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	skill := one.must(200, "GET", "/skills?query=sql&limit=1", "")
	course := one.course("Databases")
	section := "/courses/" + course.text("id") + "/sections/" + course.text("defaultSectionId")
	one.must(200, "PATCH", section, fmt.Sprintf(`{"skills":[{"skillId":%q,"level":3}]}`, skill.text("data.0.id")))
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"},{"name":"Y"}]}`).text("id")
	done := s.queue.sent[0]
	s.finish(done, &catalog.ExtractionResult{Skills: []catalog.SkillRef{{SkillID: skill.text("data.0.id"), SkillName: "SQL", Level: 3, Confidence: 1}}, Text: "SQL"})
	path := "/transfer-packages/" + pack
	match := s.reader.must(200, "POST", path+"/courses/"+done.ID+"/equivalencies", "")
	match.want("matches.0.courseSectionId", course.get("defaultSectionId"))
	match.want("matches.0.skillsMatchScore", 1)
	match.want("matches.0.equivalence", "FULL")
	match.want("matches.1", absent{})
	match.want("reason", nil)
	all := one.must(200, "POST", path+"/equivalencies", "")
	all.want("courses.0.transferCourseId", done.ID)
	all.want("skipped.0.processingStatus", "PENDING")
	one.must(200, "POST", path+"/equivalencies?fullEquivalentThreshold=1&partialEquivalentThreshold=0.5", "").want("matchingConfig.partialEquivalentThreshold", 0.5)
	one.must(400, "POST", path+"/equivalencies?fullEquivalentThreshold=0.4&partialEquivalentThreshold=0.5", "")
	one.must(400, "POST", path+"/equivalencies?fullEquivalentThreshold=1.1", "")
	one.must(400, "POST", path+"/equivalencies?fullEquivalentThreshold=", "")
	// A changed catalog is seen at once.
	one.must(200, "PATCH", section, `{"skills":[]}`)
	empty := one.must(200, "POST", path+"/courses/"+done.ID+"/equivalencies", "")
	empty.want("matches", []any{})
	empty.want("reason", "NO_SECTION_HAS_SKILLS")
	one.must(200, "POST", path+"/equivalencies", "").want("courses.0.reason", "NO_SECTION_HAS_SKILLS")
}

func TestReports(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	skills := one.must(200, "GET", "/skills?limit=6", "")
	var courses []string
	for i := range 6 {
		course := one.course(fmt.Sprint(i))
		one.must(200, "PATCH", "/courses/"+course.text("id")+"/sections/"+course.text("defaultSectionId"), fmt.Sprintf(`{"skills":[{"skillId":%q,"level":%d}]}`, skills.text(fmt.Sprintf("data.%d.id", i)), 1+i%5))
		courses = append(courses, course.text("id"))
	}
	job := one.must(201, "POST", "/jobs", fmt.Sprintf(`{"name":"J","employerId":"e","skills":[{"skillId":%q,"level":3},{"skillId":%q,"level":1}]}`, skills.text("data.0.id"), skills.text("data.1.id"))).text("id")
	list, _ := json.Marshal(courses)
	for _, view := range []string{"alignment", "coverage", "gap", "market"} {
		body := fmt.Sprintf(`{"name":"R","settings":{"courses":%s,"jobs":[{"id":%q,"lib":"custom"},{"id":"15-1252","lib":"soc"}],"skills":[{"id":%q}],"view":%q}}`, list, job, skills.text("data.5.id"), view)
		first := one.must(201, "POST", "/reports", body)
		for range 4 {
			again := one.must(201, "POST", "/reports", body)
			a, _ := json.Marshal([]any{first.get("data"), first.get("lookupData")})
			b, _ := json.Marshal([]any{again.get("data"), again.get("lookupData")})
			if string(a) != string(b) {
				t.Fatalf("%s: the same settings give\n%s\nand\n%s", view, a, b)
			}
		}
		path := "/reports/" + first.text("report.id")
		if read := one.must(200, "GET", path, ""); string(read.Body) != string(first.Body) {
			t.Errorf("%s: GET gives %s\nPOST gave %s", view, read.Body, first.Body)
		}
		first.want("report.settings.version", 1)
		first.want("report.settings.view", view)
		if got := one.must(200, "GET", path+"?format=csv", "").header("Content-Type"); !strings.HasPrefix(got, "text/csv") {
			t.Errorf("csv is %s", got)
		}
		if got := one.must(200, "GET", path+"?format=html", "").header("Content-Type"); !strings.HasPrefix(got, "text/html") {
			t.Errorf("html is %s", got)
		}
	}
	// What is gone by the time of a read is left out.
	report := one.must(201, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"courses":%s}}`, list)).text("report.id")
	one.must(204, "DELETE", "/courses/"+courses[0], "")
	one.must(200, "GET", "/reports/"+report, "").want("lookupData.courseProfiles.5", absent{})
	one.must(400, "GET", "/reports/"+report+"?format=pdf", "")
	one.must(204, "DELETE", "/reports/"+report, "")
	one.must(404, "GET", "/reports/"+report, "")
}

// TestReportPrograms wants the courses of programs in a report, as they are when it is read.
func TestReportPrograms(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	var ids []string
	for i := range 3 {
		ids = append(ids, one.course(fmt.Sprint(i)).text("id"))
	}
	program := one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q,%q]}`, ids[1], ids[0])).text("id")
	report := one.must(201, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"courses":[%q],"programs":[%q],"jobs":[{"id":"15-1252","lib":"soc"}]}}`, ids[0], program))
	report.want("report.settings.programs", []any{program})
	report.want("report.settings.courses", []any{ids[0]})
	for i, id := range []string{ids[0], ids[1]} {
		report.want(fmt.Sprintf("lookupData.courseProfiles.%d.courseId", i), id)
		report.want(fmt.Sprintf("data.%d.courseId", i), id)
	}
	report.want("lookupData.courseProfiles.2", absent{})
	report.want("warnings.0.code", "course_without_skills")

	one.must(200, "POST", "/programs/"+program+"/courses", fmt.Sprintf(`{"courseId":%q}`, ids[2]))
	path := "/reports/" + report.text("report.id")
	one.must(200, "GET", path, "").want("data.2.courseId", ids[2])
	if text := string(one.must(200, "GET", path+"?format=csv", "").Body); !strings.Contains(text, ",warnings") || !strings.Contains(text, "has skills.") {
		t.Errorf("the CSV has no warnings: %s", text)
	}
	if text := string(one.must(200, "GET", path+"?format=html", "").Body); !strings.Contains(text, `aria-label="Warnings"`) {
		t.Errorf("the page has no warnings: %s", text)
	}

	bad := one.must(422, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"programs":[%q,"prg_none",%q]}}`, program, program))
	bad.want("errors.0.location", "body.settings.programs[1]")
	bad.want("errors.0.message", "there is no such program")
	bad.want("errors.1.message", "the program is named twice")
	one.must(422, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"programs":["%s"]}}`, strings.Join(make([]string, 21), `","`)))

	one.must(204, "DELETE", "/programs/"+program, "")
	one.must(200, "GET", path, "").want("data.1", absent{})
}

func TestExtractions(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	made := one.must(202, "POST", "/syllabus-extractions", `{"text":"Write SQL.","name":"N"}`)
	if got := made.whole().fields("whole"); got != "extractionId processingStatus" {
		t.Errorf("POST gives %s", got)
	}
	path := "/syllabus-extractions/" + made.text("extractionId")
	if made.header("Location") != "/v1"+path {
		t.Errorf("Location %s", made.header("Location"))
	}
	pending := one.must(200, "GET", path+"?include=evidence,text", "")
	pending.want("processingStatus", "PENDING")
	pending.want("skills", []any{})
	pending.want("evidence", []any{})
	pending.want("text", "Write SQL.")
	s.finish(s.queue.sent[0], &catalog.ExtractionResult{
		Skills: []catalog.SkillRef{}, Text: "Write SQL.\n", Evidence: []catalog.Evidence{}, Warnings: []catalog.Warning{{Code: catalog.VocabularyMismatch, Message: "none of it"}},
	})
	done := one.must(200, "GET", path+"?include=text,evidence", "")
	done.want("processingStatus", "COMPLETED")
	done.want("text", "Write SQL.\n")
	one.must(200, "GET", path, "").want("text", absent{})
	one.must(400, "GET", path+"?include=skills", "")
}

func TestLaborMarketAndSkills(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	r := one.must(200, "GET", "/labor-market?cipCodes=11.0701,51.3801", "")
	r.want("data.regionType", "national")
	r.want("data.cipCodes", []string{"11.0701", "51.3801"})
	last := 1e18
	for _, o := range r.get("data.occupations").([]any) {
		n, ok := o.(map[string]any)["totalEmployment"].(float64)
		if !ok {
			n = -1
		}
		if n > last {
			t.Errorf("not ordered by employment: %v after %v", n, last)
		}
		last = n
	}
	state := one.must(200, "GET", "/labor-market?cipCodes=11.0701&regionType=state&region=6", "")
	state.want("data.region", "06")
	if padded := one.must(200, "GET", "/labor-market?cipCodes=11.0701&regionType=state&region=06", ""); string(padded.Body) != string(state.Body) {
		t.Error("6 and 06 are two regions")
	}
	one.must(200, "GET", "/labor-market?cipCodes=11.0701,99.9998", "").want("warnings.0.cipCode", "99.9998")
	one.must(200, "GET", "/labor-market/regions?regionType=national", "").want("data.1", absent{})

	found := one.must(200, "GET", "/skills?query=sql", "")
	skill := one.must(200, "GET", "/skills/"+found.text("data.0.id"), "")
	skill.want("id", found.get("data.0.id"))
	skill.want("taxonomy.version", found.get("data.0.taxonomy.version"))
	all := one.must(200, "GET", "/skills?limit=100", "")
	if total := all.number("pagination.total"); total < 1000 {
		t.Errorf("the vocabulary has %d skills", total)
	}
	end := one.must(200, "GET", fmt.Sprintf("/skills?offset=%d", all.number("pagination.total")), "")
	end.want("data", []any{})
	end.want("pagination.hasMore", false)
}

func TestChanges(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	one.must(200, "GET", "/changes", "").want("data", []any{})
	course := one.course("A")
	path := "/courses/" + course.text("id")
	s.clock.Add(5)
	one.must(200, "PATCH", path, `{"name":"B"}`)
	one.must(200, "PATCH", path, `{}`)
	one.must(422, "PATCH", path, `{"name":""}`)
	one.must(204, "DELETE", path, "")
	var got []string
	since := ""
	for range 10 {
		r := one.must(200, "GET", "/changes?limit=2&since="+since, "")
		for _, entry := range r.get("data").([]any) {
			change := entry.(map[string]any)
			got = append(got, fmt.Sprint(change["change"], " ", change["resource"], " ", strings.HasPrefix(change["href"].(string), "/v1/courses/"+course.text("id"))))
		}
		since = r.text("next")
		if r.get("hasMore") == false {
			break
		}
	}
	want := []string{"created Course true", "created Section true", "changed Course true", "deleted Course true", "deleted Section true"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	one.must(200, "GET", "/changes?since="+since, "").want("next", since)
}

func TestListPages(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	var made []string
	for i := range 25 {
		made = append(made, one.job(fmt.Sprint(i)).text("id"))
	}
	for _, i := range []int{20, 3} {
		one.must(204, "DELETE", "/jobs/"+made[i], "")
		made = slices.Delete(made, i, i+1)
	}
	for _, c := range []struct {
		query, links  string
		offset, limit int
		more          bool
	}{
		{"", "first 0,last 0", 0, 50, false},
		{"?limit=10", "first 0,next 10,last 20", 0, 10, true},
		{"?limit=10&offset=10", "first 0,prev 0,next 20,last 20", 10, 10, true},
		{"?limit=10&offset=20", "first 0,prev 10,last 20", 20, 10, false},
		{"?limit=10&offset=5", "first 0,prev 0,next 15,last 20", 5, 10, true},
		{"?limit=23", "first 0,last 0", 0, 23, false},
		{"?limit=22", "first 0,next 22,last 22", 0, 22, true},
		{"?limit=10&offset=23", "first 0,prev 13,last 20", 23, 10, false},
		{"?limit=10&offset=1000", "first 0,prev 13,last 20", 1000, 10, false},
	} {
		r := one.must(200, "GET", "/jobs"+c.query, "")
		var got []string
		for _, job := range r.get("data").([]any) {
			got = append(got, job.(map[string]any)["id"].(string))
		}
		if want := made[min(c.offset, len(made)):min(c.offset+c.limit, len(made))]; !slices.Equal(got, want) {
			t.Errorf("%s: %v\nwant %v", c.query, got, want)
		}
		r.want("pagination", map[string]any{"total": 23, "limit": c.limit, "offset": c.offset, "hasMore": c.more})
		var links []string
		for link := range strings.SplitSeq(r.header("Link"), ", ") {
			target, rel, _ := strings.Cut(link, `>; rel="`)
			path, query, _ := strings.Cut(strings.TrimPrefix(target, "<"), "?")
			if path != "/v1/jobs" || !strings.Contains(query, fmt.Sprint("limit=", c.limit)) || strings.Contains(c.query, "x=") && !strings.Contains(query, "x=%26") {
				t.Errorf("%s: link %s", c.query, link)
			}
			_, offset, _ := strings.Cut(query, "offset=")
			offset, _, _ = strings.Cut(offset, "&")
			links = append(links, strings.TrimSuffix(rel, `"`)+" "+offset)
		}
		if strings.Join(links, ",") != c.links {
			t.Errorf("%s: links %v, want %s", c.query, links, c.links)
		}
		if slices.Contains(slices.Collect(maps.Keys(r.Header)), "ETag") {
			t.Errorf("%s: a list carries an ETag", c.query)
		}
	}
	one.must(200, "GET", "/programs", "").want("pagination", map[string]any{"total": 0, "limit": 50, "offset": 0, "hasMore": false})
}

func TestCredentialBuilder(t *testing.T) {
	t.Parallel()
	s := newService(t)
	one := s.one
	body := `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}]}`
	one.must(422, "POST", "/credential-builder", body).want("code", "validation_failed")
	skills := one.must(200, "GET", "/skills?limit=2", "")
	var courses []reply
	for i := range 2 {
		course := one.course(fmt.Sprint(i))
		one.must(200, "PATCH", "/courses/"+course.text("id")+"/sections/"+course.text("defaultSectionId"), fmt.Sprintf(`{"skills":[{"skillId":%q,"level":5}]}`, skills.text(fmt.Sprintf("data.%d.id", i))))
		courses = append(courses, course)
	}
	job := one.must(201, "POST", "/jobs", fmt.Sprintf(`{"name":"J","employerId":"e","skills":[{"skillId":%q,"level":3},{"skillId":%q,"level":3}]}`, skills.text("data.0.id"), skills.text("data.1.id"))).text("id")
	body = fmt.Sprintf(`{"jobIdentifiers":[{"id":%q,"lib":"custom"}],"weights":{"sectionCountPenalty":0}}`, job)
	first := s.reader.must(200, "POST", "/credential-builder", body)
	first.want("coverage", 1)
	first.want("uncoveredSkills", []any{})
	first.want("optimal", true)
	if len(first.get("sections").([]any)) != 2 || len(first.get("coveredSkills").([]any)) != 2 {
		t.Errorf("%s", first.Body)
	}
	if again := one.must(200, "POST", "/credential-builder", body); string(again.Body) != string(first.Body) {
		t.Errorf("%s\n%s", first.Body, again.Body)
	}
	narrow := one.must(200, "POST", "/credential-builder", strings.TrimSuffix(body, "}")+fmt.Sprintf(`,"allowedCourseIds":[%q]}`, courses[0].text("id")))
	narrow.want("sections.0.courseId", courses[0].get("id"))
	narrow.want("sections.1", absent{})
}
