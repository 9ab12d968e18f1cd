package catalog

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// ArticulationQuery is a query for the grants for courses of an institution.
type ArticulationQuery struct {
	Institution string   // its name or code
	Codes       []string // of the courses; one that stands twice is one
	AsOf        string   // date
	ProgramID   string   // "" asks for what is for all programs
}

// MaxLookupCodes is the maximum number of codes in a query. It cannot exceed 64, because sets of codes are the bits
// of a word.
const MaxLookupCodes = 50

// ParseCodes parses a comma-separated list of codes.
func ParseCodes(list string) ([]string, error) {
	var codes []string
	for code := range strings.SplitSeq(list, ",") {
		code = strings.TrimSpace(code)
		if Normalized(code) == "" {
			return nil, Errorf(InvalidParameter, "codes must be codes of courses, separated by commas.")
		}
		codes = append(codes, code)
	}
	if len(codes) > MaxLookupCodes {
		return nil, Errorf(InvalidParameter, "codes must be at most %d.", MaxLookupCodes)
	}
	return codes, nil
}

// Granted is an articulation's grant for some of the codes.
type Granted struct {
	ArticulationID string   `json:"articulationId"`
	Alternative    int      `json:"alternative" minimum:"0" doc:"Index of the alternative that the codes meet"`
	Codes          []string `json:"codes" doc:"Codes that are used, as spelled in the request and in its order"`
	Receiving      []Grant  `json:"receiving" doc:"What is granted, all of it"`
	Decision       Decision `json:"decision" enum:"EQUIVALENT,PARTIAL,ELECTIVE,REQUIREMENT,NO_CREDIT" doc:"What was decided"`
	PublicNote     *string  `json:"publicNote" doc:"The note for students"`
}

// UncoveredCode explains why nothing is granted for a code: it lists every alternative that has the code.
type UncoveredCode struct {
	Code       string                  `json:"code" doc:"The code as it was asked for"`
	Considered []ConsideredAlternative `json:"considered" doc:"Alternatives with the code, in order of precedence; empty if the institution has none"`
}

// ConsideredAlternative is an alternative that was not used, with the first reason that applies.
type ConsideredAlternative struct {
	ArticulationID string        `json:"articulationId"`
	Alternative    int           `json:"alternative" minimum:"0" doc:"Index of the alternative"`
	Reason         NotUsedReason `json:"reason" enum:"NOT_APPROVED,NOT_YET_IN_FORCE,ENDED,OTHER_PROGRAM,COURSES_MISSING,ALREADY_GRANTED,CODES_USED" doc:"Why it was not used, the first that applies"`
	Missing        []string      `json:"missing,omitempty" doc:"With COURSES_MISSING: the codes of the alternative that the request lacks"`
	Used           []CodeInUse   `json:"used,omitempty" doc:"With CODES_USED: the codes of the alternative that were used before"`
}

// CodeInUse is a code with the articulation that uses it.
type CodeInUse struct {
	Code           string `json:"code" doc:"The code as it was asked for"`
	ArticulationID string `json:"articulationId"`
}

// NotUsedReason is the reason why an alternative was not used.
type NotUsedReason string

// The reasons, in order of precedence. OTHER_PROGRAM: the articulation is for other programs than the requested one.
// ALREADY_GRANTED: another alternative of the articulation was used.
const (
	NotApproved    NotUsedReason = "NOT_APPROVED"
	NotYetInForce  NotUsedReason = "NOT_YET_IN_FORCE"
	Ended          NotUsedReason = "ENDED"
	OtherProgram   NotUsedReason = "OTHER_PROGRAM"
	CoursesMissing NotUsedReason = "COURSES_MISSING"
	AlreadyGranted NotUsedReason = "ALREADY_GRANTED"
	CodesUsed      NotUsedReason = "CODES_USED"
)

// LookupFields are the fields of articulations that Consider, Granted.Fill and Decided need.
var LookupFields = []string{
	"id", "sendingInstitution", "sending", "receiving", "decision", "status", "effectiveFrom", "effectiveTo",
	"programIds", "publicNote",
}

// Lookup returns the grants, the codes without a grant, and the reasons. An articulation counts if it is of the
// institution, approved, in force on the day and for the program; an alternative counts if the query has all of its
// codes. Larger alternatives come first, then those of the articulation with the later effectiveFrom, then the
// smaller id, then the index. Each code is used once, and each articulation grants once. NO_CREDIT grants nothing,
// but uses its codes.
func (q ArticulationQuery) Lookup(
	articulations []*Articulation,
) (granted []Granted, uncovered []string, why []UncoveredCode) {
	decision := q.Consider(true)
	byID := map[string]*Articulation{}
	for _, a := range articulations {
		decision.Add(a)
		byID[a.ID] = a
	}
	granted, uncovered, why = decision.Decide()
	for i := range granted {
		granted[i].Fill(byID[granted[i].ArticulationID])
	}
	return granted, uncovered, why
}

// LookupDecision decides a query on articulations that are added one by one. It keeps little of each, so that there
// can be any number.
type LookupDecision struct {
	query      ArticulationQuery
	codes      askedCodes
	trace      bool
	candidates []candidate
}

// Consider begins the decision of a query. With trace, Decide explains uncovered codes.
func (q ArticulationQuery) Consider(trace bool) *LookupDecision {
	return &LookupDecision{query: q, codes: q.codes(), trace: trace}
}

