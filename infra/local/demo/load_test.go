package demo

import (
	"context"
	"crypto/rand"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum"
	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/skillsctl/keyring"
	"skillscurriculum/pkg/boot/group/printing"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
)

type jobs struct{ sent []catalog.ExtractionJob }

func (q *jobs) Send(_ context.Context, sent []catalog.ExtractionJob) error {
	q.sent = append(q.sent, sent...)
	return nil
}

func TestMain(m *testing.M) { dynamotest.Main(m) }

func loader(t *testing.T) (Loader, *jobs) {
	t.Helper()
	store := dynamotest.NewStore(t)
	queue := &jobs{}
	return Loader{
		Store: store, Queue: queue, Market: labor.Starter(), Keyring: &keyring.Keyring{Store: store, Now: store.Now, IDs: catalog.IDs{Random: rand.Reader}}, Syllabi: "http://127.0.0.1:3001/", Keys: filepath.Join(t.TempDir(), "keys.json"),
	}, queue
}

func TestLoad(t *testing.T) {
	l, queue := loader(t)
	ctx := t.Context()
	first, err := l.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Customers) != 2 || first.Customers[0].OrganizationID == first.Customers[1].OrganizationID {
		t.Fatalf("customers %v", first.Customers)
	}
	checkLoaded(t, l, first)
	if len(queue.sent) != 69 {
		t.Errorf("%d extractions are queued", len(queue.sent))
	}
	checkExamples(t, l, first)
	checkSecondLoad(t, l, first)
	if len(queue.sent) != 69 {
		t.Errorf("%d extractions are queued after the second load", len(queue.sent))
	}

	// Keys that are lost are replaced.
	if err := os.Remove(l.Keys); err != nil {
		t.Fatal(err)
	}
	third, err := l.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if third.Customers[0].APIKey == first.Customers[0].APIKey {
		t.Error("a lost key came back")
	}
	if key, err := l.Store.Key(ctx, catalog.HashSecret(first.Customers[0].APIKey)); err != nil || key.Live(l.Store.Now()) {
		t.Errorf("the lost key is live: %v %v", key, err)
	}
}

// checkLoaded checks the customers' records and keys.
func checkLoaded(t *testing.T, l Loader, first stack.Demo) {
	t.Helper()
	ctx := t.Context()
	totals := map[string]int{}
	for _, c := range first.Customers {
		org := catalog.OrgID(c.OrganizationID)
		_, totals[c.Name+" courses"], _ = service.List[*catalog.Course](ctx, l.Store, org, 0, 1)
		_, totals[c.Name+" programs"], _ = service.List[*catalog.Program](ctx, l.Store, org, 0, 1)
		_, totals[c.Name+" credentials"], _ = service.List[*catalog.Credential](ctx, l.Store, org, 0, 1)
		_, totals[c.Name+" jobs"], _ = service.List[*catalog.Job](ctx, l.Store, org, 0, 1)
		_, totals[c.Name+" packages"], _ = service.List[*catalog.TransferPackage](ctx, l.Store, org, 0, 1)
		for name, scope := range map[string]catalog.Scope{c.APIKey: catalog.WriteScope, c.ReadOnlyAPIKey: catalog.ReadScope} {
			key, err := l.Store.Key(ctx, catalog.HashSecret(name))
			if err != nil || key == nil || key.Scope != scope || string(key.CustomerID) != c.CustomerID {
				t.Errorf("key of scope %s: %v %v", scope, key, err)
			}
		}
	}
	want := map[string]int{
		"Alder Bay University courses": 16, "Alder Bay University programs": 3, "Alder Bay University credentials": 2,
		"Alder Bay University jobs": 8, "Alder Bay University packages": 2,
		"Quarry Falls Technical College courses": 25, "Quarry Falls Technical College programs": 6, "Quarry Falls Technical College credentials": 2,
		"Quarry Falls Technical College jobs": 8, "Quarry Falls Technical College packages": 2,
	}
	if diff := cmp.Diff(want, totals); diff != "" {
		t.Error(diff)
	}
}

func checkExamples(t *testing.T, l Loader, first stack.Demo) {
	t.Helper()
	ctx := t.Context()
	org := catalog.OrgID(first.Customers[0].OrganizationID)
	section, err := service.Get[*catalog.Section](ctx, l.Store, org, first.Examples.SectionID, true)
	if err != nil || section.CourseID != first.Examples.CourseID || len(section.Skills) == 0 {
		t.Errorf("example section %v %v", section, err)
	}
	program, err := service.Get[*catalog.Program](ctx, l.Store, org, first.Examples.ProgramID, true)
	if err != nil || len(program.CourseOrder) != 8 || len(program.DerivedSOCs) == 0 || program.Contains(first.Examples.CourseID) {
		t.Errorf("example program %v %v", program, err)
	}
	credential, err := service.Get[*catalog.Credential](ctx, l.Store, org, first.Examples.CredentialID, true)
	if err != nil || len(credential.Sections) != 3 {
		t.Errorf("example credential %v %v", credential, err)
	}
}

