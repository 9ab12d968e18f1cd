package rest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/service/parallel"
)

// Bounds of the retries of a change that conflicts with concurrent changes.
const (
	saveAttempts = 60
	savePause    = 15 * time.Millisecond
	saveMaxPause = 400 * time.Millisecond
)

// saveTime is longer in tests, for slow machines.
var saveTime = 20 * time.Second

// save runs a handler and saves its change. With an idempotency key, the first response is recorded and later returned
// again. If a record has changed since it was loaded, the handler runs again.
func (c *call) save(
	ctx context.Context, handler func(ctx context.Context) (any, *catalog.Change, error),
) (response, error) {
	key, digest, err := c.idempotency()
	if err != nil {
		return response{}, err
	}
	deadline := time.Now().Add(saveTime)
	pause := savePause
	for range saveAttempts {
		out, err := c.attempt(ctx, key, digest, handler)
		if err == nil || !errors.Is(err, catalog.ErrStale) {
			return out, err
		}
		if time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return response{}, ctx.Err()
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, saveMaxPause)
	}
	return response{}, changingTooOften()
}

// saveApart runs a handler that saves changes of its own, and records its response under an idempotency key. A handler
// that fails may have saved some of them; the same request then completes the rest.
func (c *call) saveApart(ctx context.Context, handler func(ctx context.Context) (any, error)) (response, error) {
	key, digest, err := c.idempotency()
	if err != nil {
		return response{}, err
	}
	recorded, err := c.recorded(ctx, key)
	if err != nil {
		return response{}, err
	}
	if recorded != nil {
		return c.replay(recorded, digest)
	}
	output, err := handler(ctx)
	if errors.Is(err, catalog.ErrStale) {
		err = changingTooOften()
	}
	if err != nil {
		return response{}, err
	}
	out := c.encode(output)
	if err := c.fits(out); err != nil || key == "" {
		return out, err
	}
	err = c.Store.Commit(ctx, c.org, catalog.NewChange(c.record(key, digest, out)))
	if errors.Is(err, catalog.ErrStale) { // the same request, sent twice, has been recorded meanwhile
		if recorded, err = c.recorded(ctx, key); err == nil && recorded != nil {
			return c.replay(recorded, digest)
		}
	}
	return out, err
}

// record returns what is stored under an idempotency key.
func (c *call) record(key, digest string, out response) *catalog.IdempotencyRecord {
	return &catalog.IdempotencyRecord{
		OrganizationID: c.org, Key: key, Request: digest, Status: out.status, Location: c.location,
		Body: c.sealed(key, out.body), ExpiresAt: c.now + catalog.IdempotencyTTL,
	}
}

func changingTooOften() *catalog.Error {
	return catalog.Errorf(catalog.Unavailable, "Too many concurrent changes; try again later.")
}

// attempt runs the handler and saves its change, or returns catalog.ErrStale if the handler must run again. A recorded
// response takes precedence over an error of the handler, which may be due to what the first call did.
func (c *call) attempt(
	ctx context.Context, key, digest string, handler func(ctx context.Context) (any, *catalog.Change, error),
) (response, error) {
	var output any
	var change *catalog.Change
	var decided error
	_, recorded, err := parallel.Two(ctx, func(ctx context.Context) (none, error) {
		if output, change, decided = handler(ctx); decided == nil {
			decided = c.resolve(ctx, change)
		}
		return none{}, nil
	}, parallel.Call(c.recorded, key))
	if err == nil && recorded == nil {
		if decided == nil {
			decided = c.checkIfMatch(ctx)
		}
		if decided != nil {
			recorded, err = c.recorded(ctx, key)
		}
	}
	switch {
	case err != nil:
		return response{}, err
	case recorded != nil:
		return c.replay(recorded, digest)
	case decided != nil:
		return response{}, decided
	}
	c.locate(change)
	out := c.encode(output)
	if err := c.fits(out); err != nil {
		return response{}, err
	}
	if key != "" {
		change.With(c.record(key, digest, out))
	}
	if err := c.admission.wait(); err != nil {
		return response{}, err
	}
	if change.Empty() {
		return out, nil
	}
	if err := c.Store.Commit(ctx, c.org, change); err != nil {
		return response{}, err
	}
	c.follow(ctx, change)
	return out, nil
}

