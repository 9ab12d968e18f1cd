// Package keyring issues, rotates and revokes the API keys of customers. A key is
// a row in the table and, in AWS, a key of API Gateway in the usage plan; it works
// with both only. Package catalog says how many there may be.
//
// Invariant: whatever fails between the two, doing the same again brings them in
// line, and no key that works was shown to nobody.
package keyring

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// Store is the table as the keyring needs it.
type Store interface {
	Customer(ctx context.Context, id catalog.CustomerID) (*catalog.Customer, error)
	Keys(ctx context.Context, id catalog.CustomerID) ([]*catalog.Key, error)
	SaveKey(ctx context.Context, k *catalog.Key) error
}

// Gateway is what stands before the service in AWS and knows keys by name.
type Gateway interface {
	// Names returns the ids of the keys whose names begin with a prefix, by name.
	Names(ctx context.Context, prefix string) (map[string]string, error)
	// Add takes a key and lets it through.
	Add(ctx context.Context, name, secret string) error
	// Remove forgets a key; one that is gone already is no error.
	Remove(ctx context.Context, id string) error
}

// Keyring is where keys are kept.
type Keyring struct {
	Store   Store
	Gateway Gateway // nil where nothing stands before the service
	Now     func() catalog.Time
	IDs     catalog.IDs
}

// Issued is a new key. Secret is known here and now only.
type Issued struct {
	*catalog.Key
	Secret string `json:"apiKey"`
}

// nameOf is the name under which the gateway knows a key.
func nameOf(k *catalog.Key) string { return prefixOf(k.CustomerID) + k.ID }

func prefixOf(id catalog.CustomerID) string { return string(id) + "." }

// Create issues a key, which ends after valid, or never where that is 0. A key that
// comes with an error may work or not.
func (r *Keyring) Create(ctx context.Context, id catalog.CustomerID, scope catalog.Scope, valid time.Duration) (*Issued, error) {
	customer, keys, err := r.load(ctx, id)
	if err != nil {
		return nil, err
	}
	now := r.Now()
	if err := catalog.AddKey(keys, scope, now); err != nil {
		return nil, err
	}
	secret := r.IDs.NewSecret()
	key := &catalog.Key{
		ID: r.IDs.New("key_"), CustomerID: customer.ID, OrganizationID: customer.OrganizationID,
		Scope: scope, Hash: catalog.HashSecret(secret), CreatedAt: now,
	}
	if valid > 0 {
		end := catalog.TimeOf(now.Std().Add(valid))
		key.ExpiresAt = &end
	}
	// The gateway first: without its row a key opens nothing, and the next load
	// takes it away.
	if r.Gateway != nil {
		if err := r.Gateway.Add(ctx, nameOf(key), secret); err != nil {
			return nil, fmt.Errorf("API Gateway does not take the key (do the same again): %w", err)
		}
	}
	if err := r.Store.SaveKey(ctx, key); err != nil {
		// It may be saved all the same, and then nobody must be without it.
		return &Issued{key, secret}, fmt.Errorf("the key works only if skillsctl keys list shows it, else do the same again: %w", err)
	}
	return &Issued{key, secret}, nil
}

// Rotate issues a key that takes the place of the live ones of its scope, which
// end after grace. Where there are two already, the older one must be revoked first.
func (r *Keyring) Rotate(ctx context.Context, id catalog.CustomerID, scope catalog.Scope, grace time.Duration) (*Issued, error) {
	_, keys, err := r.load(ctx, id)
	if err != nil {
		return nil, err
	}
	issued, err := r.Create(ctx, id, scope, 0)
	if err != nil {
		return issued, err
	}
	now := r.Now()
	end := catalog.TimeOf(now.Std().Add(grace))
	for _, key := range keys {
		if key.Scope != scope || !key.Live(now) || key.ExpiresAt != nil && *key.ExpiresAt <= end {
			continue
		}
		key.ExpiresAt = &end
		if err := r.Store.SaveKey(ctx, key); err != nil {
			return issued, fmt.Errorf("the new key works, but the old one %s goes on (revoke it): %w", key.ID, err)
		}
	}
	return issued, nil
}

// List returns a customer's keys.
func (r *Keyring) List(ctx context.Context, id catalog.CustomerID) ([]*catalog.Key, error) {
	_, keys, err := r.load(ctx, id)
	return keys, err
}

// Revoke ends a key now; one that has ended stays as it is.
func (r *Keyring) Revoke(ctx context.Context, id catalog.CustomerID, keyID string) (*catalog.Key, error) {
	_, keys, err := r.load(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if key.ID != keyID {
			continue
		}
		if key.RevokedAt == nil {
			now := r.Now()
			key.RevokedAt = &now
			if err := r.Store.SaveKey(ctx, key); err != nil {
				return nil, err
			}
		}
		return key, r.sweep(ctx, id, keys)
	}
	return nil, catalog.Errorf(catalog.NotFound, "customer %s has no key %s", id, keyID)
}

// load reads a customer with its keys, and takes away from the gateway what is
// left of keys that have ended or never came to be.
func (r *Keyring) load(ctx context.Context, id catalog.CustomerID) (*catalog.Customer, []*catalog.Key, error) {
	customer, err := r.Store.Customer(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	if customer == nil {
		return nil, nil, catalog.Errorf(catalog.NotFound, "there is no customer %s", id)
	}
	keys, err := r.Store.Keys(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	return customer, keys, r.sweep(ctx, id, keys)
}

func (r *Keyring) sweep(ctx context.Context, id catalog.CustomerID, keys []*catalog.Key) error {
	if r.Gateway == nil {
		return nil
	}
	ended, err := r.Gateway.Names(ctx, prefixOf(id))
	if err != nil {
		return fmt.Errorf("API Gateway does not list its keys: %w", err)
	}
	now := r.Now()
	for _, key := range keys {
		if key.Live(now) {
			delete(ended, nameOf(key))
		}
	}
	for name, gatewayID := range ended {
		if err := r.Gateway.Remove(ctx, gatewayID); err != nil {
			return fmt.Errorf("API Gateway keeps the key %s, which has ended (do the same again): %w", strings.TrimPrefix(name, prefixOf(id)), err)
		}
	}
	return nil
}
