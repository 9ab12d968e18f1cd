package dynamo_test

import (
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// readFeed reads the feed from a cursor to its end in pieces of a size.
func readFeed(t *testing.T, store *dynamo.Store, cursor string, limit int) []catalog.RecordChange {
	t.Helper()
	var all []catalog.RecordChange
	for {
		piece, more, err := store.Changes(t.Context(), org, cursor, limit)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, piece...)
		if len(piece) > 0 {
			cursor = piece[len(piece)-1].Cursor
		}
		if !more {
			return all
		}
	}
}

// Writers of two functions write while a reader follows with the cursor that it
// was given last. Nothing is lost, nothing comes twice, and the order that the
// reader saw is the order that the feed keeps.
func TestFeedLosesNothingUnderWriters(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	other := through(store, func(c call) (any, error) { return c.next() })
	const writers, each = 8, 10
	group, ctx := errgroup.WithContext(t.Context())
	for w := range writers {
		group.Go(func() error {
			from := store
			if w%2 == 1 {
				from = other
			}
			for i := range each {
				if _, err := newJob(ctx, from, fmt.Sprint(w, i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()
	var followed []catalog.RecordChange
	cursor := ""
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			running = false
		default:
		}
		for _, change := range readFeed(t, store, cursor, 5) {
			followed = append(followed, change)
			cursor = change.Cursor
		}
	}
	all := readFeed(t, store, "", 7)
	if len(all) != writers*each || len(followed) != writers*each {
		t.Fatalf("the feed holds %d changes and the reader saw %d, want %d", len(all), len(followed), writers*each)
	}
	seen := map[string]bool{}
	for i, change := range all {
		if followed[i].ID != change.ID || seen[change.ID] {
			t.Fatalf("change %d was %s to the follower and is %s now", i, followed[i].ID, change.ID)
		}
		seen[change.ID] = true
	}
}

func TestCursorsLeadOn(t *testing.T) {
	t.Parallel()
	store, _ := newStore(t)
	const n = 30
	for i := range n {
		if _, err := newJob(t.Context(), store, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	all := readFeed(t, store, "", 4)
	if len(all) != n {
		t.Fatalf("%d changes, want %d", len(all), n)
	}
	for i, change := range all {
		rest, more, err := store.Changes(t.Context(), org, change.Cursor, n)
		if err != nil || more || len(rest) != n-1-i {
			t.Errorf("%d changes behind number %d, more %v, %v", len(rest), i, more, err)
		}
	}
	if _, more, err := store.Changes(t.Context(), org, "", n); err != nil || more {
		t.Errorf("a piece that ends where the feed does says more %v, %v", more, err)
	}
	if _, more, err := store.Changes(t.Context(), org, "", n-1); err != nil || !more {
		t.Errorf("a piece that ends before the feed does says more %v, %v", more, err)
	}
	for _, cursor := range []string{"x", "c", "c-", "c1", "c1-", "c01-1", "c-1-1", "c1--1", "1-1", "c1-1 ", "c+1-1", "cZZZZZZZZZZZ-1", "C1-1"} {
		if _, _, err := store.Changes(t.Context(), org, cursor, 10); err == nil {
			t.Errorf("the made-up cursor %q was taken", cursor)
		}
	}
}

// A write whose answer comes late, when others have filled its page already, must
// not make its function believe that the next page is fuller than it is: another
// function would go on writing there, behind cursors that have moved past it.
func TestLateAnswerLeavesNoGapInTheFeed(t *testing.T) {
	t.Parallel()
	plain, _ := newStore(t)
	var late func()
	one := through(plain, func(c call) (any, error) {
		out, err := c.next()
		if meanwhile := late; c.operation == "TransactWriteItems" && meanwhile != nil {
			late = nil
			meanwhile()
		}
		return out, err
	})
	two := through(plain, func(c call) (any, error) { return c.next() })
	write := func(store *dynamo.Store, n int) {
		t.Helper()
		for range n {
			if _, err := newJob(t.Context(), store, "x"); err != nil {
				t.Fatal(err)
			}
		}
	}
	const page = 12
	write(one, page-2)
	late = func() { write(one, 1) }
	if _, err := newCourse(t.Context(), one, "two entries"); err != nil {
		t.Fatal(err)
	}
	write(two, 1) // knows the next page from now on
	write(one, page-1)
	follower := readFeed(t, plain, "", 100)
	write(two, 1)
	follower = append(follower, readFeed(t, plain, follower[len(follower)-1].Cursor, 100)...)
	if all := readFeed(t, plain, "", 100); len(follower) != len(all) {
		t.Errorf("the follower saw %d of %d changes", len(follower), len(all))
	}
}
