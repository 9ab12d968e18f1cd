package dynamo_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
	"skillscurriculum/pkg/labor"
	"skillscurriculum/pkg/labor/official"
)

var washington = labor.Area{RegionType: labor.State, Region: "53"}

func market(store *dynamo.Store) *dynamo.Market {
	return &dynamo.Market{Store: store}
}

func from(generation string) dynamo.Origin {
	return dynamo.Origin{Source: generation + ".csv", Generation: generation}
}

// wages is a file of two areas that all say the same number.
func wages(n int, areas ...labor.Area) *labor.WageFile {
	file := &labor.WageFile{Vintage: fmt.Sprint("May ", 2000+n)}
	for _, area := range areas {
		file.Regions = append(file.Regions, labor.Region{Area: area, Name: fmt.Sprint(area.Region, " of the survey")})
		for _, soc := range []string{"15-1252", "29-1141"} {
			file.Wages = append(file.Wages, labor.Wage{Area: area, SOCCode: soc, Name: "N", MedianAnnualWage: &n, Vintage: file.Vintage})
		}
	}
	return file
}

func crosswalk(soc string) *labor.Crosswalk {
	return &labor.Crosswalk{
		CIPs:  map[string]labor.CIP{"11.0701": {CIPCode: "11.0701", Title: "T", SOCCodes: []string{soc}}},
		Names: map[string]string{soc: "Name of " + soc}, Vintage: "CIP of " + soc,
	}
}

func median(t *testing.T, m *dynamo.Market, area labor.Area) int {
	t.Helper()
	facts, err := m.Facts(t.Context(), []labor.Area{area}, []string{"15-1252"})
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := facts.Wages[area]["15-1252"]; ok {
		return *w.MedianAnnualWage
	}
	return 0
}

