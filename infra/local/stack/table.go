package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

// Table is the service's table.
type Table struct{ *dynamo.Store }

// Open returns the table that variables of the functions name.
func Open(env map[string]string) Table {
	client := dynamodb.Client(env[api.EnvDynamoEndpoint])
	return Table{&dynamo.Store{Client: client, Table: env[api.EnvTable], Now: now}}
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
