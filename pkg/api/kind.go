package api

import "net/http"

// OperationKind groups operations by what may be expected of them: objectives of
// availability and latency are set for each (docs/aws.md).
type OperationKind string

// The kinds. A Compute operation compares skills of a catalog, which takes whole
// seconds of a processor; what only queues an extraction is a Write.
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
	case o.Cost == regenerate && o.Group == Reports, o.Group == Reports && o.Access == Public, o.Cost == score, o.Cost == build:
		return ComputeKind
	case o.Access == Write && o.Method != http.MethodGet:
		return WriteKind
	}
	return ReadKind
}
