package main

import (
	"container/heap"
	"math/rand/v2"
	"slices"
)

// Retries as package rest makes them, in ms.
const (
	saveAttempts = 60
	savePause    = 15.0
	saveMaxPause = 400.0
	saveTime     = 20_000.0
	refusalTime  = commitTime / 2.0 // a transaction that is refused is so after its first phase
)

// Contention is what becomes of writers that change the same list.
type Contention struct {
	Offered, Saved float64 // changes per second
	Attempts       float64 // per change that was saved
	Median, Most   float64 // ms until it was saved; Most is the 99th percentile
	GivenUp        float64 // share of all changes
}

// Contend simulates a minute of creations in one list, offered at random instants.
// Each attempt reads the directory, then commits: refused where another transaction
// holds the row at that moment, or has changed it since it was read. The list has
// that many lanes, each a directory and a change feed of its own; today one.
func Contend(lanes int, perSecond float64) Contention {
	const simulated = 60_000.0
	random := rand.New(rand.NewPCG(7, uint64(lanes)))
	var events queue
	at := func(time float64, do func(now float64)) {
		events.order++
		heap.Push(&events, event{time, events.order, do})
	}
	type lane struct {
		version int
		held    bool
	}
	rows := make([]lane, lanes)
	var took []float64
	offered, givenUp, attempts := 0, 0, 0
	var try func(row *lane, began, pause float64, left int) func(float64)
	try = func(row *lane, began, pause float64, left int) func(float64) {
		return func(now float64) {
			attempts++
			again := func(now float64) {
				if left == 1 || now-began > saveTime {
					givenUp++
					return
				}
				at(now+random.Float64()*pause, try(row, began, min(2*pause, saveMaxPause), left-1))
			}
			at(now+readTime/2, func(now float64) {
				seen := row.version
				at(now+readTime/2, func(now float64) {
					if row.held || row.version != seen {
						at(now+refusalTime, again)
						return
					}
					row.held = true
					at(now+commitTime, func(now float64) {
						row.held = false
						row.version++
						took = append(took, now-began)
					})
				})
			})
		}
	}
	for now := random.ExpFloat64() * 1000 / perSecond; now < simulated; now += random.ExpFloat64() * 1000 / perSecond {
		offered++
		at(now, try(&rows[random.IntN(lanes)], now, savePause, saveAttempts))
	}
	inTime := 0
	for len(events.list) > 0 {
		next := heap.Pop(&events).(event)
		next.do(next.time)
		if next.time < simulated {
			inTime = len(took)
		}
	}
	slices.Sort(took)
	return Contention{
		Offered: float64(offered) / simulated * 1000, Saved: float64(inTime) / simulated * 1000, Attempts: float64(attempts) / float64(len(took)),
		Median: took[len(took)/2], Most: took[len(took)*99/100], GivenUp: float64(givenUp) / float64(offered),
	}
}

// event is something that happens at an instant, in ms.
type event struct {
	time  float64
	order int
	do    func(now float64)
}

// queue holds events in the order of their instants.
type queue struct {
	list  []event
	order int
}

func (q *queue) Len() int { return len(q.list) }
func (q *queue) Less(i, j int) bool {
	a, b := q.list[i], q.list[j]
	return a.time < b.time || a.time == b.time && a.order < b.order
}
func (q *queue) Swap(i, j int) { q.list[i], q.list[j] = q.list[j], q.list[i] }
func (q *queue) Push(e any)    { q.list = append(q.list, e.(event)) }
func (q *queue) Pop() any {
	last := q.list[len(q.list)-1]
	q.list = q.list[:len(q.list)-1]
	return last
}
