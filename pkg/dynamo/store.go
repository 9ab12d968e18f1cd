// Package dynamo keeps everything in one DynamoDB table. keys.go holds every key
// and who reads it. The package decides nothing about the catalog: it loads
// records, and saves what a rule has changed, whole or not at all (commit.go).
//
// Invariant: a live partition holds only live rows, and a list's directory counts
// exactly them, because both change in one transaction.
package dynamo

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	"golang.org/x/sync/errgroup"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// Store is the table. It is safe for concurrent use.
type Store struct {
	Client *dynamodb.Client
	Table  string
	Now    func() catalog.Time

	directories sync.Map // org + kind -> *catalog.Directory: the last one read, a guess at the present one
	pages       sync.Map // org -> feedPage: the last page of the change feed, a guess as well
}

type item = map[string]types.AttributeValue

func encode(v any) (item, error) {
	return attributevalue.MarshalMapWithOptions(v, func(o *attributevalue.EncoderOptions) {
		o.TagKey = "json"
		o.UseEncodingMarshalers = true
	})
}

func decode(row item, v any) error {
	return attributevalue.UnmarshalMapWithOptions(row, v, decoding)
}

func decoding(o *attributevalue.DecoderOptions) {
	o.TagKey = "json"
	o.UseEncodingUnmarshalers = true
}

// record is the pointer type of a record struct.
type record[T any] interface {
	*T
	catalog.Record
}

func decodeRecord[T any, R record[T]](row item) (R, error) {
	r := R(new(T))
	return r, decodeInto(row, r)
}

// decodeKind decodes a row as a record of a kind.
func decodeKind(kind catalog.Kind, row item) (catalog.Record, error) {
	r := kind.New()
	return r, decodeInto(row, r)
}

func decodeInto(row item, r catalog.Record) error {
	err := decode(row, r)
	if err != nil {
		return fmt.Errorf("row %v: %w", row[api.SortKey], err)
	}
	switch r := r.(type) {
	case *catalog.Course:
		if held, ok := row[heldBy].(*types.AttributeValueMemberSS); ok {
			r.HeldBy = held.Value
		}
		r.Taken = integer(row[taken])
		r.LifecycleStatus = cmp.Or(r.LifecycleStatus, catalog.ActiveCourse) // rows of before there was one
	case *catalog.Document:
		if held, ok := row[heldBy].(*types.AttributeValueMemberSS); ok {
			r.HeldBy = held.Value
		}
	case *catalog.TransferPackage:
		r.Grown = integer(row[grown])
	case *catalog.Section:
		// Rows of the first release do not say it.
		r.ByHand = r.ProcessingStatus == ""
		if stored, ok := row[byHand].(*types.AttributeValueMemberBOOL); ok {
			r.ByHand = stored.Value
		}
		r.Reviews, err = unpackReviews(row)
		err = cmp.Or(err, decodeHidden(row, provenance, &r.Provenance))
	case *catalog.TransferCourse:
		r.Reviews, err = unpackReviews(row)
		err = cmp.Or(err, decodeHidden(row, provenance, &r.Provenance))
	case *catalog.Articulation:
		err = decodeHidden(row, granted, &r.Granted)
	}
	return err
}

// decodeHidden decodes an attribute that no record shows, where the row has it.
func decodeHidden(row item, name string, v any) error {
	stored, ok := row[name]
	if !ok {
		return nil
	}
	return attributevalue.UnmarshalWithOptions(stored, v, decoding)
}

// kindOf returns the kind of a type of record.
func kindOf[T any, R record[T]]() catalog.Kind { return catalog.KindOf(R(new(T))) }

// row reads one row; nil when there is none.
func (s *Store) row(ctx context.Context, k key, strong bool) (item, error) {
	out, err := s.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &s.Table, Key: k.attributes(), ConsistentRead: &strong,
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return out.Item, nil
}

// load reads one record. A row that is not there is looked for once more with a
// strong read, so that a record is found as soon as its creation has succeeded.
func load[T any, R record[T]](ctx context.Context, s *Store, org catalog.OrgID, parent, id string, strong bool) (R, error) {
	k, ok := recordKey(org, kindOf[T, R](), parent, id)
	if !ok {
		return nil, catalog.Absent()
	}
	row, err := s.row(ctx, k, strong)
	if err == nil && row == nil && !strong {
		row, err = s.row(ctx, k, true)
	}
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, catalog.Absent()
	}
	r, err := decodeRecord[T, R](row)
	if err == nil && r.Base().ID != id {
		return nil, catalog.Absent()
	}
	return r, err
}

