package catalog

import (
	"maps"
	"slices"
	"strings"
)

// ApprovedKey is a key for looking up approved articulations: an institution (name or code) and a code, or all codes of
// an alternative (see Alternative.Key), all Normalized. Without an institution, Codes is the id of a transfer course.
type ApprovedKey struct{ Institution, Codes string }

// Approved lists the sequence numbers of the articulations under a key. It has all approved ones and may have others:
// the records decide.
type Approved struct {
	Key ApprovedKey
	// Periods are those of articulations with an alternative of exactly the key's codes, "" for the others. A period
	// may end later than its articulation, never sooner.
	Periods map[int]string
	// Version grows whenever an articulation with an alternative of exactly the key's codes is approved or its end
	// changes.
	Version int
	// Parts is the number of rows that hold the entries besides the first one, Filled the number of entries in the last.
	Parts, Filled int
	// Entered are the periods that a change sets if Version has not changed.
	Entered map[int]string
}

// LookupKeys returns the distinct keys of codes at an institution, in the order of the codes.
func LookupKeys(institution string, codes []string) []ApprovedKey {
	var keys []ApprovedKey
	for _, code := range codes {
		key := ApprovedKey{Normalized(institution), Normalized(code)}
		if key.Institution != "" && key.Codes != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// TransferCourseKey is the key under which articulations name a transfer course.
func TransferCourseKey(id string) ApprovedKey { return ApprovedKey{Codes: id} }

// ExactKeys returns the keys of the articulation's alternatives. An approval and a change of its end read these keys
// and enter it there.
func (a *Articulation) ExactKeys() []ApprovedKey {
	var keys []ApprovedKey
	for _, institution := range a.SendingInstitution.keys() {
		for _, alternative := range a.Sending {
			keys = append(keys, ApprovedKey{institution, alternative.Key()})
		}
	}
	return keys
}

// PartKeys returns the other keys of the articulation.
func (a *Articulation) PartKeys() []ApprovedKey {
	exact := a.ExactKeys()
	var keys []ApprovedKey
	add := func(key ApprovedKey) {
		if !slices.Contains(exact, key) && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	for _, alternative := range a.Sending {
		for _, course := range alternative.Courses {
			for _, institution := range a.SendingInstitution.keys() {
				add(ApprovedKey{institution, Normalized(course.Code)})
			}
			if course.TransferCourseID != nil {
				add(TransferCourseKey(*course.TransferCourseID))
			}
		}
	}
	return keys
}

// AddEntries adds an articulation with a new period to the rows of the keys of its alternatives.
func (c *Change) AddEntries(a *Articulation, under []*Approved) {
	for _, row := range under {
		// Another articulation of the change may have the same key.
		effect(c, func(other *Entry) bool { return other.Key == row.Key }, func() *Entry {
			return &Entry{about[*Articulation]{a}, row}
		}).enter(a)
	}
}

func (row *Approved) enter(a *Articulation) {
	if row.Entered == nil {
		row.Entered = map[int]string{}
	}
	row.Entered[a.Number()] = a.Period()
}

// AddHints adds an approved articulation to the rows of its other keys.
func (c *Change) AddHints(a *Articulation, under []*Approved) {
	for _, row := range under {
		c.With(&Hint{about[*Articulation]{a}, row})
	}
}

// ShortenEntries shortens an articulation's period in the entries that have been loaded.
func (c *Change) ShortenEntries(a *Articulation) {
	for _, row := range EffectsOf[*Entry](c) {
		if row.Periods[a.Number()] != "" {
			row.enter(a)
		}
	}
}

// Period returns the days on which the articulation is in effect, from and to, as
// "2026-08-01/2027-05-31", without an end as "2026-08-01/".
func (a *Articulation) Period() string {
	return a.EffectiveFrom + "/" + ValueOr(a.EffectiveTo, "")
}

// Number returns the articulation's sequence number.
func (a *Articulation) Number() int {
	seq, _ := Sequence(ArticulationKind, a.ID)
	return seq
}

// NumbersOf returns the distinct sequence numbers under some keys, sorted.
func NumbersOf(under []*Approved) []int {
	numbers := map[int]bool{}
	for _, row := range under {
		for seq := range row.Periods {
			numbers[seq] = true
		}
	}
	return slices.Sorted(maps.Keys(numbers))
}

// Overlapping returns the sequence numbers of other articulations under the keys that may be approved for the same
// codes at the same time. It ignores the articulation with the id except.
func (a *Articulation) Overlapping(under []*Approved, except *string) []int {
	own := []int{a.Number()}
	if except != nil {
		if seq, ok := Sequence(ArticulationKind, *except); ok {
			own = append(own, seq)
		}
	}
	var found []int
	for _, row := range under {
		for seq, period := range row.Periods {
			from, to, ok := strings.Cut(period, "/")
			if !ok || slices.Contains(own, seq) || slices.Contains(found, seq) {
				continue
			}
			if !a.EndedBefore(from) && (to == "" || to >= a.EffectiveFrom) {
				found = append(found, seq)
			}
		}
	}
	slices.Sort(found)
	return found
}

// GrantCourses records that an approved articulation grants the courses. All of them must be live when the change is
// saved; the error is a Conflict.
func (c *Change) GrantCourses(a *Articulation, live map[string]*Course) error {
	for _, id := range a.GrantedCourses() {
		course := live[id]
		if course == nil {
			return Errorf(Conflict, "Course %s, which the articulation grants, is deleted.", id)
		}
		effect(c, func(g *CourseGrant) bool { return g.Record.ID == id },
			func() *CourseGrant { return &CourseGrant{about[*Course]{course}} })
	}
	return nil
}
