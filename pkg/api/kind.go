package api

import "net/http"

// OperationKind classifies operations by their objectives of availability and latency (docs/aws.md).
type OperationKind string

// The kinds. A ComputeKind operation compares the skills of a catalog, which takes seconds of CPU time. An operation
// that queues an extraction is a WriteKind.
const (
	ReadKind    OperationKind = "read"
	WriteKind   OperationKind = "write"
	ComputeKind OperationKind = "compute"
)

// OperationKinds lists all kinds.
func OperationKinds() []OperationKind { return []OperationKind{ReadKind, WriteKind, ComputeKind} }

// Kind returns the operation's kind.
func (o Operation) Kind() OperationKind {
	switch {
	case o.Cost == regenerate && o.Group == Reports, o.Group == Reports && o.Access == Public, o.Cost == score,
		o.Cost == build:
		return ComputeKind
	case o.Access == Write && o.Method != http.MethodGet:
		return WriteKind
	}
	return ReadKind
}
