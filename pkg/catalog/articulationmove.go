package catalog

import (
	"slices"
	"time"
)

// ArticulationMoves lists the states that each state may move to. APPROVED is final.
var ArticulationMoves = map[ArticulationStatus][]ArticulationStatus{
	ArticulationDraft:    {ArticulationInReview},
	ArticulationInReview: {ArticulationApproved, ArticulationRejected, ArticulationDraft},
	ArticulationRejected: {ArticulationDraft},
	ArticulationApproved: {},
}

// MoveInput is the input for a move.
type MoveInput struct {
	Status    ArticulationStatus     `json:"status" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED" doc:"The status to move to"`
	DecidedBy Optional[*PersonInput] `json:"decidedBy,omitzero" doc:"Person who decided; required with APPROVED"`
	Note      Optional[*string]      `json:"note,omitzero" maxLength:"2000" doc:"Reason for the move, shown in the history and on the page; required with REJECTED"`
}

// PersonInput is the input for a person.
type PersonInput struct {
	_    struct{} `nullable:"true"`
	Name string   `json:"name" minLength:"1" maxLength:"255" doc:"Name of the person"`
	Role *string  `json:"role,omitempty" nullable:"true" maxLength:"255" doc:"Role in which the person decided"`
}

// Move is a change of an articulation's state, as its history shows it. The number of moves is unbounded, so they are
// stored in rows of their own.
type Move struct {
	At        Time               `json:"at" doc:"When"`
	From      ArticulationStatus `json:"from" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED" doc:"The status before"`
	To        ArticulationStatus `json:"to" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED" doc:"The status after"`
	DecidedBy *Person            `json:"decidedBy" doc:"Person who decided, if given"`
	Note      *string            `json:"note" doc:"Reason for the move, if given"`
	KeyID     string             `json:"keyId" doc:"Id of the API key that made the move"`
}

// Apply moves the articulation and returns the move. The error is a Conflict if its state does not allow the move.
// Approve completes an approval.
func (in MoveInput) Apply(a *Articulation, keyID string, l Lookups, now Time) (Move, error) {
	move := Move{At: now, From: a.Status, To: in.Status, Note: text(in.Note, nil), KeyID: keyID}
	if by := in.DecidedBy.Value; by != nil {
		move.DecidedBy = &Person{Name: by.Name, Role: nonEmpty(by.Role)}
	}
	if a.Status == in.Status {
		return move, Errorf(Conflict, "The articulation is %s already.", a.Status)
	}
	if !slices.Contains(ArticulationMoves[a.Status], in.Status) {
		return move, Errorf(Conflict, "The articulation is %s, which does not become %s; it may become %s.", a.Status,
			in.Status, oneOf(ArticulationMoves[a.Status]))
	}
	if in.Status == ArticulationApproved && move.DecidedBy == nil {
		return move, Invalid(FieldError{Location: l.at("decidedBy"), Message: "is required with APPROVED"})
	}
	if in.Status == ArticulationRejected && move.Note == nil {
		return move, Invalid(FieldError{Location: l.at("note"), Message: "is required with REJECTED"})
	}
	a.Status = in.Status
	return move, nil
}

func oneOf(states []ArticulationStatus) string {
	if len(states) == 0 {
		return "nothing else"
	}
	text := string(states[0])
	for i, s := range states[1:] {
		if i == len(states)-2 {
			text += " or " + string(s)
		} else {
			text += ", " + string(s)
		}
	}
	return text
}

// CheckDelete returns a Conflict unless the articulation is in a state in which it may be deleted.
func (a *Articulation) CheckDelete() error {
	if a.Status == ArticulationDraft || a.Status == ArticulationRejected {
		return nil
	}
	return Errorf(Conflict, "The articulation is %s: only a DRAFT or REJECTED one can be deleted.", a.Status)
}

// Approval has the records that an approval depends on.
type Approval struct {
	Courses    map[string]*Course // the granted ones that are live
	Superseded *Articulation      // that the articulation supersedes, if it names one and there is one
	Others     []*Articulation    // whatever may conflict: see ConflictsWith
	Evidence   *DecisionEvidence
}

