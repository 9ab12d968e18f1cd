package catalog

import (
	"cmp"
	"strings"
)

// SectionStatus is whether a section is held.
type SectionStatus string

// The states of a section. A CANCELLED one can be read, but counts nowhere.
const (
	PlannedSection   SectionStatus = "PLANNED"
	ActiveSection    SectionStatus = "ACTIVE"
	CancelledSection SectionStatus = "CANCELLED"
)

// Offering is when, where and how a section is taught.
type Offering struct {
	Term     *Term         `json:"term" doc:"Term in which the section is taught; null if unknown" extension:"true"`
	Status   SectionStatus `json:"status" doc:"Whether the section is held; ACTIVE by default. A CANCELLED one can be read but counts nowhere" extension:"true"`
	Campus   *string       `json:"campus" doc:"Campus on which the section is taught" extension:"true"`
	Modality *string       `json:"modality" enum:"IN_PERSON,ONLINE,HYBRID" doc:"How the section is taught; null if unknown" extension:"true"`
}

// Cancelled reports whether the section is not held.
func (o *Offering) Cancelled() bool { return o.Status == CancelledSection }

// Term is the term in which a section is taught.
type Term struct {
	Code      string  `json:"code" doc:"Code of the term, such as 202630"`
	Name      *string `json:"name" doc:"Name of the term, such as Fall 2026"`
	StartDate *string `json:"startDate" format:"date" doc:"First day of the term, YYYY-MM-DD"`
	EndDate   *string `json:"endDate" format:"date" doc:"Last day of the term, YYYY-MM-DD; not before startDate"`
}

// OfferingInput is the input for an Offering from a request or a file.
type OfferingInput struct {
	Term     Optional[*TermInput]    `json:"term,omitzero" doc:"Term in which the section is taught; it replaces the present one"`
	Status   Optional[SectionStatus] `json:"status,omitzero" nullable:"true" enum:"PLANNED,ACTIVE,CANCELLED" doc:"Whether the section is held; null for ACTIVE"`
	Campus   Optional[*string]       `json:"campus,omitzero" maxLength:"100"`
	Modality Optional[*string]       `json:"modality,omitzero" enum:"IN_PERSON,ONLINE,HYBRID"`
}

// TermInput is the input for a term from a request or a file.
type TermInput struct {
	_         struct{} `nullable:"true"`
	Code      string   `json:"code" minLength:"1" maxLength:"50" doc:"Code of the term, such as 202630"`
	Name      *string  `json:"name,omitempty" nullable:"true" maxLength:"100" doc:"Name of the term, such as Fall 2026"`
	StartDate *string  `json:"startDate,omitempty" nullable:"true" format:"date" doc:"First day of the term"`
	EndDate   *string  `json:"endDate,omitempty" nullable:"true" format:"date" doc:"Last day of the term; not before startDate"`
}

func (in OfferingInput) apply(o *Offering, check checker) {
	o.Status = cmp.Or(in.Status.Or(o.Status), ActiveSection)
	o.Campus, o.Modality = text(in.Campus, o.Campus), text(in.Modality, o.Modality)
	if !in.Term.Set {
		return
	}
	o.Term = nil
	if t := in.Term.Value; t != nil {
		o.Term = &Term{t.Code, nonEmpty(t.Name), nonEmpty(t.StartDate), nonEmpty(t.EndDate)}
		if from, to := o.Term.StartDate, o.Term.EndDate; from != nil && to != nil && *from > *to {
			check.fault("term.endDate", "must not be before startDate", *to)
		}
	}
}

// SectionFilter selects sections: those to which all that it says applies. What is empty says nothing.
type SectionFilter struct {
	ExternalID string
	CourseID   string
	Term       string // code, compared without case
	Status     SectionStatus
}

// Selects reports whether the filter selects the section of a course with that reference.
func (f SectionFilter) Selects(courseID string, r SectionRef) bool {
	return (f.CourseID == "" || f.CourseID == courseID) &&
		(f.ExternalID == "" || r.ExternalID != nil && *r.ExternalID == f.ExternalID) &&
		(f.Term == "" || r.Term != nil && strings.EqualFold(*r.Term, f.Term)) &&
		(f.Status == "" || r.Status == f.Status)
}
