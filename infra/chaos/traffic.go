package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	service "skillscurriculum/pkg/client"
)

// traffic is what all clients do and know together.
type traffic struct {
	base    string
	late    string // host of a storage that takes every upload for expired
	library *library
	history history
	client  *http.Client

	mu       sync.Mutex
	breaches []string
	statuses map[string]int
	batches  map[string]*batch // by marker
	keys     map[catalog.OrgID][]string
	replays  int
}

// batch is what one request was to create: n records, whose descriptions are the
// marker, or begin with it and # where the request has several.
type batch struct {
	organization catalog.OrgID
	n            int
	outcome      outcome
}

// organization is what its clients know of its records.
type organization struct {
	id catalog.OrgID

	mu    sync.Mutex
	paths map[catalog.Kind][]string // of records that were there once, below the base path
}

// customer is one customer of the service.
type customer struct {
	id           catalog.CustomerID
	organization *organization
	key          string
	limit        int // units a window

	mu     sync.Mutex
	seen   int // units that responses say were charged
	unsure int // units of calls whose response did not arrive
}

func (t *traffic) breach(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.breaches = append(t.breaches, fmt.Sprintf(format, args...))
}

func (o *organization) know(kind catalog.Kind, path string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paths[kind] = append(o.paths[kind], path)
}

// client makes requests, one after the other.
type client struct {
	*traffic
	customer *customer
	name     string
	decide   func(act int) *rand.Rand // the source of an act's decisions, whatever became of those before
	random   *rand.Rand               // of the present act
	acts     int
}

// request is one request; effects are what it does to registers.
type request struct {
	operation string
	path      string
	body      map[string]any
	items     int // that it is charged for by themselves
	effects   map[string]string
	key       string // Idempotency-Key
	ifMatch   string
}

// reply is its response; status is 0 where none came.
type reply struct {
	status int
	body   []byte
	tag    string // ETag
}

func (r reply) outcome() outcome {
	switch {
	case r.status >= 200 && r.status < 300:
		return acknowledged
	case r.status >= 400 && r.status < 500:
		return refused
	}
	return unknown
}

func (r reply) parsed() (v map[string]any) {
	_ = json.Unmarshal(r.body, &v)
	return v
}

// run acts so often, or where that is 0 until ctx ends: first the opening, then by
// chance.
func (c *client) run(ctx context.Context, times int) {
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	for c.acts < times || times == 0 && ctx.Err() == nil {
		c.random = c.decide(c.acts)
		if c.acts < len(opening) {
			opening[c.acts](c)
		} else {
			c.actByChance(total)
		}
		c.acts++
		time.Sleep(time.Duration(c.random.IntN(60)) * time.Millisecond)
	}
}

// actByChance does one of the acts, whose weights have that total.
func (c *client) actByChance(total int) {
	n := c.random.IntN(total)
	for _, a := range acts {
		if n -= a.weight; n < 0 {
			a.do(c)
			return
		}
	}
}

// pick returns the path of a record of the kind that was there once; "" for none.
func (c *client) pick(kind catalog.Kind) string {
	o := c.customer.organization
	o.mu.Lock()
	defer o.mu.Unlock()
	x := c.random.Float64()
	if len(o.paths[kind]) == 0 {
		return ""
	}
	return o.paths[kind][int(x*x*float64(len(o.paths[kind])))] // older ones more often, so that clients meet
}

// idOf returns the id at the end of a path; "" for "".
func idOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

// patience is more than the gateway has.
const patience = 40 * time.Second

