package source

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/pkg/dynamo"
)

// TestStream checks that written rows arrive as Lambda's event source delivers them, except
// those that the filter excludes.
func TestStream(t *testing.T) {
	endpoint, stop, err := dynamodb.Server{}.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	store := &dynamo.Store{Client: dynamodb.Client(endpoint), Table: "stream"}
	for range 2 { // the second time it is there
		if err := errors.Join(store.CreateTable(t.Context()), store.EnableStream(t.Context())); err != nil {
			t.Fatal(err)
		}
	}
	put := func(pk string) {
		_, err := store.Client.PutItem(t.Context(), &sdk.PutItemInput{TableName: &store.Table, Item: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: "7"}, "n": &types.AttributeValueMemberN{Value: time.Now().Format("150405.000000")},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	put("wanted before")
	came := make(chan events.DynamoDBEventRecord, 100)
	ctx, cancel := context.WithCancel(t.Context())
	s := &Stream{
		Client: dynamodb.Streams(endpoint), Table: store.Table, Function: "f", Console: log.New(io.Discard, "", 0),
		Wanted: func(pk string) bool { return len(pk) > 6 && pk[:6] == "wanted" },
		Invoke: func(_ context.Context, function string, event []byte) ([]byte, error) {
			var in events.DynamoDBEvent
			if err := json.Unmarshal(event, &in); err != nil || function != "f" {
				t.Errorf("%s: %v", function, err)
			}
			for _, r := range in.Records {
				came <- r
			}
			return nil, nil
		},
	}
	ended := make(chan struct{})
	go func() { defer close(ended); s.Poll(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	deadline := time.After(5 * time.Minute)
	for {
		put("other")
		put("wanted now")
		select {
		case r := <-came:
			if pk, sk := r.Change.Keys["pk"].String(), r.Change.Keys["sk"].String(); pk != "wanted now" || sk != "7" || r.EventSource != "aws:dynamodb" {
				t.Errorf("came %s %s from %s", pk, sk, r.EventSource)
			}
			return
		case <-time.After(200 * time.Millisecond): // the shards may not be found yet
		case <-deadline:
			t.Fatal("nothing came")
		}
	}
}
