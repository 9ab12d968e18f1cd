package importer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/delivery"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/service"
	"skillscurriculum/pkg/webhook"
)

// line is the queue of messages to deliver.
type line struct{ messages []catalog.WebhookMessage }

func (l *line) SendLater(_ context.Context, m catalog.WebhookMessage, _ time.Duration) error {
	l.messages = append(l.messages, m)
	return nil
}

func (l *line) Wake(ctx context.Context, org catalog.OrgID) error {
	return l.SendLater(ctx, catalog.WebhookMessage{OrganizationID: org}, 0)
}

// subscribe adds a webhook for types to the organization. delivered returns the bodies that its receiver gets for what
// happened since.
func (f *fixture) subscribe(types ...string) (delivered func() []string) {
	f.t.Helper()
	t, ctx, secret := f.t, f.t.Context(), webhook.NewSecret()
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := verifier.Verify(body, r.Header); err != nil {
			t.Errorf("%v: %s", err, body)
		}
		bodies = append(bodies, string(body))
	}))
	t.Cleanup(server.Close)
	cipher, err := webhook.NewCipher(strings.Repeat("key of a test", 3))
	if err != nil {
		t.Fatal(err)
	}
	hooks, err := f.store.Webhooks(ctx, org)
	if err != nil {
		t.Fatal(err)
	}
	from, err := f.store.FeedEnd(ctx, org)
	if err != nil {
		t.Fatal(err)
	}
	hook := &catalog.Webhook{
		ID: ids.Webhook(), OrganizationID: org, URL: server.URL, Types: types, Enabled: true, From: from,
		CreatedAt: f.store.Now(), UpdatedAt: f.store.Now(),
	}
	hook.NewSecrets(cipher.Seal(webhook.Owner(org, hook.ID), []byte(secret)), f.store.Now())
	if err := hooks.Add(hook); err != nil {
		t.Fatal(err)
	}
	if err := f.store.Store.Commit(ctx, org, catalog.NewChange(hooks)); err != nil {
		t.Fatal(err)
	}
	queue, allowed := &line{}, []string{strings.TrimPrefix(server.URL, "http://")}
	worker := &delivery.Worker{
		Store: f.store.Store, Queue: queue, Client: delivery.NewClient(allowed), Allowed: allowed, Cipher: cipher,
		Schedule: webhook.Standard(), FeedPlace: dynamo.FeedPlace, Now: f.store.Now,
		Chance: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
	}
	handle := func(event any) {
		text, _ := json.Marshal(event)
		if _, err := worker.Handle(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	return func() []string {
		t.Helper()
		bodies = nil
		_ = queue.Wake(ctx, org)
		for len(queue.messages) > 0 {
			body, _ := json.Marshal(queue.messages[0])
			queue.messages = queue.messages[1:]
			handle(events.SQSEvent{Records: []events.SQSMessage{{MessageId: "1", EventSource: "aws:sqs", Body: string(body)}}})
		}
		return bodies
	}
}

// The messages of an import name the import as the change feed and the contract do, and lead on from the feed's end;
// the records that it creates and changes have messages of their own.
func TestMessagesOfImports(t *testing.T) {
	const head = "externalId,code,name\n"
	for name, test := range map[string]struct {
		content string
		mode    catalog.ImportMode
		event   string
		records []string // types of messages of courses
	}{
		"created and changed": {
			head + "known,K 1,Other\nnew,N 1,New\n", catalog.ApplyRows, "import.completed",
			[]string{"course.changed", "course.created"},
		},
		"unchanged": {head + "known,K 1,Known\n", catalog.ApplyRows, "import.completed", nil},
		"bad row":   {head + "bad,B 1,\n", catalog.ApplyRows, "import.completed", nil},
		"check":     {head + "new,N 1,New\n", catalog.CheckOnly, "import.completed", nil},
		"failed":    {"color,size\nred,1\n", catalog.ApplyRows, "import.failed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.request("courses.csv", head+"known,K 1,Known\n", nil)
			f.deliver()
			delivered := f.subscribe("import.completed", "import.failed", "course.*")
			i := f.request("courses.csv", test.content, func(i *catalog.Import) { i.Mode = test.mode })
			if bodies := delivered(); len(bodies) > 0 {
				t.Errorf("before it has run: %s", bodies)
			}
			f.deliver()
			ended, _ := f.get(i)
			feed, _, err := f.store.Changes(t.Context(), org, "", 100)
			if err != nil {
				t.Fatal(err)
			}
			last := feed[len(feed)-1]
			want := fmt.Sprintf(`{"type":%q,"timestamp":%q,"data":{"id":%q,"resource":"import","change":"changed",`+
				`"href":"/v1/imports/%s","cursor":%q}}`, test.event, last.At, i.ID, i.ID, last.Cursor)
			var records []string
			seen := false
			for _, body := range delivered() {
				if strings.Contains(body, `"type":"import.`) {
					if body != want || seen {
						t.Errorf("%s\nwant once %s", body, want)
					}
					seen = true
					continue
				}
				var m struct {
					Type string
					Data struct{ ID, Resource, Change, Href string }
				}
				if err := json.Unmarshal([]byte(body), &m); err != nil {
					t.Fatal(err)
				}
				course, err := service.Get[*catalog.Course](t.Context(), f.store, org, m.Data.ID, true)
				if err != nil || m.Data.Href != "/v1/courses/"+course.ID || m.Data.Resource != "Course" ||
					m.Type != "course."+m.Data.Change {
					t.Errorf("%v: %s", err, body)
				}
				records = append(records, m.Type)
			}
			slices.Sort(records)
			if diff := cmp.Diff(test.records, records); diff != "" || !seen {
				t.Errorf("%s of %s, message of its end: %t\n%s", ended.Status, i.ID, seen, diff)
			}
		})
	}
}

// A cancelled import has neither completed nor failed.
func TestCancelledImportSendsNoMessage(t *testing.T) {
	f := newFixture(t)
	delivered := f.subscribe("import.completed", "import.failed", "import.changed")
	i := f.request("courses.csv", courses(5), nil)
	var change catalog.Change
	change.EndImport(i, catalog.ImportCancelled, nil, f.store.Now())
	if err := f.store.Store.Commit(t.Context(), org, &change); err != nil {
		t.Fatal(err)
	}
	f.deliver()
	bodies := delivered()
	if len(bodies) != 1 || !strings.Contains(bodies[0], `"type":"import.changed"`) {
		t.Errorf("%s", bodies)
	}
}
