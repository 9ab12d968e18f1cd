package dynamo_test

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
)

// Writers create and delete while there are readers of two functions. No page repeats a
// record, none skips one that lives throughout, and its total fits its data.
func TestPagesAreSnapshots(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	other := through(store, func(c call) (any, error) { return c.next() })
	var lasting []string
	for i := range 24 {
		id, err := newJob(t.Context(), store, fmt.Sprint("lasting ", i))
		if err != nil {
			t.Fatal(err)
		}
		lasting = append(lasting, id)
	}
	var writing atomic.Int32
	writers, ctx := errgroup.WithContext(t.Context())
	for w := range 4 {
		from := []*dynamo.Store{store, other}[w%2]
		writing.Add(1)
		writers.Go(func() error {
			defer writing.Add(-1)
			for range 12 {
				a, err := newJob(ctx, from, "passing")
				if err != nil {
					return err
				}
				b, err := newJob(ctx, from, "passing")
				if err != nil {
					return err
				}
				for _, id := range []string{b, a} {
					if err := deleteJob(ctx, from, id); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	var readers errgroup.Group
	var pages atomic.Int32
	for r := range 3 {
		from := []*dynamo.Store{store, other}[r%2]
		readers.Go(func() error {
			for turn := 0; writing.Load() > 0; turn++ {
				offset, limit := turn*5%30, 1+turn*7%100
				jobs, total, err := service.List[*catalog.Job](t.Context(), from, org, offset, limit)
				if isCode(err, catalog.Unavailable) {
					continue
				}
				if err != nil {
					return err
				}
				pages.Add(1)
				if len(jobs) != max(0, min(limit, total-offset)) {
					return fmt.Errorf("page %d+%d of %d holds %d", offset, limit, total, len(jobs))
				}
				last := -1
				var seen []string
				for _, job := range jobs {
					seq, _ := catalog.Sequence(catalog.JobKind, job.ID)
					if seq <= last {
						return fmt.Errorf("page %d+%d repeats number %d", offset, limit, seq)
					}
					last = seq
					seen = append(seen, job.ID)
				}
				// The lasting ones are the oldest: they stand at their own offsets.
				want := lasting[min(offset, len(lasting)):min(offset+limit, len(lasting))]
				if !slices.Equal(seen[:min(len(want), len(seen))], want) {
					return fmt.Errorf("page %d+%d skips a record that was live throughout", offset, limit)
				}
			}
			return nil
		})
	}
	if err := writers.Wait(); err != nil {
		t.Error(err)
	}
	if err := readers.Wait(); err != nil {
		t.Error(err)
	}
	jobs, total, err := service.List[*catalog.Job](t.Context(), store, org, 0, 100)
	if err != nil || total != len(lasting) || len(jobs) != len(lasting) {
		t.Errorf("%d of %d jobs are left, %v", len(jobs), total, err)
	}
	if pages.Load() < 20 {
		t.Errorf("only %d pages were read", pages.Load())
	}
}

// Twenty writers at once lose nothing.
func TestWritersLoseNothing(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	const writers, each = 20, 3
	made := make([][]string, writers)
	var group errgroup.Group
	for w := range writers {
		group.Go(func() error {
			for i := range each {
				id, err := newJob(t.Context(), store, fmt.Sprint(w, i))
				if err != nil {
					return err
				}
				made[w] = append(made[w], id)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	jobs, total, err := service.List[*catalog.Job](t.Context(), store, org, 0, 100)
	if err != nil || total != writers*each || len(jobs) != total {
		t.Fatalf("%d of %d jobs, want %d, %v", len(jobs), total, writers*each, err)
	}
	var listed []string
	for _, job := range jobs {
		listed = append(listed, job.ID)
	}
	for _, id := range slices.Concat(made...) {
		if !slices.Contains(listed, id) {
			t.Errorf("%s is lost", id)
		}
	}
}

// A directory that another function has changed since is found out, at any offset.
func TestPagesWithAnOldDirectory(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	other := through(store, func(c call) (any, error) { return c.next() })
	var made []string
	for i := range 50 {
		id, err := newJob(t.Context(), store, fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, id)
	}
	page := func(from *dynamo.Store, offset, limit int) (ids []string, total int) {
		t.Helper()
		jobs, total, err := service.List[*catalog.Job](t.Context(), from, org, offset, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs {
			ids = append(ids, job.ID)
		}
		return ids, total
	}
	page(other, 0, 10)
	for _, i := range []int{49, 33, 32, 17, 16, 0} {
		if err := deleteJob(t.Context(), store, made[i]); err != nil {
			t.Fatal(err)
		}
		made = slices.Delete(made, i, i+1)
		for _, offset := range []int{0, 1, 15, 16, 30, 43, 100} {
			got, total := page(other, offset, 10)
			want := made[min(offset, len(made)):min(offset+10, len(made))]
			if total != len(made) || !slices.Equal(got, want) {
				t.Fatalf("offset %d: %d of %d records, want %d of %d", offset, len(got), total, len(want), len(made))
			}
		}
	}
}
