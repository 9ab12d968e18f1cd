// Package receiver receives the messages of the demo's webhook, verifies them with the
// Standard Webhooks reference library, and prints a line for each. It is an example for
// writing a receiver.
package receiver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Receiver handles webhook requests. It rejects all messages until Trust is called.
type Receiver struct {
	Print func(line string)

	mu     sync.Mutex
	secret string
}

// Trust sets the secret that messages must be signed with.
func (r *Receiver) Trust(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secret = secret
}

// most is the maximum size of a message in bytes.
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
	r.Print(fmt.Sprintf("%s %s (%s, verified)", message.Type, message.Data.Href,
		request.Header.Get("webhook-id")))
}
