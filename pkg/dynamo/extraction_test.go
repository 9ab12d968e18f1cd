package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

// run is a worker on its way: the task that it claimed, and of which syllabus it
// will tell.
type run struct {
	task     *catalog.Task
	syllabus string
}

// extracted is a record with an extraction, as the model knows it.
type extracted struct {
	job      catalog.ExtractionJob // of the first request
	asked    catalog.Time          // requestedAt of the last one
	status   catalog.ProcessingStatus
	syllabus string
	lease    string // of the run that holds it
	until    catalog.Time
	result   string // what the last finished run told
	reviewed int    // level at which a person has accepted a skill; 0 for none
	deleted  bool
}

// world is a store with a model of it.
type world struct {
	store   *dynamo.Store
	at      *clock
	org     catalog.OrgID
	records []*extracted
	runs    []run
	course  *catalog.Course
	number  int
}

func (w *world) commit(t *rapid.T, decide func(*catalog.Change) error) {
	for {
		var change catalog.Change
		if err := decide(&change); err != nil {
			t.Fatal(err)
		}
		if change.Empty() {
			return
		}
		err := w.store.Commit(context.Background(), w.org, &change)
		if err == nil {
			return
		}
		if !errors.Is(err, catalog.ErrStale) {
			t.Fatal(err)
		}
	}
}

// load reads the record as it is; nil when it is gone.
func (w *world) load(t *rapid.T, r *extracted) (catalog.Record, *catalog.Extraction, []catalog.SkillRef) {
	ctx := context.Background()
	var err error
	if r.job.Kind == catalog.SectionKind {
		var section *catalog.Section
		if section, err = service.Get[*catalog.Section](ctx, w.store, w.org, r.job.ID, true); err == nil {
			return section, &section.Extraction, section.Skills
		}
	} else {
		var course *catalog.TransferCourse
		if course, err = service.GetIn[*catalog.TransferCourse](ctx, w.store, w.org, r.job.PackageID, r.job.ID, true); err == nil {
			return course, &course.Extraction, course.Skills
		}
	}
	var known *catalog.Error
	if !errors.As(err, &known) || known.Code != catalog.NotFound {
		t.Fatal(err)
	}
	return nil, nil, nil
}

func (w *world) pick(t *rapid.T) *extracted {
	var live []*extracted
	for _, r := range w.records {
		if !r.deleted {
			live = append(live, r)
		}
	}
	if len(live) == 0 {
		t.Skip("none is left")
	}
	return rapid.SampledFrom(live).Draw(t, "record")
}

func (w *world) href(r *extracted) string {
	w.number++
	r.syllabus = fmt.Sprintf("https://example.org/%d", w.number)
	return r.syllabus
}

func (w *world) create(t *rapid.T) {
	r := &extracted{status: catalog.Pending}
	pack := ids.Sequenced(catalog.TransferPackageKind, 1)
	section := rapid.Bool().Draw(t, "section")
	w.commit(t, func(change *catalog.Change) error {
		if section {
			href := w.href(r)
			s := &catalog.Section{Name: "S", SyllabusHref: &href, Extraction: catalog.Extraction{ProcessingStatus: catalog.Pending}}
			course, err := service.Get[*catalog.Course](context.Background(), w.store, w.org, w.course.ID, true)
			if err != nil {
				return err
			}
			if err := change.AddSection(s, course, ids, w.at.Now); err != nil {
				return err
			}
		} else {
			href := w.href(r)
			change.Create(&catalog.TransferCourse{
				Meta:      catalog.NewMeta(ids.Ordered(catalog.TransferCourseKind, w.at.Now(), 0, 0), w.org, w.at.Now()),
				PackageID: pack, Name: "T", SyllabusHref: &href, Skills: []catalog.SkillRef{}, Extraction: catalog.Extraction{ProcessingStatus: catalog.Pending},
			}, nil)
		}
		r.job = change.Jobs()[0]
		r.asked = r.job.RequestedAt
		return nil
	})
	w.records = append(w.records, r)
}

