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
	"github.com/google/uuid"
)

// Stream is the event source of a table's stream, as one that begins with the latest
// records and does not try again what fails: the function takes them for hints.
type Stream struct {
	Client   *dynamodbstreams.Client
	Table    string
	Function string
	Wanted   func(partitionKey string) bool // of a row; the event source's filter
	Invoke   Invoke
	Console  *log.Logger
}

const (
	// lookEvery is how often the stream is asked for records.
	lookEvery = 150 * time.Millisecond
	// findEvery is how often the stream's shards are looked up: they are replaced after
	// hours.
	findEvery = 10 * time.Second
	// most is how many records one event has.
	most = 100
)

// Poll delivers until ctx ends.
func (s *Stream) Poll(ctx context.Context) {
	iterators := map[string]*string{} // by shard; nil for one that is read to its end
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
				s.Console.Printf("%s: stream of the table: %v; trying again", s.Function, err)
			}
			clear(iterators) // they may have expired; what is missed is the function's own to find
			first = true
			pause(ctx, time.Second)
		}
		silent = err != nil
		pause(ctx, lookEvery)
	}
}

// find looks up the shards that are not known yet. Those that are there at first are
// read from their end, later ones from their beginning.
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
			at, err := s.Client.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{StreamArn: stream.StreamArn, ShardId: shard.ShardId, ShardIteratorType: from})
			if err != nil {
				return err
			}
			iterators[id] = at.ShardIterator
		}
	}
	return nil
}

// look delivers what came to a shard, and returns where to go on.
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
				AWSRegion: region, EventID: uuid.NewString(), EventName: string(r.EventName), EventSource: "aws:dynamodb",
				Change: events.DynamoDBStreamRecord{Keys: keys, SequenceNumber: aws.ToString(r.Dynamodb.SequenceNumber), StreamViewType: string(r.Dynamodb.StreamViewType)},
			})
		}
	}
	if len(event.Records) > 0 {
		body, err := json.Marshal(event)
		if err != nil {
			return nil, err
		}
		_, _ = s.Invoke(ctx, s.Function, body) // the runtime logs what went wrong
	}
	return got.NextShardIterator, nil
}