// Add considers the alternatives of an articulation.
func (d *LookupDecision) Add(a *Articulation) {
	if !a.SendingInstitution.Named(d.query.Institution) {
		return
	}
	refused := d.query.refuse(a)
	for i, alternative := range a.Sending {
		c := candidate{id: a.ID, index: i, from: a.EffectiveFrom, size: len(alternative.Courses), refused: refused}
		for _, course := range alternative.Courses {
			if at := d.codes.index(Normalized(course.Code)); at >= 0 {
				c.asked |= 1 << at
			} else if refused == "" {
				c.missing = append(c.missing, course.Code)
			}
		}
		if c.missing != nil {
			c.refused = CoursesMissing
		}
		if c.refused == "" || d.trace && c.asked != 0 {
			d.candidates = append(d.candidates, c)
		}
	}
}

// refuse returns the reason why no alternative of an articulation counts; "" if they count.
func (q ArticulationQuery) refuse(a *Articulation) NotUsedReason {
	switch {
	case a.Status != ArticulationApproved:
		return NotApproved
	case a.EffectiveFrom > q.AsOf:
		return NotYetInForce
	case a.EndedBefore(q.AsOf):
		return Ended
	case len(a.ProgramIDs) > 0 && !slices.Contains(a.ProgramIDs, q.ProgramID):
		return OtherProgram
	}
	return ""
}

// Decide returns the grants, which the caller fills, the uncovered codes, and the reasons.
func (d *LookupDecision) Decide() (granted []Granted, uncovered []string, why []UncoveredCode) {
	slices.SortFunc(d.candidates, candidate.compare)
	users := make([]string, len(d.codes)) // the id of the articulation that uses each code
	var used uint64
	grants := map[string]bool{}
	notUsed := make([][]ConsideredAlternative, len(d.codes))
	granted, uncovered, why = []Granted{}, []string{}, []UncoveredCode{}
	for _, c := range d.candidates {
		no := ConsideredAlternative{ArticulationID: c.id, Alternative: c.index, Reason: c.refused, Missing: c.missing}
		switch {
		case c.refused != "":
		case grants[c.id]:
			no.Reason = AlreadyGranted
		case c.asked&used != 0:
			no.Reason = CodesUsed
			for i, code := range d.codes.of(c.asked & used) {
				no.Used = append(no.Used, CodeInUse{code, users[i]})
			}
		default:
			grants[c.id], used = true, used|c.asked
			grant := Granted{ArticulationID: c.id, Alternative: c.index, Codes: []string{}}
			for i, code := range d.codes.of(c.asked) {
				users[i], grant.Codes = c.id, append(grant.Codes, code)
			}
			granted = append(granted, grant)
			continue
		}
		for i := range d.codes.of(c.asked) {
			notUsed[i] = append(notUsed[i], no)
		}
	}
	for i, code := range d.codes.of(^used) {
		uncovered = append(uncovered, code)
		why = append(why, UncoveredCode{code, append([]ConsideredAlternative{}, notUsed[i]...)})
	}
	return granted, uncovered, why
}

// Fill adds the articulation's grants.
func (g *Granted) Fill(a *Articulation) {
	g.Receiving, g.Decision, g.PublicNote = a.Receiving, a.Decision, a.PublicNote
}

// askedCode is a code of the query.
type askedCode struct{ spelling, normalized string }

type askedCodes []askedCode

// codes returns the distinct codes in the order of the query, each in its first spelling.
func (q ArticulationQuery) codes() askedCodes {
	var codes askedCodes
	for _, spelling := range q.Codes {
		if code := Normalized(spelling); codes.index(code) < 0 {
			codes = append(codes, askedCode{spelling, code})
		}
	}
	return codes
}

// index returns the index of a code, -1 if the query lacks it.
func (codes askedCodes) index(normalized string) int {
	return slices.IndexFunc(codes, func(c askedCode) bool { return c.normalized == normalized })
}

// of yields the codes whose bits are set, as spelled in the query, with their indexes.
func (codes askedCodes) of(set uint64) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i, code := range codes {
			if set&(1<<i) != 0 && !yield(i, code.spelling) {
				return
			}
		}
	}
}

// candidate is an alternative of an articulation.
type candidate struct {
	id      string // of the articulation
	from    string // its first day
	index   int
	size    int           // of how many courses
	asked   uint64        // which of the asked codes it has: a bit each
	refused NotUsedReason // "" where it can be used
	missing []string
}

// compare orders candidates by precedence.
func (c candidate) compare(d candidate) int {
	return cmp.Or(
		cmp.Compare(d.size, c.size), cmp.Compare(d.from, c.from), cmp.Compare(c.id, d.id), cmp.Compare(c.index, d.index))
}

// Decided returns the id of the articulation that grants the course for a transfer course of the institution today;
// nil for none. Only alternatives of that single course count, by code or id. Of several articulations it returns the
// one with the later effectiveFrom, then the smaller id.
func Decided(
	articulations []*Articulation, institution string, course *TransferCourse, courseID, today string,
) *string {
	var best *Articulation
	for _, a := range articulations {
		if !a.InForce(today) || !a.SendingInstitution.Named(institution) || !slices.Contains(a.GrantedCourses(), courseID) ||
			!a.takes(course) {
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

// takes reports whether an alternative consists of the transfer course alone.
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
