package alignment

import (
	"cmp"
	"math"
	"slices"
)

// puzzle is the credential builder's problem in integers: choose options, at most one of each
// course and between least and most of them, that minimize the sum of their prices minus the
// sum over all skills of the best value among the chosen options.
type puzzle struct {
	skills  int
	courses int
	least   int
	most    int
	nuance  int64    // differences of cost up to this are ignored
	effort  int      // the work after which the search ends
	options []option // grouped by course
}

type option struct {
	course int
	rank   int // position in the order that breaks ties
	price  int64
	parts  []part
}

// part is an option's value for one skill.
type part struct {
	skill int
	value int64
}

func (p *puzzle) add(parts []part, price int64, newCourse bool) {
	if newCourse {
		p.courses++
	}
	p.options = append(p.options, option{course: p.courses - 1, price: price, parts: parts})
}

func (p *puzzle) rankBy(order func(a, b int) int) {
	all := make([]int, len(p.options))
	for i := range all {
		all[i] = i
	}
	slices.SortFunc(all, order)
	for rank, o := range all {
		p.options[o].rank = rank
	}
}

// solution is a choice, its cost, and a lower bound of the cost of any choice.
type solution struct {
	chosen []int
	cost   int64
	bound  int64
}

const (
	// workLimit is the effort for a request. Work counts visited parts, not time, so the
	// search ends at the same point on any machine.
	workLimit = 100_000_000
	overhead  = 4 // of visiting an option, in parts

	rootRounds = 400
	nodeRounds = 30
	patience   = 8 // rounds without progress before steps are halved
	tryEvery   = 10
	tryShare   = 2 // tries may use 1/tryShare of all work

	never = math.MaxInt64 / 4
)

// search is branch and bound over a Lagrangian relaxation: instead of only the best value for a skill, every chosen
// option counts its value above the skill's toll, and all tolls are paid once. For any tolls this is at most the
// puzzle's cost, so it is a lower bound; good tolls make it tight.
type search struct {
	puzzle
	best    solution
	work    int
	tried   int     // the part of work spent in tries
	reduced []int64 // by option: its price minus its values above the tolls
}

// node is a subtree of the search: options that are in, options that are free (of courses
// without an option in), all others out. No choice in it costs less than bound.
type node struct {
	in, free []int
	tolls    []int64
	bound    int64
}

// solve finds a choice that is optimal up to the nuance, or a good one with a lower bound. The
// puzzle must have at least as many courses as its least.
func (p puzzle) solve() solution {
	s := &search{puzzle: p, reduced: make([]int64, len(p.options))}
	s.best.cost = never
	s.try(nil)

	root := node{free: make([]int, len(p.options)), tolls: make([]int64, p.skills), bound: -never}
	for i := range root.free {
		root.free[i] = i
	}
	tops, _ := s.tops(s.best.chosen)
	for i, top := range tops {
		root.tolls[i] = top.first / 2
	}
	bound := s.explore(root, rootRounds)
	s.settle()
	s.best.bound = min(bound, s.best.cost)
	return s.best
}

// beaten reports whether no choice with this bound can improve on the best one.
func (s *search) beaten(bound int64) bool { return bound >= s.best.cost-s.nuance }

// explore returns a lower bound for the node: never if no choice in it beats the best one found so far.
func (s *search) explore(n node, rounds int) int64 {
	if len(n.in) == s.most || len(n.free) == 0 {
		if len(n.in) >= s.least {
			s.try(n.in)
		}
		return never
	}
	if len(n.in)+s.coursesOf(n.free) < s.least {
		return never
	}
	bound, picked := s.tighten(&n, rounds)
	if s.beaten(n.bound) {
		return never
	}
	if s.work > s.effort {
		return n.bound
	}
	before := len(n.in) + len(n.free)
	n = s.decide(n, bound, picked)
	if len(n.in)+len(n.free) < before/2 || len(n.in) == s.most || len(n.free) == 0 {
		return s.explore(n, rounds)
	}

	// Branch on the most promising option: it decides most.
	next := slices.MinFunc(n.free, func(a, b int) int { return cmp.Compare(s.reduced[a], s.reduced[b]) })
	with := s.explore(s.include(n, next), nodeRounds)
	without := n
	without.free = filter(n.free, func(o int) bool { return o != next })
	return min(with, s.explore(without, nodeRounds))
}

// include puts an option in, and the other options of its course out.
func (s *search) include(n node, o int) node {
	n.in = append(slices.Clip(n.in), o)
	n.free = filter(n.free, func(other int) bool { return s.options[other].course != s.options[o].course })
	return n
}

