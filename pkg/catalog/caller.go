package catalog

import (
	"crypto/sha256"
	"encoding/hex"
)

// Organization is what records belong to.
type Organization struct {
	ID        OrgID  `json:"id"`
	Name      string `json:"name"`
	CreatedAt Time   `json:"createdAt"`
}

// Customer is what rate limits are counted for; it belongs to one organization.
type Customer struct {
	ID             CustomerID `json:"id"`
	OrganizationID OrgID      `json:"organizationId"`
	Name           string     `json:"name"`
	RateLimitUnits *int       `json:"rateLimitUnits" doc:"Units a window instead of the default"`
	CreatedAt      Time       `json:"createdAt"`
}

// Scope is what a key may do.
type Scope string

// The scopes.
const (
	ReadScope  Scope = "read"
	WriteScope Scope = "write"
)

// Key is an API key as it is stored: Hash, never the key itself.
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

// Live reports whether the key works at an instant.
func (k *Key) Live(now Time) bool {
	return k.RevokedAt == nil && (k.ExpiresAt == nil || now < *k.ExpiresAt)
}

// Caller is who makes a request.
type Caller struct {
	Customer Customer
	KeyID    string
	KeyHash  string
	Scope    Scope
}

// SecretPrefix begins every API key, so that people and scanners recognise one.
// API Gateway takes keys of letters and digits, 20 to 128 of them.
const SecretPrefix = "skckey"

// NewSecret returns an API key of 160 random bits behind the prefix.
func (s IDs) NewSecret() string { return SecretPrefix + encoding.EncodeToString(s.random(20)) }

// HashSecret returns what is stored of an API key.
func HashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// MaxLiveKeys is how many keys a customer has at a time, so that one can replace
// the other without a gap. Read-only keys count for themselves.
const MaxLiveKeys = 2

// AddKey decides whether a customer may have another key of that scope.
func AddKey(keys []*Key, scope Scope, now Time) error {
	live := 0
	for _, k := range keys {
		if k.Scope == scope && k.Live(now) {
			live++
		}
	}
	if live >= MaxLiveKeys {
		return Errorf(Conflict, "the customer has %d live keys of scope %s already: revoke one first", live, scope)
	}
	return nil
}