// follow does what follows from a saved change outside of the table. What fails is found and done by the sweeper or the
// deliverer.
func (c *call) follow(ctx context.Context, change *catalog.Change) {
	warn := func(err error, what string, more ...any) {
		if err != nil {
			c.Log.WarnContext(ctx, what, append(more, "requestId", c.id, "cause", err.Error())...)
		}
	}
	if jobs := change.Jobs(); len(jobs) > 0 {
		warn(c.Queue.Send(ctx, jobs), "extractions not queued", "count", len(jobs))
	}
	for _, e := range change.Effects() {
		switch e := e.(type) {
		case *catalog.WebhookMessage:
			warn(c.Webhooks.Send(ctx, []catalog.WebhookMessage{*e}), "message not queued")
		case *catalog.Creation:
			if _, ok := e.Record.(*catalog.Import); ok {
				warn(c.Imports.SendImports(ctx, c.org), "import not queued")
			}
		case *catalog.Deletion:
			switch e.Record.(type) {
			case *catalog.Document, *catalog.Import:
				warn(c.Files.Remove(ctx, c.org, e.Record.Base().ID), "file not removed")
			}
		}
	}
}

// look looks up the external id that a change is about to assign.
func (c *call) look(ctx context.Context, kind catalog.Kind, external string) (err error) {
	c.looked = external
	c.known, err = c.Store.Known(ctx, c.org, kind, []string{external})
	return err
}

// resolve looks up the external ids and CTIDs that a change assigns.
func (c *call) resolve(ctx context.Context, change *catalog.Change) error {
	kind, names := change.ExternalIDs()
	known, registered, err := parallel.Two(ctx, func(ctx context.Context) (map[string]catalog.ExternalID, error) {
		if slices.Equal(names, []string{c.looked}) {
			return c.known, nil
		}
		return c.Store.Known(ctx, c.org, kind, names)
	}, parallel.Call2(c.Server.ctids.Holders, c.actor(), change.CTIDs()))
	if err != nil {
		return err
	}
	return change.Resolve(known, registered, "body")
}

// recorded reads an idempotency record; nil if there is none.
func (c *call) recorded(ctx context.Context, key string) (*catalog.IdempotencyRecord, error) {
	if key == "" {
		return nil, nil
	}
	return c.Store.IdempotencyRecord(ctx, c.org, key)
}

// idempotency returns the request's idempotency key, if any, and a digest of the request.
func (c *call) idempotency() (key, digest string, err error) {
	values := c.request.Header.Values("Idempotency-Key")
	if !c.op.Idempotent || len(values) == 0 {
		return "", "", nil
	}
	key = values[0]
	printable := strings.IndexFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0
	if len(values) > 1 || !printable || strings.TrimSpace(key) == "" || len(key) > 255 {
		return "", "", catalog.Errorf(catalog.InvalidParameter, "Idempotency-Key must be 1 to 255 printable characters.")
	}
	sum := sha256.New()
	sum.Write([]byte(c.op.ID + " " + c.request.URL.Path + "?" + c.request.URL.Query().Encode() + "\n"))
	if c.body != nil {
		tree, err := c.body()
		if err != nil {
			return "", "", err
		}
		sum.Write(encode(tree))
	}
	return key, hex.EncodeToString(sum.Sum(nil)), nil
}

// replay returns the recorded response.
func (c *call) replay(recorded *catalog.IdempotencyRecord, digest string) (response, error) {
	if recorded.Request != digest {
		return response{}, catalog.Errorf(catalog.IdempotencyKeyReused, "The Idempotency-Key was used for another request.")
	}
	body, err := c.opened(recorded.Key, recorded.Body)
	if err != nil {
		return response{}, err
	}
	out := response{status: recorded.Status, header: http.Header{"Idempotency-Replayed": {"true"}}, body: body}
	out.set("Location", recorded.Location)
	c.tag(out)
	return out, nil
}

// sealed returns a body as it is recorded, which is encrypted if it contains a secret.
func (c *call) sealed(key string, body []byte) []byte {
	if !c.op.Sealed {
		return body
	}
	return c.Webhooks.Seal(c.recordOwner(key), body)
}

func (c *call) opened(key string, body []byte) ([]byte, error) {
	if !c.op.Sealed {
		return body, nil
	}
	return c.Webhooks.Open(c.recordOwner(key), body)
}

func (c *call) recordOwner(key string) string { return string(c.org) + "/Idempotency-Key/" + key }
