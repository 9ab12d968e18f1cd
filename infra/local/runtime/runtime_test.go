package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// The test binary acts as the bootstrap that TEST_PART selects.
func TestMain(m *testing.M) {
	switch os.Getenv("TEST_PART") {
	case "":
		os.Exit(m.Run())
	case "broken":
		fmt.Println("TAXONOMY is missing")
		os.Exit(3)
	case "toy":
		lambda.Start(toy)
	}
}

func toy(ctx context.Context, wish string) (string, error) {
	switch wish {
	case "pid":
		return fmt.Sprint(os.Getpid()), nil
	case "context":
		lc, _ := lambdacontext.FromContext(ctx)
		deadline, _ := ctx.Deadline()
		return fmt.Sprintf("%s %s %t %d %s", lambdacontext.FunctionName, lc.InvokedFunctionArn, len(lc.AwsRequestID) == 36,
			deadline.UnixMilli(), os.Getenv("COLOUR")), nil
	case "fail":
		return "", errors.New("no such colour")
	case "panic":
		panic("the toy broke")
	case "exit":
		os.Exit(7)
	case "sleep":
		time.Sleep(time.Hour)
	case "nap":
		time.Sleep(200 * time.Millisecond)
	case "large":
		return strings.Repeat("x", largestResponse), nil
	case "warn":
		fmt.Println(`{"level":"INFO","msg":"quiet"}`)
		fmt.Println(`{"level":"WARN","msg":"loud"}`)
	}
	return wish, nil
}

// terminal records console output.
type terminal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *terminal) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

