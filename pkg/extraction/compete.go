package extraction

import "math/bits"

// compete compares the mentions of one clause, strongest first. A mention's
// share is its strength relative to the strongest one that uses one of its words;
// it is beaten when a stronger one uses all of its words and more, or all of them
// better: so a parent gives way to the child that says more.
func compete(clause []mention) {
	for i := range clause {
		m := &clause[i]
		m.share = 1
		for j := range clause[:i] {
			o := &clause[j]
			if m.tokens&o.tokens == 0 {
				continue
			}
			m.share = min(m.share, m.strength/o.strength)
			if m.tokens&^o.tokens == 0 && bits.OnesCount64(o.tokens) > bits.OnesCount64(m.tokens) {
				m.beaten = true
				// A subject, or a label of a built-in skill, is not a longer name.
				longer := named(o.kind) || o.kind == synonym || o.kind == object
				m.within = m.within || o.exact && (longer || !m.exact)
			}
		}
	}
}