func (w *world) claim(t *rapid.T) {
	r := rapid.SampledFrom(w.records).Draw(t, "record")
	lease, until := ids.New("run_"), w.at.Now()+10_000
	job := r.job
	if rapid.Bool().Draw(t, "any request") {
		job.RequestedAt = 0
	}
	task, err := w.store.Claim(context.Background(), job, lease, until)
	held := r.status == catalog.Processing && r.until >= w.at.Now()
	switch {
	case r.deleted || r.status == catalog.Completed || r.status == catalog.Failed || r.status == "":
		if !errors.Is(err, catalog.ErrFinished) {
			t.Fatalf("claim of one that is %q: %v", r.status, err)
		}
	case job.RequestedAt != 0 && job.RequestedAt != r.asked:
		if !errors.Is(err, catalog.ErrFinished) {
			t.Fatalf("claim of one that was requested again: %v", err)
		}
	case held:
		if !errors.Is(err, catalog.ErrLeased) {
			t.Fatalf("claim of one that another run holds: %v", err)
		}
	case err != nil:
		t.Fatalf("claim of one that is %q: %v", r.status, err)
	default:
		if task.Job.RequestedAt != r.asked {
			t.Fatalf("the task was requested at %v, the record at %v", task.Job.RequestedAt, r.asked)
		}
		if task.SyllabusHref != r.syllabus {
			t.Fatalf("the task is about %q, the record about %q", task.SyllabusHref, r.syllabus)
		}
		r.status, r.lease, r.until = catalog.Processing, lease, until
		w.runs = append(w.runs, run{task, task.SyllabusHref})
	}
}

// ends takes a run that is on its way, and the record that it claimed.
func (w *world) ends(t *rapid.T) (run, *extracted, bool) {
	if len(w.runs) == 0 {
		t.Skip("nothing runs")
	}
	i := rapid.IntRange(0, len(w.runs)-1).Draw(t, "run")
	ending := w.runs[i]
	if rapid.Bool().Draw(t, "once") { // else it comes again: an answer was lost
		w.runs = append(w.runs[:i], w.runs[i+1:]...)
	}
	for _, r := range w.records {
		if r.job.ID == ending.task.Job.ID {
			return ending, r, !r.deleted && r.status == catalog.Processing && r.lease == ending.task.Lease
		}
	}
	panic("a run of no record")
}

func (w *world) finish(t *rapid.T) {
	ending, r, mine := w.ends(t)
	outcome := &catalog.ExtractionResult{Skills: []catalog.SkillRef{{SkillID: ending.syllabus, Level: 1, Confidence: 1}}, Text: ending.syllabus}
	if rapid.Bool().Draw(t, "fails") {
		outcome = &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.Malformed, Message: "no"}}
	}
	err := w.store.Finish(context.Background(), ending.task, outcome)
	if mine != (err == nil) || err != nil && !errors.Is(err, catalog.ErrFinished) {
		t.Fatalf("finish of a run whose lease is its own: %v, of one that is %q: %v", mine, r.status, err)
	}
	if !mine {
		return
	}
	r.lease = ""
	if r.status = catalog.Failed; outcome.Failure == nil {
		r.status, r.result = catalog.Completed, ending.syllabus
	}
}

func (w *world) putBack(t *rapid.T) {
	ending, r, mine := w.ends(t)
	err := w.store.PutBack(context.Background(), ending.task, w.at.Now()+5000)
	if mine != (err == nil) || err != nil && !errors.Is(err, catalog.ErrFinished) {
		t.Fatalf("put back by a run whose lease is its own: %v: %v", mine, err)
	}
	if mine {
		r.status, r.lease = catalog.Pending, ""
	}
}

// change is what PATCH of a section and retry of a transfer course do.
func (w *world) change(t *rapid.T) {
	r := w.pick(t)
	what := rapid.SampledFrom([]string{"name", "syllabus", "none"}).Draw(t, "what")
	w.commit(t, func(change *catalog.Change) error {
		record, state, _ := w.load(t, r)
		before := catalog.Copy(record)
		switch record := record.(type) {
		case *catalog.TransferCourse:
			if r.status != catalog.Failed {
				return nil
			}
			*state = catalog.Extraction{ProcessingStatus: catalog.Pending}
			change.Replace(before, record, w.at.Now())
			r.status, r.asked = catalog.Pending, record.UpdatedAt
		case *catalog.Section:
			switch what {
			case "name":
				record.Name += "!"
			case "syllabus":
				href := w.href(r)
				record.SyllabusHref, *state = &href, catalog.Extraction{ProcessingStatus: catalog.Pending}
				r.status, r.lease = catalog.Pending, ""
			case "none":
				record.SyllabusHref, *state = nil, catalog.Extraction{}
				r.syllabus, r.status, r.lease = "", "", ""
			}
			change.Replace(before, record, w.at.Now())
			if what == "syllabus" {
				r.asked = record.UpdatedAt
			}
		}
		return nil
	})
}

// person is a skill that only people know.
const person = "person"

