package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"skillscurriculum/infra/skillsctl/remap"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/labor/official"
	usecase "skillscurriculum/pkg/service"
)

// minShare is the fraction of the present number of entries below which a file is assumed to be broken.
const minShare = 0.5

// ofFile has the flags of every import of reference data.
type ofFile struct {
	Force bool   `help:"Import a file even if it has far fewer entries than the present data."`
	File  string `arg:"" help:"The official file."`
}

// dataSet is reference data read from a file.
type dataSet struct {
	set, vintage string
	entries      int
	replaces     func(dynamo.DataSet) bool // which present data sets of the same name it replaces
	counts       []count
	save         func(dynamo.Origin) error
}

type count struct {
	what string
	n    int
}

// imported is the output of an import.
type imported struct {
	Set     string         `json:"set"`
	Vintage string         `json:"vintage"`
	Source  string         `json:"source"`
	Counts  map[string]int `json:"counts"`
}

// run imports the data set in the file.
func (c *ofFile) run(
	ctx context.Context, t *tool, s *service, read func(io.Reader, labor.Progress) (*dataSet, error),
) error {
	file, err := os.Open(c.File)
	if err != nil {
		return err
	}
	defer file.Close()
	step, end := progress(t.stderr, "reading")
	data, err := read(file, step)
	end()
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was imported", c.File, err)
	}
	present, err := s.store.DataSets(ctx)
	if err != nil {
		return err
	}
	for _, old := range present {
		if !c.Force && old.Set == data.set && data.replaces(old) && float64(data.entries) < minShare*float64(old.Entries) {
			return fmt.Errorf("the file has %d entries, but %s had %d: import it anyway with -force",
				data.entries, old.Source, old.Entries)
		}
	}
	source := filepath.Base(c.File)
	if err := data.save(dynamo.Origin{Source: source, Generation: ids.New("")}); err != nil {
		return err
	}
	result := imported{data.set, data.vintage, source, map[string]int{}}
	for _, c := range data.counts {
		result.Counts[c.what] = c.n
	}
	return t.show(result, func(w io.Writer) {
		fmt.Fprintf(w, "imported\t%s, %s\n", data.set, data.vintage)
		for _, c := range data.counts {
			fmt.Fprintf(w, "%s\t%d\n", c.what, c.n)
		}
	})
}

func always(dynamo.DataSet) bool { return true }

type importCrosswalk struct{ ofFile }

// Run imports programs of study and their occupations, and updates the occupations of all programs.
func (c *importCrosswalk) Run(ctx context.Context, t *tool, s *service) error {
	return c.run(ctx, t, s, func(r io.Reader, p labor.Progress) (*dataSet, error) {
		crosswalk, err := official.ReadCrosswalk(r, p)
		if err != nil {
			return nil, err
		}
		unmatched := 0
		for _, cip := range crosswalk.CIPs {
			if len(cip.SOCCodes) == 0 {
				unmatched++
			}
		}
		data := &dataSet{set: "crosswalk", vintage: crosswalk.Vintage, entries: len(crosswalk.CIPs), replaces: always}
		data.counts = []count{
			{"programs of study", len(crosswalk.CIPs)}, {"occupations", len(crosswalk.Names)},
			{"matches", crosswalk.Matches()}, {"programs of study without an occupation", unmatched},
		}
		data.save = func(from dynamo.Origin) error {
			if err := s.store.ImportCrosswalk(ctx, from, crosswalk); err != nil {
				return err
			}
			updated, err := t.updateOccupations(ctx, s)
			data.counts = append(data.counts, count{"programs updated", updated})
			return err
		}
		return data, nil
	})
}

type importProjections struct{ ofFile }

