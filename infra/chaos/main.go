// Chaos runs the local stack under traffic while its parts are killed, stopped, slowed and cut off on a seeded
// schedule, then audits the table, the files, the webhook receivers and the service itself. The same seed yields the
// same schedule, and each client's n-th act is the same; which calls a fault hits depends on timing.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "selects faults and traffic")
	duration := flag.Duration("duration", 2*time.Minute, "how long to inject faults")
	functions := flag.String("functions", filepath.Join("build", "local", "functions"), "contains <function>/bootstrap")
	keep := flag.Bool("keep", false, "keep data and logs even if every invariant holds")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("seed %d, %v of faults, data and logs in %s\n", *seed, *duration, dir)
	report, err := run(ctx, config{
		seed: *seed, duration: *duration, dir: dir, functions: *functions, out: os.Stdout,
		deck: allFaults, odds: 0.4, courses: manyCourses,
	})
	if err != nil {
		log.Fatal(err)
	}
	report.print(os.Stdout)
	if len(report.breaches) > 0 {
		log.Fatalf("\nSeed %d breaks %d invariants. Data and logs are in %s\nRepeat with: make chaos SEED=%d DURATION=%v",
			*seed, len(report.breaches), dir, *seed, *duration)
	}
	if !*keep {
		_ = os.RemoveAll(dir)
	}
}
