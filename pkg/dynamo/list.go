package dynamo

import (
	"context"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// directoryRow is the row of a catalog.Directory.
type directoryRow struct {
	Next    int    `json:"next"`
	Live    int    `json:"live"`
	Version int    `json:"version"`
	Counts  []byte `json:"counts"`
}

// Directory reads a list's directory with a strong read.
func (s *Store) Directory(ctx context.Context, org catalog.OrgID, kind catalog.Kind) (*catalog.Directory, error) {
	row, err := s.row(ctx, directoryKey(org, kind), true)
	d := &catalog.Directory{OrganizationID: org, Kind: kind}
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

// saveDirectory saves a list's directory unless it changed since it was loaded, and caches it for the next page.
func (s *Store) saveDirectory(d *catalog.Directory) rows {
	k := directoryKey(d.OrganizationID, d.Kind)
	var e expression
	e.counted("version", d.Version)
	saved := s.put(k, item{
		"next": number(d.Next), "live": number(d.Live), "version": number(d.Version + 1), "counts": binary(d.Pack()),
	}, &e)
	return rows{writes: []write{saved}, saved: func() {
		d.Version++
		s.directories.Store(k, d)
	}}
}

// pageAttempts limits how often a page is read again because of concurrent deletions.
const pageAttempts = 5

// Page reads a consistent page of a list: the directory predicts the number of rows in the key range, and numbers in a
// range are released but never reused, so equal counts mean the same records. The directory is read in parallel with
// the page that the last known directory predicts, so that reading an unchanged list takes one round trip.
func (s *Store) Page(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, offset, limit int,
) ([]catalog.Record, int, error) {
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
		strong := read == want // the rows just read were stale, or one was deleted
		if read != want || len(rows) != want.Live {
			var err error
			if rows, err = s.span(ctx, org, kind, want, strong); err != nil {
				return nil, 0, err
			}
			read = want
		}
		if len(rows) == want.Live {
			page, err := decodeRecords[catalog.Record](kind, catalog.PageOf(rows, want.Skip, limit))
			return page, now.Live, err
		}
		var err error
		if now, err = s.Directory(ctx, org, kind); err != nil {
			return nil, 0, err
		}
	}
	return nil, 0, catalog.ChangingTooFast()
}

// span reads the rows of a key range.
func (s *Store) span(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, span catalog.Span, strong bool,
) ([]item, error) {
	if span.To == span.From {
		return nil, nil
	}
	rows := make([]item, 0, span.Live)
	in := rangeQuery(partition(org, api.RecordRows(kind)), numbered(span.From), numbered(span.To-1), strong)
	err := s.query(ctx, in, func(row item) (bool, error) {
		rows = append(rows, row)
		return true, nil
	})
	return rows, err
}
