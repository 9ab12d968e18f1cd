package alignment

import "skillscurriculum/pkg/catalog"

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
