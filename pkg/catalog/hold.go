package catalog

import (
	"maps"
	"slices"
	"strings"
)

// MaxHolders is how many holds a course takes: with that many of 57 bytes, a course
// whose sections and texts are as long as they may be still fits a row of 400 KB.
const MaxHolders = 900

// Holder is a program or a credential: a record that contains members, which are courses
// or sections of courses.
type Holder interface {
	Record
	// Members returns the id of the course of each member, by the name under which the
	// course knows that it is held ("holder/member", see Holding).
	Members() map[string]string
}

// Members implements Holder.
func (p *Program) Members() map[string]string {
	members := make(map[string]string, len(p.CourseOrder))
	for _, id := range p.CourseOrder {
		members[p.ID+"/"+id] = id
	}
	return members
}

// Members implements Holder.
func (c *Credential) Members() map[string]string {
	members := make(map[string]string, len(c.Sections))
	for _, s := range c.Sections {
		members[c.ID+"/"+s.SectionID] = s.CourseID
	}
	return members
}

// Holders lists the ids of the programs and credentials that may contain the course; of
// those that may contain one section of it, where sectionID is not empty.
func (c *Course) Holders(sectionID string) []string {
	var ids []string
	for _, name := range c.HeldBy {
		id, member, _ := strings.Cut(name, "/")
		if (sectionID == "" || member == sectionID) && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// CheckNotHeld refuses what would take the course away from a holder that contains it; or
// one section of it, where sectionID is not empty.
func (c *Course) CheckNotHeld(h Holder, sectionID string) error {
	for name, courseID := range h.Members() {
		if _, member, _ := strings.Cut(name, "/"); courseID == c.ID && (sectionID == "" || member == sectionID) {
			return Errorf(Conflict, "%s %s holds it: take it out there first.", KindOf(h), h.Base().ID)
		}
	}
	return nil
}

// Hold brings the courses' holds in line with the members of a holder; before are those
// that it had when it was loaded, courses all those that come or go. A course that takes
// no more holders is a conflict. Who comes always takes the course, also where a hold of
// the same name is recorded: that one may be what a change that broke off has left, and a
// deletion that found it to be nobody's is refused only by a new one. Who stays is protected by the record.
// Courses that are not among courses have gone.
func (ch *Change) Hold(h Holder, before map[string]string, courses map[string]*Course) error {
	id, now := h.Base().ID, h.Members()
	if h.Base().DeletedAt != nil {
		now = nil
	}
	for _, holder := range slices.Sorted(maps.Keys(now)) {
		c := courses[now[holder]]
		if c == nil {
			continue
		}
		recorded := slices.Contains(c.HeldBy, holder)
		if _, stays := before[holder]; stays && recorded {
			continue
		}
		if !recorded && len(c.HeldBy)+len(ch.holding(c).Holders) >= MaxHolders {
			return Errorf(Conflict, "Course %s is in %d programs and credentials already, which is the most: take it out of one first.", c.ID, MaxHolders)
		}
		ch.HoldAs(c, holder)
	}
	for _, course := range slices.Sorted(maps.Keys(courses)) {
		c := courses[course]
		for _, holder := range c.HeldBy {
			if _, stays := now[holder]; !stays && strings.HasPrefix(holder, id+"/") {
				holding := ch.holding(c)
				holding.Released = append(holding.Released, holder)
			}
		}
	}
	return nil
}

// holding returns what the change does to the holders of a course.
func (ch *Change) holding(course *Course) *Holding {
	return effect(ch, func(h *Holding) bool { return h.Record == course }, func() *Holding { return &Holding{about: about[*Course]{course}} })
}

// HoldAs marks the course as held under a name, without the record that holds it.
func (ch *Change) HoldAs(course *Course, name string) {
	holding := ch.holding(course)
	holding.Holders = append(holding.Holders, name)
}
