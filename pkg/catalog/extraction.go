package catalog

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
}
