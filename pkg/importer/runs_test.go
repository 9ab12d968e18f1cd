package importer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/xuri/excelize/v2"

	"skillscurriculum/infra/heap"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service"
)

// audit compares the counts of an import of courses(n) that has ended with the table.
func (f *fixture) audit(i *catalog.Import, n int) *catalog.Import {
	f.t.Helper()
	now, _ := f.get(i)
	live, err := service.All[*catalog.Course](f.t.Context(), f.store, org, "")
	if err != nil || len(live) != now.Counts.Created {
		f.t.Errorf("%d courses, counts %+v, %v", len(live), now.Counts, err)
	}
	if want := (catalog.ImportCounts{Read: n + 1, Created: n - n/10, Failed: n/10 + 1}); now.Status == catalog.ImportCompleted && now.Counts != want {
		f.t.Errorf("counts %+v", now.Counts)
	}
	return now
}

func TestCancelWhileRunning(t *testing.T) {
	f := newFixture(t)
	i := f.request("courses.csv", courses(500), nil)
	next := f.request("courses.csv", courses(10), nil)
	commits := 0
	f.store.before = func() {
		if commits++; commits != 5 {
			return
		}
		now, _ := f.get(i)
		var change catalog.Change
		change.EndImport(now, catalog.ImportCancelled, nil, f.store.Now())
		if err := f.store.Store.Commit(t.Context(), org, &change); err != nil {
			t.Error(err)
		}
	}
	if f.deliver() > 0 {
		t.Fatal("not done")
	}
	now, _ := f.get(i)
	if now.Status != catalog.ImportCancelled || now.Counts.Created == 0 || now.Counts.Read >= 501 || now.FinishedAt == nil {
		t.Errorf("%s %+v", now.Status, now.Counts)
	}
	after, _ := f.get(next)
	if live, err := service.All[*catalog.Course](t.Context(), f.store, org, ""); err != nil || len(live) != now.Counts.Created || after.Counts.Unchanged != 9 {
		t.Errorf("%d courses, counts %+v, then %+v, %v", len(live), now.Counts, after.Counts, err)
	}
}

// Runs of one import at the same time: one of them completes it, and each row counts once.
func TestDoubledMessages(t *testing.T) {
	f := newFixture(t)
	i := f.request("courses.csv", courses(400), nil)
	var runs sync.WaitGroup
	for range 3 {
		runs.Go(func() { f.deliver() })
	}
	runs.Wait()
	f.deliver()
	if now := f.audit(i, 400); now.Status != catalog.ImportCompleted {
		t.Errorf("%s %+v", now.Status, now.Failure)
	}
}

// A run whose time ends leaves the rest to another message.
func TestHandOver(t *testing.T) {
	f := newFixture(t)
	i := f.request("courses.csv", courses(2000), nil)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second+300*time.Millisecond)
	defer cancel()
	if f.deliverIn(ctx) > 0 || f.worker.Queue.(*queue).sent != 1 {
		t.Fatal("not handed over")
	}
	if now := f.audit(i, 2000); now.Status != catalog.ImportProcessing || now.Counts.Read == 0 || now.Counts.Read == 2001 {
		t.Errorf("%s %+v", now.Status, now.Counts)
	}
	for range 20 { // a slow machine hands over again
		f.deliver()
		if now, _ := f.get(i); now.Ended() {
			break
		}
	}
	if now := f.audit(i, 2000); now.Status != catalog.ImportCompleted {
		t.Errorf("%s %+v", now.Status, now.Failure)
	}
}

// A check that breaks off begins again, and tells what an import does.
func TestBrokenCheck(t *testing.T) {
	for commits := range 5 {
		f := newFixture(t)
		i := f.request("courses.csv", courses(120), func(i *catalog.Import) { i.Mode = catalog.CheckOnly })
		f.store.left = commits
		f.deliver()
		f.store.left = 1 << 30
		f.deliver()
		now, details := f.get(i)
		want := catalog.ImportCounts{Read: 121, Created: 108, Failed: 13}
		if now.Status != catalog.ImportCompleted || len(details.Problems) != 13 || strings.Count(string(f.files[i.ID]), "\n") != 14 {
			t.Errorf("broken after %d: %s, %d problems", commits, now.Status, len(details.Problems))
		}
		if diff := cmp.Diff(want, now.Counts); diff != "" {
			t.Errorf("broken after %d: %s", commits, diff)
		}
		if live, err := service.All[*catalog.Course](t.Context(), f.store, org, ""); err != nil || len(live) > 0 {
			t.Errorf("the check has saved %d courses, %v", len(live), err)
		}
	}
}

