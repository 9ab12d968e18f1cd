package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/importer"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/labor"
	usecases "skillscurriculum/pkg/service"
	"skillscurriculum/pkg/skills"
	"skillscurriculum/pkg/upsert"
)

const (
	importedCourses = 2000
	maxImportMB     = 256
	// maxPerRow is the limit of an import's units for a row, relative to those of the same rows without a journal.
	maxPerRow = 1.2
)

// file is the file of every document, and the queue of imports that go on in another run.
type file struct {
	text []byte
	sent int
}

func (f *file) Uploaded(context.Context, catalog.OrgID, string) (catalog.Time, bool, error) {
	return 0, true, nil
}
func (f *file) Read(context.Context, catalog.OrgID, string) ([]byte, error)         { return f.text, nil }
func (f *file) WriteRejects(context.Context, catalog.OrgID, string, *os.File) error { return nil }
func (f *file) SendImports(context.Context, catalog.OrgID) error                    { f.sent++; return nil }

// imports measures the import of a file of courses of 1 KB: new ones, then the same again.
func imports(ctx context.Context, s *service, size int) (*table, error) {
	t := newTable(fmt.Sprintf("Import: one file of %s courses, 1 KB records", grouped(size)),
		"import", "trips", "write units a row", "target", "MB in memory", "target", "s",
		"another's syllabus, ms alone", "meanwhile", "")
	var text strings.Builder
	text.WriteString("externalId,code,name,description\n")
	for i := range size {
		name, code := nthCourse(i)
		fmt.Fprintf(&text, "X%d,%s,%s,%s\n", i, code, name, filler(700))
	}
	loader := upsert.Loader{
		Store: s.store.Store, Queue: discard{}, Market: labor.Starter(), SkillName: skills.Starter().Name, Now: now, IDs: ids,
		CheckHref: func(string) error { return nil }, ArticulationFields: intake.ArticulationFields,
	}
	// The same rows without a journal, as skillsctl imports them: 1,000 of them tell the units of a row.
	some := min(size, 1000)
	rows, err := intake.Read(strings.NewReader(strings.Join(strings.SplitAfter(text.String(), "\n")[:some+1], "")), "courses.csv", intake.Options{})
	if err != nil {
		return nil, err
	}
	calls := s.counter.during(func() {
		_, err = loader.Load(ctx, catalog.OrgID(ids.New("org_")), rows, upsert.Options{KeepGoing: true})
	})
	if err != nil {
		return nil, err
	}
	plain := math.Round(100*costOf(calls).Write/float64(some)) / 100
	t.row(t.judge(false, ""), fmt.Sprintf("%s new, without a journal", grouped(some)), len(calls), plain,
		"", "", "", "", "", "")
	other, err := newNeighbor(ctx, s)
	if err != nil {
		return nil, err
	}

	of := &file{text: []byte(text.String())}
	w := &importer.Worker{
		Store: s.store.Store, Files: of, Queue: of, Loader: loader, Now: now, IDs: ids, Log: slog.New(slog.DiscardHandler),
	}
	org := catalog.OrgID(ids.New("org_"))
	for _, step := range []struct {
		name string
		most float64
	}{{"new", maxPerRow * plain}, {"unchanged", 0.1}} {
		log.Printf("importing %s courses", grouped(size))
		var cost, memory float64
		alone, err := other.extract(ctx, time.After(neighborTime))
		if err != nil {
			return nil, err
		}
		ended := make(chan time.Time)
		meanwhile := make(chan time.Duration, 1)
		go func() {
			took, _ := other.extract(ctx, ended)
			meanwhile <- took
		}()
		trips, began := 0, time.Now()
		i, err := newImport(ctx, s, org)
		for err == nil && !i.Ended() {
			var calls []dbCall
			memory = max(memory, peak(func() {
				calls = s.counter.during(func() { err = deliver(ctx, w, org) })
			}))
			for _, call := range calls {
				cost += call.write
			}
			trips += len(calls)
			if err == nil {
				i, err = usecases.Get[*catalog.Import](ctx, s.store, org, i.ID, true)
			}
		}
		close(ended)
		if err != nil {
			return nil, err
		}
		if i.Status != catalog.ImportCompleted || i.Counts.Read != size || i.Counts.Failed > 0 {
			return nil, fmt.Errorf("import: %s %+v %+v", i.Status, i.Failure, i.Counts)
		}
		perRow := math.Round(100*cost/float64(size)) / 100
		t.row(t.judge(perRow > step.most || memory > maxImportMB, ""), step.name, trips, perRow,
			target(math.Round(100*step.most)/100), math.Round(memory), target(maxImportMB), math.Round(time.Since(began).Seconds()),
			alone.Milliseconds(), (<-meanwhile).Milliseconds())
	}
	return t, nil
}

