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

// Callers are cached for callerKept ms, because a revoked key must stop working within 60 s.
const (
	callerKept = 45_000
	callersMax = 10_000
)

// Callers authenticates requests.
type Callers struct {
	Keys KeyReader
	Now  func() catalog.Time

	mu    sync.Mutex
	known map[[sha256.Size]byte]knownCaller // by digest of the key
}

type knownCaller struct {
	catalog.Caller
	at catalog.Time
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
	c.mu.Lock()
	known, ok := c.known[digest]
	c.mu.Unlock()
	if !ok || now-known.at > callerKept {
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
		known = knownCaller{catalog.Caller{Customer: *customer, Key: *key}, now}
		c.remember(digest, known)
	}
	if !known.Key.Live(now) {
		return unauthorized()
	}
	return known.Caller, nil
}

func (c *Callers) remember(digest [sha256.Size]byte, k knownCaller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) >= callersMax {
		c.known = map[[sha256.Size]byte]knownCaller{}
	}
	c.known[digest] = k
}
