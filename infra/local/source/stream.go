package source

import (
	"context"
	"encoding/json"
	"log"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Stream is the event source of a table's stream. It starts with the latest records and
// does not retry, because the function treats the records as hints.
type Stream struct {
	Client   *dynamodbstreams.Client
	Table    string
	Function string
	Wanted   func(partitionKey string) bool // the event source's filter
	Invoke   Invoke
	Console  *log.Logger
}

const (
	// lookEvery is the polling interval.
	lookEvery = 150 * time.Millisecond
	// findEvery is the interval between listings of the shards, which change every few hours.
	findEvery = 10 * time.Second
	// most is the maximum number of records per event.
	most = 100
)

// Poll delivers changes until ctx ends.
func (s *Stream) Poll(ctx context.Context) {
	iterators := map[string]*string{} // by shard; nil after the end of a shard
	var found time.Time
	silent, first := false, true
	for ctx.Err() == nil {
		var err error
		if time.Since(found) > findEvery {
			found = time.Now()
			err = s.find(ctx, iterators, first)
			first = first && len(iterators) == 0
		}
		for shard, iterator := range iterators {
			if iterator != nil && err == nil {
				iterators[shard], err = s.look(ctx, iterator)
			}
		}
		if err != nil && ctx.Err() == nil {
			if !silent {
				s.Console.Printf("%s: stream of the table: %v; retrying", s.Function, err)
			}
			clear(iterators) // they may have expired; the function's schedule finds what is missed
			first = true
			pause(ctx, time.Second)
		}
		silent = err != nil
		pause(ctx, lookEvery)
	}
}

// find adds iterators for new shards. The first time they start at the end of each shard,
// later at its beginning.
func (s *Stream) find(ctx context.Context, iterators map[string]*string, first bool) error {
	streams, err := s.Client.ListStreams(ctx, &dynamodbstreams.ListStreamsInput{TableName: &s.Table})
	if err != nil {
		return err
	}
	from := types.ShardIteratorTypeTrimHorizon
	if first {
		from = types.ShardIteratorTypeLatest
	}
	for _, stream := range streams.Streams {
		described, err := s.Client.DescribeStream(ctx, &dynamodbstreams.DescribeStreamInput{StreamArn: stream.StreamArn})
		if err != nil {
			return err
		}
		for _, shard := range described.StreamDescription.Shards {
			id := aws.ToString(shard.ShardId)
			if _, known := iterators[id]; known || shard.SequenceNumberRange.EndingSequenceNumber != nil {
				continue
			}
			at, err := s.Client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
				StreamArn: stream.StreamArn, ShardId: shard.ShardId, ShardIteratorType: from,
			})
			if err != nil {
				return err
			}
			iterators[id] = at.ShardIterator
		}
	}
	return nil
}

// look delivers the new records of a shard and returns the next iterator.
func (s *Stream) look(ctx context.Context, iterator *string) (next *string, err error) {
	got, err := s.Client.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: iterator, Limit: aws.Int32(most)})
	if err != nil {
		return nil, err
	}
	var event events.DynamoDBEvent
	for _, r := range got.Records {
		keys := map[string]events.DynamoDBAttributeValue{}
		wanted := false
		for name, value := range r.Dynamodb.Keys {
			if text, ok := value.(*types.AttributeValueMemberS); ok {
				keys[name] = events.NewStringAttribute(text.Value)
				wanted = wanted || s.Wanted(text.Value)
			}
		}
		if wanted {
			event.Records = append(event.Records, events.DynamoDBEventRecord{
				AWSRegion: region, EventName: string(r.EventName), EventSource: "aws:dynamodb",
				Change: events.DynamoDBStreamRecord{Keys: keys},
			})
		}
	}
	if len(event.Records) > 0 {
		body, err := json.Marshal(event)
		if err != nil {
			return nil, err
		}
		_, _ = s.Invoke(ctx, s.Function, body) // errors are logged by the runtime
	}
	return got.NextShardIterator, nil
}
