package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	service "skillscurriculum/pkg/client"
)

// traffic is the state shared by all clients.
type traffic struct {
	base    string
	library *library
	http    *http.Client
	history history

	mu       sync.Mutex
	breaches []string
	statuses map[string]int
	replays  int
}

// newTraffic returns the traffic for the service at a base URL.
func newTraffic(base string, library *library) *traffic {
	return &traffic{
		base: base, library: library, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		history: history{registers: map[string][]*attempt{}}, statuses: map[string]int{},
	}
}

// organization holds what its clients know about its records.
type organization struct {
	id catalog.OrgID

	mu    sync.Mutex
	paths map[catalog.Kind][]string // of records that were created, relative to the base URL
}

func (t *traffic) breach(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.breaches = append(t.breaches, fmt.Sprintf(format, args...))
}

// client is a customer of the service that makes requests sequentially.
type client struct {
	*traffic
	id           catalog.CustomerID
	organization *organization
	apiKey       string
	name         string
	seedAct      func(act int) *rand.Rand // independent of the acts before
	random       *rand.Rand               // for the current act
	acts         int
	markers      int
	charged      int // units, according to responses; guarded by mu like the next
	uncertain    int // units of calls without a response
}

// object is a JSON object.
type object = map[string]any

// request is a request with its effects on registers.
type request struct {
	operation string
	path      string
	body      object
	effects   map[string]string
	key       string // Idempotency-Key
	ifMatch   string
}

// reply is a response; status is 0 if there was none.
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

func (r reply) parsed() (v object) {
	_ = json.Unmarshal(r.body, &v)
	return v
}

// run performs so many acts, or if that is 0 acts until ctx ends: first the opening, then random ones.
func (c *client) run(ctx context.Context, times int) {
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	for ; c.acts < times || times == 0 && ctx.Err() == nil; c.acts++ {
		c.random = c.seedAct(c.acts)
		n := c.random.IntN(total)
		chosen := slices.IndexFunc(acts, func(a act) bool { n -= a.weight; return n < 0 })
		if c.acts < len(opening) {
			opening[c.acts](c)
		} else {
			acts[chosen].do(c)
		}
		time.Sleep(time.Duration(c.random.IntN(60)) * time.Millisecond)
	}
}

// key returns a new Idempotency-Key one time in n, "" otherwise.
func (c *client) key(n int) string {
	if !c.chance(n) {
		return ""
	}
	return "key of " + c.marker()
}

// chance is true one time in n.
func (c *client) chance(n int) bool { return c.random.IntN(n) == 0 }

// one returns a random element.
func one[T any](c *client, of []T) T { return of[c.random.IntN(len(of))] }

// pick returns the path of a random record of the kind, which may have been deleted; "" if there is none.
func (c *client) pick(kind catalog.Kind) string {
	o := c.organization
	o.mu.Lock()
	defer o.mu.Unlock()
	x := c.random.Float64()
	if len(o.paths[kind]) == 0 {
		return ""
	}
	return o.paths[kind][int(x*x*float64(len(o.paths[kind])))] // favor older ones, so that clients meet
}

// idOf returns the last element of a path.
func idOf(path string) string { return path[strings.LastIndex(path, "/")+1:] }

func (c *client) service() *service.Client {
	return &service.Client{BaseURL: c.base, Key: c.apiKey, HTTP: c.http}
}

// patience exceeds the gateway's timeout.
const patience = 40 * time.Second

