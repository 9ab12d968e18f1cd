// Package browser drives a headless Chromium in tests: it opens pages, types, presses keys, waits for what the page
// shows, checks it with axe-core, prints it and takes pictures. It opens no port.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"skillscurriculum/infra/local/child"
)

// limit is how long a test waits for anything. It is generous because machines are busy.
const limit = 2 * time.Minute

// Browser is a running Chromium.
type Browser struct {
	ctx context.Context
}

// Start starts a browser that ends with the test. It skips the test where no Chromium is installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && program == "" {
			program = path
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("lang", "en-US"), chromedp.Flag("force-color-profile", "srgb"),
		// As on a desk, where hints of keys are shown.
		chromedp.Flag("blink-settings",
			"primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,availablePointerTypes=4"))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, closed := chromedp.NewContext(ctx)
	t.Cleanup(closed)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return &Browser{ctx: ctx}
}

// Page is a tab with storage of its own. Its methods end the test where the browser fails.
type Page struct {
	Pictures string // Directory of the pictures of Shot; none are taken if empty

	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	log      []log.Entry
	requests []string
}

// Page opens an empty tab of a size.
func (b *Browser) Page(t testing.TB, width, height int) *Page {
	t.Helper()
	p := &Page{t: t}
	ctx, closed := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(p.note))
	t.Cleanup(closed)
	p.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // opens the tab, which must outlive the time limit of one action
		t.Fatal(err)
	}
	p.Size(width, height)
	return p
}

// note records errors of scripts, violations of the page's policy and requests.
func (p *Page) note(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text := (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error()
		p.log = append(p.log, log.Entry{Source: log.EntrySourceJavascript, Level: log.EntryLevelError, Text: text})
	case *log.EventEntryAdded:
		p.log = append(p.log, *e.Entry)
	case *network.EventRequestWillBeSent:
		p.requests = append(p.requests, e.Request.URL)
	}
}

// Log returns what the browser has reported: errors of scripts, failed requests, and what a policy has refused.
func (p *Page) Log() []string {
	return p.entries(func(log.Entry) bool { return true })
}

// Faults returns the errors of Log other than failed requests.
func (p *Page) Faults() []string {
	return p.entries(func(e log.Entry) bool {
		return e.Level == log.EntryLevelError && e.Source != log.EntrySourceNetwork
	})
}

func (p *Page) entries(match func(log.Entry) bool) (texts []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.log {
		if match(e) {
			texts = append(texts, fmt.Sprintf("%s: %s %s", e.Source, e.Text, e.URL))
		}
	}
	return texts
}

// Requests returns the addresses that were requested.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// run runs an action and returns its result.
func run[T any](p *Page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// Do runs a command of the DevTools protocol. out may be nil.
func (p *Page) Do(method string, params, out any) {
	p.t.Helper()
	run(p, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		return target.Call(ctx, method, params, out)
	}))
}

// Open loads an address.
func (p *Page) Open(address string) {
	p.t.Helper()
	run(p, chromedp.Navigate(address))
}

// Show loads the contents of a page.
func (p *Page) Show(html string) {
	p.t.Helper()
	file := filepath.Join(p.t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
		p.t.Fatal(err)
	}
	p.Open("file://" + file)
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Eval evaluates an expression of JavaScript, awaits it and decodes its value into out, which may be nil.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	if err := p.eval(expression, out); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
}

func (p *Page) eval(expression string, out any) error {
	ctx, cancel := context.WithTimeout(p.ctx, limit)
	defer cancel()
	yes := true
	params := runtime.EvaluateParams{
		Expression: expression, AwaitPromise: &yes, ReturnByValue: &yes, UserGesture: &yes,
	}
	r, err := chromedp.Call(ctx, runtime.Evaluate, params)
	if err == nil && r.ExceptionDetails != nil {
		err = &chromedp.ExceptionError{ExceptionDetails: r.ExceptionDetails}
	}
	if err != nil || out == nil || r.Result.Value == nil {
		return err
	}
	return json.Unmarshal(r.Result.Value, out)
}

// Until waits until an expression is true.
func (p *Page) Until(expression string) {
	p.t.Helper()
	if !p.Within(limit, expression) {
		var text string
		p.Eval(`document.body ? document.body.innerText.slice(0, 3000) : ""`, &text)
		p.Shot("failed")
		p.t.Fatalf("%s does not become true; log: %q; the page shows:\n%s", expression, p.Log(), text)
	}
}

// Within reports whether an expression becomes true in a time.
func (p *Page) Within(d time.Duration, expression string) bool {
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(15 * time.Millisecond) {
		done := false
		// An expression may fail until the page is complete.
		if p.eval("Boolean("+expression+")", &done) == nil && done {
			return true
		}
	}
	return false
}