// rows reads many rows, a hundred a call, in parallel; those that are not there
// are left out, once a strong read has missed them as well.
func (s *Store) rows(ctx context.Context, keys []key, strong bool) ([]item, error) {
	slices.SortFunc(keys, compareKeys)
	keys = slices.Compact(keys)
	var mu sync.Mutex
	var found []item
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for chunk := range slices.Chunk(keys, 100) {
		group.Go(func() error {
			wanted := types.KeysAndAttributes{ConsistentRead: &strong}
			for _, k := range chunk {
				wanted.Keys = append(wanted.Keys, k.attributes())
			}
			for len(wanted.Keys) > 0 {
				out, err := s.Client.BatchGetItem(groupCtx, &dynamodb.BatchGetItemInput{
					RequestItems: map[string]types.KeysAndAttributes{s.Table: wanted},
				})
				if err != nil {
					return unavailable(err)
				}
				mu.Lock()
				found = append(found, out.Responses[s.Table]...)
				mu.Unlock()
				wanted.Keys = out.UnprocessedKeys[s.Table].Keys
			}
			return nil
		})
	}
	if err := group.Wait(); strong || err != nil || len(found) == len(keys) {
		return found, err
	}
	there := map[key]bool{}
	for _, row := range found {
		there[keyOfRow(row)] = true
	}
	more, err := s.rows(ctx, slices.DeleteFunc(keys, func(k key) bool { return there[k] }), true)
	return append(found, more...), err
}

// byID reads many records of one kind, by id.
func byID[T any, R record[T]](ctx context.Context, s *Store, org catalog.OrgID, ids []string, strong bool) (map[string]R, error) {
	kind := kindOf[T, R]()
	var keys []key
	for _, id := range ids {
		if k, ok := recordKey(org, kind, "", id); ok {
			keys = append(keys, k)
		}
	}
	list, err := records[T, R](ctx, s, keys, strong)
	if err != nil {
		return nil, err
	}
	found := make(map[string]R, len(list))
	for _, r := range list {
		found[r.Base().ID] = r
	}
	wanted := map[string]bool{}
	for _, id := range ids {
		wanted[id] = true
	}
	maps.DeleteFunc(found, func(id string, _ R) bool { return !wanted[id] })
	return found, nil
}

// records reads those of many records of one kind that are there, in the order of their
// keys.
func records[T any, R record[T]](ctx context.Context, s *Store, keys []key, strong bool) ([]R, error) {
	rows, err := s.rows(ctx, keys, strong)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, func(a, b item) int { return compareKeys(keyOfRow(a), keyOfRow(b)) })
	found := make([]R, len(rows))
	for i, row := range rows {
		if found[i], err = decodeRecord[T, R](row); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// queryPage is how many rows a page has at most, besides the 1 MB at which DynamoDB
// ends it: DynamoDB Local loads a whole partition where nothing bounds it.
const queryPage = 2000

// query reads all rows of a partition that the condition selects, page by page.
func (s *Store) query(ctx context.Context, in *dynamodb.QueryInput, each func(item) (more bool, err error)) error {
	in.TableName = &s.Table
	if in.Limit == nil {
		in.Limit = aws.Int32(queryPage)
	}
	for {
		out, err := s.Client.Query(ctx, in)
		if err != nil {
			return unavailable(err)
		}
		for _, row := range out.Items {
			more, err := each(row)
			if err != nil || !more {
				return err
			}
		}
		if out.LastEvaluatedKey == nil {
			return nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// partitionQuery selects a whole partition in order of its sort key.
func partitionQuery(pk string, strong bool) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(pk)},
		ConsistentRead:            &strong,
	}
}

// all reads all records of a partition.
func all[T any, R record[T]](ctx context.Context, s *Store, pk string) ([]R, error) {
	records := []R{}
	err := s.query(ctx, partitionQuery(pk, true), func(row item) (bool, error) {
		r, err := decodeRecord[T, R](row)
		records = append(records, r)
		return true, err
	})
	return records, err
}

// unavailable turns what DynamoDB could not do into the service's error. What is in
// vain to try again stays what it is: a request that was given up by its caller, or
// that DynamoDB calls wrong.
func unavailable(err error) error {
	var refused smithy.APIError
	if err == nil || errors.Is(err, context.Canceled) || errors.As(err, &refused) && refused.ErrorCode() == "ValidationException" {
		return err
	}
	return catalog.Errorf(catalog.Unavailable, "The store cannot be reached at the moment.").Because(err)
}

func compress(b []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	// A bytes.Buffer takes everything.
	_, _ = w.Write(b)
	_ = w.Close()
	return packed.Bytes()
}

func decompress(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
