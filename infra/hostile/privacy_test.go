package hostile

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot/extractor"
	"skillscurriculum/pkg/boot/group"
	"skillscurriculum/pkg/boot/sweeper"
	"skillscurriculum/pkg/catalog"
)

// Words that only the customer may read. They occur nowhere else.
const (
	secretName     = "Qwertzuiopname"
	secretText     = "Asdfghjkltext"
	secretQuery    = "Yxcvbnmquery"
	secretKey      = "Poiuztrewqkey"
	secretSyllabus = "Lkjhgfdsasyllabus"
	secretHref     = "Mnbvcxyhref"
)

var secrets = []string{secretName, secretText, secretQuery, secretKey, secretSyllabus, secretHref}

// outage makes every call of DynamoDB fail while it is on.
type outage struct{ on atomic.Bool }

func (f *outage) hook(o *sdk.Options) {
	step := middleware.InitializeMiddlewareFunc("outage", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		if f.on.Load() {
			return middleware.InitializeOutput{}, middleware.Metadata{}, errors.New("connection refused")
		}
		return next.HandleInitialize(ctx, in)
	})
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return stack.Initialize.Add(step, middleware.After) })
}

// Requests of every kind and outcome, and extractions of every outcome, leave none of their
// contents in the logs. Errors repeat only parts of the same request, where they point at them.
func TestPrivacy(t *testing.T) {
	t.Parallel()
	var broken outage
	s := newService(t, broken.hook)
	s.config.AllowedHosts = nil
	s.config.RetryDelay = time.Millisecond
	shelf := httptest.NewServer(http.HandlerFunc(hostileShelf))
	defer shelf.Close()
	host := strings.TrimPrefix(shelf.URL, "http://")
	s.config.AllowedHosts = []string{host}
	s.server.CheckHref = group.New(s.config, s.store, nil).CheckHref

	body := fmt.Sprintf(`{"name":%q,"code":"C","description":%q}`, secretName, secretText)
	course := s.call(t, 201, "POST", "/courses", body).text(t, "id")
	header := func(pairs ...string) map[string][]string {
		h := map[string][]string{api.HeaderKey: {s.key}, "Content-Type": {"application/json"}}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = []string{pairs[i+1]}
		}
		return h
	}
	long := strings.Repeat(secretName, 100)
	for _, down := range []bool{false, true} {
		for _, r := range []request{
			{method: "GET", path: "/courses/" + course},
			{method: "GET", path: "/courses", query: "limit=" + secretQuery},
			{method: "GET", path: "/courses", query: "limit=%zz" + secretQuery},
			{method: "GET", path: "/skills", query: "query=" + secretQuery},
			{method: "GET", path: "/labor-market", query: "cipCodes=" + secretQuery},
			{method: "GET", path: "/changes", query: "since=" + secretQuery},
			{method: "POST", path: "/courses", body: []byte(body)},
			{method: "POST", path: "/courses", body: []byte(body[:len(body)-4])},
			{method: "POST", path: "/courses", body: []byte(`{"` + secretText + `":1,"` + secretText + `":1}`)},
			{method: "POST", path: "/courses", body: []byte(fmt.Sprintf(`{"name":%q}`, long))},
			{method: "POST", path: "/courses", body: []byte(body), header: header("Content-Type", "text/"+secretText)},
			{method: "POST", path: "/courses", body: []byte(body), header: header("Idempotency-Key", secretKey)},
			{method: "POST", path: "/courses", body: []byte(fmt.Sprintf(`{"name":%q,"code":"D"}`, secretName)), header: header("Idempotency-Key", secretKey)},
			{method: "POST", path: "/courses", body: []byte(body), header: header("Idempotency-Key", strings.Repeat(secretKey, 50))},
			{method: "PATCH", path: "/courses/" + course, body: []byte(body), header: header("If-Match", secretKey)},
			{method: "POST", path: "/syllabus-extractions", body: []byte(fmt.Sprintf(`{"syllabusHref":"https://%s:%s@example.edu/"}`, secretHref, secretHref))},
			{method: "POST", path: "/jobs", body: []byte(fmt.Sprintf(`{"name":%q,"employerId":%q,"salaryMin":2,"salaryMax":1}`, secretName, secretName))},
			{method: "GET", path: "/courses", header: header(api.HeaderKey, secretKey)},
			{method: "GET", path: "/courses/" + course + "/sections/sec_x", query: "include=" + secretQuery},
		} {
			if r.header == nil {
				r.header = header()
			}
			broken.on.Store(down)
			got, err := s.do(r)
			broken.on.Store(false)
			if err != nil {
				t.Fatalf("%v: %v", r, err)
			}
			if down && r.body == nil && got.status < 400 && !strings.HasPrefix(r.path, "/skills") {
				t.Errorf("%v: %d while the table is down", r, got.status)
			}
			if got.status >= 400 {
				silent(t, r.String(), got)
			}
		}
	}

	worker, err := extractor.New(s.config, s.store, slog.New(slog.NewJSONHandler(s.logs, nil)))
	if err != nil {
		t.Fatal(err)
	}
	sweep := sweeper.New(s.config, s.store, slog.New(slog.NewJSONHandler(s.logs, nil)))
	for path, want := range hostileShelves {
		href := shelf.URL + path
		accepted := s.call(t, 202, "POST", "/syllabus-extractions", fmt.Sprintf(`{"name":%q,"syllabusHref":%q}`, secretName, href))
		s.extract(t, worker.Handle, accepted.text(t, "extractionId"), path, want)
	}
	accepted := s.call(t, 202, "POST", "/syllabus-extractions", fmt.Sprintf(`{"text":"Students program in Python. %s"}`, secretText))
	id := accepted.text(t, "extractionId")
	broken.on.Store(true)
	_, _ = worker.Handle(t.Context(), message(t, s.org, id))
	_, _ = sweep.Handle(t.Context(), json.RawMessage(`{"source":"aws.events"}`))
	broken.on.Store(false)
	s.extract(t, worker.Handle, id, "a text", "")
	letter, err := json.Marshal(message(t, s.org, id))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sweep.Handle(t.Context(), letter); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(s.logs.String()) {
		for _, secret := range append(slices.Clone(secrets), s.key, catalog.HashSecret(s.key)) {
			if strings.Contains(strings.ToLower(line), strings.ToLower(secret)) {
				t.Errorf("%s is in the log: %s", secret, line)
			}
		}
	}
	if n := strings.Count(s.logs.String(), "\n"); n < 60 {
		t.Errorf("only %d lines were logged", n)
	}
}

