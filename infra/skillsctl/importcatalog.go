package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"skillscurriculum/infra/skillsctl/intake"
	"skillscurriculum/infra/skillsctl/load"
	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/syllabus/address"
)

// shownRejects is how many faults people see; the file of rejects has all.
const shownRejects = 20

func (t *tool) importCatalog(ctx context.Context, a *arguments) error {
	organization := a.String("organization", "", "id of the organization whose catalog it is")
	check, keepGoing := a.Bool("check", false, "find faults and count, change nothing"), a.Bool("keep-going", false, "import what is sound although other records have faults")
	kind := a.String("kind", "", "what a CSV file holds where its headers do not tell: courses, sections, programs, credentials or jobs")
	taxonomyFile := a.String("taxonomy", "", "compiled taxonomy that the skills are of; the service's own where empty")
	rejectsFile := a.String("rejects", "", "file for the records with faults; FILE.rejects.csv where empty")
	files, err := a.parse(1, 1, "organization")
	if err != nil {
		return err
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	org := catalog.OrgID(*organization)
	if err := s.organization(ctx, org); err != nil {
		return err
	}
	if *taxonomyFile == "" {
		*taxonomyFile = s.env[api.EnvTaxonomy]
	}
	taxonomy, err := openTaxonomy(*taxonomyFile)
	if err != nil {
		return err
	}
	rows, err := intake.Read(files[0], *kind)
	if err != nil {
		return err
	}
	hosts := strings.Split(s.env[api.EnvAllowedHosts], ",")
	loader := load.Loader{
		Store: s.store, Queue: s.queue, Market: &dynamo.Market{Store: s.store, Builtin: labor.Starter()}, SkillName: taxonomy.Name, Now: now, IDs: ids,
		CheckHref: func(href string) error { return address.Check(href, hosts) },
	}
	step, end := progress(t.stderr, "records")
	summary, err := loader.Load(ctx, org, rows, load.Options{Check: *check, KeepGoing: *keepGoing, Progress: step})
	end()
	if summary == nil {
		return err
	}
	if *rejectsFile == "" {
		*rejectsFile = files[0] + ".rejects.csv"
	}
	if len(summary.Rejects) > 0 {
		if failed := writeRejects(*rejectsFile, summary.Rejects); failed != nil {
			return errors.Join(err, failed)
		}
	}
	if shown := t.show(summary, func(w io.Writer) { tellSummary(w, summary, *rejectsFile, *check || errors.Is(err, load.ErrRejected)) }); shown != nil {
		return shown
	}
	if err == nil && summary.Failed > 0 {
		err = fmt.Errorf("%d records have faults", summary.Failed)
	}
	return err
}

func tellSummary(w io.Writer, s *load.Summary, rejects string, only bool) {
	would := ""
	if only {
		would = "would be "
	}
	fmt.Fprintf(w, "%screated\t%d\n%supdated\t%d\n%sskipped\t%d\n%sfailed\t%d\n", would, s.Created, would, s.Updated, would, s.Skipped, would, s.Failed)
	for _, r := range s.Rejects[:min(len(s.Rejects), shownRejects)] {
		fmt.Fprintf(w, "%s: %s %s: %s\n", r.Place, r.Kind, r.Name, r.Reason)
	}
	if len(s.Rejects) > 0 {
		fmt.Fprintf(w, "all faults are in %s\n", rejects)
	}
}

// writeRejects writes the records with faults, each with its place and the reason.
// Those of one table stand as they stood there, so that the file can be mended and
// imported as it is: columns without a meaning are passed over.
func writeRejects(name string, rejects []load.Reject) error {
	header := rejects[0].Row.Header
	for _, r := range rejects {
		if !slices.Equal(r.Row.Header, header) {
			header = nil
		}
	}
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("file of rejects: %w", err)
	}
	w := csv.NewWriter(file)
	if header != nil {
		err = w.Write(append([]string{"rejected", "reason"}, header...))
	} else {
		err = w.Write([]string{"rejected", "reason", "kind", "externalId", "record"})
	}
	for _, r := range rejects {
		line := []string{r.Place, r.Reason}
		if header == nil {
			line = append(line, r.Kind, r.Name)
		}
		err = errors.Join(err, w.Write(append(line, r.Row.Source...)))
	}
	w.Flush()
	err = errors.Join(err, w.Error(), file.Chmod(0o644), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), name)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("file of rejects: %w", err)
	}
	return nil
}
