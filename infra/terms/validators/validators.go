// Package validators checks documents in CTDL with programs that were written elsewhere: ctdl-validate and PyLD, both
// in Python 3.12. Where python3 is older, they run in the CPython of the npm package pyodide. Without them (make
// build/validators), the tests that need them are skipped.
package validators

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"skillscurriculum/infra/local/child"
)

// root is the root of the module, found before a test changes its directory.
var root, missing = child.ModuleRoot()

// Documents fails the test for everything that Find finds in documents.
func Documents(t testing.TB, documents ...[]byte) {
	t.Helper()
	findings := Find(t, documents...)
	if findings != "" {
		t.Errorf("the validators found: %.4000s", findings)
	}
	t.Logf("%d documents validated: %d errors and warnings", len(documents), strings.Count(findings, "\n"))
}

// Find returns one line for every error or warning of ctdl-validate about a document, one JSON text each, and for
// everything in one that PyLD cannot expand. Nothing is fetched: the contexts are those in ctdl-validate.
func Find(t testing.TB, documents ...[]byte) string {
	t.Helper()
	installed(t)
	dir := filepath.Join(root, "infra", "terms", "validators")
	cmd := exec.Command("python3", filepath.Join(dir, "validate.py"))
	if exec.Command("python3", "-c", "import sys; sys.exit(sys.version_info < (3, 12))").Run() != nil {
		cmd = exec.Command("node", filepath.Join(dir, "pyodide.mjs"))
	}
	var out, wrong bytes.Buffer
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join(root, "build", "validators"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(bytes.Join(documents, []byte("\n"))), &out, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, wrong.String())
	}
	return out.String()
}

// Encodings returns the files with the published encodings of CTDL and CTDL-ASN.
func Encodings(t testing.TB) []string {
	t.Helper()
	installed(t)
	vendor := filepath.Join(root, "build", "validators", "ctdl_validate", "vendor")
	return []string{filepath.Join(vendor, "ctdl", "schema.json"), filepath.Join(vendor, "ctdlasn", "schema.json")}
}

// installed skips the test where the validators are missing.
func installed(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("validators in Python take seconds")
	}
	if missing != nil {
		t.Fatal(missing)
	}
	if _, err := os.Stat(filepath.Join(root, "build", "validators", "pyld")); err != nil {
		t.Skip("ctdl-validate and PyLD are not installed (make build/validators): no document in CTDL is validated")
	}
}
