// Command skillsctl is the operator's tool: it keeps customers and their keys,
// fills catalogs and reference data, builds taxonomies and extracts skills. It
// works on the table itself, of a local stack or of a deployment in AWS, and so
// costs customers no units.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"skillscurriculum/pkg/catalog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	t := &tool{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, pause: pause}
	code := t.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// pause waits, unless it is interrupted.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// tool is one run of the program.
type tool struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	json           bool // for machines
	pause          func(context.Context, time.Duration) error
}

// command is what the tool can do.
type command struct {
	name string
	args string
	does string
	run  func(*tool, context.Context, *arguments) error
}

// commands in the order of the help.
func commands() []command {
	return []command{
		{"keys create", "-customer ID [-scope write|read] [-valid 720h]", "issue an API key; it is shown once", (*tool).keysCreate},
		{"keys list", "-customer ID", "list a customer's keys", (*tool).keysList},
		{"keys rotate", "-customer ID [-scope write|read] [-grace 24h]", "issue a key and let the old one end", (*tool).keysRotate},
		{"keys revoke", "-customer ID -key ID", "end a key", (*tool).keysRevoke},
		{"customers create", "-name NAME [-organization ID] [-units N]", "add a customer, of a new organization where none is named", (*tool).customersCreate},
		{"customers list", "", "list customers and their organizations", (*tool).customersList},
		{"customers limit", "-customer ID -units N", "give a customer a rate limit of its own; 0 takes it back", (*tool).customersLimit},
		{"demo load", "", "load the demo's two organizations", (*tool).demoLoad},
		{"import crosswalk", "FILE", "programs of study and their occupations (CIP 2020 - SOC 2018, csv or xlsx)", (*tool).importCrosswalk},
		{"import wages", "[-vintage TEXT] FILE", "employment and wages (OEWS, xlsx or csv)", (*tool).importWages},
		{"import projections", "FILE", "employment projections (BLS, xlsx)", (*tool).importProjections},
		{"import regions", "FILE", "metropolitan areas or states (csv)", (*tool).importRegions},
		{"import catalog", "-organization ID [-check] [-keep-going] [-kind KIND] [-taxonomy FILE] [-rejects FILE] FILE", "courses, sections, programs, credentials, jobs (csv, json, OneRoster)", (*tool).importCatalog},
		{"reextract", "[-organization ID] [-wait]", "extract all syllabi again, after a change of the taxonomy", (*tool).reextract},
		{"taxonomy build", "[-starter] [-esco DIR_OR_ZIP...] [-onet FILE...] [-csv FILE...] [-name N] [-version V] -out FILE", "compile a taxonomy", (*tool).taxonomyBuild},
		{"taxonomy info", "FILE", "say what a compiled taxonomy is", (*tool).taxonomyInfo},
		{"extract", "[-taxonomy FILE] [-kind auto|pdf|docx|html|md|text] [-jsonl FILE] DOC...", "find the skills of documents, offline", (*tool).extract},
	}
}

// run does what the arguments say and gives the exit code.
func (t *tool) run(ctx context.Context, args []string) int {
	err := t.dispatch(ctx, args)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(t.stderr, "skillsctl: interrupted; the same command again goes on from here")
	default:
		fmt.Fprintln(t.stderr, "skillsctl: "+sentence(err))
	}
	return 1
}

func (t *tool) dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 || args[0] == "help" || strings.Trim(args[0], "-") == "help" || args[0] == "-h" {
		t.help()
		return nil
	}
	for _, c := range commands() {
		words := strings.Fields(c.name)
		if len(args) >= len(words) && strings.Join(args[:len(words)], " ") == c.name {
			return c.run(t, ctx, t.arguments(c, args[len(words):]))
		}
	}
	return fmt.Errorf("there is no command %q: skillsctl help lists them", strings.Join(args[:min(2, len(args))], " "))
}

func (t *tool) help() {
	fmt.Fprintln(t.stdout, "skillsctl keeps the Skills Curriculum Service. It finds a running local stack through build/local.json,\n"+
		"or what TABLE_NAME (and QUEUE_URL, USAGE_PLAN_ID, DYNAMODB_ENDPOINT, SQS_ENDPOINT) name, or the deployment in build/outputs.json.\n"+
		"Every command takes -json.")
	for _, c := range commands() {
		fmt.Fprintf(t.stdout, "\n  skillsctl %s %s\n      %s\n", c.name, c.args, c.does)
	}
}

// arguments are the flags of a command and what follows them.
type arguments struct {
	*flag.FlagSet
	given []string
	usage string
}

func (t *tool) arguments(c command, given []string) *arguments {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(t.stderr)
	flags.BoolVar(&t.json, "json", false, "write JSON")
	a := &arguments{flags, given, strings.TrimSpace("skillsctl " + c.name + " " + c.args)}
	flags.Usage = func() {
		fmt.Fprintf(t.stderr, "%s\n  %s\n", a.usage, c.does)
		flags.PrintDefaults()
	}
	return a
}

// parse reads the flags, which may stand before and after the rest, and gives the
// rest: from to to words, where to below 0 is any number. required flags must be set.
func (a *arguments) parse(from, to int, required ...string) ([]string, error) {
	var rest []string
	for args := a.given; ; {
		a.SetOutput(io.Discard)
		err := a.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			return nil, err
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %s", err, a.usage)
		}
		if a.NArg() == 0 {
			break
		}
		rest = append(rest, a.Arg(0))
		args = a.Args()[1:]
	}
	for _, name := range required {
		if a.Lookup(name).Value.String() == "" {
			return nil, fmt.Errorf("-%s is missing: %s", name, a.usage)
		}
	}
	if len(rest) < from || to >= 0 && len(rest) > to {
		return nil, fmt.Errorf("the arguments do not fit: %s", a.usage)
	}
	return rest, nil
}

// sentence tells an error to people: those of the service in its own words.
func sentence(err error) string {
	var known *catalog.Error
	if errors.As(err, &known) && len(known.Fields) == 0 {
		text := strings.ReplaceAll(err.Error(), string(known.Code)+": ", "")
		return text
	}
	return err.Error()
}

// show writes a value: as JSON for machines, else through people.
func (t *tool) show(v any, people func(w io.Writer)) error {
	if t.json {
		encoder := json.NewEncoder(t.stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(v)
	}
	w := tabwriter.NewWriter(t.stdout, 0, 4, 2, ' ', 0)
	people(w)
	return w.Flush()
}
