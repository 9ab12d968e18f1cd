package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary acts as each of the programs, selected by an environment variable.
func TestMain(m *testing.M) {
	if part := os.Getenv("CHILD_TEST_PART"); part != "" {
		play(part)
		return
	}
	os.Exit(m.Run())
}

func play(part string) {
	switch part {
	case "speak":
		fmt.Print("one\r\ntwo\n\n")
		fmt.Fprint(os.Stderr, "three")
	case "sleep":
		fmt.Println(os.Getpid())
		time.Sleep(time.Hour)
	case "deaf":
		ignored := exec.Command("sh", "-c", `trap "" TERM; echo $$; while :; do sleep 1; done`)
		ignored.Stdout = os.Stdout
		_ = ignored.Run()
	case "parent":
		p, err := command("sleep", func(line string) { fmt.Println(line) }).Start()
		if err != nil {
			fmt.Println(err)
			return
		}
		<-p.Done()
	}
}

func command(part string, line func(string)) Command {
	return Command{Name: part, Path: os.Args[0], Env: append(os.Environ(), "CHILD_TEST_PART="+part), Line: line}
}

func TestLines(t *testing.T) {
	var lines []string
	p, err := command("speak", func(line string) { lines = append(lines, line) }).Start()
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	if got := strings.Join(lines, "|"); got != "one|two|three" {
		t.Errorf("lines: %s", got)
	}
	if got := p.Err().Error(); got != "exit status 0" {
		t.Errorf("end: %s", got)
	}
	p.Stop() // stopping an ended process does nothing
}

func alive(pid int) bool {
	if runtime.GOOS == "linux" { // a zombie counts as dead
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		return err == nil && !strings.Contains(string(stat), ") Z ")
	}
	return syscall.Kill(pid, 0) == nil
}

func waitDead(t *testing.T, pid int) {
	t.Helper()
	for range 30_000 {
		if !alive(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still alive", pid)
}

func TestStopReachesDeafGrandchildren(t *testing.T) {
	pids := make(chan int, 1)
	p, err := command("deaf", func(line string) {
		pid, _ := strconv.Atoi(line)
		pids <- pid
	}).Start()
	if err != nil {
		t.Fatal(err)
	}
	grandchild := <-pids
	p.Stop()
	waitDead(t, grandchild)
}

func TestChildrenDieWithTheirParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux supports this")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "CHILD_TEST_PART=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if !alive(pid) {
		t.Fatal("the child did not start")
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	waitDead(t, pid)
}

func TestKeepRestarts(t *testing.T) {
	pids := make(chan int)
	ready := func(context.Context) error { return nil }
	said := make(chan string, 10)
	console := log.New(writerFunc(func(b []byte) (int, error) { said <- string(b); return len(b), nil }), "", 0)
	c := command("sleep", func(line string) {
		pid, _ := strconv.Atoi(line)
		pids <- pid
	})
	stop, err := Keep(t.Context(), c, ready, console)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	first := <-pids
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := <-pids
	if first == second {
		t.Error("not a new process")
	}
	if line := <-said; !strings.Contains(line, "sleep ended (signal: killed), restarting") {
		t.Errorf("console: %q", line)
	}
	stop()
	waitDead(t, second)
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func TestKeepReportsLastLines(t *testing.T) {
	silent := log.New(io.Discard, "", 0)
	_, err := Keep(t.Context(), command("speak", nil), func(context.Context) error { return errors.New("no") }, silent)
	if err == nil || !strings.Contains(err.Error(), "speak ended before it was ready: exit status 0; its last lines:\n  one\n  two\n  three") {
		t.Errorf("error: %v", err)
	}
	if _, err := Keep(t.Context(), Command{Name: "x", Path: "/nowhere/x"}, nil, silent); err == nil {
		t.Error("a missing program starts without an error")
	}
}
