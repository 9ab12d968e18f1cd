// Package keyring issues, rotates and revokes the API keys of customers. A key is a row in the table and, in AWS, an
// API Gateway key in the usage plan; it works only with both. Package catalog limits their number.
//
// Invariant: if a step fails, repeating the operation restores consistency, and every working key was shown to its
// user.
package keyring

import (
	"context"
	"fmt"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// Store is the part of the table that the keyring uses.
type Store interface {
	Customer(ctx context.Context, id catalog.CustomerID) (*catalog.Customer, error)
	Keys(ctx context.Context, id catalog.CustomerID) ([]*catalog.Key, error)
	SaveKey(ctx context.Context, k *catalog.Key) error
}

// Gateway is the API gateway in front of the service, which identifies keys by name.
type Gateway interface {
	// Names returns the ids of the keys whose names start with a prefix, by name.
	Names(ctx context.Context, prefix string) (map[string]string, error)
	// Add adds a key and admits it.
	Add(ctx context.Context, name, secret string) error
	// Remove removes a key. A missing key is not an error.
	Remove(ctx context.Context, id string) error
}

// Keyring manages keys in the table and the gateway.
type Keyring struct {
	Store   Store
	Gateway Gateway // nil without a gateway
	Now     func() catalog.Time
	IDs     catalog.IDs
}

// Issued is a new key. Its secret is not stored.
type Issued struct {
	*catalog.Key
	Secret string `json:"apiKey"`
}

// nameOf returns the name of a key in the gateway.
func nameOf(k *catalog.Key) string { return prefixOf(k.CustomerID) + k.ID }

func prefixOf(id catalog.CustomerID) string { return string(id) + "." }

// Create issues a key that expires after valid, or never if that is 0. A key returned together with an error may or may
// not work.
func (r *Keyring) Create(
	ctx context.Context, id catalog.CustomerID, scope catalog.Scope, valid time.Duration,
) (*Issued, error) {
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
		key.ExpiresAt = new(catalog.TimeOf(now.Std().Add(valid)))
	}
	// The gateway comes first: without its row the key does not work, and the next load removes it.
	if r.Gateway != nil {
		if err := r.Gateway.Add(ctx, nameOf(key), secret); err != nil {
			return nil, fmt.Errorf("API Gateway refused the key; try again: %w", err)
		}
	}
	if err := r.Store.SaveKey(ctx, key); err != nil {
		// The row may have been saved, so the key must be shown.
		return &Issued{key, secret}, fmt.Errorf("the key works only if skillsctl keys list shows it, else try again: %w", err)
	}
	return &Issued{key, secret}, nil
}

// Rotate issues a key that replaces the live ones of its scope, which expire after grace. If there are two already, the
// one that ends first is revoked if replace is set; otherwise the error names it.
func (r *Keyring) Rotate(
	ctx context.Context, id catalog.CustomerID, scope catalog.Scope, grace time.Duration, replace bool,
) (*Issued, error) {
	_, keys, err := r.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if first, crowded := catalog.EndsFirst(keys, scope, r.Now()); crowded {
		if !replace {
			ends := "which does not expire"
			if first.ExpiresAt != nil {
				ends = "which ends first, at " + first.ExpiresAt.String()
			}
			return nil, catalog.Errorf(catalog.Conflict, "the customer has %d live keys of scope %s already; -replace "+
				"revokes %s, %s",
				catalog.MaxLiveKeys, scope, first.ID, ends)
		}
		if _, err := r.Revoke(ctx, id, first.ID); err != nil {
			return nil, err
		}
		first.RevokedAt = new(r.Now())
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
			return issued, fmt.Errorf("the new key works, but the old one %s does not expire; revoke it: %w", key.ID, err)
		}
	}
	return issued, nil
}

// List returns a customer's keys.
func (r *Keyring) List(ctx context.Context, id catalog.CustomerID) ([]*catalog.Key, error) {
	_, keys, err := r.load(ctx, id)
	return keys, err
}

// Revoke revokes a key. A revoked key is left unchanged.
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
			key.RevokedAt = new(r.Now())
			if err := r.Store.SaveKey(ctx, key); err != nil {
				return nil, err
			}
		}
		return key, r.sweep(ctx, id, keys)
	}
	return nil, catalog.Errorf(catalog.NotFound, "customer %s has no key %s", id, keyID)
}

// load reads a customer and its keys, and removes keys from the gateway that have ended or were never saved.
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
		return fmt.Errorf("API Gateway did not list its keys: %w", err)
	}
	now := r.Now()
	for _, key := range keys {
		if key.Live(now) {
			delete(ended, nameOf(key))
		}
	}
	for name, gatewayID := range ended {
		if err := r.Gateway.Remove(ctx, gatewayID); err != nil {
			return fmt.Errorf("API Gateway did not remove the ended key %s; try again: %w",
				strings.TrimPrefix(name, prefixOf(id)), err)
		}
	}
	return nil
}