// Shows waits until the page shows a text.
func (p *Page) Shows(text string) {
	p.t.Helper()
	p.Until(`document.body.innerText.includes(` + quoted(text) + `)`)
}

// named finds the control with an accessible name or text.
const named = `((name) => {
	const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled;
	const top = document.querySelector("dialog[open]") ?? document;
	const plain = (t) => t?.replace(/[\u2066-\u2069]/g, "").replace(/\s+/g, " ").trim();
	const words = (e) => [...e.childNodes].map(
		(n) => n.nodeName === "KBD" ? "" : n.nodeType === 3 ? n.data : words(n)).join("");
	for (const l of top.querySelectorAll("label"))
		if (plain(words(l)) === name && l.control && shown(l.control)) return l.control;
	const controls = "a, button, summary, input, select, textarea, [role=option], [role=tab]";
	for (const e of top.querySelectorAll(controls))
		if (shown(e) && [e.getAttribute("aria-label"), words(e)].some((t) => plain(t) === name)) return e;
	return null;
})`

// Named returns an expression for the control with an accessible name.
func Named(name string) string { return named + `(` + quoted(name) + `)` }

// Click clicks the control with an accessible name.
func (p *Page) Click(name string) {
	p.t.Helper()
	p.Until(Named(name))
	p.Eval(Named(name)+`.click()`, nil)
}

// Fill replaces the text of the control with an accessible name, as typing does.
func (p *Page) Fill(name, text string) {
	p.t.Helper()
	p.Until(Named(name))
	p.Eval(`{ const e = `+Named(name)+`; e.focus(); e.select?.(); }`, nil)
	p.Type(text)
}

// Type inserts a text where the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.Do(input.CommandInsertText, input.InsertTextParams{Text: text}, nil)
}

// Choose selects the option with a value in the select with an accessible name.
func (p *Page) Choose(name, value string) {
	p.t.Helper()
	p.Until(Named(name))
	p.Eval(`{ const e = `+Named(name)+`; e.value = `+quoted(value)+`;
		e.dispatchEvent(new Event("change", { bubbles: true })); }`, nil)
}

// Put selects a file in the file input with an accessible name.
func (p *Page) Put(name, path string) {
	p.t.Helper()
	p.Until(Named(name))
	run(p, chromedp.SetUploadFiles(chromedp.JSPath(Named(name)), []string{path}))
}

var keys = map[string]string{
	"Enter": kb.Enter, "Escape": kb.Escape, "Tab": kb.Tab, "Backspace": kb.Backspace,
	"ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown, "ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight,
}

// Press presses keys, one after the other.
func (p *Page) Press(names ...string) {
	p.t.Helper()
	for _, name := range names {
		key := name
		if code, ok := keys[name]; ok {
			key = code
		}
		run(p, chromedp.KeyEvent(key))
	}
}

// Size sets the size of the window.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	run(p, chromedp.EmulateViewport(int64(width), int64(height)))
}

// Dark switches the colour scheme.
func (p *Page) Dark(on bool) {
	p.t.Helper()
	scheme := map[bool]string{true: "dark", false: "light"}[on]
	p.Do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": scheme},
		{"name": "prefers-reduced-motion", "value": "reduce"},
		{"name": "hover", "value": "hover"},
	}}, nil)
}

// Papers are the sizes on which pages are printed.
var Papers = map[string]chromedp.PaperSize{"A4": chromedp.PaperA4, "Letter": chromedp.PaperLetter}

// Print returns the page as a PDF, without backgrounds.
func (p *Page) Print(paper chromedp.PaperSize) []byte {
	p.t.Helper()
	return run(p, chromedp.PrintToPDF(chromedp.PDFPaper(paper)))
}

// Picture returns a PNG of the whole page.
func (p *Page) Picture() []byte {
	p.t.Helper()
	return run(p, chromedp.FullScreenshot(100))
}

// Shot writes a picture of the page as <name>.png.
func (p *Page) Shot(name string) {
	p.t.Helper()
	if p.Pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(p.Pictures, name+".png"), p.Picture(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Axe returns the violations that axe-core finds, of any impact, one line each: rule, impact and element.
func (p *Page) Axe() (violations []string) {
	p.t.Helper()
	root, err := child.ModuleRoot()
	if err != nil {
		p.t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join(root, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		p.t.Skip("axe-core is not installed (make node_modules)")
	}
	loaded := false
	if p.Eval(`"axe" in window`, &loaded); !loaded {
		p.Eval(string(script)+"; 0", nil) // the protocol is not subject to the page's policy
	}
	p.Eval(`axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.flatMap((v) => v.nodes.map(
		(n) => v.id + " (" + v.impact + "): " + n.target.join(" ") + " " + n.html.slice(0, 160) + " " +
			n.failureSummary.slice(0, 240))))`, &violations)
	for i := range violations {
		violations[i] = strings.ReplaceAll(violations[i], "\n", " ")
	}
	return violations
}
