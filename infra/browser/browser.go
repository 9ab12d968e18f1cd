// Package browser lets tests drive a headless Chromium over the DevTools protocol.
package browser

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a browser may take for one command.
const patience = 2 * time.Minute

// Tab is the only tab of a browser that ends with its test. Its methods end the test where the browser fails.
type Tab struct {
	t       testing.TB
	session string
	to      io.Writer

	mu      sync.Mutex
	last    int
	answers map[int]chan message
	log     []string
	asked   []string
	gone    chan struct{}
}

type message struct {
	ID        int             `json:"id,omitempty"`
	SessionID string          `json:"sessionId,omitempty"`
	Method    string          `json:"method,omitempty"`
	Params    json.RawMessage `json:"params,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Open starts a browser. The test is skipped where no Chromium is installed.
func Open(t testing.TB) *Tab {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no Chromium is installed")
	}
	read, write, err := os.Pipe()
	check(t, err)
	from, answer, err := os.Pipe()
	check(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--disable-dev-shm-usage", "--user-data-dir="+t.TempDir(), "--remote-debugging-pipe")
	command.ExtraFiles = []*os.File{read, answer}
	command.WaitDelay = 5 * time.Second
	check(t, command.Start())
	read.Close()
	answer.Close()
	tab := &Tab{t: t, to: write, answers: map[int]chan message{}, gone: make(chan struct{})}
	go tab.listen(from)
	t.Cleanup(func() {
		write.Close() // Chromium ends with its pipe
		select {
		case <-tab.gone:
		case <-time.After(5 * time.Second):
		}
		cancel()
		_ = command.Wait()
	})
	var target struct{ TargetID string }
	tab.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	tab.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	tab.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		tab.Call(domain+".enable", nil, nil)
	}
	return tab
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (tab *Tab) listen(from io.Reader) {
	defer close(tab.gone)
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) != nil {
			continue
		}
		tab.mu.Lock()
		if answer := tab.answers[m.ID]; m.ID != 0 && answer != nil {
			delete(tab.answers, m.ID)
			answer <- m
		}
		switch m.Method {
		case "Log.entryAdded", "Runtime.exceptionThrown":
			tab.log = append(tab.log, string(m.Params))
		case "Network.requestWillBeSent":
			var sent struct{ Request struct{ URL string } }
			if json.Unmarshal(m.Params, &sent) == nil {
				tab.asked = append(tab.asked, sent.Request.URL)
			}
		}
		tab.mu.Unlock()
	}
}

// Call runs a command of the protocol. result may be nil.
func (tab *Tab) Call(method string, params, result any) {
	tab.t.Helper()
	raw, err := json.Marshal(params)
	check(tab.t, err)
	if params == nil {
		raw = []byte("{}")
	}
	answer := make(chan message, 1)
	tab.mu.Lock()
	tab.last++
	tab.answers[tab.last] = answer
	text, err := json.Marshal(message{ID: tab.last, SessionID: tab.session, Method: method, Params: raw})
	if err == nil {
		_, err = tab.to.Write(append(text, 0))
	}
	tab.mu.Unlock()
	check(tab.t, err)
	select {
	case m := <-answer:
		if m.Error != nil {
			tab.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if result != nil {
			check(tab.t, json.Unmarshal(m.Result, result))
		}
	case <-tab.gone:
		tab.t.Fatalf("%s: the browser has ended", method)
	case <-time.After(patience):
		tab.t.Fatalf("%s: no answer", method)
	}
}

// Eval evaluates an expression of JavaScript, awaits it and decodes its value into a result, which may be nil.
func (tab *Tab) Eval(expression string, result any) {
	tab.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	tab.Call("Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true, "userGesture": true,
	}, &out)
	if e := out.ExceptionDetails; e != nil {
		tab.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if result != nil && out.Result.Value != nil {
		check(tab.t, json.Unmarshal(out.Result.Value, result))
	}
}

// Until waits for an expression to become true.
func (tab *Tab) Until(expression string) {
	tab.t.Helper()
	end := time.Now().Add(patience)
	for ok := false; !ok; tab.Eval("new Promise((r) => setTimeout(() => r(Boolean("+expression+")), 20))", &ok) {
		if time.Now().After(end) {
			var text string
			tab.Eval("document.body.innerText.slice(0, 3000)", &text)
			tab.t.Fatalf("never true: %s\n%s", expression, text)
		}
	}
}

// Go opens an address and waits until the page is loaded.
func (tab *Tab) Go(address string) {
	tab.t.Helper()
	tab.Call("Page.navigate", map[string]any{"url": address}, nil)
	path, _, _ := strings.Cut(address, "#")
	tab.Until(fmt.Sprintf("location.href.startsWith(%q) && document.readyState === 'complete'", path))
}

// Show sets the contents of the tab.
func (tab *Tab) Show(html string) {
	tab.t.Helper()
	file := filepath.Join(tab.t.TempDir(), "page.html")
	check(tab.t, os.WriteFile(file, []byte(html), 0o600))
	tab.Go("file://" + file)
}

// Screen sets width and colour scheme.
func (tab *Tab) Screen(width int, dark bool) {
	tab.t.Helper()
	tab.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	tab.Call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Press presses a key, such as Tab, Enter or ArrowDown.
func (tab *Tab) Press(key string) {
	tab.t.Helper()
	codes := map[string]int{"Tab": 9, "Enter": 13, "Escape": 27, " ": 32}
	event := map[string]any{"key": key, "code": key, "windowsVirtualKeyCode": codes[key]}
	if key == "Enter" {
		event["text"] = "\r"
	}
	for _, kind := range []string{"keyDown", "keyUp"} {
		event["type"] = kind
		tab.Call("Input.dispatchKeyEvent", event, nil)
	}
}

// Paper is a size of paper in inches.
type Paper struct {
	Name          string
	Width, Height float64
}

// Papers are the sizes on which pages are printed.
var Papers = []Paper{{"A4", 8.27, 11.69}, {"Letter", 8.5, 11}}

// Print returns the page as a PDF.
func (tab *Tab) Print(paper Paper) []byte {
	tab.t.Helper()
	return tab.bytes("Page.printToPDF", map[string]any{"paperWidth": paper.Width, "paperHeight": paper.Height, "printBackground": false})
}

// Picture returns a PNG of the page, as far as 5,000 pixels down.
func (tab *Tab) Picture() []byte {
	tab.t.Helper()
	var size struct{ W, H float64 }
	tab.Eval("({w: innerWidth, h: Math.min(document.documentElement.scrollHeight, 5000)})", &size)
	return tab.bytes("Page.captureScreenshot", map[string]any{
		"captureBeyondViewport": true, "clip": map[string]float64{"x": 0, "y": 0, "width": size.W, "height": size.H, "scale": 1},
	})
}

func (tab *Tab) bytes(method string, params map[string]any) []byte {
	tab.t.Helper()
	var out struct{ Data string }
	tab.Call(method, params, &out)
	data, err := base64.StdEncoding.DecodeString(out.Data)
	check(tab.t, err)
	return data
}

// Log returns what the browser has reported: errors of scripts, and what a policy has refused.
func (tab *Tab) Log() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string(nil), tab.log...)
}

// Requests returns the addresses that were requested.
func (tab *Tab) Requests() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return append([]string(nil), tab.asked...)
}

// Axe returns the violations that axe-core finds, of any impact, as "impact rule: element".
func (tab *Tab) Axe() (violations []string) {
	tab.t.Helper()
	folder, err := os.Getwd()
	check(tab.t, err)
	var script []byte
	for ; folder != filepath.Dir(folder) && script == nil; folder = filepath.Dir(folder) {
		script, _ = os.ReadFile(filepath.Join(folder, "node_modules", "axe-core", "axe.min.js"))
	}
	if script == nil {
		tab.t.Skip("axe-core is not installed (make node_modules)")
	}
	tab.Eval(string(script)+"; 0", nil) // the protocol is above the page's policy
	tab.Eval(`axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.impact + " " + v.id + ": " + n.target.join(" ") + " " + (n.any[0] || n.all[0] || n.none[0] || {}).message)))`, &violations)
	return violations
}
