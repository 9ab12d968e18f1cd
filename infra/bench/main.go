// Command bench measures what the service promises and prints each figure beside
// its target: round trips and units of every operation, lists of any size beside
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
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	only := flag.String("only", "", "comma list of parts: budgets, lists, handler, start")
	large := flag.Bool("large", false, "lists of 1,000,000 records too (a gigabyte of memory, half an hour)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	broken, err := run(ctx, *only, *large)
	if err != nil {
		log.Fatal(err)
	}
	if len(broken) > 0 {
		log.Fatalf("broken:\n  %s", strings.Join(broken, "\n  "))
	}
	fmt.Println("\nEvery budget is held.")
}

func run(ctx context.Context, only string, large bool) (broken []string, err error) {
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
			if large {
				return lists(ctx, s, append(slices.Clone(listSizes), 1_000_000))
			}
			return lists(ctx, s, listSizes)
		}},
		{"handler", func() ([]*table, error) { return one(handler(ctx)) }},
		{"start", func() ([]*table, error) { return one(start(ctx)) }},
	} {
		if only != "" && !slices.Contains(strings.Split(only, ","), part.name) {
			continue
		}
		tables, err := part.measure()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		for _, t := range tables {
			t.print(os.Stdout)
			broken = append(broken, t.broken...)
		}
	}
	return broken, nil
}

func one(t *table, err error) ([]*table, error) { return []*table{t}, err }
