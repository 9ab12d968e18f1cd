package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
)

// service answers with what it was given, one response for each attempt, and keeps
// what it was asked.
type service struct {
	t         *testing.T
	responses []answer
	asked     []*http.Request
	bodies    []string
}

type answer struct {
	status int
	header map[string]string
	body   string
}

// lost is an attempt whose response does not arrive.
var lost = answer{}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Error(err)
	}
	s.asked, s.bodies = append(s.asked, r), append(s.bodies, string(body))
	if len(s.responses) == 0 {
		s.t.Errorf("%s %s: one attempt too many", r.Method, r.URL)
		panic(http.ErrAbortHandler)
	}
	a := s.responses[0]
	s.responses = s.responses[1:]
	if a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

func serve(t *testing.T, responses ...answer) (*service, *client.Client) {
	s := &service{t: t, responses: responses}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	// Without keep-alive net/http sends nothing again by itself.
	return s, &client.Client{
		BaseURL: server.URL + "/v1", Key: "key", HTTP: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
}

func problem(code catalog.Code) answer {
	p := api.NewProblem("", code, "Detail.", "/v1/x", "req_1", catalog.FieldError{
		Location: "body.name", Message: "must not be blank",
	})
	body, _ := json.Marshal(p)
	return answer{p.Status, map[string]string{"Content-Type": api.ProblemMediaType, "Retry-After": "0"}, string(body)}
}

func TestDo(t *testing.T) {
	s, c := serve(t, answer{status: 201, body: `{"id":"crs_1","name":"A"}`})
	course, err := client.Do[catalog.Course](t.Context(), c, client.Request{
		Operation: "createCourse", Body: map[string]any{"name": "A", "code": "B"}, Header: http.Header{"If-Match": {`"x"`}},
	})
	if err != nil || course.ID != "crs_1" || course.Name != "A" {
		t.Fatalf("%+v, %v", course, err)
	}
	r := s.asked[0]
	if r.Method != "POST" || r.URL.Path != "/v1/courses" || r.Header.Get("X-API-Key") != "key" ||
		r.Header.Get("Content-Type") != "application/json" ||
		len(r.Header.Get("Idempotency-Key")) < 20 || r.Header.Get("If-Match") != `"x"` ||
		s.bodies[0] != `{"code":"B","name":"A"}` {
		t.Errorf("%s %s %v %s", r.Method, r.URL, r.Header, s.bodies[0])
	}
}

func TestAddresses(t *testing.T) {
	c := &client.Client{BaseURL: "https://host/v1", Key: "key"}
	for _, test := range []struct {
		in   client.Request
		want string
	}{
		{client.Request{Operation: "getSection", IDs: []string{"crs_1", "a/b"}},
			"https://host/v1/courses/crs_1/sections/a%2Fb"},
		{client.Request{Operation: "getCustomerUsage", IDs: []string{"cus_1"}}, "https://host/v1/customers/cus_1/usage"},
		{client.Request{Operation: "listJobs", Query: url.Values{"limit": {"5"}}}, "https://host/v1/jobs?limit=5"},
		{client.Request{Operation: "getJob", Href: "/v1/jobs/job_1"}, "https://host/v1/jobs/job_1"},
		{client.Request{Operation: "listJobs", Href: "/v1/jobs?limit=5&offset=5"}, "https://host/v1/jobs?limit=5&offset=5"},
	} {
		r, err := c.HTTPRequest(t.Context(), test.in)
		if err != nil || r.URL.String() != test.want {
			t.Errorf("%+v: %v, %v", test.in, r, err)
		}
	}
	for _, in := range []client.Request{
		{Operation: "none"}, {Operation: "getJob"}, {Operation: "getJob", IDs: []string{""}},
		{Operation: "listJobs", IDs: []string{"x"}}, {Operation: "createJob", Body: func() {}},
	} {
		if _, err := c.Send(t.Context(), in); err == nil {
			t.Errorf("%+v is taken", in)
		}
	}
	if r, err := c.HTTPRequest(t.Context(), client.Request{Operation: "getOpenAPI"}); err != nil ||
		r.Header[api.HeaderKey] != nil {
		t.Errorf("the key goes where none is asked for: %v, %v", r, err)
	}
}

// What is tried again, and what is not.
func TestRetries(t *testing.T) {
	created := answer{status: 201, body: `{"id":"x"}`}
	for _, test := range []struct {
		name, operation string
		responses       []answer
		status, left    int // status 0: no response
	}{
		{"a POST whose response is lost", "createJob", []answer{lost, created}, 201, 0},
		{"a refused call", "createJob", []answer{
			problem(catalog.RateLimitExceeded), problem(catalog.Unavailable), created,
		}, 201, 0},
		{"a page of a proxy", "createJob", []answer{{status: 502, body: "<html>"}, created}, 201, 0},
		{"what will not become better", "createJob", []answer{problem(catalog.ValidationFailed), created}, 422, 1},
		{"four times and no more", "getJob", []answer{lost, lost, lost, problem(catalog.Internal), created}, 500, 1},
		{"no response at all", "getJob", []answer{lost, lost, lost, lost, created}, 0, 1},
		{"a longer wait than a minute", "getJob", []answer{
			{status: 429, header: map[string]string{"Retry-After": "61"}}, created,
		}, 429, 1},
		{"deleted by the attempt before", "deleteJob", []answer{lost, problem(catalog.NotFound)}, 204, 0},
		{"deleted by somebody else", "deleteJob", []answer{
			problem(catalog.RateLimitExceeded), problem(catalog.NotFound),
		}, 404, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, c := serve(t, test.responses...)
			in := client.Request{Operation: test.operation}
			if api.Of(test.operation).HasBody() {
				in.Body = map[string]string{}
			} else {
				in.IDs = []string{"job_1"}
			}
			response, err := c.Call(t.Context(), in)
			got := 0
			if response != nil {
				got = response.Status
			}
			var failed *client.Error
			if got != test.status || len(s.responses) != test.left || (got < 300 && got > 0) != (err == nil) ||
				errors.As(err, &failed) && failed.Status != got {
				t.Errorf("status %d with %d attempts left: %v", got, len(s.responses), err)
			}
			keys := map[string]bool{}
			for _, r := range s.asked {
				keys[r.Header.Get("Idempotency-Key")] = true
			}
			if len(keys) != 1 {
				t.Errorf("one call has the idempotency keys %v", keys)
			}
		})
	}
}

