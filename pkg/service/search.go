package service

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/search"
	"skillscurriculum/pkg/service/parallel"
)

const (
	// searchFresh is how long, in ms, the titles of a list are used before the change feed is read again. Together
	// with the time of a search it stays below the 10 s within which changes must be found.
	searchFresh = 8_000
	// searchedTitles limits the titles in memory; the list that is searched may exceed it alone.
	searchedTitles = 200_000
	searchAttempts = 5
)

// Search finds records of lists by words of their codes and names. It keeps the titles of the lists that were searched
// last, and follows the change feed to keep them current. Its zero value is ready for use.
type Search struct{ followed[listOf, *titles] }

type listOf struct {
	org  catalog.OrgID
	kind catalog.Kind
}

// titles are the titles of a list, sorted.
type titles struct {
	entries []search.Entry
	read    atomic.Int64 // when they were last known to be current
}

func (t *titles) share() float64 { return float64(len(t.entries)+1) / searchedTitles }

// Find returns a page of the records that match the query, the best match first, and the number of all matches. A code
// that is not empty selects records with that code, compared as articulations compare codes.
func Find[R catalog.Record](
	ctx context.Context, x *Search, a Actor, query, code string, offset, limit int,
) (page []R, total int, err error) {
	list := listOf{a.Org, kindOf[R]()}
	matches := func(in *titles) (all, page []search.Entry) {
		all = search.Parse(query).Find(in.entries)
		if code != "" {
			all = slices.DeleteFunc(all, func(e search.Entry) bool { return !equalCode(e, code) })
		}
		return all, catalog.PageOf(all, offset, limit)
	}
	for attempt := range searchAttempts {
		// The feed is read in parallel with the page that the last titles predict.
		var current *titles
		var changed, records map[string]catalog.Record
		last, known := x.last(list)
		strong := attempt > 0
		err := parallel.All(ctx, func(ctx context.Context) (err error) {
			current, changed, err = x.titles(ctx, a, list, strong)
			return err
		}, func(ctx context.Context) (err error) {
			if known {
				_, predicted := matches(last)
				records, err = list.fetch(ctx, a.Store, predicted, nil, strong)
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		maps.Copy(changed, records)
		all, wanted := matches(current)
		if records, err = list.fetch(ctx, a.Store, wanted, changed, strong); err != nil {
			return nil, 0, err
		}
		page = make([]R, 0, len(wanted))
		for _, e := range wanted {
			if r := records[e.ID]; r != nil && titled(r) == [2]string{e.Code, e.Name} {
				page = append(page, r.(R))
			}
		}
		if len(page) == len(wanted) {
			return page, len(all), nil
		}
		// A record was changed or deleted since the feed was read, or a read was stale.
	}
	return nil, 0, catalog.ChangingTooFast()
}

// Matches reports whether a record matches a query and has a code; empty ones select all records.
func Matches(r catalog.Record, query, code string) bool {
	e := entryOf(r)
	return (query == "" || search.Parse(query).Matches(e)) && (code == "" || equalCode(e, code))
}

// equalCode compares codes as articulations do.
func equalCode(e search.Entry, code string) bool {
	asked := catalog.Normalized(code)
	return asked != "" && catalog.Normalized(e.Code) == asked
}

func titled(r catalog.Record) [2]string {
	code, name := catalog.TitleOf(r)
	return [2]string{code, name}
}

func entryOf(r catalog.Record) search.Entry {
	code, name := catalog.TitleOf(r)
	return search.NewEntry(r.Base().ID, code, name)
}

// titles returns the titles of a list, and the records that it read because they had changed, by id. strong titles are
// current; others may be as old as searchFresh.
func (x *Search) titles(
	ctx context.Context, a Actor, list listOf, strong bool,
) (*titles, map[string]catalog.Record, error) {
	changed := map[string]catalog.Record{}
	if last, ok := x.last(list); ok && !strong {
		if age := a.Now - catalog.Time(last.read.Load()); 0 <= age && age < searchFresh {
			return last, changed, nil
		}
	}
	current, err := x.now(ctx, a, list, ofKinds(list.kind), func(
		ctx context.Context, last *titles, ids []string,
	) (next *titles, err error) {
		changed, err = a.Store.RecordsByID(ctx, list.org, list.kind, ids, true)
		rest := slices.DeleteFunc(slices.Clone(last.entries), func(e search.Entry) bool {
			_, touched := slices.BinarySearch(ids, e.ID)
			return touched
		})
		return newTitles(rest, slices.Collect(maps.Values(changed))), err
	}, func(ctx context.Context) (*titles, error) {
		records, err := a.Store.Titles(ctx, list.org, list.kind)
		return newTitles(nil, records), err
	})
	if err == nil {
		current.read.Store(int64(a.Now))
	}
	return current, changed, err
}

// newTitles returns the titles of records and others.
func newTitles(others []search.Entry, records []catalog.Record) *titles {
	t := &titles{entries: others}
	for _, r := range records {
		t.entries = append(t.entries, entryOf(r))
	}
	search.Sort(t.entries)
	return t
}

// fetch returns the records of entries by id; those among known are not read.
func (l listOf) fetch(
	ctx context.Context, s Records, entries []search.Entry, known map[string]catalog.Record, strong bool,
) (map[string]catalog.Record, error) {
	var missing []string
	for _, e := range entries {
		if known[e.ID] == nil {
			missing = append(missing, e.ID)
		}
	}
	records, err := s.RecordsByID(ctx, l.org, l.kind, missing, strong)
	if err == nil {
		maps.Copy(records, known)
	}
	return records, err
}
