package catalog

// Outcome is a sentence about what students can do afterwards, which the institution has approved. Skills and a
// level are read out of it, never into it (interface section 20).
type Outcome struct {
	ID           string             `json:"id"`
	Code         *string            `json:"code"`
	Statement    string             `json:"statement"`
	Level        int                `json:"level"`
	LevelSource  LevelSource        `json:"levelSource"`
	Verb         *string            `json:"verb"`
	Skills       []SkillRef         `json:"skills"`
	SkillsSource SkillsSource       `json:"skillsSource"`
	ParentID     *string            `json:"parentId"`
	Alignments   []OutcomeAlignment `json:"alignments"`
}

// LevelSource tells where the level of an outcome comes from.
type LevelSource string

// The sources of levels.
const (
	GivenLevel   LevelSource = "GIVEN"   // by a person
	PrintedLevel LevelSource = "PRINTED" // in the statement, such as "(K3)"
	VerbLevel    LevelSource = "VERB"
	NoLevel      LevelSource = "NONE" // then it is 2
)

// SkillsSource tells where the skills of an outcome come from.
type SkillsSource string

// The sources of skills.
const (
	GivenSkills     SkillsSource = "GIVEN"
	ExtractedSkills SkillsSource = "EXTRACTED"
)

// OutcomeAlignment relates an outcome to a statement elsewhere.
type OutcomeAlignment struct {
	Type  string  `json:"type"` // EXACT, BROAD, NARROW or RELATED
	URI   string  `json:"uri"`
	Label *string `json:"label"`
}

// OutcomeList holds the outcomes of one course or one program, in their order.
type OutcomeList struct {
	Meta
	OwnerID  string    `json:"ownerId"` // of the course or program
	Outcomes []Outcome `json:"outcomes"`
	Extraction
}

// FoundOutcome is an outcome sentence of a section's syllabus, as extracted.
type FoundOutcome struct {
	Number      int         `json:"number"` // in the document, from 1
	Code        *string     `json:"code"`   // its label, such as "CLO 3"
	Statement   string      `json:"statement"`
	Page        int         `json:"page"`
	Start       int         `json:"start"` // offsets into the text of the syllabus, as those of evidence
	End         int         `json:"end"`
	Level       int         `json:"level"`
	LevelSource LevelSource `json:"levelSource"`
	Verb        *string     `json:"verb"`
	SkillIDs    []string    `json:"skillIds"`
}
