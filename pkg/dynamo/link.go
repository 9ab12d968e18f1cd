package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// saveLink saves a link, which goes by itself once it has ended.
func (s *Store) saveLink(l *catalog.Link) (write, error) {
	row, err := rowAt(linkKey(l.Hash), l)
	if err != nil {
		return write{}, err
	}
	row[api.TTL] = number(int64(l.ValidUntil) / 1000)
	return write{action: types.TransactWriteItem{Put: &types.Put{TableName: &s.Table, Item: row}}}, nil
}

// Link reads a link by the hash of its token; nil for none.
func (s *Store) Link(ctx context.Context, hash string) (*catalog.Link, error) {
	return read[catalog.Link](ctx, s, linkKey(hash))
}
