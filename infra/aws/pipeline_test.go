package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The hosted pipeline runs the commands of this repository, with actions of exact
// commits and without stored keys.
func TestPipeline(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(moduleRoot, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflow: %v", err)
	}
	makefile, err := os.ReadFile(filepath.Join(moduleRoot, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all += string(text)
		for _, used := range regexp.MustCompile(`uses: (.+)`).FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`^\./|@[0-9a-f]{40} # v\d+\.\d+\.\d+$`).MatchString(used[1]) {
				t.Errorf("%s uses %s, which is not a commit with its version: a tag may be moved", file, used[1])
			}
		}
		for _, command := range regexp.MustCompile(`run: make ([a-z_-]+)`).FindAllStringSubmatch(string(text), -1) {
			if !regexp.MustCompile(`(?m)^` + command[1] + `:`).Match(makefile) {
				t.Errorf("%s runs make %s, which there is not", file, command[1])
			}
		}
		if regexp.MustCompile(`secrets\.|aws-access-key-id|aws-secret`).Match(text) {
			t.Errorf("%s uses stored keys", file)
		}
		if !strings.Contains(string(text), "\npermissions:\n  contents: read\n") {
			t.Errorf("%s does not begin with few permissions", file)
		}
	}
	for _, s := range stages {
		if !strings.Contains(all, "stage: "+s+"\n") {
			t.Errorf("nothing deploys %s", s)
		}
	}
	if !strings.Contains(all, "run: .ci/run\n") {
		t.Error("the checks are not those of .ci/run")
	}
}
