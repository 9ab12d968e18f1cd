package catalog

import (
	"cmp"
	"slices"
)

// ArticulationQuery asks what is granted for courses of an institution.
type ArticulationQuery struct {
	Institution string   // its name or code
	Codes       []string // of the courses; one that stands twice is one
	AsOf        string   // date
	ProgramID   string   // "" asks for what is for all programs
}

// Granted is what one articulation grants for some of the codes.
type Granted struct {
	ArticulationID string   `json:"articulationId"`
	Alternative    int      `json:"alternative" minimum:"0" doc:"index of the alternative that the codes meet"`
	Codes          []string `json:"codes" doc:"the codes that are used, as they were asked for and in that order"`
	Receiving      []Grant  `json:"receiving" doc:"What is granted, all of it"`
	Decision       Decision `json:"decision" enum:"EQUIVALENT,PARTIAL,ELECTIVE,REQUIREMENT,NO_CREDIT" doc:"What was decided"`
	PublicNote     *string  `json:"publicNote" doc:"The note for students"`
}

// UncoveredCode says why nothing is granted for a code: every alternative that has it.
type UncoveredCode struct {
	Code       string    `json:"code" doc:"The code as it was asked for"`
	Considered []NotUsed `json:"considered" doc:"in the order of precedence; empty where no articulation of the institution has the code"`
}

// NotUsed is an alternative that was not used, and why: the first of the reasons that
// applies, in the order of their list.
type NotUsed struct {
	ArticulationID string        `json:"articulationId"`
	Alternative    int           `json:"alternative" minimum:"0" doc:"Index of the alternative"`
	Reason         NotUsedReason `json:"reason" enum:"NOT_APPROVED,NOT_YET_IN_FORCE,ENDED,OTHER_PROGRAM,COURSES_MISSING,ALREADY_GRANTED,CODES_USED" doc:"Why it was not used, the first that applies"`
	Missing        []string      `json:"missing,omitempty" doc:"with COURSES_MISSING: the codes of the alternative that were not asked for"`
	Used           []UsedCode    `json:"used,omitempty" doc:"with CODES_USED: the codes of the alternative that were used before"`
}

// UsedCode is a code that an articulation uses.
type UsedCode struct {
	Code           string `json:"code" doc:"The code as it was asked for"`
	ArticulationID string `json:"articulationId"`
}

// NotUsedReason is why an alternative was not used.
type NotUsedReason string

// The reasons. OTHER_PROGRAM: the articulation is for programs, and the one that was
// asked for is not among them. ALREADY_GRANTED: another alternative of it was used.
const (
	NotApproved    NotUsedReason = "NOT_APPROVED"
	NotYetInForce  NotUsedReason = "NOT_YET_IN_FORCE"
	Ended          NotUsedReason = "ENDED"
	OtherProgram   NotUsedReason = "OTHER_PROGRAM"
	CoursesMissing NotUsedReason = "COURSES_MISSING"
	AlreadyGranted NotUsedReason = "ALREADY_GRANTED"
	CodesUsed      NotUsedReason = "CODES_USED"
)

// Lookup returns what the articulations grant, the codes for which they grant nothing,
// and why. Only those of the institution count that are approved, in force on the day
// and for the program. An alternative counts when all of its codes are asked for. Larger
// alternatives come first, then those of the articulation that is in effect later, then
// of the smaller id, then by index; each code is used once and each articulation grants
// once. One with NO_CREDIT grants nothing, but uses its codes.
func (q ArticulationQuery) Lookup(articulations []*Articulation) (granted []Granted, uncovered []string, why []UncoveredCode) {
	codes := q.codes()
	user := map[string]string{} // the articulation's id by the normalised code that it uses
	grants := map[string]bool{}
	notUsed := map[string][]NotUsed{}
	granted, uncovered, why = []Granted{}, []string{}, []UncoveredCode{}
	for _, c := range q.candidates(articulations) {
		a, own := c.articulation, c.alternative().codes()
		if no := q.refuse(c, codes, user, grants); no != nil {
			for _, code := range own {
				notUsed[code] = append(notUsed[code], *no)
			}
			continue
		}
		grants[a.ID] = true
		for _, code := range own {
			user[code] = a.ID
		}
		granted = append(granted, Granted{
			ArticulationID: a.ID, Alternative: c.index, Codes: codes.spelled(own), Receiving: a.Receiving, Decision: a.Decision, PublicNote: a.PublicNote,
		})
	}
	for _, code := range codes {
		if user[code.normalized] == "" {
			uncovered = append(uncovered, code.spelling)
			why = append(why, UncoveredCode{code.spelling, append([]NotUsed{}, notUsed[code.normalized]...)})
		}
	}
	return granted, uncovered, why
}

