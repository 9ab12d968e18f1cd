package source

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// turns are the messages that wait to be delivered, by group. The next one is of the
// group that has the fewest delivered and not done, and of equals of the one whose
// last turn is the longest ago. No group has more than its share delivered and not
// done, so that there is always room for another, and the groups that were slow lately
// have no more than slowShare together.
type turns struct {
	share     int
	slowShare int               // 0: no group is slow
	groups    map[string]*group // that have messages waiting or running, or were slow lately
	waiting   int
	turn      int
	now       func() time.Time
}

// slowness is how long a group is slow after its last slow delivery.
const slowness = time.Minute

type group struct {
	waiting []types.Message
	running int
	last    int       // turn
	slow    time.Time // until when
}

func (g *group) idle() bool { return g.running == 0 && len(g.waiting) == 0 }

func (t *turns) add(name string, m types.Message) {
	g := t.groups[name]
	if g == nil {
		g = &group{}
		t.groups[name] = g
	}
	g.waiting = append(g.waiting, m)
	t.waiting++
}

// next takes the message whose turn it is; false while there is none.
func (t *turns) next() (m types.Message, name string, ok bool) {
	var first *group
	now, slow := t.now(), 0
	for n, g := range t.groups {
		switch {
		case now.Before(g.slow):
			slow += g.running
		case !now.Before(g.slow) && g.idle():
			delete(t.groups, n)
		}
	}
	for n, g := range t.groups {
		if len(g.waiting) == 0 || g.running >= t.share || now.Before(g.slow) && slow >= t.slowShare {
			continue
		}
		if first == nil || g.running < first.running || g.running == first.running && g.last < first.last {
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

// done ends a turn of a group; slow says that it took long.
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
