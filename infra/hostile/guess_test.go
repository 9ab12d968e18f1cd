package hostile

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// trips counts DynamoDB calls by operation, on which the time of a response depends.
type trips struct {
	mu sync.Mutex
	of map[string]int
}

func (c *trips) hook(o *sdk.Options) {
	step := middleware.InitializeMiddlewareFunc("trips", func(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		c.mu.Lock()
		if c.of == nil {
			c.of = map[string]int{}
		}
		c.of[awsmiddleware.GetOperationName(ctx)]++
		c.mu.Unlock()
		return next.HandleInitialize(ctx, in)
	})
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) error { return stack.Initialize.Add(step, middleware.After) })
}

// taken returns the calls since its last call.
func (c *trips) taken() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.of
	c.of = nil
	return of
}

// Responses to guessed keys are identical, byte by byte, and make the same calls of the table.
func TestKeyGuessing(t *testing.T) {
	t.Parallel()
	var asked trips
	s := newService(t, asked.hook)
	address := s.listen(t)
	revoked, key := s.customer(t, s.org, catalog.WriteScope)
	now := catalog.Time(1)
	key.RevokedAt = &now
	if err := s.store.SaveKey(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	last := "0"
	if strings.HasSuffix(s.key, last) {
		last = "1"
	}
	guesses := map[string]string{
		"random":         ids.NewSecret(),
		"almost":         s.key[:len(s.key)-1] + last,
		"prefix":         s.key[:len(s.key)-1],
		"longer":         s.key + "0",
		"upper":          strings.ToUpper(s.key),
		"hash":           catalog.HashSecret(s.key),
		"revoked":        revoked,
		"no prefix":      strings.TrimPrefix(s.key, catalog.SecretPrefix),
		"very long":      strings.Repeat("k", 5000),
		"of the table":   "k#" + catalog.HashSecret(s.key),
		"with a space":   s.key[:10] + " " + s.key[10:],
		"another script": "ключ",
	}
	s.call(t, 200, "GET", "/courses", "")
	asked.taken()
	var first reply
	for name, guess := range guesses {
		for _, path := range []string{"/courses", "/courses/crs_000000000000000000000000", "/nowhere"} {
			got, err := s.do(request{method: "GET", path: path, header: map[string][]string{api.HeaderKey: {guess}}})
			if err != nil || got.status != 401 {
				t.Fatalf("%s: %d %s %v", name, got.status, got.body, err)
			}
			got = anonymous(t, got, path)
			if first.status == 0 {
				first = got
			}
			if diff := cmp.Diff(first, got, cmp.AllowUnexported(reply{})); diff != "" {
				t.Errorf("%s on %s responds with something else: %s", name, path, diff)
			}
			calls := asked.taken()
			if name != "very long" && name != "revoked" && !maps.Equal(calls, map[string]int{"GetItem": 1}) {
				t.Errorf("%s on %s: calls %v", name, path, calls)
			}
		}
	}
	// The gateway rejects them before it invokes a function, all with the same body.
	for name, guess := range guesses {
		if name == "revoked" || name == "another script" {
			continue
		}
		c := dial(t, address)
		if _, err := c.Write([]byte("GET /v1/courses HTTP/1.1\r\nHost: x\r\nX-API-Key: " + guess + "\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		if got := responses(t, c, 1); len(got) != 1 || got[0].status != 401 || problem(got[0]) != nil {
			t.Errorf("%s at the gateway: %+v", name, got)
		}
	}
}

// anonymous removes the parts of a response that differ every time.
func anonymous(t *testing.T, a reply, path string) reply {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal(a.body, &body); err != nil {
		t.Fatal(err)
	}
	if body["instance"] != api.BasePath+path {
		t.Errorf("instance %v", body["instance"])
	}
	delete(body, "requestId")
	delete(body, "instance")
	packed, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	header := maps.Clone(a.header)
	for _, name := range []string{api.HeaderRequestID, api.HeaderRemaining, api.HeaderReset, api.HeaderCost} {
		delete(header, name)
	}
	return reply{a.status, header, packed}
}

// A record of another organization cannot be told from one that never existed: the response
// and the calls of the table are the same.
func TestIDGuessing(t *testing.T) {
	t.Parallel()
	var asked trips
	s := newService(t, asked.hook)
	fixture(t, s)
	stranger := *s
	stranger.org = catalog.OrgID(ids.New("org_"))
	stranger.key, _ = stranger.customer(t, stranger.org, catalog.WriteScope)
	theirs := fixture(t, &stranger)
	for _, path := range []string{
		"/courses/{courseId}", "/courses/{courseId}/sections/{sectionId}", "/jobs/{jobId}", "/credentials/{credentialId}", "/programs/{programId}",
		"/transfer-packages/{packageId}", "/transfer-packages/{packageId}/courses", "/transfer-packages/{packageId}/courses/{transferCourseId}",
		"/reports/{reportId}", "/syllabus-extractions/{extractionId}", "/documents/{documentId}",
	} {
		ask := func(known map[string]string) (string, reply, map[string]int) {
			at := path
			for name, id := range known {
				at = strings.ReplaceAll(at, "{"+name+"}", id)
			}
			asked.taken()
			got := s.call(t, 404, "GET", at, "")
			return at, got, asked.taken()
		}
		never := map[string]string{}
		for name, id := range theirs {
			never[name] = like(name, id)
		}
		foreignPath, foreign, foreignTrips := ask(theirs)
		neverPath, nothing, neverTrips := ask(never)
		if diff := cmp.Diff(anonymous(t, foreign, foreignPath), anonymous(t, nothing, neverPath), cmp.AllowUnexported(reply{})); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
		if diff := cmp.Diff(foreignTrips, neverTrips); diff != "" {
			t.Errorf("%s: another's record and none ask the table differently: %s", path, diff)
		}
	}
}

// like returns an unused id of the same kind and number.
func like(parameter, id string) string {
	kind := map[string]catalog.Kind{
		"courseId": catalog.CourseKind, "sectionId": catalog.SectionKind, "jobId": catalog.JobKind, "credentialId": catalog.CredentialKind,
		"programId": catalog.ProgramKind, "packageId": catalog.TransferPackageKind, "reportId": catalog.ReportKind,
	}[parameter]
	if number, ok := catalog.Sequence(kind, id); ok {
		return ids.Sequenced(kind, number)
	}
	return id[:len(id)-4] + "0000"
}
