package catalog

import (
	"maps"
	"slices"
	"strings"
)

// MaxHolders is how many holds a course takes: with that many of 57 bytes, a course
// whose sections and texts are as long as they may be still fits a row of 400 KB.
const MaxHolders = 900

// hold adds to the change what makes the courses' holds by the record id equal to
// now, from what they were before; both have the course's id by holder. Who comes
// always takes the course, also where a hold of the same name is recorded: that one
// may be what a change that broke off has left, and a deletion that found it to be
// nobody's is refused only by a new one. Who stays is protected by the record.
// Courses that are not among courses have gone.
func (ch *Change) hold(id string, before, now map[string]string, courses map[string]*Course) error {
	for _, holder := range slices.Sorted(maps.Keys(now)) {
		c := courses[now[holder]]
		if c == nil {
			continue
		}
		recorded := slices.Contains(c.HeldBy, holder)
		if _, stays := before[holder]; stays && recorded {
			continue
		}
		if !recorded && len(c.HeldBy)+ch.holdsOf(c) >= MaxHolders {
			return Errorf(Conflict, "Course %s is in %d programs and credentials already, which is the most: take it out of one first.", c.ID, MaxHolders)
		}
		ch.Held = append(ch.Held, Hold{c, holder})
	}
	for _, course := range slices.Sorted(maps.Keys(courses)) {
		c := courses[course]
		for _, holder := range c.HeldBy {
			if _, stays := now[holder]; !stays && strings.HasPrefix(holder, id+"/") {
				ch.Released = append(ch.Released, Hold{c, holder})
			}
		}
	}
	return nil
}

// holdsOf counts the holds that the change adds to a course already.
func (ch *Change) holdsOf(course *Course) (n int) {
	for _, h := range ch.Held {
		if h.Course == course {
			n++
		}
	}
	return n
}
