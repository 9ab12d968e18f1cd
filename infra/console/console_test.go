package console

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"skillscurriculum/infra/browser"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/local/stack/stacktest"
	"skillscurriculum/infra/reference"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
)

var pictures = flag.String("pictures", "", "directory for pictures of the screens")

const root = "../.."

// The page, its script and its stylesheet weigh at most 100 KB together, as a browser loads them.
func TestSize(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "assets"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Build(root, folder); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "assets", "*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("assets %v, %v", files, err)
	}
	var all bytes.Buffer
	for _, name := range append(files, filepath.Join(folder, "console.html")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w := gzip.NewWriter(&all)
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d bytes", all.Len())
	if all.Len() > 100_000 {
		t.Errorf("the console weighs %d bytes", all.Len())
	}
}

// The sources have the types that they say.
func TestTypes(t *testing.T) {
	check := exec.Command("node", filepath.Join(root, "node_modules", "typescript", "bin", "tsc"), "-p", ".")
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// service is a running stack behind a gate that tests close.
type service struct {
	*gate
	address   string // of the console
	key, read string
	api       *client.Client
}

// gate passes requests on to the stack, and answers some itself: each fault once.
type gate struct {
	mu     sync.Mutex
	faults []fault
	keys   map[string][]string // Idempotency-Keys of the POSTs of a path
	alter  func(*http.Response) error
}

// fault is what happens to the next request of a method whose path ends so.
type fault struct {
	method, ending string
	what           string // a status, "lost before" or "lost after"
}

// next makes faults happen to the next such requests, in this order.
func (g *gate) next(faults ...fault) {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.keys)
	g.faults = append(g.faults, faults...)
}

// left returns how many faults have not happened.
func (g *gate) left() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.faults)
}

// once fails the test unless every POST of a path, of which there were several since the last faults, had
// the same Idempotency-Key.
func (g *gate) once(t *testing.T, ending string) {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	for path, keys := range g.keys {
		if !strings.HasSuffix(path, ending) {
			continue
		}
		if same := slices.Compact(slices.Clone(keys)); len(keys) < 2 || len(same) != 1 || same[0] == "" {
			t.Errorf("POST %s has the keys %q", path, keys)
		}
		return
	}
	t.Errorf("no POST %s", ending)
}

func (g *gate) take(r *http.Request) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r.Method == http.MethodPost {
		g.keys[r.URL.Path] = append(g.keys[r.URL.Path], r.Header.Get("Idempotency-Key"))
	}
	for i, f := range g.faults {
		if f.method == r.Method && strings.HasSuffix(r.URL.Path, f.ending) {
			g.faults = append(g.faults[:i:i], g.faults[i+1:]...)
			return f.what
		}
	}
	return ""
}

