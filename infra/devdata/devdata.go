// Package devdata locates the public data sets that some tests read. They are not in the
// repository; CONTRIBUTING lists them and where to put them.
package devdata

import (
	"os"
	"path/filepath"
	"testing"

	"skillscurriculum/infra/local/child"
)

// Path returns the path of a file or folder of the data sets. If it is missing, it skips the
// test, always with the same reason.
func Path(t testing.TB, elem ...string) string {
	t.Helper()
	root, err := child.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(append([]string{root, "..", "shared", "data"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skip("../shared/data is missing or lacks a file (CONTRIBUTING: data sets)")
	}
	return path
}
