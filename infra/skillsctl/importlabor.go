package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/labor/official"
)

// imported is what an import of reference data says of itself.
type imported struct {
	Set     string         `json:"set"`
	Vintage string         `json:"vintage"`
	Source  string         `json:"source"`
	Counts  map[string]int `json:"counts"`
	order   []string
}

func (i *imported) count(what string, n int) {
	if i.Counts == nil {
		i.Counts = map[string]int{}
	}
	i.Counts[what] = n
	i.order = append(i.order, what)
}

// shrunk is the part of the former entries below which a file is taken for a
// broken one.
const shrunk = 0.5

// ofFile is the flags of every import of reference data.
type ofFile struct {
	Force bool   `help:"Also a file with far fewer entries than the present data."`
	File  string `arg:"" help:"The official file."`
}

// importData reads a file and hands it over to save, which sees that it is sound.
func importData[T any](ctx context.Context, t *tool, name string, read func(io.Reader, labor.Progress) (T, error),
	save func(ctx context.Context, s *service, from dynamo.Origin, data T, told *imported) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	step, end := progress(t.stderr, "reading")
	data, err := read(file, step)
	end()
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was imported", name, err)
	}
	s, err := t.open(ctx)
	if err != nil {
		return err
	}
	told := &imported{Source: filepath.Base(name)}
	if err := save(ctx, s, dynamo.Origin{Source: told.Source, Generation: ids.New("")}, data, told); err != nil {
		return err
	}
	return t.show(told, func(w io.Writer) {
		fmt.Fprintf(w, "imported\t%s, %s\n", told.Set, told.Vintage)
		for _, what := range told.order {
			fmt.Fprintf(w, "%s\t%d\n", what, told.Counts[what])
		}
	})
}

// whole refuses a data set that has far fewer entries than the one whose place it
// takes.
func (s *service) whole(ctx context.Context, force bool, set string, entries int, replaces func(dynamo.DataSet) bool) error {
	sets, err := s.store.DataSets(ctx)
	if err != nil || force {
		return err
	}
	for _, old := range sets {
		if old.Set == set && replaces(old) && float64(entries) < shrunk*float64(old.Entries) {
			return fmt.Errorf("the file has %d entries where %s had %d: -force imports it all the same", entries, old.Source, old.Entries)
		}
	}
	return nil
}

func always(dynamo.DataSet) bool { return true }

type importCrosswalk struct{ ofFile }

// Run imports programs of study and their occupations, and brings the programs in line.
func (c *importCrosswalk) Run(ctx context.Context, t *tool) error {
	return importData(ctx, t, c.File, official.ReadCrosswalk, func(ctx context.Context, s *service, from dynamo.Origin, crosswalk *labor.Crosswalk, told *imported) error {
		if err := s.whole(ctx, c.Force, "crosswalk", len(crosswalk.CIPs), always); err != nil {
			return err
		}
		if err := s.store.ImportCrosswalk(ctx, from, crosswalk); err != nil {
			return err
		}
		unmatched := 0
		for _, cip := range crosswalk.CIPs {
			if len(cip.SOCCodes) == 0 {
				unmatched++
			}
		}
		told.Set, told.Vintage = "crosswalk", crosswalk.Vintage
		told.count("programs of study", len(crosswalk.CIPs))
		told.count("occupations", len(crosswalk.Names))
		told.count("matches", crosswalk.Matches())
		told.count("programs of study without an occupation", unmatched)
		return t.derive(ctx, s, told)
	})
}

type importProjections struct{ ofFile }

// Run imports employment projections.
func (c *importProjections) Run(ctx context.Context, t *tool) error {
	return importData(ctx, t, c.File, official.ReadProjections, func(ctx context.Context, s *service, from dynamo.Origin, p []labor.Projection, told *imported) error {
		if err := s.whole(ctx, c.Force, "projections", len(p), always); err != nil {
			return err
		}
		told.Set, told.Vintage = "projections", p[0].Vintage
		told.count("occupations", len(p))
		return s.store.ImportProjections(ctx, from, p)
	})
}

type importRegions struct{ ofFile }

