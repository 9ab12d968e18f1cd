// Package load sends the mixed traffic of many customers to a running service and
// keeps account of every response: what it cost, in which window, how long it took.
// It knows the service only by its contract. Invariant: an account counts exactly
// the responses that came, so it can be compared with what the service says that the
// customer has used.
package load

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/client"
	"skillscurriculum/pkg/rest"
)

// Customer is somebody who calls, with a key that may write.
type Customer struct{ ID, Key string }

// Plan is the traffic: PerSecond calls of each customer for the given time. Floor
// is the URL of a function that does nothing behind the same gateway; it is called
// all the while, as often as one customer calls; "" for none.
type Plan struct {
	BaseURL   string // with /v1
	Customers []Customer
	PerSecond int
	Duration  time.Duration // of each customer's traffic
	Stagger   time.Duration // between the first calls of one customer and the next
	Floor     string
	Seed      uint64
}

// NoOp names the calls of Floor among the operations.
const NoOp = "no-op function"

// Response is one call and what came back.
type Response struct {
	Operation string
	Status    int // 0 for no response
	At        time.Duration
	Latency   time.Duration
	Cost      int   // units, as the response says
	Window    int64 // UNIX second at which its window ends
	Wrong     string
}

// Account is what a customer did, and what the service says of it.
type Account struct {
	Customer Customer
	Charged  map[int64]int // units by window, as the responses say
	Refused  map[int64]int // calls answered 429, by window
	Used     map[int64]int // units by window, as the usage endpoint says
	Limited  map[int64]int // refused calls as the usage endpoint says
	Limit    int
}

// Mismatches lists where an account and the service disagree.
func (a *Account) Mismatches() []string {
	var mismatches []string
	for window, charged := range a.Charged {
		if used := a.Used[window]; used != charged {
			mismatches = append(mismatches, fmt.Sprintf("%s: %d units charged in the window until %d, %d used", a.Customer.ID, charged, window, used))
		}
		if charged > a.Limit {
			mismatches = append(mismatches, fmt.Sprintf("%s: %d units charged, %d allowed", a.Customer.ID, charged, a.Limit))
		}
		if a.Refused[window] > 0 != (a.Limited[window] > 0) {
			mismatches = append(mismatches, fmt.Sprintf("%s: %d calls refused in the window until %d, usage says %d", a.Customer.ID, a.Refused[window], window, a.Limited[window]))
		}
	}
	slices.Sort(mismatches)
	return mismatches
}

