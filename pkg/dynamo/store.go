// Package dynamo stores everything in one DynamoDB table. keys.go lists every key and its readers. The package makes no
// decisions about the catalog: it loads records and saves changes atomically (commit.go).
//
// Invariant: a live partition has only live rows, and a list's directory counts exactly
// those, because both change in one transaction.
package dynamo

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

	directories sync.Map // key -> *catalog.Directory: the last one read, perhaps stale
	pages       sync.Map // org -> feedPage: the last page of the change feed, perhaps stale
	names       names
}

type item = map[string]types.AttributeValue

func encode(v any) (item, error) {
	return attributevalue.MarshalMapWithOptions(v, func(o *attributevalue.EncoderOptions) {
		o.TagKey = "json"
		o.UseEncodingMarshalers = true
	})
}

func decode(row item, v any) error {
	return attributevalue.UnmarshalMapWithOptions(row, v, func(o *attributevalue.DecoderOptions) {
		o.TagKey = "json"
		o.UseEncodingUnmarshalers = true
	})
}

// decodeRecord decodes a row as a record of a kind.
func decodeRecord(kind catalog.Kind, row item) (catalog.Record, error) {
	r := kind.New()
	if r == nil {
		return nil, fmt.Errorf("unknown kind %q", kind)
	}
	return r, decodeInto(row, r)
}

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

// rows reads many rows in parallel, a hundred per call. A row is left out only if a strong read does not find it.
// fields limits what is read of each row, besides its key, to these paths; without fields the whole row is read.
func (s *Store) rows(ctx context.Context, keys []key, strong bool, fields ...string) ([]item, error) {
	slices.SortFunc(keys, compareKeys)
	keys = slices.Compact(keys)
	var mu sync.Mutex
	var found []item
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(8)
	for chunk := range slices.Chunk(keys, 100) {
		group.Go(func() error {
			wanted := types.KeysAndAttributes{ConsistentRead: &strong}
			if len(fields) > 0 {
				wanted.ProjectionExpression, wanted.ExpressionAttributeNames = projection(fields)
			}
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
	more, err := s.rows(ctx, slices.DeleteFunc(keys, func(k key) bool { return there[k] }), true, fields...)
	return append(found, more...), err
}

// projection names a row's key and the fields: parts of one path are separated by dots.
func projection(fields []string) (*string, map[string]string) {
	var e expression
	var paths []string
	for _, field := range append([]string{api.PartitionKey, api.SortKey}, fields...) {
		var path []string
		for name := range strings.SplitSeq(field, ".") {
			path = append(path, e.name(name))
		}
		paths = append(paths, strings.Join(path, "."))
	}
	return aws.String(strings.Join(paths, ", ")), e.names
}

// queryPage is the maximum number of rows in a page, in addition to DynamoDB's limit of 1 MB:
// without it DynamoDB Local loads a whole partition.
const queryPage = 2000

// query calls each for every row that in selects, page by page, until it returns false.
func (s *Store) query(ctx context.Context, in *dynamodb.QueryInput, each func(item) (more bool, err error)) error {
	in.TableName = &s.Table
	if in.Limit == nil {
		in.Limit = aws.Int32(queryPage)
	}
	for pages := dynamodb.NewQueryPaginator(s.Client, in); pages.HasMorePages(); {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return unavailable(err)
		}
		for _, row := range out.Items {
			more, err := each(row)
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// partitionQuery selects a whole partition in the order of its sort keys.
func partitionQuery(pk string, strong bool) *dynamodb.QueryInput {
	return &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: item{":pk": text(pk)},
		ConsistentRead:            &strong,
	}
}

// digitsEnd sorts after every sort key that begins with a digit.
const digitsEnd = ":"

// rangeQuery selects the rows of a partition from one sort key to another, both included.
func rangeQuery(pk, from, to string, strong bool) *dynamodb.QueryInput {
	in := partitionQuery(pk, strong)
	in.KeyConditionExpression = aws.String("pk = :pk AND sk BETWEEN :from AND :to")
	in.ExpressionAttributeValues[":from"], in.ExpressionAttributeValues[":to"] = text(from), text(to)
	return in
}

// unavailable turns an error of DynamoDB into the service's Unavailable. It returns errors
// that a retry cannot fix as they are: canceled requests and validation errors.
func unavailable(err error) error {
	var refused smithy.APIError
	invalid := errors.As(err, &refused) && refused.ErrorCode() == "ValidationException"
	if err == nil || errors.Is(err, context.Canceled) || invalid {
		return err
	}
	return catalog.Errorf(catalog.Unavailable, "The store cannot be reached at the moment.").Because(err)
}

func compress(b []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	// Writing to a bytes.Buffer does not fail.
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

// packed returns a value as compressed JSON.
func packed(v any) (*types.AttributeValueMemberB, error) {
	plain, err := json.Marshal(v)
	return &types.AttributeValueMemberB{Value: compress(plain)}, err
}

// unpacked decompresses an attribute; nil if the row lacks it.
func unpacked(row item, attribute string) ([]byte, error) {
	value, ok := row[attribute].(*types.AttributeValueMemberB)
	if !ok {
		return nil, nil
	}
	return decompress(value.Value)
}
