package rest_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
	"skillscurriculum/pkg/webhook"
)

// hooks is what the operations of webhooks need, with a queue that only remembers.
type hooks struct {
	webhook.Cipher
	mu   sync.Mutex
	sent []catalog.WebhookMessage
}

func (h *hooks) CheckURL(url string) error {
	if !strings.HasPrefix(url, "https://") {
		return fmt.Errorf("must be https")
	}
	return nil
}

func (h *hooks) Send(_ context.Context, messages []catalog.WebhookMessage) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sent = append(h.sent, messages...)
	return nil
}

func newHooks(t *testing.T) (*hooks, func(*rest.Server)) {
	t.Helper()
	cipher, err := webhook.NewCipher(strings.Repeat("key of a test", 3))
	if err != nil {
		t.Fatal(err)
	}
	h := &hooks{Cipher: cipher}
	return h, func(s *rest.Server) { s.Webhooks = h }
}

const newHook = `{"url":"https://example.org/hook","types":["course.*","extraction.failed"]}`

func TestWebhooks(t *testing.T) {
	t.Parallel()
	_, with := newHooks(t)
	s := newService(t, with)
	made := s.one.must(201, "POST", "/webhooks", newHook)
	path := "/webhooks/" + made.text("id")
	made.want("organizationId", "org_one")
	made.want("types", []string{"course.*", "extraction.failed"})
	made.want("enabled", true)
	made.want("description", nil)
	made.want("disabledReason", nil)
	if key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(made.text("secret"), "whsec_")); err != nil || len(key) != 32 {
		t.Errorf("secret %s", made.text("secret"))
	}
	if made.header("Location") != "/v1"+path {
		t.Errorf("Location %s", made.header("Location"))
	}
	read := s.one.must(200, "GET", path, "")
	read.want("secret", absent{})
	if read.header("ETag") != made.header("ETag") {
		t.Errorf("ETag %s, created with %s", read.header("ETag"), made.header("ETag"))
	}
	s.one.must(304, "GET", path, "", "If-None-Match", made.header("ETag"))
	s.one.must(200, "GET", "/webhooks", "").want("pagination.total", 1)
	s.one.must(200, "GET", "/webhooks?offset=1", "").want("data", []any{})

	s.clock.Add(1000)
	s.one.must(412, "PATCH", path, `{"enabled":false}`, "If-Match", `"other"`)
	off := s.one.must(200, "PATCH", path, `{"enabled":false,"description":" d "}`, "If-Match", read.header("ETag"))
	off.want("enabled", false)
	off.want("description", "d")
	off.want("disabledReason", nil)
	off.want("secret", absent{})
	if again := s.one.must(200, "PATCH", path, `{"enabled":false}`); again.header("ETag") != off.header("ETag") {
		t.Error("a PATCH that changes nothing changes the ETag")
	}
	s.one.must(412, "DELETE", path, "", "If-Match", read.header("ETag"))
	s.one.must(204, "DELETE", path, "", "If-Match", off.header("ETag"))
	s.one.must(404, "GET", path, "")
	s.one.must(200, "GET", "/webhooks", "").want("data", []any{})
	s.one.must(200, "GET", "/changes", "").want("data", []any{})
}

func TestWebhookRules(t *testing.T) {
	t.Parallel()
	_, with := newHooks(t)
	s := newService(t, with)
	path := "/webhooks/" + s.one.must(201, "POST", "/webhooks", newHook).text("id")
	many := slices.Repeat([]string{"course.*"}, 51)
	long, _ := json.Marshal(map[string]any{"url": "https://example.org", "types": many})
	for body, where := range map[string]string{
		`{}`: "body.types,body.url",
		`{"url":"http://example.org","types":["course.*"]}`:                                 "body.url",
		`{"url":"https://example.org","types":[]}`:                                          "body.types",
		`{"url":"https://example.org","types":["course.*","course"]}`:                       "body.types[1]",
		`{"url":"https://example.org","types":["course.moved","Course.*","webhook.test"]}`:  "body.types[0],body.types[1],body.types[2]",
		`{"url":"https://example.org","types":["course.*","job.created","course.*"]}`:       "body.types[2]",
		`{"url":null,"types":["course.*"],"secret":"mine"}`:                                 "body.secret,body.url",
		`{"url":"https://example.org","types":["course.*"],"enabled":null}`:                 "body.enabled",
		`{"url":"https://example.org/` + strings.Repeat("x", 2000) + `","types":["job.*"]}`: "body.url",
		string(long): "body.types",
	} {
		if got := s.one.must(422, "POST", "/webhooks", body).locations(); got != where {
			t.Errorf("%.80s: faults at %s, want %s", body, got, where)
		}
	}
	if got := s.one.must(422, "PATCH", path, `{"types":["nothing.*"]}`).locations(); got != "body.types[0]" {
		t.Errorf("faults at %s", got)
	}
	for _, messageType := range []string{"articulation.decided", "articulation.*", "extraction.*", "transferPackage.deleted", "syllabusExtraction.*", "document.created"} {
		s.one.must(200, "PATCH", path, fmt.Sprintf(`{"types":[%q]}`, messageType)).want("types", []string{messageType})
	}
	// Webhooks are shown to write keys of their organization only.
	s.reader.must(403, "GET", "/webhooks", "")
	s.reader.must(403, "GET", path, "")
	s.reader.must(403, "GET", path+"/deliveries", "")
	s.two.must(404, "GET", path, "")
	s.two.must(404, "POST", path+"/test", "")
	s.two.must(404, "POST", path+"/rotate", "")
	s.two.must(404, "DELETE", path, "")
	s.two.must(200, "GET", "/webhooks", "").want("data", []any{})
}

