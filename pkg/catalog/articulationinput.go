package catalog

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// ArticulationInput is the input for an articulation from a request or a file. It has no fields that moves set.
type ArticulationInput struct {
	RegisteredInput
	SendingInstitution Optional[InstitutionInput]   `json:"sendingInstitution"`
	Sending            Optional[[]AlternativeInput] `json:"sending" minItems:"1" maxItems:"10" doc:"Alternatives, any one of which is enough; no two of the same codes"`
	Receiving          Optional[[]GrantInput]       `json:"receiving,omitzero" nullable:"true" maxItems:"10" doc:"All that is granted; empty with NO_CREDIT and only then"`
	Decision           Optional[Decision]           `json:"decision" enum:"EQUIVALENT,PARTIAL,ELECTIVE,REQUIREMENT,NO_CREDIT"`
	Reason             Optional[*string]            `json:"reason,omitzero" maxLength:"10000" doc:"Reason; required with NO_CREDIT"`
	EffectiveFrom      Optional[string]             `json:"effectiveFrom" format:"date"`
	EffectiveTo        Optional[*string]            `json:"effectiveTo,omitzero" format:"date" doc:"The last day; not before effectiveFrom"`
	EffectiveTerm      Optional[*string]            `json:"effectiveTerm,omitzero" maxLength:"50"`
	ReviewAfter        Optional[*string]            `json:"reviewAfter,omitzero" format:"date"`
	ProgramIDs         Optional[[]string]           `json:"programIds,omitzero" nullable:"true" maxItems:"50" doc:"Programs that it is for; empty for all"`
	PublicNote         Optional[*string]            `json:"publicNote,omitzero" maxLength:"10000"`
	PrivateNote        Optional[*string]            `json:"privateNote,omitzero" maxLength:"10000"`
	Published          Optional[bool]               `json:"published,omitzero" doc:"Whether the decision is published; false when absent"`
	Supersedes         Optional[*string]            `json:"supersedes,omitzero" maxLength:"64" doc:"Id of the approved articulation that this one takes the place of"`
}

// InstitutionInput is the input for another institution.
type InstitutionInput struct {
	Name     string  `json:"name" minLength:"1" maxLength:"255" doc:"Its name"`
	CodeType *string `json:"codeType,omitempty" nullable:"true" enum:"IPEDS,OPEID,CEEB" doc:"The register that the code is of"`
	Code     *string `json:"code,omitempty" nullable:"true" maxLength:"50" doc:"Its code in that register"`
}

// AlternativeInput is the input for an alternative.
type AlternativeInput struct {
	Courses []SendingCourseInput `json:"courses" minItems:"1" maxItems:"10" doc:"Courses, all of which are needed; no code twice"`
}

// SendingCourseInput is the input for a course of another institution.
type SendingCourseInput struct {
	Code             string   `json:"code" minLength:"1" maxLength:"50" pattern:"^[^,;]*$" doc:"Code of the course at the institution"`
	Title            *string  `json:"title,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"Its title there"`
	Credits          *Credits `json:"credits,omitempty" doc:"Its credits there"`
	MinimumGrade     *string  `json:"minimumGrade,omitempty" nullable:"true" maxLength:"50" doc:"The grade that is asked for; look-ups do not ask"`
	TakenFrom        *string  `json:"takenFrom,omitempty" nullable:"true" format:"date" doc:"The first day on which it may have been taken; look-ups do not ask"`
	TakenTo          *string  `json:"takenTo,omitempty" nullable:"true" format:"date" doc:"Last day; not before takenFrom"`
	TransferCourseID *string  `json:"transferCourseId,omitempty" nullable:"true" maxLength:"64"`
}

// GrantInput is the input for a grant.
type GrantInput struct {
	CourseID *string  `json:"courseId,omitempty" nullable:"true" maxLength:"255"`
	Label    *string  `json:"label,omitempty" nullable:"true" minLength:"1" maxLength:"255" doc:"Name of a grant without a course; either this or courseId"`
	Credits  *Credits `json:"credits,omitempty" doc:"How many credits it counts for"`
}

// Names returns the names of the records that Apply needs: courses, transfer courses, programs and the articulation
// to supersede.
func (in ArticulationInput) Names() (courses, transferCourses, programs, articulations []string) {
	for _, grant := range in.Receiving.Value {
		if id := nonEmpty(grant.CourseID); id != nil {
			courses = append(courses, *id)
		}
	}
	for _, alternative := range in.Sending.Value {
		for _, course := range alternative.Courses {
			if id := nonEmpty(course.TransferCourseID); id != nil {
				transferCourses = append(transferCourses, *id)
			}
		}
	}
	if id := text(in.Supersedes, nil); id != nil {
		articulations = []string{*id}
	}
	return courses, transferCourses, in.ProgramIDs.Value, articulations
}

