package catalog_test

import (
	order "cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

// taxonomyOf knows the skills s0 to s5, by names whose order is not that of the ids.
func taxonomyOf(id string) (string, bool) {
	names := map[string]string{"s0": "beta", "s1": "Alpha", "s2": "alpha", "s3": "Gamma", "s4": "delta", "s5": "Zeta"}
	name, ok := names[id]
	return name, ok
}

var reviewLookups = catalog.Lookups{At: "body", SkillName: taxonomyOf}

// opinion is a review as the model keeps it.
type opinion struct {
	verdict catalog.Verdict
	level   *int
	kept    int
}

// Whatever extractions, people and lists set by hand do in whatever order: the
// skills are always what was found or set last, with every review that stands
// applied to it, and no program takes a review away.
func TestReviewsAreApplied(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &reviewModel{section: &catalog.Section{Skills: []catalog.SkillRef{}}, base: map[string]catalog.SkillRef{}, opinions: map[string]opinion{}}
		t.Repeat(rapid.StateMachineActions(m))
	})
}

// reviewModel is a section and what should stand in it.
type reviewModel struct {
	section  *catalog.Section
	base     map[string]catalog.SkillRef // what was found or set by hand last
	byHand   bool
	opinions map[string]opinion // the reviews that stand
}

var anySkill = rapid.Custom(func(t *rapid.T) catalog.SkillRef {
	// s6 and s7 are skills of another taxonomy.
	id := fmt.Sprintf("s%d", rapid.IntRange(0, 7).Draw(t, "skill"))
	name, ok := taxonomyOf(id)
	if !ok {
		name = "old " + id
	}
	return catalog.SkillRef{SkillID: id, SkillName: name, Level: rapid.IntRange(1, 5).Draw(t, "level"), Confidence: float64(rapid.IntRange(0, 9).Draw(t, "confidence")) / 10}
})

var anySkills = rapid.SliceOfNDistinct(anySkill, 0, 6, func(s catalog.SkillRef) string { return s.SkillID })

func (m *reviewModel) replace(skills []catalog.SkillRef, byHand bool) {
	m.base, m.byHand = map[string]catalog.SkillRef{}, byHand
	for _, s := range skills {
		m.base[s.SkillID] = s
	}
}

func (m *reviewModel) Extract(t *rapid.T) {
	found := anySkills.Draw(t, "found")
	given := slices.Clone(found)
	m.section.Skills, m.section.Reviews = catalog.ApplyReviews(m.section.Reviews, found)
	m.section.ByHand = false
	if diff := cmp.Diff(given, found); diff != "" {
		t.Fatalf("what was found is changed: %s", diff)
	}
	m.replace(found, false)
}

func (m *reviewModel) SetByHand(t *rapid.T) {
	known := slices.DeleteFunc(anySkills.Draw(t, "skills"), func(s catalog.SkillRef) bool { _, ok := taxonomyOf(s.SkillID); return !ok })
	in := catalog.SectionInput{Skills: catalog.Optional[[]catalog.SkillInput]{Set: true, Value: []catalog.SkillInput{}}}
	for _, s := range known {
		in.Skills.Value = append(in.Skills.Value, catalog.SkillInput{SkillID: s.SkillID, Level: s.Level, Confidence: &s.Confidence})
	}
	if wrong := in.Apply(m.section, reviewLookups); wrong != nil {
		t.Fatal(wrong)
	}
	m.replace(known, true)
	m.opinions = map[string]opinion{}
}

func (m *reviewModel) Review(t *rapid.T) {
	id := anySkill.Draw(t, "of").SkillID
	in := catalog.ReviewInput{Verdict: rapid.SampledFrom([]catalog.Verdict{catalog.Accepted, catalog.Rejected}).Draw(t, "verdict")}
	if rapid.Bool().Draw(t, "with a level") {
		in.Level = catalog.Optional[*int]{Set: true, Value: new(rapid.IntRange(1, 5).Draw(t, "level"))}
	}
	before := *m.section
	err := in.Apply(m.section, id, "key_1", reviewLookups, 1)
	_, known := taxonomyOf(id)
	found, stands := m.base[id]
	_, has := m.opinions[id]
	var wrong *catalog.Error
	switch {
	case !known && !stands && !has:
		if !errors.As(err, &wrong) || wrong.Code != catalog.NotFound {
			t.Fatalf("unknown skill: %v", err)
		}
	case in.Verdict == catalog.Rejected && in.Level.Value != nil, in.Verdict == catalog.Accepted && in.Level.Value == nil && !stands:
		if !errors.As(err, &wrong) || wrong.Code != catalog.ValidationFailed || wrong.Fields[0].Location != "body.level" {
			t.Fatalf("level: %v", err)
		}
	case err != nil:
		t.Fatal(err)
	default:
		m.opinions[id] = opinion{in.Verdict, in.Level.Value, found.Level}
	}
	if diff := cmp.Diff(&before, m.section); err != nil && diff != "" {
		t.Fatalf("a refused review changes the record: %s", diff)
	}
}

