package webhook_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/webhook"
)

// TestReferenceLibraryVerifies: the library of the standard takes what is signed here,
// with each of two secrets, and nothing that was changed.
func TestReferenceLibraryVerifies(t *testing.T) {
	body, now := []byte(`{"type":"course.changed"}`), catalog.TimeOf(time.Now())
	secrets := []string{webhook.NewSecret(), webhook.NewSecret()}
	header, err := webhook.Sign("msg_1", now, body, secrets)
	if err != nil {
		t.Fatal(err)
	}
	verify := func(secret string, body []byte, header http.Header) error {
		verifier, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			t.Fatal(err)
		}
		canonical := http.Header{}
		for name, values := range header {
			canonical.Set(name, values[0])
		}
		return verifier.Verify(body, canonical)
	}
	for _, secret := range secrets {
		if err := verify(secret, body, header); err != nil {
			t.Error(err)
		}
		if verify(secret, []byte(`{"type":"course.deleted"}`), header) == nil {
			t.Error("another body is verified")
		}
		other := header.Clone()
		other[webhook.HeaderID] = []string{"msg_2"}
		if verify(secret, body, other) == nil {
			t.Error("another id is verified")
		}
	}
	if verify(webhook.NewSecret(), body, header) == nil {
		t.Error("another secret verifies")
	}
	if _, err := webhook.Sign("msg_1", now, body, []string{"whsec_%"}); err == nil {
		t.Error("a secret that is not base64 signs")
	}
}

func TestNewSecret(t *testing.T) {
	secret := webhook.NewSecret()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) != 32 || !strings.HasPrefix(secret, "whsec_") || secret == webhook.NewSecret() {
		t.Errorf("%s: %d bytes, %v", secret, len(key), err)
	}
}

func TestSchedule(t *testing.T) {
	var waits []string
	for attempt := 1; ; attempt++ {
		wait, again := webhook.Standard().Next(attempt, 0, 0)
		if !again {
			break
		}
		waits = append(waits, wait.String())
	}
	want := []string{"5s", "5m0s", "30m0s", "2h0m0s", "5h0m0s", "10h0m0s", "14h0m0s", "20h0m0s", "24h0m0s"}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Error(diff)
	}
	if patience := webhook.Standard().Patience(); patience != 5*24*time.Hour {
		t.Errorf("disabled after %s", patience)
	}
	short, err := webhook.ParseSchedule("1, 2.5,0")
	if err != nil || !slices.Equal(short, webhook.Schedule{time.Second, 2500 * time.Millisecond, 0}) {
		t.Errorf("%v %v", short, err)
	}
	if patience := short.Patience(); patience <= 3500*time.Millisecond || patience >= 7*time.Second {
		t.Errorf("3.5 s of attempts are disabled after %s", patience)
	}
	if week, err := webhook.ParseSchedule("604800"); err != nil || week[0] != 7*24*time.Hour {
		t.Errorf("%v %v", week, err)
	}
	if _, err := webhook.ParseSchedule("604801"); err == nil {
		t.Error("more than a week is taken")
	}
	if wait, _ := webhook.Standard().Next(1, 0, 0.5); wait != 5250*time.Millisecond {
		t.Errorf("by half a chance the first wait is %s", wait)
	}
	if s, err := webhook.ParseSchedule(""); err != nil || !slices.Equal(s, webhook.Standard()) {
		t.Errorf("%v %v", s, err)
	}
	for _, wrong := range []string{"x", "1,,2", "-1", "1;2", "NaN", "1e9"} {
		if s, err := webhook.ParseSchedule(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, s)
		}
	}
}

// TestWaits: no wait is shorter than the schedule's or than what the receiver asks for
// within a day, and none is much longer.
func TestWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		attempt := rapid.IntRange(-1, 12).Draw(t, "attempt")
		wish := time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "wish"))
		chance := rapid.Float64Range(0, 0.999).Draw(t, "chance")
		wait, again := webhook.Standard().Next(attempt, wish, chance)
		if again != (attempt >= 1 && attempt <= 9) {
			t.Fatalf("after attempt %d there is another: %v", attempt, again)
		}
		if !again {
			return
		}
		least := max(webhook.Standard()[attempt-1], min(wish, 24*time.Hour))
		if wait < least || wait > least+least/10 {
			t.Errorf("the wait is %s, not about %s", wait, least)
		}
	})
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "-5": 0, "soon": 0, now.Add(time.Hour).Format(http.TimeFormat): time.Hour,
		now.Add(-time.Hour).Format(http.TimeFormat): 0,
	} {
		if got := webhook.RetryAfter(header, now); got != want {
			t.Errorf("%q asks for %s, not %s", header, got, want)
		}
	}
}

func TestCipher(t *testing.T) {
	old, next := strings.Repeat("old", 11), strings.Repeat("next", 8)
	open := func(keys, owner string, sealed []byte) string {
		c, err := webhook.NewCipher(keys)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := c.Open(owner, sealed)
		if err != nil {
			return "refused"
		}
		return string(plain)
	}
	c, err := webhook.NewCipher(old)
	if err != nil {
		t.Fatal(err)
	}
	owner := webhook.Owner("org_1", "wh_1")
	sealed := c.Seal(owner, []byte("secret"))
	if slices.Equal(sealed, c.Seal(owner, []byte("secret"))) || strings.Contains(string(sealed), "secret") {
		t.Error("what is sealed can be told")
	}
	for _, got := range []struct{ is, want string }{
		{open(old, owner, sealed), "secret"}, {open(next+","+old, owner, sealed), "secret"},
		{open(next, owner, sealed), "refused"},
		{open(old, webhook.Owner("org_2", "wh_1"), sealed), "refused"}, {open(old, owner, sealed[:5]), "refused"},
		{open(old, owner, nil), "refused"},
	} {
		if got.is != got.want {
			t.Errorf("%q, want %q", got.is, got.want)
		}
	}
	for _, short := range []string{"", "short", next + ","} {
		if _, err := webhook.NewCipher(short); err == nil {
			t.Errorf("%q is a key", short)
		}
	}
}

// TestNodeLibraryVerifies: so does the library for Node.
func TestNodeLibraryVerifies(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Fatal("node is not installed, which make test needs")
	}
	body, secrets := `{"type":"course.changed","data":{"id":"größe"}}`, []string{
		webhook.NewSecret(), webhook.NewSecret(),
	}
	header, err := webhook.Sign("msg_1", catalog.TimeOf(time.Now()), []byte(body), secrets)
	if err != nil {
		t.Fatal(err)
	}
	plain := map[string]string{}
	for name, values := range header {
		plain[name] = values[0]
	}
	message, err := json.Marshal(map[string]any{
		"body": body, "headers": plain, "secrets": secrets, "other": webhook.NewSecret(),
	})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), node, "-e", `
		const { Webhook } = require("standardwebhooks");
		const m = JSON.parse(require("fs").readFileSync(0, "utf8"));
		for (const secret of m.secrets) new Webhook(secret).verify(m.body, m.headers);
		for (const wrong of [() => new Webhook(m.other).verify(m.body, m.headers), () => new Webhook(m.secrets[0]).verify(m.body + " ", m.headers)]) {
			let verified = true;
			try { wrong(); } catch { verified = false; }
			if (verified) throw new Error("verified what was not signed");
		}
		console.log("verified");`)
	command.Dir, command.Stdin = filepath.Join("..", ".."), bytes.NewReader(message)
	if out, err := command.CombinedOutput(); err != nil || string(out) != "verified\n" {
		t.Errorf("%v: %s", err, out)
	}
}
