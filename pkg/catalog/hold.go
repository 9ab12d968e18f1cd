package catalog

import (
	"maps"
	"slices"
	"strings"
)

// MaxHolders is the maximum number of holders of a course. With that many names of 57 bytes, a course with the
// longest sections and texts still fits a row of 400 KB.
const MaxHolders = 900

// Holder is a program or a credential: a record that contains members, which are courses or sections of courses.
type Holder interface {
	Record
	// Members returns the id of each member's course, by the name of the hold ("holder/member", see Holding).
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

// Holders returns the ids of the programs and credentials that may contain the course, or, if sectionID is not empty,
// that section of it.
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

// CheckNotHeld returns a Conflict if a holder contains the course, or, if sectionID is not empty, that section of it.
func (c *Course) CheckNotHeld(h Holder, sectionID string) error {
	for name, courseID := range h.Members() {
		if _, member, _ := strings.Cut(name, "/"); courseID == c.ID && (sectionID == "" || member == sectionID) {
			return Errorf(Conflict, "%s %s holds it: take it out there first.", KindOf(h), h.Base().ID)
		}
	}
	return nil
}

// Hold updates the courses' holds to match the members of a holder. before has the members when the holder was
// loaded, courses all courses that were added or removed; others are deleted. A course with too many holders is a
// Conflict. An added member always takes a hold, even if one of the same name is recorded: that hold may be left over
// from an interrupted change, and only a new one refuses a deletion that has found it unused. Members that stay are
// protected by the record.
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
			return Errorf(Conflict, "Course %s is in %d programs and credentials already, which is the most: take it out of "+
				"one first.", c.ID, MaxHolders)
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

// holding returns the change's effect on the holders of a course.
func (ch *Change) holding(course *Course) *Holding {
	return effect(ch, func(h *Holding) bool { return h.Record == course },
		func() *Holding { return &Holding{about: about[*Course]{course}} })
}

// HoldAs adds a hold by name, without a holder's record.
func (ch *Change) HoldAs(course *Course, name string) {
	holding := ch.holding(course)
	holding.Holders = append(holding.Holders, name)
}
