// Package validators checks documents in CTDL with programs that were written elsewhere: ctdl-validate and PyLD, both
// in Python. Without them (.ci/requirements.txt), the tests that need them are skipped.
package validators

import (
	"bytes"
	_ "embed"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

//go:embed validate.py
var program string

// Documents fails the test for everything that Find finds in documents.
func Documents(t testing.TB, documents ...[]byte) {
	t.Helper()
	if findings := Find(t, documents...); findings != "" {
		t.Errorf("the validators found: %.4000s", findings)
	}
}

// Find returns one line for every error or warning of ctdl-validate about a document, one JSON text each, and for
// everything in one that PyLD cannot expand. Nothing is fetched: the contexts are those in ctdl-validate.
func Find(t testing.TB, documents ...[]byte) string {
	t.Helper()
	installed(t)
	var out, wrong bytes.Buffer
	cmd := exec.Command("python3", "-c", program)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(bytes.Join(documents, []byte("\n"))), &out, &wrong
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, wrong.String())
	}
	return out.String()
}

// Encodings returns the files with the published encodings of CTDL and CTDL-ASN.
func Encodings(t testing.TB) []string {
	t.Helper()
	vendor := filepath.Join(installed(t), "vendor")
	return []string{filepath.Join(vendor, "ctdl", "schema.json"), filepath.Join(vendor, "ctdlasn", "schema.json")}
}

// installed returns the directory of ctdl-validate.
func installed(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("validators in Python take seconds")
	}
	out, err := exec.Command("python3", "-c", "import ctdl_validate, pyld; print(ctdl_validate.__path__[0])").Output()
	if err != nil {
		t.Skip("ctdl-validate and PyLD (pip install -r .ci/requirements.txt, Python 3.12) are not installed: no document " +
			"in CTDL is validated")
	}
	return strings.TrimSpace(string(out))
}