const (
	neighborJobs = 400
	// neighborTime is how long the extractions of a neighbor are measured alone.
	neighborTime = 3 * time.Second
)

// neighbor is another organization with extractions to run, whose calls of DynamoDB are not counted.
type neighbor struct {
	*world
	jobs []catalog.ExtractionJob
}

func newNeighbor(ctx context.Context, s *service) (*neighbor, error) {
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(ctx, c)
	if err != nil {
		return nil, err
	}
	w.worker.Store = &dynamo.Store{Client: s.counter.plain, Table: tableName, Now: now}
	n := &neighbor{world: w}
	course := map[string]any{"name": "Course", "syllabusHref": href}
	body := map[string]any{"courses": slices.Repeat([]any{course}, api.MaxItems)}
	for len(n.jobs) < neighborJobs && w.err == nil {
		pack := w.create("/transfer-packages", newPackage)
		w.post("/transfer-packages/"+pack+"/courses", body)
		courses, err := usecases.All[*catalog.TransferCourse](ctx, w.store, w.org, pack)
		if err != nil {
			return nil, err
		}
		for _, course := range courses {
			n.jobs = append(n.jobs, catalog.ExtractionJob{
				OrganizationID: w.org, Kind: catalog.TransferCourseKind, ID: course.ID, PackageID: pack,
			})
		}
	}
	return n, w.err
}

// extract runs extractions with pauses until a channel is ready or none is left, and returns their median time.
func (n *neighbor) extract(ctx context.Context, until <-chan time.Time) (time.Duration, error) {
	var times []time.Duration
	for running := true; running && len(n.jobs) > 0; {
		began := time.Now()
		if err := n.handle(ctx, n.jobs[0]); err != nil {
			return 0, err
		}
		times, n.jobs = append(times, time.Since(began)), n.jobs[1:]
		select {
		case <-until:
			running = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	if len(times) == 0 {
		return 0, nil
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// newImport saves an import of the file.
func newImport(ctx context.Context, s *service, org catalog.OrgID) (*catalog.Import, error) {
	dir, err := s.store.Directory(ctx, org, catalog.ImportKind)
	if err != nil {
		return nil, err
	}
	document := &catalog.Document{Meta: catalog.NewMeta(ids.Of(catalog.DocumentKind), org, now()), FileName: "courses.csv"}
	i := &catalog.Import{Status: catalog.ImportPending, DocumentID: document.ID, Layout: "AUTO", Mode: catalog.ApplyRows}
	var change catalog.Change
	change.Create(document, nil)
	change.Add(i, ids, dir, now)
	change.SetImportDetails(i, &catalog.ImportDetails{Layout: i.Layout})
	return i, s.store.Commit(ctx, org, &change)
}

// deliver runs the imports of an organization as one message does, in the time of the function.
func deliver(ctx context.Context, w *importer.Worker, org catalog.OrgID) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	defer cancel()
	body, err := json.Marshal(map[string]catalog.OrgID{"organizationId": org})
	if err != nil {
		return err
	}
	response, err := w.Handle(ctx, events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", Body: string(body)}}})
	if err == nil && len(response.BatchItemFailures) > 0 {
		err = fmt.Errorf("the import of %s failed", org)
	}
	return err
}

// peak returns how many MB more the process has from the system at most while a function runs.
func peak(run func()) float64 {
	used := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.Sys - m.HeapReleased
	}
	runtime.GC()
	before, most := used(), uint64(0)
	done, sampled := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(sampled)
		for {
			most = max(most, used())
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	run()
	close(done)
	<-sampled
	return float64(most-min(most, before)) / (1 << 20)
}
