package stack

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// claim locks dir until unlock is called: two stacks would corrupt the same data.
func claim(dir string, fresh bool) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("directory of the stack: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("directory of the stack: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = lock.Close()
		return nil, fmt.Errorf("another local stack is running in %s: stop it first", dir)
	}
	if fresh {
		for _, name := range []string{"dynamodb", "objects", "logs"} {
			if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
				_ = lock.Close()
				return nil, fmt.Errorf("start from empty: %w", err)
			}
		}
	}
	return func() { _ = lock.Close() }, nil
}

// listen reserves the gateway's port before anything starts, so that a port in use fails
// early.
func listen(port int) (net.Listener, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("port %d of 127.0.0.1 is in use: stop that program, or set PORT to another port", port)
	}
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	return listener, nil
}
