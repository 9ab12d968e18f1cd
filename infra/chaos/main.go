// Chaos runs the local stack under traffic while its parts are killed, stopped,
// slowed and cut off by a seeded schedule, and then holds the table to what the
// service promises. The same seed makes the same schedule, and each client's n-th
// act is the same; which call a fault hits is a matter of timing.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	if name := os.Getenv("AWS_LAMBDA_FUNCTION_NAME"); name != "" {
		function(name)
		return
	}
	seed := flag.Uint64("seed", uint64(time.Now().Unix()), "chooses faults and traffic")
	duration := flag.Duration("duration", 2*time.Minute, "how long there are faults")
	functions := flag.String("functions", filepath.Join("build", "local", "functions"), "holds <function>/bootstrap for this machine")
	keep := flag.Bool("keep", false, "keep data and logs also of a run in which all is well")
	drilling := flag.Bool("drill", false, "no chaos: export, delete, restore and audit a table with the demo")
	fair := flag.Bool("fairness", false, "no chaos: one customer's 500 syllabi stall while another sends five")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := os.MkdirTemp("", "chaos")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if *drilling {
		if err := drill(ctx, dir, func(string) error { return nil }, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = os.RemoveAll(dir)
		return
	}
	if *fair {
		if err := fairness(ctx, dir, *functions, 500, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_ = os.RemoveAll(dir)
		return
	}
	fmt.Printf("seed %d, %v of faults, data and logs in %s\n", *seed, *duration, dir)
	report, err := run(ctx, config{seed: *seed, duration: *duration, dir: dir, functions: *functions, deck: everything, odds: 0.4, out: os.Stdout})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	report.print(os.Stdout)
	if len(report.breaches) > 0 {
		fmt.Printf("\nSeed %d breaks %d invariants. Data and logs are in %s; again: make chaos SEED=%d DURATION=%v\n", *seed, len(report.breaches), dir, *seed, *duration)
		os.Exit(1)
	}
	if !*keep {
		_ = os.RemoveAll(dir)
	}
}
