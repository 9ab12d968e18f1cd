// Package client calls the service. It uses the service's own table of operations (package api), so an operation is
// called by its id, and decodes responses into the records of package catalog or any other type.
//
//	c := &client.Client{BaseURL: "http://127.0.0.1:3000/v1", Key: key}
//	course, err := client.Do[catalog.Course](ctx, c, client.Request{Operation: "getCourse", IDs: []string{id}})
//
// Calls are retried when that is safe, honoring Retry-After; every POST has an Idempotency-Key, so that nothing is done
// twice. The package depends only on the standard library and those two packages.
package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	random "math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"skillscurriculum/pkg/api"
)

// Client calls the service with one API key. It is safe for concurrent use.
type Client struct {
	BaseURL string       // with /v1
	Key     string       // "" for operations that need none
	HTTP    *http.Client // nil for one with a timeout of 40 s that follows no redirects
	// Tries is the maximum number of attempts at a call; 0 means 4.
	Tries int
	// MaxWait is the longest delay before an attempt; a call that needs a longer one fails at
	// once. 0 means a minute, the usual window of the rate limit.
	MaxWait time.Duration
}

// Bounds of a call; the gateway times out after 29 s.
const (
	attemptTime  = 40 * time.Second
	defaultWait  = time.Minute
	defaultTries = 4
	firstPause   = 200 * time.Millisecond
	longestBody  = 16 << 20 // bytes; the service's own limit is 6 MB
	firstPoll    = 250 * time.Millisecond
	longestPoll  = 4 * time.Second
)

// standard follows no redirects: the service sends none, and a key must not leak to a redirect's target.
var standard = &http.Client{
	Timeout:       attemptTime,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Request is a call of an operation.
type Request struct {
	Operation string   // its operationId
	IDs       []string // path parameters in order
	// Href is a path from the service (Location, Link, the change feed's href), which replaces IDs and Query.
	Href  string
	Query url.Values
	Body  any // encoded as JSON; nil for none
	// IdempotencyKey of a POST. Do and Call generate one if it is empty.
	IdempotencyKey string
	Header         http.Header // additional headers, such as If-Match
}

// Response is the response to one attempt.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Error is a response with status 400 or above, as the service's problem details.
type Error struct{ api.Problem }

// Error describes the problem, with the request id that identifies it in the service's logs.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.Status, cmp.Or(string(e.Code), e.Title), e.Detail)
	for _, field := range e.Errors {
		text += "; " + field.Location + ": " + field.Message
	}
	return text + " (request " + e.RequestID + ")"
}

// Err returns the response's Error; nil for a response below 400.
func (r *Response) Err() error {
	if r.Status < 400 {
		return nil
	}
	e := &Error{}
	if json.Unmarshal(r.Body, &e.Problem) != nil || e.Status != r.Status {
		// From a proxy, not the service.
		e.Problem = api.Problem{
			Status: r.Status, Title: http.StatusText(r.Status), Detail: string(r.Body[:min(len(r.Body), 200)]),
			RequestID: r.Header.Get(api.HeaderRequestID),
		}
	}
	return e
}

// HTTPRequest returns the request for one attempt at a call.
func (c *Client) HTTPRequest(ctx context.Context, in Request) (*http.Request, error) {
	op, known := operation(in.Operation)
	if !known {
		return nil, fmt.Errorf("client: no operation %q", in.Operation)
	}
	path, query, err := in.path(op)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if in.Body != nil {
		packed, err := json.Marshal(in.Body)
		if err != nil {
			return nil, fmt.Errorf("client: body of %s: %w", op.ID, err)
		}
		body = bytes.NewReader(packed)
	}
	if query != "" {
		path += "?" + query
	}
	r, err := http.NewRequestWithContext(ctx, op.Method, strings.TrimSuffix(c.BaseURL, "/")+path, body)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	for name, values := range in.Header {
		r.Header[name] = values
	}
	if c.Key != "" && op.Access != api.Public {
		r.Header[api.HeaderKey] = []string{c.Key}
	}
	if body != nil {
		r.Header.Set("Content-Type", api.JSON)
	}
	if in.IdempotencyKey != "" {
		r.Header.Set("Idempotency-Key", in.IdempotencyKey)
	}
	return r, nil
}

