package dynamo

import (
	"context"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// saveLink saves a link until it expires.
func (s *Store) saveLink(l *catalog.Link) (write, error) {
	row, err := encode(l)
	if err != nil {
		return write{}, err
	}
	row[api.TTL] = number(int64(l.ValidUntil) / 1000)
	return s.put(linkKey(l.Hash), row, nil), nil
}

// Link reads a link by the hash of its token; nil for none.
func (s *Store) Link(ctx context.Context, hash string) (*catalog.Link, error) {
	return read[catalog.Link](ctx, s, linkKey(hash))
}