// Apply sets the fields of the articulation; a new one is a DRAFT. The records that it names must be in l, by the
// name in the input, unless the articulation names them already: references to deleted records may stay. Revise
// restricts which fields may change.
func (in ArticulationInput) Apply(a *Articulation, l Lookups) []FieldError {
	before := *a
	if a.Status == "" {
		a.Status = ArticulationDraft
	}
	a.Decision, a.Reason = in.Decision.Or(a.Decision), text(in.Reason, a.Reason)
	a.EffectiveFrom, a.EffectiveTo = in.EffectiveFrom.Or(a.EffectiveFrom), text(in.EffectiveTo, a.EffectiveTo)
	a.EffectiveTerm, a.ReviewAfter = text(in.EffectiveTerm, a.EffectiveTerm), text(in.ReviewAfter, a.ReviewAfter)
	a.PublicNote, a.PrivateNote = text(in.PublicNote, a.PublicNote), text(in.PrivateNote, a.PrivateNote)
	a.Published = in.Published.Or(a.Published)
	in.RegisteredInput.apply(&a.Registered)
	check := l.checker()
	if in.SendingInstitution.Set {
		a.SendingInstitution = in.SendingInstitution.Value.institution(check.below("sendingInstitution"))
	}
	if in.Sending.Set {
		a.Sending = check.sending(in.Sending.Value, &before)
	}
	if in.Receiving.Set || a.Receiving == nil {
		a.Receiving = check.receiving(in.Receiving.Value, &before)
	}
	if in.ProgramIDs.Set || a.ProgramIDs == nil {
		a.ProgramIDs = named("program", in.ProgramIDs.Value, before.ProgramIDs, l.Programs, "programIds", check)
	}
	if in.Supersedes.Set {
		a.Supersedes = check.superseded(text(in.Supersedes, nil), &before)
	}
	a.worth(check)
	check.period(&a.EffectiveFrom, a.EffectiveTo)
	return *check.wrong
}

// worth checks that the grants fit the decision.
func (a *Articulation) worth(check checker) {
	switch nothing := a.Decision == NoCredit; {
	case nothing && len(a.Receiving) > 0:
		check.fault("receiving", "must be empty with NO_CREDIT", nil)
	case !nothing && len(a.Receiving) == 0:
		check.fault("receiving", "must not be empty with this decision", a.Decision)
	}
	if a.Decision == NoCredit && a.Reason == nil {
		check.fault("reason", "is required with NO_CREDIT", nil)
	}
}

func (in InstitutionInput) institution(check checker) Institution {
	if Normalized(in.Name) == "" {
		check.fault("name", nothingRemains, in.Name)
	}
	return Institution{Name: in.Name, CodeType: nonEmpty(in.CodeType), Code: nonEmpty(in.Code)}
}

const nothingRemains = "nothing remains of it without blanks, hyphens and dots"

// sending returns the alternatives of an articulation; before is its previous state.
func (c checker) sending(in []AlternativeInput, before *Articulation) []Alternative {
	all := make([]Alternative, len(in))
	seen := map[string]int{}
	for i, alternative := range in {
		at, faults := c.below(fmt.Sprintf("sending[%d]", i)), len(*c.wrong)
		all[i].Courses = at.sendingCourses(alternative.Courses, before)
		key := all[i].Key()
		if first, twice := seen[key]; !twice {
			seen[key] = i
		} else if len(*c.wrong) == faults {
			c.add(FieldError{Location: at.At, Message: fmt.Sprintf("has the same codes as sending[%d]", first)})
		}
	}
	return all
}

// sendingCourses returns the courses of an alternative.
func (c checker) sendingCourses(in []SendingCourseInput, before *Articulation) []SendingCourse {
	seen := map[string]bool{}
	all := make([]SendingCourse, len(in))
	for i, course := range in {
		at := c.below(fmt.Sprintf("courses[%d]", i))
		all[i] = SendingCourse{
			Code: course.Code, Title: nonEmpty(course.Title), MinimumGrade: nonEmpty(course.MinimumGrade),
			TakenFrom: nonEmpty(course.TakenFrom), TakenTo: nonEmpty(course.TakenTo),
			TransferCourseID: nonEmpty(course.TransferCourseID),
			Credits:          at.credits(Optional[*Credits]{Set: true, Value: course.Credits}, nil),
		}
		all[i].check(before, at)
		code := Normalized(course.Code)
		if code != "" && seen[code] {
			at.fault("code", "must not be repeated in the alternative", course.Code)
		}
		seen[code] = true
	}
	return all
}

