package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

func TestIssues(t *testing.T) {
	const today = "2026-03-01"
	three, four := &catalog.Credits{Min: 3, Max: 3, Unit: "SEMESTER_HOUR"}, &catalog.Credits{Min: 3, Max: 4.5, Unit: "SEMESTER_HOUR"}
	for name, test := range map[string]struct {
		articulation func(a *catalog.Articulation)
		course       func(c *catalog.Course)
		document     string
		want         []catalog.IssueKind
	}{
		"as it was":               {nil, nil, "abc", nil},
		"retired":                 {nil, func(c *catalog.Course) { c.LifecycleStatus = "RETIRED" }, "abc", []catalog.IssueKind{"COURSE_RETIRED"}},
		"deleted":                 {nil, func(c *catalog.Course) { c.ID = "crs_2" }, "abc", []catalog.IssueKind{"COURSE_RETIRED"}},
		"another name":            {nil, func(c *catalog.Course) { c.Name = "x" }, "abc", []catalog.IssueKind{"COURSE_RENAMED"}},
		"another code":            {nil, func(c *catalog.Course) { c.Code = "x" }, "abc", []catalog.IssueKind{"COURSE_RENAMED"}},
		"more credits":            {nil, func(c *catalog.Course) { c.Credits = four }, "abc", []catalog.IssueKind{"CREDITS_CHANGED"}},
		"no credits":              {nil, func(c *catalog.Course) { c.Credits = nil }, "abc", []catalog.IssueKind{"CREDITS_CHANGED"}},
		"equal credits":           {nil, func(c *catalog.Course) { c.Credits = new(*three) }, "abc", nil},
		"another syllabus":        {nil, nil, "def", []catalog.IssueKind{"SYLLABUS_CHANGED"}},
		"no syllabus":             {nil, nil, "", []catalog.IssueKind{"SYLLABUS_CHANGED"}},
		"skills by hand":          {func(a *catalog.Articulation) { a.Evidence.Extraction.Section = nil }, nil, "def", nil},
		"without evidence":        {func(a *catalog.Articulation) { a.Evidence = nil }, nil, "def", nil},
		"review tomorrow":         {func(a *catalog.Articulation) { a.ReviewAfter = new("2026-03-02") }, nil, "abc", nil},
		"review today":            {func(a *catalog.Articulation) { a.ReviewAfter = new(today) }, nil, "abc", nil},
		"review yesterday":        {func(a *catalog.Articulation) { a.ReviewAfter = new("2026-02-28") }, nil, "abc", []catalog.IssueKind{"REVIEW_DUE"}},
		"ends today":              {func(a *catalog.Articulation) { a.EffectiveTo = new(today) }, nil, "abc", []catalog.IssueKind{"EXPIRING"}},
		"ends in 90 days":         {func(a *catalog.Articulation) { a.EffectiveTo = new("2026-05-30") }, nil, "abc", []catalog.IssueKind{"EXPIRING"}},
		"ends in 91 days":         {func(a *catalog.Articulation) { a.EffectiveTo = new("2026-05-31") }, nil, "abc", nil},
		"ended":                   {func(a *catalog.Articulation) { a.EffectiveTo, a.ReviewAfter = new("2026-02-28"), new("2020-01-01") }, nil, "def", nil},
		"not approved":            {func(a *catalog.Articulation) { a.Status = catalog.ArticulationInReview }, func(c *catalog.Course) { c.Name = "x" }, "def", nil},
		"to come":                 {func(a *catalog.Articulation) { a.EffectiveFrom = "2027-01-01" }, func(c *catalog.Course) { c.Name = "x" }, "abc", []catalog.IssueKind{"COURSE_RENAMED"}},
		"everything, in an order": {func(a *catalog.Articulation) { a.EffectiveTo, a.ReviewAfter = new(today), new("2020-01-01") }, func(c *catalog.Course) { c.Name, c.Credits, c.LifecycleStatus = "x", four, "RETIRED" }, "def", []catalog.IssueKind{"COURSE_RETIRED", "COURSE_RENAMED", "CREDITS_CHANGED", "SYLLABUS_CHANGED", "REVIEW_DUE", "EXPIRING"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := art("art_1", "2026-01-01", "A")
			a.Granted = []catalog.CourseStamp{{CourseID: "crs_1", Code: "CIS 1", Name: "Computing", Credits: three}}
			a.Evidence = &catalog.DecisionEvidence{CourseID: "crs_1", SectionID: "sec_1", Extraction: catalog.ExtractionStamps{Section: &catalog.Provenance{DocumentSHA256: "abc"}}}
			c := &catalog.Course{Meta: catalog.Meta{ID: "crs_1"}, Code: "CIS 1", Name: "Computing", Credits: three, LifecycleStatus: "ACTIVE"}
			if test.articulation != nil {
				test.articulation(a)
			}
			if test.course != nil {
				test.course(c)
			}
			var got []catalog.IssueKind
			for _, issue := range a.Issues(catalog.GrantedNow{Courses: map[string]*catalog.Course{c.ID: c}, Document: test.document}, today) {
				if issue.ArticulationID != "art_1" || issue.Detail == "" {
					t.Errorf("%+v", issue)
				}
				got = append(got, issue.Issue)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	a := art("art_1", "2026-01-01", "A")
	a.Granted = []catalog.CourseStamp{{CourseID: "crs_1", Code: "CIS 1", Name: "Computing", Credits: three}}
	c := &catalog.Course{Meta: catalog.Meta{ID: "crs_1"}, Code: "CIS 1", Name: "Computing", Credits: four}
	issues := a.Issues(catalog.GrantedNow{Courses: map[string]*catalog.Course{"crs_1": c}}, today)
	if want := "Course crs_1 (CIS 1 Computing) had 3 SEMESTER_HOUR and has 3 to 4.5 SEMESTER_HOUR."; len(issues) != 1 || issues[0].Detail != want {
		t.Errorf("%+v, want %s", issues, want)
	}
}
