package dynamo

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
)

// keptWindows is how many windows stay readable behind the current one.
const keptWindows = 62

// Counter counts units in rows of their own: one customer and window each.
type Counter struct {
	Store *Store
	// Timeout is how long one count may take; there is no second try, because an
	// addition that was applied without a response would then be charged twice.
	Timeout time.Duration
}

func (c *Counter) once(o *dynamodb.Options) {
	o.Retryer = aws.NopRetryer{}
}

// Add implements quota.Counter.
func (c *Counter) Add(ctx context.Context, customer catalog.CustomerID, w quota.Window, charge quota.Charge) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	in := &dynamodb.UpdateItemInput{
		TableName: &c.Store.Table, Key: unitsKey(customer, w.Start).attributes(),
		UpdateExpression:         aws.String("ADD used :units, #calls :calls, #units :units SET expiresAt = :ttl, unitLimit = :limit"),
		ExpressionAttributeNames: map[string]string{"#calls": "calls:" + charge.Operation, "#units": "units:" + charge.Operation},
		ExpressionAttributeValues: item{
			":units": number(charge.Units), ":calls": number(charge.Calls), ":limit": number(w.Units), ":ttl": number(expiry(w)),
		},
		ReturnValues: types.ReturnValueUpdatedNew, ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
	if charge.Units > 0 {
		in.ConditionExpression = aws.String("attribute_not_exists(used) OR used <= :left")
		in.ExpressionAttributeValues[":left"] = number(w.Units - charge.Units)
		if charge.Units > w.Units {
			in.ConditionExpression = aws.String("used < :none")
			delete(in.ExpressionAttributeValues, ":left")
			in.ExpressionAttributeValues[":none"] = number(0)
		}
	}
	out, err := c.Store.Client.UpdateItem(ctx, in, c.once)
	var full *types.ConditionalCheckFailedException
	if errors.As(err, &full) {
		return integer(full.Item["used"]), quota.ErrFull
	}
	if err != nil {
		return 0, unavailable(err)
	}
	return integer(out.Attributes["used"]), nil
}

// Refuse implements quota.Counter.
func (c *Counter) Refuse(ctx context.Context, customer catalog.CustomerID, w quota.Window, n int) error {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	_, err := c.Store.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &c.Store.Table, Key: unitsKey(customer, w.Start).attributes(),
		UpdateExpression:          aws.String("ADD #limited :n, used :zero SET expiresAt = :ttl, unitLimit = :limit"),
		ExpressionAttributeNames:  map[string]string{"#limited": "limited"}, // a reserved word
		ExpressionAttributeValues: item{":n": number(n), ":zero": number(0), ":limit": number(w.Units), ":ttl": number(expiry(w))},
	}, c.once)
	return unavailable(err)
}

// Used implements quota.Counter.
func (c *Counter) Used(ctx context.Context, customer catalog.CustomerID, w quota.Window) (int, error) {
	usage, err := c.Usage(ctx, customer, w)
	return usage.Used, err
}

// Usage reads one window; nothing used is no error.
func (c *Counter) Usage(ctx context.Context, customer catalog.CustomerID, w quota.Window) (quota.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	row, err := c.Store.row(ctx, unitsKey(customer, w.Start), true)
	if err != nil || row == nil {
		return quota.Usage{Start: w.Start}, err
	}
	return usageOf(row), nil
}

// History reads what is kept of the windows that began in [from, to).
func (c *Counter) History(ctx context.Context, customer catalog.CustomerID, from, to int64) (map[int64]quota.Usage, error) {
	history := map[int64]quota.Usage{}
	err := c.Store.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk AND sk BETWEEN :from AND :to"),
		ExpressionAttributeValues: item{
			":pk": text(unitsKey(customer, 0).pk), ":from": text(strconv.FormatInt(from, 10)), ":to": text(strconv.FormatInt(to-1, 10)),
		},
	}, func(row item) (bool, error) {
		usage := usageOf(row)
		history[usage.Start] = usage
		return true, nil
	})
	return history, err
}

func usageOf(row item) quota.Usage {
	start, _ := strconv.ParseInt(row[api.SortKey].(*types.AttributeValueMemberS).Value, 10, 64)
	usage := quota.Usage{Start: start, Used: integer(row["used"]), Limited: integer(row["limited"]), Operations: map[string]quota.OperationUsage{}}
	for name, value := range row {
		if operation, ok := strings.CutPrefix(name, "calls:"); ok {
			usage.Operations[operation] = quota.OperationUsage{Calls: integer(value), Units: integer(row["units:"+operation])}
		}
	}
	return usage
}

func integer(v types.AttributeValue) int {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return 0
	}
	i, _ := strconv.Atoi(n.Value)
	return i
}

// expiry is the Unix second from which the window's row may go.
func expiry(w quota.Window) int64 { return w.End + keptWindows*(w.End-w.Start) }
