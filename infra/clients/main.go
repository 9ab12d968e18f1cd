// Command clients generates a client of the contract in each of four languages with common
// generators, compiles it with strict settings, and runs it against the local stack: it
// lists, creates, extracts and reads an error. See `make clients`.
//
// TypeScript and Go need only the project's own tools. Java needs Maven and Python needs
// pip: if one is missing, a line reports that its client was skipped.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// client is a generated client with a program that uses it.
type client struct {
	language string
	needs    [][]string // commands that must work
	make     [][]string // generate and compile; run in the client's directory
	run      []string
	counts   []string // generated files whose lines are reported
}

var clients = []client{
	{
		language: "go",
		make: [][]string{
			{"go", "tool", "oapi-codegen", "-config", "oapi.yaml", "openapi.json"},
			{"go", "tool", "oapi-codegen", "-config", "plain/oapi.yaml", "openapi.json"},
			{"go", "vet", "./..."},
			{"go", "build", "-o", "client", "."},
		},
		run:    []string{"./client"},
		counts: []string{"client.gen.go", "plain/client.gen.go"},
	},
	{
		language: "typescript",
		make: [][]string{
			// A request field with a default stays optional.
			{"npx", "openapi-typescript", "openapi.json", "--default-non-nullable=false", "-o", "schema.d.ts"},
			{"npx", "tsc"},
		},
		run: []string{"node", "js/main.js"},
	},
	{
		language: "python",
		needs:    [][]string{{"python3", "-m", "venv", "-h"}, {"python3", "-m", "pip", "--version"}},
		make: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"},
			{
				"venv/bin/openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "client",
				"--meta", "none", "--overwrite",
			},
			{"venv/bin/mypy", "--strict", "main.py", "client"},
		},
		run: []string{"venv/bin/python", "main.py"},
	},
	{
		language: "java",
		needs:    [][]string{{"mvn", "--version"}},
		make:     [][]string{{"mvn", "-Dstyle.color=never", "--quiet", "--batch-mode", "compile"}},
		run:      []string{"mvn", "-Dstyle.color=never", "--quiet", "--batch-mode", "exec:java"},
	},
}

const (
	sources = "infra/clients"
	built   = "build/clients"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := try(ctx); err != nil {
		log.Fatal(err)
	}
}

// try tries all clients and returns all errors.
func try(ctx context.Context) error {
	stack, err := start(ctx)
	if err != nil {
		return err
	}
	defer stack.stop()
	var failed []error
	passed, skipped := 0, 0
	for _, c := range clients {
		began := time.Now()
		if missing := c.missing(ctx); missing != "" {
			fmt.Printf("%s: skipped: %s does not work here\n", c.language, missing)
			skipped++
			continue
		}
		said, err := c.try(ctx, stack.environment)
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", c.language, err))
			continue
		}
		passed++
		fmt.Printf("%s: %s (%.0f s)\n", c.language, said, time.Since(began).Seconds())
	}
	fmt.Printf("clients: %d passed, %d failed, %d skipped\n", passed, len(failed), skipped)
	return errors.Join(failed...)
}

// missing returns a required command that does not work, or "".
func (c client) missing(ctx context.Context) string {
	for _, command := range c.needs {
		if exec.CommandContext(ctx, command[0], command[1:]...).Run() != nil {
			return strings.Join(command, " ")
		}
	}
	return ""
}

// try builds and runs the client and returns its output.
func (c client) try(ctx context.Context, environment []string) (said string, err error) {
	dir := filepath.Join(built, c.language)
	for _, command := range [][]string{{"mkdir", "-p", dir},
		{"cp", "-R", filepath.Join(sources, c.language) + "/.", dir}} {
		if _, err := in(ctx, ".", nil, command); err != nil {
			return "", err
		}
	}
	document, err := os.ReadFile("openapi.json")
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), document, 0o644); err != nil {
		return "", err
	}
	for _, command := range c.make {
		if _, err := in(ctx, dir, environment, command); err != nil {
			return "", err
		}
	}
	if said, err = in(ctx, dir, environment, c.run); err != nil {
		return "", err
	}
	for _, file := range c.counts {
		generated, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return "", err
		}
		said += fmt.Sprintf("; %s has %d lines", file, bytes.Count(generated, []byte("\n")))
	}
	return said, nil
}

// in runs a command in a directory and returns its standard output.
func in(ctx context.Context, dir string, environment, command []string) (string, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(command, " "), err, said.String(), complained.String())
	}
	return strings.TrimSpace(said.String()), nil
}

// stack is the running service.
type stack struct {
	environment []string // for programs that call it
	stop        func()
}

// start starts the stack of make run with its own data and port.
func start(ctx context.Context) (*stack, error) {
	dir := filepath.Join(built, "stack")
	announcement := dir + ".json"
	if err := os.MkdirAll(built, 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(announcement); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "build/local/bin/local", "-dir", dir, "-with-parent")
	cmd.Env = append(os.Environ(), "PORT=0", "FRESH=1")
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	s := &stack{stop: func() { _ = cmd.Process.Signal(syscall.SIGTERM); <-ended }}
	for {
		var told struct {
			BaseURL   string
			Customers []struct{ APIKey string }
		}
		if packed, err := os.ReadFile(announcement); err == nil && json.Unmarshal(packed, &told) == nil {
			s.environment = []string{"BASE_URL=" + told.BaseURL, "API_KEY=" + told.Customers[0].APIKey}
			return s, nil
		}
		select {
		case <-ended:
			return nil, fmt.Errorf("the stack did not start: %s", said.String())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
