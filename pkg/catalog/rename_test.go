package catalog

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Reviews go where their skills go, and rule there as before.
func TestRenameReviewed(t *testing.T) {
	level := 4
	section := &Section{
		Skills: []SkillRef{{"old:a", "a", 4, 1}, {"old:b", "b", 2, .9}, {"old:d", "d", 1, .8}, {"old:gone", "gone", 1, .5}},
		Reviews: []Review{
			{SkillID: "old:a", SkillName: "a", Verdict: Accepted, Level: &level, ReviewedAt: 1},
			{SkillID: "old:c", SkillName: "c", Verdict: Rejected, ReviewedAt: 2, Extracted: &Finding{3, .7}},
			{SkillID: "old:e", SkillName: "e", Verdict: Rejected, ReviewedAt: 3},
		},
	}
	to := map[string]string{"old:a": "new:a", "old:b": "new:c", "old:c": "new:c", "old:e": "new:a", "old:gone": ""}
	rename := func(id, name string) (string, string) {
		if next, ok := to[id]; ok && next == "" {
			return "", ""
		} else if ok {
			return next, "new " + next[4:]
		}
		return id, name
	}
	if !RenameSkills(section, rename) {
		t.Fatal("nothing was renamed")
	}
	// b becomes c, which was rejected; a and e become one, of which the later review rejects it.
	if diff := cmp.Diff([]SkillRef{{"old:d", "d", 1, .8}}, section.Skills); diff != "" {
		t.Error(diff)
	}
	want := []Review{
		{SkillID: "new:a", SkillName: "new a", Verdict: Rejected, ReviewedAt: 3},
		{SkillID: "new:c", SkillName: "new c", Verdict: Rejected, ReviewedAt: 2, Extracted: &Finding{3, .7}},
	}
	if diff := cmp.Diff(want, section.Reviews); diff != "" {
		t.Error(diff)
	}
	if RenameSkills(section, rename) {
		t.Error("a second time changes it")
	}
	if course := (&Course{}); RenameSkills(course, rename) {
		t.Error("a course names skills")
	}
}

// A review alone is reason enough: an accepted skill stands under its new id.
func TestRenameReviewOnly(t *testing.T) {
	course := &TransferCourse{
		Skills:  []SkillRef{{"old:a", "a", 3, 1}},
		Reviews: []Review{{SkillID: "old:a", SkillName: "a", Verdict: Accepted, Kept: 3}, {SkillID: "old:r", SkillName: "r", Verdict: Rejected}},
	}
	if !RenameSkills(course, func(id, name string) (string, string) { return "new" + id[3:], name }) {
		t.Fatal("nothing was renamed")
	}
	if diff := cmp.Diff([]SkillRef{{"new:a", "a", 3, 1}}, course.Skills); diff != "" || course.Reviews[1].SkillID != "new:r" {
		t.Errorf("%s %+v", diff, course.Reviews)
	}
}
