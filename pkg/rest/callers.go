package rest

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"sync"

	"skillscurriculum/pkg/catalog"
)

// KeyReader reads keys and customers. It returns nil without an error if there is none.
type KeyReader interface {
	Key(ctx context.Context, hash string) (*catalog.Key, error)
	Customer(ctx context.Context, id catalog.CustomerID) (*catalog.Customer, error)
}

// callerKept is how long, in ms, callers are cached: a revoked key must stop working within 60 s.
const callerKept = 45_000

// Callers authenticates requests.
type Callers struct {
	Keys KeyReader
	Now  func() catalog.Time

	known cache[[sha256.Size]byte, catalog.Caller] // by digest of the key
}

// cache has values that were found a short time ago.
type cache[K comparable, V any] struct {
	mu    sync.Mutex
	known map[K]cached[V]
}

type cached[V any] struct {
	value V
	at    catalog.Time
}

// cacheMax is the number of values at which all are forgotten.
const cacheMax = 10_000

// find returns a value that was found at most so many ms ago.
func (c *cache[K, V]) find(k K, now, ago catalog.Time) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found, ok := c.known[k]
	return found.value, ok && now-found.at <= ago
}

func (c *cache[K, V]) keep(k K, v V, now catalog.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= cacheMax {
		c.known = map[K]cached[V]{}
	}
	c.known[k] = cached[V]{v, now}
}

func unauthorized() (catalog.Caller, error) {
	return catalog.Caller{}, catalog.Errorf(catalog.Unauthorized, "The header X-API-Key must contain a valid key.")
}

// Find returns the caller with a key. Missing, unknown, revoked and expired keys, and keys of disabled customers, have
// the same error.
func (c *Callers) Find(ctx context.Context, secret string) (catalog.Caller, error) {
	if secret == "" || len(secret) > 200 {
		return unauthorized()
	}
	now := c.Now()
	digest := sha256.Sum256([]byte(secret))
	known, ok := c.known.find(digest, now, callerKept)
	if !ok {
		hash := catalog.HashSecret(secret)
		key, err := c.Keys.Key(ctx, hash)
		if err != nil {
			return catalog.Caller{}, err
		}
		if key == nil || subtle.ConstantTimeCompare([]byte(key.Hash), []byte(hash)) != 1 {
			return unauthorized()
		}
		customer, err := c.Keys.Customer(ctx, key.CustomerID)
		if err != nil {
			return catalog.Caller{}, err
		}
		if customer == nil || customer.DisabledAt != nil {
			return unauthorized()
		}
		known = catalog.Caller{Customer: *customer, Key: *key}
		c.known.keep(digest, known, now)
	}
	if !known.Key.Live(now) {
		return unauthorized()
	}
	return known, nil
}
