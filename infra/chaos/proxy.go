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
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"skillscurriculum/infra/local/grants"
	"skillscurriculum/pkg/api"
)

// proxy stands between the functions and DynamoDB, the queue or the storage of files,
// and does to their calls what faults say.
type proxy struct {
	upstream string // URL without a path
	client   *http.Client
	server   *http.Server
	address  string

	gate sync.RWMutex // held by calls that are upstream: who closes it lets them finish
	down bool         // guarded by gate

	mu        sync.Mutex
	odds      float64 // that a fault which is on hits a call
	random    *rand.Rand
	active    map[kind]int
	hits      map[kind]int
	responses map[string]exchange  // of transactions, by their token: AWS knows them after a restart as well
	newborn   map[string]time.Time // rows by key, when they were created
	unsure    map[string]int       // units of counts by customer of which the function may not know what became
	messages  int                  // that the queue took
	refused   []string             // calls of functions that have no grant for them in AWS
}

// exchange is a response of what is behind the proxy.
type exchange struct {
	status int
	header http.Header
	body   []byte
}

const (
	lag       = time.Second // how long a new row is not seen by eventually consistent reads
	lateCount = time.Second // from when on the function may have given up on a count
)

func startProxy(upstream string, odds float64, random *rand.Rand) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &proxy{
		upstream: upstream, address: "http://" + listener.Addr().String(), odds: odds, random: random,
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		active: map[kind]int{}, hits: map[kind]int{}, responses: map[string]exchange{}, newborn: map[string]time.Time{}, unsure: map[string]int{},
	}
	p.server = &http.Server{Handler: p}
	go func() { _ = p.server.Serve(listener) }()
	return p, nil
}

func (p *proxy) stop() {
	_ = p.server.Close()
	p.client.CloseIdleConnections()
}

// set begins a fault of the wire; the func that it returns ends it.
func (p *proxy) set(k kind) (end func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.active[k]++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.active[k]--
	}
}

// shut lets the calls that are upstream finish and refuses others from then on.
func (p *proxy) shut() {
	p.gate.Lock()
	defer p.gate.Unlock()
	p.down = true
	p.client.CloseIdleConnections()
}

func (p *proxy) open() {
	p.gate.Lock()
	defer p.gate.Unlock()
	p.down = false
}

// hit draws whether a fault that is on hits this call, and returns a number for how.
func (p *proxy) hit(kinds ...kind) (bool, float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range kinds {
		if p.active[k] > 0 && p.random.Float64() < p.odds {
			p.hits[k]++
			return true, p.random.Float64()
		}
	}
	return false, 0
}

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the function is gone
	}
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	if !p.granted(w, r, body) {
		return
	}
	customer, units := count(operation, body)
	told := p.handle(w, r, operation, body)
	if customer != "" && (!told || time.Since(begun) > lateCount || r.Context().Err() != nil) {
		p.mu.Lock()
		p.unsure[customer] += units
		p.mu.Unlock()
	}
}

// granted refuses what the role of the function that calls would not allow in AWS.
// A function's access key is its name; what operators call is let through.
func (p *proxy) granted(w http.ResponseWriter, r *http.Request, body []byte) bool {
	target := r.Header.Get("X-Amz-Target")
	_, credential, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	function, _, _ := strings.Cut(credential, "/")
	if !strings.HasPrefix(target, "DynamoDB") || function == "local" {
		return true
	}
	err := grants.Check(api.RowsOf(function), target, body)
	if err == nil {
		return true
	}
	p.mu.Lock()
	p.refused = append(p.refused, function+": "+err.Error())
	p.mu.Unlock()
	refuse(w, http.StatusBadRequest, "com.amazon.coral.service#AccessDeniedException")
	return false
}

// count reads whose units a call adds, and how many; "" for any other call.
func count(operation string, body []byte) (customer string, units int) {
	if operation != "UpdateItem" {
		return "", 0
	}
	var update struct {
		Key struct {
			PK struct{ S string } `json:"pk"`
		}
		ExpressionAttributeValues map[string]struct{ N string }
	}
	if json.Unmarshal(body, &update) != nil {
		return "", 0
	}
	customer, ok := strings.CutPrefix(update.Key.PK.S, "u#")
	if !ok {
		return "", 0
	}
	units, _ = strconv.Atoi(update.ExpressionAttributeValues[":units"].N)
	return customer, max(units, -units)
}

