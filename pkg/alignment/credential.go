package alignment

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"skillscurriculum/pkg/catalog"
)

// Weights are the penalties of the credential builder, each 0..100 with at most two
// decimals. UndercoveragePenalty is the cost of covering nothing, SectionCountPenalty that
// of twenty sections, OverlapPenalty that of teaching everything required a second time.
type Weights struct {
	OverlapPenalty       float64 `json:"overlapPenalty" minimum:"0" maximum:"100" default:"10" doc:"Weight of teaching a skill more than once"`
	SectionCountPenalty  float64 `json:"sectionCountPenalty" minimum:"0" maximum:"100" default:"30" doc:"Weight of each section"`
	UndercoveragePenalty float64 `json:"undercoveragePenalty" minimum:"0" maximum:"100" default:"60" doc:"Weight of required skills that are not taught"`
}

// DefaultWeights apply unless a request sets others.
var DefaultWeights = Weights{OverlapPenalty: 10, SectionCountPenalty: 30, UndercoveragePenalty: 60}

// CredentialRequest asks for MinSections to MaxSections sections that together prepare for
// some jobs, no two of the same course.
type CredentialRequest struct {
	Jobs        []JobProfile
	Candidates  []catalog.SectionProfile
	MinSections int
	MaxSections int
	Weights     Weights
}

// Proposal is the proposed credential. CoveredSkills are the required skills that a section teaches at the required
// level, UncoveredSkills all others; each required skill appears once, with its highest required level and confidence.
// Coverage counts lower levels in proportion.
type Proposal struct {
	SectionIDs      []string           `json:"-"`
	Coverage        float64            `json:"coverage" minimum:"0" maximum:"1" doc:"Share of the jobs' requirements that the sections teach"`
	CoveredSkills   []catalog.SkillRef `json:"coveredSkills" doc:"Required skills that the sections teach, at the required level"`
	UncoveredSkills []catalog.SkillRef `json:"uncoveredSkills" doc:"Required skills that the sections do not teach"`
	Objective       float64            `json:"objective" doc:"undercoveragePenalty x (1 - coverage) + sectionCountPenalty x sections/20 + overlapPenalty x share of the requirements taught again by sections other than the best for a skill; lower is better"`
	LowerBound      float64            `json:"lowerBound" doc:"No proposal can cost less"`
	Optimal         bool               `json:"optimal" doc:"No proposal costs less than this one"`
}

// sectionsPerPenalty is the number of sections that cost SectionCountPenalty: the contract's default maximum. A
// section's price does not depend on MaxSections, so that a higher limit never makes a proposal worse.
const sectionsPerPenalty = 20

// Build proposes the sections with the lowest cost:
//
//	undercoverage x (1 - coverage) + sectionCount x sections/20 + overlap x repetition
//
// where coverage is the share of all required skills that is met, each skill by its best section (taught/required, at
// most 1) and weighted by the sum of the jobs' confidences in it, and repetition is the coverage that the other
// sections repeat, in the same unit. Only sections that teach a required skill qualify.
//
// The search is exact until it has done a fixed amount of work; it then bounds the rest, and reports this in LowerBound
// and Optimal. Costs that are equal to the last decimal shown count as equal. Among equally good proposals it prefers
// fewer sections, then smaller section ids: no section of the proposal can be dropped, or exchanged for one with a
// smaller id, at equal cost. The result depends neither on clocks nor on the order of input.
//
// The error is validation_failed, with the location in the request's body, if the jobs require nothing, no section
// qualifies, or the qualifying ones belong to fewer courses than MinSections.
func Build(r CredentialRequest) (Proposal, error) {
	invalid := func(location, message string, value any) (Proposal, error) {
		return Proposal{}, catalog.Invalid(catalog.FieldError{Location: location, Message: message, Value: value})
	}
	d := demandOf(r.Jobs)
	if d.all == 0 {
		return invalid("body.jobIdentifiers", "these jobs have no known skill requirements", nil)
	}
	if r.MinSections > r.MaxSections {
		return invalid("body.minSections", "must not be greater than maxSections", r.MinSections)
	}
	p, qualified := d.puzzle(r)
	if len(qualified) == 0 {
		return invalid("body", "no allowed section teaches a skill required by these jobs", nil)
	}
	if p.courses < r.MinSections {
		return invalid("body.minSections",
			"must not be greater than the number of courses that teach a skill required by these jobs", r.MinSections)
	}

	found := p.solve()
	var chosen []catalog.SectionProfile
	for _, o := range found.chosen {
		chosen = append(chosen, qualified[o])
	}
	proposal := d.met(chosen)
	nothing := hundredths(r.Weights.UndercoveragePenalty) * whole * d.all
	proposal.Objective = fraction(nothing+found.cost, d.point())
	proposal.Optimal = found.bound >= found.cost-p.nuance
	proposal.LowerBound = proposal.Objective
	if !proposal.Optimal {
		// Rounded down: a bound must not be above the true minimum.
		proposal.LowerBound = math.Floor(float64(nothing+found.bound)/float64(d.point())*10000) / 10000
	}
	return proposal, nil
}

// demand is the combined requirements of jobs: each skill once with its highest level and
// confidence, in the order of skill lists.
type demand struct {
	required []catalog.SkillRef
	weights  []int64        // by required skill: the sum of the jobs' confidences
	at       map[string]int // index in required, by skill id
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

// point is one point of a penalty in the puzzle's integer unit: penalties have two decimals
// and apply to shares of whole x all.
func (d demand) point() int64 { return 100 * whole * d.all }

// puzzle returns the request in integers, for the candidates that qualify: option i is
// candidate i. The cost of choosing nothing is left out.
func (d demand) puzzle(r CredentialRequest) (puzzle, []catalog.SectionProfile) {
	undercoverage := hundredths(r.Weights.UndercoveragePenalty)
	count := hundredths(r.Weights.SectionCountPenalty)
	overlap := hundredths(r.Weights.OverlapPenalty)
	p := puzzle{
		skills: len(d.required), least: r.MinSections, most: r.MaxSections, nuance: d.point() / 20000, effort: workLimit,
	}
	var qualified []catalog.SectionProfile
	for _, c := range slices.SortedFunc(slices.Values(r.Candidates), func(a, b catalog.SectionProfile) int {
		return cmp.Or(cmp.Compare(a.CourseID, b.CourseID), cmp.Compare(a.SectionID, b.SectionID))
	}) {
		var parts []part
		var taught int64
		for _, s := range c.SectionSkills {
			if i, ok := d.at[s.SkillID]; ok && d.weights[i] > 0 {
				share := d.weights[i] * credit(level(s), level(d.required[i]))
				// The section that covers a skill saves its undercoverage and is not overlap.
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
func (d demand) met(chosen []catalog.SectionProfile) Proposal {
	p := Proposal{SectionIDs: []string{}, CoveredSkills: []catalog.SkillRef{}, UncoveredSkills: []catalog.SkillRef{}}
	best := make([]int, len(d.required))
	for _, c := range chosen {
		p.SectionIDs = append(p.SectionIDs, c.SectionID)
		for _, s := range c.SectionSkills {
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
