package service

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/search"
	"skillscurriculum/pkg/service/parallel"
)

// Searched is the table as searches need it.
type Searched interface {
	Sections
	// Changes reads the change feed from a cursor on.
	Changes(
		ctx context.Context, org catalog.OrgID, cursor string, limit int,
	) (changes []catalog.RecordChange, more bool, err error)
	// Titles reads at least catalog.TitleFields, and the fields named by also, of every record of a list, with strong
	// reads.
	Titles(ctx context.Context, org catalog.OrgID, kind catalog.Kind, also ...string) ([]catalog.Record, error)
}

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
type Search struct {
	mu    sync.Mutex
	lists map[listOf]*titles
}

type listOf struct {
	org  catalog.OrgID
	kind catalog.Kind
}

// titles are the titles of a list. The mutex is held while they are brought up to date.
type titles struct {
	listOf
	mu   sync.Mutex
	last atomic.Pointer[snapshot]
}

// snapshot has the titles of a list at one point of the change feed.
type snapshot struct {
	entries []search.Entry // sorted
	at      catalog.Cursor
	read    catalog.Time // when the feed was read up to at
}

// Find returns a page of the records that match the query, the best match first, and the number of all matches. A code
// that is not empty selects records with that code, compared as articulations compare codes.
func Find[R catalog.Record](
	ctx context.Context, x *Search, s Searched, org catalog.OrgID, now catalog.Time,
	query, code string, offset, limit int,
) (page []R, total int, err error) {
	var kind R
	list := x.list(listOf{org, catalog.KindOf(kind)})
	matches := func(in *snapshot) (all, page []search.Entry) {
		all = search.Parse(query).Find(in.entries)
		if code != "" {
			all = slices.DeleteFunc(all, func(e search.Entry) bool { return !equalCode(e, code) })
		}
		return all, catalog.PageOf(all, offset, limit)
	}
	for attempt := range searchAttempts {
		// The feed is read in parallel with the page that the last titles predict.
		var current *snapshot
		var changed, records map[string]catalog.Record
		last, strong := list.last.Load(), attempt > 0
		err := parallel.All(ctx, func(ctx context.Context) (err error) {
			current, changed, err = list.current(ctx, s, now, strong)
			return err
		}, func(ctx context.Context) (err error) {
			if last != nil {
				_, predicted := matches(last)
				records, err = list.fetch(ctx, s, predicted, nil, strong)
			}
			return err
		})
		if err != nil {
			return nil, 0, err
		}
		maps.Copy(changed, records)
		all, wanted := matches(current)
		if records, err = list.fetch(ctx, s, wanted, changed, strong); err != nil {
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

// list returns the titles of a list, and drops those of others if there are too many.
func (x *Search) list(of listOf) *titles {
	x.mu.Lock()
	defer x.mu.Unlock()
	known := x.lists[of]
	if known == nil {
		known = &titles{listOf: of}
	}
	kept := 0
	for _, list := range x.lists {
		if last := list.last.Load(); last != nil {
			kept += len(last.entries) + 1
		}
	}
	if x.lists == nil || kept > searchedTitles {
		x.lists = map[listOf]*titles{}
	}
	x.lists[of] = known
	return known
}

// current returns up-to-date titles, and the records that it read because they had changed, by id.
func (t *titles) current(
	ctx context.Context, s Searched, now catalog.Time, strong bool,
) (*snapshot, map[string]catalog.Record, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last.Load()
	if last != nil && !strong && now >= last.read && now-last.read < searchFresh {
		return last, map[string]catalog.Record{}, nil
	}
	next, changed, err := t.follow(ctx, s, last)
	if err == nil && next == nil {
		next, changed, err = t.load(ctx, s)
	}
	if err != nil {
		return nil, nil, err
	}
	next.read = now
	t.last.Store(next)
	return next, changed, nil
}

// load reads all titles.
func (t *titles) load(ctx context.Context, s Searched) (*snapshot, map[string]catalog.Record, error) {
	end, err := s.FeedEnd(ctx, t.org)
	if err != nil {
		return nil, nil, err
	}
	records, err := s.Titles(ctx, t.org, t.kind)
	next := &snapshot{entries: make([]search.Entry, len(records)), at: end}
	for i, r := range records {
		next.entries[i] = entryOf(r)
	}
	search.Sort(next.entries)
	return next, map[string]catalog.Record{}, err
}

// follow applies the changes since the last snapshot; it returns nil if there is none, or if there are too many
// changes.
func (t *titles) follow(
	ctx context.Context, s Searched, last *snapshot,
) (next *snapshot, changed map[string]catalog.Record, err error) {
	if last == nil {
		return nil, nil, nil
	}
	ids, end, few, err := changedSince(ctx, s, t.org, last.at, func(c catalog.RecordChange) bool {
		return c.Kind == t.kind
	})
	if err != nil || !few {
		return nil, nil, err
	}
	next = &snapshot{entries: last.entries, at: end}
	if len(ids) == 0 {
		return next, map[string]catalog.Record{}, nil
	}
	changed, err = s.RecordsByID(ctx, t.org, t.kind, ids, true)
	next.entries = slices.DeleteFunc(slices.Clone(last.entries), func(e search.Entry) bool {
		_, touched := slices.BinarySearch(ids, e.ID)
		return touched
	})
	for _, r := range changed {
		next.entries = append(next.entries, entryOf(r))
	}
	search.Sort(next.entries)
	return next, changed, err
}

// fetch returns the records of entries by id; those among known are not read.
func (t *titles) fetch(
	ctx context.Context, s Searched, entries []search.Entry, known map[string]catalog.Record, strong bool,
) (map[string]catalog.Record, error) {
	var missing []string
	for _, e := range entries {
		if known[e.ID] == nil {
			missing = append(missing, e.ID)
		}
	}
	records, err := s.RecordsByID(ctx, t.org, t.kind, missing, strong)
	if err == nil {
		maps.Copy(records, known)
	}
	return records, err
}