// handle responds to a call; false when the caller was not told what became of it.
func (p *proxy) handle(w http.ResponseWriter, r *http.Request, operation string, body []byte) (told bool) {
	if hit, x := p.hit(slowTable, slowQueue, slowFiles); hit {
		time.Sleep(time.Duration((0.1 + 0.9*x) * float64(time.Second)))
	}
	if hit, _ := p.hit(throttleTable); hit {
		refuse(w, 400, "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException")
		return false
	}
	if !p.done(operation, body) { // what is done already, DynamoDB says again and again
		if hit, x := p.hit(conflictTable); hit && conflict(w, operation, body, x) {
			return false
		}
	}
	if hit, _ := p.hit(breakTable); hit {
		refuse(w, 500, "com.amazonaws.dynamodb.v20120810#InternalServerError")
		return false
	}
	if hit, _ := p.hit(breakQueue); hit {
		refuse(w, 500, "com.amazonaws.sqs#InternalFailure")
		return false
	}
	if hit, _ := p.hit(breakFiles); hit {
		http.Error(w, "<Error><Code>InternalError</Code><Message>chaos</Message></Error>", http.StatusInternalServerError)
		return false
	}
	if hit, _ := p.hit(cutTable, cutQueue, cutFiles); hit {
		cut(w)
		return false
	}
	if operation == "SendMessage" {
		body = p.shuffled(body)
	}
	got, err := p.forward(r, operation, body)
	if err != nil {
		cut(w)
		return false
	}
	if operation == "SendMessage" {
		p.double(r, body)
	}
	if got.status == http.StatusForbidden && r.Header.Get("Authorization") != "" {
		// A function, and not a client with an upload: the storage knows its role.
		p.mu.Lock()
		p.refused = append(p.refused, fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, got.body))
		p.mu.Unlock()
	}
	if hit, _ := p.hit(dropTable, dropQueue, dropFiles); hit {
		cut(w)
		return false
	}
	got = p.lagging(operation, body, got)
	for name, values := range got.header {
		w.Header()[name] = values
	}
	w.WriteHeader(got.status)
	_, err = w.Write(got.body)
	return err == nil
}

// refuse responds with an error of AWS's JSON protocol.
func refuse(w http.ResponseWriter, status int, name string) {
	respondJSON(w, status, map[string]any{"__type": name, "message": "chaos"})
}

func respondJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// conflict responds as DynamoDB does when another transaction holds an item; false
// for calls that never conflict.
func conflict(w http.ResponseWriter, operation string, body []byte, x float64) bool {
	const prefix = "com.amazonaws.dynamodb.v20120810#"
	switch operation {
	case "UpdateItem", "PutItem", "DeleteItem":
		refuse(w, 400, prefix+"TransactionConflictException")
		return true
	case "TransactWriteItems":
		var call struct{ TransactItems []json.RawMessage }
		if json.Unmarshal(body, &call) != nil || len(call.TransactItems) == 0 {
			return false
		}
		reasons := make([]map[string]string, len(call.TransactItems))
		for i := range reasons {
			reasons[i] = map[string]string{"Code": "None"}
		}
		reasons[int(x*float64(len(reasons)))] = map[string]string{"Code": "TransactionConflict", "Message": "Transaction is ongoing for the item"}
		respondJSON(w, 400, map[string]any{"__type": prefix + "TransactionCanceledException", "Message": "chaos", "CancellationReasons": reasons})
		return true
	}
	return false
}

// cut ends the connection without a response.
func cut(w http.ResponseWriter) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := connection.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = connection.Close()
}

// forward hands the call to what is behind, which goes through with it also when
// the caller does not wait.
func (p *proxy) forward(r *http.Request, operation string, body []byte) (exchange, error) {
	p.gate.RLock()
	defer p.gate.RUnlock()
	if p.down {
		return exchange{}, fmt.Errorf("%s is down", p.upstream)
	}
	token := tokenOf(operation, body)
	p.mu.Lock()
	known, ok := p.responses[token]
	p.mu.Unlock()
	if ok {
		return known, nil
	}
	request, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), r.Method, p.upstream+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return exchange{}, err
	}
	request.Header, request.Host = r.Header.Clone(), r.Host // which is signed
	response, err := p.client.Do(request)
	if err != nil {
		return exchange{}, err
	}
	defer response.Body.Close()
	got := exchange{status: response.StatusCode, header: response.Header}
	if got.body, err = io.ReadAll(response.Body); err != nil {
		return exchange{}, err
	}
	p.note(operation, token, body, got)
	return got, nil
}

