package alignment_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// skillList draws a list of distinct skills out of a few, so that lists meet.
func skillList(atMost int) *rapid.Generator[[]catalog.SkillRef] {
	return rapid.Custom(func(t *rapid.T) []catalog.SkillRef {
		ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 9), 0, atMost, rapid.ID[int]).Draw(t, "ids")
		list := make([]catalog.SkillRef, len(ids))
		for i, id := range ids {
			list[i] = catalog.SkillRef{
				SkillID: fmt.Sprintf("s%d", id), SkillName: fmt.Sprintf("Skill %d", id),
				Level:      rapid.IntRange(1, 5).Draw(t, "level"),
				Confidence: float64(rapid.SampledFrom([]int{0, 1, 2500, 3333, 5000, 9999, 10000}).Draw(t, "confidence")) / 10000,
			}
		}
		return list
	})
}

func candidates(atMost, courses int) *rapid.Generator[[]catalog.SectionProfile] {
	return rapid.Custom(func(t *rapid.T) []catalog.SectionProfile {
		n := rapid.IntRange(0, atMost).Draw(t, "sections")
		list := make([]catalog.SectionProfile, n)
		for i := range list {
			course := rapid.IntRange(0, courses-1).Draw(t, "course")
			list[i] = catalog.SectionProfile{
				SectionID: fmt.Sprintf("sec%02d", i), CourseProfile: catalog.CourseProfile{CourseID: fmt.Sprintf("crs%d", course), CourseName: fmt.Sprintf("Course %d", course)},
				SectionName:   fmt.Sprintf("Section %d", i),
				SectionSkills: skillList(6).Draw(t, "skills"),
			}
		}
		return list
	})
}

func jobs(atMost int) *rapid.Generator[[]alignment.JobProfile] {
	return rapid.Custom(func(t *rapid.T) []alignment.JobProfile {
		n := rapid.IntRange(1, atMost).Draw(t, "jobs")
		list := make([]alignment.JobProfile, n)
		for i := range list {
			list[i] = alignment.JobProfile{
				JobID: fmt.Sprintf("job%d", i), JobName: fmt.Sprintf("Job %d", i),
				SkillRequirements: skillList(8).Draw(t, "requirements"),
			}
		}
		return list
	})
}

// costOf is the documented objective of a choice, by definition and in floating point.
func costOf(r alignment.CredentialRequest, chosen []catalog.SectionProfile) float64 {
	need, weight := map[string]int{}, map[string]float64{}
	var all float64
	for _, j := range r.Jobs {
		for _, q := range j.SkillRequirements {
			need[q.SkillID] = max(need[q.SkillID], q.Level)
			weight[q.SkillID] += q.Confidence
			all += q.Confidence
		}
	}
	var taught, met float64
	for id, required := range need {
		var best float64
		for _, c := range chosen {
			for _, s := range c.SectionSkills {
				if s.SkillID == id {
					share := weight[id] * math.Min(1, float64(s.Level)/float64(required))
					taught += share
					best = math.Max(best, share)
				}
			}
		}
		met += best
	}
	return r.Weights.UndercoveragePenalty*(1-met/all) +
		r.Weights.SectionCountPenalty*float64(len(chosen))/20 +
		r.Weights.OverlapPenalty*(taught-met)/all
}

// teaches reports whether a section qualifies.
func teaches(c catalog.SectionProfile, jobs []alignment.JobProfile) bool {
	for _, s := range c.SectionSkills {
		for _, j := range jobs {
			for _, q := range j.SkillRequirements {
				if q.SkillID == s.SkillID && q.Confidence > 0 {
					return true
				}
			}
		}
	}
	return false
}

// cheapest tries every choice.
func cheapest(r alignment.CredentialRequest) (cost float64, found bool) {
	var qualified []catalog.SectionProfile
	for _, c := range r.Candidates {
		if teaches(c, r.Jobs) {
			qualified = append(qualified, c)
		}
	}
	cost = math.Inf(1)
	for set := range 1 << len(qualified) {
		var chosen []catalog.SectionProfile
		courses := map[string]bool{}
		for i, c := range qualified {
			if set>>i&1 == 1 {
				chosen = append(chosen, c)
				courses[c.CourseID] = true
			}
		}
		if len(courses) == len(chosen) && len(chosen) >= r.MinSections && len(chosen) <= r.MaxSections {
			cost, found = math.Min(cost, costOf(r, chosen)), true
		}
	}
	return cost, found && len(qualified) > 0
}

func TestBuildIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		penalty := rapid.OneOf(rapid.Just(0.0), rapid.Map(rapid.IntRange(0, 10000), func(n int) float64 {
			return float64(n) / 100
		}))
		r := alignment.CredentialRequest{
			Jobs: jobs(4).Draw(t, "jobs"), Candidates: candidates(10, 6).Draw(t, "candidates"),
			MinSections: rapid.IntRange(1, 3).Draw(t, "min"), Weights: alignment.DefaultWeights,
		}
		r.MaxSections = r.MinSections + rapid.IntRange(0, 5).Draw(t, "more")
		if rapid.Bool().Draw(t, "own weights") {
			r.Weights = alignment.Weights{
				OverlapPenalty: penalty.Draw(t, "overlap"), SectionCountPenalty: penalty.Draw(t, "count"),
				UndercoveragePenalty: penalty.Draw(t, "undercoverage"),
			}
		}
		want, possible := cheapest(r)
		got, err := alignment.Build(r)
		if !possible {
			if e := (*catalog.Error)(nil); !errors.As(err, &e) || e.Code != catalog.ValidationFailed {
				t.Fatalf("impossible request answered %v, %v", got, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !got.Optimal || got.LowerBound != got.Objective || math.Abs(got.Objective-want) > 0.00011 {
			t.Fatalf("objective %v (bound %v, optimal %v), exhaustive search finds %v", got.Objective, got.LowerBound,
				got.Optimal, want)
		}

		checkChoice(t, r, got)
		if (got.Coverage == 1) != (len(got.UncoveredSkills) == 0) &&
			!slices.ContainsFunc(got.UncoveredSkills, func(s catalog.SkillRef) bool { return s.Confidence < 0.001 }) {
			t.Fatalf("coverage %v with uncovered %v", got.Coverage, got.UncoveredSkills)
		}
		var named, required []string
		for _, s := range slices.Concat(got.CoveredSkills, got.UncoveredSkills) {
			named = append(named, s.SkillID)
		}
		for _, j := range r.Jobs {
			for _, q := range j.SkillRequirements {
				required = append(required, q.SkillID)
			}
		}
		slices.Sort(named)
		slices.Sort(required)
		if diff := cmp.Diff(slices.Compact(required), named); diff != "" {
			t.Fatalf("covered and uncovered are not all required skills once (-want +got):\n%s", diff)
		}

		shuffled := r
		shuffled.Candidates = slices.Clone(r.Candidates)
		shuffled.Jobs = slices.Clone(r.Jobs)
		slices.Reverse(shuffled.Candidates)
		slices.Reverse(shuffled.Jobs)
		again, err := alignment.Build(shuffled)
		if diff := cmp.Diff(got, again); err != nil || diff != "" {
			t.Fatalf("the order of the input matters (-want +got), error %v:\n%s", err, diff)
		}
	})
}

// checkChoice reports a choice that breaks a rule, does not cost what it says, or in
// which a section can go, or give way to one of a smaller id, at equal cost.
func checkChoice(t *rapid.T, r alignment.CredentialRequest, got alignment.Proposal) {
	var chosen []catalog.SectionProfile
	courses := map[string]bool{}
	for _, c := range r.Candidates {
		if slices.Contains(got.SectionIDs, c.SectionID) {
			chosen = append(chosen, c)
			courses[c.CourseID] = true
		}
	}
	if len(chosen) != len(got.SectionIDs) || len(courses) != len(chosen) || len(chosen) < r.MinSections ||
		len(chosen) > r.MaxSections {
		t.Fatalf("not a valid choice: %v", got.SectionIDs)
	}
	const same = 1e-11
	cost := costOf(r, chosen)
	if math.Abs(cost-got.Objective) > 0.00011 {
		t.Fatalf("says it costs %v, costs %v", got.Objective, cost)
	}
	for i, out := range chosen {
		rest := slices.Delete(slices.Clone(chosen), i, i+1)
		if len(rest) >= r.MinSections && costOf(r, rest) < cost+same {
			t.Fatalf("%s can go", out.SectionID)
		}
		for _, in := range r.Candidates {
			free := !courses[in.CourseID] || in.CourseID == out.CourseID
			if in.SectionID < out.SectionID && free && teaches(in, r.Jobs) &&
				math.Abs(costOf(r, append(slices.Clone(rest), in))-cost) < same {
				t.Fatalf("%s can give way to %s", out.SectionID, in.SectionID)
			}
		}
	}
}

