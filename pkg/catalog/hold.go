package catalog

import (
	"maps"
	"slices"
	"strings"
)

// hold adds to the change what makes the courses' holds that begin with prefix
// equal to now.
func (ch *Change) hold(prefix string, now map[string]bool, course func(holder string) string, courses map[string]*Course) {
	wanted := map[string][]string{}
	for holder := range now {
		id := course(holder)
		wanted[id] = append(wanted[id], holder)
	}
	for _, id := range slices.Sorted(maps.Keys(courses)) {
		c := courses[id]
		for _, holder := range c.HeldBy {
			if strings.HasPrefix(holder, prefix) && !slices.Contains(wanted[id], holder) {
				ch.Released = append(ch.Released, Hold{c, holder})
			}
		}
		for _, holder := range wanted[id] {
			if !slices.Contains(c.HeldBy, holder) {
				ch.Held = append(ch.Held, Hold{c, holder})
			}
		}
	}
}
