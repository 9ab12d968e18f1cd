package main

import (
	"context"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// store is what the stack wants to know of the table.
type store struct{ *dynamo.Store }

func newStore(p stack.Places) stack.Store {
	return store{&dynamo.Store{Client: dynamodb.Client(p.DynamoDBEndpoint), Table: p.Table, Now: now}}
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

// Known reports whether an API key is good now.
func (s store) Known(ctx context.Context, apiKey string) (bool, error) {
	key, err := s.Key(ctx, catalog.HashSecret(apiKey))
	return key != nil && key.Live(now()), err
}