// Without any import the answers are those of what is built in.
func TestMarketBuiltin(t *testing.T) {
	store, _ := newStore(t)
	q := labor.Query{CIPCodes: []string{"11.0701", "51.3801"}, Area: labor.Nation}
	got, err := labor.Lookup(t.Context(), market(store), q)
	if err != nil {
		t.Fatal(err)
	}
	want, err := labor.Lookup(t.Context(), labor.Starter(), q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	gotRegions, _ := market(store).Regions(t.Context(), "")
	wantRegions, _ := labor.Starter().Regions(t.Context(), "")
	if diff := cmp.Diff(wantRegions, gotRegions); diff != "" {
		t.Error(diff)
	}
}

// Each data set takes the place of the built-in one, and leaves the others alone.
func TestMarketImported(t *testing.T) {
	store, at := newStore(t)
	m := market(store)
	ctx := t.Context()
	builtin := median(t, m, labor.Nation)
	if err := store.ImportCrosswalk(ctx, from("c1"), crosswalk("29-1141")); err != nil {
		t.Fatal(err)
	}
	if scope, err := m.Scope(ctx, labor.Nation, []string{"11.0701"}); err != nil || len(scope.CIPs["11.0701"].SOCCodes) < 2 {
		t.Errorf("the import is seen at once: %v %v", scope, err)
	}
	at.Add(dynamo.DataSeenWithin)
	scope, err := m.Scope(ctx, labor.Nation, []string{"11.0701", "51.3801"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]labor.CIP{"11.0701": {CIPCode: "11.0701", Title: "T", SOCCodes: []string{"29-1141"}}}, scope.CIPs); diff != "" {
		t.Error(diff)
	}
	if scope.Vintage.Crosswalk != "CIP of 29-1141" || scope.Vintage.Wages != "May 2024" || scope.Vintage.Projections != "2024-34" {
		t.Errorf("vintage %+v", scope.Vintage)
	}
	if got := median(t, m, labor.Nation); got != builtin {
		t.Errorf("national wages %d, before %d", got, builtin)
	}

	growth := 0.5
	if err := store.ImportProjections(ctx, from("p1"), []labor.Projection{{SOCCode: "15-1252", Name: "N", ProjectedGrowth: &growth, Vintage: "2030-40"}}); err != nil {
		t.Fatal(err)
	}
	if err := store.ImportWages(ctx, from("w1"), wages(7, washington), nil); err != nil {
		t.Fatal(err)
	}
	at.Add(dynamo.DataSeenWithin)
	facts, err := m.Facts(ctx, []labor.Area{washington, labor.Nation}, []string{"15-1252", "29-1141"})
	if err != nil {
		t.Fatal(err)
	}
	if len(facts.Projections) != 1 || *facts.Projections["15-1252"].ProjectedGrowth != 0.5 {
		t.Errorf("projections %v", facts.Projections)
	}
	if diff := cmp.Diff(map[string]string{"29-1141": "Name of 29-1141"}, facts.Names); diff != "" {
		t.Error(diff)
	}
	if *facts.Wages[washington]["29-1141"].MedianAnnualWage != 7 || *facts.Wages[labor.Nation]["15-1252"].MedianAnnualWage != builtin {
		t.Errorf("wages %v", facts.Wages)
	}
	scope, err = m.Scope(ctx, washington, nil)
	if err != nil || scope.Vintage.Wages != "May 2024" || scope.Vintage.Projections != "2030-40" || scope.Region.Name != "Washington" {
		t.Errorf("scope %+v %v", scope, err)
	}
}

// Wages are replaced area by area; what no area counts any more is cleared away.
func TestImportWages(t *testing.T) {
	store, at := newStore(t)
	m := market(store)
	ctx := t.Context()
	oregon := labor.Area{RegionType: labor.State, Region: "41"}
	steps := []struct {
		generation string
		file       *labor.WageFile
		washington int
		oregon     int
		sets       int
	}{
		{"both", wages(1, washington, oregon), 1, 1, 1},
		{"washington", wages(2, washington), 2, 1, 2},
		{"nation", wages(3, labor.Nation), 2, 1, 3},
		{"again", wages(4, washington), 4, 1, 3},
		{"all", wages(5, washington, oregon), 5, 5, 2},
	}
	for _, step := range steps {
		if err := store.ImportWages(ctx, from(step.generation), step.file, nil); err != nil {
			t.Fatal(err)
		}
		at.Add(dynamo.DataSeenWithin)
		if w, o := median(t, m, washington), median(t, m, oregon); w != step.washington || o != step.oregon {
			t.Errorf("%s: Washington %d, Oregon %d", step.generation, w, o)
		}
		sets, err := store.DataSets(ctx)
		if err != nil || len(sets) != step.sets {
			t.Errorf("%s: %d data sets count, want %d: %v", step.generation, len(sets), step.sets, err)
		}
	}
	if got := median(t, m, labor.Nation); got != 3 {
		t.Errorf("nation %d", got)
	}
	// An hour later the next import clears away what does not count.
	at.Add(3_600_000)
	if err := store.ImportWages(ctx, from("last"), wages(6, washington), nil); err != nil {
		t.Fatal(err)
	}
	for generation, want := range map[string]int{"both": 0, "washington": 0, "again": 0, "all": 3, "nation": 2, "last": 2} {
		if got := rowsOf(t, store, "r#wages#"+generation); got != want {
			t.Errorf("%s has %d rows, want %d", generation, got, want)
		}
	}
}

func rowsOf(t *testing.T, store *dynamo.Store, pk string) int {
	t.Helper()
	out, err := store.Client.Query(t.Context(), partition(store.Table, pk))
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Items)
}

func TestImportRegions(t *testing.T) {
	store, at := newStore(t)
	m := market(store)
	ctx := t.Context()
	nowhere := labor.Area{RegionType: labor.MSA, Region: "99990"}
	known := labor.Area{RegionType: labor.MSA, Region: "42660"}
	if err := store.ImportWages(ctx, from("w"), wages(1, nowhere, known), nil); err != nil {
		t.Fatal(err)
	}
	name := func(area labor.Area) string {
		t.Helper()
		at.Add(dynamo.DataSeenWithin)
		scope, err := m.Scope(ctx, area, nil)
		if err != nil {
			t.Fatal(err)
		}
		if scope.Region == nil {
			return ""
		}
		return scope.Region.Name
	}
	if got := name(nowhere); got != "99990 of the survey" {
		t.Errorf("an area that only the survey knows is %q", got)
	}
	if got := name(known); got == "42660 of the survey" || got == "" {
		t.Errorf("a built-in area is %q", got)
	}
	states, _ := m.Regions(ctx, labor.State)
	if err := store.ImportRegions(ctx, from("r"), []labor.Region{{Area: known, Name: "Listed"}}); err != nil {
		t.Fatal(err)
	}
	if got := name(known); got != "Listed" {
		t.Errorf("a listed area is %q", got)
	}
	if err := store.ImportRegions(ctx, from("s"), []labor.Region{{Area: washington, Name: "The state"}}); err != nil {
		t.Fatal(err)
	}
	if got := name(known) + ", " + name(washington); got != "Listed, The state" {
		t.Errorf("names %s", got)
	}
	if now, err := m.Regions(ctx, labor.State); err != nil || len(now) != len(states) {
		t.Errorf("%d states, before %d: %v", len(now), len(states), err)
	}
}

