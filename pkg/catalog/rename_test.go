package catalog

import (
	"slices"
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
	want := Reviews{
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

// What is renamed may be named by a skill alone, by a review alone, or by both.
func TestRenameReviewOnly(t *testing.T) {
	for name, want := range map[string]struct {
		renamed         bool
		skills, reviews []string
	}{
		"old:s": {true, []string{"new:s", "old:b"}, []string{"old:b", "old:r"}},
		"old:b": {true, []string{"new:b", "old:s"}, []string{"new:b", "old:r"}},
		"old:r": {true, []string{"old:b", "old:s"}, []string{"old:b", "new:r"}},
		"old:x": {false, []string{"old:b", "old:s"}, []string{"old:b", "old:r"}},
	} {
		course := &TransferCourse{
			Skills:  []SkillRef{{"old:b", "b", 3, 1}, {"old:s", "s", 2, .5}},
			Reviews: []Review{{SkillID: "old:b", SkillName: "b", Verdict: Accepted, Kept: 3}, {SkillID: "old:r", SkillName: "r", Verdict: Rejected}},
		}
		renamed := RenameSkills(course, func(id, of string) (string, string) {
			if id == name {
				id = "new" + id[3:]
			}
			return id, of
		})
		var skills, reviews []string
		for _, skill := range course.Skills {
			skills = append(skills, skill.SkillID)
		}
		for _, review := range course.Reviews {
			reviews = append(reviews, review.SkillID)
		}
		slices.Sort(skills)
		if renamed != want.renamed || !slices.Equal(skills, want.skills) || !slices.Equal(reviews, want.reviews) {
			t.Errorf("%s: renamed %v, skills %v, reviews %v", name, renamed, skills, reviews)
		}
	}
}
