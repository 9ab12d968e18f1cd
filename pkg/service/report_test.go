package service_test

import (
	"context"
	"fmt"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
)

// grown has one program with some courses, and a report about it.
type grown struct {
	service.Store
	courses int
}

func (g grown) ids() (ids []string) {
	for i := range g.courses {
		ids = append(ids, fmt.Sprintf("crs_%d", i))
	}
	return ids
}

func (g grown) Record(
	context.Context, catalog.OrgID, catalog.Kind, string, string, bool,
) (catalog.Record, error) {
	return &catalog.Report{Settings: catalog.ReportSettings{Programs: []string{"prg_1"}, Courses: []string{"crs_own"}}}, nil
}

func (g grown) RecordsByID(
	_ context.Context, _ catalog.OrgID, kind catalog.Kind, ids []string, _ bool,
) (map[string]catalog.Record, error) {
	found := map[string]catalog.Record{}
	for _, id := range ids {
		if kind == catalog.ProgramKind {
			found[id] = &catalog.Program{CourseOrder: g.ids()}
		} else {
			found[id] = &catalog.Course{Meta: catalog.Meta{ID: id}}
		}
	}
	return found, nil
}

// TestReportBound compares at most 200 courses: a new report is refused, one whose programs have grown warns.
func TestReportBound(t *testing.T) {
	for courses, over := range map[int]bool{199: false, 200: true} {
		c := service.Actor{Store: grown{courses: courses}, Market: labor.Starter(), Taxonomy: skills.Starter}
		report, err := c.Report(t.Context(), "rpt_1", "")
		if err != nil {
			t.Fatal(err)
		}
		result := report.Result()
		shown := len(result.LookupData.CourseProfiles)
		warned := false
		for _, w := range result.Warnings {
			if w.Code == catalog.TooManyCourses {
				warned = w.Count == 1 && w.Total == 201
			}
		}
		if shown != 200 || warned != over || result.LookupData.CourseProfiles[0].CourseID != "crs_own" {
			t.Errorf("%d courses: %d shown, warned %v", courses+1, shown, warned)
		}
		in := catalog.ReportInput{Settings: catalog.ReportSettingsInput{Programs: []string{"prg_1"}, Courses: []string{"crs_own"}}}
		if over {
			if _, _, err := c.CreateReport(t.Context(), in); err == nil {
				t.Error("a report of 201 courses is created")
			}
		}
	}
}