// review is what PUT and DELETE of a review do, whatever state the record is in.
func (w *world) review(t *rapid.T) {
	r := w.pick(t)
	level := rapid.IntRange(0, 5).Draw(t, "level")
	w.commit(t, func(change *catalog.Change) error {
		record, _, _ := w.load(t, r)
		before := catalog.Copy(record)
		known := catalog.Lookups{SkillName: func(id string) (string, bool) { return id, true }}
		if level == 0 {
			if removed, err := catalog.Unreview(record.(catalog.Reviewed), person, known); err != nil || !removed {
				return err
			}
		}
		if level > 0 {
			in := catalog.ReviewInput{Verdict: catalog.Accepted, Level: catalog.Optional[*int]{Set: true, Value: &level}}
			if err := in.Apply(record.(catalog.Reviewed), person, "key_1", known, w.at.Now()); err != nil {
				return err
			}
		}
		change.Replace(before, record, w.at.Now())
		return nil
	})
	r.reviewed = level
}

func (w *world) remove(t *rapid.T) {
	r := w.pick(t)
	w.commit(t, func(change *catalog.Change) error {
		record, _, _ := w.load(t, r)
		change.Delete(record, w.at.Now(), nil)
		return nil
	})
	r.deleted = true
}

// agree compares all records with the model.
func (w *world) agree(t *rapid.T) {
	open := map[string]bool{}
	for _, r := range w.records {
		record, state, skills := w.load(t, r)
		if (record == nil) != r.deleted {
			t.Fatalf("%s is deleted: %v", r.job.ID, record == nil)
		}
		if record == nil {
			continue
		}
		if state.ProcessingStatus != r.status || (state.Failure != nil) != (r.status == catalog.Failed) {
			t.Fatalf("%s is %q (failure %v), want %q", r.job.ID, state.ProcessingStatus, state.Failure, r.status)
		}
		told, level := "", 0
		for _, skill := range skills {
			if skill.SkillID == person {
				level = skill.Level
			} else {
				told = skill.SkillID
			}
		}
		if level != r.reviewed || len(catalog.ReviewsOf(record)) != min(r.reviewed, 1) {
			t.Fatalf("%s teaches at level %d what a person has accepted at %d: %v", r.job.ID, level, r.reviewed, catalog.ReviewsOf(record))
		}
		if told != r.result {
			t.Fatalf("%s has the skills of %q, want those of %q", r.job.ID, told, r.result)
		}
		if r.status == catalog.Completed && told != r.syllabus {
			t.Fatalf("%s is COMPLETED with the skills of %q, its syllabus is %q", r.job.ID, told, r.syllabus)
		}
		if r.status == catalog.Pending || r.status == catalog.Processing {
			open[r.job.ID] = true
		}
	}
	// What is open, and only that, is seen by the sweeper when its time has come.
	later := &dynamo.Store{Client: w.store.Client, Table: w.store.Table, Now: func() catalog.Time { return w.at.Now() + 1_000_000 }}
	err := later.Stuck(context.Background(), rapid.Bool().Draw(t, "no message is left"), func(job catalog.ExtractionJob) error {
		if job.OrganizationID == w.org && !open[job.ID] {
			t.Fatalf("the sweeper sees %s, which is not open", job.ID)
		}
		if job.OrganizationID == w.org {
			delete(open, job.ID)
		}
		return nil
	})
	if err != nil || len(open) > 0 {
		t.Fatalf("the sweeper does not see %v, %v", open, err)
	}
}

