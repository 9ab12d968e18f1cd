package catalog

import "slices"

// Articulation is a decision about the worth of another institution's courses. Any alternative of Sending suffices;
// all of Receiving is granted. It is found by codes and institution, Normalized.
type Articulation struct {
	Meta
	Registered
	SendingInstitution Institution        `json:"sendingInstitution" doc:"The institution whose courses these are"`
	Sending            []Alternative      `json:"sending" minItems:"1" maxItems:"10" doc:"Alternatives, any one of which is enough"`
	Receiving          []Grant            `json:"receiving" maxItems:"10" doc:"All that is granted"`
	Decision           Decision           `json:"decision" enum:"EQUIVALENT,PARTIAL,ELECTIVE,REQUIREMENT,NO_CREDIT" doc:"What was decided on the worth of the courses; NO_CREDIT grants nothing"`
	Reason             *string            `json:"reason" doc:"Why it was decided so"`
	Status             ArticulationStatus `json:"status" enum:"DRAFT,IN_REVIEW,APPROVED,REJECTED" doc:"Where it stands; only APPROVED ones count"`
	EffectiveFrom      string             `json:"effectiveFrom" format:"date" doc:"The first day"`
	EffectiveTo        *string            `json:"effectiveTo" format:"date" doc:"The last day"`
	EffectiveTerm      *string            `json:"effectiveTerm" doc:"Name of the first term"`
	ReviewAfter        *string            `json:"reviewAfter" format:"date" doc:"The day after which somebody should look at it again"`
	ProgramIDs         []string           `json:"programIds" maxItems:"50" doc:"Programs that it is for; empty for all"`
	PublicNote         *string            `json:"publicNote" doc:"A note for students; look-ups show it"`
	PrivateNote        *string            `json:"privateNote" doc:"A note for the organization alone; no look-up shows it"`
	Published          bool               `json:"published" doc:"Whether it is meant for publication; look-ups do not ask"`
	Supersedes         *string            `json:"supersedes" doc:"Id of the approved articulation that ends on the day before this one begins, once this one is approved"`
	DecidedBy          *Person            `json:"decidedBy" doc:"Person who approved it"`
	DecidedAt          *Time              `json:"decidedAt" doc:"When it was approved"`
	Evidence           *DecisionEvidence  `json:"evidence" doc:"How well both sides matched at the approval; null where there was nothing to compare"`
	// Granted are the distinct courses of Receiving as of the approval, in order. It is hidden from clients.
	Granted []CourseStamp `json:"-" store:"granted,omitempty"`
}

// Decision is the kind of an articulation's decision.
type Decision string

// The decisions. NoCredit grants nothing and requires a reason; the others grant something.
const (
	Equivalent  Decision = "EQUIVALENT"
	PartialOnly Decision = "PARTIAL"
	Elective    Decision = "ELECTIVE"
	Requirement Decision = "REQUIREMENT"
	NoCredit    Decision = "NO_CREDIT"
)

// ArticulationStatus is the state of an articulation.
type ArticulationStatus string

// The states of an articulation; see ArticulationMoves.
const (
	ArticulationDraft    ArticulationStatus = "DRAFT"
	ArticulationInReview ArticulationStatus = "IN_REVIEW"
	ArticulationApproved ArticulationStatus = "APPROVED"
	ArticulationRejected ArticulationStatus = "REJECTED"
)

// Institution is another institution: its name and, if known, its code in a register.
type Institution struct {
	Name     string  `json:"name" doc:"Its name"`
	CodeType *string `json:"codeType" enum:"IPEDS,OPEID,CEEB" doc:"The register that the code is of"`
	Code     *string `json:"code" doc:"Its code in that register"`
}

// Alternative is a set of courses, all of which are needed.
type Alternative struct {
	Courses []SendingCourse `json:"courses" minItems:"1" maxItems:"10" doc:"Courses, all of which are needed"`
}

