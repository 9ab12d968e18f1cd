package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"skillscurriculum/infra/heap"
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

// newImporter returns an importer whose files all have the same courses of 1 KB.
func newImporter(s *service, size int) (*importer.Worker, *file) {
	var text strings.Builder
	text.WriteString("externalId,code,name,description\n")
	for i := range size {
		name, code := nthCourse(i)
		fmt.Fprintf(&text, "X%d,%s,%s,%s\n", i, code, name, filler(700))
	}
	of := &file{text: []byte(text.String())}
	return &importer.Worker{
		Store: s.store.Store, Files: of, Queue: of, Now: now, IDs: ids, Log: slog.New(slog.DiscardHandler),
		Loader: upsert.Loader{
			Store: s.store.Store, Queue: discard{}, Market: labor.Starter(), SkillName: skills.Starter().Name,
			Now: now, IDs: ids, CheckHref: func(string) error { return nil }, ArticulationFields: intake.ArticulationFields,
		},
	}, of
}

// imports measures the import of a file of courses of 1 KB: new ones, then the same again.
func imports(ctx context.Context, s *service, size int) (*table, error) {
	t := newTable(fmt.Sprintf("Import: one file of %s courses, 1 KB records", grouped(size)),
		"import", "trips", "write units a row", "target", "MB in memory", "target", "s", "")
	w, _ := newImporter(s, size)
	some := min(size, 1000) // without a journal, as skillsctl imports them: enough for the units of a row
	_, few := newImporter(s, some)
	rows, err := intake.Read(bytes.NewReader(few.text), "courses.csv", intake.Options{})
	if err != nil {
		return nil, err
	}
	calls := s.counter.during(func() {
		_, err = w.Loader.Load(ctx, catalog.OrgID(ids.New("org_")), rows, upsert.Options{KeepGoing: true})
	})
	if err != nil {
		return nil, err
	}
	plain := math.Round(100*costOf(calls).write/float64(some)) / 100
	t.row(false, "", fmt.Sprintf("%s new, without a journal", grouped(some)), len(calls), plain,
		"", "", "", "")
	org := catalog.OrgID(ids.New("org_"))
	for _, step := range []struct {
		name string
		most float64
	}{{"new", maxPerRow * plain}, {"unchanged", 0.1}} {
		log.Printf("importing %s courses", grouped(size))
		var cost, memory float64
		trips, began := 0, time.Now()
		i, err := newImport(ctx, s, org)
		for err == nil && !i.Ended() {
			var calls []dbCall
			memory = max(memory, float64(heap.Peak(func() {
				calls = s.counter.during(func() { err = deliver(ctx, w, org) })
			}))/(1<<20))
			for _, call := range calls {
				cost += call.write
			}
			trips += len(calls)
			if err == nil {
				i, err = usecases.Get[*catalog.Import](ctx, s.store, org, i.ID, true)
			}
		}
		if err != nil {
			return nil, err
		}
		if i.Status != catalog.ImportCompleted || i.Counts.Read != size || i.Counts.Failed > 0 {
			return nil, fmt.Errorf("import: %s %+v %+v", i.Status, i.Failure, i.Counts)
		}
		perRow := math.Round(100*cost/float64(size)) / 100
		t.row(perRow > step.most || memory > maxImportMB, "", step.name, trips, perRow,
			target(math.Round(100*step.most)/100), math.Round(memory), target(maxImportMB),
			math.Round(time.Since(began).Seconds()))
	}
	return t, nil
}

// held is a store whose commits wait while an import is held.
type held struct {
	*dynamo.Store
	gate *sync.RWMutex
}

func (h held) Commit(ctx context.Context, org catalog.OrgID, change *catalog.Change) error {
	h.gate.RLock()
	defer h.gate.RUnlock()
	return h.Store.Commit(ctx, org, change)
}

// turn is how long a neighbor is measured before the import continues or is held again.
const turn = 500 * time.Millisecond

// besideImport measures calls and extractions of another organization, by turns while an import runs and while it is
// held.
func besideImport(ctx context.Context, s *service, size int) (*table, error) {
	t := newTable("Another organization beside an import of courses, ms", "operation", "alone", "p95", "beside", "p95",
		"medians", "target", "")
	w, _ := newImporter(s, size)
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	n, err := newWorld(ctx, c)
	if err != nil {
		return nil, err
	}
	var gate sync.RWMutex
	w.Store = held{s.store.Store, &gate}
	w.Loader.Store = w.Store
	org := catalog.OrgID(ids.New("org_"))
	if _, err := newImport(ctx, s, org); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- deliver(ctx, w, org) }()
	var job catalog.ExtractionJob
	works := []struct {
		name string
		most float64
		run  func() error
	}{
		{"GET a course", 1.5, func() error {
			_, err := n.do(ctx, call(http.MethodGet, "/courses/"+n.course, ""))
			return err
		}},
		{"PATCH a course", 1.5, func() error {
			body := fmt.Sprintf(`{"webpage":"https://example.org/%s"}`, ids.New("w"))
			_, err := n.do(ctx, call(http.MethodPatch, "/courses/"+n.course, body))
			return err
		}},
		{"extraction", 2, func() error { return n.handle(ctx, job) }},
	}
	const alone, beside = 0, 1
	times := make([][2][]float64, len(works))
	sample := func(when int) error {
		for end := time.Now().Add(turn); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if job, _ = n.transferCourse(); n.err != nil {
				return n.err
			}
			for i, work := range works {
				began := time.Now()
				if err := work.run(); err != nil {
					return err
				}
				times[i][when] = append(times[i][when], time.Since(began).Seconds()*1000)
			}
		}
		return nil
	}
	for running := true; running; {
		gate.Lock()
		err := sample(alone)
		gate.Unlock()
		time.Sleep(2 * turn) // the import may rest for as long as it was held
		select {
		case err = <-ended:
			running = false
		default:
			err = cmp.Or(err, sample(beside))
		}
		if err != nil {
			return nil, err
		}
	}
	if len(times[0][beside]) == 0 {
		return nil, errors.New("the import was too short")
	}
	for i, work := range works {
		var cells []any
		var medians [2]float64
		for when, list := range times[i] {
			slices.Sort(list)
			medians[when] = list[len(list)/2]
			cells = append(cells, math.Round(10*medians[when])/10, math.Round(10*list[len(list)*95/100])/10)
		}
		ratio := math.Round(100*medians[beside]/medians[alone]) / 100
		t.row(ratio > work.most, "", slices.Concat([]any{work.name}, cells, []any{ratio, target(work.most)})...)
	}
	return t, nil
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
