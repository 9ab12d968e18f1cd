package alignment

import "slices"

// top is the best value of a choice for a skill, the option it is from, and the second best.
type top struct {
	first, second int64
	owner         int
}

// tops returns the best values of a choice for every skill, and the choice's cost.
func (s *search) tops(chosen []int) ([]top, int64) {
	tops := make([]top, s.skills)
	for i := range tops {
		tops[i].owner = none
	}
	var cost int64
	for _, o := range chosen {
		cost += s.options[o].price
		for _, p := range s.options[o].parts {
			t := &tops[p.skill]
			switch {
			case p.value > t.first:
				cost -= p.value - t.first
				t.first, t.second, t.owner = p.value, t.first, o
			case p.value > t.second:
				t.second = p.value
			}
		}
		s.work += len(s.options[o].parts)
	}
	return tops, cost
}

// cost returns the cost of a choice.
func (s *search) cost(chosen []int) int64 {
	_, cost := s.tops(chosen)
	return cost
}

// change is a step from one choice to a neighboring one: an option is removed, added, or exchanged.
type change struct {
	out, in int
	delta   int64
}

// none means no option.
const none = -1

// changes calls yield with every allowed step from a choice that removes one of outs, and its cost.
func (s *search) changes(chosen, outs []int, yield func(change)) {
	tops, _ := s.tops(chosen)
	holder := make([]int, s.courses) // by course: the chosen option
	for i := range holder {
		holder[i] = none
	}
	for _, o := range chosen {
		holder[s.options[o].course] = o
	}
	for _, out := range outs {
		var loss int64
		if out != none {
			loss = -s.options[out].price
			for _, p := range s.options[out].parts {
				if tops[p.skill].owner == out {
					loss += tops[p.skill].first - tops[p.skill].second
				}
			}
			if len(chosen) > s.least {
				yield(change{out, none, loss})
			}
		} else if len(chosen) >= s.most {
			continue
		}
		for in, o := range s.options {
			if h := holder[o.course]; h == in || h != none && h != out {
				continue
			}
			delta := loss + o.price
			for _, p := range o.parts {
				rival := tops[p.skill].first
				if out != none && tops[p.skill].owner == out {
					rival = tops[p.skill].second
				}
				if p.value > rival {
					delta -= p.value - rival
				}
			}
			s.work += overhead + len(o.parts)
			yield(change{out, in, delta})
		}
	}
}

// of returns the choice after the change.
func (c change) of(chosen []int) []int {
	next := filter(chosen, func(o int) bool { return o != c.out })
	if c.in != none {
		next = append(next, c.in)
	}
	return next
}

// try improves a choice step by step and keeps it if it is the best so far.
func (s *search) try(chosen []int) {
	before := s.work
	for {
		step, ok := s.step(chosen)
		if !ok {
			break
		}
		chosen = step.of(chosen)
	}
	if cost := s.cost(chosen); cost < s.best.cost {
		s.best.chosen, s.best.cost = slices.Clone(chosen), cost
	}
	s.tried += s.work - before
}

// step returns the change that saves most: the best addition, or if no addition saves anything the best of the others,
// which are far more numerous. A choice that is too short gets the best addition whatever its cost.
func (s *search) step(chosen []int) (best change, ok bool) {
	short := len(chosen) < s.least
	if short {
		best.delta = never
	}
	pick := func(c change) {
		if c.delta < best.delta {
			best, ok = c, true
		}
	}
	s.changes(chosen, []int{none}, pick)
	if !ok {
		s.changes(chosen, chosen, pick)
	}
	return best, ok
}

// settle breaks ties: it removes options as long as that costs nothing, last in rank first,
// then exchanges options for ones of lower rank as long as that costs nothing.
func (s *search) settle() {
	for {
		var best *change
		s.changes(s.best.chosen, s.best.chosen, func(c change) {
			if c.delta > 0 || c.in != none && s.options[c.in].rank > s.options[c.out].rank {
				return
			}
			if best == nil || s.settles(c, *best) {
				best = &c
			}
		})
		if best == nil {
			return
		}
		s.best.chosen = best.of(s.best.chosen)
		s.best.cost += best.delta
	}
}

// settles reports whether a change precedes another: removals before exchanges, then by the
// removed option, last in rank first, then by the added option, first in rank first.
func (s *search) settles(a, b change) bool {
	if (a.in == none) != (b.in == none) {
		return a.in == none
	}
	if a.out != b.out {
		return s.options[a.out].rank > s.options[b.out].rank
	}
	return a.in != none && s.options[a.in].rank < s.options[b.in].rank
}
