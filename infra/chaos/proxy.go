package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/infra/local/grants"
	"skillscurriculum/pkg/api"
)

// proxy forwards the functions' calls to DynamoDB, the queue or the storage, and applies faults to them.
type proxy struct {
	upstream string // URL without a path
	client   *http.Client
	server   *httptest.Server

	gate sync.RWMutex // read-locked by calls in flight: locking it lets them finish
	down bool         // guarded by gate

	mu        sync.Mutex
	odds      float64 // that an active effect hits a call
	random    *rand.Rand
	active    map[string]int // by effect
	hits      map[string]int
	responses map[string]exchange // to transactions, by token: unlike DynamoDB Local, AWS keeps them across a restart
	uncertain map[string]int      // units by customer whose charge the function may not have learned of
	messages  int                 // accepted by the queue
	denied    []string            // calls that the function's role would not allow in AWS
}

// exchange is a response from upstream.
type exchange struct {
	status int
	header http.Header
	body   []byte
}

// lateCharge is how long a charge may take before the function may have given up on it.
const lateCharge = time.Second

func startProxy(upstream string, odds float64, random *rand.Rand) *proxy {
	p := &proxy{
		upstream: upstream, odds: odds, random: random, active: map[string]int{}, hits: map[string]int{},
		client:    &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		responses: map[string]exchange{}, uncertain: map[string]int{},
	}
	p.server = httptest.NewServer(p)
	return p
}

// update changes fields guarded by mu.
func (p *proxy) update(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// setDown makes the proxy refuse calls, once those in flight have finished, or accept them again.
func (p *proxy) setDown(down bool) {
	p.gate.Lock()
	defer p.gate.Unlock()
	p.down = down
	p.client.CloseIdleConnections()
}

// hit decides at random whether an active effect hits this call, and returns a random number for its details.
func (p *proxy) hit(effect string) (bool, float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.active[effect] == 0 || p.random.Float64() >= p.odds {
		return false, 0
	}
	p.hits[effect]++
	return true, p.random.Float64()
}

func (p *proxy) affects(effect string) bool {
	hit, _ := p.hit(effect)
	return hit
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the function was killed
	}
	call := call{Request: r, body: body}
	_, call.operation, _ = strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	_ = json.Unmarshal(body, &call.fields) // calls to the storage are not JSON
	if err := call.authorize(); err != nil {
		p.update(func() { p.denied = append(p.denied, err.Error()) })
		sendError(w, http.StatusBadRequest, "AccessDeniedException")
		return
	}
	answered := p.handle(w, call) && time.Since(start) < lateCharge && r.Context().Err() == nil
	if customer, ok := strings.CutPrefix(call.fields.Key.PK.S, "u#"); ok && !answered {
		units := call.units()
		p.update(func() { p.uncertain[customer] += max(units, -units) })
	}
}

// call is a function's call, with the fields that the proxy needs.
type call struct {
	*http.Request
	body      []byte
	operation string
	fields    struct {
		ClientRequestToken string
		Key                struct {
			PK struct{ S string } `json:"pk"`
		}
		UpdateExpression          string
		ExpressionAttributeNames  map[string]string
		ExpressionAttributeValues map[string]struct{ N string }
		TransactItems             []any
	}
}

// units returns what an update of a window adds to the units that are used; 0 for any other call.
func (c call) units() int {
	_, added, _ := strings.Cut(c.fields.UpdateExpression, "ADD ")
	for action := range strings.SplitSeq(added, ", ") {
		name, value, _ := strings.Cut(action, " ")
		if c.fields.ExpressionAttributeNames[name] == "used" {
			units, _ := strconv.Atoi(c.fields.ExpressionAttributeValues[value].N)
			return units
		}
	}
	return 0
}

// authorize returns an error if the role of the calling function would not allow the call in AWS. A function's access
// key is its name; operators may do everything.
func (c call) authorize() error {
	target := c.Header.Get("X-Amz-Target")
	_, credential, _ := strings.Cut(c.Header.Get("Authorization"), "Credential=")
	function, _, _ := strings.Cut(credential, "/")
	if !strings.HasPrefix(target, "DynamoDB") || function == "local" {
		return nil
	}
	if err := grants.Check(api.RowsOf(function), target, c.body); err != nil {
		return fmt.Errorf("%s: %w", function, err)
	}
	return nil
}

