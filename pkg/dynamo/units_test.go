package dynamo_test

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/quota"
)

func TestCounter(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	counter := &dynamo.Counter{Store: store, Timeout: 5 * time.Second}
	customer := catalog.CustomerID("cus_1")
	const now = 1_795_000_000
	w := quota.Window{Start: now, End: now + 60, Units: 10}
	add := func(units, want int, full bool) {
		t.Helper()
		used, err := counter.Add(t.Context(), customer, w, quota.Charge{Operation: "op", Units: units, Calls: 1})
		if used != want || errors.Is(err, quota.ErrFull) != full || err != nil && !full {
			t.Fatalf("%d units more: %d used, %v; want %d, full %v", units, used, err, want, full)
		}
	}
	add(11, 0, true)
	add(0, 0, false)
	add(7, 7, false)
	add(4, 7, true)
	add(3, 10, false)
	add(1, 10, true)
	add(0, 10, false)
	add(-3, 7, false)
	add(3, 10, false)
	if err := counter.Refuse(t.Context(), customer, w, 2); err != nil {
		t.Fatal(err)
	}
	if err := counter.Refuse(t.Context(), customer, w, 3); err != nil {
		t.Fatal(err)
	}
	usage, err := counter.Usage(t.Context(), customer, w)
	if err != nil || usage.Used != 10 || usage.Limited != 5 || usage.Start != now || usage.Operations["op"] != (quota.OperationUsage{Calls: 6, Units: 10}) {
		t.Errorf("%+v, %v", usage, err)
	}
	// A limit that was lowered meanwhile refuses, and one that was raised admits.
	w.Units = 5
	add(1, 10, true)
	w.Units = 11
	add(1, 11, false)
	// Refusals alone make a window.
	next := quota.Window{Start: now + 60, End: now + 120, Units: 10}
	if err := counter.Refuse(t.Context(), customer, next, 1); err != nil {
		t.Fatal(err)
	}
	history, err := counter.History(t.Context(), customer, now, now+120)
	if err != nil || len(history) != 2 || history[now].Used != 11 || history[now+60].Limited != 1 || history[now+60].Used != 0 {
		t.Errorf("%+v, %v", history, err)
	}
	if used, err := counter.Add(t.Context(), customer, next, quota.Charge{Operation: "op", Units: 10, Calls: 1}); err != nil || used != 10 {
		t.Errorf("%d used, %v", used, err)
	}
	history, err = counter.History(t.Context(), customer, now, now+60)
	if err != nil || len(history) != 1 {
		t.Errorf("%+v, %v", history, err)
	}
}

func TestCounterIsExact(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	counter := &dynamo.Counter{Store: store, Timeout: 10 * time.Second}
	w := quota.Window{Start: 0, End: 60, Units: 100}
	var group errgroup.Group
	admitted := make([]int, 32)
	for i := range admitted {
		group.Go(func() error {
			for range 8 {
				_, err := counter.Add(t.Context(), "cus_1", w, quota.Charge{Operation: "op", Units: 1, Calls: 1})
				if err == nil {
					admitted[i]++
				} else if !errors.Is(err, quota.ErrFull) {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range admitted {
		total += n
	}
	if total != 100 {
		t.Errorf("%d units admitted, want 100", total)
	}
}