func TestErrorSaysWhatIsWrong(t *testing.T) {
	_, c := serve(t, problem(catalog.ValidationFailed))
	_, err := client.Do[catalog.Job](t.Context(), c, client.Request{Operation: "createJob", Body: 1})
	var failed *client.Error
	if !errors.As(err, &failed) || failed.Code != catalog.ValidationFailed || failed.Errors[0].Location != "body.name" {
		t.Fatalf("%#v", err)
	}
	if want := "422 validation_failed: Detail.; body.name: must not be blank (request req_1)"; err.Error() != want {
		t.Errorf("%s, want %s", err, want)
	}
}

func TestWaitsEndWithTheContext(t *testing.T) {
	s, c := serve(t, answer{status: 503, header: map[string]string{"Retry-After": "30"}})
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if response, err := c.Call(ctx, client.Request{Operation: "listJobs"}); err == nil || response.Status != 503 ||
		len(s.asked) != 1 {
		t.Errorf("%v, %v", response, err)
	}
}

func TestList(t *testing.T) {
	job := func(n int) string { return fmt.Sprintf(`{"id":"job_%d"}`, n) }
	s, c := serve(t,
		answer{
			status: 200, header: map[string]string{"Link": `</v1/jobs?limit=2&offset=0>; rel="first", </v1/jobs?limit=2&offset=2>; rel="next"`}, body: `{"data":[` + job(1) + `,` + job(2) + `]}`,
		},
		answer{
			status: 200, header: map[string]string{"Link": `</v1/jobs?limit=2&offset=0>; rel="first"`},
			body: `{"data":[` + job(3) + `]}`,
		},
		answer{status: 200, body: `[` + job(4) + `]`},
		answer{status: 200, body: `{"data":[]}`},
		answer{status: 200, body: `{}`},
		problem(catalog.NotFound),
	)
	ids := func(limit int) (ids []string) {
		for job, err := range client.List[catalog.Job](t.Context(), c, client.Request{
			Operation: "listJobs", Query: url.Values{"limit": {"2"}},
		}) {
			if err != nil {
				return append(ids, "error")
			}
			if ids = append(ids, job.ID); len(ids) == limit {
				break
			}
		}
		return ids
	}
	for _, want := range [][]string{{"job_1", "job_2", "job_3"}, {"job_4"}, nil, {"error"}, {"error"}} {
		if got := ids(9); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if s.asked[1].URL.RawQuery != "limit=2&offset=2" {
		t.Errorf("second page: %s", s.asked[1].URL)
	}
	_, c = serve(t, answer{
		status: 200, header: map[string]string{"Link": `</v1/jobs?offset=1>; rel="next"`}, body: `{"data":[` + job(1) + `]}`,
	})
	if got := ids(1); len(got) != 1 {
		t.Errorf("a page too many: %v", got)
	}
}

func TestChanges(t *testing.T) {
	s, c := serve(t,
		answer{
			status: 200, body: `{"data":[{"cursor":"1","change":"created","resource":"Job","id":"job_1","href":"/v1/jobs/job_1"}],"next":"1","hasMore":true}`,
		},
		answer{status: 200, body: `{"data":[{"cursor":"2","change":"deleted"}],"next":"2","hasMore":false}`},
	)
	var cursors []string
	for change, err := range c.Changes(t.Context(), "0") {
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, change.Cursor)
	}
	if !slices.Equal(cursors, []string{"1", "2"}) || s.asked[0].URL.Query().Get("since") != "0" ||
		s.asked[1].URL.Query().Get("since") != "1" {
		t.Errorf("%v: %s, %s", cursors, s.asked[0].URL, s.asked[1].URL)
	}
}