// tokenOf reads by what a transaction is known when it is sent again; "" for any
// other call.
func tokenOf(operation string, body []byte) string {
	var call struct{ ClientRequestToken string }
	if operation == "TransactWriteItems" {
		_ = json.Unmarshal(body, &call)
	}
	return call.ClientRequestToken
}

func (p *proxy) done(operation string, body []byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.responses[tokenOf(operation, body)]
	return ok
}

// note remembers what was done.
func (p *proxy) note(operation, token string, body []byte, got exchange) {
	if got.status != http.StatusOK {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch operation {
	case "SendMessage":
		p.messages++
	case "TransactWriteItems":
		if token != "" {
			p.responses[token] = got
		}
		var call struct {
			TransactItems []struct {
				Put struct{ Item row }
			}
		}
		if json.Unmarshal(body, &call) != nil {
			return
		}
		maps.DeleteFunc(p.newborn, func(_ string, at time.Time) bool { return time.Since(at) > lag })
		for _, item := range call.TransactItems {
			if item.Put.Item != nil {
				p.newborn[item.Put.Item.key()] = time.Now()
			}
		}
	}
}

// row is a row in DynamoDB's JSON.
type row map[string]json.RawMessage

func (r row) key() string { return string(r["pk"]) + string(r["sk"]) }

// lagging hides new rows from an eventually consistent read.
func (p *proxy) lagging(operation string, body []byte, got exchange) exchange {
	if operation != "GetItem" && operation != "BatchGetItem" && operation != "Query" || got.status != http.StatusOK || bytes.Contains(body, []byte(`"ConsistentRead":true`)) {
		return got
	}
	if hit, _ := p.hit(lagTable); !hit {
		return got
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	hidden := func(r row) bool {
		at, ok := p.newborn[r.key()]
		return ok && time.Since(at) < lag
	}
	var response map[string]json.RawMessage
	if json.Unmarshal(got.body, &response) != nil {
		return got
	}
	put := func(name string, v any) {
		if packed, err := json.Marshal(v); err == nil {
			response[name] = packed
		}
	}
	switch operation {
	case "GetItem":
		var found row
		if json.Unmarshal(response["Item"], &found) == nil && hidden(found) {
			delete(response, "Item")
		}
	case "BatchGetItem":
		var tables map[string][]row
		if json.Unmarshal(response["Responses"], &tables) == nil {
			for name, rows := range tables {
				tables[name] = slices.DeleteFunc(rows, hidden)
			}
			put("Responses", tables)
		}
	case "Query":
		var rows []row
		if json.Unmarshal(response["Items"], &rows) == nil {
			rows = slices.DeleteFunc(rows, hidden)
			put("Items", rows)
			put("Count", len(rows))
		}
	}
	if packed, err := json.Marshal(response); err == nil {
		got.body = packed
		got.header = got.header.Clone()
		got.header.Del("X-Amz-Crc32")
		got.header.Set("Content-Length", strconv.Itoa(len(packed)))
	}
	return got
}

// shuffled delays some messages, so that later ones overtake them.
func (p *proxy) shuffled(body []byte) []byte {
	hit, x := p.hit(shuffleQueue)
	if !hit {
		return body
	}
	var message map[string]any
	if json.Unmarshal(body, &message) != nil {
		return body
	}
	message["DelaySeconds"] = int(x * 15)
	if packed, err := json.Marshal(message); err == nil {
		return packed
	}
	return body
}

// double sends some messages once more, at once or later.
func (p *proxy) double(r *http.Request, body []byte) {
	hit, x := p.hit(doubleQueue)
	if !hit {
		return
	}
	var message map[string]any
	if json.Unmarshal(body, &message) != nil {
		return
	}
	if x > 0.5 {
		message["DelaySeconds"] = int(x * 10)
	}
	if packed, err := json.Marshal(message); err == nil {
		_, _ = p.forward(r, "SendMessage", packed)
	}
}
