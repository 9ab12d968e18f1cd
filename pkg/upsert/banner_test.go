package upsert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/upsert"
)

// Tables exported from Banner: courses as of several terms, and sections with blank titles whose numbers repeat in each
// term.
func TestBanner(t *testing.T) {
	f := newFixture(t)
	const summerOf2026 = catalog.Time(1_781_500_000_000)
	f.Now = func() catalog.Time { return summerOf2026 }
	f.store.Now = f.Now
	file, err := intake.OpenPath("testdata/banner", intake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := file.All()
	if err != nil {
		t.Fatal(err)
	}
	check := func(o upsert.Options, want ...int) *upsert.Summary {
		t.Helper()
		summary, err := f.Load(t.Context(), org, rows, o)
		if err != nil {
			t.Fatalf("%v: %+v", err, summary.Rejects)
		}
		if diff := cmp.Diff(want, []int{summary.Created, summary.Updated, summary.Skipped, summary.Failed}); diff != "" {
			t.Errorf("created, updated, skipped, failed: %s", diff)
		}
		return summary
	}
	check(upsert.Options{Check: true}, 7, 0, 4, 0)
	summary := check(upsert.Options{}, 7, 0, 4, 0)
	var told []string
	for _, s := range summary.Skips {
		told = append(told, s.Place+" "+s.Name+" "+s.Reason)
	}
	if diff := cmp.Diff([]string{
		"scbcrse.csv:2 WELD 110 as of 000000; superseded by scbcrse.csv:3, as of 202410",
		"scbcrse.csv:4 WELD 110 as of 202810; superseded by scbcrse.csv:3, as of 202410",
		"scbcrse.csv:6 HORT 120 as of 201510; superseded by scbcrse.csv:7, as of 202510",
		"scbcrse.csv:9 DRON 101 as of 202990; superseded by scbcrse.csv:8, as of 202890",
	}, told); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]catalog.Course{
		"WELD 110": {Name: "Shielded Metal Arc Welding", LifecycleStatus: "ACTIVE", Credits: &catalog.Credits{Min: 4, Max: 4, Unit: "SEMESTER_HOUR"}},
		"WELD 290": {Name: "Welding Practicum", LifecycleStatus: "ACTIVE", Credits: &catalog.Credits{Min: 1, Max: 6, Unit: "SEMESTER_HOUR"}},
		"HORT 120": {Name: "Greenhouse Crops", LifecycleStatus: "RETIRED", Credits: &catalog.Credits{Min: 3, Max: 3, Unit: "SEMESTER_HOUR"}},
		"DRON 101": {Name: "Drone Pilots", LifecycleStatus: "PROPOSED", Credits: &catalog.Credits{Min: 2, Max: 2, Unit: "SEMESTER_HOUR"}},
	} {
		course := f.known(catalog.CourseKind, name).(*catalog.Course)
		got := catalog.Course{Name: course.Name, LifecycleStatus: course.LifecycleStatus, Credits: course.Credits}
		if diff := cmp.Diff(want, got); diff != "" || course.Code != name || *course.ExternalID != name {
			t.Errorf("%s: %+v %s", name, course, diff)
		}
	}
	for name, title := range map[string]string{
		"202610/10234": "Shielded Metal Arc Welding", "202620/10234": "Shielded Metal Arc Welding", "202610/10235": "Practicum at Night",
	} {
		section, ok := f.known(catalog.SectionKind, name).(*catalog.Section)
		if !ok || section.Name != title || *section.ExternalID != name {
			t.Errorf("%s: %+v", name, section)
		}
	}
	if f.known(catalog.SectionKind, "10234") != nil {
		t.Error("a section is known without its term")
	}
	check(upsert.Options{}, 0, 0, 11, 0)

	// The current term is given by its code; the sections follow their course's title.
	check(upsert.Options{Term: "202810"}, 0, 3, 8, 0)
	if section := f.known(catalog.SectionKind, "202620/10234").(*catalog.Section); section.Name != "Arc and Gas Welding" {
		t.Errorf("section %s", section.Name)
	}
}

// Dates distinguish the lines of a course as terms do. A repeated date is refused.
func TestEffectiveDates(t *testing.T) {
	f := newFixture(t)
	const table = "code,name,effectiveFrom\nA 1,Old,2020-01-01\nA 1,New,01/01/2021\nA 1,Later,2999-01-01\n"
	read := func(text string) []intake.Row {
		rows, err := intake.Read(strings.NewReader(text), "courses.csv", intake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	summary, err := f.Load(t.Context(), org, read(table), upsert.Options{})
	if err != nil || summary.Created != 1 || len(summary.Skips) != 2 {
		t.Fatalf("%v %+v", err, summary)
	}
	if course := f.known(catalog.CourseKind, "A 1").(*catalog.Course); course.Name != "New" || *course.EffectiveFrom != "2021-01-01" {
		t.Errorf("course %+v", course)
	}
	summary, err = f.Load(t.Context(), org, read(table+"A 1,Twice,2021-01-01\n"), upsert.Options{})
	if err == nil || summary.Failed != 1 || !strings.Contains(summary.Rejects[0].Reason, "is already used at courses.csv:3") {
		t.Errorf("%v %+v", err, summary)
	}
}
