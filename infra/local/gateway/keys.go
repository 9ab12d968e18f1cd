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
		k.good[apiKey] = &key{limiter: rate.NewLimiter(k.rate, k.burst)}
		fallthrough
	default:
		k.good[apiKey].until = now.Add(keyMemory)
	}
	return known
}

// take counts a call against the throttle. A key whose validity could not be checked is
// not throttled: the function decides.
func (k *keys) take(apiKey string, now time.Time) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	good := k.good[apiKey]
	return good == nil || good.limiter.AllowN(now, 1)
}
