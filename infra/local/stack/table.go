package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// Table is the service's table. It implements Store.
type Table struct{ *dynamo.Store }

// Open returns the table at p.
func Open(p Places) Table {
	return Table{&dynamo.Store{Client: dynamodb.Client(p.DynamoDBEndpoint), Table: p.Table, Now: now}}
}

func now() catalog.Time { return catalog.TimeOf(time.Now()) }

// Known reports whether an API key is valid now.
func (t Table) Known(ctx context.Context, apiKey string) (bool, error) {
	key, err := t.Key(ctx, catalog.HashSecret(apiKey))
	return key != nil && key.Live(now()), err
}

// Admit saves a customer and returns a new write key for it.
func (t Table) Admit(ctx context.Context, c *catalog.Customer) (apiKey string, err error) {
	ids := catalog.IDs{Random: rand.Reader}
	c.CreatedAt, apiKey = now(), ids.NewSecret()
	return apiKey, errors.Join(t.SaveCustomer(ctx, c), t.SaveKey(ctx, &catalog.Key{
		ID: ids.New("key_"), CustomerID: c.ID, OrganizationID: c.OrganizationID, Scope: catalog.WriteScope,
		Hash: catalog.HashSecret(apiKey), CreatedAt: now(),
	}))
}
