package dynamo

import (
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// rejectionTTL is the time, in ms, for which rejected rows are stored. An import that takes longer loses them.
const rejectionTTL = 14 * 24 * 60 * 60 * 1000

// describeImport replaces or deletes the details of an import.
func (s *Store) describeImport(org catalog.OrgID, d *catalog.ImportDescription) (write, error) {
	k := importKey(org, d.Record.ID)
	if d.ImportDetails == nil {
		return s.delete(k, &expression{}), nil
	}
	value, err := packed(d.ImportDetails)
	return s.put(k, item{"data": value}, nil), err
}

// ImportDetails returns the details of an import.
func (s *Store) ImportDetails(ctx context.Context, org catalog.OrgID, id string) (*catalog.ImportDetails, error) {
	details := &catalog.ImportDetails{}
	row, err := s.row(ctx, importKey(org, id), true)
	if err != nil || row == nil {
		return details, err
	}
	return details, unpackRow(row, details)
}

// saveRejection stores the reasons why rows were rejected.
func (s *Store) saveRejection(org catalog.OrgID, r *catalog.ImportRejection) (write, error) {
	value, err := packed(r.Reasons)
	k := importKey(org, strings.Join([]string{r.Record.ID, string(r.At.Kind), numbered(r.At.Rows)}, "#"))
	return s.put(k, item{"data": value, api.TTL: number((int64(s.Now()) + rejectionTTL) / 1000)}, nil), err
}

// RejectedRows visits the rows that an import has rejected, by their place among the rows of a kind.
func (s *Store) RejectedRows(
	ctx context.Context, org catalog.OrgID, id string, visit func(kind catalog.Kind, row int, reason string),
) error {
	in := partitionQuery(partition(org, api.ImportRows), true)
	in.KeyConditionExpression = aws.String(*in.KeyConditionExpression + " AND begins_with(sk, :import)")
	in.ExpressionAttributeValues[":import"] = text(id + "#")
	return s.query(ctx, in, func(row item) (bool, error) {
		parts := strings.Split(keyOfRow(row).sk, "#")
		reasons := map[int]string{}
		if err := unpackRow(row, &reasons); err != nil {
			return false, err
		}
		for at, reason := range reasons {
			visit(catalog.Kind(parts[1]), at, reason)
		}
		return true, nil
	})
}

// NextImport returns the first import of an organization that has not ended, nil if there is none, and whether others
// wait behind it. Imports end in the order of their creation, except those that are cancelled.
func (s *Store) NextImport(ctx context.Context, org catalog.OrgID) (next *catalog.Import, more bool, err error) {
	in := partitionQuery(recordPartition(org, catalog.ImportKind, ""), true)
	in.ScanIndexForward, in.Limit = aws.Bool(false), aws.Int32(importsRead)
	err = s.query(ctx, in, func(row item) (bool, error) {
		r, err := decodeRecord(catalog.ImportKind, row)
		if err != nil {
			return false, err
		}
		i := r.(*catalog.Import)
		if !i.Ended() {
			next, more = i, next != nil
		}
		return i.Status != catalog.ImportCompleted && i.Status != catalog.ImportFailed, nil
	})
	return next, more, err
}

// importsRead is the number of imports read at once to find the first that has not ended.
const importsRead = 10

// StuckImports calls send for each organization with an import that has waited or run for longer than SweepGrace since
// it was sent last.
func (s *Store) StuckImports(ctx context.Context, send func(ctx context.Context, org catalog.OrgID) error) error {
	return s.sweep(ctx, imports, func(at catalog.ExtractionJob, k key) error {
		if err := send(ctx, at.OrganizationID); err != nil {
			return err
		}
		return s.postpone(ctx, k)
	})
}