func (m *reviewModel) TakeAway(t *rapid.T) {
	id := anySkill.Draw(t, "of").SkillID
	_, has := m.opinions[id]
	lookups := catalog.Lookups{SkillName: func(string) (string, bool) { return "", true }}
	if removed, err := catalog.Unreview(m.section, id, lookups); err != nil || removed != has {
		t.Fatalf("there was a review: %v", has)
	}
	delete(m.opinions, id)
}

// Check compares the section's skills and reviews with the model's.
func (m *reviewModel) Check(t *rapid.T) {
	stands, without := map[string][2]any{}, map[string][2]any{}
	for id, s := range m.base {
		without[id] = [2]any{s.Level, s.Confidence}
		stands[id] = without[id]
	}
	for id, o := range m.opinions {
		delete(stands, id)
		if o.verdict == catalog.Accepted {
			stands[id] = [2]any{*order.Or(o.level, &o.kept), 1.0}
		}
	}
	agree(t, "skills", stands, m.section.Skills)
	agree(t, "skills without reviews", without, catalog.Unreviewed(m.section))
	reviews := catalog.ReviewsOf(m.section)
	if len(reviews) != len(m.opinions) {
		t.Fatalf("%d reviews, want %d", len(reviews), len(m.opinions))
	}
	for _, r := range reviews {
		m.checkReview(t, r)
	}
	if !slices.IsSortedFunc(reviews, func(a, b catalog.Review) int {
		return order.Or(order.Compare(strings.ToLower(a.SkillName), strings.ToLower(b.SkillName)), order.Compare(a.SkillID, b.SkillID))
	}) {
		t.Fatalf("reviews are not in order: %v", reviews)
	}
}

func (m *reviewModel) checkReview(t *rapid.T, r catalog.Review) {
	if want := m.opinions[r.SkillID]; r.Verdict != want.verdict || cmp.Diff(r.Level, want.level) != "" {
		t.Fatalf("review %v, want %v", r, want)
	}
	found, ok := m.base[r.SkillID]
	if (r.Extracted != nil) != (ok && !m.byHand) || (r.ByHand != nil) != (ok && m.byHand) {
		t.Fatalf("%s was found: %v, set by hand: %v, and its review knows %v and %v", r.SkillID, ok, m.byHand, r.Extracted, r.ByHand)
	}
	if ok && !m.byHand && *r.Extracted != (catalog.Finding{Level: found.Level, Confidence: found.Confidence}) {
		t.Fatalf("%v was found, and its review knows %v", found, r.Extracted)
	}
}

// agree compares a list with what is to stand in it, and its order.
func agree(t *rapid.T, what string, want map[string][2]any, skills []catalog.SkillRef) {
	got := map[string][2]any{}
	for _, s := range skills {
		got[s.SkillID] = [2]any{s.Level, s.Confidence}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != len(skills) {
		t.Fatalf("%s (-want +got): %s in %v", what, diff, skills)
	}
	sorted := slices.Clone(skills)
	catalog.SortSkills(sorted)
	if diff := cmp.Diff(sorted, skills); diff != "" {
		t.Fatalf("%s are not in order: %s", what, diff)
	}
}

func TestReviewsHaveABound(t *testing.T) {
	t.Parallel()
	known := catalog.Lookups{At: "body", SkillName: func(id string) (string, bool) { return id, true }}
	course := &catalog.TransferCourse{Skills: []catalog.SkillRef{}}
	in := catalog.ReviewInput{Verdict: catalog.Rejected}
	for i := range catalog.MaxReviews {
		if err := in.Apply(course, fmt.Sprint(i), "key_1", known, 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := in.Apply(course, "more", "key_1", known, 1); !isCode(err, catalog.Conflict) {
		t.Errorf("one review too many: %v", err)
	}
	if err := in.Apply(course, "7", "key_2", known, 2); err != nil {
		t.Errorf("a review in the place of another: %v", err)
	}
}
