package child

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// ModuleRoot returns the closest directory with a go.mod, from the current one upwards.
func ModuleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod in the current directory or above it")
		}
		dir = filepath.Dir(dir)
	}
}

// freePort returns a port of 127.0.0.1 that is free now. Another process may take it
// before the caller does.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