// handle responds to a call. It returns false if the caller did not learn the outcome.
func (p *proxy) handle(w http.ResponseWriter, c call) (answered bool) {
	if hit, x := p.hit(slow); hit {
		time.Sleep(time.Duration((0.1 + 0.9*x) * float64(time.Second)))
	}
	if p.affects(throttling) {
		sendError(w, http.StatusBadRequest, "ProvisionedThroughputExceededException")
		return false
	}
	if _, done := p.response(c); !done { // DynamoDB repeats its response to a completed transaction
		if hit, x := p.hit(conflicting); hit && conflict(w, c, x) {
			return false
		}
	}
	if p.affects(failing) {
		sendError(w, http.StatusInternalServerError, "InternalServerError")
		return false
	}
	if p.affects(callsLost) {
		disconnect(w)
		return false
	}
	sends := c.operation == "SendMessage"
	if hit, x := p.hit(reordering); hit && sends {
		c.body = delayed(c.body, int(x*15)) // later messages overtake it
	}
	got, err := p.forward(c)
	if err != nil {
		disconnect(w)
		return false
	}
	if hit, x := p.hit(doubling); hit && sends {
		c.body = delayed(c.body, max(0, int(x*20)-10))
		_, _ = p.forward(c)
	}
	if got.status == http.StatusForbidden && c.Header.Get("Authorization") != "" { // not a client's upload
		p.update(func() { p.denied = append(p.denied, fmt.Sprintf("%s %s: %s", c.Method, c.URL.Path, got.body)) })
	}
	if p.affects(responsesLost) {
		disconnect(w)
		return false
	}
	maps.Copy(w.Header(), got.header)
	w.WriteHeader(got.status)
	_, err = w.Write(got.body)
	return err == nil
}

// sendError responds with an error of AWS's JSON protocols. reasons are those of a canceled transaction.
func sendError(w http.ResponseWriter, status int, name string, reasons ...map[string]string) {
	body := map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#" + name, "message": "chaos"}
	if reasons != nil {
		body["CancellationReasons"] = reasons
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// conflict responds as DynamoDB does if another transaction is using an item. It returns false, without a response, for
// operations that cannot conflict.
func conflict(w http.ResponseWriter, c call, x float64) bool {
	switch c.operation {
	case "UpdateItem", "PutItem", "DeleteItem":
		sendError(w, http.StatusBadRequest, "TransactionConflictException")
		return true
	case "TransactWriteItems":
		reasons := slices.Repeat([]map[string]string{{"Code": "None"}}, len(c.fields.TransactItems))
		reasons[int(x*float64(len(reasons)))] = map[string]string{"Code": "TransactionConflict", "Message": "chaos"}
		sendError(w, http.StatusBadRequest, "TransactionCanceledException", reasons...)
		return true
	}
	return false
}

// disconnect resets the connection without a response.
func disconnect(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// response returns the response to a completed transaction.
func (p *proxy) response(c call) (exchange, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	got, ok := p.responses[c.fields.ClientRequestToken]
	return got, ok
}

// forward sends the call upstream, even if the caller stops waiting for it.
func (p *proxy) forward(c call) (exchange, error) {
	p.gate.RLock()
	defer p.gate.RUnlock()
	if p.down {
		return exchange{}, fmt.Errorf("%s is down", p.upstream)
	}
	if known, ok := p.response(c); ok {
		return known, nil
	}
	ctx := context.WithoutCancel(c.Context())
	request, err := http.NewRequestWithContext(ctx, c.Method, p.upstream+c.URL.RequestURI(), bytes.NewReader(c.body))
	if err != nil {
		return exchange{}, err
	}
	request.Header, request.Host = c.Header.Clone(), c.Host // the host is part of the signature
	response, err := p.client.Do(request)
	if err != nil {
		return exchange{}, err
	}
	defer response.Body.Close()
	got := exchange{status: response.StatusCode, header: response.Header}
	if got.body, err = io.ReadAll(response.Body); err != nil || got.status != http.StatusOK {
		return got, err
	}
	p.update(func() {
		if c.operation == "SendMessage" {
			p.messages++
		}
		if token := c.fields.ClientRequestToken; token != "" {
			p.responses[token] = got
		}
	})
	return got, nil
}

// delayed sets the number of seconds for which the queue delays a message.
func delayed(body []byte, seconds int) []byte {
	var message map[string]any
	if json.Unmarshal(body, &message) != nil {
		return body
	}
	message["DelaySeconds"] = seconds
	body, _ = json.Marshal(message) // it was JSON before
	return body
}