// send makes one attempt at a request and looks at its response.
func (c *client) send(r request) reply {
	op := api.Of(r.operation)
	call := service.Request{Operation: r.operation, Href: r.path, IdempotencyKey: r.key}
	if r.body != nil {
		call.Body = r.body
	}
	if r.ifMatch != "" {
		call.Header = http.Header{"If-Match": {r.ifMatch}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cost := op.Cost.UpFront() + op.Cost.Rest(r.items)
	response, err := (&service.Client{BaseURL: c.base, Key: c.customer.key, HTTP: c.client}).Send(ctx, call)
	if err != nil {
		c.account(0, cost)
		c.count("no response")
		return reply{}
	}
	charged, wrong := strconv.Atoi(response.Header.Get(api.HeaderCost))
	if wrong != nil || response.Header.Get(api.HeaderRequestID) == "" || response.Header.Get(api.HeaderLimit) == "" || response.Header.Get(api.HeaderRemaining) == "" || response.Header.Get(api.HeaderReset) == "" {
		c.breach("%s: %d without all headers: %v", r.operation, response.Status, response.Header)
	}
	byGateway := response.Header.Get(api.HeaderLimit) == "0"
	if byGateway && response.Status >= 500 {
		c.account(0, cost) // its function may have been charged for, or not
	} else {
		c.account(charged, 0)
	}
	c.count(strconv.Itoa(response.Status))
	switch s := response.Status; {
	case s == op.Status, s == 404, s == 409, s == 422, s == 429, s == 503:
	case s == 500 && byGateway, s == 412 && r.ifMatch != "":
	default:
		c.breach("%s answers %d: %s", r.operation, s, response.Body)
	}
	if response.Status >= 400 {
		var p api.Problem
		if json.Unmarshal(response.Body, &p) != nil || p.Status != response.Status || p.Code == "" || response.Header.Get("Content-Type") != api.ProblemMediaType {
			c.breach("%s: %d is no problem: %s", r.operation, response.Status, response.Body)
		}
	}
	return reply{response.Status, response.Body, response.Header.Get(api.HeaderETag)}
}

func (c *client) account(seen, unsure int) {
	c.customer.mu.Lock()
	defer c.customer.mu.Unlock()
	c.customer.seen += seen
	c.customer.unsure += unsure
}

func (t *traffic) count(status string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.statuses[status]++
}

const tries = 3

// change makes a request that changes something, again while nobody knows what
// became of it. Without an idempotency key only what may be done twice is tried
// again.
func (c *client) change(r request) (reply, outcome) {
	again := r.key != "" || api.Of(r.operation).Method != http.MethodPost
	if r.key != "" {
		c.mu.Lock()
		c.keys[c.customer.organization.id] = append(c.keys[c.customer.organization.id], r.key)
		c.mu.Unlock()
	}
	var ends []func(outcome)
	end := func(o outcome) {
		for _, f := range ends {
			f(o)
		}
		ends = nil
	}
	begin := func() {
		for register, value := range r.effects {
			ends = append(ends, c.history.begin(register, value))
		}
	}
	begin()
	var got reply
	doubt := false
	for n := 0; ; n++ {
		got = c.send(r)
		if got.outcome() != unknown || n == tries || !again {
			break
		}
		doubt = true
		if r.key == "" {
			// The first attempt may still be done, after the second.
			end(unknown)
			begin()
		}
		time.Sleep(time.Duration(100+c.random.IntN(400)) * time.Millisecond << n)
	}
	o := got.outcome()
	if o == refused && doubt && r.key != "" {
		o = unknown
	}
	end(o)
	if r.key != "" && o == acknowledged && c.random.IntN(4) == 0 {
		c.replay(r, got)
	}
	return got, o
}

// replay makes a request once more under its key, which must not do more.
func (c *client) replay(r request, first reply) {
	again := c.send(r)
	if again.outcome() == acknowledged {
		c.mu.Lock()
		c.replays++
		c.mu.Unlock()
		if !bytes.Equal(again.body, first.body) {
			c.breach("%s under the same key: %s and %s", r.operation, first.body, again.body)
		}
	} else if again.status == 409 || again.status == 404 || again.status == 422 {
		c.breach("%s under the same key: %d after %d: %s", r.operation, again.status, first.status, again.body)
	}
}

// create makes a request that creates n records, and returns its response. Two times
// of three it has an idempotency key; one of ten goes out twice at once.
func (c *client) create(r request, marker string, n int) reply {
	x := c.random.Float64()
	if x < 0.7 {
		r.key = "key of " + marker
	}
	b := &batch{organization: c.customer.organization.id, n: n}
	c.mu.Lock()
	c.batches[marker] = b
	c.mu.Unlock()
	var twin sync.WaitGroup
	var second reply
	if x < 0.1 {
		twin.Go(func() { second = c.send(r) })
	}
	first, o := c.change(r)
	twin.Wait()
	switch second.outcome() {
	case acknowledged:
		if o == acknowledged && !bytes.Equal(first.body, second.body) {
			c.breach("%s twice at once under one key: %s and %s", r.operation, first.body, second.body)
		}
		first, o = second, acknowledged
	case unknown:
		if x < 0.1 && o == refused {
			o = unknown
		}
	}
	c.mu.Lock()
	b.outcome = o
	c.mu.Unlock()
	return first
}

// marker names what a request creates.
func (c *client) marker() string { return fmt.Sprintf("%s-%d", c.name, c.acts) }

// read reads a record that was there once; one that is sure to be there must be found.
func (c *client) read(operation, path string) reply {
	id := idOf(path)
	sure := c.sure(path)
	got := c.send(request{operation: operation, path: path})
	if got.status == 404 && sure && c.sure(path) {
		c.breach("%s: %s is not found, but was created and nobody deleted it", operation, id)
	}
	return got
}

// sure reports whether the record is there for certain, with its parent.
func (c *client) sure(path string) bool {
	parts := strings.Split(path[1:], "/")
	for i := 1; i < len(parts); i += 2 {
		if !c.history.is("record "+parts[i], "live") {
			return false
		}
	}
	return true
}

func (c *client) know(kind catalog.Kind, path, name string) {
	c.traffic.know(c.customer.organization, kind, path, name)
}

// know notes a record that was created, for all clients of an organization.
func (t *traffic) know(o *organization, kind catalog.Kind, path, name string) {
	t.history.created("record "+idOf(path), "live")
	if name != "" {
		t.history.created("name "+idOf(path), name)
	}
	o.know(kind, path)
}

func text(v map[string]any, name string) string {
	s, _ := v[name].(string)
	return s
}

func (o outcome) String() string { return [...]string{"unknown", "acknowledged", "refused"}[o] }
