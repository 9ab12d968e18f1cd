package main

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/dynamo"
)

// callDelay is added to each call, so that parallel calls overlap however fast the emulator is.
const callDelay = 8 * time.Millisecond

// item is a row of the table.
type item = map[string]types.AttributeValue

// dbCall is a call of DynamoDB with the table's units that AWS would bill. The pending index has capacity of its own,
// which is not counted.
type dbCall struct {
	start, end  time.Time
	write, read float64
}

// counter is an SDK middleware that records the calls of a client. For single operations it uses the capacity reported
// by DynamoDB Local. For transactions, which the emulator under-reports, it computes AWS's rule from the rows' sizes.
type counter struct {
	plain *dynamodb.Client // reads rows without being counted

	mu       sync.Mutex
	counting bool
	calls    []dbCall
}

// counted returns a copy of a client whose calls can be recorded.
func counted(plain *dynamodb.Client) (*dynamodb.Client, *counter) {
	c := &counter{plain: plain}
	return dynamodb.New(plain.Options(), func(o *dynamodb.Options) {
		o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error {
			return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("Count", c.handle), middleware.Before)
		})
	}), c
}

// during returns the calls made while f runs.
func (c *counter) during(f func()) []dbCall {
	c.count(true)
	f()
	return c.count(false)
}

func (c *counter) count(on bool) []dbCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.counting, c.calls = on, nil
	return calls
}

func (c *counter) handle(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
	c.mu.Lock()
	counting := c.counting
	c.mu.Unlock()
	if !counting {
		return next.HandleInitialize(ctx, in)
	}
	call := dbCall{start: time.Now()}
	detail := types.ReturnConsumedCapacityIndexes
	var keys []item
	var before []int
	switch in := in.Parameters.(type) {
	case *dynamodb.GetItemInput:
		in.ReturnConsumedCapacity = detail
	case *dynamodb.BatchGetItemInput:
		in.ReturnConsumedCapacity = detail
	case *dynamodb.QueryInput:
		in.ReturnConsumedCapacity = detail
	case *dynamodb.PutItemInput:
		in.ReturnConsumedCapacity = detail
	case *dynamodb.UpdateItemInput:
		in.ReturnConsumedCapacity = detail
	case *dynamodb.TransactWriteItemsInput:
		keys = keysOf(in)
		if before, err = c.sizes(ctx, keys); err != nil {
			return out, metadata, err
		}
	}
	time.Sleep(callDelay)
	if out, metadata, err = next.HandleInitialize(ctx, in); err == nil {
		call.end = time.Now()
		err = c.bill(ctx, &call, out.Result, keys, before)
	}
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	return out, metadata, err
}

// bill sets the units of a call that succeeded. keys and before are those of a transaction.
func (c *counter) bill(ctx context.Context, call *dbCall, result any, keys []item, before []int) error {
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		call.read = *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.BatchGetItemOutput:
		for _, table := range out.ConsumedCapacity {
			call.read += *table.CapacityUnits
		}
	case *dynamodb.QueryOutput:
		call.read = *out.ConsumedCapacity.CapacityUnits
	case *dynamodb.PutItemOutput:
		call.write = *out.ConsumedCapacity.Table.CapacityUnits
	case *dynamodb.UpdateItemOutput:
		call.write = *out.ConsumedCapacity.Table.CapacityUnits
	case *dynamodb.TransactWriteItemsOutput:
		after, err := c.sizes(ctx, keys)
		if err != nil {
			return err
		}
		for i := range keys { // AWS bills the larger of a row's old and new size
			call.write += 2 * math.Ceil(float64(max(before[i], after[i], 1))/1024)
		}
	}
	return nil
}

// keysOf returns the keys of the rows of a transaction.
func keysOf(in *dynamodb.TransactWriteItemsInput) (keys []item) {
	for _, action := range in.TransactItems {
		switch {
		case action.Put != nil:
			row := action.Put.Item
			keys = append(keys, item{api.PartitionKey: row[api.PartitionKey], api.SortKey: row[api.SortKey]})
		case action.Update != nil:
			keys = append(keys, action.Update.Key)
		case action.Delete != nil:
			keys = append(keys, action.Delete.Key)
		default:
			keys = append(keys, action.ConditionCheck.Key)
		}
	}
	return keys
}

// sizes returns the sizes of rows in bytes; 0 for rows that do not exist.
func (c *counter) sizes(ctx context.Context, keys []item) ([]int, error) {
	place := func(row item) string {
		text := func(name string) string { return row[name].(*types.AttributeValueMemberS).Value }
		return text(api.PartitionKey) + "\n" + text(api.SortKey)
	}
	found := map[string]int{}
	for rest := keys; len(rest) > 0; {
		out, err := c.plain.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{tableName: {Keys: rest, ConsistentRead: new(true)}},
		})
		if err != nil {
			return nil, err
		}
		for _, row := range out.Responses[tableName] {
			for name, value := range row {
				found[place(row)] += len(name) + dynamo.SizeOf(value)
			}
		}
		rest = out.UnprocessedKeys[tableName].Keys
	}
	sizes := make([]int, len(keys))
	for i, key := range keys {
		sizes[i] = found[place(key)]
	}
	return sizes, nil
}

// costOf returns the total units of calls. The round trips are the longest chain of sequential calls, each of which
// begins after the previous one has ended.
func costOf(calls []dbCall) (cost price) {
	calls = slices.Clone(calls)
	slices.SortFunc(calls, func(a, b dbCall) int { return a.start.Compare(b.start) })
	chain := make([]float64, len(calls))
	for i, call := range calls {
		chain[i] = 1
		for j := range i {
			if !calls[j].end.After(call.start) {
				chain[i] = max(chain[i], chain[j]+1)
			}
		}
		cost.trips = max(cost.trips, chain[i])
		cost.write += call.write
		cost.read += call.read
	}
	return cost
}
