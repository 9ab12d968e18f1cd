package rest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// tenant is one record of everything that an organization may have, by path
// parameter.
func tenant(c client) map[string]string {
	c.s.t.Helper()
	handle := strings.ReplaceAll(string(c.customer.OrganizationID), "_", "-")
	c.publishes(facts(handle))
	course := c.must(201, "POST", "/courses", `{"name":"A","code":"C 1","description":"What students learn"}`)
	section := c.must(201, "POST", "/courses/"+course.text("id")+"/sections", `{"name":"S","externalId":"S"}`).text("id")
	pack := c.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I"}`).text("id")
	report := c.must(201, "POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"15-1252","lib":"soc"}]}}`).text("report.id")
	_, token, _ := strings.Cut(c.must(201, "POST", "/reports/"+report+"/links", `{"expiresInSeconds":604800}`).shared(), "token=")
	articulation := c.articulation(elective("A 1"))
	_, articulationToken, _ := strings.Cut(c.must(201, "POST", "/articulations/"+articulation+"/links", `{"expiresInSeconds":604800}`).shared(), "token=")
	outcomes := c.must(200, "PUT", "/courses/"+course.text("id")+"/outcomes", `{"outcomes":[{"statement":"O","level":1,"skills":[]}]}`)
	hook := c.must(201, "POST", "/webhooks", newHook).text("id")
	program := c.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","description":"What students learn",%s,"courseOrder":[%q]}`, webpage, course.text("id"))).text("id")
	_, mapToken, _ := strings.Cut(c.must(201, "POST", "/programs/"+program+"/map/links", `{"expiresInSeconds":604800}`).shared(), "token=")
	document := c.document("name,code")
	return map[string]string{
		"webhookId": hook, "messageId": c.must(202, "POST", "/webhooks/"+hook+"/test", "").text("messageId"),
		"courseId": course.text("id"), "sectionId": section, "reportId": report, "token": token,
		"outcomeId":      outcomes.text("outcomes.0.id"),
		"articulationId": articulation, "articulationToken": articulationToken,
		"credentialId": c.must(201, "POST", "/credentials", fmt.Sprintf(`{"name":"C","description":"What it is about",%s,"courseSectionIds":[%q]}`, webpage, section)).text("id"),
		"programId":    program, "mapToken": mapToken,
		"jobId":            c.job("J").text("id"),
		"packageId":        pack,
		"transferCourseId": c.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"X"}]}`).text("0.id"),
		"extractionId":     c.must(202, "POST", "/syllabus-extractions", `{"text":"SQL"}`).text("extractionId"),
		"skillId":          c.must(200, "GET", "/skills?limit=1", "").text("data.0.id"),
		"documentId":       document,
		"importId":         c.must(202, "POST", "/imports", fmt.Sprintf(`{"documentId":%q}`, document)).text("id"),
		"customerId":       string(c.customer.ID),
		"asset":            "page.js",
		"handle":           handle, "ctid": catalog.DerivedCTID(string(c.customer.OrganizationID)),
	}
}

// bodies are valid bodies of the operations that take one, with the ids of a tenant.
func bodies(ids map[string]string) map[string]string {
	return map[string]string{
		"createCourse": `{"name":"A","code":"B"}`, "updateCourse": `{"name":"B"}`, "createSection": `{"name":"S"}`, "updateSection": `{"name":"S"}`,
		"createJob": `{"name":"J","employerId":"e"}`, "updateJob": `{"name":"K"}`,
		"createCredential": `{"name":"C"}`, "updateCredential": `{"name":"D"}`, "addCredentialSection": fmt.Sprintf(`{"sectionId":%q}`, ids["sectionId"]),
		"buildCredential": `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}]}`,
		"createProgram":   `{"name":"P"}`, "updateProgram": `{"name":"Q"}`, "addProgramCourse": fmt.Sprintf(`{"courseId":%q}`, ids["courseId"]),
		"createTransferPackage": `{"name":"P","transferFromInstitution":"I"}`, "updateTransferPackage": `{"name":"Q"}`,
		"createTransferCourses":    `{"courses":[{"name":"X"}]}`,
		"createReport":             `{"name":"R","settings":{"jobs":[{"id":"15-1252","lib":"soc"}]}}`,
		"upsertRecords":            `{"resource":"job","items":[{"externalId":"U","name":"J","employerId":"e"}]}`,
		"createSyllabusExtraction": `{"text":"SQL"}`,
		"adoptOutcomes":            fmt.Sprintf(`{"sectionId":%q}`, ids["sectionId"]),
		"replaceCourseOutcomes":    `{"outcomes":[]}`, "replaceProgramOutcomes": `{"outcomes":[]}`,
		"reviewCourseOutcomeSkill": `{"verdict":"REJECTED"}`, "reviewProgramOutcomeSkill": `{"verdict":"REJECTED"}`,
		"reviewSectionSkill": `{"verdict":"REJECTED"}`, "reviewTransferCourseSkill": `{"verdict":"REJECTED"}`,
		"createArticulation": elective("A 1").String(), "updateArticulation": `{"publicNote":"N"}`, "moveArticulation": `{"status":"IN_REVIEW"}`,
		"decideMapCell": `{"mark":"NONE"}`, "createProgramMapLink": `{"expiresInSeconds":60}`,
		"createReportLink": `{"expiresInSeconds":60}`, "createArticulationLink": `{"expiresInSeconds":60}`, "createWebhook": newHook, "updateWebhook": `{"description":"D"}`,
		"createImport":   fmt.Sprintf(`{"documentId":%q}`, ids["documentId"]),
		"createDocument": `{"fileName":"b.pdf","sizeBytes":3,"sha256":"` + strings.Repeat("ab", 32) + `"}`,
	}
}

// queries are the parameters that an operation does not do without.
func queries(ids map[string]string) map[string]string {
	return map[string]string{
		"listOutcomes": "?skillId=core:sql",
		"listSections": "?externalId=S", "getLaborMarket": "?cipCodes=11.0701", "getSharedReport": "?token=" + ids["token"],
		"getSharedProgramMap":   "?token=" + ids["mapToken"],
		"getSharedArticulation": "?token=" + ids["articulationToken"], "lookupArticulations": "?institution=Hill+College&codes=A+1",
	}
}

func filled(path string, ids map[string]string) string {
	for name, id := range ids {
		path = strings.ReplaceAll(path, "{"+name+"}", id)
	}
	return path
}

// Every operation with another organization's ids answers what it answers for ids
// that never were, and for records that are deleted: the same 404, byte for byte
// but for the request. Nothing of the other organization changes.
func TestEveryOperationKeepsOrganizationsApart(t *testing.T) {
	t.Parallel()
	s := newService(t)
	theirs, mine := tenant(s.two), tenant(s.one)
	unknown := map[string]string{}
	for name, id := range theirs {
		last := "0"
		if strings.HasSuffix(id, "0") {
			last = "1"
		}
		unknown[name] = id[:4] + last + id[5:]
	}
	before := s.snapshot(s.two, theirs)
	for _, op := range api.Operations() {
		if !strings.Contains(op.Path, "{") || op.ID == "getSkill" || op.ID == "listSkillSections" || op.ID == "getCustomerUsage" || op.Access == api.Public {
			continue
		}
		var answers []string
		for _, with := range []map[string]string{theirs, unknown} {
			r := s.one.do(op.Method, filled(op.Path, with), bodies(theirs)[op.ID])
			if r.Status != 404 {
				t.Errorf("%s with ids of another organization: status %d: %s", op.ID, r.Status, r.Body)
			}
			answers = append(answers, r.anonymous())
		}
		// One of its own, one of theirs: each parameter by itself.
		for name := range theirs {
			// Skills belong to no organization.
			if !strings.Contains(op.Path, "{"+name+"}") || strings.Count(op.Path, "{") < 2 || name == "skillId" {
				continue
			}
			mixed := map[string]string{}
			for n, id := range mine {
				mixed[n] = id
			}
			mixed[name] = theirs[name]
			r := s.one.do(op.Method, filled(op.Path, mixed), bodies(mine)[op.ID])
			if r.Status != 404 {
				t.Errorf("%s with the %s of another organization: status %d: %s", op.ID, name, r.Status, r.Body)
			}
			answers = append(answers, r.anonymous())
		}
		answers = slices.Compact(answers)
		if len(answers) != 1 {
			t.Errorf("%s tells ids apart: %s", op.ID, answers)
		}
	}
	s.one.must(403, "GET", "/customers/"+theirs["customerId"]+"/usage", "")
	s.one.must(403, "GET", "/customers/cus_unknown/usage", "")
	if after := s.snapshot(s.two, theirs); after != before {
		t.Errorf("the other organization was\n%s\nand is\n%s", before, after)
	}
	// Its ids in bodies are as unknown as any.
	for _, c := range [][3]string{
		{"POST", "/credentials", `{"name":"C","courseSectionIds":["` + theirs["sectionId"] + `"]}`},
		{"PATCH", "/credentials/" + mine["credentialId"], `{"courseSectionIds":["` + theirs["sectionId"] + `"]}`},
		{"POST", "/credentials/" + mine["credentialId"] + "/sections", bodies(theirs)["addCredentialSection"]},
		{"POST", "/programs", `{"name":"P","courseOrder":["` + theirs["courseId"] + `"]}`},
		{"POST", "/programs/" + mine["programId"] + "/courses", bodies(theirs)["addProgramCourse"]},
		{"POST", "/imports", bodies(theirs)["createImport"]},
		{"POST", "/reports", `{"name":"R","settings":{"courses":["` + theirs["courseId"] + `"]}}`},
		{"POST", "/reports", `{"name":"R","settings":{"jobs":[{"id":"` + theirs["jobId"] + `","lib":"custom"}]}}`},
		{"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"` + theirs["jobId"] + `","lib":"custom"}]}`},
		{"POST", "/credential-builder", `{"jobIdentifiers":[{"id":"15-1252","lib":"soc"}],"allowedCourseIds":["` + theirs["courseId"] + `"]}`},
	} {
		s.one.must(422, c[0], c[1], c[2])
	}
	s.one.must(422, "POST", "/articulations", elective("A 1").with("receiving", []fields{{"courseId": theirs["courseId"]}}).String())
	// No list and no feed shows it.
	for _, path := range []string{"/courses", "/jobs", "/credentials", "/programs", "/transfer-packages", "/articulations", "/articulations/health", "/reports", "/imports", "/changes"} {
		body := string(s.one.must(200, "GET", path, "").Body)
		for name, id := range theirs {
			if name != "skillId" && strings.Contains(body, id) {
				t.Errorf("GET %s shows the %s of another organization", path, name)
			}
		}
	}
}

