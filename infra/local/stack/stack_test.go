package stack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"skillscurriculum/infra/local/queue"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
)

// The test binary acts as every function and as the program that runs the stack.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv("AWS_LAMBDA_FUNCTION_NAME") != "":
		lambda.Start(toy)
	case os.Getenv("STACK_TEST_DIR") != "":
		program(os.Getenv("STACK_TEST_DIR"))
	default:
		os.Exit(m.Run())
	}
}

// toy responds to requests with its environment. A message names a file that it writes.
func toy(_ context.Context, payload json.RawMessage) (any, error) {
	var event struct {
		HTTPMethod string
		Path       string
		Records    []events.SQSMessage
	}
	if err := json.Unmarshal(payload, &event); err != nil {
		return nil, err
	}
	if event.Path == "/jobs/crash" {
		os.Exit(1)
	}
	for _, m := range event.Records {
		return nil, os.WriteFile(m.Body, []byte(os.Getenv("AWS_LAMBDA_FUNCTION_NAME")), 0o644)
	}
	body, err := json.Marshal(os.Environ())
	return events.APIGatewayProxyResponse{StatusCode: http.StatusOK, Body: string(body)}, err
}

// bootstraps returns a directory in which every bootstrap is the test binary.
func bootstraps(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range api.Functions() {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(self, filepath.Join(dir, name, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func config(dir, functions string, says io.Writer) Config {
	return Config{
		Dir: dir, Functions: functions, Console: log.New(says, "", 0),
		Env:     map[string]string{api.EnvAllowedHosts: "127.0.0.1:9"},
		Syllabi: fstest.MapFS{"course.md": {Data: []byte("# Course")}},
		Demo: func(ctx context.Context, p Places) (Demo, error) {
			customers := []Customer{{CustomerID: "cus_1", APIKey: "good"}}
			key := catalog.Key{ID: "key_1", CustomerID: "cus_1", Hash: catalog.HashSecret("good")}
			return Demo{Customers: customers, Examples: Examples{CourseID: "crs_1"}}, Open(p.Env).SaveKey(ctx, &key)
		},
	}
}

// program runs the stack like main, for tests that kill it.
func program(dir string) {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // the test closes it to ask for a clean stop
		stop()
	}()
	c := config(filepath.Join(dir, "local"), filepath.Join(dir, "functions"), os.Stderr)
	err := Run(ctx, c, func(Announcement) { fmt.Println("ready") })
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// start runs a stack inside the test.
func start(t *testing.T, c Config) (told Announcement, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan Announcement, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, c, func(a Announcement) { ready <- a }) }()
	select {
	case told = <-ready:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	return told, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestService(t *testing.T) {
	var says safeBuffer
	dir := filepath.Join(t.TempDir(), "local")
	c := config(dir, bootstraps(t), &says)
	told, stop := start(t, c)
	defer stop()

	text, err := os.ReadFile(dir + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var written struct {
		BaseURL   string              `json:"baseUrl"`
		Customers []map[string]string `json:"customers"`
		Examples  map[string]string   `json:"examples"`
	}
	if err := json.Unmarshal(text, &written); err != nil || written.BaseURL != told.BaseURL ||
		written.Customers[0]["apiKey"] != "good" || written.Examples["courseId"] != "crs_1" {
		t.Errorf("announcement: %s", text)
	}

	status, body := ask(t, told.BaseURL+"/courses", "good")
	if status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	var env []string
	if err := json.Unmarshal([]byte(body), &env); err != nil {
		t.Fatal(err)
	}
	syllabi := ""
	for _, want := range []string{
		"AWS_LAMBDA_FUNCTION_NAME=courses", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=courses",
		"TABLE_NAME=skills-curriculum", "RATE_LIMIT_UNITS=1000", "RATE_LIMIT_WINDOW_SECONDS=60",
		"QUEUE_URL=" + told.Environment["QUEUE_URL"], "DYNAMODB_ENDPOINT=" + told.Environment["DYNAMODB_ENDPOINT"],
	} {
		if !slices.Contains(env, want) {
			t.Errorf("the function does not see %s", want)
		}
	}
	for _, v := range env {
		if hosts, ok := strings.CutPrefix(v, "SYLLABUS_ALLOWED_HOSTS=127.0.0.1:9,"); ok {
			syllabi = hosts
		}
	}
	if status, body := ask(t, "http://"+syllabi+"/course.md", ""); status != http.StatusOK || body != "# Course" {
		t.Errorf("syllabus at %q: %d %s", syllabi, status, body)
	}

	if status, _ := ask(t, told.BaseURL+"/jobs/crash", "good"); status != http.StatusInternalServerError {
		t.Errorf("crash of a function: %d", status)
	}
	if status, _ := ask(t, told.BaseURL+"/jobs", "good"); status != http.StatusOK {
		t.Errorf("after the crash: %d", status)
	}

	done := filepath.Join(t.TempDir(), "done")
	send(t, told, done)
	if got := awaitFile(t, done); got != api.Extractor {
		t.Errorf("the message went to %q", got)
	}

	if runtime.GOOS == "linux" {
		for _, part := range []string{"DynamoDBLocal.jar", "goaws"} {
			killChild(t, part)
		}
		awaitText(t, &says, "DynamoDB Local is ready again")
		awaitText(t, &says, "the queue (goaws) is ready again")
		again := filepath.Join(t.TempDir(), "again")
		send(t, told, again)
		awaitFile(t, again)
	}

	err = Run(t.Context(), c, nil)
	if err == nil || !strings.Contains(err.Error(), "another local stack is running in "+dir) {
		t.Errorf("second stack in the directory: %v", err)
	}
	stop()
	if _, err := os.Stat(dir + ".json"); err == nil {
		t.Error("the announcement still exists after the stop")
	}
	if children := descendants(os.Getpid()); len(children) > 0 {
		t.Errorf("orphans: %v", children)
	}
}

func TestStartErrors(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	for name, c := range map[string]struct {
		change func(*Config)
		says   string
	}{
		"port in use":      {func(c *Config) { c.Port = port }, fmt.Sprintf("port %d of 127.0.0.1 is in use", port)},
		"function missing": {func(c *Config) { c.Functions = "nowhere" }, "is not built"},
		"no demo": {func(c *Config) {
			c.Demo = func(context.Context, Places) (Demo, error) { return Demo{}, io.ErrUnexpectedEOF }
		}, "demo data: unexpected EOF"},
		"queue unreachable": {func(c *Config) { c.Env[api.EnvSQSEndpoint] = "http://127.0.0.1:1" }, "create queue"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t.TempDir(), bootstraps(t), io.Discard)
			c.change(&cfg)
			err := Run(t.Context(), cfg, func(Announcement) { t.Error("ready") })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error: %v", err)
			}
			if children := descendants(os.Getpid()); len(children) > 0 {
				t.Errorf("orphans: %v", children)
			}
		})
	}
}

func TestFresh(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"dynamodb/data.db", "logs/courses.log", "functions/courses/bootstrap"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, fresh := range []bool{false, true} {
		unlock, err := claim(dir, fresh)
		if err != nil {
			t.Fatal(err)
		}
		unlock()
		_, err = os.Stat(filepath.Join(dir, "dynamodb"))
		if fresh == (err == nil) {
			t.Errorf("fresh %t: %v", fresh, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "functions", "courses", "bootstrap")); err != nil {
		t.Errorf("the bootstrap is gone: %v", err)
	}
}

func TestNoOrphans(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux supports this")
	}
	for name, end := range map[string]func(*exec.Cmd, io.Closer){
		"clean stop": func(_ *exec.Cmd, stdin io.Closer) { _ = stdin.Close() },
		"killed":     func(p *exec.Cmd, _ io.Closer) { _ = p.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink(bootstraps(t), filepath.Join(dir, "functions")); err != nil {
				t.Fatal(err)
			}
			p := exec.Command(os.Args[0])
			p.Env = append(os.Environ(), "STACK_TEST_DIR="+dir)
			var says safeBuffer
			p.Stderr = &says
			stdin, err := p.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			stdout, err := p.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
				t.Fatalf("%q\n%s", line, &says)
			}
			children := descendants(p.Process.Pid)
			if want := 2 + len(api.Groups()) + 2; len(children) < want {
				t.Errorf("%d children, want at least %d", len(children), want)
			}
			end(p, stdin)
			_ = p.Wait()
			for _, pid := range children {
				for n := 0; alive(pid); n++ {
					if n == 30_000 {
						t.Fatalf("process %d is still alive", pid)
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
		})
	}
}

func ask(t *testing.T, url, key string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(api.HeaderKey, key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func send(t *testing.T, told Announcement, body string) {
	t.Helper()
	_, err := queue.Client(told.Environment[api.EnvSQSEndpoint]).SendMessage(t.Context(), &sqs.SendMessageInput{
		QueueUrl: aws.String(told.Environment[api.EnvQueueURL]), MessageBody: aws.String(body),
	})
	if err != nil {
		t.Fatal(err)
	}
}

func awaitFile(t *testing.T, path string) string {
	t.Helper()
	for range 30_000 {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s was not written", path)
	return ""
}

func awaitText(t *testing.T, says *safeBuffer, text string) {
	t.Helper()
	for range 30_000 {
		if strings.Contains(says.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the console lacks %q:\n%s", text, says)
}

// descendants lists the processes below pid according to /proc.
func descendants(pid int) []int {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	children := map[int][]int{}
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(text), ") ") // the name before it may contain anything
		fields := strings.Fields(rest)
		if len(fields) < 2 || fields[0] == "Z" {
			continue
		}
		parent, _ := strconv.Atoi(fields[1])
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		children[parent] = append(children[parent], child)
	}
	var all []int
	for next := children[pid]; len(next) > 0; {
		child := next[0]
		all = append(all, child)
		next = append(next[1:], children[child]...)
	}
	return all
}

func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// killChild kills the child whose command line contains the word.
func killChild(t *testing.T, word string) {
	t.Helper()
	for _, pid := range descendants(os.Getpid()) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(string(line), word) {
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("no child's command line contains %s", word)
}

type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