// silent checks that an error repeats nothing except in the errors that point into the request
// and in the path that it names.
func silent(t *testing.T, what string, got reply) {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal(got.body, &p); err != nil {
		t.Fatalf("%s: %v: %s", what, err, got.body)
	}
	delete(p, "errors")
	rest, _ := json.Marshal(p)
	headers, _ := json.Marshal(got.header)
	for _, secret := range secrets {
		if bytes.Contains(rest, []byte(secret)) || bytes.Contains(headers, []byte(secret)) {
			t.Errorf("%s: %s is in the response %s %s", what, secret, rest, headers)
		}
	}
}

func message(t *testing.T, org catalog.OrgID, id string) events.SQSEvent {
	t.Helper()
	job, err := json.Marshal(catalog.ExtractionJob{OrganizationID: org, Kind: catalog.SyllabusExtractionKind, ID: id})
	if err != nil {
		t.Fatal(err)
	}
	return events.SQSEvent{Records: []events.SQSMessage{{MessageId: "m", Body: string(job)}}}
}

// hostileShelves maps hostile documents to the failure of their extraction, "" for COMPLETED.
var hostileShelves = map[string]catalog.FailureCode{
	"/good.txt":                   "",
	"/page-that-says-pdf.pdf":     "",
	"/pdf-that-is-none":           catalog.Malformed,
	"/bomb.txt":                   catalog.TooLarge,
	"/endless":                    catalog.TooLarge,
	"/shorter-than-said":          catalog.Unreachable,
	"/inwards":                    catalog.ForbiddenAddress,
	"/to-a-file":                  catalog.ForbiddenAddress,
	"/round-and-round":            catalog.Unreachable,
	"/gone":                       catalog.DocumentNotFound,
	"/login":                      catalog.LoginRequired,
	"/nothing":                    catalog.EmptyDocument,
	"/binary":                     catalog.UnsupportedType,
	"/" + secretHref + "/missing": catalog.DocumentNotFound,
}

func hostileShelf(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/good.txt":
		_, _ = io.WriteString(w, "Syllabus. Students write programs in Python. "+secretSyllabus)
	case "/page-that-says-pdf.pdf":
		w.Header().Set("Content-Type", "application/pdf")
		_, _ = io.WriteString(w, "<html><body><p>Students write programs in Python and SQL. "+secretSyllabus+"</p></body></html>")
	case "/pdf-that-is-none":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "%PDF-1.7\n"+secretSyllabus)
	case "/bomb.txt":
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		for range 100 {
			if _, err := packed.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
		_ = packed.Close()
	case "/endless":
		w.Header().Set("Content-Type", "text/plain")
		for {
			if _, err := io.WriteString(w, strings.Repeat(secretSyllabus+" ", 1000)); err != nil {
				return
			}
		}
	case "/shorter-than-said":
		w.Header().Set("Content-Length", "100000")
		_, _ = io.WriteString(w, secretSyllabus)
	case "/inwards":
		http.Redirect(w, r, "http://169.254.169.254/"+secretHref, http.StatusFound)
	case "/to-a-file":
		http.Redirect(w, r, "file:///etc/passwd?"+secretHref, http.StatusFound)
	case "/round-and-round":
		http.Redirect(w, r, "/round-and-round?"+secretHref, http.StatusFound)
	case "/gone":
		w.WriteHeader(http.StatusGone)
		_, _ = io.WriteString(w, secretSyllabus)
	case "/login":
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, secretSyllabus)
	case "/nothing":
		w.Header().Set("Content-Type", "text/plain")
	case "/binary":
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, "\x89PNG\r\n\x1a\n"+secretSyllabus)
	default:
		http.NotFound(w, r)
	}
}

// extract runs an extraction to its end, however often it returns to the queue.
func (s *service) extract(t *testing.T, handle func(context.Context, events.SQSEvent) (events.SQSEventResponse, error), id, what string, want catalog.FailureCode) {
	t.Helper()
	var got reply
	for range 4 {
		if _, err := handle(t.Context(), message(t, s.org, id)); err != nil {
			t.Fatal(err)
		}
		got = s.call(t, 200, "GET", "/syllabus-extractions/"+id, "")
		if status := got.text(t, "processingStatus"); status == string(catalog.Completed) || status == string(catalog.Failed) {
			break
		}
	}
	if code := got.text(t, "failure", "code"); code != string(want) || (code == "") != (got.text(t, "processingStatus") == string(catalog.Completed)) {
		t.Errorf("%s: %s, want %q", what, got.body, want)
	}
	for _, secret := range secrets {
		if strings.Contains(got.text(t, "failure", "message"), secret) {
			t.Errorf("%s: the failure repeats %s: %s", what, secret, got.body)
		}
	}
}
