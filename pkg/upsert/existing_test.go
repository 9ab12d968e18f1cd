package upsert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// csv imports a table, whose name tells its records, and compares the counts: created, updated, skipped, failed.
func (f *fixture) csv(name, text string, o upsert.Options, want ...int) *upsert.Summary {
	f.t.Helper()
	rows, err := intake.Read(strings.NewReader(text), name, intake.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	summary, err := f.Load(f.t.Context(), org, rows, o)
	if err != nil {
		f.t.Fatal(err)
	}
	if diff := cmp.Diff(want, []int{summary.Created, summary.Updated, summary.Skipped, summary.Failed}); diff != "" {
		f.t.Errorf("%s: created, updated, skipped, failed: %s%v", text, diff, summary.Rejects)
	}
	return summary
}

// A blank cell of a field that its record needs is refused for known records as for new ones, in the words of a request;
// one of an optional field empties it, and one of a field that always has a value leaves it alone.
func TestBlankCellsOfKnownRecords(t *testing.T) {
	f := newFixture(t)
	goOn := upsert.Options{KeepGoing: true}
	for _, c := range []struct{ name, known, blank, reason string }{
		{"courses.csv", "externalId,code,name\nkk,KK,Known\n", "externalId,code,name\nkk,,\n", "code: expected length >= 1 (); name: expected length >= 1 ()"},
		{"courses.csv", "id,subject,number,name\nk2,BIO,101,Known\n", "id,subject,number,name\nk2,BIO,,Known\n", "code: expected length >= 1 ()"},
		{"jobs.csv", "externalId,name,employerId\nj,Welder,Shop\n", "externalId,name,employerId\nj,,\n", "employerId: expected length >= 1 (); name: expected length >= 1 ()"},
		{"programs.csv", "externalId,name\np,Nursing\n", "externalId,name\np,\n", "name: expected length >= 1 ()"},
	} {
		f.csv(c.name, c.known, goOn, 1, 0, 0, 0)
		if s := f.csv(c.name, c.blank, goOn, 0, 0, 0, 1); s.Rejects[0].Reason != c.reason {
			t.Errorf("%s: %s", c.blank, s.Rejects[0].Reason)
		}
		if s := f.csv(c.name, strings.NewReplacer("\nkk", "\nnew", "\nk2", "\nnew", "\nj", "\nnew", "\np", "\nnew").Replace(c.blank), goOn, 0, 0, 0, 1); s.Rejects[0].Reason != c.reason {
			t.Errorf("new: %s", s.Rejects[0].Reason)
		}
	}
	f.csv("courses.csv", "externalId,code,name,description,lifecycleStatus\nr,R,Gone,D,RETIRED\n", goOn, 1, 0, 0, 0)
	f.csv("courses.csv", "externalId,code,name,description,lifecycleStatus\nr,R,Gone,,\n", goOn, 0, 1, 0, 0)
	if c := f.known(catalog.CourseKind, "r").(*catalog.Course); c.Description != nil || c.LifecycleStatus != catalog.RetiredCourse {
		t.Errorf("%+v", c)
	}
	f.csv("programs.csv", "externalId,name,code\nq,Law,L\n", goOn, 1, 0, 0, 0)
	f.csv("programs.csv", "externalId,name,code\nq,Law,\n", goOn, 0, 1, 0, 0)
	if p := f.known(catalog.ProgramKind, "q").(*catalog.Program); p.Code != nil {
		t.Errorf("%+v", p)
	}
}

// A section finds its course by external id or else by its code, be the course known or new in the same file; a code that
// several have is refused.
func TestSectionsFindCoursesByCode(t *testing.T) {
	const courses = "externalId,code,name\n77,BIO 101,Biology\n78,M 1,Algebra\nx,T 1,One\ny,T-1,Two\nM 2,M 3,Named so\nz,M 2,Other\n"
	const sections = "CRN,Course Code,Section Title\n1,bio-101,A\n2,77,B\n3,BIO 101,C\n4,T1,D\n5,M 2,E\n6,CHEM 1,F\n"
	const banner = "SSBSECT_TERM_CODE,SSBSECT_CRN,SSBSECT_SUBJ_CODE,SSBSECT_CRSE_NUMB,SSBSECT_CRSE_TITLE\n202710,7,M,1,G\n"
	read := func(name, text string) []intake.Row {
		rows, err := intake.Read(strings.NewReader(text), name, intake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	f := newFixture(t)
	var all []intake.Row
	for name, text := range map[string]string{"courses.csv": courses, "sections.csv": sections, "ssbsect.csv": banner} {
		all = append(all, read(name, text)...)
	}
	check := func(rows []intake.Row, o upsert.Options, want ...int) {
		t.Helper()
		s, err := f.Load(t.Context(), org, rows, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, []int{s.Created, s.Updated, s.Skipped, s.Failed}); diff != "" {
			t.Errorf("created, updated, skipped, failed: %s%v", diff, s.Rejects)
		}
		for _, r := range s.Rejects {
			if want := map[string]string{
				"4": "courseExternalId: several courses have the code; name one by its external id (T1)",
				"6": "courseExternalId: no course has the external id or code (CHEM 1)",
			}[r.Name]; r.Reason != want {
				t.Errorf("%s: %s", r.Name, r.Reason)
			}
		}
	}
	check(all, upsert.Options{Check: true}, 11, 0, 0, 2)
	check(all, upsert.Options{KeepGoing: true}, 11, 0, 0, 2)
	check(all, upsert.Options{KeepGoing: true}, 0, 0, 11, 2)
	for section, course := range map[string]string{"1": "77", "2": "77", "3": "77", "5": "M 2", "202710/7": "78"} {
		if got := f.known(catalog.SectionKind, section).(*catalog.Section); got.CourseID != f.known(catalog.CourseKind, course).Base().ID {
			t.Errorf("section %s is of %s", section, got.CourseID)
		}
	}
	// Codes that the file changes are those it leaves behind.
	moved := append(read("courses.csv", "externalId,code,name\n78,N 1,Algebra\nx,T 2,One\n"), read("sections.csv", "CRN,Course Code,Section Title\n8,T 1,H\n9,N1,I\n")...)
	check(moved, upsert.Options{Check: true}, 2, 2, 0, 0)
	check(moved, upsert.Options{}, 2, 2, 0, 0)
}
