package alignment

import (
	"cmp"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Match is a section of the catalog that matches a transfer course
// (docs/contract.md). SkillsMatchScore is how much of the section the transfer
// course covers, with four decimals; Equivalence compares that rounded value.
type Match struct {
	CourseSectionID              string               `json:"courseSectionId" doc:"Id of the section"`
	CourseID                     string               `json:"courseId"`
	CourseName                   string               `json:"courseName" doc:"Name of the course"`
	SectionName                  string               `json:"sectionName"`
	SkillsMatchScore             float64              `json:"skillsMatchScore" minimum:"0" maximum:"1" doc:"Share of the section's skills that the transfer course covers, with four decimals"`
	Equivalence                  catalog.Equivalence  `json:"equivalence" enum:"FULL,PARTIAL,NONE" doc:"What the score means by the thresholds"`
	SkillMatches                 []catalog.SkillMatch `json:"skillMatches" doc:"Skills of the section that the transfer course meets"`
	UnmatchedTransferSkills      []catalog.SkillRef   `json:"unmatchedTransferSkills" doc:"Skills of the transfer course that are neither a skill of the section nor a neighbour of one"`
	UnmatchedInstitutionalSkills []catalog.SkillRef   `json:"unmatchedInstitutionalSkills" doc:"Skills of the section that the transfer course does not meet"`
	// ArticulationID is set by who knows what was decided.
	ArticulationID *string `json:"articulationId" extension:"true" doc:"Id of the approved articulation by which the transfer course is worth this course today; null where nothing is decided"`
}

// relatedCredit is what a neighbour counts of the whole: 0.7.
const relatedCredit = whole * 7 / 10

// Index finds the sections that share skills with a transfer course without
// looking at the others. It does not change once built and may be used by many
// goroutines at once.
type Index struct {
	sections []Candidate
	total    []int64              // by section: the confidences' sum
	postings map[string][]posting // by skill id
}

// posting is one section that teaches a skill.
type posting struct {
	section int32
	level   int8
	weight  int16
}

// NewIndex indexes the candidates; their order does not matter, and they must not
// change afterwards. Sections without skills (or with only skills of confidence 0,
// which give nothing to weigh) are left out.
func NewIndex(candidates []Candidate) *Index {
	x := &Index{postings: map[string][]posting{}}
	for _, c := range candidates {
		var total int64
		for _, s := range c.Skills {
			total += weight(s)
		}
		if total > 0 {
			x.sections = append(x.sections, c)
		}
	}
	slices.SortStableFunc(x.sections, func(a, b Candidate) int { return cmp.Compare(a.SectionID, b.SectionID) })
	x.total = make([]int64, len(x.sections))
	for i, c := range x.sections {
		for _, s := range c.Skills {
			x.total[i] += weight(s)
			x.postings[s.SkillID] = append(x.postings[s.SkillID], posting{int32(i), int8(level(s)), int16(weight(s))})
		}
	}
	return x
}

// offer is the best that a transfer course has for one skill of the catalog: the
// level of the skill itself and the highest level among its neighbours, 0 for none.
type offer struct{ exact, related int }

// match is what the offer counts for a section that teaches the skill at a level:
// 0..whole. Equal matches count as exact.
func (o offer) match(institutional int) (score int64, have int, kind catalog.MatchType) {
	exact := credit(o.exact, institutional)
	related := credit(o.related, institutional) * relatedCredit / whole
	if related > exact {
		return related, o.related, catalog.RelatedMatch
	}
	return exact, o.exact, catalog.ExactMatch
}

// offers collects what a transfer course has for each skill it has a say in.
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

// Match returns the best sections for a transfer course's skills: at most limit,
// best score first, ties by section id; sections that score 0 are left out. The
// score is the sum over the section's skills of confidence x match, divided by the
// sum of their confidences; match is 1 for the same skill and 0.7 for a neighbour
// of a transfer skill, times min(1, transfer level / section level), the best
// that the transfer course has.
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

	type ranked struct {
		section int
		score   int64 // in ten-thousandths
	}
	var best []ranked
	for i, sum := range sums {
		if sum == 0 {
			continue
		}
		r := ranked{i, rounded(sum, whole*x.total[i])}
		if r.score == 0 {
			continue
		}
		// Sections come by id, so an equal score belongs after those it meets.
		at := len(best)
		for at > 0 && best[at-1].score < r.score {
			at--
		}
		if at < limit {
			best = slices.Insert(best, at, r)[:min(len(best)+1, limit)]
		}
	}

	matches := make([]Match, 0, len(best))
	for _, r := range best {
		matches = append(matches, compare(x.sections[r.section], float64(r.score)/10000, transfer, have, cfg, related))
	}
	return matches
}

// Best returns the section that Match ranks first, or where all score 0 the first of
// them; nil where there is none.
func (x *Index) Best(transfer []catalog.SkillRef, cfg catalog.MatchingConfig, related Related) *Match {
	if best := x.Match(transfer, cfg, related, 1); len(best) > 0 {
		return &best[0]
	}
	if len(x.sections) == 0 {
		return nil
	}
	return new(compare(x.sections[0], 0, transfer, offers(transfer, related), cfg, related))
}

// compare lists what a transfer course has and lacks for one section.
func compare(c Candidate, score float64, transfer []catalog.SkillRef, have map[string]offer, cfg catalog.MatchingConfig, related Related) Match {
	m := Match{
		CourseSectionID: c.SectionID, CourseID: c.CourseID, CourseName: c.CourseName, SectionName: c.SectionName,
		SkillsMatchScore: score, Equivalence: equivalence(score, cfg),
		SkillMatches:                 []catalog.SkillMatch{},
		UnmatchedTransferSkills:      []catalog.SkillRef{},
		UnmatchedInstitutionalSkills: []catalog.SkillRef{},
	}
	taught := map[string]bool{}
	for _, s := range c.Skills {
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

// equivalence reads a score by a package's thresholds; reaching one is enough.
func equivalence(score float64, cfg catalog.MatchingConfig) catalog.Equivalence {
	switch {
	case score >= cfg.FullEquivalentThreshold:
		return catalog.FullEquivalent
	case score >= cfg.PartialEquivalentThreshold:
		return catalog.PartialEquivalent
	}
	return catalog.NoEquivalent
}
