// Command local runs the service on this machine in the foreground until Ctrl-C or SIGTERM.
// The Makefile builds the functions first: see `make run`.
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
	"skillscurriculum/infra/local/receiver"
	"skillscurriculum/infra/local/stack"
	"skillscurriculum/infra/reference"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/boot"
)

func main() {
	console := log.New(os.Stderr, "local: ", 0)
	dir := flag.String("dir", filepath.Join("build", "local"),
		"`directory` of data and logs; the announcement is written to <directory>.json")
	functions := flag.String("functions", filepath.Join("build", "local", "functions"),
		"`directory` with <function>/bootstrap for this machine")
	withParent := flag.Bool("with-parent", false, "stop when the parent process is gone, for example when make is killed")
	flag.Parse()

	config, err := fromEnvironment(os.Getenv)
	if err != nil {
		console.Fatal(err)
	}
	config.Dir, config.Functions, config.Console = *dir, *functions, console
	if err := os.MkdirAll(*dir, 0o755); err != nil {
		console.Fatal(err)
	}
	messages, err := os.Create(filepath.Join(*dir, "webhooks.log"))
	if err != nil {
		console.Fatal(err)
	}
	verified := log.New(messages, "", log.Ltime|log.LUTC)
	receiver := &receiver.Receiver{Print: func(line string) { verified.Print(line) }}
	site := filepath.Join(*functions, string(api.Docs), reference.Folder)
	config.Demo, config.Syllabi, config.Receiver = loadDemo(*dir, site, receiver), demo.Syllabi(), receiver

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	if *withParent {
		go stopWithout(os.Getppid(), stop)
	}
	if err := stack.Run(ctx, config, func(a stack.Announcement) {
		announce(a)
		fmt.Printf("Messages of the demo's webhook are written to %s\n\nCtrl-C stops everything.\n", messages.Name())
	}); err != nil {
		console.Fatal(err)
	}
}

// stopWithout calls stop once the parent process has changed.
func stopWithout(parent int, stop func()) {
	for os.Getppid() == parent {
		time.Sleep(time.Second / 2)
	}
	stop()
}

// variables are those of the functions that make run passes on.
var variables = []string{
	api.EnvTable, api.EnvDynamoEndpoint, api.EnvSQSEndpoint, api.EnvS3Endpoint, api.EnvBucket, api.EnvTaxonomy,
	api.EnvRateUnits, api.EnvRateWindow, api.EnvAllowedHosts, api.EnvWebhookHosts, api.EnvWebhookRetry, api.EnvWebhookKey,
}

// fromEnvironment reads the environment variables of make run.
func fromEnvironment(get func(string) string) (stack.Config, error) {
	c := stack.Config{Port: 3000, Env: map[string]string{}, Fresh: get("FRESH") != "" && get("FRESH") != "0"}
	for _, name := range variables {
		if value := get(name); value != "" {
			c.Env[name] = value
		}
	}
	if port := get("PORT"); port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil {
			return stack.Config{}, fmt.Errorf("PORT=%s is not a port number (0..65535)", port)
		}
		c.Port = int(n)
	}
	// The functions would reject the same values, but later and only in their logs.
	if _, err := boot.Read(func(name string) string {
		if name == api.EnvTable {
			return "any"
		}
		return get(name)
	}); err != nil {
		return stack.Config{}, err
	}
	if taxonomy := c.Env[api.EnvTaxonomy]; taxonomy != "" {
		absolute, err := filepath.Abs(taxonomy) // functions run in other directories
		if err != nil {
			return stack.Config{}, err
		}
		c.Env[api.EnvTaxonomy] = absolute
	}
	return c, nil
}

// announce prints how to call the service.
func announce(a stack.Announcement) {
	fmt.Printf("\nConsole: %s/console (sign in with a key below)\nThe service answers at %s\n", a.BaseURL, a.BaseURL)
	for _, c := range a.Customers {
		fmt.Printf("  %s: key %s, read only %s\n", c.Name, c.APIKey, c.ReadOnlyAPIKey)
	}
	fmt.Printf("\nTry:\n  %s\n\nTo set the variables of a shell: eval \"$(build/skillsctl env)\"\n"+
		"Interactive reference and guides: %s/docs\n", a.FirstCall(), a.BaseURL)
}
