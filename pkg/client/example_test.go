package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"skillscurriculum/pkg/client"
)

// A system that keeps a copy stores the cursor behind what it has copied, and goes on
// from there.
func ExampleClient_Changes() {
	service := &client.Client{BaseURL: "http://127.0.0.1:3000/v1", Key: "key"}
	copied := ""
	for change, err := range service.Changes(context.Background(), copied) {
		if err != nil {
			break // the next time goes on from the last cursor
		}
		fmt.Println(change.Change, change.Href)
		copied = change.Cursor
	}
}

// A receiver verifies a message before it does anything with it.
func ExampleVerifyWebhook() {
	http.HandleFunc("POST /webhook", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			return
		}
		message, err := client.VerifyWebhook("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", r.Header, body, time.Now())
		if err != nil {
			http.Error(w, "not ours", http.StatusUnauthorized)
			return
		}
		fmt.Println(message.Type, message.Data.Href) // sooner or later, and perhaps twice
		w.WriteHeader(http.StatusNoContent)
	})
}
