package alignment

import (
	"cmp"
	"math"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Weights are the penalties of the credential builder, each 0..100 with at most
// two decimals. UndercoveragePenalty is the price of covering nothing,
// SectionCountPenalty that of twenty sections, OverlapPenalty that of teaching
// everything required once more.
type Weights struct {
	OverlapPenalty       float64 `json:"overlapPenalty" minimum:"0" maximum:"100" default:"10"`
	SectionCountPenalty  float64 `json:"sectionCountPenalty" minimum:"0" maximum:"100" default:"30"`
	UndercoveragePenalty float64 `json:"undercoveragePenalty" minimum:"0" maximum:"100" default:"60"`
}

// DefaultWeights apply where a request says nothing.
var DefaultWeights = Weights{OverlapPenalty: 10, SectionCountPenalty: 30, UndercoveragePenalty: 60}

// CredentialRequest asks for sections that together prepare for some jobs: at
// least MinSections and at most MaxSections, no two of one course.
type CredentialRequest struct {
	Jobs        []JobProfile
	Candidates  []Candidate
	MinSections int
	MaxSections int
	Weights     Weights
}

// Proposal is the credential that the builder proposes. CoveredSkills are the
// required skills that a section teaches at the required level, UncoveredSkills
// all the others; together they hold each required skill once, with its highest
// required level and confidence. Coverage counts lower levels by their share.
type Proposal struct {
	SectionIDs      []string           `json:"-"`
	Coverage        float64            `json:"coverage" minimum:"0" maximum:"1"`
	CoveredSkills   []catalog.SkillRef `json:"coveredSkills"`
	UncoveredSkills []catalog.SkillRef `json:"uncoveredSkills"`
	Objective       float64            `json:"objective" doc:"what the proposal costs; lower is better"`
	LowerBound      float64            `json:"lowerBound" doc:"no proposal can cost less"`
	Optimal         bool               `json:"optimal" doc:"no proposal costs less than this one"`
	// Nodes counts the steps of the search.
	Nodes int `json:"-"`
}

// sectionsPerPenalty is how many sections SectionCountPenalty pays for: the
// contract's default maximum. A section's price does not follow MaxSections, so
// that a wider limit never makes a proposal worse.
const sectionsPerPenalty = 20

// Build proposes the sections that cost least:
//
//	undercoverage x (1 - coverage) + sectionCount x sections/20 + overlap x repetition
//
// where coverage is the share of all required skills that is met, each skill by
// its best section (taught/required, at most 1) and weighted by the sum of the
// jobs' confidences in it, and repetition is what the other sections teach of the
// same, in the same unit. Only sections that teach a required skill qualify.
//
// The search is exact until it has done a fixed amount of work; what it has not
// looked at by then it bounds, and says so in LowerBound and Optimal. Costs that
// differ by less than their last decimal shows count as equal. Of equally
// good proposals it prefers fewer sections, then smaller section ids: no section
// of the proposal can be dropped, or exchanged for one of a smaller id, at equal
// cost. Neither clocks nor the order of the input have a say.
//
// It answers validation_failed, with the place in the request's body, where the
// jobs require nothing, no section qualifies, or the qualifying ones belong to
// fewer courses than MinSections.
func Build(r CredentialRequest) (Proposal, error) {
	required, weights := requirements(r.Jobs)
	var everything int64
	for _, w := range weights {
		everything += w
	}
	if everything == 0 {
		return Proposal{}, catalog.Invalid(catalog.Fault{Location: "body.jobIdentifiers", Message: "no skill requirement is known of these jobs"})
	}
	if r.MinSections > r.MaxSections {
		return Proposal{}, catalog.Invalid(catalog.Fault{Location: "body.minSections", Message: "must not be above maxSections", Value: r.MinSections})
	}

	// All costs are in hundredths of a penalty's point x whole x everything.
	undercoverage, count, overlap := hundredths(r.Weights.UndercoveragePenalty), hundredths(r.Weights.SectionCountPenalty), hundredths(r.Weights.OverlapPenalty)
	at := make(map[string]int, len(required))
	for i, q := range required {
		at[q.SkillID] = i
	}
	candidates := slices.SortedFunc(slices.Values(r.Candidates), func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.CourseID, b.CourseID), cmp.Compare(a.SectionID, b.SectionID))
	})
	p := puzzle{skills: len(required), least: r.MinSections, most: r.MaxSections}
	var qualified []Candidate
	for _, c := range candidates {
		share := make(map[int]int64)
		var taught int64
		for _, s := range c.Skills {
			if i, ok := at[s.SkillID]; ok && weights[i] > 0 {
				share[i] = max(share[i], weights[i]*credit(level(s), level(required[i])))
			}
		}
		if len(share) == 0 {
			continue
		}
		var parts []part
		for i, v := range share {
			taught += v
			parts = append(parts, part{skill: i, value: v * (undercoverage + overlap)})
		}
		slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.skill, b.skill) })
		qualified = append(qualified, c)
		newCourse := len(qualified) == 1 || qualified[len(qualified)-2].CourseID != c.CourseID
		p.add(parts, count*everything*(whole/sectionsPerPenalty)+overlap*taught, newCourse)
	}
	if len(qualified) == 0 {
		return Proposal{}, catalog.Invalid(catalog.Fault{Location: "body", Message: "no allowed section teaches a skill that these jobs require"})
	}
	if p.courses < r.MinSections {
		return Proposal{}, catalog.Invalid(catalog.Fault{Location: "body.minSections", Message: "fewer courses than this teach a skill that these jobs require", Value: r.MinSections})
	}
	p.rankBy(func(a, b int) int { return cmp.Compare(qualified[a].SectionID, qualified[b].SectionID) })

	unit := 100 * whole * everything // a penalty's point
	p.nuance = unit / 20000
	found := p.solve()
	nothing := undercoverage * whole * everything
	proposal := Proposal{
		SectionIDs: []string{}, CoveredSkills: []catalog.SkillRef{}, UncoveredSkills: []catalog.SkillRef{},
		Objective: fraction(nothing+found.cost, unit), Optimal: found.bound >= found.cost-p.nuance, Nodes: found.nodes,
	}
	proposal.LowerBound = proposal.Objective
	if !proposal.Optimal {
		// Rounded down, for a bound must not promise too much.
		proposal.LowerBound = math.Floor(float64(nothing+found.bound)/float64(unit)*10000) / 10000
	}
	best := make([]int, len(required))
	for _, o := range found.chosen {
		proposal.SectionIDs = append(proposal.SectionIDs, qualified[o].SectionID)
		for _, s := range qualified[o].Skills {
			if i, ok := at[s.SkillID]; ok {
				best[i] = max(best[i], level(s))
			}
		}
	}
	slices.Sort(proposal.SectionIDs)
	var met int64
	for i, q := range required {
		met += weights[i] * credit(best[i], level(q))
		if best[i] >= level(q) {
			proposal.CoveredSkills = append(proposal.CoveredSkills, q)
		} else {
			proposal.UncoveredSkills = append(proposal.UncoveredSkills, q)
		}
	}
	proposal.Coverage = fraction(met, whole*everything)
	return proposal, nil
}

// requirements unites what the jobs require: each skill once with its highest
// level and confidence, in the order of skill lists (interface.md section 6), and
// beside it its weight, the sum of the jobs' confidences.
func requirements(jobs []JobProfile) (required []catalog.SkillRef, weights []int64) {
	at := map[string]int{}
	sum := map[string]int64{}
	for _, j := range jobs {
		for _, q := range j.SkillRequirements {
			sum[q.SkillID] += weight(q)
			i, known := at[q.SkillID]
			if !known {
				at[q.SkillID] = len(required)
				required = append(required, q)
				continue
			}
			required[i].Level = max(required[i].Level, q.Level)
			required[i].Confidence = max(required[i].Confidence, q.Confidence)
			required[i].SkillName = min(required[i].SkillName, q.SkillName)
		}
	}
	catalog.SortSkills(required)
	for _, q := range required {
		weights = append(weights, sum[q.SkillID])
	}
	return required, weights
}

func hundredths(penalty float64) int64 { return int64(math.Round(penalty * 100)) }
