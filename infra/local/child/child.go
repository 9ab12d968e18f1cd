// Package child runs the programs that the local stack is made of. Every program
// leads a process group of its own, so that Ctrl-C reaches it in our order and
// not the terminal's, and nothing that it starts outlives it. Invariant: where
// the system can do it (Linux), a child dies with this process, however that ends.
package child

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Command is what to run. Line, where given, gets every line of its standard
// output and error, without the line end and one at a time.
type Command struct {
	Name string // for people: "DynamoDB Local"
	Path string
	Args []string
	Dir  string   // "" means this process's own
	Env  []string // complete; nil means this process's own
	Line func(line string)
}

// Process is a running child.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// A child on Linux dies with the thread that started it, so one thread that
// never ends starts all of them.
var starter = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

// Start runs the command.
func (c Command) Start() (*Process, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.SysProcAttr = attributes()
	cmd.WaitDelay = time.Second
	lines := &splitter{line: c.Line}
	cmd.Stdout, cmd.Stderr = lines, lines

	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		err := cmd.Wait()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		lines.end()
		if err == nil {
			err = errors.New("exit status 0")
		}
		p.err = err
		close(p.done)
	}()
	return p, nil
}

// PID is the number that the system knows the process by.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed once the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended and is never nil; only to be read after Done.
func (p *Process) Err() error { return p.err }

// Kill ends the process and all that it started at once, and waits for it.
func (p *Process) Kill() { p.Stop(0) }

// Stop asks the process to end, kills it when the grace is over, and waits for it.
func (p *Process) Stop(grace time.Duration) {
	if grace > 0 {
		p.signal(syscall.SIGTERM)
		select {
		case <-p.done:
			return
		case <-time.After(grace):
		}
	}
	p.signal(syscall.SIGKILL)
	<-p.done
}

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done: // its number may be another's by now
	default:
		_ = syscall.Kill(-p.PID(), s)
	}
}

// Keep starts the command and returns once ready returns no error, or with an error
// that ends with the last lines the command wrote. From then on it is started
// again, and brought to be ready again, whenever it ends, which console says in
// one line, until stop (which waits, and may be called more than once) or the end of ctx.
func Keep(ctx context.Context, c Command, ready func(context.Context) error, console *log.Logger) (stop func(), err error) {
	tail := &tail{next: c.Line}
	c.Line = tail.add
	start := func() (*Process, error) {
		p, err := c.Start()
		if err != nil {
			return nil, err
		}
		if err := p.await(ctx, ready); err != nil {
			p.Stop(stopGrace)
			return nil, fmt.Errorf("%s %w%s", c.Name, err, tail)
		}
		return p, nil
	}
	p, err := start()
	if err != nil {
		return nil, err
	}

	ctx, end := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				p.Stop(stopGrace)
				return
			case <-p.Done():
			}
			console.Printf("%s ended (%v): starting it again%s", c.Name, p.Err(), tail)
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(restartPause):
				}
				if p, err = start(); err == nil {
					break
				}
				if ctx.Err() == nil {
					console.Print(err)
				}
			}
			console.Printf("%s answers again", c.Name)
		}
	}()
	return func() { end(); <-ended }, nil
}

// await asks until the process is ready.
func (p *Process) await(ctx context.Context, ready func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("ended before it answered: %w", p.err)
		case <-ctx.Done():
			return fmt.Errorf("does not answer: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

const (
	stopGrace    = 1500 * time.Millisecond
	startLimit   = time.Minute
	restartPause = time.Second / 2
)

// splitter turns what a child writes into lines.
type splitter struct {
	line    func(string)
	partial []byte
}

const longestLine = 64 << 10

var _ io.Writer = (*splitter)(nil)

func (s *splitter) Write(b []byte) (int, error) {
	n := len(b)
	if s.line == nil {
		return n, nil
	}
	for {
		text, rest, found := strings.Cut(string(b), "\n")
		s.partial = append(s.partial, text...)
		if !found {
			break
		}
		s.end()
		b = []byte(rest)
	}
	if len(s.partial) > longestLine {
		s.end()
	}
	return n, nil
}

func (s *splitter) end() {
	if len(s.partial) > 0 {
		s.line(strings.TrimSuffix(string(s.partial), "\r"))
		s.partial = s.partial[:0]
	}
}

// tail remembers the last lines for an error message.
type tail struct {
	next  func(string)
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	if t.next != nil {
		t.next(line)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > 5 {
		t.lines = t.lines[1:]
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return "; its last lines:\n  " + strings.Join(t.lines, "\n  ")
}
