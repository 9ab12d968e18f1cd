// Package browser drives a headless Chromium in tests: it opens pages, types, presses keys,
// waits for what the page shows, checks it with axe-core and takes pictures. It talks to the
// browser over a pipe (the Chrome DevTools Protocol), so no port is open.
package browser

import (
	"bufio"
	"bytes"
	"encoding/base64"
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
)

// limit is how long a test waits for anything; it is generous because machines are busy.
const limit = 60 * time.Second

// Browser is a running Chromium.
type Browser struct {
	t    *testing.T
	in   *os.File
	mu   sync.Mutex
	last int
	open map[int]chan response
	seen map[string]func(method string, params json.RawMessage) // by session
}

type response struct {
	Result json.RawMessage
	Error  *struct{ Message string }
}

// Start starts Chromium, which ends with the test. It skips the test where there is none.
func Start(t *testing.T) *Browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		t.Skip("there is no Chromium here")
	}
	theirs, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--lang=en-US",
		"--force-color-profile=srgb", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	command.ExtraFiles = []*os.File{theirs, answers} // descriptors 3 and 4
	command.WaitDelay = 5 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirs.Close(), answers.Close()
	b := &Browser{t: t, in: in, open: map[int]chan response{}, seen: map[string]func(string, json.RawMessage){}}
	go b.read(out)
	t.Cleanup(func() {
		b.send(nil, "", "Browser.close", nil)
		_ = in.Close()
		timer := time.AfterFunc(limit, func() { _ = command.Process.Kill() })
		_ = command.Wait()
		timer.Stop()
	})
	return b
}

// read takes the browser's messages, each of which ends with a zero byte.
func (b *Browser) read(from *os.File) {
	lines := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m struct {
			response
			ID        int
			SessionID string
			Method    string
			Params    json.RawMessage
		}
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		waiting, seen := b.open[m.ID], b.seen[m.SessionID]
		delete(b.open, m.ID)
		b.mu.Unlock()
		switch {
		case m.ID != 0 && waiting != nil:
			waiting <- m.response
		case m.Method != "" && seen != nil:
			seen(m.Method, m.Params)
		}
	}
}

func (b *Browser) send(answer chan response, session, method string, params any) {
	if params == nil {
		params = struct{}{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last++
	if answer != nil {
		b.open[b.last] = answer
	}
	message := map[string]any{"id": b.last, "method": method, "params": params}
	if session != "" {
		message["sessionId"] = session
	}
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	_, _ = b.in.Write(append(text, 0))
}

func (b *Browser) call(session, method string, params, out any) error {
	answer := make(chan response, 1)
	b.send(answer, session, method, params)
	select {
	case r := <-answer:
		if r.Error != nil {
			return fmt.Errorf("%s: %s", method, r.Error.Message)
		}
		if out == nil {
			return nil
		}
		return json.Unmarshal(r.Result, out)
	case <-time.After(limit + 10*time.Second):
		return fmt.Errorf("%s: no answer", method)
	}
}

// Page is a tab with storage of its own.
type Page struct {
	t        *testing.T
	b        *Browser
	session  string
	mu       sync.Mutex
	faults   []string
	Pictures string // directory of the pictures of Shot; none are taken if empty
	root     string // of the repository
}

// Page opens an empty tab of a size. root is the path of the repository, for axe-core.
func (b *Browser) Page(t *testing.T, root string, width, height int) *Page {
	t.Helper()
	var context struct{ BrowserContextID string }
	var target struct{ TargetID string }
	var attached struct{ SessionID string }
	p := &Page{t: t, b: b, root: root}
	for _, step := range []struct {
		method string
		params func() any
		out    any
	}{
		{"Target.createBrowserContext", func() any { return nil }, &context},
		{"Target.createTarget", func() any {
			return map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID, "width": width, "height": height}
		}, &target},
		{"Target.attachToTarget", func() any { return map[string]any{"targetId": target.TargetID, "flatten": true} }, &attached},
	} {
		if err := b.call("", step.method, step.params(), step.out); err != nil {
			t.Fatal(err)
		}
	}
	p.session = attached.SessionID
	b.mu.Lock()
	b.seen[p.session] = p.note
	b.mu.Unlock()
	for _, domain := range []string{"Page.enable", "Runtime.enable", "Log.enable", "Network.enable"} {
		p.Do(domain, nil, nil)
	}
	p.Do("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	t.Cleanup(func() {
		_ = b.call("", "Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil)
	})
	return p
}

// note keeps what the page's console says about errors, and violations of its policy.
func (p *Page) note(method string, params json.RawMessage) {
	var entry struct {
		Entry            struct{ Source, Level, Text, URL string }
		ExceptionDetails struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if json.Unmarshal(params, &entry) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case method == "Runtime.exceptionThrown":
		p.faults = append(p.faults, entry.ExceptionDetails.Text+" "+entry.ExceptionDetails.Exception.Description)
	case method == "Log.entryAdded" && entry.Entry.Level == "error" && entry.Entry.Source != "network":
		p.faults = append(p.faults, entry.Entry.Source+": "+entry.Entry.Text)
	}
}

// Faults returns the exceptions and violations of the policy since the page was opened; failed
// requests are not among them.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.faults)
}

// Do sends a command of the protocol.
func (p *Page) Do(method string, params, out any) {
	p.t.Helper()
	if err := p.b.call(p.session, method, params, out); err != nil {
		p.t.Fatal(err)
	}
}