// Run imports metropolitan areas or states.
func (c *importRegions) Run(ctx context.Context, t *tool) error {
	return importData(ctx, t, c.File, official.ReadRegions, func(ctx context.Context, s *service, from dynamo.Origin, r []labor.Region, told *imported) error {
		same := func(old dynamo.DataSet) bool {
			return slices.ContainsFunc(old.Areas, func(a labor.Area) bool { return a.RegionType == r[0].RegionType })
		}
		if err := s.whole(ctx, c.Force, "regions", len(r), same); err != nil {
			return err
		}
		told.Set, told.Vintage = "regions", string(r[0].RegionType)
		told.count("regions", len(r))
		return s.store.ImportRegions(ctx, from, r)
	})
}

type importWages struct {
	ofFile
	Vintage string `placeholder:"TEXT" help:"The survey's period where the file does not say it, as \"May 2024\"."`
}

// Run imports employment and wages.
func (c *importWages) Run(ctx context.Context, t *tool) error {
	read := func(r io.Reader, p labor.Progress) (*labor.WageFile, error) {
		return official.ReadWages(r, c.Vintage, p)
	}
	return importData(ctx, t, c.File, read, func(ctx context.Context, s *service, from dynamo.Origin, file *labor.WageFile, told *imported) error {
		areas := map[labor.Area]bool{}
		for _, w := range file.Wages {
			areas[w.Area] = true
		}
		replaced := func(old dynamo.DataSet) bool {
			return !slices.ContainsFunc(old.Areas, func(a labor.Area) bool { return !areas[a] })
		}
		if err := s.whole(ctx, c.Force, "wages", len(file.Wages), replaced); err != nil {
			return err
		}
		told.Set, told.Vintage = "wages", file.Vintage
		told.count("areas", len(areas))
		told.count("figures of an occupation in an area", len(file.Wages))
		told.count("lines of areas that are no region here", file.Skipped)
		step, end := progress(t.stderr, "writing")
		defer end()
		return s.store.ImportWages(ctx, from, file, step)
	})
}

// derive brings the occupations of all programs in line with the crosswalk; once
// more when no function can know only the old one any longer, for programs that
// were changed in between.
func (t *tool) derive(ctx context.Context, s *service, told *imported) error {
	market := &dynamo.Market{Store: s.store, Builtin: labor.Starter()}
	changed, err := t.deriveAll(ctx, s, market)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.stderr, "waiting until every function has seen the crosswalk")
	if err := t.pause(ctx, (dynamo.DataSeenWithin+1000)*time.Millisecond); err != nil {
		return err
	}
	late, err := t.deriveAll(ctx, s, market)
	told.count("programs updated", changed+late)
	return err
}

func (t *tool) deriveAll(ctx context.Context, s *service, market labor.Source) (changed int, err error) {
	orgs, err := s.store.Organizations(ctx)
	if err != nil {
		return 0, err
	}
	for _, org := range orgs {
		n, err := t.deriveOf(ctx, s, market, org)
		if changed += n; err != nil {
			return changed, err
		}
	}
	return changed, nil
}

func (t *tool) deriveOf(ctx context.Context, s *service, market labor.Source, org *catalog.Organization) (changed int, err error) {
	step, end := progress(t.stderr, "programs of "+org.Name)
	defer end()
	const page = 100
	for offset, total := 0, 1; offset < total; offset += page {
		var programs []*catalog.Program
		if programs, total, err = s.store.Programs(ctx, org.ID, offset, page); err != nil {
			return changed, err
		}
		for i, program := range programs {
			done, err := s.derive(ctx, market, program)
			if err != nil {
				return changed, fmt.Errorf("program %s: %w", program.ID, err)
			}
			if done {
				changed++
			}
			step(offset+i+1, total)
		}
	}
	return changed, nil
}

// derive sets a program's occupations; false where they are so already.
func (s *service) derive(ctx context.Context, market labor.Source, program *catalog.Program) (bool, error) {
	for {
		socs := []string{}
		if program.CIPCode != nil {
			scope, err := market.Scope(ctx, labor.Nation, []string{*program.CIPCode})
			if err != nil {
				return false, err
			}
			socs = append(socs, scope.CIPs[*program.CIPCode].SOCCodes...)
		}
		if slices.Equal(socs, program.DerivedSOCs) {
			return false, nil
		}
		program.DerivedSOCs = socs
		var change catalog.Change
		change.Replace(program, now())
		err := s.store.Commit(ctx, program.OrganizationID, &change)
		if !errors.Is(err, catalog.ErrStale) {
			return err == nil, err
		}
		fresh, err := s.store.Program(ctx, program.OrganizationID, program.ID, true)
		var known *catalog.Error
		if errors.As(err, &known) && known.Code == catalog.NotFound {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		program = fresh
	}
}
