// Command skillsctl is the operator's tool: it manages customers and their keys, imports catalogs and reference data,
// builds taxonomies and extracts skills. It works directly on the table of a local stack or of a deployment in AWS, so
// that its commands consume no units of customers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"

	"skillscurriculum/infra/skillsctl/publish"
	"skillscurriculum/pkg/catalog"
)

// commands defines the command line, in the order of the help.
type commands struct {
	JSON bool `name:"json" help:"Write JSON."`

	Keys struct {
		Create keysCreate `cmd:"" help:"Issue an API key. It is shown once."`
		List   keysList   `cmd:"" help:"List a customer's keys."`
		Rotate keysRotate `cmd:"" help:"Issue a key and expire the live ones of its scope."`
		Revoke keysRevoke `cmd:"" help:"Revoke a key."`
	} `cmd:"" help:"API keys of customers."`
	Customers struct {
		Create customersCreate `cmd:"" help:"Add a customer, with a new organization unless one is given."`
		List   customersList   `cmd:"" help:"List customers and their organizations."`
		Limit  customersLimit  `cmd:"" help:"Set a customer's own rate limit. 0 restores the default."`

		Rename  customersRename  `cmd:"" help:"Rename a customer."`
		Disable customersDisable `cmd:"" help:"Refuse a customer's calls."`
		Enable  customersEnable  `cmd:"" help:"Admit a disabled customer's calls again."`
	} `cmd:"" help:"Customers and their organizations."`
	Organizations struct {
		Set    organizationsSet    `cmd:"" help:"State the facts that descriptions in CTDL need, and publish them."`
		Export organizationsExport `cmd:"" help:"Write everything that is stored of an organization to a directory."`
		Erase  organizationsErase  `cmd:"" help:"Delete an organization with everything that is stored of it."`
	} `cmd:"" help:"Organizations."`
	Demo struct {
		Load demoLoad `cmd:"" help:"Load the demo's two organizations."`
	} `cmd:"" help:"Demo data."`
	Import struct {
		Crosswalk   importCrosswalk   `cmd:"" help:"Programs of study and their occupations (CIP 2020 - SOC 2018, csv or xlsx)."`
		Wages       importWages       `cmd:"" help:"Employment and wages (OEWS, xlsx or csv)."`
		Projections importProjections `cmd:"" help:"Employment projections (BLS, xlsx)."`
		Regions     importRegions     `cmd:"" help:"Metropolitan areas or states (csv)."`
		Catalog     importCatalog     `cmd:"" help:"Courses, sections, programs, credentials, jobs (csv, json, jsonld, OneRoster)."`

		Outcomes      importOutcomes      `cmd:"" help:"Outcomes of courses and programs (csv, as exported here or Canvas's outcomes.csv)."`
		Articulations importArticulations `cmd:"" help:"Articulations with courses of other institutions (csv, as exported here or by TES)."`
	} `cmd:"" help:"Reference data, catalogs and articulations."`
	Export struct {
		Outcomes      exportOutcomes      `cmd:"" help:"Write the outcomes of courses and programs as a table for import."`
		Articulations exportArticulations `cmd:"" help:"Write an organization's articulations as a table for import."`
	} `cmd:"" help:"Data that can be imported again."`
	CTDL struct {
		Publish ctdlPublish `cmd:"" help:"Send an organization's records to the Credential Registry, those that changed."`
	} `cmd:"" name:"ctdl" help:"Linked data for the Credential Registry."`
	Upload    upload    `cmd:"" help:"Upload files as documents and print the documents' ids."`
	Reextract reextract `cmd:"" help:"Extract all syllabi again, after a change of the taxonomy."`
	Reviews   reviews   `cmd:"" help:"Compare confidence with the decisions of people: count reviews of extracted skills."`
	Taxonomy  struct {
		Build taxonomyBuild `cmd:"" help:"Compile a taxonomy."`
		Info  taxonomyInfo  `cmd:"" help:"Describe a compiled taxonomy and count the skills in use that it knows."`
		Remap taxonomyRemap `cmd:"" help:"Rename the skills in use from one taxonomy to another."`
	} `cmd:"" help:"Compiled taxonomies."`
	Extract extract `cmd:"" help:"Find the skills of documents, offline."`
	Env     env     `cmd:"" help:"Print the local stack's address, key and example ids as shell variables: eval \"$(skillsctl env)\"."`
	Version version `cmd:"" help:"Print the version."`
}