// relax returns the bound of a node's tolls, and the free options that attain it.
func (s *search) relax(n node) (bound int64, picked []int) {
	for _, t := range n.tolls {
		bound -= t
	}
	for _, o := range n.in {
		bound += s.reduce(o, n.tolls)
	}
	// Only the best option of each course counts.
	course := -1
	for _, o := range n.free {
		r := s.reduce(o, n.tolls)
		switch {
		case s.options[o].course != course:
			course = s.options[o].course
			picked = append(picked, o)
		case r < s.reduced[picked[len(picked)-1]]:
			picked[len(picked)-1] = o
		}
	}
	need, room := max(s.least-len(n.in), 0), s.most-len(n.in)
	gainful := 0
	for _, o := range picked {
		if s.reduced[o] < 0 {
			gainful++
		}
	}
	if gainful < need || gainful > room {
		slices.SortFunc(picked, func(a, b int) int {
			return cmp.Or(cmp.Compare(s.reduced[a], s.reduced[b]), cmp.Compare(a, b))
		})
		picked = picked[:max(need, min(gainful, room))]
	} else {
		picked = filter(picked, func(o int) bool { return s.reduced[o] < 0 })
	}
	for _, o := range picked {
		bound += s.reduced[o]
	}
	return bound, picked
}

// reduce stores and returns an option's reduced price.
func (s *search) reduce(o int, tolls []int64) int64 {
	r := s.options[o].price
	for _, p := range s.options[o].parts {
		if over := p.value - tolls[p.skill]; over > 0 {
			r -= over
		}
	}
	s.work += overhead + len(s.options[o].parts)
	s.reduced[o] = r
	return r
}

// tighten raises a node's bound by subgradient steps on its tolls, and leaves s.reduced at
// the best tolls. It returns their bound and picked options.
func (s *search) tighten(n *node, rounds int) (int64, []int) {
	best, tolls, stalled, halved := int64(math.MinInt64), n.tolls, 0, 0
	count := make([]int64, s.skills)
	for round := range rounds {
		bound, picked := s.relax(node{in: n.in, free: n.free, tolls: tolls})
		if bound > best {
			best, n.tolls, stalled = bound, tolls, 0
		} else if stalled++; stalled == patience {
			halved, stalled = halved+1, 0
			tolls = n.tolls
			continue
		}
		n.bound = max(n.bound, bound)
		choice := append(slices.Clip(n.in), picked...)
		if s.cost(choice) < s.best.cost || round%tryEvery == 0 && s.tried < s.work/tryShare {
			s.try(choice)
		}
		if s.beaten(n.bound) || s.work > s.effort {
			break
		}

		// A skill counted by several options needs a higher toll, one counted by none a lower.
		for i := range count {
			count[i] = -1
		}
		for _, o := range choice {
			for _, p := range s.options[o].parts {
				if p.value > tolls[p.skill] {
					count[p.skill]++
				}
			}
		}
		var norm int64
		for i, c := range count {
			if c > 0 || tolls[i] > 0 {
				norm += c * c
			}
		}
		if norm == 0 {
			break
		}
		move := (s.best.cost - bound) / norm >> halved
		if move == 0 {
			break
		}
		next := make([]int64, s.skills)
		for i, c := range count {
			next[i] = max(0, tolls[i]+c*move)
		}
		tolls = next
	}
	return s.relax(*n)
}

// decide fixes the free options whose opposite cannot beat the best choice, given the result of relax for the node.
func (s *search) decide(n node, bound int64, picked []int) node {
	s.work += overhead * len(n.free)
	need, room := max(s.least-len(n.in), 0), s.most-len(n.in)
	pickedOf, mate := make([]int, s.courses), make([]int64, s.courses)
	for c := range pickedOf {
		pickedOf[c], mate[c] = -1, never
	}
	worst := int64(math.MinInt64)
	for _, o := range picked {
		pickedOf[s.options[o].course] = o
		worst = max(worst, s.reduced[o])
	}

	// The reduced price of the option that a new one must displace.
	pushed := int64(0)
	switch {
	case len(picked) == room:
		pushed = worst
	case len(picked) == need && need > 0:
		pushed = max(worst, 0)
	}
	// The best replacement for a removed option: another of its course, or of a course not picked.
	spare := int64(never)
	for _, o := range n.free {
		switch course := s.options[o].course; pickedOf[course] {
		case o:
		case -1:
			spare = min(spare, s.reduced[o])
		default:
			mate[course] = min(mate[course], s.reduced[o])
		}
	}

	var sure []int
	free := n.free
	n.free = nil
	for _, o := range free {
		course := s.options[o].course
		if pickedOf[course] == o {
			instead := min(spare, mate[course])
			if len(picked) > need {
				instead = min(instead, 0)
			}
			if s.beaten(bound - s.reduced[o] + instead) {
				sure = append(sure, o)
			}
			n.free = append(n.free, o)
			continue
		}
		with := bound + s.reduced[o] - pushed
		if rival := pickedOf[course]; rival >= 0 {
			with = bound + s.reduced[o] - s.reduced[rival]
		}
		if !s.beaten(with) {
			n.free = append(n.free, o)
		}
	}
	for _, o := range sure {
		n = s.include(n, o)
	}
	return n
}

// coursesOf counts the courses of options that are grouped by course.
func (s *search) coursesOf(options []int) int {
	n, course := 0, -1
	for _, o := range options {
		if s.options[o].course != course {
			n, course = n+1, s.options[o].course
		}
	}
	return n
}
