package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"skillscurriculum/infra/local/stack"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	service "skillscurriculum/pkg/client"
	"skillscurriculum/pkg/webhook"
)

const (
	// webhookWaits are the seconds between attempts. They suffice for every receiver that responds now and then; a webhook
	// that fails for their total is disabled.
	webhookWaits = "1,1,1,1,2,2,2,2,3,3,3,3,3,3,3,3,3,3,3,3"
	// deliveryPatience is how long to wait for one more message: those that the queue lost are sent again after a minute,
	// and then every five.
	deliveryPatience = 7 * time.Minute
)

// behaviors of receivers. The service may disable the webhooks of all but the first.
var behaviors = []string{"healthy", "dying", "stalling", "redirecting", "leaving"}

// respond returns the status of a receiver after so many attempts, or 0 for no response.
func (r *receivers) respond(w http.ResponseWriter, behavior string, attempts int) (status int) {
	switch {
	case behavior == "dying" && time.Now().Unix()/8%2 == 0:
		return 0
	case behavior == "stalling" && rand.IntN(24) == 0:
		select {
		case <-r.closed:
		case <-time.After(20 * time.Second):
		}
		return 0
	case behavior == "redirecting":
		w.Header().Set("Location", "/healthy")
		return http.StatusTemporaryRedirect
	case behavior == "leaving" && attempts > 10:
		return http.StatusGone
	}
	return http.StatusNoContent
}

// hook is a webhook and the state of its receiver.
type hook struct {
	owner    *client
	id       string
	behavior string
	secret   string
	from     catalog.Cursor // changes after it are sent
	attempts int
	ids      map[string]string // of messages, by cursor and type
	accepted map[string]bool   // cursors and types with a 2xx response
	disabled string            // reason, if it is disabled
}

// receivers serves the webhooks of a run.
type receivers struct {
	server *httptest.Server
	closed chan struct{}

	mu       sync.Mutex
	hooks    map[string]*hook // by path
	breaches []string
}

func openReceivers() *receivers {
	r := &receivers{closed: make(chan struct{}), hooks: map[string]*hook{}}
	r.server = httptest.NewServer(r)
	return r
}

func (r *receivers) close() {
	close(r.closed)
	_ = r.server.Config.Close()
}

// ServeHTTP receives a message.
func (r *receivers) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // the deliverer was killed
	}
	r.mu.Lock()
	h := r.hooks[request.URL.Path]
	if h == nil {
		r.breaches = append(r.breaches, "a message was redirected to "+request.URL.Path)
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
	id, what := request.Header.Get(webhook.HeaderID), message.Data.Cursor+" "+message.Type
	if other := h.ids[what]; err != nil || other != "" && other != id {
		breach := fmt.Sprintf("%s to %s: ids %s and %s, verified: %v", what, request.URL.Path, other, id, err)
		r.breaches = append(r.breaches, breach)
	}
	h.ids[what] = id
	h.attempts++
	attempts := h.attempts
	r.mu.Unlock()
	status := r.respond(w, h.behavior, attempts)
	if status == 0 {
		disconnect(w)
		return
	}
	w.WriteHeader(status)
	if status/100 == 2 {
		r.mu.Lock()
		defer r.mu.Unlock()
		h.accepted[what] = true
	}
}

// register creates a webhook of each behavior for a client's organization. Each must accept the changes from then on;
// extractions of the first courses may end before.
func (r *receivers) register(ctx context.Context, c *client, table stack.Table) error {
	var types []string
	for _, t := range catalog.MessageTypes() {
		if strings.HasSuffix(t, ".*") {
			types = append(types, t)
		}
	}
	for _, behavior := range behaviors {
		path := "/" + string(c.organization.id) + "/" + behavior
		body := object{"url": r.server.URL + path, "types": types}
		got := c.send(request{operation: "createWebhook", path: "/webhooks", body: body})
		if got.outcome() != acknowledged {
			return fmt.Errorf("create a webhook: %d %s", got.status, got.body)
		}
		from, err := table.FeedEnd(ctx, c.organization.id)
		if err != nil {
			return err
		}
		made := got.parsed()
		r.mu.Lock()
		r.hooks[path] = &hook{
			owner: c, id: text(made, "id"), behavior: behavior, secret: text(made, "secret"), from: from,
			ids: map[string]string{}, accepted: map[string]bool{},
		}
		r.mu.Unlock()
	}
	return nil
}

// missing lists the cursors and types that a receiver has not accepted.
func (r *receivers) missing(h *hook, feed []object) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, page := range feed {
		for place, entry := range texts(page, "entries") {
			at := catalog.Cursor{Page: i, Place: place + 1}
			if !h.from.Before(at) {
				continue
			}
			for _, t := range changeOf(entry).Types() {
				if what := at.String() + " " + t; !h.accepted[what] {
					list = append(list, what)
				}
			}
		}
	}
	return list
}

// messages waits until every receiver accepted every change or its webhook was disabled for a valid reason.
func (a *audit) messages(ctx context.Context, r *receivers) (figure string, err error) {
	missing := map[string][]string{} // by path
	err = settle(ctx, deliveryPatience, func() (pending int, err error) {
		for path, h := range r.hooks {
			read := service.Request{Operation: "getWebhook", IDs: []string{h.id}}
			record, err := service.Do[catalog.Webhook](ctx, h.owner.service(), read)
			if err != nil {
				return 0, err
			}
			if delete(missing, path); record.Enabled {
				missing[path] = r.missing(h, a.ordered(h.owner.organization.id, api.JournalRows))
				pending += len(missing[path])
			} else if h.disabled = "without a reason"; record.DisabledReason != nil {
				h.disabled = *record.DisabledReason
			}
		}
		return pending, nil
	})
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	messages, attempts, disabled := 0, 0, 0
	for path, h := range r.hooks {
		messages += len(h.ids)
		attempts += h.attempts
		if h.disabled != "" {
			disabled++
		}
		failed := h.behavior != "healthy" && h.disabled == catalog.ReceiverFailing
		gone := h.behavior == "leaving" && h.disabled == catalog.ReceiverGone
		if h.disabled != "" && !failed && !gone {
			a.breach("the webhook %s is disabled: %s", path, h.disabled)
		}
		if n := len(missing[path]); n > 0 {
			a.breach("%s did not accept %d changes: %s", path, n, missing[path][0])
		}
	}
	a.breaches = append(a.breaches, r.breaches...)
	return fmt.Sprintf("messages to webhooks %d in %d attempts, disabled webhooks %d", messages, attempts, disabled), nil
}
