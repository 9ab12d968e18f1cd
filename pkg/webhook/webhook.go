// Package webhook decides what a message to a webhook looks like (Standard Webhooks
// 1.0.0): its signature, how its secret is stored, and when the next attempt is made.
// It is pure; package delivery sends.
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

// The headers of a message, in lower case as the standard has them.
const (
	HeaderID        = "webhook-id"
	HeaderTimestamp = "webhook-timestamp"
	HeaderSignature = "webhook-signature"
)

// Content is the body of a message.
type Content struct {
	Type      string       `json:"type" doc:"Type of the message"`
	Timestamp catalog.Time `json:"timestamp" doc:"When the record was changed"`
	Data      ContentData  `json:"data" doc:"Which record was changed, and nothing of what is in it"`
}

// ContentData says which record was changed, and nothing of what is in it.
type ContentData struct {
	ID       string `json:"id" doc:"Id of the record"`
	Resource string `json:"resource" doc:"Type of the record, as in the change feed"`
	Change   string `json:"change" enum:"created,changed,deleted,test" doc:"What happened to it"`
	Href     string `json:"href" doc:"Path at which the record is read"`
	Cursor   string `json:"cursor" doc:"Place of the change in the change feed: GET /changes?since= goes on behind it"`
}

const (
	secretPrefix = "whsec_"
	secretBytes  = 32
)

// NewSecret returns a new secret in the form that receivers are given.
func NewSecret() string {
	b := make([]byte, secretBytes)
	_, _ = rand.Read(b) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(b)
}

// Sign returns the three headers of a message that is sent at an instant, signed with
// each of the secrets.
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

// Schedule is how long each attempt waits after the one before has failed.
type Schedule []time.Duration

// Standard is the schedule: with the first attempt ten, over three days.
func Standard() Schedule {
	return Schedule{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// ParseSchedule reads a comma list of seconds; an empty one is Standard.
func ParseSchedule(text string) (Schedule, error) {
	if text == "" {
		return Standard(), nil
	}
	var s Schedule
	for part := range strings.SplitSeq(text, ",") {
		seconds, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(seconds >= 0 && seconds <= 7*24*3600) {
			return nil, fmt.Errorf("must be a comma list of seconds, not %q", text)
		}
		s = append(s, time.Duration(seconds*float64(time.Second)))
	}
	return s, nil
}

const (
	// jitter is by what share at most a wait is longer than the schedule has it, so that
	// what failed together is not tried together.
	jitter = 0.1
	// mostRetryAfter is the longest that a receiver may put an attempt off.
	mostRetryAfter = 24 * time.Hour
	// patience is how long every attempt at a webhook fails until it is disabled, where
	// the schedule is Standard.
	patience = 5 * 24 * time.Hour
)

// Next returns how long to wait after that attempt, the first is 1, has failed; false
// when it was the last. chance is a random number in [0, 1). The receiver's wish, if it
// has one, counts where it is longer.
func (s Schedule) Next(attempt int, wish time.Duration, chance float64) (time.Duration, bool) {
	if attempt < 1 || attempt > len(s) {
		return 0, false
	}
	wait := s[attempt-1]
	wait += time.Duration(float64(wait) * jitter * chance)
	return max(wait, min(wish, mostRetryAfter)), true
}

// Patience returns how long every attempt at a webhook fails until it is disabled: five
// days, or in proportion less where the schedule is shorter than Standard.
func (s Schedule) Patience() time.Duration {
	return time.Duration(float64(patience) * float64(s.sum()) / float64(Standard().sum()))
}

func (s Schedule) sum() (all time.Duration) {
	for _, wait := range s {
		all += wait
	}
	return all
}

// RetryAfter returns how long the header of that name asks to wait: seconds or a date
// (RFC 9110, section 10.2.3); 0 where it asks nothing.
func RetryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