// waiting are files whose reading takes until the time of the run ends.
type waiting struct{ files }

func (waiting) Read(ctx context.Context, _ catalog.OrgID, _ string) ([]byte, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTimeout(t *testing.T) {
	f := newFixture(t)
	i := f.request("courses.csv", courses(1), func(i *catalog.Import) { i.Mode = catalog.CheckOnly })
	f.worker.Files = waiting{f.files}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second+300*time.Millisecond)
	defer cancel()
	f.deliverIn(ctx)
	if now, _ := f.get(i); now.Status != catalog.ImportFailed || now.Failure.Code != "timeout" {
		t.Errorf("%s %+v", now.Status, now.Failure)
	}
}

// zeros returns n bytes of white space in an archive.
func zeros(t *testing.T, name, start string, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	w, err := archive.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	many := bytes.Repeat([]byte("A,B\n"), 1<<18)
	_, err = io.WriteString(w, start)
	for n > 0 && err == nil {
		_, err = w.Write(many)
		n -= len(many)
	}
	if err := errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Poisoned files fail with their code in bounded memory; package intake has a longer list of them.
func TestPoisonedFiles(t *testing.T) {
	const most = 128 << 20
	book := excelize.NewFile()
	formula := strings.Repeat("SUM(A1:XFD1048576)+", 400) + "1"
	var locked, formulas bytes.Buffer
	if err := errors.Join(
		book.SetSheetRow("Sheet1", "A1", &[]string{"code", "name"}), book.SetCellValue("Sheet1", "A2", "A"),
		book.SetCellFormula("Sheet1", "B2", formula), book.Write(&formulas), book.Write(&locked, excelize.Options{Password: "p"}),
	); err != nil {
		t.Fatal(err)
	}
	entity := zeros(t, "xl/workbook.xml", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><workbook>&e;</workbook>`, 0)
	for name, of := range map[string]struct {
		content []byte
		code    string
	}{
		"bomb.zip":     {zeros(t, "courses.csv", "code,name\n", 600<<20), "too_large"},
		"entity.xlsx":  {entity, "malformed"},
		"locked.xlsx":  {locked.Bytes(), "encrypted"},
		"formula.xlsx": {formulas.Bytes(), ""}, // is read without being calculated: its row lacks a name
		"header.csv":   {[]byte("code,name\n"), "empty"},
		"unknown.csv":  {[]byte("a,b\n1,2\n"), "unknown_layout"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			i := f.request(name, string(of.content), nil)
			if peak := heap.Peak(func() { f.deliver() }); peak > most {
				t.Errorf("%d MiB", peak>>20)
			}
			now, _ := f.get(i)
			if of.code == "" {
				if now.Status != catalog.ImportCompleted || now.Counts != (catalog.ImportCounts{Read: 1, Failed: 1}) {
					t.Errorf("%s %+v %+v", now.Status, now.Failure, now.Counts)
				}
			} else if now.Status != catalog.ImportFailed || now.Failure.Code != of.code {
				t.Errorf("%s %+v", now.Status, now.Failure)
			}
		})
	}
}

// After each step, an import leaves the table to others for as long as the step has taken.
func TestRests(t *testing.T) {
	f := newFixture(t)
	i := f.request("courses.csv", courses(100), nil)
	const slow = 300 * time.Millisecond
	var ends, begins []time.Time // of commits
	f.store.before = func() {
		begins = append(begins, time.Now())
		time.Sleep(slow)
		ends = append(ends, time.Now())
	}
	f.deliver()
	now := f.audit(i, 100)
	const first = 2 // steps follow the commits that begin the run and open the file
	if now.Status != catalog.ImportCompleted || len(begins) < first+3 {
		t.Fatalf("%s after %d commits: %+v", now.Status, len(begins), now.Failure)
	}
	for n := first; n+1 < len(begins)-2; n++ { // the last ones keep the rejected rows and end the import
		if rest := begins[n+1].Sub(ends[n]); rest < slow {
			t.Errorf("the import rests %v after step %d", rest, n-first)
		}
	}
}
