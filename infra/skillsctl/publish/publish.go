// Package publish sends documents in CTDL to the Credential Registry through its Assistant.
//
// Invariants: what was published and has not changed since is not sent again, also after an interruption; the key
// stands in no error or message.
package publish

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// Resource is a kind of document, in the words of the service.
type Resource string

// The kinds of documents, in the order in which they are published: what others refer to comes first.
const (
	Organization Resource = "organization"
	Framework    Resource = "framework"
	Course       Resource = "course"
	Program      Resource = "program"
	Credential   Resource = "credential"
	Articulation Resource = "articulation"
)

// Resources lists all kinds in their order.
var Resources = []Resource{Organization, Framework, Course, Program, Credential, Articulation}

// classes are the Assistant's names of the kinds.
var classes = map[Resource]string{
	Organization: "organization", Framework: "competencyframework", Course: "course", Program: "learningprogram",
	Credential: "credential", Articulation: "transfervalue",
}

// Document is what one record is published as.
type Document struct {
	Resource Resource
	CTID     string
	Name     string
	Graph    []byte // JSON-LD
}

// Outcome is what became of a document.
type Outcome string

// The outcomes of documents.
const (
	Published Outcome = "PUBLISHED"
	Unchanged Outcome = "UNCHANGED" // since it was published
	Refused   Outcome = "REFUSED"   // by the Registry
	Pending   Outcome = "PENDING"   // would be sent if this were not a dry run
)

// Result is the outcome of one document.
type Result struct {
	Resource Resource `json:"resource"`
	CTID     string   `json:"ctid"`
	Name     string   `json:"name"`
	Outcome  Outcome  `json:"outcome"`
	Messages []string `json:"messages"` // of the Registry
}

var (
	// ErrKey means that the Registry refused the key; nothing further was sent.
	ErrKey = errors.New("the registry refused the key or the organization")
	// ErrUnreachable means that the Assistant could not be reached or does not answer; nothing further was sent.
	ErrUnreachable = errors.New("the registry's assistant is unreachable; run the same command again to continue")
)

// Assistant is the Registry's Assistant.
type Assistant struct {
	Address      string // without a slash at its end
	Key          string
	Organization string // CTID of the organization that publishes
	Timeout      time.Duration
	Pause        func(context.Context, time.Duration) error
	DryRun       bool // send nothing
}

// registries are the addresses of Assistants by the names of their registries.
var registries = map[string]string{
	"sandbox": "https://sandbox.credentialengine.org/assistant", "production": "https://credentialengine.org/assistant",
}

// Locate returns the address of a registry's Assistant, and the name under which its state is kept: sandbox, production
// or the host of an address. The key leaves the machine by https only.
func Locate(registry string) (address, name string, err error) {
	if address, ok := registries[registry]; ok {
		return address, registry, nil
	}
	u, err := url.Parse(registry)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		return "", "", fmt.Errorf("%q must be sandbox, production or the https address of an assistant", registry)
	}
	return strings.TrimRight(registry, "/"), u.Host, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Run publishes the documents that changed since the state was saved, by the order of Resources, and reports each
// result. The file of the state is saved after every document. Run goes on after a document that is refused.
func (a *Assistant) Run(ctx context.Context, documents []Document, file string, report func(Result)) error {
	state, err := load(file)
	if err != nil {
		return err
	}
	documents = slices.Clone(documents)
	slices.SortStableFunc(documents, func(x, y Document) int {
		return slices.Index(Resources, x.Resource) - slices.Index(Resources, y.Resource)
	})
	for _, d := range documents {
		sum := sha256.Sum256(d.Graph)
		hash := hex.EncodeToString(sum[:])
		result := Result{Resource: d.Resource, CTID: d.CTID, Name: d.Name, Outcome: Unchanged, Messages: []string{}}
		switch {
		case state[d.CTID] == hash:
		case a.DryRun:
			result.Outcome = Pending
		default:
			if result.Outcome, result.Messages, err = a.send(ctx, d); err != nil {
				return err
			}
			if result.Outcome == Published {
				state[d.CTID] = hash
				err = state.save(file)
			}
		}
		report(result)
		if err != nil {
			return err
		}
	}
	return nil
}

// state has the hashes of published documents by CTID.
type state map[string]string

func load(file string) (state, error) {
	s := state{}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return nil, fmt.Errorf("state of publishing %s: %w", file, err)
	}
	return s, nil
}

func (s state) save(file string) error {
	text, err := json.MarshalIndent(maps.Clone(s), "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(file, append(text, '\n'), 0o600)
}

// Attempts to send a document, and the pauses between them.
const (
	attempts   = 5
	firstPause = 2 * time.Second
	maxPause   = 5 * time.Minute
)

// send publishes a document, if need be in several attempts.
func (a *Assistant) send(ctx context.Context, d Document) (Outcome, []string, error) {
	body, err := json.Marshal(map[string]any{
		"PublishForOrganizationIdentifier": a.Organization, "Publish": true, "GraphInput": json.RawMessage(d.Graph),
	})
	if err != nil {
		return "", nil, err
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		status, header, answer, err := a.post(ctx, a.Address+"/"+classes[d.Resource]+"/publishGraph", body)
		switch {
		case ctx.Err() != nil:
			return "", nil, ctx.Err()
		case err == nil && (status == http.StatusUnauthorized || status == http.StatusForbidden):
			return "", nil, fmt.Errorf("%w: it answered %d", ErrKey, status)
		case err == nil && status != http.StatusTooManyRequests && status < 500:
			outcome, messages := a.outcome(status, answer)
			return outcome, messages, nil
		case attempt == attempts && err != nil:
			return "", nil, fmt.Errorf("%w: %s", ErrUnreachable, a.hide(err.Error()))
		case attempt == attempts:
			return "", nil, fmt.Errorf("%w: it answered %d", ErrUnreachable, status)
		}
		if err := a.Pause(ctx, max(pause, after(header))); err != nil {
			return "", nil, err
		}
		pause *= 2
	}
}

// after returns the pause that an answer asks for; 0 for none.
func after(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds > 0 {
		return min(time.Duration(min(seconds, 1<<20))*time.Second, maxPause)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(time.Until(date), maxPause)
	}
	return 0
}

// maxAnswer limits how much of an answer is read, in bytes.
const maxAnswer = 1 << 20

// client follows no redirects, so that the key reaches nobody else.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (a *Assistant) post(ctx context.Context, address string, body []byte) (int, http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, a.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	request.Header.Set("Authorization", "ApiToken "+a.Key)
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, response.Header, answer, err
}

// outcome reads an answer.
func (a *Assistant) outcome(status int, answer []byte) (Outcome, []string) {
	var parsed struct {
		Successful *bool
		Messages   []any
	}
	unreadable := json.Unmarshal(answer, &parsed) != nil
	messages := []string{}
	for _, m := range parsed.Messages {
		messages = append(messages, a.hide(fmt.Sprint(m)))
	}
	if status == http.StatusOK && parsed.Successful != nil && *parsed.Successful {
		return Published, messages
	}
	if len(messages) == 0 {
		messages = append(messages, fmt.Sprintf("the registry answered %d without a message", status))
	}
	if unreadable {
		messages = []string{fmt.Sprintf("the registry answered %d, and not in JSON", status)}
	}
	return Refused, messages
}

// hide removes the key from a text.
func (a *Assistant) hide(text string) string {
	if a.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, a.Key, "…")
}