func (t *terminal) wait(tt *testing.T, text string) {
	tt.Helper()
	for range 30_000 {
		if strings.Contains(t.String(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	tt.Errorf("the console lacks %q:\n%s", text, t)
}

func toys(processes int) Function {
	return Function{
		Name: "toys", Bootstrap: os.Args[0], Timeout: 5 * time.Second, Processes: processes,
		Env: map[string]string{"TEST_PART": "toy", "COLOUR": "red"},
	}
}

func start(t *testing.T, f Function) (r *Runtime, says *terminal, logs string) {
	t.Helper()
	says, logs = &terminal{}, t.TempDir()
	r, err := Start(t.Context(), []Function{f}, logs, log.New(says, "", 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Stop)
	return r, says, logs
}

func (r *Runtime) ask(t *testing.T, wish string) string {
	t.Helper()
	response, err := r.Invoke(t.Context(), "toys", fmt.Appendf(nil, "%q", wish))
	if err != nil {
		t.Fatalf("%s: %v", wish, err)
	}
	return strings.Trim(string(response), `"`)
}

func TestInvocationSeesItsContext(t *testing.T) {
	r, _, _ := start(t, toys(1))
	earliest := time.Now().Add(5 * time.Second).UnixMilli()
	got := r.ask(t, "context")
	latest := time.Now().Add(5 * time.Second).UnixMilli()
	var name, arn, id, colour string
	var deadline int64
	_, err := fmt.Sscan(got, &name, &arn, &id, &deadline, &colour)
	want := "toys arn:aws:lambda:us-east-1:000000000000:function:toys true red"
	if err != nil || strings.Join([]string{name, arn, id, colour}, " ") != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if deadline < earliest || deadline > latest {
		t.Errorf("deadline %d, want between %d and %d", deadline, earliest, latest)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct{ wish, kind, message, says string }{
		{"fail", "errorString", "no such colour", "toys: invocation "},
		{"panic", "string", "the toy broke", "starting another"},
		{"exit", "Runtime.ExitError", "exit status 7", "during invocation"},
		{"large", "Function.ResponseSizeTooLarge", "larger than", "toys: invocation "},
	} {
		t.Run(c.wish, func(t *testing.T) {
			r, says, _ := start(t, toys(1))
			_, err := r.Invoke(t.Context(), "toys", fmt.Appendf(nil, "%q", c.wish))
			var failure *Error
			if !errors.As(err, &failure) || failure.Type != c.kind || !strings.Contains(failure.Message, c.message) {
				t.Fatalf("error: %#v", err)
			}
			says.wait(t, c.says)
			if got := r.ask(t, "again"); got != "again" {
				t.Errorf("next invocation: %s", got)
			}
		})
	}
}

func TestTimeoutKillsTheProcess(t *testing.T) {
	f := toys(1)
	f.Timeout = 300 * time.Millisecond
	r, says, _ := start(t, f)
	before := r.ask(t, "pid")
	_, err := r.Invoke(t.Context(), "toys", []byte(`"sleep"`))
	var failure *Error
	if !errors.As(err, &failure) || failure.Type != "Sandbox.Timedout" {
		t.Fatalf("error: %v", err)
	}
	says.wait(t, "(killed: took longer than 300ms), starting another")
	if after := r.ask(t, "pid"); after == before {
		t.Error("the process that took too long is still alive")
	}
}

func TestKilledIdleProcessIsReplaced(t *testing.T) {
	r, says, _ := start(t, toys(1))
	var pid int
	if _, err := fmt.Sscan(r.ask(t, "pid"), &pid); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	says.wait(t, fmt.Sprintf("toys: process %d ended (signal: killed), starting another", pid))
	if after := r.ask(t, "pid"); after == fmt.Sprint(pid) {
		t.Error("the killed process responds")
	}
}

func TestOneInvocationAtATimeInEachProcess(t *testing.T) {
	const processes = 3
	r, _, _ := start(t, toys(processes))
	var wg sync.WaitGroup
	for range 4 * processes {
		wg.Go(func() {
			if _, err := r.Invoke(t.Context(), "toys", []byte(`"nap"`)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.last != processes {
		t.Errorf("%d processes were started, want %d", r.last, processes)
	}
}

func TestCallerStopsWaiting(t *testing.T) {
	r, _, _ := start(t, toys(1))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Invoke(ctx, "toys", []byte(`"nap"`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error: %v", err)
	}
	if _, err := r.Invoke(ctx, "toys", []byte(`"nap"`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error while all processes are busy: %v", err)
	}
	if got := r.ask(t, "late"); got != "late" {
		t.Errorf("next invocation: %s", got)
	}
}

func TestFunctionThatCannotStart(t *testing.T) {
	says := &terminal{}
	f := toys(1)
	f.Env["TEST_PART"] = "broken"
	logs := t.TempDir()
	fine := toys(1)
	fine.Name = "fine"
	_, err := Start(t.Context(), []Function{f, fine}, logs, log.New(says, "", 0))
	if err == nil || !strings.Contains(err.Error(), "toys: Runtime.ExitError: ") ||
		!strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error: %v", err)
	}
	file, _ := os.ReadFile(filepath.Join(logs, "toys.log"))
	if !strings.Contains(string(file), "TAXONOMY is missing") {
		t.Errorf("log: %s", file)
	}
	f.Bootstrap = "nowhere/bootstrap"
	_, err = Start(t.Context(), []Function{f}, logs, log.New(says, "", 0))
	if err == nil || !strings.Contains(err.Error(), "function toys is not built") {
		t.Errorf("error: %v", err)
	}
}

func TestWarningsReachTheTerminal(t *testing.T) {
	r, says, logs := start(t, toys(1))
	r.ask(t, "warn")
	says.wait(t, `toys: {"level":"WARN","msg":"loud"}`)
	if strings.Contains(says.String(), "quiet") {
		t.Errorf("terminal: %s", says)
	}
	file, _ := os.ReadFile(filepath.Join(logs, "toys.log"))
	if !strings.Contains(string(file), ` [1] {"level":"INFO","msg":"quiet"}`+"\n") {
		t.Errorf("log: %s", file)
	}
}

func TestStopLeavesNoProcess(t *testing.T) {
	r, _, _ := start(t, toys(2))
	failed := make(chan error)
	go func() {
		_, err := r.Invoke(context.Background(), "toys", []byte(`"sleep"`))
		failed <- err
	}()
	pid := 0
	_, _ = fmt.Sscan(r.ask(t, "pid"), &pid)
	r.Stop()
	if err := syscall.Kill(pid, 0); err == nil {
		t.Errorf("process %d is still alive", pid)
	}
	if err := <-failed; !errors.Is(err, ErrStopped) {
		t.Errorf("interrupted invocation: %v", err)
	}
	if _, err := r.Invoke(t.Context(), "toys", []byte(`"late"`)); !errors.Is(err, ErrStopped) {
		t.Errorf("a stopped runtime: %v", err)
	}
}

func TestUnknownRequestsAreRefused(t *testing.T) {
	r, _, _ := start(t, toys(1))
	for path, want := range map[string]int{
		"/99/2018-06-01/runtime/invocation/next": http.StatusForbidden,
		"/x/2018-06-01/runtime/invocation/next":  http.StatusForbidden,
		"/1/2018-06-01/runtime/nothing":          http.StatusNotFound,
	} {
		response, err := http.Get("http://" + r.address + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
	foreign := "http://" + r.address + "/1/2018-06-01/runtime/invocation/foreign/response"
	response, err := http.Post(foreign, "", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("response to an invocation that is not its own: %d", response.StatusCode)
	}
}
