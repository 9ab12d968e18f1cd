package catalog

import "errors"

// ProcessingStatus is the state of skills extraction (seed.md, "States and transitions").
type ProcessingStatus string

// The states. Moves: PENDING -> PROCESSING -> COMPLETED or FAILED; PROCESSING ->
// PENDING for a retry after a transient fault; FAILED -> PENDING when a client
// asks for a retry.
const (
	Pending    ProcessingStatus = "PENDING"
	Processing ProcessingStatus = "PROCESSING"
	Completed  ProcessingStatus = "COMPLETED"
	Failed     ProcessingStatus = "FAILED"
)

// Extraction is the state of extraction that the records with a syllabus embed.
type Extraction struct {
	ProcessingStatus ProcessingStatus `json:"processingStatus,omitempty" enum:"PENDING,PROCESSING,COMPLETED,FAILED"`
	Failure          *Failure         `json:"failure,omitempty"`
	// Warnings say what the skills do not tell: that the taxonomy does not cover the
	// language of the text, say.
	Warnings []Warning `json:"warnings,omitempty"`
}

// Outcome is what a finished extraction says: skills with their evidence, or why
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
	Attempt      int    // 1 for the first
	Lease        string // token of this run
	UpdatedAt    Time   // of the claimed record
}

// ErrFinished says that there is nothing to do: the extraction is finished, or its
// record deleted. ErrLeased says that another run holds it.
var (
	ErrFinished = errors.New("extraction is finished")
	ErrLeased   = errors.New("extraction is leased")
)
