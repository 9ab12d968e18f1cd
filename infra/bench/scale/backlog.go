package main

// Times of the queue's ends, in ms.
const (
	doubleTime  = 10     // a message whose extraction is done already
	resendTime  = 10     // one extraction sent again
	resendsOnce = 8      // in parallel (package queue)
	sweepTime   = 25_000 // of the sweeper, each minute
	minute      = 60_000.0
)

// Backlog is what becomes of extractions that are asked for all at once.
type Backlog struct {
	Minutes  int // until all have ended
	Messages int
	Next     float64 // minutes that one waits which is asked for when half have ended
}

// Drain simulates a queue that is first in, first out, with all extractors at work
// and the sweeper once a minute. An extraction is sent again when it has waited a
// minute, then after as long as again says, of the minutes it has waited so far.
func Drain(extractions int, again func(waited int) int) Backlog {
	type extraction struct {
		done bool
		next int // minute from which the sweeper sends it again
	}
	all := make([]extraction, extractions)
	line := make([]int, extractions)
	for i := range all {
		all[i].next, line[i] = 1, i
	}
	drained := Backlog{Messages: extractions}
	time := 0.0 // of the extractors, used up beyond the past minutes
	for left := extractions; left > 0; drained.Minutes++ {
		sweeps := sweepTime / resendTime * resendsOnce
		for i := range all {
			if e := &all[i]; !e.done && e.next <= drained.Minutes && sweeps > 0 {
				sweeps--
				e.next = drained.Minutes + again(drained.Minutes)
				line = append(line, i)
				drained.Messages++
			}
		}
		for time < ExtractorsAtOnce*minute && len(line) > 0 {
			e := &all[line[0]]
			line = line[1:]
			if e.done {
				time += doubleTime
				continue
			}
			e.done = true
			left--
			time += extractTime
		}
		time = max(0, time-ExtractorsAtOnce*minute)
		if drained.Next == 0 && left <= extractions/2 {
			doubles := len(line) - left // each that has not ended has one message that will end it
			drained.Next = float64(left*extractTime+doubles*doubleTime) / (ExtractorsAtOnce * minute)
		}
	}
	return drained
}

// EachMinute sends again what waits, each minute.
func EachMinute(int) int { return 1 }

// TwiceAsLong is what package dynamo does.
func TwiceAsLong(waited int) int { return waited }
