package main

import (
	"fmt"
	"math/rand/v2"
	"time"

	"skillscurriculum/pkg/api"
)

// fault is one thing that goes wrong: from an instant on, for a while.
type fault struct {
	at, lasts time.Duration // lasts is 0 for what happens at one instant
	what      kind
	function  string // that is killed
	pick      uint64 // which of its processes
}

func (f fault) String() string {
	text := string(f.what)
	if f.function != "" {
		text += " " + f.function
	}
	if f.lasts > 0 {
		text += fmt.Sprintf(" for %.1fs", f.lasts.Seconds())
	}
	return text
}

// kind is a kind of fault.
type kind string

// The kinds. Those of the wire hit some of the calls that pass a proxy.
const (
	killFunction  kind = "kill function"
	stopTable     kind = "stop DynamoDB"
	freezeTable   kind = "freeze DynamoDB"
	stopQueue     kind = "stop queue"
	slowTable     kind = "DynamoDB slow"
	throttleTable kind = "DynamoDB throttles"
	conflictTable kind = "DynamoDB conflicts"
	breakTable    kind = "DynamoDB returns 500"
	dropTable     kind = "DynamoDB responses lost"
	cutTable      kind = "DynamoDB calls lost"
	lagTable      kind = "DynamoDB reads lag"
	slowQueue     kind = "queue slow"
	breakQueue    kind = "queue returns 500"
	dropQueue     kind = "queue responses lost"
	cutQueue      kind = "queue calls lost"
	doubleQueue   kind = "messages doubled"
	shuffleQueue  kind = "messages out of order"
	stopFiles     kind = "stop object storage"
	slowFiles     kind = "object storage slow"
	breakFiles    kind = "object storage returns 500"
	dropFiles     kind = "object storage responses lost"
	cutFiles      kind = "object storage calls lost"
)

// everything holds how often each kind comes up before all of them come again.
var everything = []kind{
	killFunction, killFunction, killFunction, killFunction, killFunction, stopTable, freezeTable, stopQueue, slowTable, throttleTable,
	conflictTable, conflictTable, breakTable, dropTable, dropTable, cutTable, lagTable, slowQueue, breakQueue, dropQueue, cutQueue,
	doubleQueue, doubleQueue, shuffleQueue, stopFiles, slowFiles, breakFiles, dropFiles, cutFiles,
}

// schedule lays out the faults of a run of that length.
func schedule(random *rand.Rand, deck []kind, length time.Duration) []fault {
	functions := []string{api.Extractor, api.Extractor, api.Extractor, api.Sweeper} // the pipeline is what a kill hurts most
	for _, g := range api.Groups() {
		functions = append(functions, string(g))
	}
	between := func(low, high time.Duration) time.Duration {
		return low + time.Duration(random.Int64N(int64(high-low)))
	}
	var faults []fault
	var cards []kind
	for at := between(time.Second, 2*time.Second); at < length; at += between(time.Second, 4*time.Second) {
		if len(cards) == 0 {
			cards = append(cards, deck...)
			random.Shuffle(len(cards), func(i, j int) { cards[i], cards[j] = cards[j], cards[i] })
		}
		f := fault{at: at, what: cards[0], pick: random.Uint64()}
		cards = cards[1:]
		lasts := between(2*time.Second, 7*time.Second)
		switch f.what {
		case killFunction:
			f.function = functions[f.pick%uint64(len(functions))]
		case stopTable, freezeTable, stopQueue, stopFiles:
			f.lasts = min(lasts/2, length-at)
		default:
			f.lasts = min(lasts, length-at)
		}
		faults = append(faults, f)
	}
	return faults
}