// Whatever workers, clients and clocks do in whatever order, no record moves in a
// way that the contract does not have, a run that has lost its lease changes
// nothing, what is COMPLETED has the skills of the syllabus that it names, a review
// stands through all of it, and in the end every record ends.
func TestExtractionStates(t *testing.T) {
	t.Parallel()
	store, at := newStore(t)
	rapid.Check(t, func(t *rapid.T) {
		w := &world{store: store, at: at, org: catalog.OrgID(ids.New("org_"))}
		w.commit(t, func(change *catalog.Change) error {
			dir, err := store.Directory(context.Background(), w.org, catalog.CourseKind)
			if err != nil {
				return err
			}
			w.course = &catalog.Course{Name: "C", Code: "C"}
			change.AddCourse(w.course, &catalog.Section{}, ids, dir, at.Now)
			return nil
		})
		w.create(t)
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				if len(w.records) > 3 {
					t.Skip("enough")
				}
				w.create(t)
			},
			"claim":        w.claim,
			"claim again":  w.claim,
			"finish":       w.finish,
			"finish later": w.finish,
			"put back":     w.putBack,
			"change":       w.change,
			"review":       w.review,
			"delete":       w.remove,
			"wait":         func(t *rapid.T) { at.Add(catalog.Time(rapid.SampledFrom([]int{1, 6000, 11_000}).Draw(t, "ms"))) },
			"":             w.agree,
		})
		// The sweeper and honest workers bring everything to its end.
		at.Add(200_000)
		var jobs []catalog.ExtractionJob
		if err := store.Stuck(context.Background(), false, func(job catalog.ExtractionJob) error {
			if job.OrganizationID == w.org {
				jobs = append(jobs, job)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			if _, again, err := store.Resend(context.Background(), false, job); err != nil || !again {
				t.Fatalf("resend %v, %v", again, err)
			}
			if _, again, err := store.Resend(context.Background(), false, job); err != nil || again {
				t.Fatalf("a second resend %v, %v", again, err)
			}
			task, err := store.Claim(context.Background(), job, ids.New("run_"), at.Now()+1000)
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Finish(context.Background(), task, &catalog.ExtractionResult{Failure: &catalog.Failure{Code: catalog.TimedOut}}); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range w.records {
			if _, state, _ := w.load(t, r); state != nil && (state.ProcessingStatus == catalog.Pending || state.ProcessingStatus == catalog.Processing) {
				t.Fatalf("%s is still %s", r.job.ID, state.ProcessingStatus)
			}
		}
	})
}

// A message that waits in a long queue is not doubled each minute: the extraction
// is sent again when it has waited twice as long, at most.
func TestResendsGrowFurtherApart(t *testing.T) {
	t.Parallel()
	store, at := newStore(t)
	job := catalog.ExtractionJob{OrganizationID: org, Kind: catalog.SectionKind, ID: newSection(t, store)}
	const minute = 60_000
	start := at.Now()
	// sweep returns the minutes at which a sweeper sends the job again.
	sweep := func(minutes int, noneLeft bool) (sent []int) {
		t.Helper()
		for range minutes {
			at.Add(minute)
			err := store.Stuck(t.Context(), noneLeft, func(job catalog.ExtractionJob) error {
				job, again, err := store.Resend(t.Context(), noneLeft, job)
				if again && job.RequestedAt == 0 {
					t.Error("a job that is sent again does not say of which request it is")
				}
				if again {
					sent = append(sent, int((at.Now()-start)/minute))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return sent
	}
	if diff := cmp.Diff([]int{2, 6, 14, 30, 62, 126, 254, 510, 1022}, sweep(24*60, false)); diff != "" {
		t.Errorf("of one that waits: %s", diff)
	}
	// Its message is lost, as far as anybody knows: it does not wait for that.
	start = at.Now()
	if diff := cmp.Diff([]int{1, 2, 3}, sweep(3, true)); diff != "" {
		t.Errorf("of one that waits for no message: %s", diff)
	}
	// The release before did not note since when it waits.
	if _, err := store.Client.UpdateItem(t.Context(), &sdk.UpdateItemInput{
		TableName: &store.Table, UpdateExpression: aws.String("SET openSince = :now REMOVE waitsSince"),
		Key:                       map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "o#" + string(org) + "#Section"}, "sk": &types.AttributeValueMemberS{Value: job.ID}},
		ExpressionAttributeValues: map[string]types.AttributeValue{":now": &types.AttributeValueMemberN{Value: fmt.Sprint(int64(at.Now()))}},
	}); err != nil {
		t.Fatal(err)
	}
	start = at.Now()
	if sent := sweep(4, true); len(sent) == 0 || sent[0] != 2 {
		t.Errorf("of one of the release before: %v", sent)
	}
	// A run that dies is missed at once, whatever was before.
	if _, err := store.Claim(t.Context(), job, "run_1", at.Now()+minute); err != nil {
		t.Fatal(err)
	}
	start = at.Now()
	if sent := sweep(1, true); len(sent) > 0 {
		t.Errorf("of one that runs: %v", sent)
	}
	if sent := sweep(5, false); len(sent) == 0 || sent[0] != 2 {
		t.Errorf("of one whose run died: %v", sent)
	}
	task, err := store.Claim(t.Context(), job, "run_2", at.Now()+minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.PutBack(t.Context(), task, at.Now()+3*minute); err != nil {
		t.Fatal(err)
	}
	start = at.Now()
	if sent := sweep(9, false); len(sent) < 2 || sent[0] != 5 || sent[1] != 9 {
		t.Errorf("of one that is put back for three minutes: %v", sent)
	}
}