// Run imports employment projections.
func (c *importProjections) Run(ctx context.Context, t *tool, s *service) error {
	return c.run(ctx, t, s, func(r io.Reader, progress labor.Progress) (*dataSet, error) {
		p, err := official.ReadProjections(r, progress)
		if err != nil {
			return nil, err
		}
		return &dataSet{
			set: "projections", vintage: p[0].Vintage, entries: len(p), replaces: always,
			counts: []count{{"occupations", len(p)}},
			save:   func(from dynamo.Origin) error { return s.store.ImportProjections(ctx, from, p) },
		}, nil
	})
}

type importRegions struct{ ofFile }

// Run imports metropolitan areas or states.
func (c *importRegions) Run(ctx context.Context, t *tool, s *service) error {
	return c.run(ctx, t, s, func(r io.Reader, p labor.Progress) (*dataSet, error) {
		regions, err := official.ReadRegions(r, p)
		if err != nil {
			return nil, err
		}
		kind := regions[0].RegionType
		return &dataSet{
			set: "regions", vintage: string(kind), entries: len(regions),
			replaces: func(old dynamo.DataSet) bool {
				return slices.ContainsFunc(old.Areas, func(a labor.Area) bool { return a.RegionType == kind })
			},
			counts: []count{{"regions", len(regions)}},
			save:   func(from dynamo.Origin) error { return s.store.ImportRegions(ctx, from, regions) },
		}, nil
	})
}

type importWages struct {
	ofFile
	Vintage string `placeholder:"TEXT" help:"Period of the survey if the file does not state it, such as \"May 2024\"."`
}

// Run imports employment and wages.
func (c *importWages) Run(ctx context.Context, t *tool, s *service) error {
	return c.run(ctx, t, s, func(r io.Reader, p labor.Progress) (*dataSet, error) {
		file, err := official.ReadWages(r, c.Vintage, p)
		if err != nil {
			return nil, err
		}
		areas := map[labor.Area]bool{}
		for _, w := range file.Wages {
			areas[w.Area] = true
		}
		return &dataSet{
			set: "wages", vintage: file.Vintage, entries: len(file.Wages),
			replaces: func(old dynamo.DataSet) bool {
				return !slices.ContainsFunc(old.Areas, func(a labor.Area) bool { return !areas[a] })
			},
			counts: []count{
				{"areas", len(areas)}, {"figures of an occupation in an area", len(file.Wages)},
				{"lines of unknown areas", file.Skipped},
			},
			save: func(from dynamo.Origin) error {
				step, end := progress(t.stderr, "writing")
				defer end()
				return s.store.ImportWages(ctx, from, file, step)
			},
		}, nil
	})
}

// updateOccupations derives the occupations of all programs from the crosswalk, and returns the number of programs that
// changed. It does so again after functions have dropped their cache, for programs that they changed in between.
func (t *tool) updateOccupations(ctx context.Context, s *service) (int, error) {
	orgs, err := s.store.Organizations(ctx)
	if err != nil {
		return 0, err
	}
	changed := map[string]bool{}
	for pass := range 2 {
		if pass > 0 {
			fmt.Fprintln(t.stderr, "waiting until all functions use the new crosswalk")
			if err := t.pause(ctx, (dynamo.DataSeenWithin+1000)*time.Millisecond); err != nil {
				return len(changed), err
			}
		}
		market := &dynamo.Market{Store: s.store}
		derive := func(ctx context.Context, change *catalog.Change, record catalog.Record) error {
			derived, err := usecase.DeriveOccupations(ctx, market, record.(*catalog.Program), now())
			if err != nil {
				return fmt.Errorf("program %s: %w", record.Base().ID, err)
			}
			if *change = *derived; !derived.Empty() {
				changed[record.Base().ID] = true
			}
			return nil
		}
		for _, org := range orgs {
			programs, err := remap.Of(ctx, s.store, org.ID, catalog.ProgramKind)
			if err == nil {
				err = t.alterAll(ctx, s, "programs of "+org.Name, org.ID, programs, 1, derive)
			}
			if err != nil {
				return len(changed), err
			}
		}
	}
	return len(changed), nil
}
