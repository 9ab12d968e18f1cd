package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// shared is one service for all tests of the package.
var shared *service

func TestMain(m *testing.M) {
	os.Exit(func() int {
		s, stop, err := startService(context.Background())
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer stop()
		shared = s
		return m.Run()
	}())
}

// TestBudgets holds every operation to its round trips and units.
func TestBudgets(t *testing.T) {
	table, err := budgets(t.Context(), shared)
	if err != nil {
		t.Fatal(err)
	}
	if len(table.broken) > 0 {
		t.Errorf("broken: %s\n%s", strings.Join(table.broken, ", "), table)
	}
	text, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("%s has other figures (go run ./infra/bench -only budgets -update):\n%s", page, table)
	}
}

func TestWiderBudgetsSayWhy(t *testing.T) {
	wider := func(held, target float64) bool { return target != free && held > target }
	for _, b := range new(world).budgets() {
		differs := wider(b.held.trips, b.target.trips) || wider(b.held.write, b.target.write) ||
			wider(b.held.read, b.target.read)
		if differs != (b.why != "") {
			t.Errorf("%s: held to %v, target %v, reason %q", b.operation, b.held, b.target, b.why)
		}
	}
}

func TestExceeds(t *testing.T) {
	most := price{trips: 2, write: 7, read: 1}
	for _, c := range []struct {
		measured price
		want     bool
	}{
		{price{trips: 2, write: 7, read: 1}, false},
		{price{trips: 3, write: 7, read: 1}, true},
		{price{trips: 2, write: 7.5, read: 1}, true},
		{price{trips: 2, write: 7, read: 1.5}, true},
	} {
		if got := c.measured.exceeds(most); got != c.want {
			t.Errorf("%v: exceeds %v, want %v", c.measured, got, c.want)
		}
	}
}

// TestChain: parallel calls are one round trip, sequential ones as many as the longest chain.
func TestChain(t *testing.T) {
	at := func(from, to int) dbCall {
		start := time.UnixMilli(0)
		return dbCall{start: start.Add(time.Duration(from)), end: start.Add(time.Duration(to)), write: 1}
	}
	for _, c := range []struct {
		name  string
		calls []dbCall
		want  float64
	}{
		{"none", nil, 0},
		{"in parallel", []dbCall{at(0, 10), at(5, 15)}, 1},
		{"one after the other", []dbCall{at(10, 20), at(0, 10)}, 2},
		{"a long one in parallel with two", []dbCall{at(0, 30), at(0, 10), at(11, 20), at(31, 40)}, 3},
	} {
		if got := costOf(c.calls); got.trips != c.want || got.write != float64(len(c.calls)) {
			t.Errorf("%s: %v trips, want %v", c.name, got.trips, c.want)
		}
	}
}

// TestCounter counts calls whose units are known by rule.
func TestCounter(t *testing.T) {
	c, err := shared.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		request request
		want    price
	}{
		// Key, customer, quota in parallel with the directory, last page of the feed (an empty query is free here),
		// and the transaction of record, directory and feed.
		{call("POST", "/jobs", `{"name":"n","employerId":"e"}`), price{trips: 5, write: 7, read: 3}},
		// Quota in parallel with directory and page.
		{call("GET", "/jobs", ""), price{trips: 1, write: 1, read: 1.5}},
	} {
		cost, err := c.measure(t.Context(), step.request)
		if err != nil {
			t.Fatal(err)
		}
		if cost != step.want {
			t.Errorf("%s %s: %+v, want %+v", step.request.method, step.request.path, cost, step.want)
		}
	}
}

// TestLists holds pages of a small list, before and after deletions, to the same budgets as make bench.
func TestLists(t *testing.T) {
	checkTables(t)(lists(t.Context(), shared, []int{1000}))
}

func checkTables(t *testing.T) func(tables []*table, err error) {
	return func(tables []*table, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range tables {
			if len(table.broken) > 0 {
				t.Errorf("broken: %s\n%s", strings.Join(table.broken, ", "), table)
			}
		}
	}
}

// TestArticulations holds look-ups and filtered pages of a few articulations to the same budgets as make bench.
func TestArticulations(t *testing.T) {
	checkTables(t)(articulations(t.Context(), shared, []int{200, 2000}))
}

// TestImports holds an import of a few courses to the same budgets as make bench.
func TestImports(t *testing.T) {
	checkTables(t)(one(imports(t.Context(), shared, 500)))
}

// TestSearches holds searches of a few courses to the same budgets as make bench.
func TestSearches(t *testing.T) {
	checkTables(t)(one(searches(t.Context(), shared, 2000)))
}

// BenchmarkHandler is for profiles: go test -bench Handler -cpuprofile p.out
func BenchmarkHandler(b *testing.B) {
	ours, bare, event, err := handlers()
	if err != nil {
		b.Fatal(err)
	}
	for name, h := range map[string]lambda.Handler{"ours": ours, "bare": bare} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.Invoke(b.Context(), event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
