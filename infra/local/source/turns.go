package source

import (
	"cmp"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// turns holds the messages that wait for delivery, by group. The next message comes from
// the owner with the fewest running deliveries, then from the group with the fewest, then
// from the group that has waited longest for a turn. No group and no owner runs more than
// its share, so that there is always room for another, and recently slow groups together
// run no more than slowShare.
type turns struct {
	share      int               // of a group
	ownerShare int               // of all groups of an owner
	slowShare  int               // 0 means that no group counts as slow
	groups     map[string]*group // with messages waiting or running, or recently slow
	waiting    int
	turn       int
	now        func() time.Time
}

// slowness is how long a group counts as slow after a slow delivery.
const slowness = time.Minute

type group struct {
	owner   string
	waiting []types.Message
	running int
	last    int       // turn
	slow    time.Time // end of its slowness
}

func (g *group) idle() bool { return g.running == 0 && len(g.waiting) == 0 }

func (t *turns) add(owner, name string, m types.Message) {
	g := t.groups[name]
	if g == nil {
		g = &group{owner: owner}
		t.groups[name] = g
	}
	g.waiting = append(g.waiting, m)
	t.waiting++
}

// next removes and returns the next message; false if none may be delivered now.
func (t *turns) next() (m types.Message, name string, ok bool) {
	var first *group
	now, slow, owners := t.now(), 0, map[string]int{}
	for n, g := range t.groups {
		owners[g.owner] += g.running
		switch {
		case now.Before(g.slow):
			slow += g.running
		case g.idle():
			delete(t.groups, n)
		}
	}
	for n, g := range t.groups {
		full := g.running >= t.share || owners[g.owner] >= t.ownerShare
		if len(g.waiting) == 0 || full || now.Before(g.slow) && slow >= t.slowShare {
			continue
		}
		if first == nil || cmp.Or(owners[g.owner]-owners[first.owner], g.running-first.running, g.last-first.last) < 0 {
			first, name = g, n
		}
	}
	if first == nil {
		return m, "", false
	}
	m, first.waiting = first.waiting[0], first.waiting[1:]
	t.waiting--
	t.turn++
	first.running, first.last = first.running+1, t.turn
	return m, name, true
}

// done ends a delivery of a group.
func (t *turns) done(name string, slow bool) {
	g := t.groups[name]
	g.running--
	if slow && t.slowShare > 0 {
		g.slow = t.now().Add(slowness)
	}
	if g.idle() && g.slow.IsZero() {
		delete(t.groups, name)
	}
}