// Approve completes a move to APPROVED. It records who decided and when, the evidence and the granted courses as they
// are now, and ends the superseded articulation on the day before. The error is a Conflict if a granted course is
// deleted, the other articulation cannot be superseded, or an approved articulation has the same courses.
func (a *Articulation) Approve(move Move, with Approval) error {
	a.Granted = nil
	for _, id := range a.GrantedCourses() {
		course := with.Courses[id]
		if course == nil {
			return Errorf(Conflict, "Course %s, which the articulation grants, is deleted.", id)
		}
		a.Granted = append(a.Granted, course.stamp())
	}
	others := with.Others
	if a.Supersedes != nil {
		if with.Superseded == nil {
			return Errorf(Conflict, "Articulation %s, which is to be superseded, is deleted.", *a.Supersedes)
		}
		if err := a.supersede(with.Superseded); err != nil {
			return err
		}
		others = slices.DeleteFunc(slices.Clone(others), func(o *Articulation) bool { return o.ID == with.Superseded.ID })
	}
	if err := a.CheckConflicts(others, "body.status"); err != nil {
		return err
	}
	a.DecidedBy, a.DecidedAt, a.Evidence = move.DecidedBy, new(move.At), with.Evidence
	return nil
}

func (c *Course) stamp() CourseStamp {
	return CourseStamp{CourseID: c.ID, Code: c.Code, Name: c.Name, Credits: c.Credits}
}

// supersede ends another articulation on the day before this one begins, unless it ends sooner.
func (a *Articulation) supersede(old *Articulation) error {
	switch {
	case old.Status != ArticulationApproved:
		return Errorf(Conflict, "Articulation %s is %s: only an APPROVED one can be superseded.", old.ID, old.Status)
	case !a.SendingInstitution.Same(old.SendingInstitution):
		return Errorf(Conflict, "Articulation %s is of another institution and cannot be superseded.", old.ID)
	case old.EffectiveFrom >= a.EffectiveFrom:
		return Errorf(Conflict, "Articulation %s begins on %s, not before the one that supersedes it.", old.ID,
			old.EffectiveFrom)
	}
	if end := addDays(a.EffectiveFrom, -1); old.EffectiveTo == nil || *old.EffectiveTo > end {
		old.EffectiveTo = &end
	}
	return nil
}

// addDays returns the date n days later; any other text is returned unchanged.
func addDays(date string, days int) string {
	day, err := time.Parse(dateLayout, date)
	if err != nil {
		return date
	}
	return day.AddDate(0, 0, days).Format(dateLayout)
}

// CheckConflicts returns a Conflict if the articulation cannot be approved, or remain approved, beside the others.
// The value of its field error is the other's id.
func (a *Articulation) CheckConflicts(others []*Articulation, location string) error {
	for _, other := range others {
		if other.Status == ArticulationApproved && a.ConflictsWith(other) {
			err := Errorf(Conflict, "Another approved articulation of the institution has the same codes at the same time, "+
				"for the same programs.")
			err.Fields = []FieldError{{location, "overlaps with another approved articulation, whose id is the value", other.ID}}
			return err
		}
	}
	return nil
}

// ConflictsWith reports whether two articulations exclude each other: they are of one institution and share the codes
// of an alternative, a day and a program. One that names no program is for all.
func (a *Articulation) ConflictsWith(other *Articulation) bool {
	return a.ID != other.ID && !a.EndedBefore(other.EffectiveFrom) && !other.EndedBefore(a.EffectiveFrom) &&
		(len(a.ProgramIDs) == 0 || len(other.ProgramIDs) == 0 || share(a.ProgramIDs, other.ProgramIDs)) &&
		a.SendingInstitution.Same(other.SendingInstitution) && share(a.setKeys(), other.setKeys())
}

// share reports whether two sets have an element in common.
func share(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return slices.Contains(b, s) })
}

// setKeys returns the keys of the articulation's alternatives (see Alternative.Key).
func (a *Articulation) setKeys() []string {
	keys := make([]string, len(a.Sending))
	for i, alternative := range a.Sending {
		keys[i] = alternative.Key()
	}
	return keys
}

// EvidenceFor returns the ids that the evidence compares: the first transfer course of the articulation and the only
// course that it grants. It returns false without such a pair.
func (a *Articulation) EvidenceFor() (transferCourseID, courseID string, ok bool) {
	granted := a.GrantedCourses()
	if len(granted) != 1 {
		return "", "", false
	}
	for _, alternative := range a.Sending {
		for _, course := range alternative.Courses {
			if course.TransferCourseID != nil {
				return *course.TransferCourseID, granted[0], true
			}
		}
	}
	return "", "", false
}