// Open loads an address.
func (p *Page) Open(address string) {
	p.t.Helper()
	p.Do("Page.navigate", map[string]any{"url": address}, nil)
	p.Until(`document.readyState === "complete" && location.href.startsWith(` + quoted(address) + `)`)
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Eval evaluates an expression, which may be a promise, into out.
func (p *Page) Eval(expression string, out any) {
	p.t.Helper()
	if err := p.eval(expression, out); err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) eval(expression string, out any) error {
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	if err := p.b.call(p.session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &r); err != nil {
		return err
	}
	if r.ExceptionDetails != nil {
		return fmt.Errorf("%s: %s %s", expression, r.ExceptionDetails.Text, r.ExceptionDetails.Exception.Description)
	}
	if out == nil || r.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(r.Result.Value, out)
}

// Until waits until an expression is true, and looks at it with each frame.
func (p *Page) Until(expression string) {
	p.t.Helper()
	if !p.Within(limit, expression) {
		var text string
		p.Eval(`document.body ? document.body.innerText.slice(0, 3000) : ""`, &text)
		p.Shot("failed")
		p.t.Fatalf("%s does not become true; faults: %q; the page shows:\n%s", expression, p.Faults(), text)
	}
}

// Within reports whether an expression becomes true in a time.
func (p *Page) Within(d time.Duration, expression string) bool {
	p.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); {
		done := false
		left := min(time.Until(end), 5*time.Second)
		if p.eval(fmt.Sprintf(`new Promise((resolve) => {
			const end = performance.now() + %d;
			const look = () => { let is = false; try { is = Boolean(%s); } catch {} if (is || performance.now() > end) resolve(is); else setTimeout(look, 15); };
			look();
		})`, left.Milliseconds(), expression), &done) == nil && done {
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

// named finds what can be used under an accessible name or text.
const named = `((name) => {
	const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled;
	const top = document.querySelector("dialog[open]") ?? document;
	const is = (t) => t !== null && t !== undefined && t.replace(/[\u2066-\u2069]/g, "").replace(/\s+/g, " ").trim() === name;
	const words = (e) => [...e.childNodes].map((n) => n.nodeName === "KBD" ? "" : n.nodeType === 3 ? n.data : words(n)).join("");
	for (const l of top.querySelectorAll("label")) if (is(words(l)) && l.control && shown(l.control)) return l.control;
	for (const e of top.querySelectorAll("a, button, summary, input, select, textarea, [role=option], [role=tab]")) if (shown(e) && (is(e.getAttribute("aria-label")) || is(words(e)))) return e;
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
	p.Do("Input.insertText", map[string]any{"text": text}, nil)
}

// Choose takes an option of the select with an accessible name, by its value.
func (p *Page) Choose(name, value string) {
	p.t.Helper()
	p.Until(Named(name))
	p.Eval(`{ const e = `+Named(name)+`; e.value = `+quoted(value)+`; e.dispatchEvent(new Event("change", { bubbles: true })); }`, nil)
}

// Put gives a file to the file input with an accessible name.
func (p *Page) Put(name, path string) {
	p.t.Helper()
	p.Until(Named(name))
	var r struct{ Result struct{ ObjectID string } }
	p.Do("Runtime.evaluate", map[string]any{"expression": Named(name)}, &r)
	p.Do("DOM.setFileInputFiles", map[string]any{"files": []string{path}, "objectId": r.Result.ObjectID}, nil)
}

var codes = map[string]int{"Enter": 13, "Escape": 27, "Tab": 9, "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Backspace": 8, " ": 32}

// Press presses keys, one after the other.
func (p *Page) Press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		down := map[string]any{"type": "keyDown", "key": key, "windowsVirtualKeyCode": codes[key]}
		if len(key) == 1 {
			down["text"] = key
		} else if key == "Enter" {
			down["text"] = "\r"
		}
		p.Do("Input.dispatchKeyEvent", down, nil)
		p.Do("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
	}
}

// Shot writes a picture of the window as <name>.png.
func (p *Page) Shot(name string) {
	p.t.Helper()
	if p.Pictures == "" {
		return
	}
	var r struct{ Data string }
	p.Do("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	picture, err := base64.StdEncoding.DecodeString(r.Data)
	if err == nil {
		err = os.WriteFile(filepath.Join(p.Pictures, name+".png"), picture, 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// Axe returns what axe-core finds against the page, one line each: its rule, impact and element.
func (p *Page) Axe() []string {
	p.t.Helper()
	script, err := os.ReadFile(filepath.Join(p.root, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		p.t.Fatalf("%v (run make node_modules)", err)
	}
	loaded := false
	if p.Eval(`"axe" in window`, &loaded); !loaded {
		p.Eval(string(script)+";0", nil)
	}
	var found []string
	p.Eval(`axe.run(document, { resultTypes: ["violations"] }).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + " (" + v.impact + "): " + n.target.join(" ") + " " + n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 240))))`, &found)
	for i := range found {
		found[i] = strings.ReplaceAll(found[i], "\n", " ")
	}
	return found
}

// Dark switches the colour scheme.
func (p *Page) Dark(on bool) {
	p.t.Helper()
	value := map[bool]string{true: "dark", false: "light"}[on]
	p.Do("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{
		{"name": "prefers-color-scheme", "value": value}, {"name": "prefers-reduced-motion", "value": "reduce"}, {"name": "hover", "value": "hover"},
	}}, nil)
}