// send makes one attempt at a request and checks the response against the contract.
func (c *client) send(r request) reply {
	op := api.Of(r.operation)
	in := service.Request{Operation: r.operation, Href: r.path, IdempotencyKey: r.key}
	if r.body != nil {
		in.Body = r.body
	}
	if r.ifMatch != "" {
		in.Header = http.Header{"If-Match": {r.ifMatch}}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cost := op.Cost.UpFront() + op.Cost.Rest(items(op, r.body))
	response, err := c.service().Send(ctx, in)
	if err != nil {
		c.account(0, cost, "no response")
		return reply{}
	}
	status, header := response.Status, response.Header
	charged, invalid := strconv.Atoi(header.Get(api.HeaderCost))
	for _, name := range []string{api.HeaderRequestID, api.HeaderLimit, api.HeaderRemaining, api.HeaderReset} {
		if invalid != nil || header.Get(name) == "" {
			c.breach("%s: %d without all headers: %v", r.operation, status, header)
		}
	}
	byGateway := header.Get(api.HeaderLimit) == "0"
	if byGateway && status >= 500 {
		c.account(0, cost, strconv.Itoa(status)) // the function may have charged for it
	} else {
		c.account(charged, 0, strconv.Itoa(status))
	}
	if status != op.Status && !(op.Begins && status == http.StatusAccepted) {
		var p api.Problem
		_ = json.Unmarshal(response.Body, &p)
		problem := p.Status == status && header.Get("Content-Type") == api.ProblemMediaType
		allowed := slices.Contains(op.Codes(), p.Code) && !slices.Contains(clientErrors, p.Code)
		if !problem || !allowed || p.Code == catalog.Internal && !byGateway {
			c.breach("%s: unexpected response %d %s", r.operation, status, response.Body)
		}
	}
	return reply{status, response.Body, header.Get(api.HeaderETag)}
}

// clientErrors are the codes of mistakes that these clients do not make.
var clientErrors = []catalog.Code{
	catalog.InvalidParameter, catalog.MalformedJSON, catalog.PayloadTooLarge, catalog.UnsupportedMediaType,
	catalog.Unauthorized, catalog.Forbidden,
}

// items counts the items of a body that are charged individually; 1 if only the record shows their number.
func items(op api.Operation, body object) (n int) {
	for _, field := range op.ItemsIn {
		switch v := body[field].(type) {
		case []object:
			n += len(v)
		case string:
			n++
		}
	}
	if op.ItemsIn == nil {
		n = 1
	}
	if outcomes, ok := body["outcomes"].([]object); ok { // at most each must be read
		n = len(outcomes)
	}
	return n
}

func (c *client) account(charged, uncertain int, status string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.charged += charged
	c.uncertain += uncertain
	c.statuses[status]++
}

const tries = 3

// change makes a request that changes something, and retries while its outcome is unknown. Without an idempotency key
// only idempotent requests are retried. Those with a key are sometimes sent twice, at once or later.
func (c *client) change(r request) (reply, outcome) {
	retry := r.key != "" || api.Of(r.operation).Method != http.MethodPost
	repeats := c.random.IntN(8)
	atOnce, later := r.key != "" && repeats == 0, r.key != "" && repeats == 1
	var twin sync.WaitGroup
	var second reply
	end := c.history.begin(r.effects)
	if atOnce {
		twin.Go(func() { second = c.send(r) })
	}
	var got reply
	uncertain := false
	for n := 0; ; n++ {
		got = c.send(r)
		if got.outcome() != unknown || n == tries || !retry {
			break
		}
		uncertain = true
		if r.key == "" { // the first attempt may take effect after the second
			end(unknown)
			end = c.history.begin(r.effects)
		}
		time.Sleep(time.Duration(100+c.random.IntN(400)) * time.Millisecond << n)
	}
	twin.Wait()
	o := got.outcome()
	if second.outcome() == acknowledged && o != acknowledged {
		got, o = second, acknowledged
	} else if o == refused && r.key != "" && (uncertain || atOnce && second.outcome() == unknown) {
		o = unknown
	}
	end(o)
	if o == acknowledged {
		c.checkEffects(r, got)
		if later {
			second = c.send(r)
		}
		c.checkReplay(r, got, second, later)
	}
	return got, o
}

// checkReplay compares the response to a repeated request with the first one.
func (c *client) checkReplay(r request, first, second reply, later bool) {
	switch second.outcome() {
	case acknowledged:
		c.mu.Lock()
		c.replays++
		c.mu.Unlock()
		if !bytes.Equal(first.body, second.body) {
			c.breach("%s twice with one key: %s and %s", r.operation, first.body, second.body)
		}
	case refused:
		if later && second.status != http.StatusTooManyRequests {
			c.breach("%s with the same key: %d after %d: %s", r.operation, second.status, first.status, second.body)
		}
	}
}

// checkEffects compares a response that is the record with the effects of the request.
func (c *client) checkEffects(r request, got reply) {
	shown := got.parsed()
	for register, want := range r.effects {
		id, field, _ := strings.Cut(register, " ")
		if value, known := valueIn(shown, field); text(shown, "id") == id && known && value != want {
			c.breach("%s %s wrote %q to %s, but returned %s", r.operation, r.path, want, register, got.body)
		}
	}
}

// marker returns a new name for the records of one request.
func (c *client) marker() string {
	c.markers++
	return fmt.Sprintf("%s-%d", c.name, c.markers)
}

// markerOf returns the marker of the request that created a record.
func markerOf(r object) string {
	for _, field := range []string{"description", "publicNote", "fileName", "name"} {
		if marker, _, _ := strings.Cut(text(r, field), "#"); strings.Contains(marker, "-") && !strings.Contains(marker, " ") {
			return marker
		}
	}
	return ""
}

// collection returns the path at which records of a kind are created and listed, given their parent's.
func collection(kind catalog.Kind, parent string) string {
	return parent + "/" + path.Base(path.Dir(kind.Path()))
}

// create creates a record below its parent's path, or several if the body has courses, usually with an idempotency key.
// The records have the marker of the request, which may be followed by # and more. It returns the response.
func (c *client) create(kind catalog.Kind, parent string, body object) reply {
	marker := c.marker()
	r := request{operation: "create" + string(kind), path: collection(kind, parent), body: body}
	records := 1
	switch kind {
	case catalog.TransferCourseKind:
		r.operation, records = "createTransferCourses", 0
	case catalog.DocumentKind:
		body["fileName"] = marker + text(body, "fileName")
	case catalog.ArticulationKind:
		body["publicNote"] = marker
	case catalog.SyllabusExtractionKind:
		body["name"] = marker
	default:
		body["name"], body["description"] = "Name by "+marker, marker
	}
	courses, _ := body["courses"].([]object)
	for i, course := range courses {
		course["description"] = fmt.Sprintf("%s#%d", marker, i)
	}
	r.effects = map[string]string{marker + " " + created: strconv.Itoa(records + len(courses))}
	if !c.chance(3) {
		r.key = "key of " + marker
		r.effects[string(c.organization.id)+" "+answered+" "+r.key] = present
	}
	got, o := c.change(r)
	if o != acknowledged {
		return got
	}
	if kind == catalog.TransferCourseKind {
		c.addCourses(r.path, got)
		return got
	}
	record := got.parsed()
	if report, ok := record["report"].(object); ok {
		record = report
	}
	made := r.path + "/" + text(record, "id") + text(record, "extractionId")
	if kind == catalog.ArticulationKind {
		body["status"] = string(catalog.ArticulationDraft)
	}
	c.add(kind, made, body)
	if kind == catalog.CourseKind {
		c.add(catalog.SectionKind, made+"/sections/"+text(record, "defaultSectionId"), object{"name": body["name"]})
	}
	if courses != nil {
		c.addCourses(made+"/courses", c.send(request{operation: "listTransferCourses", path: made + "/courses"}))
	}
	return got
}

// add records a created record and its effects for the clients of the organization.
func (c *client) add(kind catalog.Kind, path string, body object) {
	effects := fields(idOf(path), body)
	effects[idOf(path)] = live
	c.history.wrote(effects)
	o := c.organization
	o.mu.Lock()
	defer o.mu.Unlock()
	o.paths[kind] = append(o.paths[kind], path)
}

// addCourses records the transfer courses listed in a response.
func (c *client) addCourses(path string, got reply) {
	var courses []struct{ ID string }
	if got.outcome() == acknowledged && json.Unmarshal(got.body, &courses) == nil {
		for _, course := range courses {
			c.add(catalog.TransferCourseKind, path+"/"+course.ID, nil)
		}
	}
}

// read reads a record, which must be found if it certainly exists.
func (c *client) read(kind catalog.Kind, path string) reply {
	exists := c.exists(path)
	got := c.send(request{operation: "get" + string(kind), path: path})
	if got.status == http.StatusNotFound && exists && c.exists(path) {
		c.breach("%s is not found, but was created and not deleted", path)
	}
	return got
}

// exists reports whether the record and its parent certainly exist.
func (c *client) exists(path string) bool {
	parts := strings.Split(path[1:], "/")
	for i := 1; i < len(parts); i += 2 {
		if !c.history.is(parts[i], live) {
			return false
		}
	}
	return true
}

// page is a page of a list.
type page struct {
	Data       []struct{ ID, ExternalID, Code string }
	Pagination struct {
		Total   int
		HasMore bool
	}
}

// list reads a page of a list and checks its length against the total. query is "" or begins with &.
func (c *client) list(operation, query string, limit, offset int) (ids []string, p page) {
	path := fmt.Sprintf("%s?limit=%d&offset=%d%s", api.Of(operation).Path, limit, offset, query)
	got := c.send(request{operation: operation, path: path})
	if got.outcome() != acknowledged {
		return nil, p
	}
	if err := json.Unmarshal(got.body, &p); err != nil {
		c.breach("%s: %v", operation, err)
	}
	for _, record := range p.Data {
		ids = append(ids, record.ID)
	}
	want, total := max(0, min(limit, p.Pagination.Total-offset)), p.Pagination.Total
	distinct := len(slices.Compact(slices.Sorted(slices.Values(ids))))
	if len(ids) != want || distinct != want || p.Pagination.HasMore != (want > 0 && offset+want < total) {
		c.breach("%s %s: %d records, %d distinct, of %+v", operation, path, len(ids), distinct, p.Pagination)
	}
	return ids, p
}

// text returns a string field, or "".
func text(v object, name string) string {
	s, _ := v[name].(string)
	return s
}

func texts(v object, name string) (list []string) {
	values, _ := v[name].([]any)
	for _, value := range values {
		s, _ := value.(string)
		list = append(list, s)
	}
	return list
}
