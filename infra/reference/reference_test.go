package reference

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"skillscurriculum"
	"skillscurriculum/infra/browser"
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
	if len(loaded) < 4 {
		t.Fatalf("the page loads %v", loaded)
	}
	for _, m := range loaded {
		if m[1] == "/v1/console" { // a page of its own, which is not built here
			continue
		}
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

// The guides speak of this service, and never of the repository.
func TestGuidesAreOfADeployment(t *testing.T) {
	page, _ := built(t)
	_, page, _ = strings.Cut(page, "</head>")
	if found := regexp.MustCompile(`make [a-z]+\b[^.]{0,20}</code>|skillsctl|<code>make |\b(?:infra|pkg|docs|build)/[a-z]|[a-z]\.md\b|this repository|BASE_ADDRESS`).FindAllString(page, -1); found != nil {
		t.Errorf("the guides name %q", found)
	}
	for _, text := range []string{"The operator\nof this service issues keys", `<span class="base">/v1</span>`} {
		if !strings.Contains(page, text) {
			t.Errorf("the guides lack %q", text)
		}
	}
}

// served serves the page, and answers calls of one operation with what a stranger wrote.
func served(t *testing.T) (address string, keys func() []string) {
	t.Helper()
	_, service := built(t)
	var mu sync.Mutex
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/courses" {
			service.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		sent = append(sent, r.Header.Get(api.HeaderKey))
		mu.Unlock()
		w.Header().Set("Content-Type", api.JSON)
		fmt.Fprintf(w, `{"data":[{"name":"A course of the test <img src=x onerror=alert(1)>\u202e%s"}]}`, strings.Repeat("W", 10_000))
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return sent
	}
}

// A browser can make a call through the page with the keyboard alone. The key is stored nowhere, the page asks no other
// host, and nothing violates its policy.
func TestTryIt(t *testing.T) {
	tab := browser.Start(t).Page(t, 1280, 900)
	address, keys := served(t)
	tab.Open(address + "/v1/docs#/operations/listCourses")
	tab.Until(`document.querySelector("main button")`)
	tab.Eval(`document.getElementById("key").focus()`, nil)
	tab.Type("key-of-the-test")
	focus := func(what string) {
		t.Helper()
		for range 400 {
			var ok bool
			if tab.Eval("Boolean(document.activeElement.matches("+what+"))", &ok); ok {
				return
			}
			tab.Press("Tab")
		}
		t.Fatalf("%s cannot be reached with Tab", what)
	}
	focus(`"main button"`)
	tab.Press("Enter")
	tab.Until(`document.querySelector("[role=status]").innerText.includes("A course of the test <img")`)
	var stored string
	tab.Eval(`JSON.stringify([localStorage.length, sessionStorage.length, document.cookie, location.href.includes("key-of"), document.images.length])`, &stored)
	if stored != `[0,0,"",false,0]` {
		t.Errorf("stored %s", stored)
	}
	if got := keys(); len(got) != 1 || got[0] != "key-of-the-test" {
		t.Errorf("calls came with the keys %q", got)
	}
	for _, asked := range tab.Requests() {
		if !strings.HasPrefix(asked, address+"/") && !strings.HasPrefix(asked, "data:") && asked != "about:blank" {
			t.Errorf("the page asked %s", asked)
		}
	}
	for _, entry := range tab.Log() {
		t.Error(entry)
	}
}

// Every guide opens by a click and by its address, every operation by a link that the keyboard reaches, and each shows
// without a violation of axe on small and large screens, light and dark.
func TestEverythingOpens(t *testing.T) {
	tab := browser.Start(t).Page(t, 1280, 900)
	address, _ := served(t)
	tab.Open(address + "/v1/docs")
	visible := func(id string) string {
		return fmt.Sprintf(`document.getElementById(%q).checkVisibility() && [...document.querySelectorAll("article")].filter((a) => a.checkVisibility()).length === 1`, id)
	}
	for _, g := range guides {
		tab.Eval(fmt.Sprintf(`document.querySelector('nav a[href="#%s"]').click()`, g.ID), nil)
		tab.Until(visible(g.ID))
		var base string
		tab.Eval(`document.querySelector(".base").textContent`, &base)
		if base != address+"/v1" {
			t.Errorf("the address of the service is %s", base)
		}
	}
	for _, g := range guides {
		tab.Open("about:blank")
		tab.Open(address + "/v1/docs#" + g.ID)
		tab.Until(visible(g.ID))
	}
	tab.Eval(`void (location.hash = "#/problems/validation_failed")`, nil)
	tab.Until(visible("errors-guide"))
	for _, op := range api.Operations() {
		var reached bool
		tab.Eval(fmt.Sprintf(`(() => { const a = document.querySelector('nav a[href="#/operations/%s"]'); a.focus(); const ok = document.activeElement === a && a.tabIndex === 0; a.click(); return ok; })()`, op.ID), &reached)
		if !reached {
			t.Errorf("the keyboard does not reach %s", op.ID)
		}
		tab.Until(fmt.Sprintf(`location.hash === "#/operations/%s" && document.querySelector("#reference > h2").textContent === %q && document.querySelector("#reference .call")`, op.ID, op.Summary))
	}
	for _, place := range []string{"/", "first-request", "errors-guide", "/operations/createArticulation", "/operations/listCourses"} {
		tab.Eval(fmt.Sprintf(`void (location.hash = "#%s")`, place), nil)
		if id, ok := strings.CutPrefix(place, "/operations/"); ok {
			tab.Until(fmt.Sprintf(`document.title.startsWith(%q)`, api.Of(id).Summary))
			tab.Eval(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil)
		}
		for _, width := range []int{390, 1280} {
			for _, dark := range []bool{false, true} {
				tab.Size(width, 900)
				tab.Dark(dark)
				var wide int
				tab.Eval("document.documentElement.scrollWidth", &wide)
				if wide > width {
					t.Errorf("%s is %d wide on %d", place, wide, width)
				}
				if violations := tab.Axe(); len(violations) > 0 {
					t.Errorf("%s at %d, dark %t: %d violations of axe, such as %s", place, width, dark, len(violations), violations[0])
				}
				if folder := os.Getenv("PICTURES"); folder != "" {
					name := fmt.Sprintf("docs%s-%d-%t.png", strings.ReplaceAll(place, "/", "-"), width, dark)
					if err := os.WriteFile(filepath.Join(folder, name), tab.Picture(), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	for _, entry := range tab.Log() {
		t.Error(entry)
	}
}