// askedCode is a code as it was asked for.
type askedCode struct{ spelling, normalized string }

type askedCodes []askedCode

// codes lists the codes in the order asked, each once, in its first spelling.
func (q ArticulationQuery) codes() askedCodes {
	var codes askedCodes
	for _, spelling := range q.Codes {
		if code := Normalized(spelling); !codes.has(code) {
			codes = append(codes, askedCode{spelling, code})
		}
	}
	return codes
}

func (codes askedCodes) has(normalized string) bool {
	return slices.ContainsFunc(codes, func(c askedCode) bool { return c.normalized == normalized })
}

// spelled lists those of the codes that are among the normalised ones.
func (codes askedCodes) spelled(normalized []string) []string {
	spelled := make([]string, 0, len(normalized))
	for _, code := range codes {
		if slices.Contains(normalized, code.normalized) {
			spelled = append(spelled, code.spelling)
		}
	}
	return spelled
}

// candidate is an alternative of an articulation.
type candidate struct {
	articulation *Articulation
	index        int
}

func (c candidate) alternative() Alternative { return c.articulation.Sending[c.index] }

// candidates lists the alternatives of the institution's articulations in the order of
// precedence.
func (q ArticulationQuery) candidates(articulations []*Articulation) []candidate {
	var all []candidate
	for _, a := range articulations {
		if !a.SendingInstitution.Named(q.Institution) {
			continue
		}
		for i := range a.Sending {
			all = append(all, candidate{a, i})
		}
	}
	slices.SortFunc(all, func(x, y candidate) int {
		return cmp.Or(
			cmp.Compare(len(y.alternative().Courses), len(x.alternative().Courses)),
			cmp.Compare(y.articulation.EffectiveFrom, x.articulation.EffectiveFrom),
			cmp.Compare(x.articulation.ID, y.articulation.ID),
			cmp.Compare(x.index, y.index))
	})
	return all
}

// refuse returns why an alternative is not used; nil for one that is.
func (q ArticulationQuery) refuse(c candidate, asked askedCodes, user map[string]string, grants map[string]bool) *NotUsed {
	a := c.articulation
	no := &NotUsed{ArticulationID: a.ID, Alternative: c.index}
	var taken []string
	for _, course := range c.alternative().Courses {
		switch code := Normalized(course.Code); {
		case !asked.has(code):
			no.Missing = append(no.Missing, course.Code)
		case user[code] != "":
			taken = append(taken, code)
		}
	}
	switch {
	case a.Status != ArticulationApproved:
		no.Reason = NotApproved
	case a.EffectiveFrom > q.AsOf:
		no.Reason = NotYetInForce
	case a.EndedBefore(q.AsOf):
		no.Reason = Ended
	case len(a.ProgramIDs) > 0 && !slices.Contains(a.ProgramIDs, q.ProgramID):
		no.Reason = OtherProgram
	case no.Missing != nil:
		no.Reason = CoursesMissing
		return no
	case grants[a.ID]:
		no.Reason = AlreadyGranted
	case taken != nil:
		no.Reason = CodesUsed
		for _, code := range asked {
			if slices.Contains(taken, code.normalized) {
				no.Used = append(no.Used, UsedCode{code.spelling, user[code.normalized]})
			}
		}
	default:
		return nil
	}
	no.Missing = nil
	return no
}

// Decided returns the id of the articulation by which a transfer course of the
// institution is worth the course today; nil for none. Only alternatives of that one
// course count, by its code or its id; of several articulations the one that is in
// effect later, then of the smaller id.
func Decided(articulations []*Articulation, institution string, course *TransferCourse, courseID, today string) *string {
	var best *Articulation
	for _, a := range articulations {
		if !a.InForce(today) || !a.SendingInstitution.Named(institution) || !slices.Contains(a.GrantedCourses(), courseID) || !a.takes(course) {
			continue
		}
		if best == nil || cmp.Or(cmp.Compare(best.EffectiveFrom, a.EffectiveFrom), cmp.Compare(a.ID, best.ID)) < 0 {
			best = a
		}
	}
	if best == nil {
		return nil
	}
	return &best.ID
}

// takes reports whether an alternative is the transfer course alone.
func (a *Articulation) takes(course *TransferCourse) bool {
	return slices.ContainsFunc(a.Sending, func(alternative Alternative) bool {
		if len(alternative.Courses) != 1 {
			return false
		}
		sent := alternative.Courses[0]
		return sent.TransferCourseID != nil && *sent.TransferCourseID == course.ID ||
			course.Code != nil && Normalized(sent.Code) == Normalized(*course.Code)
	})
}
