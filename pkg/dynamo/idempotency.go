package dynamo

import (
	"context"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// rowBytes is the maximum size of a compressed value in one row; DynamoDB's limit is 400 KB.
const rowBytes = 350 << 10

// saveIdempotencyRecord saves a response under its idempotency key unless one is stored that
// has not expired. A long body continues in further rows.
func (s *Store) saveIdempotencyRecord(a *catalog.IdempotencyRecord) []write {
	first := answerKey(a.OrganizationID, a.Key)
	pieces := slices.Collect(slices.Chunk(compress(a.Body), rowBytes))
	var writes []write
	for i, piece := range pieces {
		row := item{"body": binary(piece), api.TTL: number(int64(a.ExpiresAt) / 1000)}
		w := s.put(continued(first, i), row, nil)
		if i == 0 {
			put := w.action.Put
			row["request"], row["status"], row["location"] = text(a.Request), number(a.Status), text(a.Location)
			row["pieces"] = number(len(pieces))
			put.ConditionExpression = aws.String("attribute_not_exists(pk) OR expiresAt < :now")
			put.ExpressionAttributeValues = item{":now": number(int64(s.Now()) / 1000)}
		}
		writes = append(writes, w)
	}
	return writes
}

func continued(first key, i int) key {
	if i == 0 {
		return first
	}
	return key{first.pk, fmt.Sprintf("%s#%d", first.sk, i)}
}

// IdempotencyRecord reads the response stored under an idempotency key; nil for none.
func (s *Store) IdempotencyRecord(
	ctx context.Context, org catalog.OrgID, idempotencyKey string,
) (*catalog.IdempotencyRecord, error) {
	first := answerKey(org, idempotencyKey)
	row, err := s.row(ctx, first, true)
	if err != nil || row == nil {
		return nil, err
	}
	var kept struct {
		Request   string `json:"request"`
		Status    int    `json:"status"`
		Location  string `json:"location"`
		Body      []byte `json:"body"`
		Pieces    int    `json:"pieces"`
		ExpiresAt int64  `json:"expiresAt"`
	}
	if err := decode(row, &kept); err != nil {
		return nil, err
	}
	if kept.ExpiresAt < int64(s.Now())/1000 {
		return nil, nil
	}
	packed := kept.Body
	for i := 1; i < kept.Pieces; i++ {
		more, err := s.row(ctx, continued(first, i), true)
		if err != nil {
			return nil, err
		}
		piece, ok := more["body"].(*types.AttributeValueMemberB)
		if !ok {
			return nil, fmt.Errorf("idempotency record %s lacks piece %d", first.sk, i)
		}
		packed = append(packed, piece.Value...)
	}
	body, err := decompress(packed)
	return &catalog.IdempotencyRecord{
		OrganizationID: org, Key: idempotencyKey, Request: kept.Request, Status: kept.Status, Location: kept.Location,
		Body: body, ExpiresAt: catalog.Time(kept.ExpiresAt * 1000),
	}, err
}
