// Package grants checks calls to DynamoDB Local, which has no access control, against what a
// function's role allows in AWS: only the partitions that package api lists for the function
// (the condition dynamodb:LeadingKeys).
package grants

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"skillscurriculum/pkg/api"
)

// Check returns an error for a call that accesses rows outside the given ones. target is the
// call's X-Amz-Target header.
func Check(rows api.Rows, target string, body []byte) error {
	_, operation, _ := strings.Cut(target, ".")
	touched, err := touches(operation, body)
	if err != nil {
		return err
	}
	for _, t := range touched {
		if t.writes && !rows.MayWrite(t.key) || !rows.MayRead(t.key) {
			return fmt.Errorf("%s of the partition %s is not granted", operation, t.key)
		}
	}
	return nil
}

// touch is a partition key of the table that a call reads or writes.
type touch struct {
	key    string
	writes bool
}

type attributes map[string]struct{ S string }

// one is a call for one row, or one item of a transaction.
type one struct{ Key, Item attributes }

func (o one) key() string { return o.Key[api.PartitionKey].S + o.Item[api.PartitionKey].S }

// touches lists the partition keys that a call accesses: none for a query of an index,
// whose partitions are not the table's. It returns an error for unreadable calls and
// unknown operations.
func touches(operation string, body []byte) ([]touch, error) {
	var call struct {
		one
		RequestItems              map[string]struct{ Keys []attributes }
		TransactItems             []map[string]one
		IndexName                 string
		KeyConditionExpression    string
		ExpressionAttributeNames  map[string]string
		ExpressionAttributeValues map[string]any
	}
	if err := json.Unmarshal(body, &call); err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	var touched []touch
	switch operation {
	case "GetItem":
		touched = append(touched, touch{key: call.key()})
	case "PutItem", "UpdateItem", "DeleteItem":
		touched = append(touched, touch{call.key(), true})
	case "BatchGetItem":
		for _, table := range call.RequestItems {
			for _, key := range table.Keys {
				touched = append(touched, touch{key: key[api.PartitionKey].S})
			}
		}
	case "TransactWriteItems":
		for _, item := range call.TransactItems {
			for kind, o := range item {
				touched = append(touched, touch{o.key(), kind != "ConditionCheck"})
			}
		}
	case "Query":
		if call.IndexName != "" {
			return nil, nil
		}
		for _, match := range equality.FindAllStringSubmatch(call.KeyConditionExpression, -1) {
			name, placeholder := match[1], match[2]
			if alias, ok := call.ExpressionAttributeNames[name]; ok {
				name = alias
			}
			value, _ := call.ExpressionAttributeValues[placeholder].(map[string]any)
			if key, ok := value["S"].(string); ok && name == api.PartitionKey {
				touched = append(touched, touch{key: key})
			}
		}
	default:
		return nil, fmt.Errorf("%s is not granted to any function", operation)
	}
	if len(touched) == 0 || slices.ContainsFunc(touched, func(t touch) bool { return t.key == "" }) {
		return nil, fmt.Errorf("%s without a partition key", operation)
	}
	return touched, nil
}

var equality = regexp.MustCompile(`([#\w]+)\s*=\s*(:\w+)`)
