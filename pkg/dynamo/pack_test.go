package dynamo_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/dynamo"
)

// SizeOf is at least the size by DynamoDB's published rule, and hardly more.
func TestSizeOf(t *testing.T) {
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	number := func(n string) types.AttributeValue { return &types.AttributeValueMemberN{Value: n} }
	for _, c := range []struct {
		value types.AttributeValue
		size  int
	}{
		{text("größe"), 7}, {number("1"), 2}, {number("-12.50"), 3}, {number("1000"), 2},
		{&types.AttributeValueMemberB{Value: []byte("abc")}, 3}, {&types.AttributeValueMemberNULL{Value: true}, 1},
		{&types.AttributeValueMemberSS{Value: []string{"ab", "c"}}, 3},
		{&types.AttributeValueMemberL{Value: []types.AttributeValue{text("ab"), text("c")}}, 8},
		{&types.AttributeValueMemberM{Value: map[string]types.AttributeValue{"ab": text("c")}}, 7},
	} {
		if got := dynamo.SizeOf(c.value); got < c.size || got > c.size+5 {
			t.Errorf("%+v: %d bytes, want %d", c.value, got, c.size)
		}
	}
}
