package client

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// Message is the message that a webhook delivers: what happened, and where to read it.
type Message struct {
	ID        string    `json:"-"` // the same in every attempt, to recognize duplicates
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		ID       string       `json:"id"`
		Resource catalog.Kind `json:"resource"`
		Change   string       `json:"change"`
		Href     string       `json:"href"`
		Cursor   string       `json:"cursor"` // of the change feed: Changes continues after it
	} `json:"data"`
}

// tolerance is the largest difference between a message's timestamp and the receiver's clock;
// it prevents replay of recorded messages.
const tolerance = 5 * time.Minute

// ErrSignature means that a message was not signed with the secret, or not recently.
var ErrSignature = errors.New("the webhook's signature is not valid")

// VerifyWebhook verifies a delivery as in Standard Webhooks 1.0.0 and returns its message.
// secret is the webhook's (whsec_…), body the raw request body, now the receiver's clock. One
// valid signature of several is enough: during a secret's rotation both sign.
func VerifyWebhook(secret string, header http.Header, body []byte, now time.Time) (Message, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return Message{}, errors.New("the webhook's secret is not whsec_ followed by base64")
	}
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" {
		return Message{}, fmt.Errorf("%w: webhook-id or webhook-timestamp is missing", ErrSignature)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return Message{}, fmt.Errorf("%w: the timestamp is too far from the current time", ErrSignature)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + stamp + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	signed := false
	for signature := range strings.SplitSeq(header.Get("webhook-signature"), " ") {
		version, encoded, _ := strings.Cut(signature, ",")
		got, err := base64.StdEncoding.DecodeString(encoded)
		signed = signed || version == "v1" && err == nil && hmac.Equal(got, want)
	}
	if !signed {
		return Message{}, ErrSignature
	}
	m := Message{}
	if err := json.Unmarshal(body, &m); err != nil {
		return Message{}, fmt.Errorf("webhook: %w", err)
	}
	m.ID = id
	return m, nil
}
