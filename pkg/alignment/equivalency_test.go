package alignment_test

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/alignment"
	"skillscurriculum/pkg/catalog"
)

// neighbours makes a Related out of pairs, both ways.
func neighbours(pairs ...[2]string) alignment.Related {
	m := map[string][]string{}
	for _, p := range pairs {
		m[p[0]] = append(m[p[0]], p[1])
		m[p[1]] = append(m[p[1]], p[0])
	}
	return func(id string) []string { return m[id] }
}

// bestScores compares a transfer course with every section, one skill with one
// skill, in exact fractions: the rule of docs/contract.md as it is written.
func bestScores(sections []catalog.SectionProfile, transfer []catalog.SkillRef,
	related alignment.Related) []alignment.Match {
	tenThousand := big.NewRat(10000, 1)
	var all []alignment.Match
	for _, c := range sections {
		sum, total := new(big.Rat), new(big.Rat)
		for _, s := range c.SectionSkills {
			confidence, _ := new(big.Rat).SetString(big.NewFloat(s.Confidence).Text('f', 4))
			total.Add(total, confidence)
			best := new(big.Rat)
			for _, t := range transfer {
				var factor *big.Rat
				switch {
				case t.SkillID == s.SkillID:
					factor = big.NewRat(1, 1)
				case slices.Contains(related(t.SkillID), s.SkillID):
					factor = big.NewRat(7, 10)
				default:
					continue
				}
				if m := factor.Mul(factor, big.NewRat(int64(min(t.Level, s.Level)), int64(s.Level))); m.Cmp(best) > 0 {
					best = m
				}
			}
			sum.Add(sum, best.Mul(best, confidence))
		}
		if total.Sign() == 0 {
			continue
		}
		// Halves up: floor(2x+1)/2 of the ten-thousandths.
		sum.Quo(sum, total).Mul(sum, tenThousand).Mul(sum, big.NewRat(2, 1)).Add(sum, big.NewRat(1, 1))
		tenThousandths := new(big.Int).Quo(sum.Num(), new(big.Int).Mul(sum.Denom(), big.NewInt(2))).Int64()
		if tenThousandths > 0 {
			all = append(all, alignment.Match{CourseSectionID: c.SectionID, SkillsMatchScore: float64(tenThousandths) / 10000})
		}
	}
	slices.SortFunc(all, func(a, b alignment.Match) int {
		return cmp.Or(cmp.Compare(b.SkillsMatchScore, a.SkillsMatchScore), cmp.Compare(a.CourseSectionID, b.CourseSectionID))
	})
	return all[:min(len(all), 5)]
}

func TestMatchIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sections := candidates(30, 8).Draw(t, "sections")
		transfer := skillList(8).Draw(t, "transfer")
		near := rapid.MapOf(rapid.IntRange(0, 9), rapid.SliceOfN(rapid.IntRange(0, 9), 0, 3)).Draw(t, "related")
		related := func(id string) (ids []string) {
			for _, n := range near[int(id[1]-'0')] {
				ids = append(ids, "s"+string(rune('0'+n)))
			}
			return ids
		}
		want := bestScores(sections, transfer, related)

		shuffled := rapid.Permutation(sections).Draw(t, "shuffled")
		matches := alignment.NewIndex(shuffled).Match(transfer, catalog.DefaultMatchingConfig, related, 5)
		var got []alignment.Match
		for _, m := range matches {
			got = append(got, alignment.Match{CourseSectionID: m.CourseSectionID, SkillsMatchScore: m.SkillsMatchScore})

			section := sections[slices.IndexFunc(sections, func(c catalog.SectionProfile) bool {
				return c.SectionID == m.CourseSectionID
			})]
			if len(m.SkillMatches)+len(m.UnmatchedInstitutionalSkills) != len(section.SectionSkills) {
				t.Fatalf("%s: %d skills matched, %d not, of %d", m.CourseSectionID, len(m.SkillMatches),
					len(m.UnmatchedInstitutionalSkills), len(section.SectionSkills))
			}
			for _, u := range m.UnmatchedTransferSkills {
				for _, s := range section.SectionSkills {
					if s.SkillID == u.SkillID || slices.Contains(related(u.SkillID), s.SkillID) {
						t.Fatalf("%s: %s is not an unmatched skill, it meets %s", m.CourseSectionID, u.SkillID, s.SkillID)
					}
				}
			}
		}
		if len(want) == 0 {
			want = nil
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("against brute force (-want +got):\n%s", diff)
		}
	})
}

