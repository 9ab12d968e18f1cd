package dynamo

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
)

// reviewBytes is how much of a record's row its reviews may take, compressed: 500
// reviews with long notes. DynamoDB's limit for the whole row is 400 KB.
const reviewBytes = 220 << 10

// reviewRow is a review as it is stored: in the row of its record, so that it is read
// and saved with the skills that follow it, bound to the same updatedAt.
type reviewRow struct {
	catalog.Review
	ByHand *catalog.Finding `json:"byHand,omitempty"`
	Kept   int              `json:"kept,omitempty"`
}

// packReviews returns the attribute that holds reviews.
func packReviews(list []catalog.Review) (*types.AttributeValueMemberB, error) {
	rows := make([]reviewRow, len(list))
	for i, r := range list {
		rows[i] = reviewRow{r, r.ByHand, r.Kept}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	return &types.AttributeValueMemberB{Value: compress(text)}, nil
}

// unpackReviews reads what packReviews made.
func unpackReviews(row item) ([]catalog.Review, error) {
	packed, ok := row[reviews].(*types.AttributeValueMemberB)
	if !ok {
		return nil, nil
	}
	text, err := decompress(packed.Value)
	if err != nil {
		return nil, fmt.Errorf("reviews: %w", err)
	}
	var rows []reviewRow
	if err := json.Unmarshal(text, &rows); err != nil {
		return nil, fmt.Errorf("reviews: %w", err)
	}
	list := make([]catalog.Review, len(rows))
	for i, r := range rows {
		list[i] = r.Review
		list[i].ByHand, list[i].Kept = r.ByHand, r.Kept
	}
	return list, nil
}
