package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"skillscurriculum/infra/skillsctl/publish"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/ctdl"
	usecase "skillscurriculum/pkg/service"
)

// envRegistryKey is the variable for the key of an account at the Credential Registry.
const envRegistryKey = "CREDENTIAL_REGISTRY_KEY"

// registryTimeout limits one request to the Registry's Assistant.
const registryTimeout = time.Minute

type ctdlPublish struct {
	Organization catalog.OrgID      `required:"" placeholder:"ORG" help:"Organization whose records are published."`
	Registry     string             `required:"" placeholder:"NAME" help:"Credential Registry: sandbox, production, or the https address of an Assistant."`
	Only         []publish.Resource `placeholder:"KIND,…" help:"Publish records of these kinds only: organization, framework, course, program, credential, articulation."`
	DryRun       bool               `help:"List what would be sent, and send nothing."`
	State        string             `placeholder:"FILE" help:"File that remembers what was published. The default is ctdl-publish-ORG-REGISTRY.json in this directory."`
}

// Run publishes the records that are ready and have changed since they were last published.
func (c *ctdlPublish) Run(ctx context.Context, t *tool, s *service) error {
	address, registry, err := publish.Locate(c.Registry)
	if err != nil {
		return err
	}
	for _, kind := range c.Only {
		if !slices.Contains(publish.Resources, kind) {
			return fmt.Errorf("%q is not one of %v", kind, publish.Resources)
		}
	}
	key := t.getenv(envRegistryKey)
	if key == "" && !c.DryRun {
		return fmt.Errorf("set %s to the key of your account at the registry", envRegistryKey)
	}
	p, err := c.publication(ctx, t, s)
	if err != nil {
		return err
	}
	documents, results := documents(p, c.Only)
	if c.State == "" {
		c.State = fmt.Sprintf("ctdl-publish-%s-%s.json", c.Organization, registry)
	}
	assistant := publish.Assistant{
		Address: address, Key: key, Organization: p.CTID, Timeout: registryTimeout, Pause: t.pause, DryRun: c.DryRun,
	}
	step, end := progress(t.stderr, "documents")
	done := 0
	err = assistant.Run(ctx, documents, c.State, func(r publish.Result) {
		results = append(results, r)
		done++
		step(done, len(documents))
	})
	end()
	return errors.Join(t.show(results, func(w io.Writer) { showResults(w, results) }), err, refusals(results))
}

// publication reads what the organization publishes.
func (c *ctdlPublish) publication(ctx context.Context, t *tool, s *service) (*usecase.Publication, error) {
	o, err := s.organization(ctx, c.Organization)
	if err != nil {
		return nil, err
	}
	if missing := o.MissingFacts(); len(missing) > 0 {
		return nil, fmt.Errorf("the organization lacks %s: skillsctl organizations set", strings.Join(missing, ", "))
	}
	if !o.Publication {
		fmt.Fprintln(t.stderr, "publication is off: the addresses in the documents return 404 until it is on")
	}
	base := s.env[envBaseURL]
	if base == "" {
		return nil, fmt.Errorf("set %s to the address of the service, with /v1", envBaseURL)
	}
	taxonomy, err := openTaxonomy(s.env[api.EnvTaxonomy])
	if err != nil {
		return nil, err
	}
	base = strings.TrimRight(base, "/") + "/public/" + o.Handle + "/ctdl/"
	return usecase.ReadPublication(ctx, s.store, o, base, taxonomy.Info().Name)
}

// notReady is the outcome of a record that lacks what the Registry requires.
const notReady publish.Outcome = "NOT_READY"

// documents returns a document for each record that is ready, and the results of the others: of some kinds only, or of
// all if only is empty.
func documents(p *usecase.Publication, only []publish.Resource) (ready []publish.Document, rest []publish.Result) {
	all := append([]usecase.Described{{
		Resource: string(publish.Organization), Name: p.Name, Entity: ctdl.OrganizationEntity(p.Organization),
	}}, p.Describe()...)
	rest = []publish.Result{}
	for _, d := range all {
		resource := publish.Resource(d.Resource)
		if len(only) > 0 && !slices.Contains(only, resource) {
			continue
		}
		if d.Ready() {
			ready = append(ready, publish.Document{
				Resource: resource, CTID: d.CTID, Name: d.Name, Graph: ctdl.Graph(d.Entity, d.Others...),
			})
			continue
		}
		r := publish.Result{Resource: resource, CTID: d.CTID, Name: d.Name, Outcome: notReady, Messages: []string{}}
		for _, m := range d.Missing {
			if m.Level == ctdl.Required {
				r.Messages = append(r.Messages, "lacks "+m.Property+" ("+m.Field+")")
			}
		}
		rest = append(rest, r)
	}
	return ready, rest
}

func showResults(w io.Writer, results []publish.Result) {
	counts := map[publish.Outcome]int{}
	for _, r := range results {
		counts[r.Outcome]++
		if r.Outcome != publish.Unchanged {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", r.Outcome, r.Resource, r.CTID, r.Name, strings.Join(r.Messages, "; "))
		}
	}
	for _, outcome := range []publish.Outcome{
		publish.Published, publish.Pending, publish.Unchanged, publish.Refused, notReady,
	} {
		fmt.Fprintf(w, "%s\t%d\n", outcome, counts[outcome])
	}
}

// refusals returns an error if the Registry refused documents.
func refusals(results []publish.Result) error {
	n := 0
	for _, r := range results {
		if r.Outcome == publish.Refused {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return fmt.Errorf("the registry refused %d documents: %w", n, errPartly)
}
