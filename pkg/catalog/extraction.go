package catalog

import "errors"

// ProcessingStatus is the state of skills extraction.
type ProcessingStatus string

// The states. Moves: PENDING -> PROCESSING -> COMPLETED or FAILED; PROCESSING ->
// PENDING for a retry after a transient failure; FAILED -> PENDING when a client
// asks for a retry.
const (
	Pending    ProcessingStatus = "PENDING"
	Processing ProcessingStatus = "PROCESSING"
	Completed  ProcessingStatus = "COMPLETED"
	Failed     ProcessingStatus = "FAILED"
)

// Extraction is the state of extraction that the records with a syllabus embed.
type Extraction struct {
	ProcessingStatus ProcessingStatus `json:"processingStatus,omitempty" enum:"PENDING,PROCESSING,COMPLETED,FAILED" doc:"State of the extraction of skills; absent where there is no syllabus"`
	Failure          *Failure         `json:"failure,omitempty" doc:"Why the extraction failed; only when FAILED" extension:"true"`
	// Warnings are what the skills do not show: that the taxonomy does not cover the
	// language of the text, say.
	Warnings []Warning `json:"warnings,omitempty" doc:"What the extracted skills do not show" extension:"true"`
}

// Outcome is the result of a finished extraction: skills with their evidence, or why
// it failed.
type Outcome struct {
	Skills     []SkillRef `json:"skills"`
	Evidence   []Evidence `json:"evidence"`
	Warnings   []Warning  `json:"warnings"`
	Provenance Provenance `json:"provenance"`
	Failure    *Failure   `json:"failure"`
	Text       string     `json:"-"`
}

// Task is a claimed extraction: what the worker needs to run it, and the lease
// under which it does.
type Task struct {
	Job          ExtractionJob
	ParentID     string // of the record that owns the claimed one; "" for none
	Name         string
	Description  string
	SyllabusHref string
	DocumentID   string
	Attempt      int    // 1 for the first
	Lease        string // token of this run
	UpdatedAt    Time   // of the claimed record
	Reviews      []Review
}

// ErrFinished means that there is nothing to do: the extraction is finished, or its
// record deleted. ErrLeased means that another run holds it.
var (
	ErrFinished = errors.New("extraction is finished")
	ErrLeased   = errors.New("extraction is leased")
)

// SyllabusExtraction is an extraction asked for by itself, without a record that
// its skills belong to.
type SyllabusExtraction struct {
	Meta
	Name         *string    `json:"name" doc:"Name of the extraction"`
	SyllabusHref *string    `json:"syllabusHref" format:"uri"`
	DocumentID   *string    `json:"documentId"`
	Skills       []SkillRef `json:"skills"`
	Extraction
}

// SyllabusExtractionInput is what a request says of an extraction by itself. Its
// text is kept outside of the record (see Text).
type SyllabusExtractionInput struct {
	Text         Optional[*string] `json:"text,omitzero" minLength:"1" maxLength:"100000" doc:"Text whose skills are extracted. Exactly one of text, syllabusHref and documentId"`
	SyllabusHref Optional[*string] `json:"syllabusHref,omitzero" maxLength:"2000" doc:"Address of the syllabus: https, without credentials. Exactly one of text, syllabusHref and documentId"`
	DocumentID   Optional[*string] `json:"documentId,omitzero" maxLength:"64" doc:"Document whose file was uploaded. Exactly one of text, syllabusHref and documentId"`
	Name         Optional[*string] `json:"name,omitzero" maxLength:"255"`
}

// Apply sets the fields of a new extraction and makes it PENDING.
func (in SyllabusExtractionInput) Apply(e *SyllabusExtraction, l Lookups) []FieldError {
	e.Name = text(in.Name, e.Name)
	e.Skills, e.Extraction = []SkillRef{}, Extraction{ProcessingStatus: Pending}
	var wrong []FieldError
	e.SyllabusHref, e.DocumentID, wrong = l.syllabus(in.SyllabusHref, in.DocumentID, e.SyllabusHref, e.DocumentID)
	if (text(in.Text, nil) == nil) == (e.SyllabusHref == nil && e.DocumentID == nil) {
		return []FieldError{{Location: l.At, Message: "must have either text or a syllabus: syllabusHref or documentId"}}
	}
	return wrong
}
