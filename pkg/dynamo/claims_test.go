package dynamo_test

import (
	"errors"
	"fmt"
	"testing"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

// jobNamed decides on a job with an external id that a record without a row had before; "" for none.
func jobNamed(t *testing.T, store *dynamo.Store, name, was string) (*catalog.Job, *catalog.Change) {
	t.Helper()
	dir, err := store.Directory(t.Context(), org, catalog.JobKind)
	if err != nil {
		t.Fatal(err)
	}
	job := &catalog.Job{External: catalog.External{ExternalID: &name}}
	change := &catalog.Change{}
	change.Add(job, ids, dir, store.Now)
	resolve(t, change, name, was)
	return job, change
}

// renamed decides to give a stored job an external id.
func renamed(t *testing.T, store *dynamo.Store, id, name, was string) *catalog.Change {
	t.Helper()
	job, err := service.Get[*catalog.Job](t.Context(), store, org, id, true)
	if err != nil {
		t.Fatal(err)
	}
	before, change := *job, &catalog.Change{}
	job.ExternalID = &name
	change.Replace(&before, job, store.Now())
	resolve(t, change, name, was)
	return change
}

func resolve(t *testing.T, change *catalog.Change, name, was string) {
	t.Helper()
	if err := change.Resolve(map[string]catalog.ExternalID{name: {Name: name, Was: was}}, nil, ""); err != nil {
		t.Fatal(err)
	}
}

// Of the change that has claimed a name and one that takes it over, only the first that is saved takes effect, whether
// the other creates a record or changes one.
func TestClaimedNames(t *testing.T) {
	store, _ := newStore(t)
	ctx := t.Context()
	old, err := newJob(ctx, store, "Old")
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for i, taking := range []func(name, was string) *catalog.Change{
		func(name, was string) *catalog.Change {
			want++
			_, change := jobNamed(t, store, name, was)
			return change
		},
		func(name, was string) *catalog.Change { return renamed(t, store, old, name, was) },
	} {
		for _, claimedFirst := range []bool{false, true} {
			name := fmt.Sprint("J", i, claimedFirst)
			job, claiming := jobNamed(t, store, name, "")
			if !claiming.ClaimNames() || len(claiming.Claims()) != 1 {
				t.Fatalf("claims %v", claiming.Claims())
			}
			if err := store.ClaimNames(ctx, org, claiming); err != nil {
				t.Fatal(err)
			}
			known, err := store.Known(ctx, org, catalog.JobKind, []string{name})
			if err != nil || known[name].Was != job.ID || known[name].Record != nil {
				t.Fatalf("before the job is saved: %+v %v", known, err)
			}
			var other *catalog.Change
			if claimedFirst {
				if err := store.Commit(ctx, org, claiming); err != nil {
					t.Fatal(err)
				}
				// As if the list was read afterwards, but the name's record before.
				if other = taking(name, job.ID); i == 0 {
					want--
				}
				want++
				if err := store.Commit(ctx, org, other); !errors.Is(err, catalog.ErrStale) {
					t.Errorf("%s was taken over from its record: %v", name, err)
				}
			} else {
				if err := store.Commit(ctx, org, taking(name, job.ID)); err != nil {
					t.Fatal(err)
				}
				if err := store.Commit(ctx, org, claiming); !errors.Is(err, catalog.ErrStale) {
					t.Errorf("%s was taken over, and then created: %v", name, err)
				}
			}
			known, err = store.Known(ctx, org, catalog.JobKind, []string{name})
			if err != nil || known[name].Record == nil {
				t.Errorf("%s: %+v %v", name, known, err)
			}
			if _, total, err := service.List[*catalog.Job](ctx, store, org, 0, 1); err != nil || total != want {
				t.Errorf("%s: %d jobs, want %d, %v", name, total, want, err)
			}
		}
	}
}

// The number for which names were claimed belongs to another record by now, and each of these names can be used.
func TestNamesOfANumber(t *testing.T) {
	store, _ := newStore(t)
	ctx := t.Context()
	was := map[string]string{}
	for _, name := range []string{"A", "B"} {
		job, change := jobNamed(t, store, name, "")
		change.ClaimNames()
		if err := store.ClaimNames(ctx, org, change); err != nil {
			t.Fatal(err)
		}
		was[name] = job.ID
	}
	number, _ := catalog.Sequence(catalog.JobKind, was["A"])
	if other, _ := catalog.Sequence(catalog.JobKind, was["B"]); other != number {
		t.Fatalf("numbers %d and %d", number, other)
	}
	for _, between := range []bool{false, true} { // the first takes the number itself
		if between {
			if _, err := newJob(ctx, store, "Between"); err != nil {
				t.Fatal(err)
			}
		}
		name := map[bool]string{false: "A", true: "B"}[between]
		job, change := jobNamed(t, store, name, was[name])
		if err := store.Commit(ctx, org, change); err != nil {
			t.Fatal(err)
		}
		known, err := store.Known(ctx, org, catalog.JobKind, []string{name})
		if err != nil || known[name].Record == nil || known[name].Record.Base().ID != job.ID {
			t.Errorf("%+v %v", known, err)
		}
	}
	// Both at once, in the transaction of one change.
	dir, err := store.Directory(ctx, org, catalog.JobKind)
	if err != nil {
		t.Fatal(err)
	}
	var both catalog.Change
	for range 2 {
		both.Add(&catalog.Job{}, ids, dir, store.Now)
	}
	known := map[string]catalog.ExternalID{}
	for i, created := range catalog.EffectsOf[*catalog.Creation](&both) {
		name := fmt.Sprint("C", i)
		lost, change := jobNamed(t, store, name, "")
		change.ClaimNames()
		if err := store.ClaimNames(ctx, org, change); err != nil {
			t.Fatal(err)
		}
		both.AssignExternalID(created.Record, name)
		known[name] = catalog.ExternalID{Name: name, Was: lost.ID}
	}
	if err := both.Resolve(known, nil, ""); err != nil {
		t.Fatal(err)
	}
	if err := store.Commit(ctx, org, &both); err != nil {
		t.Error(err)
	}
}

// The row of a code that was claimed for a course that never came finds no other course of its number, and counts in no
// total.
func TestClaimedCodes(t *testing.T) {
	store, _ := newStore(t)
	ctx := t.Context()
	dir, err := store.Directory(ctx, org, catalog.CourseKind)
	if err != nil {
		t.Fatal(err)
	}
	var lost catalog.Change
	for range 3 {
		lost.AddCourse(&catalog.Course{Name: "Lost", Code: "L 1"}, &catalog.Section{}, ids, dir, store.Now)
	}
	lost.ClaimNames()
	if err := store.ClaimNames(ctx, org, &lost); err != nil {
		t.Fatal(err)
	}
	check := func(code string, want int) {
		t.Helper()
		for offset := range want + 1 {
			courses, total, err := store.CoursesByCode(ctx, org, code, offset, 1)
			if err != nil || total != want || len(courses) != min(1, want-offset) {
				t.Errorf("%s from %d: %d of %d, want %d, %v", code, offset, len(courses), total, want, err)
			}
		}
	}
	check("L 1", 0)
	for _, code := range []string{"C 1", "L 1", "C 1", "L 1"} {
		commit(t, store, func(change *catalog.Change) error {
			dir, err := store.Directory(ctx, org, catalog.CourseKind)
			if err == nil {
				change.AddCourse(&catalog.Course{Name: "Other", Code: code}, &catalog.Section{}, ids, dir, store.Now)
			}
			return err
		})
	}
	check("L 1", 2)
	check("C 1", 2)
}
