package catalog

import (
	"fmt"
	"slices"
)

// ArticulationMoves is where each state leads. APPROVED is final.
var ArticulationMoves = map[ArticulationStatus][]ArticulationStatus{
	ArticulationDraft:    {ArticulationInReview},
	ArticulationInReview: {ArticulationApproved, ArticulationRejected, ArticulationDraft},
	ArticulationRejected: {ArticulationDraft},
	ArticulationApproved: {},
}

// MoveInput is what a request says of a move.
type MoveInput struct {
	Status    ArticulationStatus     `json:"status" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED"`
	DecidedBy Optional[*PersonInput] `json:"decidedBy,omitzero" doc:"who decided; required with APPROVED"`
}

// PersonInput is what a request says of who decided.
type PersonInput struct {
	_    struct{} `nullable:"true"`
	Name string   `json:"name" minLength:"1" maxLength:"255"`
	Role *string  `json:"role,omitempty" nullable:"true" maxLength:"255"`
}

// Move is one move of an articulation, as its history shows it. A record has no bound
// on its moves: they are kept beside it.
type Move struct {
	At        Time               `json:"at"`
	From      ArticulationStatus `json:"from" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED"`
	To        ArticulationStatus `json:"to" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED"`
	DecidedBy *Person            `json:"decidedBy"`
	KeyID     string             `json:"keyId" doc:"of the API key with which it was made"`
}

// Apply moves the articulation and returns the move. The error is a conflict for a move
// that its state does not allow. An approval needs more than this: see Approve.
func (in MoveInput) Apply(a *Articulation, keyID string, l Lookups, now Time) (Move, error) {
	move := Move{At: now, From: a.Status, To: in.Status, KeyID: keyID}
	if by := in.DecidedBy.Value; by != nil {
		move.DecidedBy = &Person{Name: by.Name, Role: nonEmpty(by.Role)}
	}
	if a.Status == in.Status {
		return move, Errorf(Conflict, "The articulation is %s already.", a.Status)
	}
	if !slices.Contains(ArticulationMoves[a.Status], in.Status) {
		return move, Errorf(Conflict, "The articulation is %s, which does not become %s; it may become %s.", a.Status, in.Status, oneOf(ArticulationMoves[a.Status]))
	}
	if in.Status == ArticulationApproved && move.DecidedBy == nil {
		return move, Invalid(FieldError{Location: l.at("decidedBy"), Message: "is required with APPROVED"})
	}
	a.Status = in.Status
	return move, nil
}

func oneOf(states []ArticulationStatus) string {
	switch n := len(states); n {
	case 0:
		return "nothing else"
	case 1:
		return string(states[0])
	default:
		return fmt.Sprintf("%s or %s", joined(states[:n-1]), states[n-1])
	}
}

func joined(states []ArticulationStatus) (text string) {
	for i, s := range states {
		if i > 0 {
			text += ", "
		}
		text += string(s)
	}
	return text
}

// CheckDelete refuses to delete what was decided, or is about to be.
func (a *Articulation) CheckDelete() error {
	if a.Status == ArticulationDraft || a.Status == ArticulationRejected {
		return nil
	}
	return Errorf(Conflict, "The articulation is %s: only a DRAFT or REJECTED one can be deleted.", a.Status)
}
