package importer_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/infra/local/dynamodb/dynamotest"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/importer"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/upsert"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

const org = catalog.OrgID("org_test")

var ids = catalog.IDs{Random: rand.Reader}

// files are the files of documents and of rejected rows, by id.
type files map[string][]byte

func (f files) Uploaded(_ context.Context, _ catalog.OrgID, id string) (catalog.Time, bool, error) {
	return 0, f[id] != nil, nil
}

func (f files) Read(_ context.Context, _ catalog.OrgID, id string) ([]byte, error) { return f[id], nil }

func (f files) WriteRejects(_ context.Context, _ catalog.OrgID, id string, file *os.File) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	text, err := io.ReadAll(file)
	f[id] = text
	return err
}

type queue struct{ sent int }

func (q *queue) SendImports(context.Context, catalog.OrgID) error {
	q.sent++
	return nil
}

// breaking is a table whose commits fail after some.
type breaking struct {
	*dynamo.Store
	left   int
	before func() // called before each commit, if it is not nil
}

var errBroken = errors.New("broken")

func (b *breaking) Commit(ctx context.Context, org catalog.OrgID, c *catalog.Change) error {
	if b.left--; b.left < 0 {
		return errBroken
	}
	if b.before != nil {
		b.before()
	}
	return b.Store.Commit(ctx, org, c)
}

type fixture struct {
	t      *testing.T
	store  *breaking
	files  files
	worker *importer.Worker
}

func newFixture(t *testing.T) *fixture {
	f := &fixture{t: t, store: &breaking{Store: dynamotest.NewStore(t), left: 1 << 30}, files: files{}}
	f.worker = &importer.Worker{
		Store: f.store, Files: f.files, Queue: &queue{}, Now: f.store.Now, IDs: ids, Log: slog.New(slog.DiscardHandler),
		Loader: upsert.Loader{
			Store: f.store, Files: f.files, Market: labor.Starter(), SkillName: skills.Starter().Name, SkillID: skills.Starter().Named, Now: f.store.Now, IDs: ids,
			CheckHref: func(string) error { return nil }, ArticulationFields: intake.ArticulationFields,
		},
	}
	return f
}

// request creates an import of a file.
func (f *fixture) request(name, content string, change func(*catalog.Import)) *catalog.Import {
	f.t.Helper()
	ctx := f.t.Context()
	document := &catalog.Document{Meta: catalog.NewMeta(ids.Of(catalog.DocumentKind), org, f.store.Now()), FileName: name}
	f.files[document.ID] = []byte(content)
	dir, err := f.store.Directory(ctx, org, catalog.ImportKind)
	if err != nil {
		f.t.Fatal(err)
	}
	i := &catalog.Import{Status: catalog.ImportPending, DocumentID: document.ID, Layout: "AUTO", Mode: catalog.ApplyRows}
	if change != nil {
		change(i)
	}
	var c catalog.Change
	c.Create(document, nil)
	c.Add(i, ids, dir, f.store.Now)
	c.SetImportDetails(i, &catalog.ImportDetails{Layout: i.Layout})
	if err := f.store.Store.Commit(ctx, org, &c); err != nil {
		f.t.Fatal(err)
	}
	return i
}

// deliver delivers a message and returns how many failed.
func (f *fixture) deliver() int {
	f.t.Helper()
	return f.deliverIn(f.t.Context())
}

func (f *fixture) deliverIn(ctx context.Context) int {
	f.t.Helper()
	body, _ := json.Marshal(map[string]any{"organizationId": org})
	response, err := f.worker.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: string(body)}}})
	if err != nil {
		f.t.Fatal(err)
	}
	return len(response.BatchItemFailures)
}

func (f *fixture) get(i *catalog.Import) (*catalog.Import, *catalog.ImportDetails) {
	f.t.Helper()
	now, err := service.Get[*catalog.Import](f.t.Context(), f.store, org, i.ID, true)
	if err != nil {
		f.t.Fatal(err)
	}
	details, err := f.store.ImportDetails(f.t.Context(), org, i.ID)
	if err != nil {
		f.t.Fatal(err)
	}
	return now, details
}

