package gateway

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"skillscurriculum/pkg/catalog"
)

// keys is the usage plan: the valid keys and their throttles.
type keys struct {
	known func(ctx context.Context, apiKey string) (bool, error)
	rate  rate.Limit
	burst int

	mu   sync.Mutex
	good map[string]*key // valid keys only, so that strangers cannot make it grow
}

type key struct {
	until   time.Time // end of the cache entry
	limiter *rate.Limiter
}

func newKeys(known func(context.Context, string) (bool, error), limit rate.Limit, burst int) *keys {
	return &keys{known: known, rate: cmp.Or(limit, 500), burst: cmp.Or(burst, 1000), good: map[string]*key{}}
}

// admit returns the error code and detail of a rejected call, or "".
func (k *keys) admit(ctx context.Context, apiKey string, now time.Time) (code catalog.Code, detail string) {
	limiter, valid := k.limiter(ctx, apiKey, now)
	if !valid {
		return catalog.Unauthorized, "A valid API key in the header X-API-Key is required."
	}
	if limiter != nil && !limiter.AllowN(now, 1) {
		return catalog.RateLimitExceeded, "Too many requests at once. Wait before trying again."
	}
	return "", ""
}

// limiter returns the throttle of a valid key, and false for any other. A key whose validity cannot be checked counts
// as valid and, unless it was before, has no throttle: the function decides.
func (k *keys) limiter(ctx context.Context, apiKey string, now time.Time) (*rate.Limiter, bool) {
	if apiKey == "" {
		return nil, false
	}
	k.mu.Lock()
	good := cmp.Or(k.good[apiKey], &key{})
	believed := now.Before(good.until)
	k.mu.Unlock()
	if believed {
		return good.limiter, true
	}
	ctx, cancel := context.WithTimeout(ctx, keyPatience)
	defer cancel()
	known, err := k.known(ctx, apiKey)
	if err != nil {
		return good.limiter, true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !known {
		delete(k.good, apiKey)
		return nil, false
	}
	if k.good[apiKey] == nil {
		k.good[apiKey] = &key{limiter: rate.NewLimiter(k.rate, k.burst)}
	}
	k.good[apiKey].until = now.Add(keyMemory)
	return k.good[apiKey].limiter, true
}
