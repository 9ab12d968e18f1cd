package source

import "github.com/aws/aws-sdk-go-v2/service/sqs/types"

// turns are the messages that wait to be delivered, by group. The next one is of the
// group that has the fewest delivered and not done, and of equals of the one whose
// last turn is the longest ago. No group has more than its share delivered and not
// done, so that there is always room for another.
type turns struct {
	share   int
	groups  map[string]*group // that have messages waiting or running
	waiting int
	turn    int
}

type group struct {
	waiting []types.Message
	running int
	last    int // turn
}

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
	for n, g := range t.groups {
		if len(g.waiting) == 0 || g.running >= t.share {
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

func (t *turns) done(name string) {
	g := t.groups[name]
	if g.running--; g.running == 0 && len(g.waiting) == 0 {
		delete(t.groups, name)
	}
}
