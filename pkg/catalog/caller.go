package catalog

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
)

// Customer is the subject of rate limits; it belongs to one organization.
type Customer struct {
	ID             CustomerID `json:"id"`
	OrganizationID OrgID      `json:"organizationId"`
	Name           string     `json:"name"`
	RateLimitUnits *int       `json:"rateLimitUnits" doc:"Units per window instead of the default"`
	CreatedAt      Time       `json:"createdAt"`
	DisabledAt     *Time      `json:"disabledAt" doc:"Time since which its keys are refused; null if they are not"`
}

// Scope is the access that a key grants.
type Scope string

// The scopes.
const (
	ReadScope  Scope = "read"
	WriteScope Scope = "write"
)

// Key is a stored API key: its hash, never the key itself.
type Key struct {
	ID             string     `json:"id"`
	CustomerID     CustomerID `json:"customerId"`
	OrganizationID OrgID      `json:"organizationId"`
	Scope          Scope      `json:"scope"`
	Hash           string     `json:"hash"`
	CreatedAt      Time       `json:"createdAt"`
	ExpiresAt      *Time      `json:"validUntil"`
	RevokedAt      *Time      `json:"revokedAt"`
}

// Live reports whether the key is valid at an instant.
func (k *Key) Live(now Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now < *k.ExpiresAt)
}

// Caller is the sender of a request.
type Caller struct {
	Customer Customer
	Key      Key
}

// SecretPrefix begins every API key, so that people and scanners recognise it.
// API Gateway accepts keys of 20 to 128 letters and digits.
const SecretPrefix = "skckey"

// NewSecret returns an API key: the prefix and 160 random bits.
func (s IDs) NewSecret() string { return SecretPrefix + encoding.EncodeToString(s.random(20)) }

// HashSecret returns the hash under which an API key is stored.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// MaxLiveKeys is the maximum number of live keys of a customer in each scope: two, so that
// one can replace the other without a gap.
const MaxLiveKeys = 2

// EndsFirst returns the live key of a scope that ends first, the oldest of those that end at the same time or never,
// and whether there are so many that it has to make room for another.
func EndsFirst(keys []*Key, scope Scope, now Time) (first *Key, crowded bool) {
	var live []*Key
	for _, k := range keys {
		if k.Scope == scope && k.Live(now) {
			live = append(live, k)
		}
	}
	ends := func(k *Key) Time { return ValueOr(k.ExpiresAt, math.MaxInt64) }
	slices.SortFunc(live, func(a, b *Key) int {
		return cmp.Or(cmp.Compare(ends(a), ends(b)), cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	if len(live) == 0 {
		return nil, false
	}
	return live[0], len(live) >= MaxLiveKeys
}

// AddKey checks that a customer may have another key of a scope.
func AddKey(keys []*Key, scope Scope, now Time) error {
	if _, crowded := EndsFirst(keys, scope, now); crowded {
		return Errorf(Conflict, "the customer has %d live keys of scope %s already: revoke one first", MaxLiveKeys, scope)
	}
	return nil
}
