// Package runtime runs the service's functions as Lambda does: bootstrap programs
// in processes of their own, fed through the Lambda Runtime API, each with one
// invocation at a time. It knows nothing of what events mean. Invariants: an
// invocation ends with exactly one response or error, whatever becomes of its
// process; no process outlives Stop.
package runtime

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// Function is how one function is deployed.
type Function struct {
	Name      string
	Bootstrap string // path of the program
	Env       map[string]string
	Timeout   time.Duration // of one invocation
	Memory    int           // MB, only told to the function
	Processes int           // at most, that is, invocations at a time
}

// Error is a function's failure: what it reported, or what became of it.
type Error struct {
	Function string
	Type     string // as Lambda names it: Runtime.ExitError, Sandbox.Timedout, or the function's own
	Message  string
}

func (e *Error) Error() string { return e.Function + ": " + e.Type + ": " + e.Message }

// ErrStopped is the end of invocations that Stop interrupted.
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
	last      int             // number of the newest process
	life      context.Context // ends, with ErrStopped, when Stop is called
	end       context.CancelCauseFunc
	ended     sync.WaitGroup // one for each process
}

// Start serves the Runtime API on a free port of 127.0.0.1 and starts one process
// of every function, so that what cannot start shows at once. Each function
// writes to <logs>/<name>.log; its warnings, and every failed invocation, go to
// console too.
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

// Invoke runs the function once and returns its response. The error is an *Error
// where the function failed, and ctx's where the caller stopped waiting; the
// function works on then, as in Lambda.
func (r *Runtime) Invoke(ctx context.Context, name string, payload []byte) ([]byte, error) {
	f := r.functions[name]
	if f == nil {
		return nil, fmt.Errorf("there is no function %s", name)
	}
	return f.invoke(ctx, payload)
}

// Stop ends every process and waits for it. Invocations that run fail.
func (r *Runtime) Stop() {
	r.mu.Lock()
	r.end(ErrStopped)
	for _, p := range r.processes {
		go p.child.Stop(stopGrace)
	}
	r.mu.Unlock()
	r.ended.Wait()
	_ = r.server.Close()
	for _, f := range r.functions {
		_ = f.output.file.Close()
	}
}

const (
	stopGrace    = time.Second
	initLimit    = time.Minute     // from the start of a process to its first call for work
	shortestLife = time.Second / 2 // the pace at which a process that keeps ending is started again
)

// environment is all that a function's process sees.
func (r *Runtime) environment(f Function, process int) []string {
	env := map[string]string{
		"AWS_LAMBDA_RUNTIME_API":          r.address + "/" + strconv.Itoa(process),
		"AWS_LAMBDA_FUNCTION_NAME":        f.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.Memory),
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      strconv.Itoa(process),
		"AWS_REGION":                      region,
		"AWS_DEFAULT_REGION":              region,
		"AWS_ACCESS_KEY_ID":               f.Name, // whose call it is, as a role would say
		"AWS_SECRET_ACCESS_KEY":           "local",
		"LAMBDA_TASK_ROOT":                filepath.Dir(f.Bootstrap),
		"_HANDLER":                        "bootstrap",
		"PATH":                            os.Getenv("PATH"),
		"TMPDIR":                          os.TempDir(),
		"TZ":                              "UTC",
	}
	for name, value := range f.Env {
		env[name] = value
	}
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
