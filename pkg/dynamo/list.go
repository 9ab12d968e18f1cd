package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// directoryRow is a catalog.Directory as it is stored.
type directoryRow struct {
	Next    int    `json:"next"`
	Live    int    `json:"live"`
	Version int    `json:"version"`
	Counts  []byte `json:"counts"`
}

// Directory reads a list's directory as it is now.
func (s *Store) Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error) {
	row, err := s.row(ctx, directoryKey(org, kind), true)
	d := &catalog.Directory{Kind: kind}
	if err != nil || row == nil {
		return d, err
	}
	var stored directoryRow
	if err := decode(row, &stored); err != nil {
		return nil, err
	}
	d.Next, d.Live, d.Version = stored.Next, stored.Live, stored.Version
	return d, d.Unpack(stored.Counts)
}

func (s *Store) saveDirectory(org catalog.OrgID, d *catalog.Directory) write {
	row := directoryKey(org, d.Kind).attributes()
	row["next"], row["live"], row["version"] = number(d.Next), number(d.Live), number(d.Version+1)
	row["counts"] = binary(d.Pack())
	var e expression
	if d.Version == 0 {
		e.conditions = []string{"attribute_not_exists(pk)"}
	} else {
		e.conditions = []string{e.name("version") + " = " + e.value(number(d.Version))}
	}
	return write{action: types.TransactWriteItem{Put: &types.Put{
		TableName: &s.Table, Item: row, ConditionExpression: e.condition(),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}}
}

// pageAttempts bounds how often a page is read again because records were deleted
// in it at the same moment.
const pageAttempts = 5

// list reads one page of a list, as it was at one instant: the rows that come back
// are exactly as many as the directory predicts for the key range that they were
// read from, and numbers in that range are only ever given up, never taken again,
// so equal counts mean the same records. The directory is read in parallel with a page
// that the last known one predicts, so that a list which stands still takes one trip.
func list[T any, R record[T]](ctx context.Context, s *Store, org catalog.OrgID, offset, limit int) ([]R, int, error) {
	kind := kindOf[T, R]()
	var now *catalog.Directory
	var rows []item
	var read catalog.Span
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		now, err = s.Directory(groupCtx, org, kind)
		return err
	})
	if last, ok := s.directories.Load(directoryKey(org, kind)); ok {
		read = last.(*catalog.Directory).Page(offset, limit)
		group.Go(func() (err error) {
			rows, err = s.span(groupCtx, org, kind, read, false)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, 0, err
	}
	for range pageAttempts {
		s.directories.Store(directoryKey(org, kind), now)
		want := now.Page(offset, limit)
		strong := read == want // what was just read did not fit: lag, or a deletion
		if read != want || len(rows) != want.Live {
			var err error
			if rows, err = s.span(ctx, org, kind, want, strong); err != nil {
				return nil, 0, err
			}
			read = want
		}
		if len(rows) == want.Live {
			rows = rows[min(want.Skip, len(rows)):]
			rows = rows[:min(limit, len(rows))]
			page := make([]R, len(rows))
			for i, row := range rows {
				var err error
				if page[i], err = decodeRecord[T, R](row); err != nil {
					return nil, 0, err
				}
			}
			return page, now.Live, nil
		}
		var err error
		if now, err = s.Directory(ctx, org, kind); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, catalog.Errorf(catalog.Unavailable, "The list changes too fast at the moment.")
}

// span reads the rows of a piece of the key range.
func (s *Store) span(ctx context.Context, org catalog.OrgID, kind catalog.Kind, span catalog.Span, strong bool) ([]item, error) {
	if span.To == span.From {
		return nil, nil
	}
	rows := make([]item, 0, span.Live)
	err := s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{
			":pk": text(partition(org, api.RecordRows(kind))), ":from": text(numbered(span.From)), ":to": text(numbered(span.To - 1)),
		},
		ConsistentRead: &strong,
	}, func(row item) (bool, error) {
		rows = append(rows, row)
		return true, nil
	})
	return rows, err
}
