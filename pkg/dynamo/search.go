package dynamo

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// titleReaders is the number of parallel reads of a list's titles, and titleSpan the minimum of records in each.
const (
	titleReaders = 8
	titleSpan    = 250
)

// Titles reads the fields catalog.TitleFields and also of every record of a list, in creation order. The feed's entries
// for what is created meanwhile come after a cursor that was read before.
func (s *Store) Titles(
	ctx context.Context, org catalog.OrgID, kind catalog.Kind, also ...string,
) ([]catalog.Record, error) {
	dir, err := s.Directory(ctx, org, kind)
	if err != nil {
		return nil, err
	}
	span := max(titleSpan, dir.Next/titleReaders+1)
	parts := make([][]catalog.Record, dir.Next/span+1)
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range parts {
		to := numbered((i+1)*span - 1)
		if i == len(parts)-1 {
			to = digitsEnd // also what was created since the directory was read
		}
		in := rangeQuery(partition(org, api.RecordRows(kind)), numbered(i*span), to, true)
		projection, names := projection(slices.Concat(catalog.TitleFields, also))
		in.ProjectionExpression, in.ExpressionAttributeNames = projection, names
		group.Go(func() error {
			return s.query(groupCtx, in, func(row item) (bool, error) {
				r, err := decodeRecord(kind, row)
				parts[i] = append(parts[i], r)
				return true, err
			})
		})
	}
	var all []catalog.Record
	err = group.Wait()
	for _, part := range parts {
		all = append(all, part...)
	}
	return all, err
}
