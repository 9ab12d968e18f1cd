// Local runs the service on this machine, in the foreground, until Ctrl-C or
// SIGTERM. The Makefile builds the functions first: see `make run`.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"skillscurriculum/infra/local/demo"
	"skillscurriculum/infra/local/dynamodb"
	"skillscurriculum/infra/local/receiver"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/reference"
	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
	"skillscurriculum/pkg/dynamo"
)

func main() {
	console := log.New(os.Stderr, "local: ", 0)
	dir := flag.String("dir", filepath.Join("build", "local"), "keeps data and logs; the announcement is written next to it as <dir>.json")
	functions := flag.String("functions", filepath.Join("build", "local", "functions"), "holds <function>/bootstrap for this machine")
	withParent := flag.Bool("with-parent", false, "stop when the process that started this one is gone, as make is when it is killed")
	flag.Parse()

	config, err := fromEnvironment(os.Getenv)
	if err != nil {
		console.Fatal(err)
	}
	config.Dir, config.Functions, config.Console = *dir, *functions, console
	receiver := &receiver.Receiver{Print: func(line string) { console.Print(line) }}
	config.Store, config.Demo, config.Syllabi, config.Receiver = newStore, loadDemo(*dir, filepath.Join(*functions, string(api.Docs), reference.Folder), receiver), demo.Syllabi(), receiver

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
	if *withParent {
		go stopWithout(os.Getppid(), stop)
	}
	if err := stack.Run(ctx, config, func(a stack.Announcement) {
		announce(a)
		go func() { // a table of one's own may be large
			if line := knownSkills(ctx, a.Environment); line != "" {
				console.Print(line)
			}
		}()
	}); err != nil {
		console.Fatal(err)
	}
}

// knownSkills returns in a line how many of the skills in use the loaded taxonomy knows;
// empty where none is in use.
func knownSkills(ctx context.Context, environment map[string]string) string {
	config := boot.Config{TaxonomyFile: environment[api.EnvTaxonomy]}
	taxonomy, err := config.Taxonomy()
	var share remap.Share
	if err == nil {
		table := &dynamo.Store{Client: dynamodb.Client(environment[api.EnvDynamoEndpoint]), Table: environment[api.EnvTable], Now: now}
		share, err = remap.ShareOf(ctx, table, taxonomy)
	}
	switch {
	case ctx.Err() != nil || err == nil && share.InUse == 0:
		return ""
	case err != nil:
		return fmt.Sprintf("the skills in use are not counted: %v", err)
	}
	info := taxonomy.Info()
	line := fmt.Sprintf("taxonomy %s %s: of the skills in use %s", info.Name, info.Version, share)
	if share.Known < share.InUse {
		line += "; to map the others: skillsctl taxonomy remap -h"
	}
	return line
}

// stopWithout calls stop once this process has another parent than that.
func stopWithout(parent int, stop func()) {
	for os.Getppid() == parent {
		time.Sleep(time.Second / 2)
	}
	stop()
}

// fromEnvironment reads the variables of make run.
func fromEnvironment(get func(string) string) (stack.Config, error) {
	c := stack.Config{
		Port:             3000,
		Table:            get(api.EnvTable),
		DynamoDBEndpoint: get(api.EnvDynamoEndpoint),
		SQSEndpoint:      get(api.EnvSQSEndpoint),
		S3Endpoint:       get(api.EnvS3Endpoint),
		Bucket:           get(api.EnvBucket),
		Taxonomy:         get(api.EnvTaxonomy),
		RateUnits:        get(api.EnvRateUnits),
		RateWindow:       get(api.EnvRateWindow),
		AllowedHosts:     get(api.EnvAllowedHosts),
		WebhookHosts:     get(api.EnvWebhookHosts),
		WebhookRetry:     get(api.EnvWebhookRetry),
		WebhookKey:       get(api.EnvWebhookKey),
		Fresh:            get("FRESH") != "" && get("FRESH") != "0",
	}
	if port := get("PORT"); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return stack.Config{}, fmt.Errorf("PORT=%s is no port number (0..65535)", port)
		}
		c.Port = int(n)
	}
	// The rules are the functions' own: what they would refuse is told here, in a sentence.
	if _, err := boot.Read(func(name string) string {
		if name == api.EnvTable {
			return "any"
		}
		return get(name)
	}); err != nil {
		return stack.Config{}, err
	}
	if c.Taxonomy != "" {
		var err error
		if c.Taxonomy, err = filepath.Abs(c.Taxonomy); err != nil { // functions run in directories of their own
			return stack.Config{}, err
		}
	}
	return c, nil
}

// announce prints how to begin.
func announce(a stack.Announcement) {
	fmt.Printf("\nThe service answers at %s\n", a.BaseURL)
	for _, c := range a.Customers {
		fmt.Printf("  %s: key %s, read only %s\n", c.Name, c.APIKey, c.ReadOnlyAPIKey)
	}
	fmt.Printf("\nTry:\n  %s\n\nFor a shell's variables: eval \"$(build/skillsctl env)\"\nThe reference, to be tried in a browser, and guides: %s/docs\n\nCtrl-C stops everything.\n", a.FirstCall(), a.BaseURL)
}
