package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"skillscurriculum/infra/console"
	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/receiver"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/local/stack/stacktest"
	"skillscurriculum/infra/reference"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/client"
	"skillscurriculum/pkg/rest"
)

// TestEndToEnd runs the whole stack with the real bootstraps and the demo data, and acts like a
// newcomer, an impatient client and a failing machine.
func TestEndToEnd(t *testing.T) {
	home := t.TempDir()
	local := filepath.Join(home, "build", "local")
	slow := slowSyllabi(t)
	functions := stacktest.Functions(t)
	site := filepath.Join(functions, string(api.Docs), reference.Folder)
	if err := reference.Build(filepath.Join("..", ".."), site); err != nil {
		t.Fatal(err)
	}
	if err := console.Build(filepath.Join("..", ".."), site); err != nil {
		t.Fatal(err)
	}
	receives := &receiver.Receiver{Print: func(string) {}}
	announced := run(t, stack.Config{
		Dir: local, Functions: functions, Console: log.New(io.Discard, "", 0),
		Env:  map[string]string{api.EnvRateUnits: "600", api.EnvRateWindow: "3600", api.EnvAllowedHosts: slow.host},
		Demo: loadDemo(local, site, receives), Syllabi: demo.Syllabi(), Receiver: receives,
	})

	t.Run("README", func(t *testing.T) { readme(t, home) })
	t.Run("docs/clients.md", func(t *testing.T) { firstCalls(t, home, announced.BaseURL, announced.Customers[1].APIKey) })
	t.Run("kill the extractor in mid-job", func(t *testing.T) { killExtractor(t, announced, slow) })
	t.Run("every operation's example", func(t *testing.T) { everyExample(t, announced) })
	t.Run("16 clients at the limit", func(t *testing.T) { exactLimit(t, announced.BaseURL, announced.Customers[1]) })
}

// run starts the stack and stops it when the test ends.
func run(t *testing.T, config stack.Config) stack.Announcement {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	ready := make(chan stack.Announcement, 1)
	go func() { ended <- stack.Run(ctx, config, func(a stack.Announcement) { ready <- a }) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("stack: %v", err)
		}
	})
	select {
	case a := <-ready:
		return a
	case err := <-ended:
		ended <- nil
		t.Fatalf("stack: %v", err)
	case <-time.After(10 * time.Minute):
		t.Fatal("the stack does not answer")
	}
	panic("unreachable")
}

// readme runs the README's requests unchanged, in one shell.
func readme(t *testing.T, home string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("set -euo pipefail\n")
	for i, block := range strings.Split(string(text), "```sh\n") {
		if i > 0 {
			commands, _, _ := strings.Cut(block, "```")
			script.WriteString(commands)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(home, "build", "skillsctl"), "../skillsctl").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	cmd.Dir = home
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, shown := range []string{`"processingStatus": "COMPLETED"`, `"skillName": "relational databases"`, `"skillsMatchScore"`, `"regionName": "Washington"`, `"lookupData"`, `"alternative": 0`, `"uncovered": []`, `"created": 5`, "/shared?token=lnk_"} {
		if !bytes.Contains(out, []byte(shown)) {
			t.Errorf("the README's requests do not show %s", shown)
		}
	}
	if bytes.Contains(out, []byte(`"failure": {`)) || t.Failed() {
		t.Logf("%s", out)
	}
}

// firstCalls runs the programs of docs/clients.md unchanged. All create the same records under
// the same idempotency keys, and so print the same.
func firstCalls(t *testing.T, home, base, key string) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "clients.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := regexp.MustCompile(`^created crs_\w+\ncourses \d+\nextracted relational databases\nerror not_found\nchanged /v1/\S+\n$`)
	first := ""
	for _, language := range []struct {
		fence, file string
		run         []string // before the file
		needed      bool
	}{
		{"sh", "first.sh", []string{"bash", "-euo", "pipefail"}, true},
		{"go", "first.go", []string{"go", "run"}, true},
		{"python", "first.py", []string{"python3"}, false},
		{"ts", "first.mjs", []string{"node"}, false}, // it has no types that an engine would not infer
	} {
		t.Run(language.fence, func(t *testing.T) {
			if _, err := exec.LookPath(language.run[0]); err != nil && !language.needed {
				t.Skipf("%s is not installed", language.run[0])
			}
			_, program, found := strings.Cut(string(text), "```"+language.fence+"\n")
			program, _, ended := strings.Cut(program, "```\n")
			file := filepath.Join(home, language.file)
			if !found || !ended || os.WriteFile(file, []byte(program), 0o644) != nil {
				t.Fatal("there is no such program")
			}
			cmd := exec.CommandContext(t.Context(), language.run[0], append(language.run[1:], file)...)
			cmd.Env = append(os.Environ(), "BASE="+base, "API_KEY="+key)
			if language.fence == "sh" {
				cmd.Dir = home // where build/skillsctl is
			}
			out, err := cmd.CombinedOutput()
			if first == "" {
				first = string(out)
			}
			if err != nil || !want.Match(out) || string(out) != first {
				t.Errorf("%v\n%s\nwant %s", err, out, first)
			}
		})
	}
}

