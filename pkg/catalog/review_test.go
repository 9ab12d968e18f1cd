package catalog_test

import (
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
		section := &catalog.Section{Skills: []catalog.SkillRef{}}
		base, opinions, byHand := map[string]catalog.SkillRef{}, map[string]opinion{}, false
		skill := rapid.Custom(func(t *rapid.T) catalog.SkillRef {
			// s6 and s7 are skills of another taxonomy.
			id := fmt.Sprintf("s%d", rapid.IntRange(0, 7).Draw(t, "skill"))
			name, ok := taxonomyOf(id)
			if !ok {
				name = "old " + id
			}
			return catalog.SkillRef{SkillID: id, SkillName: name, Level: rapid.IntRange(1, 5).Draw(t, "level"), Confidence: float64(rapid.IntRange(0, 9).Draw(t, "confidence")) / 10}
		})
		list := rapid.SliceOfNDistinct(skill, 0, 6, func(s catalog.SkillRef) string { return s.SkillID })
		replace := func(skills []catalog.SkillRef) {
			base = map[string]catalog.SkillRef{}
			for _, s := range skills {
				base[s.SkillID] = s
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"extract": func(t *rapid.T) {
				found := list.Draw(t, "found")
				given := slices.Clone(found)
				section.Skills, section.Reviews = catalog.ApplyReviews(section.Reviews, found)
				section.ByHand, byHand = false, false
				if diff := cmp.Diff(given, found); diff != "" {
					t.Fatalf("what was found is changed: %s", diff)
				}
				replace(found)
			},
			"set by hand": func(t *rapid.T) {
				skills := list.Draw(t, "skills")
				known := slices.DeleteFunc(skills, func(s catalog.SkillRef) bool { _, ok := taxonomyOf(s.SkillID); return !ok })
				in := catalog.SectionInput{Skills: catalog.Optional[[]catalog.SkillInput]{Set: true}}
				for _, s := range known {
					in.Skills.Value = append(in.Skills.Value, catalog.SkillInput{SkillID: s.SkillID, Level: s.Level, Confidence: &s.Confidence})
				}
				if wrong := in.Apply(section, reviewLookups); wrong != nil {
					t.Fatal(wrong)
				}
				replace(known)
				opinions, byHand = map[string]opinion{}, true
			},
			"review": func(t *rapid.T) {
				id := skill.Draw(t, "of").SkillID
				in := catalog.ReviewInput{Verdict: rapid.SampledFrom([]catalog.Verdict{catalog.Accepted, catalog.Rejected}).Draw(t, "verdict")}
				if rapid.Bool().Draw(t, "with a level") {
					in.Level = catalog.Optional[*int]{Set: true, Value: new(rapid.IntRange(1, 5).Draw(t, "level"))}
				}
				before := *section
				err := in.Apply(section, id, "key_1", reviewLookups, 1)
				_, known := taxonomyOf(id)
				found, stands := base[id]
				_, has := opinions[id]
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
					opinions[id] = opinion{in.Verdict, in.Level.Value, found.Level}
				}
				if diff := cmp.Diff(&before, section); err != nil && diff != "" {
					t.Fatalf("a refused review changes the record: %s", diff)
				}
			},
			"take a review away": func(t *rapid.T) {
				id := skill.Draw(t, "of").SkillID
				_, has := opinions[id]
				if catalog.Unreview(section, id) != has {
					t.Fatalf("there was a review: %v", has)
				}
				delete(opinions, id)
			},
			"": func(t *rapid.T) {
				stands, without := map[string][2]any{}, map[string][2]any{}
				for id, s := range base {
					without[id] = [2]any{s.Level, s.Confidence}
					stands[id] = without[id]
				}
				for id, o := range opinions {
					delete(stands, id)
					level := o.kept
					if o.level != nil {
						level = *o.level
					}
					if o.verdict == catalog.Accepted {
						stands[id] = [2]any{level, 1.0}
					}
				}
				agree(t, "skills", stands, section.Skills)
				agree(t, "skills without reviews", without, catalog.Unreviewed(section))
				reviews := catalog.ReviewsOf(section)
				if len(reviews) != len(opinions) {
					t.Fatalf("%d reviews, want %d", len(reviews), len(opinions))
				}
				for i, r := range reviews {
					found, ok := base[r.SkillID]
					if want := opinions[r.SkillID]; r.Verdict != want.verdict || cmp.Diff(r.Level, want.level) != "" {
						t.Fatalf("review %v, want %v", r, want)
					}
					if ok != (r.Extracted != nil || r.ByHand != nil) || byHand && r.Extracted != nil || !byHand && r.ByHand != nil {
						t.Fatalf("%s was found: %v, set by hand: %v, and its review knows %v and %v", r.SkillID, ok, byHand, r.Extracted, r.ByHand)
					}
					if ok && !byHand && *r.Extracted != (catalog.Finding{Level: found.Level, Confidence: found.Confidence}) {
						t.Fatalf("%v was found, and its review knows %v", found, r.Extracted)
					}
					if i > 0 {
						if a, b := strings.ToLower(reviews[i-1].SkillName), strings.ToLower(r.SkillName); a > b || a == b && reviews[i-1].SkillID >= r.SkillID {
							t.Fatalf("%s stands before %s", reviews[i-1].SkillName, r.SkillName)
						}
					}
				}
			},
		})
	})
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