// TestBuild looks at answers that people can check by hand.
func TestBuild(t *testing.T) {
	job := func(id string, skills ...catalog.SkillRef) alignment.JobProfile {
		return alignment.JobProfile{JobID: id, JobName: id, SkillRequirements: skills}
	}
	skill := func(id string, level int) catalog.SkillRef {
		return catalog.SkillRef{SkillID: id, SkillName: id, Level: level, Confidence: 1}
	}
	section := func(id, course string, skills ...catalog.SkillRef) catalog.SectionProfile {
		return catalog.SectionProfile{SectionID: id, CourseProfile: catalog.CourseProfile{CourseID: course}, SectionSkills: skills}
	}
	developer := job("developer", skill("go", 4), skill("sql", 2), skill("testing", 3), skill("git", 2))
	request := func(min, max int, candidates ...catalog.SectionProfile) alignment.CredentialRequest {
		return alignment.CredentialRequest{
			Jobs: []alignment.JobProfile{developer}, Candidates: candidates,
			MinSections: min, MaxSections: max, Weights: alignment.DefaultWeights,
		}
	}

	tests := []struct {
		name      string
		request   alignment.CredentialRequest
		sections  []string
		coverage  float64
		covered   []string
		objective float64
	}{
		{
			"each section that adds a substantial part is worth its price",
			request(1, 20, section("a", "1", skill("go", 4), skill("testing", 3)), section("b", "2", skill("sql", 2)),
				section("c", "3", skill("git", 5), skill("poetry", 5))),
			[]string{"a", "b", "c"}, 1, []string{"go", "testing", "git", "sql"}, 4.5,
		},
		{
			"of two sections of a course only the better one is taken",
			request(1, 20, section("a", "1", skill("go", 4)), section("b", "1", skill("go", 4), skill("git", 2))),
			[]string{"b"}, 0.5, []string{"go", "git"}, 31.5,
		},
		{
			"a section that only repeats is left out",
			request(1, 20, section("a", "1", skill("go", 4), skill("sql", 2)), section("b", "2", skill("sql", 2))),
			[]string{"a"}, 0.5, []string{"go", "sql"}, 31.5,
		},
		{
			"unless the least number of sections asks for it",
			request(2, 20, section("a", "1", skill("go", 4), skill("sql", 2)), section("b", "2", skill("sql", 2))),
			[]string{"a", "b"}, 0.5, []string{"go", "sql"}, 35.5,
		},
		{
			"a level that is too low counts its share, but is not covered",
			request(1, 20, section("a", "1", skill("go", 2))),
			[]string{"a"}, 0.125, nil, 54,
		},
		{
			"of equal sections the smallest id is taken",
			request(1, 20, section("c", "1", skill("go", 4)), section("b", "2", skill("go", 4)),
				section("d", "1", skill("go", 4))),
			[]string{"b"}, 0.25, []string{"go"}, 46.5,
		},
		{
			"at most so many sections, those that bring most",
			request(1, 1, section("a", "1", skill("git", 2)), section("b", "2", skill("sql", 2), skill("go", 4)),
				section("c", "3", skill("testing", 3))),
			[]string{"b"}, 0.5, []string{"go", "sql"}, 31.5,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := alignment.Build(test.request)
			if err != nil {
				t.Fatal(err)
			}
			var covered []string
			for _, s := range got.CoveredSkills {
				covered = append(covered, s.SkillID)
			}
			if diff := cmp.Diff(test.sections, got.SectionIDs); diff != "" {
				t.Errorf("sections (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.covered, covered); diff != "" {
				t.Errorf("covered skills (-want +got):\n%s", diff)
			}
			if got.Coverage != test.coverage || got.Objective != test.objective ||
				got.LowerBound != test.objective || !got.Optimal {
				t.Errorf("coverage %v, objective %v, bound %v, optimal %v; want coverage %v, objective %v", got.Coverage,
					got.Objective, got.LowerBound, got.Optimal, test.coverage, test.objective)
			}
		})
	}

	t.Run("jobs share what they require", func(t *testing.T) {
		r := request(1, 20, section("a", "1", skill("go", 4)))
		r.Jobs = []alignment.JobProfile{
			job("nothing"), job("junior", skill("go", 2)), job("senior", skill("go", 5)), job("clerk", skill("filing", 1)),
		}
		got, err := alignment.Build(r)
		if err != nil {
			t.Fatal(err)
		}
		want := []catalog.SkillRef{skill("go", 5), skill("filing", 1)}
		if diff := cmp.Diff(want, got.UncoveredSkills); diff != "" || got.Coverage != 0.5333 {
			t.Errorf("coverage %v, want 2/3 of 4/5; uncovered (-want +got):\n%s", got.Coverage, diff)
		}
	})

	refused := []struct {
		name, location string
		request        alignment.CredentialRequest
	}{
		{"no requirement", "body.jobIdentifiers", alignment.CredentialRequest{
			Jobs: []alignment.JobProfile{job("nothing")}, Candidates: []catalog.SectionProfile{section("a", "1", skill("go", 4))},
			MinSections: 1, MaxSections: 2,
		}},
		{"no candidate", "body", request(1, 20)},
		{"no section teaches anything required", "body",
			request(1, 20, section("a", "1", skill("poetry", 3)), section("b", "2"))},
		{"too few courses", "body.minSections",
			request(2, 20, section("a", "1", skill("go", 3)), section("b", "1", skill("sql", 3)), section("c", "2"))},
		{"least above most", "body.minSections", request(3, 2, section("a", "1", skill("go", 3)))},
	}
	for _, test := range refused {
		t.Run(test.name, func(t *testing.T) {
			_, err := alignment.Build(test.request)
			var e *catalog.Error
			if !errors.As(err, &e) || e.Code != catalog.ValidationFailed || len(e.Fields) != 1 ||
				e.Fields[0].Location != test.location {
				t.Errorf("got %v, want validation_failed at %s", err, test.location)
			}
		})
	}
}

