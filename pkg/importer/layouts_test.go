package importer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/catalog"
)

// Files in the layouts of other systems: a check reports what applying the file then does, and nothing fails. A system's
// sections come after its courses.
func TestDocumentedLayouts(t *testing.T) {
	const dir = "../intake/testdata/layouts/"
	paths, err := filepath.Glob(dir + "*.csv")
	if err != nil || len(paths) < 15 {
		t.Fatal(len(paths), err)
	}
	var system string
	var f *fixture
	slices.Sort(paths) // catalog and courses come before schedule and sections
	for _, path := range paths {
		of, base, _ := strings.Cut(filepath.Base(path), "-")
		if of != system {
			system, f = of, newFixture(t)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := "export.csv"
		if base == "courses.csv" || base == "sections.csv" { // names that the system gives
			name = base
		}
		run := func(mode catalog.ImportMode) (*catalog.Import, string) {
			t.Helper()
			i := f.request(name, string(text), func(i *catalog.Import) { i.Mode = mode })
			if f.deliver() > 0 {
				t.Fatalf("%s: not done", path)
			}
			done, details := f.get(i)
			if done.Status != catalog.ImportCompleted || done.Counts.Failed > 0 || done.Counts.Read < 2 {
				t.Errorf("%s: %s, %+v, %+v, %+v", path, done.Status, done.Failure, done.Counts, details.Problems)
			}
			told, _ := json.Marshal([]any{done.Counts, done.Resource, details.Layout, details.Columns, details.Problems})
			return done, string(told)
		}
		_, checked := run(catalog.CheckOnly)
		applied, told := run(catalog.ApplyRows)
		if checked != told {
			t.Errorf("%s: a check reports %s, the import %s", path, checked, told)
		}
		if c := applied.Counts; c.Created+c.Updated+c.Unchanged == 0 {
			t.Errorf("%s: %+v", path, c)
		}
		if again, _ := run(catalog.ApplyRows); again.Counts.Created+again.Counts.Updated > 0 {
			t.Errorf("%s again: %+v", path, again.Counts)
		}
	}
}
