package catalog

// Equivalence is what a score means by a package's thresholds.
type Equivalence string

// The equivalences.
const (
	FullEquivalent    Equivalence = "FULL"
	PartialEquivalent Equivalence = "PARTIAL"
	NoEquivalent      Equivalence = "NONE"
)

// MatchType is how a skill was met: by the same skill or by a neighbour.
type MatchType string

// The match types.
const (
	ExactMatch   MatchType = "EXACT"
	RelatedMatch MatchType = "RELATED"
)

// SkillMatch is a skill of a section with a transfer course's best match for it.
type SkillMatch struct {
	SkillID            string    `json:"skillId" doc:"The section's skill"`
	TransferLevel      int       `json:"transferLevel" minimum:"1" maximum:"5" doc:"Level at which the transfer course teaches it, 1 to 5"`
	InstitutionalLevel int       `json:"institutionalLevel" minimum:"1" maximum:"5" doc:"Level at which the section teaches it, 1 to 5"`
	MatchScore         float64   `json:"matchScore" minimum:"0" maximum:"1" doc:"1 for the same skill, 0.7 for a neighbour, times transferLevel / institutionalLevel where that is less than 1"`
	MatchType          MatchType `json:"matchType" enum:"EXACT,RELATED" doc:"EXACT for the same skill, RELATED for a neighbour in the taxonomy"`
}
