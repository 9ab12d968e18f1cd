package demo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// TestArticulations: both organizations have articulations in every state, as the
// tables say, and keep them at the next start.
func TestArticulations(t *testing.T) {
	l, _ := loader(t)
	ctx := t.Context()
	if _, err := l.Load(ctx); err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[catalog.ArticulationStatus]int{{"APPROVED": 9, "IN_REVIEW": 2, "DRAFT": 1, "REJECTED": 1}, {"APPROVED": 9, "IN_REVIEW": 1, "DRAFT": 1, "REJECTED": 1}} {
		org := tenants[i].organization
		got := map[catalog.ArticulationStatus]int{}
		withEvidence, superseded := 0, 0
		err := service.Each(ctx, l.Store, org, "", func(a *catalog.Articulation) error {
			got[a.Status]++
			if a.Evidence != nil {
				withEvidence++
				checkEvidence(t, a)
			}
			if a.Supersedes != nil {
				superseded++
			}
			moves, err := l.Store.Moves(ctx, org, a.ID)
			if wanted := map[catalog.ArticulationStatus]int{"DRAFT": 0, "IN_REVIEW": 1, "APPROVED": 2, "REJECTED": 2}[a.Status]; len(moves) != wanted {
				t.Errorf("%s is %s by %d moves, %v", a.ID, a.Status, len(moves), err)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || withEvidence < 2 || superseded != 1 {
			t.Errorf("%s: %d with evidence, %d supersede another%s", org, withEvidence, superseded, diff)
		}
		checkDecisionsAreTold(t, l, org, want[catalog.ArticulationApproved]+want[catalog.ArticulationRejected])
	}
	checkDecisionsStay(t, l)
}

// checkDecisionsAreTold: the change feed, of which webhooks are sent their messages, says of
// each approval and rejection that it was decided.
func checkDecisionsAreTold(t *testing.T, l Loader, org catalog.OrgID, want int) {
	t.Helper()
	decided := map[string]bool{}
	for cursor, more := "", true; more; {
		var changes []catalog.RecordChange
		var err error
		if changes, more, err = l.Store.Changes(t.Context(), org, cursor, 100); err != nil {
			t.Fatal(err)
		}
		for _, change := range changes {
			cursor = change.Cursor.String()
			if change.Event == catalog.ArticulationDecided {
				decided[change.ID] = true
			}
		}
	}
	if len(decided) != want {
		t.Errorf("%s: %d decisions are told, want %d", org, len(decided), want)
	}
}

func checkEvidence(t *testing.T, a *catalog.Articulation) {
	t.Helper()
	e := a.Evidence
	if e.SkillsMatchScore <= 0 || len(e.SkillMatches) == 0 || e.CourseID != *a.Receiving[0].CourseID || e.Extraction.TransferCourse == nil || e.Extraction.TransferCourse.DocumentSHA256 == "" {
		t.Errorf("evidence %+v", e)
	}
	t.Logf("%s: %v %s", a.Sending[0].Courses[0].Code, e.SkillsMatchScore, e.Equivalence)
}

// checkDecisionsStay: what people do to the demo's articulations stays at the next start.
func checkDecisionsStay(t *testing.T, l Loader) {
	t.Helper()
	ctx := t.Context()
	org := tenants[0].organization
	known, err := l.Store.Known(ctx, org, catalog.ArticulationKind, []string{"AB-01", "AB-12"})
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]catalog.Articulation{}
	var change catalog.Change
	for name, x := range known {
		a := x.Record.(*catalog.Articulation)
		was := *a
		a.PublicNote = new("by people")
		catalog.ReplaceChanged(&change, was, a, l.Store.Now())
		before[name] = *a
	}
	if err := l.Store.Commit(ctx, org, &change); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Load(ctx); err != nil {
		t.Fatal(err)
	}
	_, total, err := l.Store.Articulations(ctx, org, catalog.ArticulationFilter{}, 0, 1)
	if err != nil || total != 13 {
		t.Errorf("%d articulations, %v", total, err)
	}
	known, err = l.Store.Known(ctx, org, catalog.ArticulationKind, []string{"AB-01", "AB-12"})
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range known {
		if diff := cmp.Diff(before[name], *x.Record.(*catalog.Articulation)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestArticulationsWithoutSyllabi: where the documents are not served, names and
// descriptions are compared.
func TestArticulationsWithoutSyllabi(t *testing.T) {
	l, _ := loader(t)
	l.Syllabi = ""
	if _, err := l.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range tenants {
		_, approved, err := l.Store.Articulations(t.Context(), tenant.organization, catalog.ArticulationFilter{Status: catalog.ArticulationApproved}, 0, 1)
		if err != nil || approved != 9 {
			t.Errorf("%s: %d are approved, %v", tenant.name, approved, err)
		}
	}
}

// TestDemoArticulationsKeepTheRules: every row of the tables is taken, and grants courses
// of the demo's catalogs.
func TestDemoArticulationsKeepTheRules(t *testing.T) {
	l, _ := loader(t)
	if _, err := l.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, tenant := range tenants {
		text, err := decisions.ReadFile("articulations/" + strings.TrimSuffix(tenant.file, ".json") + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]bool{}
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
			id, _, _ := strings.Cut(line, ",")
			rows[id] = true
		}
		names := make([]string, 0, len(rows))
		for id := range rows {
			names = append(names, id)
		}
		known, err := l.Store.Known(t.Context(), tenant.organization, catalog.ArticulationKind, names)
		if err != nil || len(known) != len(rows) || len(rows) < 12 {
			t.Errorf("%s: %d of %d are there, %v", tenant.name, len(known), len(rows), err)
		}
	}
}
