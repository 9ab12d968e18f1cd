// Package runtime runs the service's functions as Lambda does: each bootstrap is a
// process that gets one invocation at a time through the Lambda Runtime API. The package
// does not interpret events. Every invocation ends with exactly one response or error,
// whatever happens to its process, and no process outlives Stop.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Function configures one function.
type Function struct {
	Name      string
	Bootstrap string // path of the program
	Env       map[string]string
	Timeout   time.Duration // of one invocation
	Processes int           // maximum, and so the maximum of concurrent invocations
}

// Error is a failure that a function reported, or the way its process ended.
type Error struct {
	Function string
	Type     string // Lambda's name (Runtime.ExitError, Sandbox.Timedout) or the function's own
	Message  string
}

func (e *Error) Error() string { return e.Function + ": " + e.Type + ": " + e.Message }

// ErrStopped is returned by invocations that Stop interrupted.
var ErrStopped = errors.New("the local stack is stopping")

// Runtime is the set of functions and their Runtime API.
type Runtime struct {
	address   string
	server    *http.Server
	logs      string
	console   *log.Logger
	functions map[string]*function

	mu        sync.Mutex
	processes map[int]*process
	last      int             // number of the last process started
	life      context.Context // ends, with ErrStopped, when Stop is called
	end       context.CancelCauseFunc
	ended     sync.WaitGroup // one for each process
}

// Start serves the Runtime API on a free port of 127.0.0.1 and starts one process of
// each function, so that a function that cannot start fails immediately. Each function
// logs to <logs>/<name>.log; its warnings and failed invocations also go to console.
func Start(ctx context.Context, functions []Function, logs string, console *log.Logger) (*Runtime, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("runtime API: %w", err)
	}
	if err := os.MkdirAll(logs, 0o755); err != nil {
		return nil, fmt.Errorf("logs of the functions: %w", err)
	}
	r := &Runtime{
		address:   listener.Addr().String(),
		logs:      logs,
		console:   console,
		functions: map[string]*function{},
		processes: map[int]*process{},
	}
	r.life, r.end = context.WithCancelCause(context.Background())
	r.server = &http.Server{Handler: r.routes(), ErrorLog: console}
	go func() { _ = r.server.Serve(listener) }()

	group, first := errgroup.WithContext(ctx)
	for _, f := range functions {
		if err := r.add(f); err != nil {
			r.Stop()
			return nil, err
		}
	}
	for _, f := range r.functions {
		group.Go(func() error { return f.warm(first) })
	}
	if err := group.Wait(); err != nil {
		r.Stop()
		return nil, err
	}
	return r, nil
}

func (r *Runtime) add(f Function) error {
	bootstrap, err := filepath.Abs(f.Bootstrap)
	if err == nil {
		_, err = os.Stat(bootstrap)
	}
	if err != nil {
		return fmt.Errorf("function %s is not built: %w", f.Name, err)
	}
	f.Bootstrap = bootstrap
	file, err := os.Create(filepath.Join(r.logs, f.Name+".log"))
	if err != nil {
		return fmt.Errorf("log of function %s: %w", f.Name, err)
	}
	r.functions[f.Name] = &function{
		Function: f,
		runtime:  r,
		output:   &output{function: f.Name, file: file, console: r.console},
		work:     make(chan *invocation),
	}
	return nil
}

// Invoke runs the function once and returns its response. The error is an *Error if the
// function failed, or ctx's if the caller stopped waiting; as in Lambda, the function
// then still runs to its end.
func (r *Runtime) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	f := r.functions[name]
	if f == nil {
		return nil, fmt.Errorf("no function %s", name)
	}
	return f.invoke(ctx, payload)
}

// Stop ends all processes and waits for them. Running invocations fail.
func (r *Runtime) Stop() {
	r.mu.Lock()
	r.end(ErrStopped)
	for _, p := range r.processes {
		go p.child.Stop()
	}
	r.mu.Unlock()
	r.ended.Wait()
	_ = r.server.Close()
	for _, f := range r.functions {
		_ = f.output.file.Close()
	}
}

const (
	initLimit    = time.Minute     // from the start of a process to its first request for an invocation
	shortestLife = time.Second / 2 // minimum interval between restarts of a process that keeps ending
)

// environment returns the complete environment of a function's process: of Lambda's variables those that functions read.
func (r *Runtime) environment(f Function, process int) []string {
	env := map[string]string{
		"AWS_LAMBDA_RUNTIME_API":   r.address + "/" + strconv.Itoa(process),
		"AWS_LAMBDA_FUNCTION_NAME": f.Name,
		"AWS_REGION":               region,
		"AWS_ACCESS_KEY_ID":        f.Name, // identifies the caller, as a role does in AWS
		"AWS_SECRET_ACCESS_KEY":    "local",
		"PATH":                     os.Getenv("PATH"),
		"TMPDIR":                   os.TempDir(),
		"TZ":                       "UTC",
	}
	maps.Copy(env, f.Env)
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

const region = "us-east-1"

func arn(function string) string {
	return "arn:aws:lambda:" + region + ":000000000000:function:" + function
}
