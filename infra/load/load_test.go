package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"skillscurriculum/pkg/api"
)

// service responds as the contract requires and counts units, but keeps an account that is
// wrong by as many units as lies says.
type service struct {
	mu   sync.Mutex
	used int
	lies int
	ids  int
}

const window = 4_000_000_000

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	route, err := api.Match(r.Method, r.URL.EscapedPath())
	if err != nil || route.Operation == nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	cost := route.Operation.Cost.UpFront()
	s.used += cost
	w.Header()[api.HeaderCost] = []string{fmt.Sprint(cost)}
	w.Header()[api.HeaderReset] = []string{fmt.Sprint(window)}
	w.Header()[api.HeaderLimit] = []string{"1000"}
	w.WriteHeader(route.Operation.Status)
	if route.Operation.ID == "getCustomerUsage" {
		_ = json.NewEncoder(w).Encode(map[string]any{"window": map[string]any{
			"used": s.used + s.lies, "resetsAt": time.Unix(window, 0).UTC(), "lengthSeconds": 60,
		}})
		return
	}
	s.ids++
	fmt.Fprintf(w, `{"id":"id_%d","defaultSectionId":"sec_%d"}`, s.ids, s.ids)
}

func TestRun(t *testing.T) {
	for _, lies := range []int{0, 1} {
		server := httptest.NewServer(&service{lies: lies})
		defer server.Close()
		responses, accounts, err := Run(t.Context(), Plan{
			BaseURL: server.URL + "/v1", Customers: []Customer{{ID: "cus_1", Key: "k"}}, PerSecond: 200, Duration: time.Second, Floor: server.URL + "/v1/jobs",
		})
		if err != nil {
			t.Fatal(err)
		}
		operations := map[string]int{}
		for _, a := range responses {
			operations[a.Operation]++
			if a.Wrong != "" || a.Status == 0 {
				t.Fatalf("%+v", a)
			}
		}
		if operations[NoOp] == 0 || operations["createCourse"] == 0 || operations["getCourse"] == 0 {
			t.Errorf("%d responses: %v", len(responses), operations)
		}
		// The no-op calls are nobody's.
		noOp := operations[NoOp] * api.Of("listJobs").Cost.Base
		accounts[0].Used[window] -= noOp
		mismatches := accounts[0].Mismatches()
		if (len(mismatches) > 0) != (lies > 0) {
			t.Errorf("lies %d: mismatches %v", lies, mismatches)
		}
	}
}

func TestRunTellsWhatIsWrong(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/usage") {
			fmt.Fprint(w, `{"window":{"resetsAt":"2026-11-21T08:00:00Z","lengthSeconds":60}}`)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer server.Close()
	responses, _, err := Run(t.Context(), Plan{BaseURL: server.URL + "/v1", Customers: []Customer{{"cus_1", "k"}}, PerSecond: 20, Duration: time.Second / 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range responses {
		if a.Operation != "getCustomerUsage" && !strings.Contains(a.Wrong, "502") {
			t.Errorf("%+v", a)
		}
	}
}
