package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"skillscurriculum/infra/local/child"
)

// function is a Function with its processes. Idle processes receive from work; a caller
// that finds none idle starts one.
type function struct {
	Function
	runtime *Runtime
	output  *output
	work    chan *invocation

	mu   sync.Mutex
	live int // processes
}

type invocation struct {
	id      string
	payload []byte
	result  chan result // has a buffer of one
}

type result struct {
	response []byte
	err      error
}

func (i *invocation) end(response []byte, err error) {
	select {
	case i.result <- result{response, err}:
	default: // it has already ended, for example by a timeout
	}
}

func (f *function) fail(kind, format string, args ...any) *Error {
	return &Error{Function: f.Name, Type: kind, Message: fmt.Sprintf(format, args...)}
}

// warm starts a process and waits until it requests an invocation.
func (f *function) warm(ctx context.Context) error {
	p, err := f.start()
	if p == nil {
		return err
	}
	select {
	case <-p.asked:
		return nil
	case <-p.child.Done():
		return f.initFailure(p)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *function) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	i := &invocation{id: uuid.NewString(), payload: payload, result: make(chan result, 1)}
	if err := f.dispatch(ctx, i); err != nil {
		return nil, err
	}
	select {
	case r := <-i.result:
		return r.response, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the response of %s: %w", f.Name, ctx.Err())
	}
}

// dispatch passes the invocation to an idle process.
func (f *function) dispatch(ctx context.Context, i *invocation) error {
	for {
		select {
		case f.work <- i:
			return nil
		default:
		}
		p, err := f.start()
		if err != nil {
			return err
		}
		var ended <-chan struct{}
		if p != nil {
			ended = p.child.Done()
		}
		select {
		case f.work <- i:
			return nil
		case <-ended:
			if !p.hasAsked() && f.runtime.life.Err() == nil {
				return f.initFailure(p)
			}
		case <-f.runtime.life.Done():
			return ErrStopped
		case <-time.After(time.Second): // another process may be allowed now
		case <-ctx.Done():
			return fmt.Errorf("wait for one of the %d processes of %s: %w", f.Processes, f.Name, ctx.Err())
		}
	}
}

func (f *function) initFailure(p *process) *Error {
	return f.fail("Runtime.ExitError", "process %d ended before its first invocation: %v", p.child.PID(), p.child.Err())
}

// process is one running bootstrap.
type process struct {
	function *function
	number   int
	child    *child.Process
	started  time.Time
	asked    chan struct{} // closed when it first requests an invocation

	mu      sync.Mutex
	current *invocation // nil between invocations
	limit   *time.Timer // kills the process when it takes too long
	killed  error       // why limit killed it
}

func (p *process) hasAsked() bool {
	select {
	case <-p.asked:
		return true
	default:
		return false
	}
}

// start adds a process. It returns nil if there are enough or the runtime is stopping.
func (f *function) start() (*process, error) {
	r := f.runtime
	f.mu.Lock()
	defer f.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life.Err() != nil || f.live >= f.Processes {
		return nil, nil
	}
	r.last++
	p := &process{function: f, number: r.last, started: time.Now(), asked: make(chan struct{})}
	var err error
	p.child, err = child.Command{
		Name: "function " + f.Name,
		Path: f.Bootstrap,
		Dir:  filepath.Dir(f.Bootstrap),
		Env:  r.environment(f.Function, p.number),
		Line: func(line string) { f.output.line(p.number, line) },
	}.Start()
	if err != nil {
		f.output.printf("%v", err)
		return nil, f.fail("Runtime.InvalidEntrypoint", "%v", err)
	}
	p.limit = time.AfterFunc(initLimit, func() { p.kill(nil, initLimit) })
	r.processes[p.number] = p // requests of the process are accepted from here on
	f.live++
	r.ended.Add(1)
	go f.watch(p)
	return p, nil
}

// watch waits for a process to end, fails its invocation and starts a replacement.
func (f *function) watch(p *process) {
	r := f.runtime
	defer r.ended.Done()
	<-p.child.Done()

	f.mu.Lock()
	f.live--
	f.mu.Unlock()
	r.mu.Lock()
	delete(r.processes, p.number)
	stopped := r.life.Err() != nil
	r.mu.Unlock()
	p.mu.Lock()
	p.limit.Stop()
	current, how := p.current, p.killed
	p.mu.Unlock()
	if how == nil {
		how = p.child.Err()
	}

	pid := p.child.PID()
	switch {
	case stopped && current != nil:
		current.end(nil, ErrStopped)
		return
	case stopped:
		return
	case !p.hasAsked():
		f.output.printf("process %d ended before its first invocation (%v)", pid, how)
		return // a replacement would fail as well: the next invocation starts one
	case current != nil:
		f.output.printf("process %d ended during invocation %s (%v), starting another", pid, current.id, how)
		current.end(nil, f.fail("Runtime.ExitError", "process %d ended: %v", pid, how))
	default:
		f.output.printf("process %d ended (%v), starting another", pid, how)
	}
	time.AfterFunc(max(0, shortestLife-time.Since(p.started)), func() { _, _ = f.start() })
}

// next waits for the next invocation of the process and returns it with its deadline.
func (p *process) next(ctx context.Context) (*invocation, time.Time, error) {
	f := p.function
	p.mu.Lock()
	if !p.hasAsked() {
		p.limit.Stop()
		close(p.asked)
	}
	p.mu.Unlock()

	select {
	case i := <-f.work:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.current = i
		deadline := time.Now().Add(f.Timeout)
		p.limit = time.AfterFunc(f.Timeout, func() { p.kill(i, f.Timeout) })
		return i, deadline, nil
	case <-ctx.Done():
		return nil, time.Time{}, ctx.Err()
	}
}

// done ends the current invocation. It returns false if that has another id.
func (p *process) done(id string, response []byte, err *Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil || p.current.id != id {
		return false
	}
	p.limit.Stop()
	if err != nil {
		p.function.output.printf("invocation %s failed: %s: %s", id, err.Type, err.Message)
		p.current.end(nil, err)
	} else {
		p.current.end(response, nil)
	}
	p.current = nil
	return true
}

// kill kills the process because the invocation, or if it is nil the start, took longer
// than limit.
func (p *process) kill(late *invocation, limit time.Duration) {
	p.mu.Lock()
	if p.current != late || late == nil && p.hasAsked() {
		p.mu.Unlock()
		return // it has just ended
	}
	p.killed = fmt.Errorf("killed: took longer than %v", limit)
	if late != nil {
		late.end(nil, p.function.fail("Sandbox.Timedout", "took longer than %v", limit))
	}
	p.mu.Unlock()
	p.child.Kill()
}
