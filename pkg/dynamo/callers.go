package dynamo

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/catalog"
)

// Key reads a key by its hash; nil if there is none.
func (s *Store) Key(ctx context.Context, hash string) (*catalog.Key, error) {
	return read[catalog.Key](ctx, s, secretKey(hash))
}

// Keys reads all keys of a customer.
func (s *Store) Keys(ctx context.Context, id catalog.CustomerID) ([]*catalog.Key, error) {
	return readAll[*catalog.Key](ctx, s, partitionQuery(customerKeyKey(id, "").pk, true))
}

// SaveKey creates or replaces a key, both under its hash, for requests, and under its customer, for operators.
func (s *Store) SaveKey(ctx context.Context, k *catalog.Key) error {
	var puts []types.TransactWriteItem
	for _, at := range []key{secretKey(k.Hash), customerKeyKey(k.CustomerID, k.ID)} {
		row, err := encode(k)
		if err != nil {
			return err
		}
		puts = append(puts, s.put(at, row, nil).action)
	}
	_, err := s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: puts})
	return unavailable(err)
}

// Customer reads a customer; nil if there is none.
func (s *Store) Customer(ctx context.Context, id catalog.CustomerID) (*catalog.Customer, error) {
	return read[catalog.Customer](ctx, s, customerKey(id))
}

// Customers reads all customers.
func (s *Store) Customers(ctx context.Context) ([]*catalog.Customer, error) {
	return readAll[*catalog.Customer](ctx, s, partitionQuery(customerKey("").pk, true))
}

// SaveCustomer creates or replaces a customer.
func (s *Store) SaveCustomer(ctx context.Context, c *catalog.Customer) error {
	return s.save(ctx, customerKey(c.ID), c)
}

// Organization reads an organization; nil if there is none.
func (s *Store) Organization(ctx context.Context, id catalog.OrgID) (*catalog.Organization, error) {
	return read[catalog.Organization](ctx, s, organizationKey(id))
}

// Organizations reads all organizations.
func (s *Store) Organizations(ctx context.Context) ([]*catalog.Organization, error) {
	return readAll[*catalog.Organization](ctx, s, partitionQuery(organizationKey("").pk, true))
}

// SaveOrganization creates or replaces an organization.
func (s *Store) SaveOrganization(ctx context.Context, o *catalog.Organization) error {
	return s.save(ctx, organizationKey(o.ID), o)
}

// handleRow maps a handle to its organization.
type handleRow struct {
	OrganizationID catalog.OrgID `json:"organizationId"`
}

// Handle returns the organization with a handle; "" if there is none.
func (s *Store) Handle(ctx context.Context, handle string) (catalog.OrgID, error) {
	row, err := read[handleRow](ctx, s, handleKey(handle))
	if err != nil || row == nil {
		return "", err
	}
	return row.OrganizationID, nil
}

// ReplaceOrganization saves an organization, whose handle and CTID must be its own; before is its previous state.
func (s *Store) ReplaceOrganization(ctx context.Context, before, after *catalog.Organization) error {
	row, err := encode(after)
	if err != nil {
		return err
	}
	writes := []types.TransactWriteItem{s.put(organizationKey(after.ID), row, nil).action}
	if after.Handle != "" {
		if row, err = encode(&handleRow{after.ID}); err != nil {
			return err
		}
		var e expression
		e.conditions = []string{"attribute_not_exists(pk) OR " + e.name("organizationId") + " = " +
			e.value(text(string(after.ID)))}
		writes = append(writes, s.put(handleKey(after.Handle), row, &e).action)
	}
	if after.CTID != "" && after.CTID != before.CTID {
		own := item{"id": text(string(after.ID)), "kind": text(string(organizationsOwn))}
		writes = append(writes, s.putNew(ctidKey(after.ID, after.CTID), own).action)
	}
	if before.Handle != "" && before.Handle != after.Handle {
		writes = append(writes, s.delete(handleKey(before.Handle), &expression{}).action)
	}
	_, err = s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: writes})
	var refused *types.TransactionCanceledException
	if errors.As(err, &refused) {
		taken := "another record has the ctid"
		if reasons := refused.CancellationReasons; after.Handle != "" && aws.ToString(reasons[1].Code) == "ConditionalCheckFailed" {
			taken = "another organization has the handle"
		}
		return catalog.Errorf(catalog.Conflict, "%s", taken).Because(err)
	}
	return unavailable(err)
}

func (s *Store) save(ctx context.Context, k key, v any) error {
	row, err := encode(v)
	if err == nil {
		_, err = s.putItem(ctx, k, row, nil)
	}
	return err
}

// read reads a row that is not a record of the catalog; nil if there is none.
func read[T any](ctx context.Context, s *Store, k key) (*T, error) {
	row, err := s.row(ctx, k, true)
	if err != nil || row == nil {
		return nil, err
	}
	v := new(T)
	return v, decode(row, v)
}

// readAll reads the rows that in selects.
func readAll[T any](ctx context.Context, s *Store, in *dynamodb.QueryInput) ([]T, error) {
	found := []T{}
	err := s.query(ctx, in, func(row item) (bool, error) {
		var v T
		err := decode(row, &v)
		found = append(found, v)
		return true, err
	})
	return found, err
}
