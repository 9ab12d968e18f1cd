package upsert_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/upsert"
)

func TestMain(m *testing.M) {
	// Each check makes several requests and imports; use -rapid.checks for more.
	if err := flag.Set("rapid.checks", "40"); err != nil {
		panic(err)
	}
	dynamotest.Main(m)
}

const org = catalog.OrgID("org_test")

var ids = catalog.IDs{Random: rand.Reader}

// queue records the jobs sent to it.
type queue struct {
	mu   sync.Mutex
	sent []catalog.ExtractionJob
}

func (q *queue) Send(_ context.Context, sent []catalog.ExtractionJob) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sent = append(q.sent, sent...)
	return nil
}

type fixture struct {
	*upsert.Loader
	t     *testing.T
	store *dynamo.Store
	queue *queue
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	store := dynamotest.NewStore(t)
	q := &queue{}
	return &fixture{t: t, store: store, queue: q, Loader: &upsert.Loader{
		ArticulationFields: intake.ArticulationFields,
		Store:              store, Queue: q, Market: labor.Starter(), SkillName: skills.Starter().Name, Now: store.Now, IDs: ids,
		CheckHref: func(href string) error {
			if strings.HasPrefix(href, "https://") {
				return nil
			}
			return errors.New("must be https")
		},
	}}
}

