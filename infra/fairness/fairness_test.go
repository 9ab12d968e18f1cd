package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"skillscurriculum/pkg/api"
)

// A customer's stalling syllabi do not delay another's: only a few of them begin before the other's are done.
func TestFairness(t *testing.T) {
	const many, atMost = 100, 30
	programs, functions := t.TempDir(), t.TempDir()
	args := []string{"build", "-tags", "lambda.norpc", "-o", programs + "/", "../../functions/..."}
	build := exec.CommandContext(t.Context(), "go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	for _, name := range api.Functions() {
		if err := os.Mkdir(filepath.Join(functions, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(programs, name), filepath.Join(functions, name, "bootstrap")); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	_, behind, err := measure(ctx, t.TempDir(), functions, many)
	if err != nil {
		t.Fatal(err)
	}
	if behind.begun > atMost {
		t.Errorf("%d of %d stalling syllabi began before another customer's %d were done", behind.begun, many, few)
	}
}
