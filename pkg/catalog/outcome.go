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

// FoundOutcome is an outcome that the syllabus of a section states, as extracted.
type FoundOutcome struct {
	Number      int         `json:"number" minimum:"1" doc:"Number of the outcome in the syllabus, in its order"`
	Code        *string     `json:"code" doc:"Label of the outcome, such as CLO 3"`
	Statement   string      `json:"statement" doc:"Words of the outcome, without label and lead-in"`
	Page        int         `json:"page" minimum:"1" doc:"Page of the document where the statement begins, from 1; 1 for formats without pages"`
	Start       int         `json:"start" minimum:"0" doc:"Start of the statement in the extracted text, in Unicode code points from 0"`
	End         int         `json:"end" minimum:"1" doc:"End of the statement in the extracted text, in Unicode code points, exclusive"`
	Level       int         `json:"level" minimum:"1" maximum:"5" doc:"Level that the outcome asks for: 1 remember, 2 understand, 3 apply, 4 analyse, 5 evaluate or create"`
	LevelSource LevelSource `json:"levelSource" enum:"PRINTED,VERB,NONE" doc:"Where the level comes from: print beside the statement, its verb, or neither (then 2)"`
	Verb        *string     `json:"verb" doc:"The verb of the statement that asks for most"`
	SkillIDs    []string    `json:"skillIds" doc:"Skills of the syllabus that the statement mentions"`
}
