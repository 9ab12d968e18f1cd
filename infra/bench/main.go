// Command bench measures what the service promises and prints each figure next
// to its target: round trips and units of every operation, lists of any size next to
// the naive ways, the handler's overhead, start and size of the functions, and,
// with -load, mixed traffic on the local stack. It exits with 1 when a budget is
// broken. It uses no network but 127.0.0.1.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	only := flag.String("only", "", "comma list of parts: budgets, lists, articulations, handler, start")
	underload := flag.Bool("load", false, "a load run on the local stack instead; charts go to build/bench")
	duration := flag.Duration("duration", 2*time.Minute, "of the load run")
	perSecond := flag.Int("rate", 2, "calls per second of each of the 20 customers")
	updates := flag.Bool("update", false, "write the tables into docs/measurements.md as well")
	large := flag.Bool("large", false, "lists of 1,000,000 records too (a gigabyte of memory, half an hour)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parts := func() ([]*table, error) { return measure(ctx, *only, *large) }
	if *underload {
		parts = func() ([]*table, error) { return underLoad(ctx, *duration, *perSecond) }
	}
	tables, err := parts()
	var broken []string
	for _, t := range tables {
		t.print(os.Stdout)
		broken = append(broken, t.broken...)
	}
	if err == nil && *updates {
		err = update(page, tables)
	}
	if err != nil {
		log.Fatal(err)
	}
	if len(broken) > 0 {
		log.Fatalf("broken:\n  %s", strings.Join(broken, "\n  "))
	}
	fmt.Println("\nEvery budget is held.")
}

// measure runs the parts that are named, all where none is.
func measure(ctx context.Context, only string, large bool) (all []*table, err error) {
	s, stop, err := startService(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	for _, part := range []struct {
		name    string
		measure func() ([]*table, error)
	}{
		{"budgets", func() ([]*table, error) { return one(budgets(ctx, s)) }},
		{"lists", func() ([]*table, error) {
			sizes := slices.Clone(listSizes)
			if large {
				sizes = append(sizes, 1_000_000)
			}
			chart, err := chartFile("lists.png")
			if err != nil {
				return nil, err
			}
			return lists(ctx, s, sizes, chart)
		}},
		{"articulations", func() ([]*table, error) { return articulations(ctx, s, articulationSizes) }},
		{"handler", func() ([]*table, error) { return one(handler(ctx)) }},
		{"start", func() ([]*table, error) { return one(start(ctx)) }},
	} {
		if only != "" && !slices.Contains(strings.Split(only, ","), part.name) {
			continue
		}
		tables, err := part.measure()
		if err != nil {
			return all, fmt.Errorf("%s: %w", part.name, err)
		}
		all = append(all, tables...)
	}
	return all, nil
}

func one(t *table, err error) ([]*table, error) { return []*table{t}, err }
