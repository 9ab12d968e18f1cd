package reference

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"skillscurriculum"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/rest"
)

// built returns the page as make build writes it, and a service that serves it.
func built(t *testing.T) (page string, service http.Handler) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), Folder)
	if err := Build(filepath.Join("..", ".."), folder); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text), rest.New(&rest.Server{
		Groups: []api.Group{api.Docs, api.Customers}, Site: os.DirFS(folder), Document: skillscurriculum.OpenAPI,
		Now: func() catalog.Time { return catalog.TimeOf(time.Now()) },
	})
}

func get(service http.Handler, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	service.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w
}

// The page loads nothing from other hosts, and everything that it loads exists and is cached.
func TestPageIsWhole(t *testing.T) {
	page, service := built(t)
	served := get(service, "/v1/docs")
	if served.Code != http.StatusOK || served.Body.String() != page {
		t.Fatalf("GET /v1/docs: %d", served.Code)
	}
	policy := served.Header().Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") || strings.Contains(policy, "http") || strings.Contains(policy, "*") {
		t.Errorf("policy %s", policy)
	}
	loaded := regexp.MustCompile(`(?:src|href|data-document)="(/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(loaded) < 5 {
		t.Fatalf("the page loads %v", loaded)
	}
	for _, m := range loaded {
		asset := get(service, m[1])
		if asset.Code != http.StatusOK || asset.Body.Len() == 0 || asset.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("GET %s: %d and %d bytes", m[1], asset.Code, asset.Body.Len())
		}
		if strings.HasPrefix(m[1], "/v1/docs/") && !strings.Contains(asset.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("GET %s: Cache-Control %s", m[1], asset.Header().Get("Cache-Control"))
		}
	}
	for _, m := range regexp.MustCompile(`<(?:script|link|img|iframe)[^>]*(?:src|href)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "/v1/docs/") && m[1] != "data:," {
			t.Errorf("the page loads %s", m[1])
		}
	}
	for _, path := range []string{"/v1/docs/nothing.js", "/v1/docs/index.html", "/v1/docs/..%2findex.html", "/v1/docs/%2e%2e", "/v1/docs/.."} {
		if got := get(service, path); got.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, got.Code)
		}
	}
}

// Every code of the contract, as in a problem's type, has an anchor, and every link within the
// page has a target.
func TestCodesHaveAPlace(t *testing.T) {
	page, _ := built(t)
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
	}
	wanted := []string{}
	codes := map[catalog.Code]bool{catalog.MethodNotAllowed: true}
	for _, op := range api.Operations() {
		for _, code := range op.Codes() {
			codes[code] = true
		}
	}
	for code := range codes {
		_, place, _ := strings.Cut(api.ProblemType("", code), "#")
		wanted = append(wanted, place)
	}
	for _, code := range catalog.FailureCodes() {
		wanted = append(wanted, "/failures/"+string(code))
	}
	for _, code := range catalog.WarningCodes() {
		wanted = append(wanted, "/warnings/"+string(code))
	}
	if len(wanted) < 30 {
		t.Fatalf("only %d codes", len(wanted))
	}
	for _, m := range regexp.MustCompile(`href="#([^"/][^"]*)"`).FindAllStringSubmatch(page, -1) {
		wanted = append(wanted, m[1])
	}
	for _, id := range wanted {
		if ids[id] != 1 {
			t.Errorf("the page has %d places %s", ids[id], id)
		}
	}
}

// The root redirects browsers to the page and gives other clients its address.
func TestRoot(t *testing.T) {
	_, service := built(t)
	for accept, want := range map[string]int{"text/html,application/xhtml+xml,*/*;q=0.8": 302, "*/*": 200, "": 200, "application/json": 200} {
		r := httptest.NewRequest(http.MethodGet, "/v1/", nil)
		r.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		service.ServeHTTP(w, r)
		if w.Code != want || w.Header().Get("Vary") != "Accept" || want == 302 && w.Header().Get("Location") != "/v1/docs" ||
			want == 200 && w.Body.String() != `{"name":"Skills Curriculum Service","version":"1.0.0","links":{"docs":"/v1/docs","openapi":"/v1/openapi.json"}}` {
			t.Errorf("Accept: %s: %d %v %s", accept, w.Code, w.Header(), w.Body)
		}
	}
}

// driver makes a call through the page: it enters a key, sends, and then writes what the
// browser has stored to the title.
const driver = `
(async () => {
  const found = async (look) => { for (;;) { const e = look(); if (e) return e; await new Promise((r) => setTimeout(r, 50)); } };
  const input = await found(() => document.querySelector('input[aria-label="X-API-Key"]'));
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, "key-of-the-test");
  input.dispatchEvent(new Event("input", { bubbles: true }));
  (await found(() => [...document.querySelectorAll("button")].find((b) => b.textContent === "Send API Request"))).click();
  await found(() => document.body.innerText.includes("A course of the test"));
  const frame = document.createElement("iframe");
  document.body.append(frame);
  document.title = "stored " + frame.contentWindow.localStorage.length + " " + frame.contentWindow.sessionStorage.length;
})();
`

// A browser can make a call through the page. It stores no key, and the page loads nothing that
// its policy forbids.
func TestTryIt(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("there is no Chromium here to try the page in")
	}
	_, service := built(t)
	var mu sync.Mutex
	var keys []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/courses":
			mu.Lock()
			keys = append(keys, r.Header.Get(api.HeaderKey))
			mu.Unlock()
			w.Header().Set("Content-Type", api.JSON)
			fmt.Fprint(w, `{"data":[{"name":"A course of the test"}]}`)
		case strings.HasPrefix(r.URL.Path, "/v1/docs/page-") && strings.HasSuffix(r.URL.Path, ".js"):
			w.Header().Set("Content-Type", api.JavaScript)
			fmt.Fprintf(w, "%s%s", script, driver)
		default:
			service.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--enable-logging=stderr",
		"--virtual-time-budget=60000", "--dump-dom", server.URL+"/v1/docs#/operations/listCourses")
	command.WaitDelay = 5 * time.Second
	var said strings.Builder
	command.Stderr = &said
	dom, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if !strings.Contains(string(dom), "<title>stored 0 0</title>") || !strings.Contains(string(dom), "A course of the test") {
		t.Errorf("no response is shown, or something is stored: %s", regexp.MustCompile(`<title>.*?</title>`).FindString(string(dom)))
	}
	if len(keys) != 1 || keys[0] != "key-of-the-test" {
		t.Errorf("calls came with the keys %q", keys)
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "CONSOLE") && (strings.Contains(line, "Content Security Policy") || strings.Contains(line, "Refused")) {
			t.Error(line)
		}
	}
}
