package service

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"skillscurriculum/pkg/catalog"
)

// Feed reads the change feed of an organization.
type Feed interface {
	// FeedEnd returns the cursor after the last change.
	FeedEnd(ctx context.Context, org catalog.OrgID) (catalog.Cursor, error)
	// Changes returns at most limit changes after a cursor, and reports whether there are more.
	Changes(
		ctx context.Context, org catalog.OrgID, cursor string, limit int,
	) (changes []catalog.RecordChange, more bool, err error)
}

// followed caches values that are made from the records of an organization, and follows its change feed to keep them
// current. Its zero value is ready for use.
type followed[K comparable, V interface{ share() float64 }] struct {
	mu     sync.Mutex
	values map[K]*followedValue[V]
}

// followedValue is the value of a key. The mutex is held while it is brought up to date.
type followedValue[V any] struct {
	mu   sync.Mutex
	last atomic.Pointer[valueAt[V]]
}

// valueAt is a value at a cursor of the change feed.
type valueAt[V any] struct {
	at    catalog.Cursor
	value V
}

// followChanges is the number of changes after which everything is read again.
const followChanges = 1_000

// organizationShare is the share of values of which four organizations' are kept, whatever their size.
const organizationShare = .25

// now returns the current value of a key. apply makes it from the last one and the ids of the selected records that
// have changed; load reads everything.
func (f *followed[K, V]) now(
	ctx context.Context, a Actor, key K, selects func(catalog.RecordChange) bool,
	apply func(ctx context.Context, last V, ids []string) (V, error), load func(context.Context) (V, error),
) (value V, err error) {
	kept := f.of(key)
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if last := kept.last.Load(); last != nil {
		changes, more, err := a.Store.Changes(ctx, a.Org, last.at.String(), followChanges)
		if err != nil {
			return value, err
		}
		if !more {
			end, ids := last.at, []string{}
			for _, change := range changes {
				if end = change.Cursor; selects(change) {
					ids = append(ids, change.ID)
				}
			}
			value = last.value
			if len(ids) > 0 {
				slices.Sort(ids)
				value, err = apply(ctx, value, slices.Compact(ids))
			}
			if err == nil {
				kept.last.Store(&valueAt[V]{end, value})
			}
			return value, err
		}
	}
	end, err := a.Store.FeedEnd(ctx, a.Org)
	if err == nil {
		value, err = load(ctx)
	}
	if err == nil {
		kept.last.Store(&valueAt[V]{end, value})
	}
	return value, err
}

// last returns the value of a key as it was last, and whether there is one.
func (f *followed[K, V]) last(key K) (value V, ok bool) {
	if last := f.of(key).last.Load(); last != nil {
		return last.value, true
	}
	return value, false
}

// drop removes the value of a key.
func (f *followed[K, V]) drop(key K) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.values, key)
}

// of returns the value of a key, and drops the others if they use more than their share of the memory: 1 in total.
func (f *followed[K, V]) of(key K) *followedValue[V] {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.values[key]
	if kept == nil {
		kept = &followedValue[V]{}
	}
	used := 0.0
	for _, other := range f.values {
		if last := other.last.Load(); last != nil {
			used += last.value.share()
		}
	}
	if f.values == nil || used > 1 {
		f.values = map[K]*followedValue[V]{}
	}
	f.values[key] = kept
	return kept
}

// ofKinds returns a function that selects the changes of records of the kinds.
func ofKinds(kinds ...catalog.Kind) func(catalog.RecordChange) bool {
	return func(c catalog.RecordChange) bool { return slices.Contains(kinds, c.Kind) }
}