func TestWaitExtraction(t *testing.T) {
	s, c := serve(t,
		answer{status: 200, body: `{"extractionId":"ext_1","processingStatus":"PENDING"}`},
		answer{status: 200, body: `{"extractionId":"ext_1","processingStatus":"FAILED","failure":{"code":"not_found"}}`},
	)
	got, err := c.WaitExtraction(t.Context(), "ext_1")
	if err != nil || got.ExtractionID != "ext_1" || got.Failure.Code != catalog.DocumentNotFound ||
		s.asked[0].URL.Query().Get("include") != "evidence" {
		t.Errorf("%+v, %v", got, err)
	}
	_, c = serve(t, answer{status: 200, body: `{"id":"sec_1"}`})
	section, err := client.Wait[catalog.Section](t.Context(), c, client.Request{
		Operation: "getSection", IDs: []string{"crs_1", "sec_1"},
	})
	if err != nil || section.ID != "sec_1" {
		t.Errorf("%+v, %v", section, err)
	}
	_, c = serve(t, answer{status: 200, body: `{"processingStatus":"PROCESSING"}`})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.WaitExtraction(ctx, "ext_1"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// The example of the Standard Webhooks specification.
func TestVerifyWebhook(t *testing.T) {
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"test": 2432232314}`
	const signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
	sent := time.Unix(1614265330, 0)
	header := func(id, timestamp, signature string) http.Header {
		h := http.Header{}
		h.Set("webhook-id", id)
		h.Set("webhook-timestamp", timestamp)
		h.Set("webhook-signature", signature)
		return h
	}
	const id, at = "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330"
	other := strings.Replace(signature, "g0h", "g1h", 1)
	for _, test := range []struct {
		name, secret, body string
		header             http.Header
		now                time.Time
		ok                 bool
	}{
		{"as in the specification", secret, body, header(id, at, signature), sent, true},
		{"several signatures", secret, body, header(id, at, other+" v2,x "+signature), sent, true},
		{"a clock that is 5 minutes behind", secret, body, header(id, at, signature), sent.Add(-5 * time.Minute), true},
		{"too old", secret, body, header(id, at, signature), sent.Add(5*time.Minute + 1), false},
		{"too new", secret, body, header(id, at, signature), sent.Add(-5*time.Minute - 1), false},
		{"another secret", "whsec_" + strings.Repeat("A", 32), body, header(id, at, signature), sent, false},
		{"another body", secret, body + " ", header(id, at, signature), sent, false},
		{"another id", secret, body, header("msg_2", at, signature), sent, false},
		{"another time", secret, body, header(id, "1614265331", signature), sent, false},
		{"another signature", secret, body, header(id, at, other), sent, false},
		{"another version", secret, body, header(id, at, "v1a"+signature[2:]), sent, false},
		{"no signature", secret, body, header(id, at, ""), sent, false},
		{"no headers", secret, body, http.Header{}, sent, false},
		{"no secret", "", body, header(id, at, signature), sent, false},
	} {
		message, err := client.VerifyWebhook(test.secret, test.header, []byte(test.body), test.now)
		if (err == nil) != test.ok || test.ok && message.ID != id {
			t.Errorf("%s: %+v, %v", test.name, message, err)
		}
		if err != nil && test.secret != "" && !errors.Is(err, client.ErrSignature) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