// TestAtMostTenWebhooks: also when they are created at once.
func TestAtMostTenWebhooks(t *testing.T) {
	t.Parallel()
	_, with := newHooks(t)
	s := newService(t, with)
	var mu sync.Mutex
	statuses := map[int]int{}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			status := s.one.do("POST", "/webhooks", newHook).Status
			mu.Lock()
			defer mu.Unlock()
			statuses[status]++
		})
	}
	group.Wait()
	if statuses[201] != 10 || statuses[409] != 6 {
		t.Errorf("%v", statuses)
	}
	list := s.one.must(200, "GET", "/webhooks", "")
	list.want("pagination.total", 10)
	s.one.must(204, "DELETE", "/webhooks/"+list.text("data.3.id"), "")
	s.one.must(201, "POST", "/webhooks", newHook)
	s.one.must(409, "POST", "/webhooks", newHook)
	s.two.must(201, "POST", "/webhooks", newHook)
}

// TestSecretsAreShownOnce: nothing in the table shows a secret, and a replay is the same
// response again.
func TestSecretsAreShownOnce(t *testing.T) {
	t.Parallel()
	h, with := newHooks(t)
	s := newService(t, with)
	made := s.one.must(201, "POST", "/webhooks", newHook, "Idempotency-Key", "k")
	again := s.one.must(201, "POST", "/webhooks", newHook, "Idempotency-Key", "k")
	if string(made.Body) != string(again.Body) || again.header("Idempotency-Replayed") != "true" || made.header("ETag") != again.header("ETag") {
		t.Errorf("replayed %s", again.Body)
	}
	s.one.must(422, "POST", "/webhooks", `{"url":"https://example.org/other","types":["job.*"]}`, "Idempotency-Key", "k")
	path := "/webhooks/" + made.text("id")
	s.clock.Add(1000)
	rotated := s.one.must(200, "POST", path+"/rotate", "", "Idempotency-Key", "r")
	if rotated.text("secret") == made.text("secret") || rotated.text("updatedAt") == made.text("updatedAt") {
		t.Errorf("rotated %s", rotated.Body)
	}
	live := func() (secrets []string) {
		stored, err := s.store.Webhooks(t.Context(), "org_one")
		if err != nil {
			t.Fatal(err)
		}
		for _, sealed := range stored.Find(made.text("id")).LiveSecrets(s.clock.Now()) {
			plain, err := h.Open(webhook.Owner("org_one", made.text("id")), sealed)
			if err != nil {
				t.Fatal(err)
			}
			secrets = append(secrets, string(plain))
		}
		return secrets
	}
	if got := live(); !slices.Equal(got, []string{rotated.text("secret"), made.text("secret")}) {
		t.Errorf("%d secrets sign", len(got))
	}
	s.clock.Add(24 * 60 * 60 * 1000)
	if got := live(); !slices.Equal(got, []string{rotated.text("secret")}) {
		t.Errorf("%d secrets sign a day later", len(got))
	}
	s.one.must(200, "POST", path+"/rotate", "")
	s.one.must(200, "POST", path+"/rotate", "")
	if got := live(); len(got) != 2 {
		t.Errorf("%d secrets sign after three rotations", len(got))
	}
	rows, err := s.store.Client.Scan(t.Context(), &dynamodb.ScanInput{TableName: &s.store.Table})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows.Items {
		text, _ := json.Marshal(row)
		for _, secret := range []string{made.text("secret"), rotated.text("secret")} {
			key := strings.TrimPrefix(secret, "whsec_")
			if strings.Contains(string(text), key) || strings.Contains(string(text), base64.StdEncoding.EncodeToString([]byte(secret))) {
				t.Errorf("a row shows the secret: %.300s", text)
			}
		}
	}
}

