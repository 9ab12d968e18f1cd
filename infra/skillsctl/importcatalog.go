package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/infra/skillsctl/load"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/labor"
)

// shownRejects is how many errors people see; the file of rejects has all.
const shownRejects = 20

type importCatalog struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Id of the organization whose catalog it is."`
	Check        bool          `help:"Find errors and count, change nothing."`
	KeepGoing    bool          `help:"Import what is sound although other records have errors."`
	Kind         string        `help:"What a CSV file holds where its headers do not tell: courses, sections, programs, credentials or jobs."`
	Term         string        `placeholder:"CODE" help:"Current term, as the file writes terms: of a course as of several effective terms, the latest until it counts. All terms of this year where empty."`
	Taxonomy     string        `placeholder:"FILE" help:"Compiled taxonomy that the skills are of. The service's own where empty."`
	Rejects      string        `placeholder:"FILE" help:"File for the records with errors. FILE.rejects.csv where empty."`
	File         string        `arg:"" help:"Courses, sections, programs, credentials, jobs (csv, json, OneRoster)."`
}

// Run imports a catalog, or finds what an import would do.
func (c *importCatalog) Run(ctx context.Context, t *tool) error {
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	if err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	taxonomy, err := openTaxonomy(cmp.Or(c.Taxonomy, s.env[api.EnvTaxonomy]))
	if err != nil {
		return err
	}
	rows, err := intake.Read(c.File, c.Kind)
	if err != nil {
		return err
	}
	hosts := strings.Split(s.env[api.EnvAllowedHosts], ",")
	loader := load.Loader{
		Store: s.store, Queue: s.queue, Market: &dynamo.Market{Store: s.store, Builtin: labor.Starter()}, SkillName: taxonomy.Name, Now: now, IDs: ids,
		CheckHref: func(href string) error { return address.Check(href, hosts) },
	}
	return t.load(ctx, loader, c.Organization, rows, load.Options{Check: c.Check, KeepGoing: c.KeepGoing, Term: c.Term}, cmp.Or(c.Rejects, c.File+".rejects.csv"))
}

// load imports rows and shows what became of them; those with errors go to the file of
// rejects.
func (t *tool) load(ctx context.Context, loader load.Loader, org catalog.OrgID, rows []intake.Row, o load.Options, rejects string) error {
	step, end := progress(t.stderr, "records")
	o.Progress = step
	summary, err := loader.Load(ctx, org, rows, o)
	end()
	if summary == nil {
		return err
	}
	if len(summary.Rejects) > 0 {
		if failed := writeRejects(rejects, summary.Rejects); failed != nil {
			return errors.Join(err, failed)
		}
	}
	if shown := t.show(summary, func(w io.Writer) { tellSummary(w, summary, rejects, o.Check || errors.Is(err, load.ErrRejected)) }); shown != nil {
		return shown
	}
	if err == nil && summary.Failed > 0 {
		err = fmt.Errorf("%d records have errors: %w", summary.Failed, errPartly)
	}
	return err
}

func tellSummary(w io.Writer, s *load.Summary, rejects string, only bool) {
	would := ""
	if only {
		would = "would be "
	}
	fmt.Fprintf(w, "%screated\t%d\n%supdated\t%d\n%sskipped\t%d\n%sfailed\t%d\n", would, s.Created, would, s.Updated, would, s.Skipped, would, s.Failed)
	tellSome(w, "skipped", s.Skips)
	tellSome(w, "imported", s.Incomplete)
	for _, r := range s.Rejects[:min(len(s.Rejects), shownRejects)] {
		fmt.Fprintf(w, "%s: %s %s: %s\n", r.Place, r.Kind, r.Name, r.Reason)
	}
	if len(s.Rejects) > 0 {
		fmt.Fprintf(w, "all errors are in %s\n", rejects)
	}
}

// tellSome writes the first of the rows to which the same happened.
func tellSome(w io.Writer, what string, rows []load.Reject) {
	for _, r := range rows[:min(len(rows), shownRejects)] {
		fmt.Fprintf(w, "%s: %s %s %s: %s\n", r.Place, what, r.Kind, r.Name, r.Reason)
	}
	if more := len(rows) - shownRejects; more > 0 {
		fmt.Fprintf(w, "%d more are %s likewise\n", more, what)
	}
}

// writeRejects writes the records with errors, each with its place and the reason.
// Those of one table stand as they stood there, so that the file can be mended and
// imported as it is: columns without a meaning are passed over.
func writeRejects(name string, rejects []load.Reject) error {
	header := rejects[0].Row.Header
	for _, r := range rejects {
		if !slices.Equal(r.Row.Header, header) {
			header = nil
		}
	}
	why := "reason"
	if slices.Contains(header, why) {
		why = "rejectedBecause"
	}
	head := []string{"rejected", why, "kind", "externalId", "record"}
	if header != nil {
		head = append([]string{"rejected", why}, header...)
	}
	lines := [][]string{head}
	for _, r := range rejects {
		line := []string{r.Place, r.Reason}
		if header == nil {
			line = append(line, r.Kind, r.Name)
		}
		for _, source := range append([][]string{r.Row.Source}, r.Row.More...) {
			lines = append(lines, append(slices.Clone(line), source...))
		}
	}
	var text bytes.Buffer
	err := csv.NewWriter(&text).WriteAll(lines)
	if err == nil {
		err = renameio.WriteFile(name, text.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("file of rejects: %w", err)
	}
	return nil
}
