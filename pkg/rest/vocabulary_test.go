package rest_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/skills"
)

// What rests on skills that another taxonomy had says so, with counts; nothing else
// changes, and nothing is said where all are known.
func TestSkillsNotInTaxonomy(t *testing.T) {
	t.Parallel()
	var builder skills.Builder
	if err := builder.AddCSV(skills.Info{Name: "Other", Version: "2"}, strings.NewReader("id,name\ncore:sql,SQL\nother:welding,welding\n")); err != nil {
		t.Fatal(err)
	}
	compiled, err := builder.Compile()
	if err != nil {
		t.Fatal(err)
	}
	other, err := skills.Open(compiled)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	s := newService(t, func(s *rest.Server) { s.Log = slog.New(slog.NewJSONHandler(&lines, nil)) })
	one := s.one
	course := one.course("Databases")
	section := "/courses/" + course.text("id") + "/sections/" + course.text("defaultSectionId")
	one.must(200, "PATCH", section, `{"skills":[{"skillId":"core:sql","level":3},{"skillId":"core:python","level":2}]}`)
	pack := "/transfer-packages/" + one.must(201, "POST", "/transfer-packages", `{"name":"P","transferFromInstitution":"I","courses":[{"name":"X"}]}`).text("id")
	done := s.queue.sent[0]
	s.finish(done, &catalog.ExtractionResult{Skills: []catalog.SkillRef{{SkillID: "core:python", SkillName: "Python", Level: 2, Confidence: 1}, {SkillID: "core:java", SkillName: "Java", Level: 2, Confidence: 1}}, Text: "Python"})
	job := one.must(201, "POST", "/jobs", `{"name":"J","employerId":"e","onetSocCode":"15-1252","skills":[{"skillId":"core:java","level":3},{"skillId":"core:python","level":1}]}`).text("id")
	reports := map[string]string{}
	for _, view := range []string{"alignment", "coverage", "gap", "market"} {
		reports[view] = "/reports/" + one.must(201, "POST", "/reports", fmt.Sprintf(`{"name":"R","settings":{"courses":[%q],"jobs":[{"id":%q,"lib":"custom"}],"view":%q}}`, course.text("id"), job, view)).text("report.id")
	}
	builderBody := fmt.Sprintf(`{"jobIdentifiers":[{"id":%q,"lib":"custom"}]}`, job)
	calls := [][3]string{
		{"POST", pack + "/courses/" + done.ID + "/equivalencies", ""}, {"POST", pack + "/equivalencies", ""}, {"POST", "/credential-builder", builderBody},
		{"GET", reports["alignment"], ""}, {"GET", reports["coverage"], ""}, {"GET", reports["gap"], ""}, {"GET", reports["market"], ""},
	}
	for _, c := range calls {
		var none any = absent{}
		if c[0] == "GET" { // reports always list them
			none = []any{}
		}
		one.must(200, c[0], c[1], c[2]).want("warnings", none)
	}
	if text := lines.String(); !strings.Contains(text, `"level":"INFO","msg":"skills in use"`) || !strings.Contains(text, `"inUse":2,"known":2`) {
		t.Errorf("the log does not say what is known: %s", text)
	}

	lines.Reset()
	s.server.Taxonomy = func() *skills.Taxonomy { return other }
	one.course("moves the feed")
	for i, counts := range [][2]int{{2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}, {2, 3}} {
		r := one.must(200, calls[i][0], calls[i][1], calls[i][2])
		r.want("warnings.0.code", "skills_not_in_taxonomy")
		r.want("warnings.0.count", counts[0])
		r.want("warnings.0.total", counts[1])
		r.want("warnings.1", absent{})
		if message := r.text("warnings.0.message"); !strings.Contains(message, "2 of the 3 skills") || !strings.Contains(message, "Other") {
			t.Errorf("%s: %s", r.call, message)
		}
	}
	one.must(200, "GET", reports["market"], "").want("warnings", []any{})
	if page := string(one.must(200, "GET", reports["gap"]+"?format=html", "").Body); !strings.Contains(page, "2 of the 3 skills") {
		t.Error("the page does not say it")
	}
	if text := lines.String(); !strings.Contains(text, `"level":"WARN","msg":"skills in use","organization":"org_one","taxonomy":"Other","taxonomyVersion":"2","inUse":2,"known":1`) {
		t.Errorf("the log does not warn: %s", text)
	}
	// Exact matches of skills that the taxonomy lacks still count.
	one.must(200, "POST", pack+"/courses/"+done.ID+"/equivalencies", "").want("matches.0.courseSectionId", course.get("defaultSectionId"))
}
