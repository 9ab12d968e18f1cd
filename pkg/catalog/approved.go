package catalog

import (
	"maps"
	"slices"
	"strings"
)

// ApprovedKey is under what approved articulations are looked up: an institution (name
// or code) and a code, or all codes of an alternative as Alternative.Key has them; all
// Normalized. Without an institution Codes is the id of a transfer course.
type ApprovedKey struct{ Institution, Codes string }

// Approved names the articulations under a key, by their sequence numbers. It names all
// that are approved, and may name others: the records decide.
type Approved struct {
	Key ApprovedKey
	// Periods are those of articulations that have an alternative of exactly the key's
	// codes, and "" for the others. One may end later than its articulation does, never
	// sooner.
	Periods map[int]string
	// Version grows whenever an articulation with an alternative of exactly the key's
	// codes is approved or comes to end at another day.
	Version int
	// Parts is how many rows the entries have been divided among beside the first, and
	// Filled how many entries the last one has.
	Parts, Filled int
	// Entered are the periods that a change sets, provided that Version still stands.
	Entered map[int]string
}

// LookupKeys lists the keys of codes at an institution, each once, in the order asked.
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

// ExactKeys lists the keys of the articulation's alternatives. Whoever approves it, or
// moves its end, reads what is approved under them and enters it there.
func (a *Articulation) ExactKeys() []ApprovedKey {
	var keys []ApprovedKey
	for _, institution := range a.SendingInstitution.keys() {
		for _, alternative := range a.Sending {
			keys = append(keys, ApprovedKey{institution, alternative.Key()})
		}
	}
	return keys
}

// PartKeys lists the other keys that lead to the articulation.
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

// Enter enters an articulation, whose period is new, under the keys of its alternatives.
func (c *Change) Enter(a *Articulation, under []*Approved) {
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

// Lead enters an articulation that is approved under its other keys.
func (c *Change) Lead(a *Articulation, under []*Approved) {
	for _, row := range under {
		c.With(&Hint{about[*Articulation]{a}, row})
	}
}

// Shorten notes that an articulation ends sooner, where that is at hand.
func (c *Change) Shorten(a *Articulation) {
	for _, row := range EffectsOf[*Entry](c) {
		if row.Periods[a.Number()] != "" {
			row.enter(a)
		}
	}
}

// Period returns the days on which the articulation is in effect, from and to, as
// "2026-08-01/2027-05-31", without an end as "2026-08-01/".
func (a *Articulation) Period() string {
	period := a.EffectiveFrom + "/"
	if a.EffectiveTo != nil {
		period += *a.EffectiveTo
	}
	return period
}

// Number returns the articulation's sequence number.
func (a *Articulation) Number() int {
	seq, _ := Sequence(ArticulationKind, a.ID)
	return seq
}

// NumbersOf lists the sequence numbers that stand under some keys, each once, in order.
func NumbersOf(under []*Approved) []int {
	numbers := map[int]bool{}
	for _, row := range under {
		for seq := range row.Periods {
			numbers[seq] = true
		}
	}
	return slices.Sorted(maps.Keys(numbers))
}

// Overlapping lists the sequence numbers of other articulations under the keys that may
// be approved for the same codes at the same time; except is the id of one that does not
// count, if any.
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

// Grant notes that an articulation is approved, or goes on, which grants the courses:
// all of them must be among those that are live, and stay there. The error is a conflict.
func (c *Change) Grant(a *Articulation, live map[string]*Course) error {
	for _, id := range a.GrantedCourses() {
		course := live[id]
		if course == nil {
			return Errorf(Conflict, "Course %s, which the articulation grants, is gone.", id)
		}
		effect(c, func(g *CourseGrant) bool { return g.Record.ID == id }, func() *CourseGrant { return &CourseGrant{about[*Course]{course}} })
	}
	return nil
}
