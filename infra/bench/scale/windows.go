package main

import (
	"fmt"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/quota"
)

// Peak is the most and the mean calls per second of customers who always want more
// than they may: each calls at a rate until its window is full and goes on at the
// second at which it ends. Staggered windows are package quota's; aligned ones all
// start together.
func Peak(customers, rate int, staggered bool) (most, mean int) {
	limit := quota.DefaultLimit
	used := make([]int, customers)
	windows := make([]int64, customers)
	total := 0
	const seconds, begun = 600, 60 // every window has begun by then
	for second := range int64(seconds) {
		calls := 0
		for i := range customers {
			id := catalog.CustomerID("cus_")
			if staggered {
				id = catalog.CustomerID(fmt.Sprintf("cus_%06d", i))
			}
			w := limit.At(id, catalog.Time((1_795_000_000+second)*1000))
			if w.Start != windows[i] {
				windows[i], used[i] = w.Start, 0
			}
			n := min(rate, limit.Units-used[i])
			used[i] += n
			calls += n
		}
		if second >= begun {
			total += calls
			most = max(most, calls)
		}
	}
	return most, total / (seconds - begun)
}
