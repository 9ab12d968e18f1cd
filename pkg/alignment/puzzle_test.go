package alignment

import (
	"testing"

	"pgregory.net/rapid"
)

// TestSearchBounds cuts searches short anywhere: the bound must hold all the same.
func TestSearchBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := puzzle{skills: 5, effort: rapid.IntRange(0, 3000).Draw(t, "effort")}
		for range rapid.IntRange(1, 5).Draw(t, "courses") {
			for i := range rapid.IntRange(1, 3).Draw(t, "options") {
				var parts []part
				for skill := range p.skills {
					if value := rapid.Int64Range(-200, 200).Draw(t, "value"); value > 0 {
						parts = append(parts, part{skill, value})
					}
				}
				p.add(parts, rapid.Int64Range(0, 200).Draw(t, "price"), i == 0)
			}
		}
		p.rankBy(func(a, b int) int { return a - b })
		p.least = rapid.IntRange(0, p.courses).Draw(t, "least")
		p.most = max(1, p.least) + rapid.IntRange(0, 3).Draw(t, "more")

		s := &search{puzzle: p}
		best := int64(never)
		for set := range 1 << len(p.options) {
			var chosen []int
			courses := map[int]bool{}
			for o := range p.options {
				if set>>o&1 == 1 {
					chosen = append(chosen, o)
					courses[p.options[o].course] = true
				}
			}
			if len(courses) == len(chosen) && len(chosen) >= p.least && len(chosen) <= p.most {
				best = min(best, s.cost(chosen))
			}
		}
		found := p.solve()
		if found.bound > best || found.cost < best || found.cost != s.cost(found.chosen) {
			t.Fatalf("cost %d (really %d), bound %d; the best is %d", found.cost, s.cost(found.chosen), found.bound, best)
		}
		if found.bound < best-10_000 {
			t.Fatalf("bound %d says nothing of %d", found.bound, best)
		}
		p.effort = 1_000_000
		if found := p.solve(); found.cost != best || found.bound != best {
			t.Fatalf("cost %d, bound %d with all the time; the best is %d", found.cost, found.bound, best)
		}
	})
}
