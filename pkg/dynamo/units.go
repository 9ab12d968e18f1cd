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

// keptWindows is the number of past windows that stay readable.
const keptWindows = 62

// Counter counts units in one row per customer and window.
type Counter struct {
	Store *Store
	// Timeout limits one count. There is no retry, because an addition whose response was
	// lost would then be charged twice.
	Timeout time.Duration
}

func (c *Counter) once(o *dynamodb.Options) {
	o.Retryer = aws.NopRetryer{}
}

// Add implements quota.Counter.
func (c *Counter) Add(
	ctx context.Context, customer catalog.CustomerID, w quota.Window, charge quota.Charge,
) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	e := windowUpdate(w)
	e.add("used", strconv.Itoa(charge.Units))
	e.add("calls:"+charge.Operation, strconv.Itoa(charge.Calls))
	e.add("units:"+charge.Operation, strconv.Itoa(charge.Units))
	switch {
	case charge.Units > w.Units:
		e.conditions = []string{e.name("used") + " < " + e.value(number(0))} // never holds
	case charge.Units > 0:
		e.below("used", int64(w.Units-charge.Units+1))
	}
	in := c.Store.updateInput(unitsKey(customer, w.Start), e)
	in.ReturnValues = types.ReturnValueUpdatedNew
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
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
	e := windowUpdate(w)
	e.add("limited", strconv.Itoa(n))
	e.add("used", "0")
	_, err := c.Store.Client.UpdateItem(ctx, c.Store.updateInput(unitsKey(customer, w.Start), e), c.once)
	return unavailable(err)
}

// windowUpdate returns an update of a window's row.
func windowUpdate(w quota.Window) *expression {
	var e expression
	e.set(api.TTL, number(expiry(w)))
	e.set("unitLimit", number(w.Units))
	return &e
}

// Used implements quota.Counter.
func (c *Counter) Used(ctx context.Context, customer catalog.CustomerID, w quota.Window) (int, error) {
	usage, err := c.Usage(ctx, customer, w)
	return usage.Used, err
}

// Usage reads one window. An unused window is not an error.
func (c *Counter) Usage(ctx context.Context, customer catalog.CustomerID, w quota.Window) (quota.Usage, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	row, err := c.Store.row(ctx, unitsKey(customer, w.Start), true)
	if err != nil || row == nil {
		return quota.Usage{Start: w.Start}, err
	}
	return usageOf(row), nil
}

// History reads the windows that are still stored and began in [from, to), by start.
func (c *Counter) History(
	ctx context.Context, customer catalog.CustomerID, from, to int64,
) (map[int64]quota.Usage, error) {
	history := map[int64]quota.Usage{}
	in := rangeQuery(unitsKey(customer, 0).pk, strconv.FormatInt(from, 10), strconv.FormatInt(to-1, 10), false)
	err := c.Store.query(ctx, in, func(row item) (bool, error) {
		usage := usageOf(row)
		history[usage.Start] = usage
		return true, nil
	})
	return history, err
}

func usageOf(row item) quota.Usage {
	start, _ := strconv.ParseInt(keyOfRow(row).sk, 10, 64)
	usage := quota.Usage{
		Start: start, Used: integer(row["used"]), Limited: integer(row["limited"]),
		Operations: map[string]quota.OperationUsage{},
	}
	for name, value := range row {
		if operation, ok := strings.CutPrefix(name, "calls:"); ok {
			units := integer(row["units:"+operation])
			usage.Operations[operation] = quota.OperationUsage{Calls: integer(value), Units: units}
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

// expiry is the Unix second at which the window's row expires.
func expiry(w quota.Window) int64 { return w.End + keptWindows*(w.End-w.Start) }
