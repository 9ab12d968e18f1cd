package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const secret = "key-that-nobody-sees"

// stub answers as the Assistant does and logs what it was sent.
type stub struct {
	*Assistant
	log    []string
	pauses []time.Duration
	answer func(w http.ResponseWriter, line string, attempt int)
	file   string
}

func newStub(t *testing.T) *stub {
	s := &stub{file: filepath.Join(t.TempDir(), "state.json")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			PublishForOrganizationIdentifier string
			Publish                          bool
			GraphInput                       struct {
				Graph []map[string]any `json:"@graph"`
			}
		}
		err := json.NewDecoder(r.Body).Decode(&body)
		if err != nil || !body.Publish || body.PublishForOrganizationIdentifier != "ce-org" ||
			r.Header.Get("Authorization") != "ApiToken "+secret || r.Method != http.MethodPost {
			t.Errorf("%s %s %+v: %v", r.Method, r.Header, body, err)
		}
		line := r.URL.Path + " " + body.GraphInput.Graph[0]["ceterms:ctid"].(string)
		attempt := 1
		for _, sent := range s.log {
			if sent == line {
				attempt++
			}
		}
		s.log = append(s.log, line)
		if s.answer != nil {
			s.answer(w, line, attempt)
			return
		}
		fmt.Fprint(w, `{"Successful":true,"Messages":[]}`)
	}))
	t.Cleanup(server.Close)
	s.Assistant = &Assistant{
		Address: server.URL + "/assistant", Key: secret, Organization: "ce-org", Timeout: time.Minute,
		Pause: func(_ context.Context, d time.Duration) error {
			s.pauses = append(s.pauses, d)
			return nil
		},
	}
	return s
}

func document(resource Resource, ctid string) Document {
	return Document{resource, ctid, "Name of " + ctid, []byte(`{"@graph":[{"ceterms:ctid":"` + ctid + `"}]}`)}
}

var documents = []Document{
	document(Articulation, "ce-6"), document(Credential, "ce-5"), document(Program, "ce-4"), document(Course, "ce-3"),
	document(Framework, "ce-2"), document(Organization, "ce-org"),
}

// publish runs a publication and returns its outcomes by CTID.
func (s *stub) publish(t *testing.T, want error) map[string]Result {
	t.Helper()
	s.log, s.pauses = nil, nil
	results := map[string]Result{}
	err := s.Run(t.Context(), documents, s.file, func(r Result) { results[r.CTID] = r })
	if !errors.Is(err, want) {
		t.Fatalf("%v, not %v", err, want)
	}
	if said := fmt.Sprint(err, results); strings.Contains(said, secret) {
		t.Errorf("it shows the key: %s", said)
	}
	return results
}

func TestRunPublishesInOrderAndNothingTwice(t *testing.T) {
	s := newStub(t)
	s.DryRun = true
	if results := s.publish(t, nil); len(s.log) > 0 || results["ce-3"].Outcome != Pending {
		t.Errorf("a dry run sent %q: %v", s.log, results)
	}
	s.DryRun = false
	s.publish(t, nil)
	want := []string{
		"/assistant/organization/publishGraph ce-org", "/assistant/competencyframework/publishGraph ce-2",
		"/assistant/course/publishGraph ce-3", "/assistant/learningprogram/publishGraph ce-4",
		"/assistant/credential/publishGraph ce-5", "/assistant/transfervalue/publishGraph ce-6",
	}
	if !slices.Equal(s.log, want) {
		t.Errorf("sent %q", s.log)
	}
	if results := s.publish(t, nil); len(s.log) > 0 || results["ce-3"].Outcome != Unchanged {
		t.Errorf("sent again: %q: %v", s.log, results)
	}
	if err := os.WriteFile(s.file, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), documents, s.file, func(Result) {}); err == nil {
		t.Error("a broken state was taken")
	}
}

func TestRunGoesOnAfterARefusal(t *testing.T) {
	s := newStub(t)
	s.answer = func(w http.ResponseWriter, line string, _ int) {
		switch {
		case strings.HasSuffix(line, "ce-3"):
			fmt.Fprintf(w, `{"Successful":false,"Messages":["Name is wrong, %s"]}`, secret)
		case strings.HasSuffix(line, "ce-4"):
			w.WriteHeader(http.StatusBadRequest)
		case strings.HasSuffix(line, "ce-5"):
			http.Redirect(w, &http.Request{}, "https://elsewhere.example/", http.StatusTemporaryRedirect)
		default:
			fmt.Fprint(w, `{"Successful":true}`)
		}
	}
	results := s.publish(t, nil)
	for ctid, outcome := range map[string]Outcome{"ce-2": Published, "ce-3": Refused, "ce-4": Refused, "ce-5": Refused, "ce-6": Published} {
		if results[ctid].Outcome != outcome {
			t.Errorf("%s: %+v", ctid, results[ctid])
		}
	}
	if !slices.Equal(results["ce-3"].Messages, []string{"Name is wrong, …"}) {
		t.Error(results["ce-3"].Messages)
	}
	s.answer = nil
	s.publish(t, nil) // refused ones are sent again, and only those
	if want := 3; len(s.log) != want {
		t.Errorf("sent %q", s.log)
	}
}

func TestRunStopsAtARefusedKey(t *testing.T) {
	s := newStub(t)
	s.answer = func(w http.ResponseWriter, line string, _ int) { w.WriteHeader(http.StatusUnauthorized) }
	if s.publish(t, ErrKey); len(s.log) != 1 {
		t.Errorf("sent %q", s.log)
	}
}

func TestRunWaitsAndContinues(t *testing.T) {
	s := newStub(t)
	s.answer = func(w http.ResponseWriter, line string, attempt int) {
		if attempt < 3 && strings.HasSuffix(line, "ce-2") {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if strings.HasSuffix(line, "ce-3") {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `{"Successful":true}`)
	}
	results := s.publish(t, ErrUnreachable)
	if results["ce-2"].Outcome != Published || !slices.Equal(s.pauses[:2], []time.Duration{30 * time.Second, 30 * time.Second}) {
		t.Errorf("%v after pauses of %v", results, s.pauses)
	}
	if len(s.pauses) != 2+attempts-1 {
		t.Errorf("pauses: %v", s.pauses)
	}
	s.answer = nil
	results = s.publish(t, nil)
	if results["ce-2"].Outcome != Unchanged || results["ce-3"].Outcome != Published || len(s.log) != 4 {
		t.Errorf("sent %q: %v", s.log, results)
	}
}

func TestRunGivesUpOnAStall(t *testing.T) {
	s := newStub(t)
	s.Timeout = 20 * time.Millisecond
	released := make(chan struct{})
	s.answer = func(http.ResponseWriter, string, int) { <-released }
	s.publish(t, ErrUnreachable)
	close(released)
}

func TestLocate(t *testing.T) {
	for registry, name := range map[string]string{
		"sandbox": "sandbox", "production": "production", "https://registry.example/assistant/": "registry.example",
		"http://127.0.0.1:8080": "127.0.0.1:8080", "http://registry.example": "", "staging": "", "": "",
		"https://user@registry.example": "",
	} {
		address, got, err := Locate(registry)
		if got != name || (err == nil) != (name != "") || strings.HasSuffix(address, "/") {
			t.Errorf("%s: %s, %q, %v", registry, address, got, err)
		}
	}
}
