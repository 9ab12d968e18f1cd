package catalog

// Warning tells what a response lacks. It is not an error.
type Warning struct {
	Code      WarningCode `json:"code" doc:"Kind of the warning; stable"`
	Message   string      `json:"message" doc:"Explanation for people; the wording may change"`
	CourseID  string      `json:"courseId,omitempty" doc:"Course that the warning is about"`
	SectionID string      `json:"sectionId,omitempty" doc:"Section that the warning is about"`
	JobID     string      `json:"jobId,omitempty" doc:"Job or occupation of the report that the warning is about"`
	SOCCode   string      `json:"socCode,omitempty" doc:"Occupation that the warning is about"`
	CIPCode   string      `json:"cipCode,omitempty" doc:"Program of study that the warning is about"`
	Count     int         `json:"count,omitempty" doc:"Number of skills, occupations or courses that the warning is about"`
	Total     int         `json:"total,omitempty" doc:"Number of all skills, occupations or courses that the response is made from"`
}

// WarningCode is the kind of a warning.
type WarningCode string

// Reasons why a labor market figure is null or not exact.
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

// Reasons why a document has no skills, or meaningless ones, or not all of its outcomes.
const (
	LanguageNotCovered WarningCode = "language_not_covered"
	VocabularyMismatch WarningCode = "vocabulary_mismatch"
	NotACourse         WarningCode = "not_a_course"
	OutcomesTruncated  WarningCode = "outcomes_truncated" // only the first outcomes of a syllabus were taken
)

// SkillsNotInTaxonomy means that some of the skills behind a response are not in the loaded taxonomy: they match by
// id only.
const SkillsNotInTaxonomy WarningCode = "skills_not_in_taxonomy"

// Reasons why a report is emptier than its settings suggest.
const (
	CourseWithoutSkills WarningCode = "course_without_skills" // no section that counts has skills
	JobWithoutSkills    WarningCode = "job_without_skills"    // no known requirements
	JobWithoutSOC       WarningCode = "job_without_soc"       // a job without onetSocCode has no figures
	TooManyCourses      WarningCode = "too_many_courses"      // programs have grown beyond what a report shows
)

// WarningCodes lists all warning codes.
func WarningCodes() []WarningCode {
	return []WarningCode{
		Suppressed, HourlyOnly, TopCoded, RegionFallback, OccupationGroup, NoFigures, NoMatch, UnknownCIP, UnknownSOC,
		LanguageNotCovered, VocabularyMismatch, NotACourse, OutcomesTruncated, SkillsNotInTaxonomy,
		CourseWithoutSkills, JobWithoutSkills, JobWithoutSOC, TooManyCourses,
	}
}
