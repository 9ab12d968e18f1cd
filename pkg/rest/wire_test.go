package rest_test

import (
	"context"
	"errors"
	"slices"
	"sync"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/quota"
	"skillscurriculum/pkg/rest"
)

// wire is what stands between the service and DynamoDB: it sees every call, and
// lets a test's hook do with it what a network and a busy table do.
type wire struct {
	mu   sync.Mutex
	hook func(call) (any, error)
}

// call is one call of the SDK, before its retries.
type call struct {
	operation string
	input     any
	next      func() (any, error)
}

// through sets the hook; nil for none.
func (w *wire) through(hook func(call) (any, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hook = hook
}

// tap makes the service's store talk through a wire.
func (s *service) tap() *wire {
	w := &wire{}
	step := middleware.InitializeMiddlewareFunc("wire", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		var metadata middleware.Metadata
		proceed := func() (any, error) {
			out, m, err := next.HandleInitialize(ctx, in)
			metadata = m
			return out.Result, err
		}
		w.mu.Lock()
		hook := w.hook
		w.mu.Unlock()
		if hook == nil {
			hook = func(c call) (any, error) { return c.next() }
		}
		result, err := hook(call{awsmiddleware.GetOperationName(ctx), in.Parameters, proceed})
		return middleware.InitializeOutput{Result: result}, metadata, err
	})
	s.store.Client = sdk.New(s.store.Client.Options(), func(o *sdk.Options) {
		o.APIOptions = append(slices.Clone(o.APIOptions), func(stack *middleware.Stack) error { return stack.Initialize.Add(step, middleware.After) })
	})
	return w
}

var errDown = errors.New("the network is down")

// counts reports whether a call counts units.
func (c call) counts() bool {
	in, ok := c.input.(*sdk.UpdateItemInput)
	return ok && in.Key["pk"].(*types.AttributeValueMemberS).Value[:2] == "u#"
}

// canceled is a transaction that lost against another.
func canceled() error {
	code := "TransactionConflict"
	return &types.TransactionCanceledException{CancellationReasons: []types.CancellationReason{{Code: &code}}}
}

// lagging hides from eventually consistent reads everything: a replica that is
// far behind.
func lagging(c call) (any, error) {
	out, err := c.next()
	weak := func(strong *bool) bool { return strong == nil || !*strong }
	switch out := out.(type) {
	case *sdk.GetItemOutput:
		if weak(c.input.(*sdk.GetItemInput).ConsistentRead) {
			out.Item = nil
		}
	case *sdk.QueryOutput:
		if weak(c.input.(*sdk.QueryInput).ConsistentRead) {
			out.Items, out.LastEvaluatedKey = nil, nil
		}
	case *sdk.BatchGetItemOutput:
		for table, wanted := range c.input.(*sdk.BatchGetItemInput).RequestItems {
			if weak(wanted.ConsistentRead) {
				delete(out.Responses, table)
			}
		}
	}
	return out, err
}

// function makes a second server on the same table, as another warm function.
func (s *service) function() *service {
	other := *s
	store := &dynamo.Store{Client: s.store.Client, Table: s.store.Table, Now: s.clock.Now}
	counter := &dynamo.Counter{Store: store, Timeout: s.server.Meter.Counter.(*dynamo.Counter).Timeout}
	other.store = store
	other.server = rest.New(&rest.Server{
		Store: store, Callers: &rest.Callers{Keys: store, Now: s.clock.Now}, Meter: &quota.Meter{Counter: counter}, Usage: counter, Limit: s.server.Limit,
		Queue: s.server.Queue, Market: s.server.Market, Taxonomy: s.server.Taxonomy, CheckHref: s.server.CheckHref, Files: s.server.Files, Pages: s.server.Pages, Now: s.clock.Now, IDs: s.server.IDs,
	})
	other.one.s, other.two.s, other.reader.s = &other, &other, &other
	return &other
}