// SendingCourse is a course of another institution. Grade and dates are for people; nothing depends on them.
type SendingCourse struct {
	Code             string   `json:"code" doc:"Code of the course at the institution"`
	Title            *string  `json:"title" doc:"Its title there"`
	Credits          *Credits `json:"credits" doc:"Its credits there"`
	MinimumGrade     *string  `json:"minimumGrade" doc:"The grade that is asked for; look-ups do not ask"`
	TakenFrom        *string  `json:"takenFrom" format:"date" doc:"The first day on which it may have been taken; look-ups do not ask"`
	TakenTo          *string  `json:"takenTo" format:"date" doc:"The last day on which it may have been taken; look-ups do not ask"`
	TransferCourseID *string  `json:"transferCourseId" doc:"Id of the course in a transfer package, for the evidence"`
}

// Grant is a course of the catalog, or a label for a grant without a course.
type Grant struct {
	CourseID *string  `json:"courseId"`
	Label    *string  `json:"label" doc:"What is granted without a course of the catalog"`
	Credits  *Credits `json:"credits" doc:"How many credits it counts for"`
}

// Person is the person who made a decision.
type Person struct {
	Name string  `json:"name" doc:"Name of the person"`
	Role *string `json:"role" doc:"Role in which the person decided"`
}

// CourseStamp is a granted course as of the approval.
type CourseStamp struct {
	CourseID string   `json:"courseId"`
	Code     string   `json:"code"`
	Name     string   `json:"name"`
	Credits  *Credits `json:"credits"`
}

// DecisionEvidence is the match between a transfer course and a section of the granted course as of the approval. It
// outlives both.
type DecisionEvidence struct {
	TransferCourseID string           `json:"transferCourseId"`
	PackageID        string           `json:"packageId,omitempty" doc:"Package of the transfer course; absent from evidence that was frozen before it was kept" extension:"true"`
	CourseID         string           `json:"courseId"`
	SectionID        string           `json:"sectionId"`
	SkillsMatchScore float64          `json:"skillsMatchScore" minimum:"0" maximum:"1" doc:"Share of the section's skills that the transfer course covered, with four decimals"`
	Equivalence      Equivalence      `json:"equivalence" enum:"FULL,PARTIAL,NONE" doc:"What the score meant by the thresholds"`
	MatchingConfig   MatchingConfig   `json:"matchingConfig" doc:"The thresholds of the package"`
	SkillMatches     []SkillMatch     `json:"skillMatches" doc:"Skills of the section that the transfer course met"`
	Extraction       ExtractionStamps `json:"extraction" doc:"What the skills of both sides were extracted with"`
}

// ExtractionStamps describe the extractions of both sides of a match; null if the skills were set by hand.
type ExtractionStamps struct {
	TransferCourse *Provenance `json:"transferCourse" doc:"Of the transfer course"`
	Section        *Provenance `json:"section" doc:"Of the section; null where its skills were set by hand"`
}

// DateOf returns the calendar date of an instant in UTC. Dates compare as text in the order of days.
func DateOf(t Time) string { return t.Std().Format(dateLayout) }

const dateLayout = "2006-01-02"

// EndedBefore reports whether the articulation's last day is before the date.
func (a *Articulation) EndedBefore(date string) bool {
	return a.EffectiveTo != nil && *a.EffectiveTo < date
}

// InForce reports whether the articulation is approved and in effect on the date.
func (a *Articulation) InForce(date string) bool {
	return a.Status == ArticulationApproved && a.EffectiveFrom <= date && !a.EndedBefore(date)
}

// GrantedCourses returns the distinct ids of the granted courses, in order.
func (a *Articulation) GrantedCourses() []string {
	var ids []string
	for _, grant := range a.Receiving {
		if grant.CourseID != nil && !slices.Contains(ids, *grant.CourseID) {
			ids = append(ids, *grant.CourseID)
		}
	}
	return ids
}

// Keeps reports whether the articulation prevents the deletion of a course: it grants it, is approved, and is in
// effect today or later.
func (a *Articulation) Keeps(courseID, today string) bool {
	return a.Status == ArticulationApproved && a.DeletedAt == nil && !a.EndedBefore(today) &&
		slices.Contains(a.GrantedCourses(), courseID)
}