func (g *gate) handler(to *url.URL) http.Handler {
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.alter == nil {
			return nil
		}
		return g.alter(r)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch what := g.take(r); what {
		case "401", "403", "409", "429", "500", "503":
			status, err := strconv.Atoi(what)
			if err != nil {
				panic(err)
			}
			w.Header().Set("Retry-After", "1")
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"code":"code_`+what+`","status":`+what+`,"detail":"Answered with `+what+`.","requestId":"req_1"}`)
		case "lost before":
			panic(http.ErrAbortHandler)
		case "lost after":
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		default:
			r.Header.Del("Accept-Encoding") // the transport's own is undone before a body is altered
			proxy.ServeHTTP(w, r)
		}
	})
}

// start runs the whole service with an empty organization, Lake College.
func start(t *testing.T) *service {
	t.Helper()
	functions := stacktest.Functions(t)
	site := filepath.Join(functions, string(api.Docs), reference.Folder)
	if err := reference.Build(root, site); err != nil {
		t.Fatal(err)
	}
	if err := Build(root, site); err != nil {
		t.Fatal(err)
	}
	s := &service{gate: &gate{keys: map[string][]string{}}, api: &client.Client{}}
	announced, stop, err := stack.Start(t.Context(), stack.Config{
		Dir: filepath.Join(t.TempDir(), "local"), Functions: functions, Env: map[string]string{api.EnvRateUnits: "1000000"},
		Console: log.New(io.Discard, "", 0),
		Demo: func(ctx context.Context, p stack.Places) (stack.Demo, error) {
			table := stack.Open(p.Env)
			if err := table.SaveOrganization(ctx, &catalog.Organization{ID: "org_lake", Name: "Lake College"}); err != nil {
				return stack.Demo{}, err
			}
			customer := catalog.Customer{ID: "cus_lake", OrganizationID: "org_lake", Name: "Registrar"}
			var err error
			if s.key, err = table.Admit(ctx, &customer); err != nil {
				return stack.Demo{}, err
			}
			s.read = catalog.IDs{Random: rand.Reader}.NewSecret()
			return stack.Demo{}, table.SaveKey(ctx, &catalog.Key{
				ID: "key_read", CustomerID: customer.ID, OrganizationID: customer.OrganizationID, Scope: catalog.ReadScope,
				Hash: catalog.HashSecret(s.read), CreatedAt: catalog.TimeOf(time.Now()),
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	s.api.BaseURL, s.api.Key = announced.BaseURL, s.key
	to, err := url.Parse(announced.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	to.Path = ""
	front := httptest.NewServer(s.handler(to))
	front.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(front.Close)
	s.address = front.URL + api.BasePath + "/console"
	return s
}

// look checks the page with axe in light and dark, and takes pictures.
func look(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	p.Pictures = *pictures
	for _, dark := range []bool{false, true} {
		p.Dark(dark)
		for _, fault := range p.Axe() {
			t.Errorf("%s (dark: %v): %s", name, dark, fault)
		}
		p.Shot(name + map[bool]string{true: "-dark"}[dark])
	}
	p.Dark(false)
	var size [2]int
	p.Eval(`[innerWidth, innerHeight]`, &size)
	for _, width := range []int{size[0], 320, 1920} {
		p.Do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": size[1], "deviceScaleFactor": 1, "mobile": false}, nil)
		var wide int
		if p.Eval(`document.documentElement.scrollWidth - innerWidth`, &wide); wide > 0 {
			t.Errorf("%s: %d pixels too wide at %d", name, wide, width)
		}
	}
	p.Do("Emulation.setDeviceMetricsOverride", map[string]any{"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": false}, nil)
}

// signIn opens an address of the console with a key.
func (s *service) signIn(p *browser.Page, key, address string) {
	p.Open(s.address + address)
	p.Fill("API key", key)
	p.Press("Enter")
	p.Until(`document.querySelector(".shell")`)
}

// network sets what the page's connection can do: bytes a second, and milliseconds for each request.
func network(p *browser.Page, offline bool, rate, latency int) {
	p.Do("Network.emulateNetworkConditions", map[string]any{"offline": offline, "latency": latency, "downloadThroughput": rate, "uploadThroughput": rate}, nil)
}

// hostile is text of strangers: markup, scripts, bidirectional controls, and words without an end.
var hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script> ` + "\u202e\u2066evil\u2069 " + strings.Repeat("W", 10_000)

// unharmed fails the test if the page took strangers' text for markup.
func unharmed(t *testing.T, p *browser.Page) {
	t.Helper()
	var harm int
	if p.Eval(`document.querySelectorAll("main img, main script").length + (document.title === "owned" ? 1 : 0)`, &harm); harm != 0 {
		t.Error("strangers' text became markup")
	}
}

// sizes are the windows in which every task is done.
var sizes = []struct {
	name          string
	width, height int
}{{"390", 390, 844}, {"1280", 1280, 800}}

// Tasks of people, each at both sizes, over one service.
func TestConsole(t *testing.T) {
	b := browser.Start(t)
	s := start(t)
	for _, task := range []struct {
		name string
		run  func(t *testing.T, s *service, p *browser.Page, size string)
	}{
		{"sign in", signsIn},
		{"open a course", opensCourse},
		{"review a section", reviews},
		{"review twenty skills", reviewsTwenty},
		{"try", tries},
		{"decide a transfer", transfers},
		{"meet another decision", meetsOther},
		{"import", imports},
		{"import outcomes", importsOutcomes},
		{"write outcomes", writesOutcomes},
		{"mark a map", marksMap},
		{"read a failed map", readsFailedMap},
		{"go on with another key", renewsKey},
		{"make a report", makesReport},
	} {
		for _, size := range sizes {
			t.Run(task.name+" at "+size.name, func(t *testing.T) {
				p := b.Page(t, size.width, size.height)
				p.Pictures = *pictures
				task.run(t, s, p, size.name)
				if s.left() > 0 {
					t.Errorf("%d faults have not happened", s.left())
				}
				for _, fault := range p.Faults() {
					t.Error(fault)
				}
			})
		}
	}
}

// A person signs in, is told of a wrong key, finds the keys, moves with them, and leaves.
func signsIn(t *testing.T, s *service, p *browser.Page, size string) {
	p.Open(s.address + "#/courses?query=nothing")
	p.Shows("Sign in")
	look(t, p, "signin-"+size)
	p.Fill("API key", "wrong")
	p.Press("Enter")
	p.Shows("This key is not valid")
	look(t, p, "signin-refused-"+size)
	s.next(fault{"GET", "/me", "lost before"}, fault{"GET", "/me", "503"}, fault{"GET", "/courses", "429"})
	p.Fill("API key", s.read)
	p.Press("Enter")
	p.Shows("No course has a code or name that begins with these words.")
	p.Shows("Read only")
	look(t, p, "courses-none-"+size)
	p.Press("?")
	p.Shows("Single keys work outside of text fields")
	look(t, p, "keys-"+size)
	p.Press("Escape", "g", "c")
	p.Shows("There are no courses yet.")
	p.Eval(`location.hash = "#/imports?offset=40"`, nil)
	p.Shows("There is nothing on this page.")
	p.Press("p") // a page of imports has 20
	p.Until(`location.hash.includes("offset=20")`)
	for _, gone := range [][2]string{
		{"programs/prg_1/map/crs_1", "Program"}, {"courses/crs_1", "Course"}, {"transfer/packages/tpk_1", "Transfer package"},
		{"transfer/packages/tpk_1/courses/tcr_1", "Transfer course"}, {"transfer/articulations/art_1", "Articulation"},
	} {
		p.Eval(`location.hash = "#/`+gone[0]+`"`, nil)
		p.Until(`document.querySelector("main h1")?.innerText === "` + gone[1] + `" && document.title.includes("` + gone[1] + `")`)
		p.Until(`document.querySelector("main").innerText.includes("There is no such record.")`)
	}
	look(t, p, "gone-"+size)
	var stored int
	if p.Eval(`localStorage.length + sessionStorage.length + document.cookie.length + (location.href + document.documentElement.outerHTML).split(`+"`"+s.read+"`"+`).length - 1`, &stored); stored != 0 {
		t.Error("the key is stored")
	}
	p.Click("Sign out")
	p.Shows("API key")
}

// A person opens a course of the list by a click and sees its skills beside the text that they come from.
func opensCourse(t *testing.T, s *service, p *browser.Page, size string) {
	_, err := s.api.Call(t.Context(), client.Request{Operation: "createCourse", Body: map[string]any{
		"code": "DB " + size, "name": "Databases", "description": "Students write SQL queries and design relational databases.",
	}})
	if err != nil {
		t.Fatal(err)
	}
	s.signIn(p, s.key, "#/courses")
	p.Shows("DB " + size)
	p.Eval(`[...document.querySelectorAll("[data-row]")].find((e) => e.innerText.includes("DB `+size+`")).click()`, nil)
	p.Shows("design relational databases")
	p.Shows("Choose a skill")
	p.Until(`document.querySelectorAll("[data-note]").length > 0`)
	look(t, p, "course-"+size)
}

// A person pastes a text, follows the quotes, copies the skills, drops a file over a slow connection that breaks, and
// learns why another cannot be read.
func tries(t *testing.T, s *service, p *browser.Page, size string) {
	s.signIn(p, s.key, "#/try")
	p.Shows("Nothing is added to the catalog.")
	look(t, p, "try-"+size)
	p.Fill("Text of a syllabus or a course", "Databases\n\nStudents design relational databases.\nThey write SQL queries.\nThey explain SQL to others.")
	s.next(fault{"POST", "/syllabus-extractions", "503"}, fault{"POST", "/syllabus-extractions", "lost after"}, fault{"POST", "/syllabus-extractions", "429"})
	p.Click("Find the skills")
	p.Shows("nothing is lost")
	look(t, p, "try-waiting-"+size)
	p.Until(`document.querySelectorAll("[data-note]").length > 0`)
	s.once(t, "/syllabus-extractions")
	p.Press("j")
	p.Until(`document.querySelector("mark.on") && document.querySelector(".bar strong")`)
	look(t, p, "try-result-"+size)
	p.Eval(`[...document.querySelectorAll("mark")].find((m) => m.textContent.includes("SQL")).click()`, nil)
	p.Until(`[...document.querySelectorAll("mark.on")].some((m) => m.textContent.includes("SQL")) && document.activeElement.dataset.note`)
	p.Press("n")
	p.Do("Browser.grantPermissions", map[string]any{"permissions": []string{"clipboardReadWrite", "clipboardSanitizedWrite"}}, nil)
	p.Click("Copy as CSV")
	p.Until(`/Copied|refused/.test(document.body.innerText)`)

	p.Press("g", "y")
	p.Shows("Tried in this tab")
	network(p, false, 40_000, 200)
	syllabus, err := filepath.Abs(filepath.Join(root, "infra", "local", "demo", "syllabi", "database-systems.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	p.Put("Or a file", syllabus)
	p.Shows("Uploading")
	network(p, true, 0, 0)
	p.Shows("The connection is lost")
	look(t, p, "try-lost-"+size)
	network(p, false, -1, 0)
	p.Until(`document.querySelectorAll("[data-note]").length > 5`)
	p.Shows("database-systems.pdf")
	look(t, p, "try-file-"+size)
	if *pictures != "" && size == "1280" { // of the README
		p.Eval(`[...document.querySelectorAll("[data-note]")].find((n) => n.innerText.startsWith("relational databases")).click()`, nil)
		p.Until(`document.querySelector("mark.on")`)
		var shot struct {
			Data []byte `json:"data"`
		}
		p.Do("Page.captureScreenshot", map[string]any{"format": "webp", "quality": 80, "clip": map[string]any{"x": 0, "y": 0, "width": 1280, "height": 720, "scale": .75}}, &shot)
		if err := os.WriteFile(filepath.Join(*pictures, "console.webp"), shot.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}

	p.Press("g", "y")
	locked := filepath.Join(t.TempDir(), "picture.pdf")
	if err := os.WriteFile(locked, []byte("\x89PNG\r\n\x1a\n and no text"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Put("Or a file", locked)
	p.Shows("Save it as PDF, DOCX or text")
	look(t, p, "try-failed-"+size)

	p.Press("g", "y")
	p.Fill("Text of a syllabus or a course", hostile+" Students write SQL queries.")
	look(t, p, "try-long-"+size)
	p.Click("Find the skills")
	p.Until(`document.querySelectorAll("[data-note]").length > 0`)
	unharmed(t, p)
	look(t, p, "try-hostile-"+size)
	var address string
	p.Eval(`location.hash`, &address)

	p.Click("Sign out")
	s.signIn(p, s.read, address)
	p.Until(`document.querySelectorAll("[data-note]").length > 0`)
	p.Click("Try")
	p.Shows("This key can only read")
	var left int
	if p.Eval(`document.querySelectorAll("[data-row]").length`, &left); left != 0 {
		t.Error("what somebody tried is shown to the next who signs in")
	}
	look(t, p, "try-read-"+size)
}