// TestEnablingAgain: a webhook that the service disabled works again from where the feed
// ends, and its failures are forgotten.
func TestEnablingAgain(t *testing.T) {
	t.Parallel()
	_, with := newHooks(t)
	s := newService(t, with)
	id := s.one.must(201, "POST", "/webhooks", newHook).text("id")
	ctx := t.Context()
	if err := s.store.MarkWebhook(ctx, "org_one", id, new(s.clock.Now()), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.store.DisableWebhook(ctx, "org_one", id, catalog.ReceiverFailing); err != nil {
		t.Fatal(err)
	}
	s.one.must(200, "GET", "/webhooks/"+id, "").want("disabledReason", "FAILING")
	s.one.course("missed")
	s.one.must(200, "PATCH", "/webhooks/"+id, `{"enabled":false}`).want("disabledReason", "FAILING")
	s.clock.Add(1000)
	on := s.one.must(200, "PATCH", "/webhooks/"+id, `{"enabled":true}`)
	on.want("enabled", true)
	on.want("disabledReason", nil)
	stored, err := s.store.Webhooks(ctx, "org_one")
	if err != nil {
		t.Fatal(err)
	}
	end, err := s.store.FeedEnd(ctx, "org_one")
	if err != nil {
		t.Fatal(err)
	}
	if from, any := stored.Undispatched(); !any || from != end || len(stored.Failing) != 0 {
		t.Errorf("goes on at %s, the feed ends at %s, failing %v", from, end, stored.Failing)
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	h, with := newHooks(t)
	s := newService(t, with)
	id := s.one.must(201, "POST", "/webhooks", newHook).text("id")
	path := "/webhooks/" + id
	s.one.course("a")
	tested := s.one.must(202, "POST", path+"/test", "", "Idempotency-Key", "t")
	s.one.must(202, "POST", path+"/test", "", "Idempotency-Key", "t").want("messageId", tested.text("messageId"))
	tested.want("type", "webhook.test")
	if len(h.sent) != 1 || h.sent[0].ID != tested.text("messageId") || h.sent[0].Attempt != 1 || h.sent[0].RecordID != id || h.sent[0].Cursor != "c0-2" {
		t.Fatalf("sent %+v", h.sent)
	}
	s.one.must(200, "GET", path+"/deliveries", "").want("data", []any{})
	if _, mine, err := s.store.ClaimMessage(t.Context(), h.sent[0], s.clock.Now()+1000); err != nil || !mine {
		t.Fatalf("%v %v", mine, err)
	}
	s.one.must(200, "GET", path+"/deliveries", "").want("data", []any{}) // one is in progress
	for attempt := 1; attempt <= 5; attempt++ {
		s.clock.Add(1000)
		a := catalog.WebhookAttempt{MessageID: h.sent[0].ID, Type: catalog.TestType, Attempt: attempt, At: s.clock.Now(), Outcome: catalog.ReceiverRefused, StatusCode: new(500 + attempt), DurationMs: 7}
		if attempt < 5 {
			a.NextAttemptAt = new(s.clock.Now() + 1000)
		}
		if err := s.store.SaveAttempt(t.Context(), h.sent[0], a, true); err != nil {
			t.Fatal(err)
		}
	}
	var seen []int
	for next := ""; ; {
		page := s.one.must(200, "GET", path+"/deliveries?limit=2&before="+url.QueryEscape(next), "")
		for i := range page.get("data").([]any) {
			seen = append(seen, page.number(fmt.Sprintf("data.%d.attempt", i)))
			page.want(fmt.Sprintf("data.%d.messageId", i), h.sent[0].ID)
		}
		if page.get("hasMore") == false {
			page.want("next", nil)
			break
		}
		next = page.text("next")
	}
	if !slices.Equal(seen, []int{5, 4, 3, 2, 1}) {
		t.Errorf("attempts %v", seen)
	}
	for _, before := range []string{"x", "AAAA", "%00", base64.RawURLEncoding.EncodeToString([]byte("1"))} {
		s.one.must(400, "GET", path+"/deliveries?before="+before, "")
	}

	message := path + "/deliveries/" + h.sent[0].ID
	s.one.must(202, "POST", message+"/resend", "").want("messageId", h.sent[0].ID)
	if again := h.sent[1]; again.ID != h.sent[0].ID || again.Attempt != 6 {
		t.Errorf("resent %+v", again)
	}
	for range 2 { // attempt 6, then 1 of another message
		m := h.sent[len(h.sent)-1]
		at := path + "/deliveries/" + m.ID + "/resend"
		if _, mine, err := s.store.ClaimMessage(t.Context(), m, s.clock.Now()+25_000); err != nil || !mine {
			t.Fatalf("attempt %d is not claimed, %v", m.Attempt, err)
		}
		s.one.must(409, "POST", at, "")
		a := catalog.WebhookAttempt{MessageID: m.ID, Type: m.Type, Attempt: m.Attempt, At: s.clock.Now(), Outcome: catalog.Delivered}
		if err := s.store.SaveAttempt(t.Context(), m, a, false); err != nil {
			t.Fatal(err)
		}
		s.one.must(202, "POST", at, "")
		s.one.must(202, "POST", path+"/test", "")
	}
	for _, unknown := range []string{"msg_0", "x", h.sent[0].ID + "0", "msg_" + strings.Repeat("0", 24)} {
		s.one.must(404, "POST", path+"/deliveries/"+unknown+"/resend", "")
	}
	s.two.must(404, "POST", message+"/resend", "")
	s.clock.Add(8 * 24 * 60 * 60 * 1000)
	s.one.must(200, "GET", path+"/deliveries", "").want("data", []any{})
	s.one.must(404, "POST", message+"/resend", "")
}
