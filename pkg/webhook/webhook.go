// Package webhook defines the messages sent to webhooks (Standard Webhooks 1.0.0): their content and signature, how
// secrets are stored, and when the next attempt is due. It is pure; package delivery sends.
package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"skillscurriculum/pkg/catalog"
)

// The headers of a message, in lower case as in the standard.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Content is the body of a message.
type Content struct {
	Type      string       `json:"type" doc:"Type of the message"`
	Timestamp catalog.Time `json:"timestamp" doc:"When the record was changed"`
	Data      ContentData  `json:"data" doc:"Which record was changed; none of its content"`
}

// ContentData identifies the changed record and has none of its content.
type ContentData struct {
	ID       string `json:"id" doc:"Id of the record"`
	Resource string `json:"resource" doc:"Type of the record, as in the change feed"`
	Change   string `json:"change" enum:"created,changed,deleted,test" doc:"What happened to it"`
	Href     string `json:"href" doc:"Path of the record"`
	Cursor   string `json:"cursor" doc:"Position of the change in the change feed: GET /changes?since= continues after it"`
}

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret returns a new random secret in the form given to receivers, whsec_ and base64.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// Sign returns the three headers of a message sent at an instant, signed with each of the secrets.
func Sign(id string, at catalog.Time, body []byte, secrets []string) (http.Header, error) {
	timestamp := strconv.FormatInt(int64(at)/1000, 10)
	var signatures []string
	for _, secret := range secrets {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
		if err != nil {
			return nil, fmt.Errorf("secret of a webhook: %w", err)
		}
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", id, timestamp, body)
		signatures = append(signatures, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return http.Header{HeaderID: {id}, HeaderTimestamp: {timestamp}, HeaderSignature: {strings.Join(signatures, " ")}}, nil
}

// Schedule is the delay before each retry, counted from the failure of the attempt before.
type Schedule []time.Duration

// Standard returns the default schedule: ten attempts, including the first, over three days.
func Standard() Schedule {
	return Schedule{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// ParseSchedule parses comma-separated seconds; an empty text is Standard.
func ParseSchedule(text string) (Schedule, error) {
	if text == "" {
		return Standard(), nil
	}
	var s Schedule
	for part := range strings.SplitSeq(text, ",") {
		seconds, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(seconds >= 0 && seconds <= 7*24*3600) {
			return nil, fmt.Errorf("must be comma-separated seconds, not %q", text)
		}
		s = append(s, time.Duration(seconds*float64(time.Second)))
	}
	return s, nil
}

const (
	// jitter is the largest share added to a scheduled delay, so that deliveries that failed
	// together are not retried together.
	jitter = 0.1
	// mostRetryAfter is the longest delay that a receiver may ask for.
	mostRetryAfter = 24 * time.Hour
	// patience is how long all attempts must fail before a webhook is disabled, for the Standard schedule.
	patience = 5 * 24 * time.Hour
)

// Next returns the delay after a failed attempt, counted from 1; false if it was the last. chance is a random number in
// [0, 1). wish is the receiver's Retry-After, 0 for none; it applies if it is longer.
func (s Schedule) Next(attempt int, wish time.Duration, chance float64) (time.Duration, bool) {
	if attempt < 1 || attempt > len(s) {
		return 0, false
	}
	wait := s[attempt-1]
	wait += time.Duration(float64(wait) * jitter * chance)
	return max(wait, min(wish, mostRetryAfter)), true
}

// Patience returns how long all attempts must fail before a webhook is disabled: five days,
// or proportionally less if the schedule is shorter than Standard.
func (s Schedule) Patience() time.Duration {
	return time.Duration(float64(patience) * float64(s.sum()) / float64(Standard().sum()))
}

func (s Schedule) sum() (all time.Duration) {
	for _, wait := range s {
		all += wait
	}
	return all
}

// RetryAfter parses a Retry-After header, seconds or a date (RFC 9110, section 10.2.3), and
// returns the delay; 0 if there is none.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