// snapshot is everything that an organization sees of itself, usage aside.
func (s *service) snapshot(c client, ids map[string]string) string {
	s.t.Helper()
	var all []string
	for _, op := range api.Operations() {
		if op.Method == "GET" && op.ID != "getCustomerUsage" && op.ID != "getOpenAPI" && op.ID != "getLaborMarket" {
			if op.ID == "getArticulationCTDL" { // a draft is not public
				c.must(409, "GET", filled(op.Path, ids), "")
				continue
			}
			all = append(all, string(c.must(200, "GET", filled(op.Path, ids)+queries(ids)[op.ID], "").Body))
		}
	}
	return strings.Join(all, "\n")
}

// A read-only key does what reads, and nothing that stores.
func TestEveryOperationMindsTheScope(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids := tenant(s.one)
	before := s.snapshot(s.one, ids)
	for _, op := range api.Operations() {
		r := s.reader.do(op.Method, filled(op.Path, ids)+queries(ids)[op.ID], bodies(ids)[op.ID])
		switch {
		case op.Access == api.Write && r.Status != 403:
			t.Errorf("%s with a read-only key: status %d: %s", op.ID, r.Status, r.Body)
		case op.Access != api.Write && (r.Status == 403 || r.Status >= 500):
			t.Errorf("%s with a read-only key: status %d: %s", op.ID, r.Status, r.Body)
		}
	}
	if after := s.snapshot(s.one, ids); after != before {
		t.Errorf("the organization was\n%s\nand is\n%s", before, after)
	}
}

