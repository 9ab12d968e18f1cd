package alignment

import "skillscurriculum/pkg/catalog"

// The views of a report, interface.md section 9.
const (
	AlignmentView = "alignment"
	CoverageView  = "coverage"
	GapView       = "gap"
	MarketView    = "market"
)

// Report is a stored report with everything its settings name, loaded. The order
// of Courses, Jobs and Skills does not matter: the settings' order decides.
type Report struct {
	Record  catalog.Report
	Courses []ReportCourse
	Jobs    []JobProfile
	// Skills gives the taxonomy's names; it holds at least the settings' skills.
	Skills []SkillProfile
	// Market holds the labor market entry of each SOC code for the settings' area
	// (interface.md section 8, occupations); only the market view needs it. An
	// entry must encode as a JSON object.
	Market map[string]any
}

// ReportCourse is a course with its live sections in creation order.
type ReportCourse struct {
	Profile  catalog.CourseProfile
	Sections []catalog.SectionProfile
}

// JobProfile is a job or an occupation as reports show it; the id of an occupation is its SOC code.
type JobProfile struct {
	JobID             string             `json:"jobId"`
	JobName           string             `json:"jobName"`
	SkillRequirements []catalog.SkillRef `json:"skillRequirements"`
}

// SkillProfile is a skill as reports show it.
type SkillProfile struct {
	SkillID   string `json:"skillId"`
	SkillName string `json:"skillName"`
}

// Result is the answer to creating or reading a report.
type Result struct {
	Report catalog.Report `json:"report"`
	// Data holds AlignmentItem, CoverageItem, GapItem or labor market entries, as the view says.
	Data       []any      `json:"data"`
	LookupData LookupData `json:"lookupData"`
}

// LookupData holds exactly the profiles that data and settings mention, each
// once: first those of the settings in their order, then the others by id.
type LookupData struct {
	CourseProfiles  []catalog.CourseProfile  `json:"courseProfiles"`
	SectionProfiles []catalog.SectionProfile `json:"sectionProfiles"`
	JobProfiles     []JobProfile             `json:"jobProfiles"`
	SkillProfiles   []SkillProfile           `json:"skillProfiles"`
}

// AlignmentItem says how one course meets the requirements of one job. SectionID
// names the section that stands for the course, nil where none has skills.
type AlignmentItem struct {
	CourseID      string         `json:"courseId"`
	SectionID     *string        `json:"sectionId"`
	JobID         string         `json:"jobId"`
	Score         float64        `json:"score" minimum:"0" maximum:"1"`
	MatchedSkills []MatchedSkill `json:"matchedSkills"`
	MissingSkills []MissingSkill `json:"missingSkills"`
}

// MatchedSkill is a required skill that the course teaches; Score is below 1
// where its level is too low.
type MatchedSkill struct {
	SkillID       string  `json:"skillId"`
	SkillName     string  `json:"skillName"`
	RequiredLevel int     `json:"requiredLevel" minimum:"1" maximum:"5"`
	TaughtLevel   int     `json:"taughtLevel" minimum:"1" maximum:"5"`
	Score         float64 `json:"score" minimum:"0" maximum:"1"`
}

// MissingSkill is a required skill that the course does not teach.
type MissingSkill struct {
	SkillID       string `json:"skillId"`
	SkillName     string `json:"skillName"`
	RequiredLevel int    `json:"requiredLevel" minimum:"1" maximum:"5"`
}

// CoverageItem says which courses teach a skill and which jobs require it; a
// level is 0 where none does.
type CoverageItem struct {
	SkillID          string   `json:"skillId"`
	SkillName        string   `json:"skillName"`
	CourseIDs        []string `json:"courseIds"`
	JobIDs           []string `json:"jobIds"`
	MaxTaughtLevel   int      `json:"maxTaughtLevel" minimum:"0" maximum:"5"`
	MaxRequiredLevel int      `json:"maxRequiredLevel" minimum:"0" maximum:"5"`
}

// GapItem says how far all the courses together meet one job, and what is still missing.
type GapItem struct {
	JobID         string     `json:"jobId"`
	Coverage      float64    `json:"coverage" minimum:"0" maximum:"1"`
	MissingSkills []GapSkill `json:"missingSkills"`
}

// GapSkill is a required skill that no course teaches at the required level;
// TaughtLevel is the highest taught, 0 where none teaches it.
type GapSkill struct {
	SkillID       string `json:"skillId"`
	SkillName     string `json:"skillName"`
	RequiredLevel int    `json:"requiredLevel" minimum:"1" maximum:"5"`
	TaughtLevel   int    `json:"taughtLevel" minimum:"0" maximum:"5"`
}