const description = `skillsctl operates the Skills Curriculum Service. It uses the local stack of build/local.json, the
service given by TABLE_NAME (and QUEUE_URL, USAGE_PLAN_ID, BUCKET_NAME, BASE_URL, DYNAMODB_ENDPOINT, SQS_ENDPOINT,
S3_ENDPOINT), or the deployment of build/outputs.json.

Flags may be written with one dash or two, before or after the other arguments.

Exit codes: 0 done; 1 failed; 2 invalid command line; 3 done except for documents, lines or records with errors, which
are listed, or the registry refused the key; 4 the registry cannot be reached; 130 interrupted.`

// The exit codes of the tool.
const (
	codeDone        = 0
	codeFailed      = 1
	codeUsage       = 2
	codePartly      = 3
	codeUnreachable = 4
	codeInterrupted = 130
)

// errPartly means that some of the input was skipped.
var errPartly = errors.New("the rest is done")

// errChecked means that some of the input has errors, and that nothing was to be done.
var errChecked = errors.New("nothing was changed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	t := &tool{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, pause: pause}
	code := t.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// pause waits until the time has passed or the context ends.
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
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	json           bool
	pause          func(context.Context, time.Duration) error
}

// run executes the command line and returns the exit code.
func (t *tool) run(ctx context.Context, args []string) int {
	err := t.dispatch(ctx, args)
	var usage *kong.ParseError
	switch {
	case err == nil:
		return codeDone
	case errors.As(err, &usage):
		fmt.Fprintf(t.stderr, "skillsctl: %v; see %s -h\n", err, nodeOf(usage.Context).FullPath())
		return codeUsage
	case ctx.Err() != nil:
		fmt.Fprintln(t.stderr, "skillsctl: interrupted; run the same command again to continue")
		return codeInterrupted
	}
	fmt.Fprintln(t.stderr, "skillsctl: "+sentence(err))
	switch {
	case errors.Is(err, publish.ErrUnreachable):
		return codeUnreachable
	case errors.Is(err, errPartly), errors.Is(err, errChecked), errors.Is(err, publish.ErrKey):
		return codePartly
	}
	return codeFailed
}

func (t *tool) dispatch(ctx context.Context, args []string) error {
	var line commands
	helped := false
	parser, err := kong.New(&line, kong.Name("skillsctl"), kong.Description(description),
		kong.Writers(t.stdout, t.stderr), kong.Exit(func(int) { helped = true }), kong.WithHyphenPrefixedParameters(true),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoAppDescFormat: true}))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(normalize(args))
	if helped {
		return nil
	}
	if err != nil {
		return err
	}
	t.json = line.JSON
	parsed.BindTo(ctx, (*context.Context)(nil))
	return errors.Join(
		parsed.BindToProvider(func() (*service, error) { return t.open(ctx) }),
		parsed.BindToProvider(func() (keyed, error) { return t.openKeys(ctx) }),
		parsed.Run(t))
}

// nodeOf returns the command being parsed, or the tool itself.
func nodeOf(c *kong.Context) *kong.Node {
	if selected := c.Selected(); selected != nil {
		return selected
	}
	return c.Model.Node
}

// normalize rewrites arguments for the parser: -flag as --flag, help as --help, and further values of repeated flags
// with their flag, so that -esco a b becomes --esco a --esco b.
func normalize(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	if args[0] == "help" {
		args = append(slices.Clone(args[1:]), "--help")
	}
	var out []string
	repeated := ""
	for i, word := range args {
		if len(word) > 2 && word[0] == '-' && word[1] != '-' && (word[1] < '0' || word[1] > '9') {
			word = "-" + word
		}
		switch {
		case word == "--":
			return append(out, args[i:]...)
		case slices.Contains([]string{"--esco", "--onet", "--csv"}, word):
			repeated = word
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				continue
			}
		case strings.HasPrefix(word, "-"):
			repeated = ""
		case repeated != "":
			out = append(out, repeated)
		}
		out = append(out, word)
	}
	return out
}

// sentence returns an error for people: errors of the service without their code, and only those of the table with
// their cause.
func sentence(err error) string {
	known, ok := errors.AsType[*catalog.Error](err)
	if !ok {
		return err.Error()
	}
	text := known.Detail
	if cause := known.Unwrap(); cause != nil && known.Code != catalog.Conflict {
		text += ": " + cause.Error()
	}
	if len(known.Fields) > 0 {
		var rules []string
		for _, f := range known.Fields {
			rules = append(rules, strings.TrimSpace(f.Location+" "+f.Message))
		}
		text = strings.Join(rules, "; ")
	}
	return strings.Replace(err.Error(), known.Error(), text, 1)
}

// show writes a value as JSON if the user asked for it, and else as a table through people.
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
