// Package clients generates a client of the contract in each of four languages with common generators, compiles it with
// strict settings, and runs it against the local stack: it lists, creates, extracts and reads an error. See
// `make clients`.
package clients

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

var program = flag.String("stack", "", "program of the local stack, relative to the root; no client is tried without it")

var clients = []struct {
	language string
	needs    [][]string // commands that must work
	steps    [][]string // generate, compile and run; in the client's directory
	counts   []string   // generated files whose lines are reported
}{
	{
		language: "go",
		steps: [][]string{
			{"go", "tool", "oapi-codegen", "-config", "oapi.yaml", "openapi.json"},
			{"go", "tool", "oapi-codegen", "-config", "plain/oapi.yaml", "openapi.json"},
			{"go", "vet", "./..."},
			{"go", "build", "-o", "client", "."},
			{"./client"},
		},
		counts: []string{"client.gen.go", "plain/client.gen.go"},
	},
	{
		language: "typescript",
		steps: [][]string{
			// A request field with a default stays optional.
			{"npx", "openapi-typescript", "openapi.json", "--default-non-nullable=false", "-o", "schema.d.ts"},
			{"npx", "tsc"},
			{"node", "js/main.js"},
		},
	},
	{
		language: "python",
		needs:    [][]string{{"python3", "-m", "venv", "-h"}, {"python3", "-m", "pip", "--version"}},
		steps: [][]string{
			{"python3", "-m", "venv", "venv"},
			{"venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", "-r", "requirements.txt"},
			{
				"venv/bin/openapi-python-client", "generate", "--path", "openapi.json", "--output-path", "client",
				"--meta", "none", "--overwrite",
			},
			{"venv/bin/mypy", "--strict", "main.py", "client"},
			{"venv/bin/python", "main.py"},
		},
	},
	{
		language: "java",
		needs:    [][]string{{"mvn", "--version"}},
		steps: [][]string{
			{"mvn", "-Dstyle.color=never", "--quiet", "--batch-mode", "compile"},
			{"mvn", "-Dstyle.color=never", "--quiet", "--batch-mode", "exec:java"},
		},
	},
}

func TestClients(t *testing.T) {
	if *program == "" {
		t.Skip("make clients generates and tries the clients")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	built := filepath.Join(root, "build", "clients")
	environment := start(t, root, filepath.Join(built, "stack"))
	for _, c := range clients {
		t.Run(c.language, func(t *testing.T) {
			for _, command := range c.needs {
				if exec.CommandContext(t.Context(), command[0], command[1:]...).Run() != nil {
					t.Skipf("%s: skipped: %s does not work here", c.language, strings.Join(command, " "))
				}
			}
			dir := filepath.Join(built, c.language)
			in(t, ".", nil, "mkdir", "-p", dir)
			in(t, ".", nil, "cp", "-R", c.language+"/.", filepath.Join(root, "openapi.json"), dir)
			said := ""
			for _, command := range c.steps {
				said = in(t, dir, environment, command...)
			}
			t.Log(said)
			for _, file := range c.counts {
				generated, err := os.ReadFile(filepath.Join(dir, file))
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s has %d lines", file, bytes.Count(generated, []byte("\n")))
			}
		})
	}
}

// in runs a command in a directory and returns its standard output.
func in(t *testing.T, dir string, environment []string, command ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	var said, complained bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complained
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(command, " "), err, &said, &complained)
	}
	return strings.TrimSpace(said.String())
}

// start runs the stack of make run with its own data and port until the test ends, and returns the environment of
// programs that call it.
func start(t *testing.T, root, dir string) (environment []string) {
	t.Helper()
	announcement := dir + ".json"
	if err := os.RemoveAll(announcement); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(filepath.Join(root, *program), "-dir", dir, "-with-parent")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "PORT=0", "FRESH=1")
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
	})
	for {
		var told struct {
			BaseURL   string
			Customers []struct{ APIKey string }
		}
		if packed, err := os.ReadFile(announcement); err == nil && json.Unmarshal(packed, &told) == nil {
			return []string{"BASE_URL=" + told.BaseURL, "API_KEY=" + told.Customers[0].APIKey}
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the stack did not start: %s", &said)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