// courses returns a table of courses, of which every tenth has no name, and the last row repeats the first.
func courses(n int) string {
	var b strings.Builder
	b.WriteString("externalId,code,name,mystery\n")
	for i := range n {
		name := fmt.Sprintf("Course %d", i)
		if i%10 == 9 {
			name = ""
		}
		fmt.Fprintf(&b, "X%d,CS %d,%s,?\n", i, i, name)
	}
	b.WriteString("X0,CS 0,Again,?\n")
	return b.String()
}

func TestImportOfCourses(t *testing.T) {
	f := newFixture(t)
	check := f.request("courses.csv", courses(50), func(i *catalog.Import) { i.Mode = catalog.CheckOnly })
	apply := f.request("courses.csv", courses(50), nil)
	again := f.request("courses.csv", courses(50), nil)
	if failed := f.deliver(); failed > 0 {
		t.Fatal("not done")
	}
	want := catalog.ImportCounts{Read: 51, Created: 45, Failed: 6}
	checked, told := f.get(check)
	applied, done := f.get(apply)
	repeated, _ := f.get(again)
	if checked.Status != catalog.ImportCompleted || checked.Counts != want {
		t.Errorf("checked: %s, %+v, %+v", checked.Status, checked.Counts, checked.Failure)
	}
	if applied.Status != catalog.ImportCompleted || applied.Counts != want || *applied.Resource != "course" {
		t.Errorf("applied: %s, %+v, %+v", applied.Status, applied.Counts, applied.Failure)
	}
	if wanted := (catalog.ImportCounts{Read: 51, Unchanged: 45, Failed: 6}); repeated.Counts != wanted {
		t.Errorf("repeated: %+v", repeated.Counts)
	}
	if len(done.Problems) != 6 || done.Problems[0].Line != 11 || done.Problems[0].Column != "name" {
		t.Errorf("problems: %+v", done.Problems)
	}
	a, _ := json.Marshal([]any{told.Columns, told.Problems})
	b, _ := json.Marshal([]any{done.Columns, done.Problems})
	if string(a) != string(b) {
		t.Errorf("a check tells %s\nthe import %s", a, b)
	}
	for _, i := range []*catalog.Import{check, apply} {
		if n := strings.Count(string(f.files[i.ID]), "\n"); n != 7 {
			t.Errorf("rejects: %s", f.files[i.ID])
		}
	}
}

// Each problem is listed once, at a column of the file.
func TestProblemsOnce(t *testing.T) {
	f := newFixture(t)
	courses := f.request("courses.csv", "externalId,code,name,level,status,credits\nX,X,X,odd,odd,\nY,Y,Y,,,1000\n", nil)
	sections := f.request("sections.csv", "CRN,Subj,Crse,Title\n1,BIO,101,A\n", nil)
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	if _, d := f.get(courses); len(d.Problems) != 3 || d.Problems[0].Column != "level" || d.Problems[1].Column != "status" {
		t.Errorf("%+v", d.Problems)
	}
	if _, d := f.get(sections); len(d.Problems) != 1 || d.Problems[0].Column != "Subj" || d.Problems[0].Value != "BIO 101" {
		t.Errorf("%+v", d.Problems)
	}
}

// A line of NDJSON whose resource is unknown fails by itself, with its line and nothing else.
func TestUnknownResource(t *testing.T) {
	f := newFixture(t)
	const lines = `{"externalId":"A","code":"A","name":"A"}
{"resource":"person","externalId":"P","name":"P"}
{"externalId":"B","code":"B","name":"B"}`
	check := f.request("a.ndjson", lines, func(i *catalog.Import) { i.Mode = catalog.CheckOnly })
	apply := f.request("a.ndjson", lines, nil)
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	for _, i := range []*catalog.Import{check, apply} {
		i, details := f.get(i)
		if want := (catalog.ImportCounts{Read: 3, Created: 2, Failed: 1}); i.Status != catalog.ImportCompleted || i.Counts != want {
			t.Errorf("%s, %+v", i.Status, i.Counts)
		}
		if p := details.Problems; len(p) != 1 || p[0].Line != 2 || p[0].Column != "resource" || p[0].Value != "person" {
			t.Errorf("problems %+v", p)
		}
		if rejects := string(f.files[i.ID]); !strings.Contains(rejects, "person") {
			t.Errorf("rejects %s", rejects)
		}
	}
}