// checkSecondLoad checks that what people do to the demo stays at the next start.
func checkSecondLoad(t *testing.T, l Loader, first stack.Demo) {
	t.Helper()
	ctx := t.Context()
	org := catalog.OrgID(first.Customers[0].OrganizationID)
	job, err := service.Get[*catalog.Job](ctx, l.Store, org, first.Examples.JobID, true)
	if err != nil {
		t.Fatal(err)
	}
	var change catalog.Change
	before := *job
	job.Name = "Renamed"
	change.Replace(&before, job, l.Store.Now())
	course, err := service.Get[*catalog.Course](ctx, l.Store, org, first.Examples.CourseID, true)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := l.Store.Directory(ctx, org, catalog.CourseKind)
	if err != nil {
		t.Fatal(err)
	}
	change.Delete(course, l.Store.Now(), dir)
	if err := l.Store.Commit(ctx, org, &change); err != nil {
		t.Fatal(err)
	}
	second, err := l.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.Customers, second.Customers); diff != "" {
		t.Errorf("second load: %s", diff)
	}
	if first.Examples.CourseID == second.Examples.CourseID || second.Examples.CourseID == "" || first.Examples.JobID != second.Examples.JobID {
		t.Errorf("examples %v, then %v", first.Examples, second.Examples)
	}
	if job, err := service.Get[*catalog.Job](ctx, l.Store, org, first.Examples.JobID, true); err != nil || job.Name != "Renamed" {
		t.Errorf("job %v %v", job, err)
	}
	if _, total, err := service.List[*catalog.Course](ctx, l.Store, org, 0, 1); total != 15 || err != nil {
		t.Errorf("%d courses %v", total, err)
	}
}

// TestParameters: what takes the place of the contract's examples is there, stays the same
// from start to start, and is left out once people have deleted it.
func TestParameters(t *testing.T) {
	l, queue := loader(t)
	ctx := t.Context()
	loaded, err := l.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	jobs := len(queue.sent)
	first, err := l.Parameters(ctx, loaded)
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 4+len(named)+len(promises)+len(asked)+6 {
		t.Errorf("%d parameters: %v", len(first), first)
	}
	if _, err := printing.WithExamples(skillscurriculum.OpenAPI, first); err != nil {
		t.Error(err)
	}
	for parameter, value := range first {
		if value == "" {
			t.Errorf("%s is empty", parameter)
		}
	}
	org := catalog.OrgID(loaded.Customers[0].OrganizationID)
	course, err := service.Get[*catalog.Course](ctx, l.Store, org, first["getCourse.courseId"], true)
	if err != nil || len(course.HeldBy) > 0 {
		t.Fatalf("course %v, %v", course, err)
	}
	link, err := l.Store.Link(ctx, catalog.HashSecret(first["getSharedReport.token"]))
	if err != nil || link.RecordID != first["getReport.reportId"] || link.KeyHash != catalog.HashSecret(loaded.Customers[0].APIKey) {
		t.Errorf("link %v, %v", link, err)
	}

	dir, err := l.Store.Directory(ctx, org, catalog.CourseKind)
	if err != nil {
		t.Fatal(err)
	}
	var change catalog.Change
	change.Delete(course, l.Store.Now(), dir)
	if err := l.Store.Commit(ctx, org, &change); err != nil {
		t.Fatal(err)
	}
	second, err := l.Parameters(ctx, loaded)
	if err != nil {
		t.Fatal(err)
	}
	for _, changed := range []string{"getCourse.courseId", "reviewCourseOutcomeSkill.outcomeId", "getSharedReport.token", "getSharedArticulation.token", "getSharedProgramMap.token"} {
		if first[changed] == second[changed] {
			t.Errorf("%s is still %s", changed, second[changed])
		}
		delete(first, changed)
		delete(second, changed)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the second start: %s", diff)
	}
	if len(queue.sent) != jobs+1 {
		t.Errorf("%d extractions are queued for the examples", len(queue.sent)-jobs)
	}
}

// Every document of the demo is there and is referred to, but for the one that is to fail.
func TestSyllabiOfTransferCourses(t *testing.T) {
	unused := map[string]bool{}
	entries, err := fs.ReadDir(Syllabi(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		unused[entry.Name()] = true
	}
	for _, tenant := range tenants {
		rows, err := Loader{Syllabi: "http://host/"}.rows(tenant.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			if href, ok := row.Fields["syllabusHref"].(string); ok {
				name := strings.TrimPrefix(href, "http://host/")
				if _, err := fs.Stat(Syllabi(), name); (err == nil) == (name == "college-writing.txt") {
					t.Errorf("%s: %v", row.Place, err)
				}
				delete(unused, name)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("nothing refers to %v", unused)
	}
}

// What a report or the credential builder is asked about the occupations of the demo's
// programs, and of programs that most colleges have, is known without any import.
func TestOccupationsAskForSkills(t *testing.T) {
	common := strings.Fields(`09.0101 11.0101 11.0103 11.0701 11.0802 11.1003 12.0401 13.1202 13.1210 14.0801
		14.1001 14.1901 19.0701 22.0302 23.0101 24.0101 26.0101 27.0101 30.7001 31.0505 40.0501 42.0101 43.0104 43.0107
		44.0701 45.0601 45.1001 46.0302 47.0604 50.0409 50.0701 51.0601 51.0801 51.2201 51.3901 52.0101 52.0201 52.0301
		52.0801 52.1401 54.0101`)
	demo := strings.Fields("11.0701 30.7101 47.0201 47.0303 48.0508 51.3801")
	for _, cip := range append(common, demo...) {
		scope, err := labor.Starter().Scope(t.Context(), labor.Area{}, []string{cip})
		if err != nil || len(scope.CIPs[cip].SOCCodes) == 0 {
			t.Errorf("program %s has no occupations: %v", cip, err)
		}
		for _, soc := range scope.CIPs[cip].SOCCodes {
			if len(skills.Starter().Requirements(soc)) == 0 {
				t.Errorf("occupation %s of program %s asks for no skills", soc, cip)
			}
		}
	}
}
