// Package stacktest builds the functions that tests of the whole stack run.
package stacktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"skillscurriculum/pkg/api"
)

// Functions builds all functions for this machine and returns a directory with
// <function>/bootstrap for each, which is removed when the test ends.
func Functions(t *testing.T) string {
	t.Helper()
	programs, functions := t.TempDir(), t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", programs+"/",
		"skillscurriculum/functions/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, name := range api.Functions() {
		if err := os.Mkdir(filepath.Join(functions, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(programs, name), filepath.Join(functions, name, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	return functions
}
