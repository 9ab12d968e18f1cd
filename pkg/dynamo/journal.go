package dynamo

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// pageEntries is from how many entries on a page of the feed takes no more: nine of
// the longest stay below one kilobyte, so that an entry costs no more than its
// transaction has to. A later release may lower it, never raise it: a page with fewer is
// one that still fills.
const pageEntries = 9

// entry is one change of a record as it is stored.
func entry(what string, r catalog.Record) string {
	return formatEntry(what, catalog.KindOf(r), r.Base().ID, catalog.ParentOf(r), r.Base().UpdatedAt)
}

// marked returns what an entry says of a change to which an event happened, in as few
// letters as a page of the feed has room for.
func marked(event string) string {
	_, what, _ := strings.Cut(event, ".")
	return cmp.Or(what, catalog.Changed)
}

// unmarked returns what marked was asked for, and that the record was changed.
func unmarked(what string) (change, event string) {
	for _, event := range catalog.Events() {
		if marked(event) == what {
			return catalog.Changed, event
		}
	}
	return what, ""
}

// formatEntry writes what parseEntry reads.
func formatEntry(what string, kind catalog.Kind, id, parentID string, at catalog.Time) string {
	return strings.Join([]string{what, string(kind), id, parentID, strconv.FormatInt(int64(at), 10)}, "|")
}

// journal appends entries to the last page of the organization's feed. Pages fill
// up one after the other and an entry never moves, so that (page, place) is a
// cursor which neither loses nor repeats anything. It returns the page as well.
func (s *Store) journal(ctx context.Context, org catalog.OrgID, entries []string) (types.TransactWriteItem, feedPage, error) {
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

// feedPage is a page of the feed and how many entries it holds at least.
type feedPage struct{ page, filled int }

// with returns the page that takes entries after n more were written.
func (p feedPage) with(n int) feedPage {
	if p.filled+n >= pageEntries {
		return feedPage{page: p.page + 1}
	}
	return feedPage{p.page, p.filled + n}
}

// lastPage returns the page of the feed that takes new entries: the one last used
// here, or the one found in the table.
func (s *Store) lastPage(ctx context.Context, org catalog.OrgID) (feedPage, error) {
	if page, ok := s.pages.Load(org); ok {
		return page.(feedPage), nil
	}
	in := partitionQuery(partition(org, api.JournalRows), true)
	in.ScanIndexForward, in.Limit = aws.Bool(false), aws.Int32(1)
	var page feedPage
	err := s.query(ctx, in, func(row item) (bool, error) {
		var last struct {
			Page   string `json:"sk"`
			Filled int    `json:"filled"`
		}
		if err := decode(row, &last); err != nil {
			return false, err
		}
		number, err := strconv.Atoi(last.Page)
		page = feedPage{page: number}.with(last.Filled)
		return false, err
	})
	if err == nil {
		s.pages.Store(org, page)
	}
	return page, err
}

// Changes reads the feed from a cursor on, at most limit changes, and reports
// whether there are more. The empty cursor is the beginning. A cursor that this service
// did not issue is an invalid_parameter.
//
// A query reads each row as it is at that moment, not all at one: a page that was not
// full when it was read may be followed by one that began after it was filled, and one
// that was not there by its successor. Nothing behind such a page is returned yet,
// since no cursor would lead back to what it has gained.
func (s *Store) Changes(ctx context.Context, org catalog.OrgID, cursor string, limit int) (changes []catalog.RecordChange, more bool, err error) {
	from, ok := catalog.ParseCursor(cursor)
	if !ok {
		return nil, false, catalog.Errorf(catalog.InvalidParameter, "since is not a cursor of this feed.")
	}
	strong := true
	in := &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("pk = :pk AND sk >= :page"),
		ExpressionAttributeValues: item{":pk": text(partition(org, api.JournalRows)), ":page": text(numbered(from.Page))},
		ConsistentRead:            &strong,
		Limit:                     aws.Int32(int32(limit/pageEntries + 2)),
	}
	next := from.Page
	err = s.query(ctx, in, func(row item) (bool, error) {
		var stored struct {
			Page    string   `json:"sk"`
			Entries []string `json:"entries"`
		}
		if err := decode(row, &stored); err != nil {
			return false, err
		}
		number, err := strconv.Atoi(stored.Page)
		if err != nil {
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
	what, event := unmarked(parts[0])
	return catalog.RecordChange{What: what, Event: event, Kind: catalog.Kind(parts[1]), ID: parts[2], ParentID: parts[3], At: catalog.Time(at)}, err
}

// FeedEnd returns the place behind the last entry of the organization's feed.
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