// TestBrokenImport: an import that breaks off after any commit goes on where it was, and counts every row once.
func TestBrokenImport(t *testing.T) {
	for commits := range 14 {
		f := newFixture(t)
		i := f.request("courses.csv", courses(120), nil)
		f.store.left = commits
		f.deliver()
		f.store.left = 1 << 30
		now, _ := f.get(i)
		if live, err := service.All[*catalog.Course](t.Context(), f.store, org, ""); err != nil || len(live) != now.Counts.Created {
			t.Errorf("broken after %d: %d courses, counts %+v, %v", commits, len(live), now.Counts, err)
		}
		if f.deliver() > 0 {
			t.Fatal("not done")
		}
		now, details := f.get(i)
		want := catalog.ImportCounts{Read: 121, Created: 108, Failed: 13}
		if now.Status != catalog.ImportCompleted || now.Counts != want || len(details.Problems) != 13 {
			t.Errorf("broken after %d: %s, %+v, %d problems", commits, now.Status, now.Counts, len(details.Problems))
		}
		if n := strings.Count(string(f.files[i.ID]), "\n"); n != 14 {
			t.Errorf("broken after %d: rejects %s", commits, f.files[i.ID])
		}
	}
}

func TestFilesThatFailWhole(t *testing.T) {
	for name, of := range map[string]struct{ content, code string }{
		"empty.csv":     {"\n", "empty"},
		"rows.csv":      {"code,name\n" + strings.Repeat("a,b\n", catalog.MaxImportRows+1), "too_large"},
		"columns.csv":   {strings.Repeat("a,", 1_000_000) + "\n", "too_large"},
		"cell.csv":      {"code,name\na," + strings.Repeat("x", 20<<20), "too_large"},
		"image.csv":     {"\x89PNG\r\n\x1a\n\x00\x00\x00\x00", "unsupported_type"},
		"nothing.csv":   {"a,b\n1,2\n", "unknown_layout"},
		"without.csv":   {"description,code,nmae\nx,y,z\n", "missing_columns"},
		"broken.ndjson": {"{\"code\":\n", "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			i := f.request(name, of.content, nil)
			if f.deliver() > 0 {
				t.Fatal("not done")
			}
			now, details := f.get(i)
			if now.Status != catalog.ImportFailed || now.Failure.Code != of.code || now.Counts.Read != 0 {
				t.Errorf("%s: %+v", now.Status, now.Failure)
			}
			if c := details.Columns; of.code == "missing_columns" && (len(c) != 3 || c[2].Header != "nmae" || c[2].Suggestion != "name" || c[2].Example != "z") {
				t.Errorf("columns %+v", c)
			}
		})
	}
}

func TestRetireMissing(t *testing.T) {
	f := newFixture(t)
	f.request("courses.csv", "externalId,code,name\na,A,A\nb,B,B\nc,C,C\n", nil)
	few := f.request("courses.csv", "externalId,code,name\na,A,A changed\n", func(i *catalog.Import) { i.RetireMissing = true })
	most := f.request("courses.csv", "externalId,code,name\na,A,A\nb,B,B\n", func(i *catalog.Import) { i.RetireMissing = true })
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	if now, _ := f.get(few); now.Failure == nil || now.Failure.Code != "too_many_missing" {
		t.Errorf("%s: %+v", now.Status, now.Failure)
	}
	want := catalog.ImportCounts{Read: 2, Unchanged: 2, Retired: 1}
	if now, _ := f.get(most); now.Status != catalog.ImportCompleted || now.Counts != want {
		t.Errorf("%s: %+v", now.Status, now.Counts)
	}
}
