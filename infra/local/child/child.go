// Package child runs the programs that the local stack consists of. Each one leads its
// own process group, so that Ctrl-C reaches only this process, which then stops the
// programs in order, and nothing they start outlives them. On Linux a child also dies
// with this process, however that ends.
package child

import (
	"bufio"
	"cmp"
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

// Command describes a program to run.
type Command struct {
	Name string // for messages: "DynamoDB Local"
	Path string
	Args []string
	Dir  string            // "" means the current directory
	Env  []string          // complete; nil means this process's environment
	Line func(line string) // receives each non-empty line of output, one at a time; may be nil
}

// Process is a running child.
type Process struct {
	cmd  *exec.Cmd
	stop context.CancelFunc
	done chan struct{}
	err  error
}

// Linux kills a child when the thread that started it ends, so one locked thread that
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
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.SysProcAttr = attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = stopGrace
	output, input := io.Pipe()
	cmd.Stdout, cmd.Stderr = input, input

	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		stop()
		return nil, fmt.Errorf("start %s: %w", c.Name, err)
	}
	p := &Process{cmd: cmd, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		c.read(output)
		stop()
	}()
	go func() {
		p.err = cmp.Or(cmd.Wait(), errors.New("exit status 0"))
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = input.Close()
	}()
	return p, nil
}

// read passes the output on by lines, and longer lines in pieces.
func (c Command) read(output io.Reader) {
	const longestLine = 64 << 10
	for lines := bufio.NewReaderSize(output, longestLine); ; {
		line, _, err := lines.ReadLine()
		if err != nil {
			return
		}
		if c.Line != nil && len(line) > 0 {
			c.Line(string(line))
		}
	}
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed once the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the process ended, never nil. It may only be called after Done.
func (p *Process) Err() error { return p.err }

// Kill kills the process and everything it started, and waits for it.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop asks the process to end, kills it after 1.5 s, and waits for it.
func (p *Process) Stop() {
	p.stop()
	<-p.done
}

// Keep starts the command and returns once ready returns nil. If the command never gets
// ready, the error ends with the last lines of its output. Keep restarts the command
// whenever it ends, with a line on console (which may be nil), until ctx ends or stop is
// called. stop waits for the process and may be called more than once.
func Keep(
	ctx context.Context, c Command, ready func(context.Context) error, console *log.Logger,
) (stop func(), err error) {
	console = cmp.Or(console, log.New(io.Discard, "", 0))
	tail := &tail{next: c.Line}
	c.Line = tail.add
	start := func() (*Process, error) {
		p, err := c.Start()
		if err != nil {
			return nil, err
		}
		if err := p.await(ctx, ready); err != nil {
			p.Stop()
			return nil, fmt.Errorf("%s %w%s", c.Name, err, tail)
		}
		return p, nil
	}
	p, err := start()
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-ctx.Done():
				p.Stop()
				return
			case <-p.Done():
			}
			console.Printf("%s ended (%v), restarting%s", c.Name, p.Err(), tail)
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
			console.Printf("%s is ready again", c.Name)
		}
	}()
	return func() { cancel(); <-ended }, nil
}

// KeepServer is Keep for a server on a free port of 127.0.0.1. command gets the port,
// endpoint is the server's URL without a path.
func KeepServer(
	ctx context.Context, command func(port int) (Command, error),
	ready func(ctx context.Context, endpoint string) error, console *log.Logger,
) (endpoint string, stop func(), err error) {
	for range 3 { // another process may take the port first
		var port int
		if port, err = freePort(); err != nil {
			return "", nil, err
		}
		var c Command
		if c, err = command(port); err != nil {
			return "", nil, err
		}
		endpoint = fmt.Sprintf("http://127.0.0.1:%d", port)
		isReady := func(ctx context.Context) error { return ready(ctx, endpoint) }
		if stop, err = Keep(ctx, c, isReady, console); err == nil {
			return endpoint, stop, nil
		}
	}
	return "", nil, err
}

// await polls ready until it returns nil.
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
			return fmt.Errorf("ended before it was ready: %w", p.err)
		case <-ctx.Done():
			return fmt.Errorf("is not ready: %w", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

const (
	stopGrace    = 1500 * time.Millisecond
	startLimit   = time.Minute
	restartPause = time.Second / 2
)

// tail keeps the last lines for an error message.
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
