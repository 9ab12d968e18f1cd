package catalog

import (
	"errors"
	"slices"
)

// ProcessingStatus is the state of skills extraction.
type ProcessingStatus string

// The states.
const (
	Pending    ProcessingStatus = "PENDING"
	Processing ProcessingStatus = "PROCESSING"
	Completed  ProcessingStatus = "COMPLETED"
	Failed     ProcessingStatus = "FAILED"
)

// Transition is a legal change of an extraction's state.
type Transition struct {
	From []ProcessingStatus
	To   ProcessingStatus
}

// The transitions. All but Retrying are a worker's; the store makes its conditions from them.
var (
	Claiming   = Transition{[]ProcessingStatus{Pending, Processing}, Processing} // PROCESSING: after the lease has expired
	Completing = Transition{[]ProcessingStatus{Processing}, Completed}
	Failing    = Transition{[]ProcessingStatus{Processing}, Failed}
	Returning  = Transition{[]ProcessingStatus{Processing}, Pending} // after a transient failure
	Retrying   = Transition{[]ProcessingStatus{Failed}, Pending}     // at a client's request
)

// StartsIn reports whether the transition is legal from a state.
func (t Transition) StartsIn(s ProcessingStatus) bool { return slices.Contains(t.From, s) }

// Extraction is the extraction state that records with a syllabus embed.
type Extraction struct {
	ProcessingStatus ProcessingStatus `json:"processingStatus,omitempty" enum:"PENDING,PROCESSING,COMPLETED,FAILED" doc:"State of the extraction of skills; absent for a section without a syllabus that is not its course's default section"`
	Failure          *Failure         `json:"failure,omitempty" doc:"Reason for the failure; only when FAILED" extension:"true"`
	// Warnings describe limits of the skills, such as a language that the taxonomy does not cover.
	Warnings []Warning `json:"warnings,omitempty" doc:"Limits of the extracted skills" extension:"true"`
}

// ExtractionResult is the result of a finished extraction: skills with their evidence, or a failure.
type ExtractionResult struct {
	Skills     []SkillRef     `json:"skills"`
	Evidence   []Evidence     `json:"evidence"`
	Warnings   []Warning      `json:"warnings"`
	Outcomes   []FoundOutcome `json:"outcomes"` // of a syllabus, in its order
	Provenance Provenance     `json:"provenance"`
	Failure    *Failure       `json:"failure"`
	Text       string         `json:"-"`
	// Statements has what was read out of the outcomes of a list, by their ids; nil for other records.
	Statements map[string]StatementResult `json:"statements,omitempty"`
}

// StatementResult holds what is read out of the statement of one outcome.
type StatementResult struct {
	Statement   string      `json:"statement"`
	Skills      []SkillRef  `json:"skills"`
	Evidence    []Evidence  `json:"evidence"` // offsets into the statement
	Level       int         `json:"level"`
	LevelSource LevelSource `json:"levelSource"` // PRINTED, VERB or NONE
	Verb        *string     `json:"verb"`        // as it stands in the statement; nil for none
}

// Task is a claimed extraction: the input of a run, and its lease.
type Task struct {
	Job          ExtractionJob
	ParentID     string // id of the record's owner; "" for none
	Name         string
	Source       Source
	Description  string // text that is read where the source is a description; "" for too little
	SyllabusHref string
	DocumentID   string
	Attempt      int    // 1 for the first
	Lease        string // token of the run
	UpdatedAt    Time   // of the claimed record
	Reviews      []Review
	Course       *Course // of a section; nil if it is deleted
	// Outcomes are those to read, or those whose skills a section takes.
	Outcomes *OutcomeList
}

// ErrFinished means that the extraction is finished or its record deleted. ErrLeased means
// that another run holds its lease.
var (
	ErrFinished = errors.New("extraction is finished")
	ErrLeased   = errors.New("extraction is leased")
)

// SyllabusExtraction is a standalone extraction, whose skills belong to no other record.
type SyllabusExtraction struct {
	Meta
	Name         *string    `json:"name" doc:"Name of the extraction"`
	SyllabusHref *string    `json:"syllabusHref" format:"uri"`
	DocumentID   *string    `json:"documentId"`
	Skills       []SkillRef `json:"skills"`
	Extraction
}

// SyllabusExtractionInput is the input of a standalone extraction. Its text is stored apart from the record (see Text).
type SyllabusExtractionInput struct {
	Text         Optional[*string] `json:"text,omitzero" minLength:"1" maxLength:"100000" doc:"Text to extract skills from. Exactly one of text, syllabusHref and documentId"`
	SyllabusHref Optional[*string] `json:"syllabusHref,omitzero" maxLength:"2000" doc:"URL of the syllabus: https, without credentials. Exactly one of text, syllabusHref and documentId"`
	DocumentID   Optional[*string] `json:"documentId,omitzero" maxLength:"64" doc:"Document with an uploaded file. Exactly one of text, syllabusHref and documentId"`
	Name         Optional[*string] `json:"name,omitzero" maxLength:"255"`
}

// Apply sets the fields of a new extraction and makes it PENDING.
func (in SyllabusExtractionInput) Apply(e *SyllabusExtraction, l Lookups) []FieldError {
	e.Name = text(in.Name, e.Name)
	e.Skills, e.Extraction = []SkillRef{}, Extraction{ProcessingStatus: Pending}
	check := l.checker()
	e.SyllabusHref, e.DocumentID = check.syllabus(in.SyllabusHref, in.DocumentID, e.SyllabusHref, e.DocumentID)
	if (text(in.Text, nil) == nil) == (e.SyllabusHref == nil && e.DocumentID == nil) {
		return []FieldError{{Location: l.At, Message: "must have either text or a syllabus: syllabusHref or documentId"}}
	}
	return *check.wrong
}
