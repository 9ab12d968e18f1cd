package gateway

import (
	"context"
	"sync"
	"time"

	"skillscurriculum/pkg/catalog"
)

// keys is the usage plan: which keys are good, and how fast each may call.
type keys struct {
	known       func(ctx context.Context, apiKey string) (bool, error)
	rate, burst float64

	mu   sync.Mutex
	good map[string]*key // grows with the service's keys only
}

type key struct {
	until  time.Time // good without asking
	tokens float64
	filled time.Time
}

func newKeys(known func(context.Context, string) (bool, error), rate, burst float64) *keys {
	if rate == 0 {
		rate = 500
	}
	if burst == 0 {
		burst = 1000
	}
	return &keys{known: known, rate: rate, burst: burst, good: map[string]*key{}}
}

// admit gives the code and detail of the refusal, or "" where the call may go on.
func (k *keys) admit(ctx context.Context, apiKey string, now time.Time) (code catalog.Code, detail string) {
	if !k.check(ctx, apiKey, now) {
		return catalog.Unauthorized, "A valid API key in the header X-API-Key is required."
	}
	if !k.take(apiKey, now) {
		return catalog.RateLimitExceeded, "Too many requests at once. Wait before trying again."
	}
	return "", ""
}

func (k *keys) check(ctx context.Context, apiKey string, now time.Time) bool {
	if apiKey == "" {
		return false
	}
	k.mu.Lock()
	believed := k.good[apiKey] != nil && now.Before(k.good[apiKey].until)
	k.mu.Unlock()
	if believed {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, keyPatience)
	defer cancel()
	known, err := k.known(ctx, apiKey)
	if err != nil {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !known:
		delete(k.good, apiKey)
	case k.good[apiKey] == nil:
		k.good[apiKey] = &key{tokens: k.burst, filled: now, until: now.Add(keyMemory)}
	default:
		k.good[apiKey].until = now.Add(keyMemory)
	}
	return known
}

// take lets a call of the key pass where its bucket holds a token.
func (k *keys) take(apiKey string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	b := k.good[apiKey]
	if b == nil {
		return true // not known to be good: the function decides
	}
	if passed := now.Sub(b.filled).Seconds(); passed > 0 {
		b.tokens, b.filled = min(k.burst, b.tokens+passed*k.rate), now
	}
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
