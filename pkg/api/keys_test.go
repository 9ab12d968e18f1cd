package api

import (
	"slices"
	"testing"

	"skillscurriculum/pkg/catalog"
)

func TestPartitionKeys(t *testing.T) {
	for _, c := range []struct {
		rows   Partition
		values []string
		key    string
	}{
		{CustomerRows, nil, "customers"},
		{RecordRows(catalog.CourseKind), []string{"org_1"}, "o#org_1#Course"},
		{RecordRows(catalog.CourseKind).Deleted(), []string{"org_1"}, "o#org_1#Course!"},
		{RecordRows(catalog.TransferCourseKind), []string{"org_1", "tpk_2"}, "o#org_1#TransferCourse#tpk_2"},
		{DataRows, []string{"wages", "*"}, "r#wages#*"},
	} {
		if got := c.rows.Key(c.values...); got != c.key || !c.rows.Holds(got) {
			t.Errorf("%s of %v is %s, want %s", c.rows, c.values, got, c.key)
		}
		for _, wrong := range [][]string{append(slices.Clone(c.values), "more"), c.values[:max(0, len(c.values)-1)]} {
			func() {
				defer func() {
					if recover() == nil && len(wrong) != len(c.values) {
						t.Errorf("%s takes %v", c.rows, wrong)
					}
				}()
				c.rows.Key(wrong...)
			}()
		}
	}
	for rows, key := range map[Partition]string{
		RecordRows(catalog.CourseKind): "o#org_1#Course!", CustomerRows: "customers2", KeyRows: "u#1", DataVersionRows: "r#wages#1", CustomerKeyRows: "c#1",
	} {
		if rows.Holds(key) {
			t.Errorf("%s holds %s", rows, key)
		}
	}
}

// No function writes what operators write, and workers, which read what strangers
// send, do not even read keys.
func TestFunctionsLeaveOperatorsRowsAlone(t *testing.T) {
	operators := []string{OrganizationRows.Key(), CustomerRows.Key(), CustomerKeyRows.Key("c"), KeyRows.Key("h"), DataVersionRows.Key(), DataRows.Key("wages", "1")}
	workers := []string{Extractor, Sweeper, Deliverer}
	for _, function := range Functions() {
		rows := RowsOf(function)
		for _, key := range operators {
			if rows.MayWrite(key) {
				t.Errorf("%s may write %s", function, key)
			}
			if slices.Contains(workers, function) && rows.MayRead(key) {
				t.Errorf("%s may read %s", function, key)
			}
		}
	}
}

func TestOrganizationOfAKey(t *testing.T) {
	for key, want := range map[string]catalog.OrgID{
		"o#org_1#journal": "org_1", "o#org_1#journal!": "", "o##journal": "", "o#org_1#message#journal": "", "u#org_1#journal": "",
	} {
		if got, ok := JournalRows.Organization(key); ok != (want != "") || ok && got != want {
			t.Errorf("%s is %s's, %v", key, got, ok)
		}
	}
}