// A deleted record is gone for every operation, its children with it; the trash is
// no part of any path.
func TestDeletedIsGone(t *testing.T) {
	t.Parallel()
	s := newService(t)
	ids := tenant(s.one)
	one := s.one
	one.must(204, "DELETE", filled("/credentials/{credentialId}", ids), "")
	one.must(204, "DELETE", filled("/programs/{programId}", ids), "")
	one.must(204, "DELETE", filled("/courses/{courseId}", ids), "")
	one.must(204, "DELETE", filled("/jobs/{jobId}", ids), "")
	one.must(204, "DELETE", filled("/transfer-packages/{packageId}", ids), "")
	one.must(204, "DELETE", filled("/reports/{reportId}", ids), "")
	one.must(204, "DELETE", filled("/articulations/{articulationId}", ids), "")
	one.must(204, "DELETE", filled("/imports/{importId}", ids), "") // cancels it
	one.must(204, "DELETE", filled("/imports/{importId}", ids), "")
	one.must(204, "DELETE", filled("/documents/{documentId}", ids), "")
	one.must(204, "DELETE", filled("/webhooks/{webhookId}", ids), "")
	for _, op := range api.Operations() {
		if !strings.Contains(op.Path, "{") || strings.HasPrefix(op.Path, "/public/") || op.ID == "getSkill" || op.ID == "listSkillSections" || op.ID == "getCustomerUsage" || op.ID == "getSyllabusExtraction" || op.ID == "getDocsAsset" {
			continue
		}
		r := one.do(op.Method, filled(op.Path, ids)+queries(ids)[op.ID], bodies(ids)[op.ID])
		if r.Status != 404 {
			t.Errorf("%s of what is deleted: status %d: %s", op.ID, r.Status, r.Body)
		}
	}
	one.must(404, "GET", filled("/transfer-packages/{packageId}!/courses/{transferCourseId}", ids), "")
	one.must(404, "GET", filled("/transfer-packages/{packageId}%21/courses/{transferCourseId}", ids), "")
	for _, path := range []string{"/courses", "/jobs", "/credentials", "/programs", "/transfer-packages", "/articulations", "/articulations?sendingCode=A1", "/reports", "/imports"} {
		r := one.must(200, "GET", path, "")
		r.want("data", []any{})
		r.want("pagination.total", 0)
	}
}
