// Command clients makes a client of the contract in each of four languages with the
// generators that people use, compiles it as strictly as they do, and runs it against
// the stack on this machine: it lists, creates, extracts and reads an error. See
// `make clients`.
//
// TypeScript and Go need what the project needs. Java needs Maven and Python needs pip:
// where one is missing, a line says that its client was not tried.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	make     [][]string // generates and compiles, run in the client's folder
	run      []string
	counts   []string // files whose lines are worth telling
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
			// A default of a request makes a field no less optional.
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
			{"venv/bin/openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "client", "--meta", "none", "--overwrite"},
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

// try tries all clients and tells all that fail.
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
			fmt.Printf("%s: skipped, as %s does not work here\n", c.language, missing)
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

// missing returns a command that the client needs and that does not work; "" for none.
func (c client) missing(ctx context.Context) string {
	for _, command := range c.needs {
		if exec.CommandContext(ctx, command[0], command[1:]...).Run() != nil {
			return strings.Join(command, " ")
		}
	}
	return ""
}

// try makes the client and runs it, and returns what it says.
func (c client) try(ctx context.Context, environment []string) (said string, err error) {
	dir := filepath.Join(built, c.language)
	if err := lay(filepath.Join(sources, c.language), dir); err != nil {
		return "", err
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

// lay copies the files of a folder over those of another.
func lay(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		into := filepath.Join(to, strings.TrimPrefix(path, from))
		if entry.IsDir() {
			return os.MkdirAll(into, 0o755)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(into, content, 0o644)
	})
}

// in runs a command in a folder and returns what it prints; an error repeats it.
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

// stack is the service on this machine.
type stack struct {
	environment []string // of programs that call it
	stop        func()
}

// start starts the stack that make run starts, with data and port of its own.
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
			return nil, fmt.Errorf("the stack does not start: %s", said.String())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
