package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"skillscurriculum/pkg/catalog"
)

func TestKappa(t *testing.T) {
	for name, c := range map[string]struct {
		cells
		want float64
	}{
		"equal":         {cells{{5}, {0, 3}, {}, {0, 0, 0, 2}}, 1},
		"independent":   {cells{{4, 0, 0, 4}, {}, {}, {4, 0, 0, 4}}, 0},
		"opposite":      {cells{{0, 0, 0, 4}, {}, {}, {4}}, -1},
		"by one of two": {cells{{4, 4}, {}, {}, {}}, 0},
		"near":          {cells{{2, 2}, {2, 2}, {}, {0, 0, 0, 8}}, 1 - 4/(16*(.25*.25*2+.5*.25*3*2+.5*.25*2*2))},
	} {
		if got := c.kappa(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A map that is computed as published agrees with itself, and the words of its outcomes tell its courses apart.
func TestMarks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "map.json")
	if err := os.WriteFile(path, []byte(`{"name": "Data", "outcomes": [{"code": "a", "statement": "Write SQL queries."}], "courses": [
		{"code": "C1", "name": "Databases", "description": "Students write SQL queries and design relational databases.", "goals": ["Write SQL queries."], "marks": {"a": 3}},
		{"code": "C2", "name": "Pottery", "description": "Clay, glazes and kilns.", "marks": {}}]}`), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	want := cells{{1}, {}, {}, {0, 0, 0, 1}}
	for name, compare := range map[string]way{"computed": computed, "words": overlap} {
		if got := compare(m, catalog.DefaultMapSettings); got != want {
			t.Errorf("%s: %v", name, got)
		}
		if got := compare(m, catalog.MapSettings{Touch: 2, Cover: 2}); got != (cells{{1}, {}, {}, {1}}) {
			t.Errorf("%s without marks: %v", name, got)
		}
		if s := choose([]*published{m}, compare); compare(m, s) != want {
			t.Errorf("%s: chose %v", name, s)
		}
	}
}
