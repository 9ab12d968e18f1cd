package catalog

// Warning is what a response lacks, without being an error.
type Warning struct {
	Code    WarningCode `json:"code" doc:"Kind of the warning; stable"`
	Message string      `json:"message" doc:"What it is about, for people to read; the wording may change"`
	SOCCode string      `json:"socCode,omitempty" doc:"Occupation that the warning is about"`
	CIPCode string      `json:"cipCode,omitempty" doc:"Program of study that the warning is about"`
	Count   int         `json:"count,omitempty" doc:"How many skills the warning is about"`
	Total   int         `json:"total,omitempty" doc:"How many skills the response is made from"`
}

// WarningCode is what a warning is about.
type WarningCode string

// Why a figure of the labor market is null, or no exact number.
const (
	Suppressed      WarningCode = "suppressed"       // the survey does not publish it: * and **
	HourlyOnly      WarningCode = "hourly_only"      // the occupation has hourly wages only
	TopCoded        WarningCode = "top_coded"        // at or above the survey's cap, which is given: #
	RegionFallback  WarningCode = "region_fallback"  // of a wider region
	OccupationGroup WarningCode = "occupation_group" // of a group of occupations
	NoFigures       WarningCode = "no_figures"       // no source has any
	NoMatch         WarningCode = "no_match"         // the crosswalk has no occupation for the program of study
	UnknownCIP      WarningCode = "unknown_cip"
	UnknownSOC      WarningCode = "unknown_soc"
)

// Why a document has no skills, or why those that it has may mean nothing.
const (
	LanguageNotCovered WarningCode = "language_not_covered"
	VocabularyMismatch WarningCode = "vocabulary_mismatch"
	NotACourse         WarningCode = "not_a_course"
)

// SkillsNotInTaxonomy means that a response rests on skills which the loaded taxonomy
// lacks: they are equal to themselves only, and have no neighbours.
const SkillsNotInTaxonomy WarningCode = "skills_not_in_taxonomy"

// WarningCodes lists all codes of warnings.
func WarningCodes() []WarningCode {
	return []WarningCode{
		Suppressed, HourlyOnly, TopCoded, RegionFallback, OccupationGroup, NoFigures, NoMatch, UnknownCIP, UnknownSOC,
		LanguageNotCovered, VocabularyMismatch, NotACourse, SkillsNotInTaxonomy,
	}
}
