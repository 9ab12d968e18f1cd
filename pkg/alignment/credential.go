package alignment

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Weights are the penalties of the credential builder, each 0..100 with at most
// two decimals. UndercoveragePenalty is the price of covering nothing,
// SectionCountPenalty that of twenty sections, OverlapPenalty that of teaching
// everything required once more.
type Weights struct {
	OverlapPenalty       float64 `json:"overlapPenalty" minimum:"0" maximum:"100" default:"10" doc:"Weight of teaching a skill more than once"`
	SectionCountPenalty  float64 `json:"sectionCountPenalty" minimum:"0" maximum:"100" default:"30" doc:"Weight of each section"`
	UndercoveragePenalty float64 `json:"undercoveragePenalty" minimum:"0" maximum:"100" default:"60" doc:"Weight of what is required and not taught"`
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
	Coverage        float64            `json:"coverage" minimum:"0" maximum:"1" doc:"Share of what the jobs require that the sections teach"`
	CoveredSkills   []catalog.SkillRef `json:"coveredSkills" doc:"Required skills that the sections teach, at the required level"`
	UncoveredSkills []catalog.SkillRef `json:"uncoveredSkills" doc:"Required skills that the sections do not teach"`
	Objective       float64            `json:"objective" doc:"undercoveragePenalty x (1 - coverage) + sectionCountPenalty x sections/20 + overlapPenalty x what other than the best sections teach of the required skills, as a share of all that is required; lower is better"`
	LowerBound      float64            `json:"lowerBound" doc:"No proposal can cost less"`
	Optimal         bool               `json:"optimal" doc:"No proposal costs less than this one"`
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
// The error is validation_failed, with the place in the request's body, where the
// jobs require nothing, no section qualifies, or the qualifying ones belong to
// fewer courses than MinSections.
func Build(r CredentialRequest) (Proposal, error) {
	d := demandOf(r.Jobs)
	if d.all == 0 {
		return Proposal{}, catalog.Invalid(catalog.FieldError{Location: "body.jobIdentifiers", Message: "no skill requirement is known of these jobs"})
	}
	if r.MinSections > r.MaxSections {
		return Proposal{}, catalog.Invalid(catalog.FieldError{Location: "body.minSections", Message: "must not be above maxSections", Value: r.MinSections})
	}
	p, qualified := d.puzzle(r)
	if len(qualified) == 0 {
		return Proposal{}, catalog.Invalid(catalog.FieldError{Location: "body", Message: "no allowed section teaches a skill that these jobs require"})
	}
	if p.courses < r.MinSections {
		return Proposal{}, catalog.Invalid(catalog.FieldError{Location: "body.minSections", Message: "fewer courses than this teach a skill that these jobs require", Value: r.MinSections})
	}

	found := p.solve()
	var chosen []Candidate
	for _, o := range found.chosen {
		chosen = append(chosen, qualified[o])
	}
	proposal := d.met(chosen)
	nothing := hundredths(r.Weights.UndercoveragePenalty) * whole * d.all
	proposal.Objective = fraction(nothing+found.cost, d.point())
	proposal.Optimal = found.bound >= found.cost-p.nuance
	proposal.LowerBound = proposal.Objective
	if !proposal.Optimal {
		// Rounded down, for a bound must not promise too much.
		proposal.LowerBound = math.Floor(float64(nothing+found.bound)/float64(d.point())*10000) / 10000
	}
	proposal.Nodes = found.nodes
	return proposal, nil
}

// demand is what jobs require together: each skill once with its highest level
// and confidence, in the order of skill lists.
type demand struct {
	required []catalog.SkillRef
	weights  []int64        // by required skill: the sum of the jobs' confidences
	at       map[string]int // place in required, by skill id
	all      int64          // the sum of the weights
}

func demandOf(jobs []JobProfile) demand {
	var d demand
	union, sum := map[string]catalog.SkillRef{}, map[string]int64{}
	for _, j := range jobs {
		for _, q := range j.SkillRequirements {
			sum[q.SkillID] += weight(q)
			d.all += weight(q)
			if known, ok := union[q.SkillID]; ok {
				q.Level = max(q.Level, known.Level)
				q.Confidence = max(q.Confidence, known.Confidence)
				q.SkillName = min(q.SkillName, known.SkillName)
			}
			union[q.SkillID] = q
		}
	}
	d.required = slices.Collect(maps.Values(union))
	catalog.SortSkills(d.required)
	d.at = make(map[string]int, len(d.required))
	for i, q := range d.required {
		d.at[q.SkillID] = i
		d.weights = append(d.weights, sum[q.SkillID])
	}
	return d
}

// point is one point of a penalty in the whole numbers that the puzzle counts:
// penalties have two decimals, and they are paid for shares of whole x all.
func (d demand) point() int64 { return 100 * whole * d.all }

// puzzle states the request in whole numbers, for the candidates that qualify:
// option i is candidate i. The cost of choosing nothing is left out.
func (d demand) puzzle(r CredentialRequest) (puzzle, []Candidate) {
	undercoverage, count, overlap := hundredths(r.Weights.UndercoveragePenalty), hundredths(r.Weights.SectionCountPenalty), hundredths(r.Weights.OverlapPenalty)
	p := puzzle{skills: len(d.required), least: r.MinSections, most: r.MaxSections, nuance: d.point() / 20000, effort: workLimit}
	var qualified []Candidate
	for _, c := range slices.SortedFunc(slices.Values(r.Candidates), func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(a.CourseID, b.CourseID), cmp.Compare(a.SectionID, b.SectionID))
	}) {
		var parts []part
		var taught int64
		for _, s := range c.Skills {
			if i, ok := d.at[s.SkillID]; ok && d.weights[i] > 0 {
				share := d.weights[i] * credit(level(s), level(d.required[i]))
				// What covers a skill saves its undercoverage, and is no overlap after all.
				parts = append(parts, part{skill: i, value: share * (undercoverage + overlap)})
				taught += share
			}
		}
		if len(parts) == 0 {
			continue
		}
		sameCourse := len(qualified) > 0 && qualified[len(qualified)-1].CourseID == c.CourseID
		p.add(parts, count*d.all*(whole/sectionsPerPenalty)+overlap*taught, !sameCourse)
		qualified = append(qualified, c)
	}
	p.rankBy(func(a, b int) int { return cmp.Compare(qualified[a].SectionID, qualified[b].SectionID) })
	return p, qualified
}

// met returns how far the chosen sections meet the demand.
func (d demand) met(chosen []Candidate) Proposal {
	p := Proposal{SectionIDs: []string{}, CoveredSkills: []catalog.SkillRef{}, UncoveredSkills: []catalog.SkillRef{}}
	best := make([]int, len(d.required))
	for _, c := range chosen {
		p.SectionIDs = append(p.SectionIDs, c.SectionID)
		for _, s := range c.Skills {
			if i, ok := d.at[s.SkillID]; ok {
				best[i] = max(best[i], level(s))
			}
		}
	}
	slices.Sort(p.SectionIDs)
	var met int64
	for i, q := range d.required {
		met += d.weights[i] * credit(best[i], level(q))
		if best[i] >= level(q) {
			p.CoveredSkills = append(p.CoveredSkills, q)
		} else {
			p.UncoveredSkills = append(p.UncoveredSkills, q)
		}
	}
	p.Coverage = fraction(met, whole*d.all)
	return p
}

func hundredths(penalty float64) int64 { return int64(math.Round(penalty * 100)) }
