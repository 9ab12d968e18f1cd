package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/webhook"
)

// What the stack runs webhooks with: ten waits of at most 3 s, after which a webhook that
// has failed for half a minute is disabled.
const (
	webhookKey   = "encrypts the secrets of webhooks in chaos"
	webhookWaits = "1,1,1,1,2,2,2,2,3,3"
	webhookTries = 11
	// undelivered is how long no message of those that are missing may arrive: one that
	// the queue has lost is sent again after a minute, and then every five.
	undelivered = 7 * time.Minute
)

// behaviours are how receivers respond; attempt is the number of the one at this message.
var behaviours = map[string]func(r *receivers, w http.ResponseWriter, attempt int) (status int){
	"well":  func(*receivers, http.ResponseWriter, int) int { return http.StatusNoContent },
	"halve": func(r *receivers, _ http.ResponseWriter, _ int) int { return r.draw(2, http.StatusInternalServerError) },
	"dies": func(_ *receivers, w http.ResponseWriter, _ int) int {
		if time.Now().Unix()/8%2 == 0 {
			return http.StatusOK
		}
		return hangUp(w)
	},
	"stalls": func(r *receivers, w http.ResponseWriter, _ int) int {
		status := r.draw(24, 0)
		if status == 0 {
			select {
			case <-r.ended:
			case <-time.After(20 * time.Second):
			}
			return hangUp(w)
		}
		return status
	},
	"redirects": func(_ *receivers, w http.ResponseWriter, attempt int) int {
		if attempt > 2 {
			return http.StatusAccepted
		}
		w.Header().Set("Location", "/well")
		return http.StatusTemporaryRedirect
	},
	"leaves": func(r *receivers, _ http.ResponseWriter, _ int) int {
		if r.took("leaves") < 10 {
			return http.StatusOK
		}
		return http.StatusGone
	},
	"down": func(*receivers, http.ResponseWriter, int) int { return http.StatusBadGateway },
}

func hangUp(w http.ResponseWriter) int {
	if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_ = connection.Close()
	}
	return 0
}

// hook is a webhook of the run, and what its receiver has seen.
type hook struct {
	org       catalog.OrgID
	id        string
	behaviour string
	secret    string
	from      catalog.Cursor
	attempts  map[string]int    // by message
	ids       map[string]string // of messages, by cursor and type
	taken     map[string]bool   // cursors and types that had a 2xx
}

// receivers are the addresses of the run's webhooks.
type receivers struct {
	host   string
	server *http.Server
	ended  chan struct{}

	mu       sync.Mutex
	random   *rand.Rand
	hooks    map[string]*hook // by path
	breaches []string
}

func openReceivers(random *rand.Rand) (*receivers, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("receivers: %w", err)
	}
	r := &receivers{host: listener.Addr().String(), random: random, ended: make(chan struct{}), hooks: map[string]*hook{}}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receivers) close() {
	close(r.ended)
	_ = r.server.Close()
}

// draw returns 200, or one time in many another status.
func (r *receivers) draw(of, status int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.random.IntN(of) == 0 {
		return status
	}
	return http.StatusOK
}

// took counts what receivers of a behaviour have taken.
func (r *receivers) took(behaviour string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.hooks {
		if h.behaviour == behaviour {
			n += len(h.taken)
		}
	}
	return n
}

// ServeHTTP takes a message as the behaviour of its receiver is, if it is signed.
func (r *receivers) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the deliverer is gone
	}
	r.mu.Lock()
	h := r.hooks[request.URL.Path]
	if h == nil {
		r.breaches = append(r.breaches, "a receiver was redirected to "+request.URL.Path)
		r.mu.Unlock()
		return
	}
	var message struct {
		Type string
		Data struct{ Cursor string }
	}
	verifier, err := standardwebhooks.NewWebhook(h.secret)
	if err = errors.Join(err, json.Unmarshal(body, &message)); err == nil {
		err = verifier.Verify(body, request.Header)
	}
	if err != nil {
		r.breaches = append(r.breaches, fmt.Sprintf("a message to %s is not verified: %v", request.URL.Path, err))
	}
	id, what := request.Header.Get(webhook.HeaderID), message.Data.Cursor+" "+message.Type
	if other := h.ids[what]; other != "" && other != id {
		r.breaches = append(r.breaches, fmt.Sprintf("%s came to %s as %s and as %s", what, request.URL.Path, other, id))
	}
	h.ids[what] = id
	h.attempts[id]++
	attempt := h.attempts[id]
	r.mu.Unlock()
	status := behaviours[h.behaviour](r, w, attempt)
	if status == 0 {
		return
	}
	w.WriteHeader(status)
	if status/100 == 2 {
		r.mu.Lock()
		defer r.mu.Unlock()
		h.taken[what] = true
	}
}

