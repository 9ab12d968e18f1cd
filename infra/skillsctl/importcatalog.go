package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/renameio/v2"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/egress/address"
	"skillscurriculum/pkg/intake"
	"skillscurriculum/pkg/intake/entry"
	"skillscurriculum/pkg/upsert"
)

// shownRejects is the number of errors shown; the file of rejects has all.
const shownRejects = 20

// ofImport has the flags of every import of an organization's records.
type ofImport struct {
	Organization catalog.OrgID `required:"" placeholder:"ID" help:"Organization that owns the records."`
	Check        bool          `help:"Count and report errors, but change nothing."`
	Taxonomy     string        `placeholder:"FILE" help:"Compiled taxonomy of the skills. The default is the service's own."`
	Rejects      string        `placeholder:"FILE" help:"File for the records with errors. The default is FILE.rejects.csv."`
}

type importCatalog struct {
	ofImport
	KeepGoing bool   `help:"Import the valid records even if others have errors."`
	Kind      string `help:"Kind of records in a CSV file, if its headers do not tell: courses, sections, programs, credentials or jobs."`
	Term      string `placeholder:"CODE" help:"Current term, as the file writes terms. Of several rows of a course, the latest up to this term applies. The default is the end of this year."`
	File      string `arg:"" help:"Courses, sections, programs, credentials, jobs (csv, json, jsonld, OneRoster)."`
}

// Run imports a catalog, or reports what an import would do.
func (c *importCatalog) Run(ctx context.Context, t *tool, s *service) error {
	kind := entry.KindNamed(c.Kind)
	if kind == "" && c.Kind != "" {
		return fmt.Errorf("%q is not a kind of record: courses, sections, programs, credentials, jobs or transferPackages",
			c.Kind)
	}
	return c.load(ctx, t, s, c.File, intake.Options{Resource: kind}, upsert.Options{KeepGoing: c.KeepGoing, Term: c.Term})
}

// loader returns what imports files, with a taxonomy or else the service's own.
func (s *service) loader(name string) (upsert.Loader, error) {
	taxonomy, err := openTaxonomy(cmp.Or(name, s.env[api.EnvTaxonomy]))
	if err != nil {
		return upsert.Loader{}, err
	}
	hosts := strings.Split(s.env[api.EnvAllowedHosts], ",")
	loader := upsert.Loader{
		ArticulationFields: intake.ArticulationFields, Store: s.store, Queue: s.queue, Now: now, IDs: ids,
		Market: &dynamo.Market{Store: s.store}, SkillName: taxonomy.Name, SkillID: taxonomy.Named,
		CheckHref: func(href string) error { return address.Check(href, hosts) },
	}
	if s.files != nil {
		loader.Files = s.files
	}
	return loader, nil
}

// load imports a file and shows its columns and the summary. Rejected rows are written to a file.
func (c ofImport) load(
	ctx context.Context, t *tool, s *service, path string, in intake.Options, o upsert.Options,
) error {
	if _, err := s.organization(ctx, c.Organization); err != nil {
		return err
	}
	loader, err := s.loader(c.Taxonomy)
	if err != nil {
		return err
	}
	file, err := intake.OpenPath(path, in)
	if err != nil {
		return err
	}
	rows, err := file.All()
	if err != nil {
		return err
	}
	step, end := progress(t.stderr, "records")
	o.Check, o.Progress = c.Check, step
	rejects := cmp.Or(c.Rejects, path+".rejects.csv")
	summary, err := loader.Load(ctx, c.Organization, rows, o)
	end()
	if summary == nil {
		return err
	}
	// The output has a list even where it is empty.
	summary.Rejects, summary.Skips = append([]upsert.Reject{}, summary.Rejects...),
		append([]upsert.Reject{}, summary.Skips...)
	if len(summary.Rejects) > 0 {
		if failed := writeRejects(rejects, summary.Rejects); failed != nil {
			return errors.Join(err, failed)
		}
	}
	would := ""
	if o.Check || errors.Is(err, upsert.ErrRejected) {
		would = "would be "
	}
	imported := struct {
		*upsert.Summary
		Columns []intake.Column `json:"columns"`
	}{summary, file.Columns}
	failed := t.show(imported, func(w io.Writer) {
		showColumns(w, file.Columns)
		showSummary(w, summary, rejects, would)
	})
	if failed != nil {
		return failed
	}
	if err == nil && summary.Failed > 0 {
		err = withErrors(summary.Failed, o)
	}
	return err
}

// withErrors says what became of a file with errors, or what an import after the check would do.
func withErrors(failed int, o upsert.Options) error {
	what := "1 record has errors"
	if failed > 1 {
		what = fmt.Sprintf("%d records have errors", failed)
	}
	switch {
	case !o.Check:
		return fmt.Errorf("%s: %w", what, errPartly)
	case o.KeepGoing:
		return fmt.Errorf("%s: %w; an import would do the rest", what, errChecked)
	}
	return fmt.Errorf("%s: %w; an import would change nothing either", what, errChecked)
}

// showColumns lists every column of a file with the field that it became and an example.
func showColumns(w io.Writer, columns []intake.Column) {
	for _, c := range columns {
		field := cmp.Or(c.Field, "ignored")
		if c.Suggestion != "" {
			field += ", did you mean " + c.Suggestion + "?"
		}
		if c.Count > 0 {
			fmt.Fprintf(w, "property %s\t%s\t%d\n", c.Header, field, c.Count)
			continue
		}
		fmt.Fprintf(w, "column %s\t%s\t%s\n", c.Header, field, strings.Join(strings.Fields(c.Example), " "))
	}
	fmt.Fprintln(w)
}

func showSummary(w io.Writer, s *upsert.Summary, rejects, would string) {
	for _, count := range []struct {
		what string
		n    int
	}{{"created", s.Created}, {"updated", s.Updated}, {"skipped", s.Skipped}, {"failed", s.Failed}} {
		fmt.Fprintf(w, "%s%s\t%d\n", would, count.what, count.n)
	}
	for _, list := range []struct {
		what string
		rows []upsert.Reject
	}{{"skipped ", s.Skips}, {"imported ", s.Incomplete}, {"", s.Rejects}} {
		for _, r := range list.rows[:min(len(list.rows), shownRejects)] {
			fmt.Fprintf(w, "%s: %s%s %s: %s\n", r.Place, list.what, r.Kind, r.Name, r.Reason)
		}
		if more := len(list.rows) - shownRejects; more > 0 {
			fmt.Fprintf(w, "and %d more\n", more)
		}
	}
	if len(s.Rejects) > 0 {
		fmt.Fprintf(w, "all errors are in %s\n", rejects)
	}
}

// writeRejects writes the records with errors to a file.
func writeRejects(name string, rejects []upsert.Reject) error {
	var text bytes.Buffer
	err := upsert.WriteRejects(&text, func(yield func(upsert.Reject, error) bool) {
		for _, r := range rejects {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err == nil {
		err = renameio.WriteFile(name, text.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("file of rejects: %w", err)
	}
	return nil
}
