package alignment

import (
	"cmp"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Match is a section of the catalog that matches a transfer course (docs/contract.md). SkillsMatchScore is the share of
// the section that the transfer course covers, with four decimals; Equivalence is decided by that rounded value.
type Match struct {
	CourseSectionID              string               `json:"courseSectionId" doc:"Id of the section"`
	CourseID                     string               `json:"courseId"`
	CourseName                   string               `json:"courseName" doc:"Name of the course"`
	SectionName                  string               `json:"sectionName"`
	SkillsMatchScore             float64              `json:"skillsMatchScore" minimum:"0" maximum:"1" doc:"Share of the section's skills that the transfer course covers, with four decimals"`
	Equivalence                  catalog.Equivalence  `json:"equivalence" enum:"FULL,PARTIAL,NONE" doc:"Result of comparing the score with the thresholds"`
	SkillMatches                 []catalog.SkillMatch `json:"skillMatches" doc:"Skills of the section that the transfer course meets"`
	UnmatchedTransferSkills      []catalog.SkillRef   `json:"unmatchedTransferSkills" doc:"Skills of the transfer course that are neither skills of the section nor neighbors of one"`
	UnmatchedInstitutionalSkills []catalog.SkillRef   `json:"unmatchedInstitutionalSkills" doc:"Skills of the section that the transfer course does not meet"`
	// ArticulationID is set by callers that look up decisions.
	ArticulationID *string `json:"articulationId" extension:"true" doc:"Id of the approved articulation that currently grants this course for the transfer course; null if there is none"`
}

// Reason tells why no section is equivalent to a transfer course, not even partially.
type Reason string

// The reasons.
const (
	NoSectionHasSkills Reason = "NO_SECTION_HAS_SKILLS" // there is nothing to compare with
	NothingInCommon    Reason = "NOTHING_IN_COMMON"     // every section scores 0
	BelowPartial       Reason = "BELOW_PARTIAL"         // the best score is below partialEquivalentThreshold
)

// Reason returns why none of the matches, which Match returned, is FULL or PARTIAL; nil if one is.
func (x *Index) Reason(matches []Match) *Reason {
	switch {
	case len(x.sections) == 0:
		return new(NoSectionHasSkills)
	case len(matches) == 0:
		return new(NothingInCommon)
	case matches[0].Equivalence == catalog.NoEquivalent: // the best
		return new(BelowPartial)
	}
	return nil
}

// relatedCredit is the score of a neighbor: 0.7.
const relatedCredit = whole * 7 / 10

// Index finds the sections that share skills with a transfer course without looking at the
// others. It is immutable and safe for concurrent use.
type Index struct {
	sections []catalog.SectionProfile
	total    []int64              // by section: the sum of confidences
	postings map[string][]posting // by skill id
}

// posting is a section that teaches a skill.
type posting struct {
	section int32
	level   int8
	weight  int16
}

// NewIndex indexes the candidates in any order; they must not change afterwards. Sections
// without skills of positive confidence are left out.
func NewIndex(candidates []catalog.SectionProfile) *Index {
	x := &Index{postings: map[string][]posting{}}
	for _, c := range candidates {
		var total int64
		for _, s := range c.SectionSkills {
			total += weight(s)
		}
		if total > 0 {
			x.sections = append(x.sections, c)
		}
	}
	slices.SortStableFunc(x.sections, func(a, b catalog.SectionProfile) int { return cmp.Compare(a.SectionID, b.SectionID) })
	x.total = make([]int64, len(x.sections))
	for i, c := range x.sections {
		for _, s := range c.SectionSkills {
			x.total[i] += weight(s)
			x.postings[s.SkillID] = append(x.postings[s.SkillID], posting{int32(i), int8(level(s)), int16(weight(s))})
		}
	}
	return x
}

// offer is a transfer course's best for one skill of the catalog: the level of the skill
// itself and the highest level among its neighbors, 0 for none.
type offer struct{ exact, related int }

// match returns the offer's score, 0..whole, for a section that teaches the skill at a level.
// On a tie the match counts as exact.
func (o offer) match(institutional int) (score int64, have int, kind catalog.MatchType) {
	exact := credit(o.exact, institutional)
	related := credit(o.related, institutional) * relatedCredit / whole
	if related > exact {
		return related, o.related, catalog.RelatedMatch
	}
	return exact, o.exact, catalog.ExactMatch
}

// offers returns a transfer course's offer for each of its skills and their neighbors.
func offers(transfer []catalog.SkillRef, related Related) map[string]offer {
	have := map[string]offer{}
	for _, t := range transfer {
		own := have[t.SkillID]
		own.exact = max(own.exact, level(t))
		have[t.SkillID] = own
		for _, id := range related(t.SkillID) {
			if id == t.SkillID {
				continue
			}
			near := have[id]
			near.related = max(near.related, level(t))
			have[id] = near
		}
	}
	return have
}

// Match returns the best sections for a transfer course's skills: at most limit, best score first, ties by section id;
// sections that score 0 are left out. The score is the sum over the section's skills of confidence x match, divided by
// the sum of their confidences. match is the best, over the transfer course's skills, of 1 for the same skill or 0.7
// for a neighbor, times min(1, transfer level / section level).
func (x *Index) Match(transfer []catalog.SkillRef, cfg catalog.MatchingConfig, related Related, limit int) []Match {
	have := offers(transfer, related)
	sums := make([]int64, len(x.sections))
	for id, o := range have {
		var byLevel [maxLevel + 1]int64
		for l := 1; l <= maxLevel; l++ {
			byLevel[l], _, _ = o.match(l)
		}
		for _, p := range x.postings[id] {
			sums[p.section] += int64(p.weight) * byLevel[p.level]
		}
	}

	var best []ranked
	for i, sum := range sums {
		if score := rounded(sum, whole*x.total[i]); score > 0 { // in ten-thousandths
			best = insert(best, ranked{i, score}, limit)
		}
	}
	matches := make([]Match, 0, len(best))
	for _, r := range best {
		matches = append(matches, compare(x.sections[r.place], float64(r.score)/10000, transfer, have, cfg, related))
	}
	return matches
}

// ranked is a place in a list with its score.
type ranked struct {
	place int
	score int64
}

// insert inserts a later place after those with at least its score, and keeps the best of them.
func insert(best []ranked, r ranked, limit int) []ranked {
	if best == nil {
		best = make([]ranked, 0, limit+1)
	}
	at := len(best)
	for at > 0 && best[at-1].score < r.score {
		at--
	}
	if at >= limit {
		return best
	}
	return slices.Insert(best, at, r)[:min(len(best)+1, limit)]
}

// Best returns the section that Match ranks first, or the first by id if all score 0; nil if there are none.
func (x *Index) Best(transfer []catalog.SkillRef, cfg catalog.MatchingConfig, related Related) *Match {
	if best := x.Match(transfer, cfg, related, 1); len(best) > 0 {
		return &best[0]
	}
	if len(x.sections) == 0 {
		return nil
	}
	return new(compare(x.sections[0], 0, transfer, offers(transfer, related), cfg, related))
}

// compare lists the skills that a transfer course has and lacks for one section.
func compare(c catalog.SectionProfile, score float64, transfer []catalog.SkillRef, have map[string]offer, cfg catalog.MatchingConfig,
	related Related) Match {
	m := Match{
		CourseSectionID: c.SectionID, CourseID: c.CourseID, CourseName: c.CourseName, SectionName: c.SectionName,
		SkillsMatchScore: score, Equivalence: equivalence(score, cfg),
		SkillMatches:                 []catalog.SkillMatch{},
		UnmatchedTransferSkills:      []catalog.SkillRef{},
		UnmatchedInstitutionalSkills: []catalog.SkillRef{},
	}
	taught := map[string]bool{}
	for _, s := range c.SectionSkills {
		taught[s.SkillID] = true
		o, ok := have[s.SkillID]
		if !ok {
			m.UnmatchedInstitutionalSkills = append(m.UnmatchedInstitutionalSkills, s)
			continue
		}
		score, transferLevel, kind := o.match(level(s))
		m.SkillMatches = append(m.SkillMatches, catalog.SkillMatch{
			SkillID: s.SkillID, TransferLevel: transferLevel, InstitutionalLevel: level(s),
			MatchScore: fraction(score, whole), MatchType: kind,
		})
	}
	for _, t := range transfer {
		isTaught := func(id string) bool { return taught[id] }
		if !taught[t.SkillID] && !slices.ContainsFunc(related(t.SkillID), isTaught) {
			m.UnmatchedTransferSkills = append(m.UnmatchedTransferSkills, t)
		}
	}
	return m
}

// equivalence classifies a score by a package's thresholds, which are inclusive.
func equivalence(score float64, cfg catalog.MatchingConfig) catalog.Equivalence {
	switch {
	case score >= cfg.FullEquivalentThreshold:
		return catalog.FullEquivalent
	case score >= cfg.PartialEquivalentThreshold:
		return catalog.PartialEquivalent
	}
	return catalog.NoEquivalent
}