// Readers see all of an import or nothing of it, wherever it breaks off; doing it
// again completes it.
func TestImportBreaksOff(t *testing.T) {
	oregon := labor.Area{RegionType: labor.State, Region: "41"}
	for broken := 1; ; broken++ {
		store, at := newStore(t)
		ctx := t.Context()
		if err := store.ImportWages(ctx, from("first"), wages(1, washington, oregon), nil); err != nil {
			t.Fatal(err)
		}
		calls, failed := 0, false
		flaky := through(store, func(c call) (any, error) {
			if c.operation == "PutItem" || c.operation == "DeleteItem" {
				if calls++; calls == broken {
					failed = true
					if broken%2 == 0 { // done, but the answer is lost
						_, _ = c.next()
					}
					return nil, errors.New("cable cut")
				}
			}
			return c.next()
		})
		err := flaky.ImportWages(ctx, from("second"), wages(2, washington, oregon), nil)
		if !failed {
			if err != nil {
				t.Fatal(err)
			}
			if broken < 5 {
				t.Errorf("only %d writes could break", broken-1)
			}
			return
		}
		at.Add(dynamo.DataSeenWithin)
		m := market(store)
		if w, o := median(t, m, washington), median(t, m, oregon); w != o {
			t.Errorf("write %d broke: Washington %d, Oregon %d", broken, w, o)
		}
		if err := store.ImportWages(ctx, from("third"), wages(3, washington, oregon), nil); err != nil {
			t.Errorf("write %d broke: %v", broken, err)
		}
		at.Add(3_600_000)
		if err := store.ImportWages(ctx, from("fourth"), wages(4, washington, oregon), nil); err != nil {
			t.Fatal(err)
		}
		for generation, want := range map[string]int{"first": 0, "second": 0, "third": 3, "fourth": 3} {
			if got := rowsOf(t, store, "r#wages#"+generation); got != want {
				t.Errorf("write %d broke: %s has %d rows, want %d", broken, generation, got, want)
			}
		}
	}
}

// Imports at the same time both count where they are of different areas.
func TestImportsBesideEachOther(t *testing.T) {
	store, at := newStore(t)
	var group sync.WaitGroup
	const n = 8
	for i := range n {
		group.Go(func() {
			area := labor.Area{RegionType: labor.State, Region: fmt.Sprint(10 + i)}
			if err := store.ImportWages(t.Context(), from(fmt.Sprint("g", i)), wages(i+1, area), nil); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	at.Add(dynamo.DataSeenWithin)
	m := market(store)
	for i := range n {
		if got := median(t, m, labor.Area{RegionType: labor.State, Region: fmt.Sprint(10 + i)}); got != i+1 {
			t.Errorf("area %d says %d", i, got)
		}
	}
}

// While imports follow each other, every answer is of one of them.
func TestReadersBesideImports(t *testing.T) {
	store, at := newStore(t)
	oregon := labor.Area{RegionType: labor.State, Region: "41"}
	if err := store.ImportWages(t.Context(), from("g0"), wages(1, washington, oregon), nil); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for ctx.Err() == nil {
				facts, err := market(store).Facts(t.Context(), []labor.Area{washington, oregon}, []string{"15-1252", "29-1141"})
				if err != nil {
					t.Error(err)
					return
				}
				seen := map[int]bool{}
				for _, area := range facts.Wages {
					for _, w := range area {
						seen[*w.MedianAnnualWage] = true
					}
				}
				if len(seen) != 1 {
					t.Errorf("one answer of %v", seen)
				}
			}
		})
	}
	for i := 1; i < 12; i++ {
		at.Add(1000)
		if err := store.ImportWages(t.Context(), from(fmt.Sprint("g", i)), wages(i+1, washington, oregon), nil); err != nil {
			t.Error(err)
		}
	}
	stop()
	group.Wait()
}

