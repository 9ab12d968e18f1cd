// Command bench measures the service and prints each figure beside its target: round trips and units of operations,
// lists of any size, the handler's overhead, start and size of the functions. It exits with status 1 if a budget is
// exceeded. It uses only the loopback network.
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
	only := flag.String("only", "",
		"comma-separated parts: budgets, lists, articulations, search, imports, neighbor, map, handler, start")
	updates := flag.Bool("update", false, "also write the tables to docs/measurements.md")
	large := flag.Bool("large", false, "also measure lists of 1,000,000 records (1 GB of memory, half an hour)")
	rows := flag.Int("rows", importedCourses, "courses in the imported file")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	tables, err := measure(ctx, *only, *large, *rows)
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
	fmt.Println("\nEvery budget is met.")
}

// measure runs the named parts, or all if there are no names.
func measure(ctx context.Context, only string, large bool, rows int) (all []*table, err error) {
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
			return lists(ctx, s, sizes)
		}},
		{"articulations", func() ([]*table, error) { return articulations(ctx, s, articulationSizes) }},
		{"search", func() ([]*table, error) { return one(searches(ctx, s, searchedCourses)) }},
		{"imports", func() ([]*table, error) { return one(imports(ctx, s, rows)) }},
		{"neighbor", func() ([]*table, error) { return one(besideImport(ctx, s, rows)) }},
		{"map", func() ([]*table, error) { return one(curriculumMap()) }},
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