// load imports a JSON catalog and compares the counts: created, updated, skipped, failed.
func (f *fixture) load(text string, o upsert.Options, want ...int) *upsert.Summary {
	f.t.Helper()
	rows, err := intake.Read(strings.NewReader(text), "f.json", intake.Options{})
	if err != nil {
		f.t.Fatal(err)
	}
	summary, err := f.Load(f.t.Context(), org, rows, o)
	if err != nil && !errors.Is(err, upsert.ErrRejected) {
		f.t.Fatal(err)
	}
	if rejected := errors.Is(err, upsert.ErrRejected); rejected != (want[3] > 0 && !o.Check && !o.KeepGoing) {
		f.t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(want, []int{summary.Created, summary.Updated, summary.Skipped, summary.Failed}); diff != "" {
		f.t.Errorf("created, updated, skipped, failed: %s%v", diff, summary.Rejects)
	}
	return summary
}

func (f *fixture) total() int {
	f.t.Helper()
	_, total, err := service.List[*catalog.Course](f.t.Context(), f.store, org, 0, 1)
	if err != nil {
		f.t.Fatal(err)
	}
	return total
}

func (f *fixture) known(kind catalog.Kind, name string) catalog.Record {
	f.t.Helper()
	known, err := f.store.Known(f.t.Context(), org, kind, []string{name})
	if err != nil {
		f.t.Fatal(err)
	}
	return known[name].Record
}

const small = `{
	"courses":[
		{"externalId":"A","code":"A 1","name":"Algebra","description":"D","instructorName":"Staff","skills":[{"skillId":"core:algebra","level":3}],
		 "sections":[{"externalId":"A-E","name":"Evening","syllabusHref":"https://example.com/a.pdf"}]},
		{"externalId":"B","code":"B 1","name":"Biology"}],
	"programs":[{"externalId":"P","name":"Program","cipCode":"11.0701","courses":["B","A"]}],
	"credentials":[{"externalId":"C","name":"Credential","sections":["A-E","B"]}],
	"jobs":[{"externalId":"J","name":"Job","employerId":"E","salaryMin":1,"salaryMax":2,"locations":[{"type":"location","locationId":"x"}],"skills":[{"skillId":"core:sql","level":2,"confidence":0.5}]}],
	"transferPackages":[{"externalId":"T","name":"Package","transferFromInstitution":"I","courses":[{"externalId":"X","name":"Transfer"}]}]}`

func TestLoad(t *testing.T) {
	f := newFixture(t)
	f.load(small, upsert.Options{Check: true}, 8, 0, 0, 0)
	if f.total() != 0 {
		t.Fatal("a dry run has made courses")
	}
	f.load(small, upsert.Options{}, 8, 0, 0, 0)
	f.checkSmall(t)
	f.loadAgain(t)
	changed := strings.NewReplacer(`"D"`, `null`, `"Evening"`, `"Late"`, `["B","A"]`, `["A"]`, `["A-E","B"]`, `["A"]`, `"salaryMax":2`, `"salaryMax":3`, `"Package"`, `"Renamed"`).Replace(small)
	f.load(changed, upsert.Options{Check: true}, 0, 6, 2, 0)
	f.load(changed, upsert.Options{}, 0, 6, 2, 0)
	course := f.known(catalog.CourseKind, "A").(*catalog.Course)
	if course.Description != nil || course.Sections[1].Name != "Late" || course.Sections[0].ID != course.DefaultSectionID {
		t.Errorf("course %+v", course)
	}
	biology := f.known(catalog.CourseKind, "B").(*catalog.Course)
	if len(biology.HeldBy) != 0 || len(course.HeldBy) != 2 {
		t.Errorf("holders %v and %v", biology.HeldBy, course.HeldBy)
	}
	f.load(changed, upsert.Options{}, 0, 0, 8, 0)
	f.loadDeleted(t, changed)
}

// checkSmall compares the stored records with the file small.
func (f *fixture) checkSmall(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	course := f.known(catalog.CourseKind, "A").(*catalog.Course)
	if len(course.Sections) != 2 || course.Name != "Algebra" || course.Code != "A 1" || *course.Description != "D" {
		t.Errorf("course %+v", course)
	}
	section, err := service.Get[*catalog.Section](ctx, f.store, org, course.DefaultSectionID, true)
	if err != nil || section.Name != "Algebra" || *section.InstructorName != "Staff" || section.Skills[0].SkillName != "algebra" {
		t.Errorf("default section %+v %v", section, err)
	}
	biology := f.known(catalog.CourseKind, "B").(*catalog.Course)
	program := f.known(catalog.ProgramKind, "P").(*catalog.Program)
	if diff := cmp.Diff([]string{biology.ID, course.ID}, program.CourseOrder); diff != "" || !slices.Contains(program.DerivedSOCs, "15-1252") {
		t.Errorf("program %+v", program)
	}
	evening := f.known(catalog.SectionKind, "A-E").(*catalog.Section)
	credential := f.known(catalog.CredentialKind, "C").(*catalog.Credential)
	if len(credential.Sections) != 2 || credential.Sections[0].SectionID != evening.ID || credential.Sections[1].SectionID != biology.DefaultSectionID {
		t.Errorf("credential %+v", credential.Sections)
	}
	if want := 3; len(course.HeldBy)+len(biology.HeldBy) != want+1 {
		t.Errorf("holders %v and %v", course.HeldBy, biology.HeldBy)
	}
	if len(f.queue.sent) != 2 || evening.ProcessingStatus != catalog.Pending {
		t.Errorf("queued %v, section %s", f.queue.sent, evening.ProcessingStatus)
	}
	pack := f.known(catalog.TransferPackageKind, "T").(*catalog.TransferPackage)
	if courses, err := service.All[*catalog.TransferCourse](ctx, f.store, org, pack.ID); err != nil || len(courses) != 1 || pack.MatchingConfig != catalog.DefaultMatchingConfig {
		t.Errorf("package %+v %v %v", pack, courses, err)
	}
}

// loadAgain imports small twice more, which changes nothing.
func (f *fixture) loadAgain(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	f.load(small, upsert.Options{}, 0, 0, 8, 0)
	end, err := f.store.FeedEnd(ctx, org)
	if err != nil {
		t.Fatal(err)
	}
	f.load(small, upsert.Options{}, 0, 0, 8, 0)
	if again, err := f.store.FeedEnd(ctx, org); err != nil || again != end {
		t.Errorf("importing the same wrote to the feed: %s, %s %v", end, again, err)
	}
}

// loadDeleted deletes a job that the file still has. The next import without OnlyNew restores it.
func (f *fixture) loadDeleted(t *testing.T, changed string) {
	t.Helper()
	ctx := t.Context()
	job := f.known(catalog.JobKind, "J")
	dir, err := f.store.Directory(ctx, org, catalog.JobKind)
	if err != nil {
		t.Fatal(err)
	}
	var change catalog.Change
	change.Delete(job, f.Now(), dir)
	if err := f.store.Commit(ctx, org, &change); err != nil {
		t.Fatal(err)
	}
	f.load(changed, upsert.Options{OnlyNew: true}, 0, 0, 8, 0)
	f.load(changed, upsert.Options{}, 1, 0, 7, 0)
	if again := f.known(catalog.JobKind, "J"); again == nil || again.Base().ID == job.Base().ID {
		t.Errorf("job %v", again)
	}
}

// Absent fields are left unchanged; blank ones are cleared.
func TestAbsentFields(t *testing.T) {
	f := newFixture(t)
	f.load(`{"courses":[{"externalId":"A","code":"A","name":"N","description":"D","skills":[{"skillId":"core:sql","level":2}]}]}`, upsert.Options{}, 1, 0, 0, 0)
	f.load(`{"courses":[{"externalId":"A","code":"A","name":"M"}]}`, upsert.Options{}, 0, 1, 0, 0)
	course := f.known(catalog.CourseKind, "A").(*catalog.Course)
	if course.Name != "M" || *course.Description != "D" {
		t.Errorf("course %+v", course)
	}
	f.load(`{"courses":[{"externalId":"A","code":"A","name":"M","skills":[]}]}`, upsert.Options{}, 0, 1, 0, 0)
	section, err := service.Get[*catalog.Section](t.Context(), f.store, org, course.DefaultSectionID, true)
	if err != nil || len(section.Skills) != 0 {
		t.Errorf("section %+v %v", section, err)
	}
}

// Every violation has its message.
func TestRejects(t *testing.T) {
	f := newFixture(t)
	f.load(`{"courses":[{"externalId":"H","code":"H","name":"Here","sections":[{"externalId":"H-2","name":"Second"}]},{"externalId":"I","code":"I","name":"Other"}]}`, upsert.Options{}, 3, 0, 0, 0)
	course := func(fields string) string { return `{"courses":[{"externalId":"A",` + fields + `}]}` }
	for _, c := range []struct{ text, reason string }{
		{course(`"code":"A"`), "expected required property name to be present"},
		{course(`"code":"A","name":" "`), "name: "},
		{course(`"code":"A","name":"` + strings.Repeat("x", 256) + `"`), "name: "},
		{course(`"code":"` + strings.Repeat("x", 51) + `","name":"N"`), "code: "},
		{course(`"code":"A","name":"N","color":"red"`), "color: unexpected property"},
		{course(`"code":"A","name":7`), "name: expected string"},
		{course(`"code":"A","name":"N","skills":[{"skillId":"core:nothing","level":2}]`), "skills[0].skillId: must be in the loaded taxonomy"},
		{course(`"code":"A","name":"N","skills":[{"skillId":"core:sql","level":9}]`), "skills[0].level: "},
		{course(`"code":"A","name":"N","syllabusHref":"ftp://x"`), "syllabusHref: must be https (ftp://x)"},
		{`{"courses":[{"externalId":"` + strings.Repeat("x", 256) + `","code":"A","name":"N"}]}`, "externalId: expected length <= 255"},
		{`{"courses":[{"externalId":"I","code":"A","name":"N","sections":[{"externalId":"H-2","name":"S"}]}]}`, "cannot be moved"},
		{`{"programs":[{"externalId":"P","name":"N","cipCode":"99.0000"}]}`, "cipCode: must be in the loaded CIP to SOC crosswalk (99.0000)"},
		{`{"programs":[{"externalId":"P","name":"N","cipCode":"9"}]}`, "cipCode: "},
		{`{"programs":[{"externalId":"P","name":"N","courses":["Z"]}]}`, "courses[0]: there is no such course (Z)"},
		{`{"programs":[{"externalId":"P","name":"N","courses":["H","H"]}]}`, "courses[1]: the course is named twice (H)"},
		{`{"programs":[{"externalId":"P","name":"N","courseOrder":["crs_1"]}]}`, "name records by external ids"},
		{`{"credentials":[{"externalId":"C","name":"N","sections":["Z"]}]}`, "sections[0]: there is no such section (Z)"},
		{`{"credentials":[{"externalId":"C","name":"N","sections":["H","H-2"]}]}`, "of the same course stands before it"},
		{`{"jobs":[{"externalId":"J","name":"N"}]}`, "employerId"},
		{`{"jobs":[{"externalId":"J","name":"N","employerId":"E","salaryMin":2,"salaryMax":1}]}`, "salaryMin: must not be greater than salaryMax (2)"},
		{`{"jobs":[{"externalId":"J","name":"N","employerId":"E"},{"externalId":"J","name":"N","employerId":"E"}]}`, "is already used at f.json: jobs[0]"},
		{`{"transferPackages":[{"externalId":"T","name":"N","transferFromInstitution":"I","matchingConfig":{"fullEquivalentThreshold":0.1,"partialEquivalentThreshold":0.5}}]}`, "greater than fullEquivalentThreshold"},
		{`{"transferPackages":[{"externalId":"T","name":"N","transferFromInstitution":"I","courses":[{"externalId":"X","name":"","syllabusHref":null}]}]}`, "name: "},
	} {
		rows, err := intake.Read(strings.NewReader(c.text), "f.json", intake.Options{})
		if err != nil {
			t.Fatal(err)
		}
		summary, err := f.Load(t.Context(), org, rows, upsert.Options{})
		if !errors.Is(err, upsert.ErrRejected) || summary.Failed != 1 || !strings.Contains(summary.Rejects[0].Reason, c.reason) || summary.Rejects[0].Place == "" {
			t.Errorf("%s\n\twant %q: %v %+v", c.text, c.reason, err, summary)
		}
		if f.total() != 2 {
			t.Fatalf("%s: %d courses", c.text, f.total())
		}
	}
}

// A partly valid file changes nothing or, with KeepGoing, all valid records.
func TestKeepGoing(t *testing.T) {
	f := newFixture(t)
	half := `{"courses":[{"externalId":"A","code":"A","name":"N"},{"externalId":"B","code":"B","name":""}],"programs":[{"externalId":"P","name":"P","courses":["A"]},{"externalId":"Q","name":"Q","courses":["B"]}]}`
	f.load(half, upsert.Options{}, 2, 0, 0, 2)
	if f.total() != 0 {
		t.Fatal("a half-valid file has changed something")
	}
	f.load(half, upsert.Options{KeepGoing: true}, 2, 0, 0, 2)
	if f.total() != 1 || f.known(catalog.ProgramKind, "P") == nil || f.known(catalog.ProgramKind, "Q") != nil {
		t.Error("the valid records were not imported")
	}
}

// Errors are reported in the order of the file.
func TestRejectsInOrder(t *testing.T) {
	f := newFixture(t)
	rows, err := intake.Read(strings.NewReader("code,name,skills\nA,A,core:nothing=1\nB,,\nC,C,core:nothing=1\nD,D,core:sql\n"), "courses.csv", intake.Options{})
	if err != nil {
		t.Fatal(err)
	}
	summary, err := f.Load(t.Context(), org, rows, upsert.Options{})
	if !errors.Is(err, upsert.ErrRejected) {
		t.Fatal(err)
	}
	var places []string
	for _, reject := range summary.Rejects {
		places = append(places, reject.Place)
	}
	if got, want := strings.Join(places, " "), "courses.csv:2 courses.csv:3 courses.csv:4 courses.csv:5"; got != want {
		t.Errorf("faults at %s, want %s", got, want)
	}
	if got, want := summary.Rejects[3].Reason, `skills: "core:sql" is not skillId=level`; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// courses is a file of n courses.
func courses(n int) []intake.Row {
	rows := make([]intake.Row, n)
	for i := range rows {
		name := fmt.Sprint("C", i)
		rows[i] = intake.Row{Place: name, Kind: catalog.CourseKind, Name: name, Fields: map[string]any{"name": name, "code": name, "description": strings.Repeat("text ", 20)}}
	}
	return rows
}

// failing is a store that fails at a commit, before or after it is done.
type failing struct {
	upsert.Store
	left  int
	after bool
}

func (s *failing) Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error {
	if s.left--; s.left >= 0 {
		return s.Store.Commit(ctx, org, change)
	}
	if s.after {
		_ = s.Store.Commit(ctx, org, change)
	}
	return errors.New("cable cut")
}

// A run that fails anywhere is completed by another one, without duplicates.
func TestInterrupted(t *testing.T) {
	for left := range 3 {
		for _, after := range []bool{false, true} {
			f := newFixture(t)
			rows := courses(100)
			f.Store = &failing{f.store, left, after}
			if _, err := f.Load(t.Context(), org, rows, upsert.Options{}); err == nil {
				t.Fatal("nothing broke")
			}
			f.Store = f.store
			done, err := f.Load(t.Context(), org, rows, upsert.Options{})
			if err != nil || f.total() != 100 || done.Created+done.Skipped != 100 {
				t.Errorf("broken after %d commits: %d courses, %+v %v", left, f.total(), done, err)
			}
		}
	}
}

// counting is a Journal that counts the created records.
type counting struct{ created int }

func (c *counting) Plan(context.Context, *upsert.Step) error { return nil }

func (c *counting) Done(_ context.Context, s *upsert.Step) error {
	c.created += s.Created
	return nil
}

// Concurrent imports of the same file, with and without claims, and courses created at the same time neither duplicate
// nor lose records.
func TestConcurrent(t *testing.T) {
	f := newFixture(t)
	var group sync.WaitGroup
	var created [3]int
	for i := range 2 {
		group.Go(func() {
			summary, err := f.Load(t.Context(), org, courses(150), upsert.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			created[i] = summary.Created
		})
	}
	group.Go(func() {
		var c counting
		rows := func() iter.Seq2[entry.Row, error] {
			return func(yield func(entry.Row, error) bool) {
				for _, row := range courses(150) {
					if !yield(row, nil) {
						return
					}
				}
			}
		}
		if err := f.Stream(t.Context(), org, rows, upsert.Options{}, upsert.Start{}, &c); err != nil {
			t.Error(err)
		}
		created[2] = c.created
	})
	group.Go(func() {
		for i := 0; i < 20; {
			dir, err := f.store.Directory(t.Context(), org, catalog.CourseKind)
			if err != nil {
				t.Error(err)
				return
			}
			var change catalog.Change
			change.AddCourse(&catalog.Course{Name: "By hand", Code: "H"}, &catalog.Section{}, ids, dir, f.Now)
			switch err := f.store.Commit(t.Context(), org, &change); {
			case err == nil:
				i++
			case !errors.Is(err, catalog.ErrStale):
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
	if sum := created[0] + created[1] + created[2]; f.total() != 170 || sum != 150 {
		t.Errorf("%d courses, of which imports have created %v", f.total(), created)
	}
}

// Many courses share a transaction. All are in the list, in the order of the file, and in the feed.
func TestBulk(t *testing.T) {
	f := newFixture(t)
	const n = 1000
	steps := []int{}
	summary, err := f.Load(t.Context(), org, courses(n), upsert.Options{Progress: func(done, all int) {
		if all != 2*n {
			t.Errorf("%d steps", all)
		}
		steps = append(steps, done)
	}})
	if err != nil || summary.Created != n {
		t.Fatal(summary, err)
	}
	if !slices.IsSorted(steps) || steps[len(steps)-1] != 2*n {
		t.Errorf("progress ended at %d", steps[len(steps)-1])
	}
	seen := 0
	for offset := 0; offset < n; offset += 100 {
		page, total, err := service.List[*catalog.Course](t.Context(), f.store, org, offset, 100)
		if err != nil || total != n {
			t.Fatal(total, err)
		}
		for _, course := range page {
			if course.Name != fmt.Sprint("C", seen) {
				t.Fatalf("course %d is %s", seen, course.Name)
			}
			seen++
		}
	}
	changes, cursor := 0, ""
	for {
		page, more, err := f.store.Changes(t.Context(), org, cursor, 500)
		if err != nil {
			t.Fatal(err)
		}
		changes += len(page)
		if !more {
			break
		}
		cursor = page[len(page)-1].Cursor.String()
	}
	if seen != n || changes != 2*n {
		t.Errorf("%d courses, %d changes", seen, changes)
	}
}

// Courses of maximum size still fit into transactions.
func TestLargeRows(t *testing.T) {
	f := newFixture(t)
	rows := courses(40)
	for i := range rows {
		rows[i].Fields["description"] = strings.Repeat("界", 10_000)
	}
	if summary, err := f.Load(t.Context(), org, rows, upsert.Options{}); err != nil || summary.Created != 40 {
		t.Fatal(summary, err)
	}
}

// The limits of the API apply to imports: the courses of a package, and the holders of a course.
func TestLoadKeepsBounds(t *testing.T) {
	f := newFixture(t)
	pack := func(from, to int) string {
		courses := make([]string, 0, to-from)
		for i := from; i < to; i++ {
			courses = append(courses, fmt.Sprintf(`{"externalId":"X%d","name":"Transfer"}`, i))
		}
		return `{"transferPackages":[{"externalId":"T","name":"Package","transferFromInstitution":"I","courses":[` + strings.Join(courses, ",") + `]}]}`
	}
	f.load(pack(0, catalog.MaxTransferCourses-1), upsert.Options{}, catalog.MaxTransferCourses, 0, 0, 0)
	f.load(pack(catalog.MaxTransferCourses-1, catalog.MaxTransferCourses+1), upsert.Options{KeepGoing: true}, 1, 0, 1, 1)

	f.load(`{"courses":[{"externalId":"A","code":"A 1","name":"Algebra"}]}`, upsert.Options{}, 1, 0, 0, 0)
	course := f.known(catalog.CourseKind, "A").(*catalog.Course)
	var full catalog.Change
	for i := range catalog.MaxHolders {
		full.HoldAs(course, fmt.Sprint("prg_", i, "/", course.ID))
	}
	if err := f.store.Commit(t.Context(), org, &full); err != nil {
		t.Fatal(err)
	}
	f.load(`{"programs":[{"externalId":"P","name":"Program","courses":["A"]},{"externalId":"Q","name":"Free","courses":[]}]}`, upsert.Options{KeepGoing: true}, 1, 0, 0, 1)
	if record := f.known(catalog.ProgramKind, "P"); record != nil {
		t.Errorf("program %+v", record)
	}
}

// Courses of more packages than fit into one transaction are saved in several.
func TestImportOfManyPackages(t *testing.T) {
	f := newFixture(t)
	var packages []string
	for i := range 48 {
		packages = append(packages, fmt.Sprintf(`{"externalId":"p%d","name":"P","transferFromInstitution":"I","courses":[{"externalId":"c","name":"C"}]}`, i))
	}
	text := `{"transferPackages":[` + strings.Join(packages, ",") + `]}`
	f.load(text, upsert.Options{}, 96, 0, 0, 0)
	f.load(text, upsert.Options{}, 0, 0, 96, 0)
}

// overtaken is a store that changes while an import is planned for the second time; the first pass only checks.
type overtaken struct {
	*dynamo.Store
	plans     int
	meanwhile func()
}

func (s *overtaken) Known(ctx context.Context, org catalog.OrgID, kind catalog.Kind, names []string) (map[string]catalog.ExternalID, error) {
	known, err := s.Store.Known(ctx, org, kind, names)
	if s.plans++; s.plans == 2 {
		s.meanwhile()
	}
	return known, err
}

// Records later in a list have later creation times.
func TestCreatedAtFollowsTheList(t *testing.T) {
	f := newFixture(t)
	now := f.store.Now()
	f.Now = func() catalog.Time { now++; return now }
	f.Store = &overtaken{f.store, 0, func() {
		f.load(`{"jobs":[{"externalId":"other","name":"J","employerId":"E"}]}`, upsert.Options{}, 1, 0, 0, 0)
	}}
	f.load(`{"jobs":[{"externalId":"mine","name":"J","employerId":"E"}]}`, upsert.Options{}, 1, 0, 0, 0)
	mine, other := f.known(catalog.JobKind, "mine").Base(), f.known(catalog.JobKind, "other").Base()
	first, _ := catalog.Sequence(catalog.JobKind, other.ID)
	second, _ := catalog.Sequence(catalog.JobKind, mine.ID)
	if first >= second || other.CreatedAt > mine.CreatedAt {
		t.Errorf("number %d is of %s, number %d of %s", first, other.CreatedAt, second, mine.CreatedAt)
	}
}