// TestBest returns a section even if none has a skill in common, the first by id.
func TestBest(t *testing.T) {
	skills := func(id string, confidence float64) []catalog.SkillRef {
		return []catalog.SkillRef{{SkillID: id, SkillName: id, Level: 3, Confidence: confidence}}
	}
	none := func(string) []string { return nil }
	unrelated := []catalog.SectionProfile{
		{SectionID: "sec_c", SectionSkills: skills("drawing", 1)}, {SectionID: "sec_b", SectionSkills: skills("poetry", 1)},
		{SectionID: "sec_a", SectionSkills: skills("sql", 0)}, // without confidence it teaches nothing
	}
	for want, sections := range map[string][]catalog.SectionProfile{
		"":      unrelated[2:],
		"sec_b": unrelated,
		"sec_d": append(unrelated, catalog.SectionProfile{SectionID: "sec_d", SectionSkills: skills("sql", 0.1)}),
	} {
		best := alignment.NewIndex(sections).Best(skills("sql", 1), catalog.DefaultMatchingConfig, none)
		if got := best; (got == nil) != (want == "") || got != nil && got.CourseSectionID != want {
			t.Errorf("best %+v, want %q", got, want)
		}
		if want == "sec_b" && (best.SkillsMatchScore != 0 || len(best.UnmatchedTransferSkills) != 1) {
			t.Errorf("nothing in common: %+v", best)
		}
	}
}

// TestReason wants to be told why nothing is equivalent.
func TestReason(t *testing.T) {
	skill := func(ids ...string) (refs []catalog.SkillRef) {
		for _, id := range ids {
			refs = append(refs, catalog.SkillRef{SkillID: id, SkillName: id, Level: 3, Confidence: 1})
		}
		return refs
	}
	section := func(ids ...string) catalog.SectionProfile {
		return catalog.SectionProfile{SectionID: "sec_1", CourseProfile: catalog.CourseProfile{CourseID: "crs_1"}, SectionSkills: skill(ids...)}
	}
	cfg := catalog.MatchingConfig{FullEquivalentThreshold: 1, PartialEquivalentThreshold: 0.5}
	for _, test := range []struct {
		section catalog.SectionProfile
		want    alignment.Reason
	}{
		{section(), alignment.NoSectionHasSkills},
		{section("drawing"), alignment.NothingInCommon},
		{section("sql", "java", "go"), alignment.BelowPartial},
		{section("sql", "java"), ""},
		{section("sql"), ""},
	} {
		index := alignment.NewIndex([]catalog.SectionProfile{test.section})
		reason := index.Reason(index.Match(skill("sql"), cfg, func(string) []string { return nil }, 5))
		if (reason == nil) != (test.want == "") || reason != nil && *reason != test.want {
			t.Errorf("%v: reason %v, want %q", test.section.SectionSkills, reason, test.want)
		}
	}
}