// register gives each organization a webhook of each behaviour, for whatever happens.
func (r *receivers) register(ctx context.Context, store *dynamo.Store, everybody []*customer, ids catalog.IDs) error {
	cipher, err := webhook.NewCipher(webhookKey)
	if err != nil {
		return err
	}
	var types []string
	for _, t := range catalog.MessageTypes() {
		if strings.HasSuffix(t, ".*") {
			types = append(types, t)
		}
	}
	for _, customer := range everybody {
		org := customer.organization.id
		hooks, err := store.Webhooks(ctx, org)
		if err != nil {
			return err
		}
		if len(hooks.List) > 0 {
			continue
		}
		end, err := store.FeedEnd(ctx, org)
		if err != nil {
			return err
		}
		for behaviour := range behaviours {
			h := &hook{org: org, id: ids.Webhook(), behaviour: behaviour, secret: webhook.NewSecret(), from: end, attempts: map[string]int{}, ids: map[string]string{}, taken: map[string]bool{}}
			record := &catalog.Webhook{ID: h.id, OrganizationID: org, CreatedAt: now(), UpdatedAt: now(), URL: "http://" + r.host + "/" + string(org) + "/" + behaviour, Types: types, Enabled: true, From: end}
			record.NewSecrets(cipher.Seal(webhook.Owner(org, h.id), []byte(h.secret)), now())
			if err := hooks.Add(record); err != nil {
				return err
			}
			r.mu.Lock()
			r.hooks["/"+string(org)+"/"+behaviour] = h
			r.mu.Unlock()
		}
		if err := store.Commit(ctx, org, &catalog.Change{Webhooks: hooks}); err != nil {
			return err
		}
	}
	return nil
}

// missing lists what a receiver should have been told and has not taken, by cursor and
// type.
func (r *receivers) missing(h *hook, pages []map[string]any) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, page := range pages {
		for place, entry := range texts(page, "entries") {
			words := strings.Split(entry, "|")
			at := catalog.Cursor{Page: i, Place: place + 1}
			if !h.from.Before(at) {
				continue
			}
			cursor := at.String()
			resource, change, event := strings.ToLower(words[1][:1])+words[1][1:], words[0], ""
			switch change {
			case "completed", "failed":
				change, event = catalog.Changed, "extraction."+change
			case "decided":
				change, event = catalog.Changed, "articulation.decided"
			}
			wanted := []string{cursor + " " + resource + "." + change}
			if event != "" {
				wanted = append(wanted, cursor+" "+event)
			}
			list = slices.AppendSeq(list, func(yield func(string) bool) {
				for _, what := range wanted {
					if !h.taken[what] && !yield(what) {
						return
					}
				}
			})
		}
	}
	return list
}

// givenUp lists the messages of those missing that had all their attempts, and notes them.
func (r *receivers) givenUp(h *hook, missing []string, resent map[string]bool) (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, what := range missing {
		id := h.ids[what]
		attempts := h.attempts[id]
		if once := fmt.Sprint(id, attempts); attempts >= webhookTries && !resent[once] {
			resent[once] = true
			ids = append(ids, id)
		}
	}
	return ids
}

// told waits until every change was taken by every receiver, or its webhook is disabled
// with a reason. What was given up after all attempts is sent once more, as people do.
func (w *world) told(ctx context.Context, a *audit, t *traffic, everybody []*customer) (figure string, err error) {
	r := w.receivers
	store := w.store(w.table.upstream)
	senders := map[catalog.OrgID]*client{}
	for _, customer := range everybody {
		if customer.limit == plenty {
			senders[customer.organization.id] = &client{traffic: t, customer: customer, name: "operator", random: rand.New(rand.NewPCG(w.seed, 1))}
		}
	}
	progress, said, least, resent := time.Now(), time.Now(), -1, map[string]bool{}
	disabled := map[string]string{}
	for {
		open := 0
		for path, h := range r.hooks {
			hooks, err := store.Webhooks(ctx, h.org)
			if err != nil {
				return "", err
			}
			if record := hooks.Find(h.id); !record.Enabled {
				if disabled[path] = "without a reason"; record.DisabledReason != nil {
					disabled[path] = *record.DisabledReason
				}
				continue
			}
			missing := r.missing(h, a.feeds[h.org])
			open += len(missing)
			for _, id := range r.givenUp(h, missing, resent) {
				senders[h.org].send(request{operation: "resendWebhookMessage", path: "/webhooks/" + h.id + "/deliveries/" + id + "/resend"})
			}
		}
		if least < 0 || open < least {
			least, progress = open, time.Now()
		}
		if open == 0 || time.Since(progress) > undelivered {
			break
		}
		if time.Since(said) > time.Minute {
			said = time.Now()
			w.say("%d messages to receivers are not taken yet", open)
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(time.Second):
		}
	}
	messages, attempts := 0, 0
	for path, h := range r.hooks {
		reason := disabled[path]
		r.mu.Lock()
		messages += len(h.ids)
		for _, n := range h.attempts {
			attempts += n
		}
		r.mu.Unlock()
		want := map[string]string{"leaves": catalog.ReceiverGone, "down": catalog.ReceiverFailing}[h.behaviour]
		if reason != "" && reason != want && !(reason == catalog.ReceiverFailing && h.behaviour != "well") {
			a.breach("the webhook %s is disabled: %s", path, reason)
		}
		if missing := r.missing(h, a.feeds[h.org]); reason == "" && len(missing) > 0 {
			a.breach("%s was not told of %d changes: %s", path, len(missing), missing[0])
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a.breaches = append(a.breaches, r.breaches...)
	return fmt.Sprintf("messages to webhooks %d in %d attempts, sent once more by hand %d; disabled %v", messages, attempts, len(resent), disabled), nil
}