func operation(id string) (api.Operation, bool) {
	for _, op := range api.Operations() {
		if op.ID == id {
			return op, true
		}
	}
	return api.Operation{}, false
}

// path returns the request's path below the base URL, and its query.
func (in Request) path(op api.Operation) (path, query string, err error) {
	if in.Href != "" {
		path, query, _ = strings.Cut(strings.TrimPrefix(in.Href, api.BasePath), "?")
		return path, query, nil
	}
	ids := in.IDs
	var filled strings.Builder
	for segment := range strings.SplitSeq(op.Path[1:], "/") {
		if strings.HasPrefix(segment, "{") {
			if len(ids) == 0 || ids[0] == "" {
				return "", "", fmt.Errorf("client: %s needs %s", op.ID, segment)
			}
			segment, ids = url.PathEscape(ids[0]), ids[1:]
		}
		filled.WriteString("/" + segment)
	}
	if len(ids) > 0 {
		return "", "", fmt.Errorf("client: too many ids for %s", op.ID)
	}
	return filled.String(), in.Query.Encode(), nil
}

// Send makes one attempt. An error means that there was no response.
func (c *Client) Send(ctx context.Context, in Request) (*Response, error) {
	r, err := c.HTTPRequest(ctx, in)
	if err != nil {
		return nil, err
	}
	response, err := cmp.Or(c.HTTP, standard).Do(r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, longestBody))
	if err != nil {
		return nil, err
	}
	return &Response{response.StatusCode, response.Header, body}, nil
}

// Call makes a call, with retries when that is safe, and returns its response, or an *Error
// for a status of 400 or above.
func (c *Client) Call(ctx context.Context, in Request) (*Response, error) {
	op, _ := operation(in.Operation)
	if op.Idempotent && in.IdempotencyKey == "" {
		in.IdempotencyKey = rand.Text()
	}
	repeatable := op.Method != http.MethodPost || in.IdempotencyKey != ""
	doubt := false // an earlier attempt may have taken effect
	for try := 1; ; try++ {
		response, err := c.Send(ctx, in)
		if err == nil {
			if doubt && op.Method == http.MethodDelete && response.Status == http.StatusNotFound {
				return &Response{Status: http.StatusNoContent, Header: response.Header}, nil
			}
			err = response.Err()
		}
		if err == nil {
			return response, nil
		}
		again := repeatable && (response == nil || response.Status >= 500)
		doubt = doubt || again
		again = again || response != nil && response.Status == http.StatusTooManyRequests
		if !again || try >= cmp.Or(c.Tries, defaultTries) || c.pause(ctx, response, try) != nil {
			return response, err
		}
	}
}

var errTooLong = errors.New("the wait would be too long")

// pause waits before the next attempt: for Retry-After, or with exponential backoff.
func (c *Client) pause(ctx context.Context, response *Response, try int) error {
	wait := firstPause << (try - 1)
	if response != nil {
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds >= 0 {
			wait = time.Duration(seconds) * time.Second
		}
	}
	if deadline, ok := ctx.Deadline(); wait > cmp.Or(c.MaxWait, defaultWait) || ok && time.Until(deadline) < wait {
		return errTooLong
	}
	// Jitter: clients that were refused together must not return together.
	return sleep(ctx, wait+random.N(min(wait, time.Second)+1))
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Do makes a call and decodes its response.
func Do[T any](ctx context.Context, c *Client, in Request) (T, error) {
	var out T
	response, err := c.Call(ctx, in)
	if err != nil || len(response.Body) == 0 {
		return out, err
	}
	if err := json.Unmarshal(response.Body, &out); err != nil {
		return out, fmt.Errorf("client: response of %s: %w", in.Operation, err)
	}
	return out, nil
}
