package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/pkg/catalog"
)

// Changes that a receiver did not accept are missing.
func TestMissingMessages(t *testing.T) {
	pages := []object{
		{"entries": []any{"created|Course|crs_1||1", "changed|Course|crs_1||2"}},
		{"entries": []any{
			"completed|TransferCourse|tcr_1|tpk_1|3", "decided|Articulation|art_1||4", "deleted|Course|crs_1||5",
		}},
	}
	r := &receivers{}
	accepted := map[string]bool{"c0-2 course.changed": true, "c1-2 articulation.changed": true}
	h := &hook{from: catalog.Cursor{Page: 0, Place: 1}, accepted: accepted}
	want := []string{
		"c1-1 transferCourse.changed", "c1-1 extraction.completed", "c1-2 articulation.decided", "c1-3 course.deleted",
	}
	if diff := cmp.Diff(want, r.missing(h, pages)); diff != "" {
		t.Error(diff)
	}
}
