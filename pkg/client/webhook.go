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

// Message is what a webhook delivers: that something happened, and where to read it.
type Message struct {
	ID        string    `json:"-"` // the same in every attempt: a message seen before is dropped by it
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      struct {
		ID       string       `json:"id"`
		Resource catalog.Kind `json:"resource"`
		Change   string       `json:"change"`
		Href     string       `json:"href"`
		Cursor   string       `json:"cursor"` // of the change feed: Changes goes on from it
	} `json:"data"`
}

// tolerance is how far a message's timestamp may be from the receiver's clock, so that
// what was recorded cannot be delivered again later.
const tolerance = 5 * time.Minute

// ErrSignature says that a message was not signed with the secret, or not now.
var ErrSignature = errors.New("the webhook's signature does not hold")

// VerifyWebhook verifies a delivery by the rules of Standard Webhooks 1.0.0 and returns
// its message. secret is the webhook's (whsec_…), body the request's as it came, now the
// receiver's clock. One valid signature of several is enough: while a secret is
// replaced, both sign.
func VerifyWebhook(secret string, header http.Header, body []byte, now time.Time) (Message, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return Message{}, errors.New("the webhook's secret is no base64 behind whsec_")
	}
	id, stamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || id == "" {
		return Message{}, fmt.Errorf("%w: webhook-id or webhook-timestamp is missing", ErrSignature)
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return Message{}, fmt.Errorf("%w: the message is of another time", ErrSignature)
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
