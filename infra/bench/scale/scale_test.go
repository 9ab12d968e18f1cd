package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/local/child"
)

// The page has the figures that the command writes.
func TestPage(t *testing.T) {
	root, err := child.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	if err != nil {
		t.Fatal(err)
	}
	want, err := render(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("%s is stale (go run ./infra/bench/scale, and read the text again): %s", page, diff)
	}
}

// A page without a table's place is no page of this command.
func TestRenderRefuses(t *testing.T) {
	if _, err := render("<!-- demand -->\n<!-- end -->"); err == nil {
		t.Error("a page with one place is rendered")
	}
}

// TestContention: what the page's text says of the ceiling.
func TestContention(t *testing.T) {
	calm, busy, over := Contend(1, 1), Contend(1, 25), Contend(1, 100)
	if calm.Attempts > 1.1 || calm.GivenUp > 0 {
		t.Errorf("a writer a second meets others: %+v", calm)
	}
	if busy.Saved < 0.95*busy.Offered || busy.GivenUp > 0 {
		t.Errorf("25 changes a second are not saved: %+v", busy)
	}
	if over.Saved > 1000/commitTime {
		t.Errorf("more changes a second than fit one after the other: %+v", over)
	}
	if over.Saved > 0.9*over.Offered {
		t.Errorf("there is no ceiling: %+v", over)
	}
	if sharded := Contend(16, 500); sharded.Saved < 0.95*sharded.Offered {
		t.Errorf("16 lanes do not take 500 changes a second: %+v", sharded)
	}
	if Contend(1, 25) != busy {
		t.Error("the simulation gives another result the second time")
	}
}

func TestPeak(t *testing.T) {
	aligned, mean := Peak(100, 50, false)
	staggered, _ := Peak(100, 50, true)
	if aligned != 100*50 || staggered >= aligned*2/3 || staggered < mean {
		t.Errorf("aligned %d, staggered %d, mean %d", aligned, staggered, mean)
	}
}

func TestDemandGrowsWithTraffic(t *testing.T) {
	one, ten := DemandOf(1), DemandOf(10)
	for name, at := range one.Limits() {
		if again := ten.Limits()[name]; name != "one customer's counter row" && (again < at*0.999 || again > at*1.001) {
			t.Errorf("%s is full at %vx and at %vx", name, at, again)
		}
	}
	if one.Calls != Customers*PerSecond || one.Write < one.Calls {
		t.Errorf("%+v: each call counts a unit", one)
	}
}

func TestBacklog(t *testing.T) {
	const n = 20_000
	work := n * extractTime / (ExtractorsAtOnce * minute)
	never := Drain(n, func(int) int { return n })
	often, seldom := Drain(n, EachMinute), Drain(n, TwiceAsLong)
	if never.Messages > 2*n || float64(never.Minutes) < work || float64(never.Minutes) > work*1.1 {
		t.Errorf("%+v: the work alone takes %.0f minutes", never, work)
	}
	if seldom.Messages > 8*n || often.Messages < 4*seldom.Messages {
		t.Errorf("sent again each minute %+v, after twice as long %+v", often, seldom)
	}
	if seldom.Next < work/2*0.9 || often.Next < seldom.Next*1.05 {
		t.Errorf("the next waits %v minutes behind half of %v, %v behind doubles of each minute", seldom.Next, work, often.Next)
	}
}
