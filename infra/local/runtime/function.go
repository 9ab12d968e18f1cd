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

// function is a Function with its processes. Processes that have nothing to do
// wait for work on the channel; who has work and finds none waiting starts one.
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
	result  chan result // takes one
}

type result struct {
	response []byte
	err      error
}

func (i *invocation) end(response []byte, err error) {
	select {
	case i.result <- result{response, err}:
	default: // was ended before, by a timeout for instance
	}
}

func (f *function) fail(kind, format string, args ...any) *Error {
	return &Error{Function: f.Name, Type: kind, Message: fmt.Sprintf(format, args...)}
}

// warm starts a process and waits until it asks for work.
func (f *function) warm(ctx context.Context) error {
	p, err := f.start()
	if p == nil {
		return err
	}
	select {
	case <-p.asked:
		return nil
	case <-p.child.Done():
		return f.stillborn(p)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *function) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	i := &invocation{id: uuid.NewString(), payload: payload, result: make(chan result, 1)}
	if err := f.hand(ctx, i); err != nil {
		return nil, err
	}
	select {
	case r := <-i.result:
		return r.response, r.err
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the response of %s: %w", f.Name, ctx.Err())
	}
}

// hand hands the invocation to a process that waits for work.
func (f *function) hand(ctx context.Context, i *invocation) error {
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
				return f.stillborn(p)
			}
		case <-f.runtime.life.Done():
			return ErrStopped
		case <-time.After(time.Second): // there may be room for another process by now
		case <-ctx.Done():
			return fmt.Errorf("wait for one of the %d processes of %s: %w", f.Processes, f.Name, ctx.Err())
		}
	}
}

func (f *function) stillborn(p *process) *Error {
	return f.fail("Runtime.ExitError", "process %d ended before it asked for work: %v", p.child.PID(), p.child.Err())
}

// process is one running bootstrap.
type process struct {
	function *function
	number   int
	child    *child.Process
	started  time.Time
	asked    chan struct{} // closed when it first asks for work

	mu      sync.Mutex
	current *invocation // nil between invocations
	limit   *time.Timer // ends the process when it takes too long
	killed  error       // why limit did
}

func (p *process) hasAsked() bool {
	select {
	case <-p.asked:
		return true
	default:
		return false
	}
}

// start adds a process; it is nil where there are enough or the runtime stops.
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
		f.output.say("%v", err)
		return nil, f.fail("Runtime.InvalidEntrypoint", "%v", err)
	}
	p.limit = time.AfterFunc(initLimit, func() { p.kill(nil, initLimit) })
	r.processes[p.number] = p // only now can it ask for work
	f.live++
	r.ended.Add(1)
	go f.watch(p)
	return p, nil
}

// watch sees to the end of a process.
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
		f.output.say("process %d ended before it asked for work (%v)", pid, how)
		return // another would do the same: the next invocation tries
	case current != nil:
		f.output.say("process %d ended in the middle of invocation %s (%v): starting another", pid, current.id, how)
		current.end(nil, f.fail("Runtime.ExitError", "process %d ended: %v", pid, how))
	default:
		f.output.say("process %d ended (%v): starting another", pid, how)
	}
	time.AfterFunc(max(0, shortestLife-time.Since(p.started)), func() { _, _ = f.start() })
}

// next hands the process its next invocation.
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

// done ends the current invocation, which must have that id.
func (p *process) done(id string, response []byte, err *Error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.current == nil || p.current.id != id {
		return false
	}
	p.limit.Stop()
	if err != nil {
		p.function.output.say("invocation %s failed: %s: %s", id, err.Type, err.Message)
		p.current.end(nil, err)
	} else {
		p.current.end(response, nil)
	}
	p.current = nil
	return true
}

// kill ends the process for taking longer than limit over the invocation, or
// over its start where there is none.
func (p *process) kill(over *invocation, limit time.Duration) {
	p.mu.Lock()
	if p.current != over || over == nil && p.hasAsked() {
		p.mu.Unlock()
		return // it came to an end just now
	}
	p.killed = fmt.Errorf("killed: took longer than %v", limit)
	if over != nil {
		over.end(nil, p.function.fail("Sandbox.Timedout", "took longer than %v", limit))
	}
	p.mu.Unlock()
	p.child.Kill()
}