// Run sends the traffic and returns every response in the order of the calls, and an
// account of each customer.
func Run(ctx context.Context, p Plan) ([]Response, []*Account, error) {
	var mu sync.Mutex
	var responses []Response
	accounts := make([]*Account, len(p.Customers))
	began := time.Now()
	var all sync.WaitGroup
	attack := func(name string, next vegeta.Targeter, take func(*vegeta.Result) Response) {
		attacker := vegeta.NewAttacker(vegeta.Timeout(35*time.Second), vegeta.MaxWorkers(16), vegeta.MaxBody(64<<10), vegeta.Redirects(vegeta.NoFollow))
		stop := context.AfterFunc(ctx, func() { attacker.Stop() })
		defer stop()
		for result := range attacker.Attack(next, vegeta.Rate{Freq: p.PerSecond, Per: time.Second}, p.Duration, name) {
			a := take(result)
			a.At, a.Latency, a.Status = result.Timestamp.Sub(began), result.Latency, int(result.Code)
			mu.Lock()
			responses = append(responses, a)
			mu.Unlock()
		}
	}
	for i, customer := range p.Customers {
		c := &caller{service: &client.Client{BaseURL: p.BaseURL, Key: customer.Key}, Customer: customer, random: rand.New(rand.NewPCG(p.Seed, uint64(i)))}
		accounts[i] = &Account{Customer: customer, Charged: map[int64]int{}, Refused: map[int64]int{}, Used: map[int64]int{}, Limited: map[int64]int{}}
		all.Go(func() {
			select {
			case <-time.After(time.Duration(i) * p.Stagger):
			case <-ctx.Done():
			}
			attack(customer.ID, c.target, func(r *vegeta.Result) Response { return c.take(r, accounts[i]) })
		})
	}
	if p.Floor != "" {
		all.Go(func() {
			time.Sleep(time.Duration(len(p.Customers)) * p.Stagger / 2)
			attack(NoOp, vegeta.NewStaticTargeter(vegeta.Target{Method: http.MethodGet, URL: p.Floor, Header: http.Header{api.HeaderKey: {"any"}}}),
				func(*vegeta.Result) Response { return Response{Operation: NoOp} })
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	for _, a := range accounts {
		if err := a.ask(ctx, &client.Client{BaseURL: p.BaseURL, Key: a.Customer.Key}); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(responses, func(a, b Response) int { return int(a.At - b.At) })
	return responses, accounts, nil
}

// caller makes one customer's calls: what it creates it reads, changes and deletes
// later on.
type caller struct {
	Customer
	service *client.Client

	mu                             sync.Mutex
	random                         *rand.Rand
	courses, sections, jobs, packs []string
	made                           int
}

// Share is how often an operation is called, in parts of the whole.
type Share struct {
	Operation string
	Parts     int
}

// Mix is the traffic of every customer.
var Mix = []Share{
	{"getCourse", 26}, {"listCourses", 16}, {"getJob", 12}, {"listJobs", 10}, {"getSection", 8}, {"createCourse", 6}, {"updateCourse", 6},
	{"createJob", 5}, {"deleteJob", 3}, {"listSkills", 2}, {"listChanges", 2}, {"getCustomerUsage", 2}, {"createTransferPackage", 1}, {"createTransferCourses", 1},
}

func (c *caller) draw() string {
	whole := 0
	for _, s := range Mix {
		whole += s.Parts
	}
	n := c.random.IntN(whole)
	for _, s := range Mix {
		if n -= s.Parts; n < 0 {
			return s.Operation
		}
	}
	panic("the mix has no such part")
}

// target makes the next call. Where it needs a record and there is none yet, it
// creates one.
func (c *caller) target(t *vegeta.Target) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made++
	one := func(ids []string) string { return ids[c.random.IntN(len(ids))] }
	var call client.Request
	body := ""
	operation := c.draw()
	switch operation {
	case "getCourse", "updateCourse", "getSection":
		if len(c.courses) == 0 {
			operation = "createCourse"
		}
	case "getJob", "deleteJob":
		if len(c.jobs) == 0 {
			operation = "createJob"
		}
	case "createTransferCourses":
		if len(c.packs) == 0 {
			operation = "createTransferPackage"
		}
	}
	switch operation {
	case "listCourses", "listJobs":
		call.Query = url.Values{"limit": {strconv.Itoa(1 + c.random.IntN(50))}, "offset": {strconv.Itoa(c.random.IntN(40))}}
	case "listSkills":
		call.Query = url.Values{"query": {"data"}, "limit": {"5"}}
	case "listChanges":
		call.Query = url.Values{"limit": {"20"}}
	case "getCourse":
		call.IDs = []string{one(c.courses)}
	case "updateCourse":
		call.IDs, body = []string{one(c.courses)}, fmt.Sprintf(`{"description":"change %d"}`, c.made)
	case "getSection":
		i := c.random.IntN(len(c.courses))
		call.IDs = []string{c.courses[i], c.sections[i]}
	case "getJob":
		call.IDs = []string{one(c.jobs)}
	case "deleteJob":
		last := len(c.jobs) - 1
		call.IDs, c.jobs = []string{c.jobs[last]}, c.jobs[:last]
	case "createCourse":
		body = fmt.Sprintf(`{"name":"Course %d","code":"C %d","description":"Load"}`, c.made, c.made)
	case "createJob":
		body = fmt.Sprintf(`{"name":"Job %d","employerId":"employer"}`, c.made)
	case "createTransferPackage":
		body = fmt.Sprintf(`{"name":"Package %d","transferFromInstitution":"Institution"}`, c.made)
	case "createTransferCourses":
		call.IDs, body = []string{one(c.packs)}, fmt.Sprintf(`{"courses":[{"name":"Statistics %d","description":"Students learn to analyze data with regression in R."}]}`, c.made)
	case "getCustomerUsage":
		call.IDs = []string{c.ID}
	}
	call.Operation = operation
	if body != "" {
		call.Body = json.RawMessage(body)
		if api.Of(operation).Idempotent {
			call.IdempotencyKey = fmt.Sprintf("%s-%d", c.ID, c.made)
		}
	}
	r, err := c.service.HTTPRequest(context.Background(), call)
	if err != nil {
		return err
	}
	t.Method, t.URL, t.Header, t.Body = r.Method, r.URL.String(), r.Header, []byte(body)
	return nil
}

// take enters a response into the account and remembers what was created.
func (c *caller) take(r *vegeta.Result, account *Account) Response {
	a := Response{Operation: "none"}
	var op api.Operation
	if at, err := url.Parse(r.URL); err == nil {
		if route, err := api.Match(r.Method, at.EscapedPath()); err == nil && route.Operation != nil {
			op = *route.Operation
			a.Operation = op.ID
		}
	}
	if r.Code == 0 {
		a.Wrong = "no response: " + r.Error
		return a
	}
	a.Cost, _ = strconv.Atoi(r.Headers.Get(api.HeaderCost))
	a.Window, _ = strconv.ParseInt(r.Headers.Get(api.HeaderReset), 10, 64)
	limit, _ := strconv.Atoi(r.Headers.Get(api.HeaderLimit))
	account.Limit = max(account.Limit, limit)
	account.Charged[a.Window] += a.Cost
	cost := op.Cost.UpFront()
	if a.Operation == "createTransferCourses" {
		cost += op.Cost.Rest(1)
	}
	switch {
	case r.Code >= 500:
		a.Wrong = fmt.Sprintf("%s: status %d: %.200s", a.Operation, r.Code, r.Body)
	case r.Code == http.StatusTooManyRequests:
		account.Refused[a.Window]++
		cost = 0
	case r.Code == http.StatusNotFound && a.Operation == "getJob":
		// Another of the customer's calls deleted it at the same moment.
	case r.Code >= 400:
		a.Wrong = fmt.Sprintf("%s %s: status %d: %.200s", a.Operation, r.URL, r.Code, r.Body)
	}
	if a.Cost != cost && a.Wrong == "" {
		a.Wrong = fmt.Sprintf("%s: charged %d units, the contract says %d", a.Operation, a.Cost, cost)
	}
	if r.Code == http.StatusCreated {
		c.remember(a.Operation, r.Body)
	}
	return a
}

func (c *caller) remember(operation string, body []byte) {
	var created struct{ ID, DefaultSectionID string }
	if json.Unmarshal(body, &created) != nil {
		return // a list of transfer courses
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch operation {
	case "createCourse":
		c.courses, c.sections = append(c.courses, created.ID), append(c.sections, created.DefaultSectionID)
	case "createJob":
		c.jobs = append(c.jobs, created.ID)
	case "createTransferPackage":
		c.packs = append(c.packs, created.ID)
	}
}

// ask reads what the service says that the customer has used.
func (a *Account) ask(ctx context.Context, service *client.Client) error {
	usage, err := client.Do[rest.Usage](ctx, service, client.Request{Operation: "getCustomerUsage", IDs: []string{a.Customer.ID}})
	if err != nil {
		return fmt.Errorf("usage of %s: %w", a.Customer.ID, err)
	}
	for _, past := range usage.History {
		window := past.StartsAt.Std().Unix() + int64(usage.Window.LengthSeconds)
		a.Used[window], a.Limited[window] = past.Used, past.Limited
	}
	current := usage.Window.ResetsAt.Std().Unix()
	a.Used[current] = usage.Window.Used
	// Refusals of the current window are told only once it is over.
	a.Limited[current] = a.Refused[current]
	return nil
}
