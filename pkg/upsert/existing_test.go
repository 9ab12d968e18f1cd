package upsert_test

import (
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/upsert"
)

// Rows that name records by code or external id, as codes are compared, change those and create none.
func TestExistingRecordsAreFoundAsCodesAre(t *testing.T) {
	f := newFixture(t)
	f.load(`{"courses":[
		{"externalId":"77","code":"BIO 101","name":"Biology","sections":[{"externalId":"F-26.1","name":"Evening"},{"externalId":"F-26.2","name":"Morning"}]},
		{"externalId":"MATH-1","code":"M 1","name":"Algebra"},{"externalId":"x","code":"T 1","name":"One"},{"externalId":"y","code":"T-1","name":"Two"}]}`, upsert.Options{}, 6, 0, 0, 0)
	load := func(kind catalog.Kind, names string, want ...int) *upsert.Summary {
		t.Helper()
		var rows []intake.Row
		for i, name := range strings.Split(names, ",") {
			rows = append(rows, intake.Row{
				Place: name + string(rune('a'+i)), Kind: kind, Name: name, Existing: true, Fields: map[string]any{"syllabusHref": "https://example.com/" + name + ".pdf"},
			})
		}
		summary, err := f.Load(t.Context(), org, rows, upsert.Options{KeepGoing: true})
		if err != nil || summary.Created != want[0] || summary.Updated != want[1] || summary.Skipped != want[2] || summary.Failed != want[3] {
			t.Errorf("%s: %+v, %v", names, summary, err)
		}
		return summary
	}
	load(catalog.CourseKind, "bio-101,MATH1", 0, 2, 0, 0)
	load(catalog.CourseKind, "bio-101,MATH1", 0, 0, 2, 0)
	load(catalog.SectionKind, "f26.1,f262", 0, 2, 0, 0)
	for names, reason := range map[string]string{"T1": "exactly one course", "CHEM 1": "exactly one course"} {
		if s := load(catalog.CourseKind, names, 0, 0, 0, 1); !strings.Contains(s.Rejects[0].Reason, reason) {
			t.Errorf("%+v", s.Rejects)
		}
	}
	if s := load(catalog.CourseKind, "M 1,math-1", 0, 1, 0, 1); !strings.Contains(s.Rejects[0].Reason, "another row") {
		t.Errorf("%+v", s.Rejects)
	}
	for name, href := range map[string]string{"F-26.1": "f26.1", "F-26.2": "f262"} {
		section := f.known(catalog.SectionKind, name).(*catalog.Section)
		if section.SyllabusHref == nil || *section.SyllabusHref != "https://example.com/"+href+".pdf" || section.ProcessingStatus != catalog.Pending {
			t.Errorf("%+v", section)
		}
	}
	if f.total() != 4 {
		t.Errorf("%d courses", f.total())
	}
}

// Rows without the name of a course fail. Where a table has no external ids, none is asked for.
func TestRowsWithoutACourse(t *testing.T) {
	for name, text := range map[string]string{
		"sections.csv": "externalId,courseExternalId,name\n1,,A\n", "courses.csv": "code,name\n,Algebra\n",
	} {
		f := newFixture(t)
		rows, err := intake.Read(strings.NewReader(text), name, intake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		summary, err := f.Load(t.Context(), org, rows, upsert.Options{KeepGoing: true})
		if err != nil || summary.Failed != 1 || strings.Contains(summary.Rejects[0].Reason, "externalId") {
			t.Errorf("%s: %+v, %v", name, summary, err)
		}
	}
}