// TestBuildTakesEveryCourse: as many sections as there are courses can be asked for, but no more.
func TestBuildTakesEveryCourse(t *testing.T) {
	skill := catalog.SkillRef{SkillID: "go", SkillName: "go", Level: 3, Confidence: 0.5}
	stronger := catalog.SkillRef{SkillID: "go", SkillName: "Go", Level: 4, Confidence: 0.25}
	request := alignment.CredentialRequest{
		Jobs: []alignment.JobProfile{
			{JobID: "a", SkillRequirements: []catalog.SkillRef{skill}}, {JobID: "b", SkillRequirements: []catalog.SkillRef{stronger}},
		},
		Candidates: []catalog.SectionProfile{
			{SectionID: "a", CourseProfile: catalog.CourseProfile{CourseID: "1"}, SectionSkills: []catalog.SkillRef{skill}},
			{SectionID: "b", CourseProfile: catalog.CourseProfile{CourseID: "2"}, SectionSkills: []catalog.SkillRef{skill}},
		},
		MinSections: 2, MaxSections: 3, Weights: alignment.DefaultWeights,
	}
	proposal, err := alignment.Build(request)
	if err != nil || !slices.Equal(proposal.SectionIDs, []string{"a", "b"}) || !proposal.Optimal || proposal.LowerBound != proposal.Objective {
		t.Errorf("both courses: %+v, %v", proposal, err)
	}
	// Of two jobs' requirements the higher level and the higher confidence count.
	want := []catalog.SkillRef{{SkillID: "go", SkillName: "Go", Level: 4, Confidence: 0.5}}
	if diff := cmp.Diff(want, proposal.UncoveredSkills); diff != "" || proposal.Coverage != 0.75 {
		t.Errorf("coverage %v, uncovered (-want +got):\n%s", proposal.Coverage, diff)
	}
	request.MinSections = 3
	if _, err := alignment.Build(request); err == nil {
		t.Error("three sections of two courses")
	}
}

// TestBuildIsBounded wants an honest answer where the search cannot finish.
func TestBuildIsBounded(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	list := func(n int) []catalog.SkillRef {
		var skills []catalog.SkillRef
		for _, id := range rnd.Perm(60)[:n] {
			skills = append(skills, catalog.SkillRef{
				SkillID: fmt.Sprintf("s%02d", id), Level: 1 + rnd.IntN(5), Confidence: float64(1+rnd.IntN(10000)) / 10000,
			})
		}
		return skills
	}
	r := alignment.CredentialRequest{MinSections: 1, MaxSections: 20, Weights: alignment.DefaultWeights}
	for i := range 300 {
		r.Candidates = append(r.Candidates, catalog.SectionProfile{
			SectionID: fmt.Sprintf("sec%03d", i), CourseProfile: catalog.CourseProfile{CourseID: fmt.Sprintf("crs%03d", i/2)}, SectionSkills: list(12),
		})
	}
	for i := range 20 {
		r.Jobs = append(r.Jobs, alignment.JobProfile{JobID: fmt.Sprint(i), SkillRequirements: list(15)})
	}
	got, err := alignment.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Optimal || got.LowerBound >= got.Objective || got.LowerBound <= 0 {
		t.Errorf("objective %v, bound %v, optimal %v: the bound says nothing", got.Objective, got.LowerBound, got.Optimal)
	}
	slices.Reverse(r.Candidates)
	again, err := alignment.Build(r)
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("the order of the input matters (-want +got), error %v:\n%s", err, diff)
	}

	r.MaxSections = 40
	wider, err := alignment.Build(r)
	if err != nil || wider.Objective > got.Objective {
		t.Errorf("a wider limit costs %v instead of %v, error %v", wider.Objective, got.Objective, err)
	}
}