// exactLimit lets 16 clients use up a window together: exactly the units of the window are
// admitted, and the usage agrees.
func exactLimit(t *testing.T, base string, customer stack.Customer) {
	service := &client.Client{BaseURL: base, Key: customer.APIKey}
	usage := client.Request{Operation: "getCustomerUsage", IDs: []string{customer.CustomerID}}
	before, err := client.Do[rest.CustomerUsage](t.Context(), service, usage)
	if err != nil || before.Window.Remaining == 0 {
		t.Fatalf("%+v, %v", before.Window, err)
	}
	left := before.Window.Remaining
	var mu sync.Mutex
	statuses := map[int]int{}
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for range left/16 + 10 {
				response, err := service.Send(t.Context(), client.Request{Operation: "listJobs", Query: url.Values{"limit": {"1"}}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				statuses[response.Status]++
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	if statuses[200] != left || len(statuses) != 2 || statuses[429] == 0 {
		t.Errorf("%d units were left; responses by status: %v", left, statuses)
	}
	after, err := client.Do[rest.CustomerUsage](t.Context(), service, usage)
	if err != nil || after.Window.Used != after.Window.Limit || after.Window.Remaining != 0 || after.Status != "limited" {
		t.Errorf("usage %+v, %v", after, err)
	}
}

// slowServer serves a syllabus whose first reader waits until it is released.
type slowServer struct {
	host    string
	asked   chan struct{}
	release chan struct{}
}

func slowSyllabi(t *testing.T) *slowServer {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &slowServer{host: listener.Addr().String(), asked: make(chan struct{}, 10), release: make(chan struct{})}
	var once sync.Once
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		once.Do(func() {
			s.asked <- struct{}{}
			select {
			case <-s.release:
			case <-r.Context().Done():
			}
		})
		fmt.Fprint(w, "Course outcomes\n\nStudents will write SQL queries and design relational databases.\n")
	})}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return s
}

// killExtractor kills a process in the middle of an extraction, which ends COMPLETED all the
// same.
func killExtractor(t *testing.T, a stack.Announcement, slow *slowServer) {
	service := &client.Client{BaseURL: a.BaseURL, Key: a.Customers[0].APIKey}
	created, err := client.Do[[]catalog.TransferCourse](t.Context(), service, client.Request{
		Operation: "createTransferCourses", IDs: []string{a.Examples.PackageID},
		Body: map[string]any{"courses": []any{map[string]string{"name": "Slow", "syllabusHref": "http://" + slow.host + "/slow.txt"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-slow.asked:
	case <-time.After(10 * time.Minute):
		t.Fatal("nobody fetches the syllabus")
	}
	killed := 0
	for _, pid := range extractors(t) {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			killed++
		}
	}
	close(slow.release)
	if killed == 0 {
		t.Fatal("there is no extractor to kill")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	course, err := client.Wait[catalog.TransferCourse](ctx, service, client.Request{Operation: "getTransferCourse", IDs: []string{a.Examples.PackageID, created[0].ID}})
	if err != nil || course.ProcessingStatus != catalog.Completed {
		t.Fatalf("%+v, %v", course, err)
	}
}

// extractors lists the running processes of this test's extractor.
func extractors(t *testing.T) []int {
	found, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, exe := range found {
		target, err := os.Readlink(exe)
		if err == nil && strings.HasSuffix(target, "/extractor/bootstrap") && strings.HasPrefix(target, os.TempDir()) {
			pid, _ := strconv.Atoi(strings.Split(exe, "/")[2])
			if parent, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(parent), fmt.Sprintf(" %d ", os.Getpid())) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
