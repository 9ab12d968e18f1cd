package catalog

import (
	"regexp"
	"testing"
)

// A derived CTID is a UUID of version 4 that depends on the id alone.
func TestDerivedCTID(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^ce-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	seen := map[string]bool{}
	for _, id := range []string{"", "crs_1", "crs_2", "art_1", "art_1/1", "prg_ü"} {
		ctid := DerivedCTID(id)
		if !valid.MatchString(ctid) || ctid != DerivedCTID(id) || seen[ctid] {
			t.Errorf("%q: %s", id, ctid)
		}
		seen[ctid] = true
	}
	// Published addresses contain it, so it never changes.
	if got := DerivedCTID("crs_1"); got != "ce-6ca01066-d74d-42ed-a5fc-1ae9eb016576" {
		t.Error(got)
	}
}
