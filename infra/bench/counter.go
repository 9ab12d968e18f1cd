package main

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"skillscurriculum/infra/bench/budget"
	"skillscurriculum/pkg/api"
)

// callDelay is added to each call, so that parallel calls overlap however fast the emulator is.
const callDelay = 8 * time.Millisecond

// item is a row of the table.
type item = map[string]types.AttributeValue

// dbCall is a call of DynamoDB with the units that AWS would bill. Index units are those of the sparse index, which has
// its own capacity.
type dbCall struct {
	start, end         time.Time
	write, read, index float64
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
) (middleware.InitializeOutput, middleware.Metadata, error) {
	c.mu.Lock()
	counting := c.counting
	c.mu.Unlock()
	if !counting {
		return next.HandleInitialize(ctx, in)
	}
	call := dbCall{start: time.Now()}
	detail := types.ReturnConsumedCapacityIndexes
	var rows []transactionRow
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
		var err error
		if rows, err = c.before(ctx, in); err != nil {
			return middleware.InitializeOutput{}, middleware.Metadata{}, err
		}
	}
	time.Sleep(callDelay)
	out, metadata, err := next.HandleInitialize(ctx, in)
	call.end = time.Now()
	if err == nil {
		err = c.bill(ctx, &call, out.Result, rows)
	}
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	return out, metadata, err
}

// bill sets the units of a call that succeeded.
func (c *counter) bill(ctx context.Context, call *dbCall, result any, rows []transactionRow) error {
	switch out := result.(type) {
	case *dynamodb.GetItemOutput:
		call.read = units(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		for i := range out.ConsumedCapacity {
			call.read += units(&out.ConsumedCapacity[i])
		}
	case *dynamodb.QueryOutput:
		call.read = units(out.ConsumedCapacity)
	case *dynamodb.PutItemOutput:
		call.write, call.index = writeUnits(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		call.write, call.index = writeUnits(out.ConsumedCapacity)
	case *dynamodb.TransactWriteItemsOutput:
		for _, row := range rows {
			after := row.put
			if row.changed {
				var err error
				if after, err = c.row(ctx, row.key); err != nil {
					return err
				}
			}
			kilobytes := math.Ceil(float64(max(itemSize(row.before), itemSize(after), 1)) / 1024)
			call.write += 2 * kilobytes
			if !row.checked {
				call.index += indexWrites(row.before, after) // the index is updated once, after the commit
			}
		}
	}
	return nil
}

func units(c *types.ConsumedCapacity) float64 {
	if c == nil || c.CapacityUnits == nil {
		return 0
	}
	return *c.CapacityUnits
}

func writeUnits(c *types.ConsumedCapacity) (table, index float64) {
	if c == nil {
		return 0, 0
	}
	for _, i := range c.GlobalSecondaryIndexes {
		index += *i.CapacityUnits
	}
	return units(c) - index, index
}

// transactionRow is a row of a transaction.
type transactionRow struct {
	key     item
	before  item
	put     item // the new row of a Put
	changed bool // by an Update: the new row must be read
	checked bool // by a ConditionCheck
}

// before reads the rows of a transaction. AWS bills the larger of a row's old and new size.
func (c *counter) before(ctx context.Context, in *dynamodb.TransactWriteItemsInput) ([]transactionRow, error) {
	rows := make([]transactionRow, len(in.TransactItems))
	for i, action := range in.TransactItems {
		row := &rows[i]
		switch {
		case action.Put != nil:
			row.put = action.Put.Item
			row.key = item{
				api.PartitionKey: row.put[api.PartitionKey], api.SortKey: row.put[api.SortKey],
			}
		case action.Update != nil:
			row.key, row.changed = action.Update.Key, true
		case action.Delete != nil:
			row.key = action.Delete.Key
		default:
			row.key, row.checked = action.ConditionCheck.Key, true
		}
		var err error
		if row.before, err = c.row(ctx, row.key); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (c *counter) row(ctx context.Context, key item) (item, error) {
	out, err := c.plain.GetItem(ctx, &dynamodb.GetItemInput{TableName: &tableName, Key: key, ConsistentRead: new(true)})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// indexWrites returns the number of writes to the sparse index, which contains only keys, for a change of a row.
func indexWrites(before, after item) float64 {
	was, is := indexKey(before), indexKey(after)
	switch {
	case was == is:
		return 0
	case was == "" || is == "":
		return 1
	}
	return 2 // an index row moves by being deleted and put
}

func indexKey(row item) string {
	shard, ok := row[api.PendingIndexPartitionKey].(*types.AttributeValueMemberS)
	if !ok {
		return ""
	}
	since, ok := row[api.PendingIndexSortKey].(*types.AttributeValueMemberN)
	if !ok {
		return ""
	}
	return shard.Value + " " + since.Value
}

// itemSize returns a row's size in bytes by DynamoDB's rule: names and values.
func itemSize(row item) int {
	size := 0
	for name, value := range row {
		size += len(name) + valueSize(value)
	}
	return size
}

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberSS:
		size := 0
		for _, s := range v.Value {
			size += len(s)
		}
		return size
	case *types.AttributeValueMemberL:
		size := 3
		for _, element := range v.Value {
			size += 1 + valueSize(element)
		}
		return size
	case *types.AttributeValueMemberM:
		size := 3
		for name, element := range v.Value {
			size += 1 + len(name) + valueSize(element)
		}
		return size
	}
	return 1 // null and boolean
}

// numberSize returns a byte per two significant digits, plus one.
func numberSize(n string) int {
	digits := strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(n), "0")
	return (len(digits)+1)/2 + 1
}

// costOf returns the total units of calls. The round trips are the longest chain of sequential calls, each of which
// begins after the previous one has ended.
func costOf(calls []dbCall) (cost budget.Cost, index float64) {
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
		cost.Trips = max(cost.Trips, chain[i])
		cost.Write += call.write
		cost.Read += call.read
		index += call.index
	}
	return cost, index
}
