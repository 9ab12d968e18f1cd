// Package receiver takes the messages of the demo's webhook, verifies them with the
// reference library of Standard Webhooks, and prints a line for each: what a receiver of
// one's own begins with.
package receiver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Receiver is the handler of the webhook's address. It refuses messages as long as it
// trusts no secret.
type Receiver struct {
	Print func(line string)

	mu     sync.Mutex
	secret string
}

// Trust takes messages that are signed with the secret from now on.
func (r *Receiver) Trust(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// most is how long a message is at most, in bytes.
const most = 64 << 10

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, most))
	if err != nil {
		http.Error(w, "unreadable", http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	secret := r.secret
	r.mu.Unlock()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err == nil && secret != "" {
		err = verifier.Verify(body, request.Header)
	}
	var message struct {
		Type string
		Data struct{ Href string }
	}
	if err != nil || secret == "" || json.Unmarshal(body, &message) != nil {
		http.Error(w, "not verified", http.StatusUnauthorized)
		return
	}
	w.WriteHeader(http.StatusNoContent)
	r.Print(fmt.Sprintf("webhook: %s %s (%s, verified)", message.Type, message.Data.Href, request.Header.Get("webhook-id")))
}