func TestMatch(t *testing.T) {
	ref := func(id string, level int, confidence float64) catalog.SkillRef {
		return catalog.SkillRef{SkillID: id, SkillName: id, Level: level, Confidence: confidence}
	}
	sections := []catalog.SectionProfile{
		{SectionID: "sec_b", CourseProfile: catalog.CourseProfile{CourseID: "crs_1", CourseName: "Programming"}, SectionName: "Day", SectionSkills: []catalog.SkillRef{
			ref("python", 4, 1), ref("testing", 2, 0.5), ref("git", 2, 0.5),
		}},
		{SectionID: "sec_a", CourseProfile: catalog.CourseProfile{CourseID: "crs_2", CourseName: "Scripting"}, SectionName: "Evening",
			SectionSkills: []catalog.SkillRef{ref("python", 3, 0.8)}},
		{SectionID: "sec_c", CourseProfile: catalog.CourseProfile{CourseID: "crs_2", CourseName: "Scripting"}, SectionName: "Online",
			SectionSkills: []catalog.SkillRef{ref("python", 3, 0.3)}},
		{SectionID: "sec_d", CourseProfile: catalog.CourseProfile{CourseID: "crs_3", CourseName: "Coding"}, SectionName: "Only",
			SectionSkills: []catalog.SkillRef{ref("ruby", 5, 1)}},
		{SectionID: "sec_e", CourseProfile: catalog.CourseProfile{CourseID: "crs_4", CourseName: "Empty"}, SectionName: "Only"},
		{SectionID: "sec_f", CourseProfile: catalog.CourseProfile{CourseID: "crs_5", CourseName: "Weightless"}, SectionName: "Only",
			SectionSkills: []catalog.SkillRef{ref("python", 1, 0)}},
		{SectionID: "sec_g", CourseProfile: catalog.CourseProfile{CourseID: "crs_6", CourseName: "Poetry"}, SectionName: "Only",
			SectionSkills: []catalog.SkillRef{ref("poetry", 1, 1)}},
	}
	transfer := []catalog.SkillRef{ref("python", 3, 0.9), ref("debugging", 2, 0.7), ref("drawing", 5, 0.6)}
	related := neighbours([2]string{"debugging", "testing"}, [2]string{"python", "ruby"})
	index := alignment.NewIndex(sections)

	got := index.Match(transfer, catalog.DefaultMatchingConfig, related, 5)
	exact3 := []catalog.SkillMatch{{SkillID: "python", TransferLevel: 3, InstitutionalLevel: 3, MatchScore: 1,
		MatchType: catalog.ExactMatch}}
	want := []alignment.Match{
		{
			CourseSectionID: "sec_a", CourseID: "crs_2", CourseName: "Scripting", SectionName: "Evening",
			SkillsMatchScore: 1, Equivalence: catalog.FullEquivalent, SkillMatches: exact3,
			UnmatchedTransferSkills: transfer[1:], UnmatchedInstitutionalSkills: []catalog.SkillRef{},
		},
		{
			CourseSectionID: "sec_c", CourseID: "crs_2", CourseName: "Scripting", SectionName: "Online",
			SkillsMatchScore: 1, Equivalence: catalog.FullEquivalent, SkillMatches: exact3,
			UnmatchedTransferSkills: transfer[1:], UnmatchedInstitutionalSkills: []catalog.SkillRef{},
		},
		{
			// (1 x 3/4 + 0.5 x 0.7 + 0) / 2
			CourseSectionID: "sec_b", CourseID: "crs_1", CourseName: "Programming", SectionName: "Day",
			SkillsMatchScore: 0.55, Equivalence: catalog.NoEquivalent,
			SkillMatches: []catalog.SkillMatch{
				{SkillID: "python", TransferLevel: 3, InstitutionalLevel: 4, MatchScore: 0.75, MatchType: catalog.ExactMatch},
				{SkillID: "testing", TransferLevel: 2, InstitutionalLevel: 2, MatchScore: 0.7, MatchType: catalog.RelatedMatch},
			},
			UnmatchedTransferSkills:      transfer[2:],
			UnmatchedInstitutionalSkills: []catalog.SkillRef{ref("git", 2, 0.5)},
		},
		{
			CourseSectionID: "sec_d", CourseID: "crs_3", CourseName: "Coding", SectionName: "Only",
			SkillsMatchScore: 0.42, Equivalence: catalog.NoEquivalent,
			SkillMatches: []catalog.SkillMatch{{SkillID: "ruby", TransferLevel: 3, InstitutionalLevel: 5,
				MatchScore: 0.42, MatchType: catalog.RelatedMatch}},
			UnmatchedTransferSkills:      transfer[1:],
			UnmatchedInstitutionalSkills: []catalog.SkillRef{},
		},
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}

	t.Run("reaching a threshold is enough", func(t *testing.T) {
		for _, test := range []struct {
			full, partial float64
			want          catalog.Equivalence
		}{{0.55, 0.1, catalog.FullEquivalent}, {0.5501, 0.55, catalog.PartialEquivalent}, {1, 0.5501, catalog.NoEquivalent}} {
			m := index.Match(transfer, catalog.MatchingConfig{
				FullEquivalentThreshold: test.full, PartialEquivalentThreshold: test.partial,
			}, related, 5)
			if m[2].Equivalence != test.want {
				t.Errorf("full from %v, partial from %v: 0.55 is %s, want %s", test.full, test.partial, m[2].Equivalence, test.want)
			}
		}
	})
	t.Run("a high neighbour beats the skill itself at a low level", func(t *testing.T) {
		m := index.Match([]catalog.SkillRef{ref("ruby", 1, 1), ref("python", 5, 1)},
			catalog.DefaultMatchingConfig, related, 5)
		at := slices.IndexFunc(m, func(m alignment.Match) bool { return m.CourseSectionID == "sec_d" })
		want := []catalog.SkillMatch{{SkillID: "ruby", TransferLevel: 5, InstitutionalLevel: 5, MatchScore: 0.7,
			MatchType: catalog.RelatedMatch}}
		if diff := gocmp.Diff(want, m[at].SkillMatches); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("the limit holds", func(t *testing.T) {
		if diff := gocmp.Diff(got[:2], index.Match(transfer, catalog.DefaultMatchingConfig, related, 2)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("nothing to match is an empty array", func(t *testing.T) {
		text, err := json.Marshal(index.Match(nil, catalog.DefaultMatchingConfig, related, 5))
		if err != nil || string(text) != "[]" {
			t.Errorf("got %s, %v", text, err)
		}
	})
	t.Run("the JSON is the contract's", func(t *testing.T) {
		text, err := json.Marshal(got[3])
		const want = `{"courseSectionId":"sec_d","courseId":"crs_3","courseName":"Coding","sectionName":"Only","skillsMatchScore":0.42,"equivalence":"NONE",` +
			`"skillMatches":[{"skillId":"ruby","transferLevel":3,"institutionalLevel":5,"matchScore":0.42,"matchType":"RELATED"}],` +
			`"unmatchedTransferSkills":[{"skillId":"debugging","skillName":"debugging","level":2,"confidence":0.7},{"skillId":"drawing","skillName":"drawing","level":5,"confidence":0.6}],` +
			`"unmatchedInstitutionalSkills":[],"articulationId":null}`
		if err != nil || string(text) != want {
			t.Errorf("got %s\nwant %s", text, want)
		}
	})
}