func (c SendingCourse) check(before *Articulation, check checker) {
	switch {
	case strings.ContainsAny(c.Code, ",;"):
		check.fault("code", "must not contain , or ;", c.Code)
	case Normalized(c.Code) == "":
		check.fault("code", nothingRemains, c.Code)
	}
	if c.TakenFrom != nil && c.TakenTo != nil && *c.TakenFrom > *c.TakenTo {
		check.fault("takenTo", "must not be before takenFrom", *c.TakenTo)
	}
	if id := c.TransferCourseID; id != nil && check.TransferCourses[*id] == nil && !before.sends(*id) {
		check.fault("transferCourseId", "there is no such transfer course", *id)
	}
}

// sends reports whether the articulation refers to the transfer course.
func (a *Articulation) sends(transferCourseID string) bool {
	return slices.ContainsFunc(a.Sending, func(alternative Alternative) bool {
		return slices.ContainsFunc(alternative.Courses, func(c SendingCourse) bool {
			return c.TransferCourseID != nil && *c.TransferCourseID == transferCourseID
		})
	})
}

// receiving returns the grants of an articulation; before is its previous state.
func (c checker) receiving(in []GrantInput, before *Articulation) []Grant {
	known := before.GrantedCourses()
	all := make([]Grant, len(in))
	for i, grant := range in {
		at := c.below(fmt.Sprintf("receiving[%d]", i))
		all[i] = Grant{
			CourseID: nonEmpty(grant.CourseID), Label: nonEmpty(grant.Label),
			Credits: at.credits(Optional[*Credits]{Set: true, Value: grant.Credits}, nil),
		}
		if (all[i].CourseID == nil) == (all[i].Label == nil) {
			c.add(FieldError{Location: at.At, Message: "must have either courseId or label"})
		}
		if name := all[i].CourseID; name == nil {
			continue
		} else if course := c.Courses[*name]; course != nil {
			all[i].CourseID = new(course.ID)
		} else if !slices.Contains(known, *name) {
			at.fault("courseId", "there is no such course", *name)
		}
	}
	return all
}

// superseded returns the id of the articulation to supersede; before is the previous state.
func (c checker) superseded(name *string, before *Articulation) *string {
	if name == nil {
		return nil
	}
	if other := c.Articulations[*name]; other != nil {
		return new(other.ID)
	}
	if before.Supersedes == nil || *before.Supersedes != *name {
		c.fault("supersedes", "there is no such articulation", *name)
	}
	return name
}

// nonEmpty returns s, or nil if it is empty.
func nonEmpty(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// approvedFields are the fields that may still change after the approval.
var approvedFields = []string{"effectiveTo", "reviewAfter", "publicNote", "privateNote", "published"}

// MayChange reports whether a field may change in a state.
func (s ArticulationStatus) MayChange(field string) bool {
	return s == ArticulationDraft || s == ArticulationApproved && slices.Contains(approvedFields, field)
}

// Revise applies the input to a loaded articulation. A change of a field that may no longer change is a Conflict,
// which precedes field errors.
func (in ArticulationInput) Revise(a *Articulation, l Lookups) error {
	before := *a
	wrong := in.Apply(a, l)
	frozen := changedFields(&before, a, func(field string) bool { return !before.Status.MayChange(field) })
	if len(frozen) > 0 {
		if before.Status == ArticulationApproved {
			return Errorf(Conflict, "The articulation is APPROVED: only %s may still change, not %s.",
				strings.Join(approvedFields, ", "), strings.Join(frozen, ", "))
		}
		return Errorf(Conflict, "The articulation is %s: make it a DRAFT to change %s.", before.Status,
			strings.Join(frozen, ", "))
	}
	if wrong != nil {
		return Invalid(wrong...)
	}
	return nil
}

// changedFields returns the JSON names of the fields that differ.
func changedFields(before, after *Articulation, of func(field string) bool) (names []string) {
	was, is := reflect.ValueOf(before).Elem(), reflect.ValueOf(after).Elem()
	for i := range was.NumField() {
		name := was.Type().Field(i).Tag.Get("json")
		if name != "" && name != "-" && of(name) && !reflect.DeepEqual(was.Field(i).Interface(), is.Field(i).Interface()) {
			names = append(names, name)
		}
	}
	return names
}
