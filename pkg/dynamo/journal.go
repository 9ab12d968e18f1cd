package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// pageEntries is the number of entries at which a page of the feed is full: nine of the
// longest stay below one kilobyte, the smallest write. Later releases may lower it but never
// raise it, because a page with fewer entries counts as still being filled.
const pageEntries = 9

// entry returns the stored form of a change of a record.
func entry(what string, r catalog.Record) string {
	return formatEntry(what, catalog.KindOf(r), r.Base().ID, catalog.ParentOf(r), r.Base().UpdatedAt)
}

// marked returns the first field of the entry of a changed record with an event; "" for none.
// It is short, because a page of the feed is small.
func marked(event string) string {
	_, what, _ := strings.Cut(event, ".")
	return cmp.Or(what, catalog.Changed)
}

// unmarked is the inverse of marked for an entry of a kind. Entries without an event keep their change.
func unmarked(what string, kind catalog.Kind) (change, event string) {
	for _, event := range catalog.Events() {
		if marked(event) == what && strings.HasPrefix(event, "import.") == (kind == catalog.ImportKind) {
			return catalog.Changed, event
		}
	}
	return what, ""
}

// formatEntry formats an entry for parseEntry; "" for a part of another record, whose entry has the change.
func formatEntry(what string, kind catalog.Kind, id, parentID string, at catalog.Time) string {
	if kind.Path() == "" {
		return ""
	}
	return strings.Join([]string{what, string(kind), id, parentID, strconv.FormatInt(int64(at), 10)}, "|")
}

// journal returns the update that appends entries to the last page of the organization's feed, and that page. Pages
// fill up in order and entries never move, so that (page, place) is a cursor that neither loses nor repeats entries.
func (s *Store) journal(
	ctx context.Context, org catalog.OrgID, entries []string,
) (types.TransactWriteItem, feedPage, error) {
	last, err := s.lastPage(ctx, org)
	if err != nil {
		return types.TransactWriteItem{}, last, err
	}
	list := make([]types.AttributeValue, len(entries))
	for i, e := range entries {
		list[i] = text(e)
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &s.Table, Key: journalKey(org, last.page).attributes(),
		UpdateExpression:    aws.String("SET entries = list_append(if_not_exists(entries, :none), :new) ADD filled :n"),
		ConditionExpression: aws.String("attribute_not_exists(filled) OR filled < :full"),
		ExpressionAttributeValues: item{
			":none": &types.AttributeValueMemberL{}, ":new": &types.AttributeValueMemberL{Value: list},
			":n": number(len(entries)), ":full": number(pageEntries),
		},
	}}, last, nil
}

// feedPage is a page of the feed and the minimum number of entries in it.
type feedPage struct{ page, filled int }

// with returns the page for the next entries after n more were written.
func (p feedPage) with(n int) feedPage {
	if p.filled+n >= pageEntries {
		return feedPage{page: p.page + 1}
	}
	return feedPage{p.page, p.filled + n}
}

// lastPage returns the page for new entries: the last one used by this process, or else the last one in the table.
func (s *Store) lastPage(ctx context.Context, org catalog.OrgID) (feedPage, error) {
	if page, ok := s.pages.Load(org); ok {
		return page.(feedPage), nil
	}
	end, err := s.FeedEnd(ctx, org)
	page := feedPage{page: end.Page}.with(end.Place)
	if err == nil {
		s.pages.Store(org, page)
	}
	return page, err
}

// Changes reads at most limit changes of the feed after a cursor and reports whether there are more. The empty cursor
// is the beginning. The error for a cursor that this service did not issue is invalid_parameter.
//
// A query is not a snapshot: a page that was not full when it was read may be followed by one that began after it was
// filled. Nothing after such a page is returned yet, because a later cursor would skip the entries that it gained.
func (s *Store) Changes(
	ctx context.Context, org catalog.OrgID, cursor string, limit int,
) (changes []catalog.RecordChange, more bool, err error) {
	from, ok := catalog.ParseCursor(cursor)
	if !ok {
		return nil, false, catalog.Errorf(catalog.InvalidParameter, "since is not a cursor of this feed.")
	}
	in := rangeQuery(partition(org, api.JournalRows), numbered(from.Page), digitsEnd, true)
	in.Limit = aws.Int32(int32(limit/pageEntries + 2))
	next := from.Page
	err = s.query(ctx, in, func(row item) (bool, error) {
		var stored struct {
			Entries []string `json:"entries"`
		}
		number, err := strconv.Atoi(keyOfRow(row).sk)
		if err = cmp.Or(err, decode(row, &stored)); err != nil {
			return false, err
		}
		if number != next {
			more = true
			return false, nil
		}
		if len(stored.Entries) >= pageEntries {
			next++
		}
		first := 0
		if number == from.Page {
			first = min(from.Place, len(stored.Entries))
		}
		for i, text := range stored.Entries[first:] {
			if len(changes) == limit {
				more = true
				return false, nil
			}
			change, err := parseEntry(text)
			if err != nil {
				return false, err
			}
			change.Cursor = catalog.Cursor{Page: number, Place: first + i + 1}
			changes = append(changes, change)
		}
		return true, nil
	})
	return changes, more, err
}

func parseEntry(text string) (catalog.RecordChange, error) {
	parts := strings.Split(text, "|")
	if len(parts) != 5 {
		return catalog.RecordChange{}, fmt.Errorf("change feed entry %q", text)
	}
	at, err := strconv.ParseInt(parts[4], 10, 64)
	what, event := unmarked(parts[0], catalog.Kind(parts[1]))
	return catalog.RecordChange{
		What: what, Event: event, Kind: catalog.Kind(parts[1]), ID: parts[2], ParentID: parts[3], At: catalog.Time(at),
	}, err
}

// FeedEnd returns the cursor after the last entry of the organization's feed.
func (s *Store) FeedEnd(ctx context.Context, org catalog.OrgID) (catalog.Cursor, error) {
	in := partitionQuery(partition(org, api.JournalRows), true)
	in.ScanIndexForward, in.Limit = aws.Bool(false), aws.Int32(1)
	var end catalog.Cursor
	err := s.query(ctx, in, func(row item) (more bool, err error) {
		end.Place = integer(row["filled"])
		end.Page, err = strconv.Atoi(keyOfRow(row).sk)
		return false, err
	})
	return end, err
}
