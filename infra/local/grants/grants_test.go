package grants

import (
	"testing"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

func TestCheck(t *testing.T) {
	rows := api.Rows{Reads: []api.Partition{api.KeyRows}, Writes: []api.Partition{api.RecordRows(catalog.CourseKind)}}
	for _, c := range []struct {
		operation, body string
		granted         bool
	}{
		{"GetItem", `{"Key":{"pk":{"S":"k#1"},"sk":{"S":"key"}}}`, true},
		{"GetItem", `{"Key":{"pk":{"S":"o#org#Course"},"sk":{"S":"1"}}}`, true},
		{"GetItem", `{"Key":{"pk":{"S":"customers"},"sk":{"S":"1"}}}`, false},
		{"GetItem", `{"TableName":"t"}`, false},
		{"PutItem", `{"Item":{"pk":{"S":"o#org#Course"},"sk":{"S":"1"},"n":{"N":"1"},"l":{"L":[]}}}`, true},
		{"PutItem", `{"Item":{"pk":{"S":"k#1"},"sk":{"S":"key"}}}`, false},
		{"UpdateItem", `{"Key":{"pk":{"S":"k#1"},"sk":{"S":"key"}}}`, false},
		{"DeleteItem", `{"Key":{"pk":{"S":"o#org#Course!"},"sk":{"S":"1"}}}`, false},
		{"BatchGetItem", `{"RequestItems":{"t":{"Keys":[{"pk":{"S":"k#1"}},{"pk":{"S":"o#org#Course"}}]}}}`, true},
		{"BatchGetItem", `{"RequestItems":{"t":{"Keys":[{"pk":{"S":"k#1"}},{"pk":{"S":"u#1"}}]}}}`, false},
		{"TransactWriteItems", `{"TransactItems":[{"ConditionCheck":{"Key":{"pk":{"S":"k#1"}}}},{"Put":{"Item":{"pk":{"S":"o#org#Course"}}}}]}`, true},
		{"TransactWriteItems", `{"TransactItems":[{"Put":{"Item":{"pk":{"S":"o#org#Course"}}}},{"Delete":{"Key":{"pk":{"S":"k#1"}}}}]}`, false},
		{"Query", `{"KeyConditionExpression":"pk = :pk AND sk > :from","ExpressionAttributeValues":{":pk":{"S":"o#org#Course"},":from":{"S":"1"}}}`, true},
		{"Query", `{"KeyConditionExpression":"#p=:pk","ExpressionAttributeNames":{"#p":"pk"},"ExpressionAttributeValues":{":pk":{"S":"u#1"}}}`, false},
		{"Query", `{"KeyConditionExpression":"sk = :pk","ExpressionAttributeValues":{":pk":{"S":"o#org#Course"}}}`, false},
		{"Query", `{"IndexName":"open","KeyConditionExpression":"openShard = :s","ExpressionAttributeValues":{":s":{"S":"1"}}}`, true},
		{"Scan", `{"TableName":"t"}`, false},
		{"GetItem", `{`, false},
	} {
		if err := Check(rows, "DynamoDB_20120810."+c.operation, []byte(c.body)); (err == nil) != c.granted {
			t.Errorf("%s %s: %v", c.operation, c.body, err)
		}
	}
}
