package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"

	"github.com/google/renameio/v2"

	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/skills"
)

// remapBatch is how many records are renamed in one transaction, each with its
// evidence.
const remapBatch = 20

// starterName is how a command names the built-in vocabulary where it takes a file.
const starterName = "starter"

type taxonomyRemap struct {
	From         string        `required:"" placeholder:"FILE" help:"Compiled taxonomy that the records are in, or starter for the built-in vocabulary."`
	To           string        `required:"" placeholder:"FILE" help:"Compiled taxonomy that they go to, or starter."`
	Organization catalog.OrgID `placeholder:"ID" help:"Only this organization's records."`
	Check        bool          `help:"Change no record."`
	Table        string        `placeholder:"FILE.csv" help:"Table of what becomes what. Its rows are followed where it exists; it is written, to be corrected and used again."`
}

// remapped is what the command reports.
type remapped struct {
	remap.Share
	ID         int                  `json:"byId"`
	Label      int                  `json:"byLabel"`
	Alias      int                  `json:"byAlias"`
	Table      int                  `json:"byTable"`
	Unmapped   []remap.Row          `json:"notMapped"`
	Records    map[catalog.Kind]int `json:"records"` // that name another skill now, or would
	Extracting int                  `json:"extracting"`
}

// Run renames the skills of an organization's records, or of all.
func (c *taxonomyRemap) Run(ctx context.Context, t *tool) error {
	from, err := taxonomyOrStarter(c.From)
	if err != nil {
		return err
	}
	to, err := taxonomyOrStarter(c.To)
	if err != nil {
		return err
	}
	table, err := readTable(c.Table)
	if err != nil {
		return err
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	orgs, err := s.organizations(ctx, c.Organization)
	if err != nil {
		return err
	}
	records := map[catalog.OrgID][]catalog.Record{}
	used := map[string]string{}
	for _, org := range orgs {
		if records[org], err = remap.Records(ctx, s.store, org); err != nil {
			return err
		}
		for _, record := range records[org] {
			catalog.EachSkill(record, func(id, name string) {
				if used[id] == "" {
					used[id] = name
				}
			})
		}
	}
	mapping, err := remap.Map(used, from, to, table)
	if err != nil {
		return err
	}
	if err := writeTable(c.Table, table, mapping); err != nil {
		return err
	}
	result := reportOf(mapping, to)
	for _, org := range orgs {
		if err := t.rename(ctx, s, org, records[org], mapping, c.Check, &result); err != nil {
			return err
		}
	}
	return t.show(result, func(w io.Writer) { c.print(w, result) })
}

// reportOf counts how the skills in use are mapped.
func reportOf(mapping remap.Mapping, to *skills.Taxonomy) remapped {
	r := remapped{Unmapped: []remap.Row{}, Records: map[catalog.Kind]int{}}
	for _, row := range mapping.Rows() {
		if _, known := to.Name(row.OldID); known {
			r.Known++
		}
		r.InUse++
		switch {
		case row.NewID == "":
			r.Unmapped = append(r.Unmapped, row)
		case row.How == remap.ByID:
			r.ID++
		case row.How == remap.ByLabel:
			r.Label++
		case row.How == remap.ByAlias:
			r.Alias++
		default:
			r.Table++
		}
	}
	return r
}

// rename renames the skills of an organization's records, and counts them.
func (t *tool) rename(ctx context.Context, s *service, org catalog.OrgID, records []catalog.Record, mapping remap.Mapping, check bool, r *remapped) error {
	var affected []catalog.Record
	for _, record := range records {
		if state := catalog.ExtractionOf(record); state != nil && (state.ProcessingStatus == catalog.Pending || state.ProcessingStatus == catalog.Processing) {
			r.Extracting++
		}
		if changes(record, mapping) {
			affected = append(affected, record)
			r.Records[catalog.KindOf(record)]++
		}
	}
	if check {
		return nil
	}
	step, end := progress(t.stderr, "renaming in "+string(org))
	defer end()
	for from := 0; from < len(affected); from += remapBatch {
		batch := affected[from:min(from+remapBatch, len(affected))]
		if err := s.alter(ctx, org, batch, s.renaming(org, mapping)); err != nil {
			return err
		}
		step(from+len(batch), len(affected))
	}
	return nil
}

// changes reports whether a mapping changes a record.
func changes(record catalog.Record, mapping remap.Mapping) bool {
	changed := false
	catalog.EachSkill(record, func(id, name string) {
		newID, newName := mapping.Rename(id, name)
		changed = changed || newID != id || newName != name
	})
	return changed
}

// renaming renames a record's skills together with the evidence of its extraction.
func (s *service) renaming(org catalog.OrgID, mapping remap.Mapping) func(context.Context, *catalog.Change, catalog.Record) error {
	return func(ctx context.Context, change *catalog.Change, record catalog.Record) error {
		if !catalog.RenameSkills(record, mapping.Rename) {
			return nil
		}
		change.Replace(record, now())
		if catalog.ExtractionOf(record) == nil {
			return nil
		}
		outcome, err := s.store.Outcome(ctx, org, record.Base().ID)
		if err == nil && outcome != nil && outcome.RenameSkills(mapping.Rename) {
			change.Outcomes = append(change.Outcomes, catalog.RecordOutcome{RecordID: record.Base().ID, Outcome: outcome})
		}
		return err
	}
}

// printedRows is how many skills that are not mapped are printed; the table has all.
const printedRows = 20

func (c *taxonomyRemap) print(w io.Writer, r remapped) {
	did := "renamed in"
	if c.Check {
		did = "would be renamed in"
	}
	fmt.Fprintf(w, "skills in use\t%s by the new taxonomy\n", r.Share)
	fmt.Fprintf(w, "mapped\t%d by id, %d by label, %d by alias, %d by the table\n", r.ID, r.Label, r.Alias, r.Table)
	fmt.Fprintf(w, "%s\t%d sections, %d transfer courses, %d jobs, %d reports\n", did,
		r.Records[catalog.SectionKind], r.Records[catalog.TransferCourseKind], r.Records[catalog.JobKind], r.Records[catalog.ReportKind])
	if r.Extracting > 0 {
		fmt.Fprintf(w, "being extracted\t%d: run the command again when they are done\n", r.Extracting)
	}
	if len(r.Unmapped) > 0 {
		fmt.Fprintf(w, "not mapped\t%d, which stay as they are\n", len(r.Unmapped))
	}
	for i, row := range r.Unmapped {
		if i == printedRows {
			fmt.Fprintf(w, "\tand %d more (-table FILE.csv, -json)\n", len(r.Unmapped)-i)
			break
		}
		fmt.Fprintf(w, "\t%s (%s)\n", row.OldName, row.OldID)
	}
}

func taxonomyOrStarter(name string) (*skills.Taxonomy, error) {
	if name == starterName {
		name = ""
	}
	return openTaxonomy(name)
}

// readTable reads a table; none where none is named or the file is yet to be written.
func readTable(name string) (remap.Mapping, error) {
	if name == "" {
		return nil, nil
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	table, err := remap.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return table, nil
}

// writeTable writes the mapping, with the rows of an earlier table whose skills are no
// longer in use.
func writeTable(name string, earlier, mapping remap.Mapping) error {
	if name == "" {
		return nil
	}
	all := remap.Mapping{}
	maps.Copy(all, earlier)
	maps.Copy(all, mapping)
	var text bytes.Buffer
	if err := all.Write(&text); err != nil {
		return err
	}
	return renameio.WriteFile(name, text.Bytes(), 0o644)
}
