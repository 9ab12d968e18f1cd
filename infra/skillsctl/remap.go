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
	"skillscurriculum/pkg/extraction"
	"skillscurriculum/pkg/extraction/wordvectors"
	"skillscurriculum/pkg/skills"
)

// remapBatch is the number of records, each with its evidence, changed in one transaction.
const remapBatch = 20

type taxonomyRemap struct {
	From         string        `required:"" placeholder:"FILE" help:"Present taxonomy of the records, compiled, or starter for the built-in vocabulary."`
	To           string        `required:"" placeholder:"FILE" help:"New taxonomy, compiled, or starter."`
	Organization catalog.OrgID `placeholder:"ID" help:"Limit to one organization."`
	Check        bool          `help:"Report only, change nothing."`
	Table        string        `placeholder:"FILE.csv" help:"Table of old and new skills. Rows of an existing table take precedence. The table is written, for correction and another run."`
}

// remapped is the output of the command.
type remapped struct {
	remap.Share
	ID         int                  `json:"byId"`
	Label      int                  `json:"byLabel"`
	Alias      int                  `json:"byAlias"`
	Table      int                  `json:"byTable"`
	Unmapped   []remap.Row          `json:"notMapped"`
	Records    map[catalog.Kind]int `json:"records"` // changed, or with -check to be changed
	Extracting int                  `json:"extracting"`
}

// Run renames the skills of the records of one or all organizations.
func (c *taxonomyRemap) Run(ctx context.Context, t *tool, s *service) error {
	from, err := openTaxonomy(c.From)
	if err != nil {
		return err
	}
	to, err := openTaxonomy(c.To)
	if err != nil {
		return err
	}
	table, err := readTable(c.Table)
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
	if c.Check && c.Table != "" {
		if err := mapping.Suggest(ctx, from, to, extraction.NewExtractor(to, wordvectors.Table())); err != nil {
			return err
		}
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

// reportOf counts the mapped skills by rule.
func reportOf(mapping remap.Mapping, to *skills.Taxonomy) remapped {
	r := remapped{Unmapped: []remap.Row{}, Records: map[catalog.Kind]int{}}
	rules := map[string]*int{remap.ByID: &r.ID, remap.ByLabel: &r.Label, remap.ByAlias: &r.Alias, remap.ByTable: &r.Table}
	for _, row := range mapping.Rows() {
		if _, known := to.Name(row.OldID); known {
			r.Known++
		}
		r.InUse++
		if row.NewID == "" {
			r.Unmapped = append(r.Unmapped, row)
		} else {
			*rules[row.How]++
		}
	}
	return r
}

// rename renames the skills of an organization's records and counts the records.
func (t *tool) rename(
	ctx context.Context, s *service, org catalog.OrgID, records []catalog.Record, mapping remap.Mapping, check bool,
	r *remapped,
) error {
	var affected []catalog.Record
	for _, record := range records {
		if unfinished(record) {
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
	return t.alterAll(ctx, s, "renaming in "+string(org), org, affected, remapBatch, s.renaming(org, mapping))
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

// renaming renames the skills of records and of their evidence.
func (s *service) renaming(org catalog.OrgID, mapping remap.Mapping) alteration {
	return func(ctx context.Context, change *catalog.Change, record catalog.Record) error {
		before := catalog.Copy(record)
		if !catalog.RenameSkills(record, mapping.Rename) {
			return nil
		}
		if section, ok := record.(*catalog.Section); ok { // two of its skills may have become one
			course, err := s.courseOf(ctx, change, section)
			if err != nil || course == nil {
				return err
			}
			if err := change.ReplaceSection(before.(*catalog.Section), section, course, now()); err != nil {
				return err
			}
		} else {
			change.Replace(before, record, now())
		}
		if list, ok := record.(*catalog.OutcomeList); ok {
			owner, err := s.ownerOf(ctx, change, list)
			if err != nil || owner == nil {
				return err
			}
			change.Replace(catalog.Copy(owner), owner, now())
		}
		if catalog.ExtractionOf(record) == nil {
			return nil
		}
		outcome, err := s.store.ExtractionResult(ctx, org, record.Base().ID)
		if err == nil && outcome != nil && outcome.RenameSkills(mapping.Rename) {
			change.ReplaceResult(record, outcome)
		}
		return err
	}
}

// printedRows is the number of unmapped skills printed; the table has all.
const printedRows = 20

func (c *taxonomyRemap) print(w io.Writer, r remapped) {
	did := "renamed in"
	if c.Check {
		did = "would be renamed in"
	}
	fmt.Fprintf(w, "skills in use\t%s by the new taxonomy\n", r.Share)
	fmt.Fprintf(w, "mapped\t%d by id, %d by label, %d by alias, %d by the table\n", r.ID, r.Label, r.Alias, r.Table)
	fmt.Fprintf(w, "%s\t%d sections, %d transfer courses, %d jobs, %d reports, %d lists of outcomes\n", did,
		r.Records[catalog.SectionKind], r.Records[catalog.TransferCourseKind], r.Records[catalog.JobKind],
		r.Records[catalog.ReportKind], r.Records[catalog.OutcomeListKind])
	if r.Extracting > 0 {
		fmt.Fprintf(w, "being extracted\t%d: run the command again when they have finished\n", r.Extracting)
	}
	if len(r.Unmapped) > 0 {
		fmt.Fprintf(w, "not mapped\t%d, left unchanged\n", len(r.Unmapped))
	}
	for i, row := range r.Unmapped {
		if i == printedRows {
			fmt.Fprintf(w, "\tand %d more (-table FILE.csv, -json)\n", len(r.Unmapped)-i)
			break
		}
		fmt.Fprintf(w, "\t%s (%s)\n", row.OldName, row.OldID)
	}
}

// readTable reads a table; nil if there is no such file or no name.
func readTable(name string) (remap.Mapping, error) {
	if name == "" {
		return nil, nil
	}
	file, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	table, err := remap.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return table, nil
}

// writeTable writes the mapping and the rows of an earlier table whose skills are no longer in use.
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
