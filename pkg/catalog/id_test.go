package catalog_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

var kinds = catalog.Kinds()

func TestSequenceIsReadFromTheIDOfItsKindOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := catalog.IDs{Random: bytes.NewReader(rapid.SliceOfN(rapid.Byte(), 10, 10).Draw(t, "random"))}
		kind := rapid.SampledFrom(kinds).Draw(t, "kind")
		seq := rapid.IntRange(0, 1<<40-1).Draw(t, "seq")
		id := ids.Sequenced(kind, seq)
		for _, other := range kinds {
			got, ok := catalog.Sequence(other, id)
			if ok != (other == kind) || ok && got != seq {
				t.Fatalf("%s of number %d, read as %s: %d, %v", id, seq, other, got, ok)
			}
			if other.Made(id) != (other == kind) {
				t.Fatalf("%s passes as an id of %s", id, other)
			}
		}
		if len(id) > 64 || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Fatalf("%q is too long or not URL-safe", id)
		}
	})
}

func TestIDsOfOneNumberDifferAndShowNothing(t *testing.T) {
	ids := catalog.IDs{Random: rand.Reader}
	seen := map[string]bool{}
	for range 1000 {
		id := ids.Sequenced(catalog.CourseKind, 1)[4:12]
		if seen[id] {
			t.Fatalf("the number shows: %s came twice", id)
		}
		seen[id] = true
	}
}

func TestOrderedIDsStandInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := catalog.IDs{Random: rand.Reader}
		a := rapid.Int64Range(0, 1<<46).Draw(t, "a")
		b := rapid.Int64Range(0, 1<<46).Draw(t, "b")
		i, j := rapid.IntRange(0, 999).Draw(t, "i"), rapid.IntRange(0, 999).Draw(t, "j")
		parent := rapid.IntRange(0, 1<<32-1).Draw(t, "parent")
		first, second := ids.Ordered(catalog.TransferCourseKind, catalog.Time(a), i, parent), ids.Ordered(catalog.TransferCourseKind, catalog.Time(b), j, 7)
		if got, ok := catalog.PackageNumber(first); !ok || got != parent {
			t.Fatalf("%s leads to package %d, want %d", first, got, parent)
		}
		if before := a < b || a == b && i < j; before && first >= second {
			t.Fatalf("%d.%d before %d.%d: %s, %s", a, i, b, j, first, second)
		}
		if !catalog.TransferCourseKind.Made(first) {
			t.Fatalf("%s is not taken for its own", first)
		}
	})
}

// What clients send as an id is anything.
func FuzzSequence(f *testing.F) {
	for _, id := range []string{"", "crs_", "crs_" + strings.Repeat("\n", 24), "crs_" + strings.Repeat("0", 24), "crs_" + strings.Repeat("0", 23) + "\r", "crs_" + strings.Repeat("=", 24), "crs_" + strings.Repeat("U", 24), "tpk_\xff", "sec_#!"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		for _, kind := range kinds {
			_, ok := catalog.Sequence(kind, id)
			if ok && !kind.Made(id) {
				t.Errorf("%q has a number and was not made", id)
			}
			if kind.Made(id) && strings.ContainsAny(id, "\r\n#!/ ") {
				t.Errorf("%q passes for an id", id)
			}
		}
	})
}