// A table that cannot be reached leaves the last known data; without any it is an
// error that says so.
func TestMarketWithoutTable(t *testing.T) {
	store, at := newStore(t)
	down := false
	flaky := through(store, func(c call) (any, error) {
		if down {
			return nil, errors.New("cable cut")
		}
		return c.next()
	})
	if err := store.ImportCrosswalk(t.Context(), from("c"), crosswalk("29-1141")); err != nil {
		t.Fatal(err)
	}
	m := market(flaky)
	if _, err := m.Scope(t.Context(), labor.Nation, nil); err != nil {
		t.Fatal(err)
	}
	down = true
	at.Add(dynamo.DataSeenWithin)
	if scope, err := m.Scope(t.Context(), labor.Nation, []string{"11.0701"}); err != nil || scope.Vintage.Crosswalk != "CIP of 29-1141" {
		t.Errorf("scope %v %v", scope, err)
	}
	var known *catalog.Error
	if _, err := market(flaky).Scope(t.Context(), labor.Nation, nil); !errors.As(err, &known) || known.Code != catalog.Unavailable {
		t.Errorf("error %v", err)
	}
}

// An answer about any region takes at most two reads, and none for wages that were
// read before.
func TestMarketReads(t *testing.T) {
	store, _ := newStore(t)
	if err := store.ImportWages(t.Context(), from("w"), wages(1, washington, labor.Nation), nil); err != nil {
		t.Fatal(err)
	}
	reads := 0
	m := market(through(store, func(c call) (any, error) {
		reads++
		if in, ok := c.input.(*sdk.BatchGetItemInput); ok && len(in.RequestItems[store.Table].Keys) > 3 {
			t.Errorf("%d rows in one read", len(in.RequestItems[store.Table].Keys))
		}
		return c.next()
	}))
	ask := func() {
		t.Helper()
		if _, err := labor.Lookup(t.Context(), m, labor.Query{CIPCodes: []string{"11.0701"}, Area: washington}); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	if reads != 3 { // what counts, what is new of it, the wages
		t.Errorf("the first answer took %d reads", reads)
	}
	reads = 0
	ask()
	if reads != 0 {
		t.Errorf("the second answer took %d reads", reads)
	}
}

// data opens an official file of the data sets.
func data(t *testing.T, name string) *os.File {
	t.Helper()
	file, err := os.Open(devdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// The official files give the same answers from the table as from memory.
func TestOfficialFiles(t *testing.T) {
	crosswalk, err := official.ReadCrosswalk(data(t, "cip/CIP2020_SOC2018_Crosswalk.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	nation, err := official.ReadWages(data(t, "bls/national_M2024_dl.xlsx"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	state, err := official.ReadWages(data(t, "bls/oews-washington.csv"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	projections, err := official.ReadProjections(data(t, "bls/projections_2024-34_occupation.xlsx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	regions, err := official.ReadRegions(data(t, "regions/cbsa2fipsxw.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	store, _ := newStore(t)
	ctx := t.Context()
	for _, err := range []error{
		store.ImportCrosswalk(ctx, from("c"), crosswalk), store.ImportWages(ctx, from("n"), nation, nil), store.ImportWages(ctx, from("s"), state, nil),
		store.ImportProjections(ctx, from("p"), projections), store.ImportRegions(ctx, from("r"), regions),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	builtin, err := labor.Starter().Regions(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	known := slices.Concat(nation.Regions, state.Regions, builtin, regions)
	memory := labor.NewTables(crosswalk, known, slices.Concat(nation.Wages, state.Wages), projections)
	table := market(store)
	codes := slices.Sorted(maps.Keys(crosswalk.CIPs))
	areas := []labor.Area{labor.Nation, washington, {RegionType: labor.MSA, Region: "42660"}, {RegionType: labor.State, Region: "41"}, {RegionType: labor.MSA, Region: "10100"}}
	for i, area := range areas {
		for from := i * 7; from+25 <= len(codes); from += 311 {
			q := labor.Query{CIPCodes: codes[from : from+25], Area: area}
			want, err := labor.Lookup(ctx, memory, q)
			if err != nil {
				t.Fatal(err)
			}
			got, err := labor.Lookup(ctx, table, q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%v: %s", q, diff)
			}
		}
	}
}
