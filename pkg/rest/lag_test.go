package rest_test

import (
	"fmt"
	"testing"

	"skillscurriculum/pkg/catalog"
	usecase "skillscurriculum/pkg/service"
)

// With replicas so far behind that they show nothing at all, everything is as it
// should be: what is decided on is read strongly, and what a read misses is looked
// for again. A plain GET of a changed record may show its old state; here it has
// none.
func TestLaggingReplicas(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	w.through(lagging)
	one := s.one
	a, b := one.course("A"), one.course("B")
	extra := one.must(201, "POST", "/courses/"+a.text("id")+"/sections", `{"name":"S"}`)
	one.must(200, "GET", "/courses/"+a.text("id"), "").want("sections.1.id", extra.text("id"))
	one.must(200, "GET", "/courses", "").want("pagination.total", 2)
	one.must(200, "GET", "/courses?limit=1&offset=1", "").want("data.0.id", b.text("id"))

	credential := one.must(201, "POST", "/credentials", fmt.Sprintf(`{"name":"C","courseSectionIds":[%q]}`, extra.text("id")))
	path := "/credentials/" + credential.text("id")
	one.must(200, "POST", path+"/sections", fmt.Sprintf(`{"sectionId":%q}`, b.text("defaultSectionId"))).want("sections.1.courseId", b.text("id"))
	renamed := one.must(200, "PATCH", path, `{"name":"D"}`)
	renamed.want("sections.0.sectionId", extra.text("id"))
	renamed.want("sections.1.courseDisplayName", "C 1 B")
	one.must(200, "GET", path, "").want("sections.1.courseId", b.text("id"))
	one.must(200, "GET", "/credentials", "").want("data.0.sections.1.courseId", b.text("id"))

	program := one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":"P","courseOrder":[%q]}`, a.text("id")))
	path = "/programs/" + program.text("id")
	one.must(200, "POST", path+"/courses", fmt.Sprintf(`{"courseId":%q}`, b.text("id")))
	one.must(200, "PATCH", path, `{"name":"Q"}`).want("courseOrder", []any{a.get("id"), b.get("id")})
	one.must(200, "GET", path, "").want("courses.1.courseId", b.text("id"))
	one.must(409, "DELETE", "/courses/"+a.text("id"), "")

	job := one.job("J").text("id")
	pack := one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`).text("id")
	s.clock.Add(1)
	one.must(201, "POST", "/transfer-packages/"+pack+"/courses", `{"courses":[{"name":"Y"}]}`)
	one.must(200, "GET", "/transfer-packages/"+pack+"/courses", "").want("1.name", "Y")
	report := one.must(201, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"courses":[%q],"jobs":[{"id":%q,"lib":"custom"}]}}`, a.text("id"), job))
	if read := one.must(200, "GET", "/reports/"+report.text("report.id"), ""); string(read.Body) != string(report.Body) {
		t.Errorf("the report was %s\nand is %s", report.Body, read.Body)
	}
	one.must(204, "DELETE", "/transfer-packages/"+pack, "")
	courses, err := usecase.All[*catalog.TransferCourse](t.Context(), s.store, "org_one", pack)
	if err != nil || len(courses) != 0 {
		t.Errorf("%d courses outlive their package, %v", len(courses), err)
	}

	extraction := one.must(202, "POST", "/syllabus-extractions", `{"text":"Students write SQL."}`).text("extractionId")
	if text, err := s.store.Text(t.Context(), "org_one", extraction); err != nil || string(text) != "Students write SQL." {
		t.Errorf("the extractor finds the text %q, %v", text, err)
	}
	if _, err := usecase.Get[*catalog.SyllabusExtraction](t.Context(), s.store, catalog.OrgID("org_one"), extraction, false); err != nil {
		t.Error(err)
	}
}
