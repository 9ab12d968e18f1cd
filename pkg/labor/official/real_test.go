package official

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"skillscurriculum/infra/devdata"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// official opens a file of the data sets.
func official(t testing.TB, name string) *bytes.Reader {
	t.Helper()
	data, err := os.ReadFile(devdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data)
}

func officialCrosswalk(t testing.TB) *labor.Crosswalk {
	t.Helper()
	c, err := ReadCrosswalk(official(t, "cip/CIP2020_SOC2018_Crosswalk.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestOfficialCrosswalk(t *testing.T) {
	fromCSV := officialCrosswalk(t)
	fromXLSX, err := ReadCrosswalk(official(t, "cip/CIP2020_SOC2018_Crosswalk.xlsx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fromCSV, fromXLSX); diff != "" {
		t.Errorf("csv and xlsx differ (-csv +xlsx):\n%s", diff)
	}
	unmatched := 0
	for _, cip := range fromCSV.CIPs {
		if len(cip.SOCCodes) == 0 {
			unmatched++
		}
	}
	got := []int{len(fromCSV.CIPs), len(fromCSV.Names), fromCSV.Matches(), unmatched}
	if diff := cmp.Diff([]int{2142, 867, 5723, 194}, got); diff != "" {
		t.Errorf("programs, names, matches, unmatched: %s", diff)
	}
	if fromCSV.Vintage != "CIP 2020 - SOC 2018" {
		t.Errorf("vintage %q", fromCSV.Vintage)
	}
	program, known := fromCSV.CIPs["11.0701"]
	if diff := cmp.Diff([]string{"11-3021", "15-1212", "15-1221", "15-1231", "15-1243", "15-1251", "15-1252",
		"15-1253", "15-1254", "15-1255", "15-1299", "15-2051", "25-1021"}, program.SOCCodes); diff != "" || !known {
		t.Errorf("11.0701 known %v: %s", known, diff)
	}
	if program, known := fromCSV.CIPs["01.0508"]; !known || program.SOCCodes == nil || len(program.SOCCodes) != 0 {
		t.Errorf("01.0508 has no match: %v %v", program, known)
	}
	if program, known := fromCSV.CIPs["99.9999"]; known {
		t.Errorf("99.9999 is not a program: %v", program)
	}
}

func TestOfficialNationalWages(t *testing.T) {
	var done, total int
	file, err := ReadWages(official(t, "bls/national_M2024_dl.xlsx"), "", func(d, n int) { done, total = d, n })
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Wages) != 831 || file.Vintage != "May 2024" || file.Skipped != 0 {
		t.Errorf("%d rows, vintage %q, %d skipped", len(file.Wages), file.Vintage, file.Skipped)
	}
	if done != 855 || total < done {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	if diff := cmp.Diff([]labor.Region{{Area: labor.Nation, Name: "United States"}}, file.Regions); diff != "" {
		t.Error(diff)
	}
	rows := map[string]labor.Wage{}
	jobs := 0
	for _, w := range file.Wages {
		rows[w.SOCCode] = w
		jobs += *w.TotalEmployment
	}
	// The survey rounds each row, so its total over 831 rows may be off by 5 jobs each.
	if total := 154_187_380; jobs < total-831*5 || jobs > total+831*5 {
		t.Errorf("detailed occupations have %d jobs, all occupations %d", jobs, total)
	}
	source := "BLS OEWS, May 2024, United States"
	for _, want := range []labor.Wage{
		{Area: labor.Nation, SOCCode: "29-1141", Name: "Registered Nurses", TotalEmployment: num(3282010),
			MedianAnnualWage: num(93600),
			WagePercentiles: labor.WagePercentiles{
				P10: num(66030), P25: num(78610), P75: num(107960), P90: num(135320),
			}, Vintage: "May 2024", Source: source},
		{Area: labor.Nation, SOCCode: "11-1011", Name: "Chief Executives", TotalEmployment: num(211850),
			MedianAnnualWage: num(206420),
			WagePercentiles:  labor.WagePercentiles{P10: num(73710), P25: num(126080), P75: num(239200), P90: num(239200)},
			Reasons:          map[string]catalog.WarningCode{"p75": catalog.TopCoded, "p90": catalog.TopCoded},
			Vintage:          "May 2024", Source: source},
		{Area: labor.Nation, SOCCode: "27-2011", Name: "Actors", TotalEmployment: num(38800),
			Reasons: map[string]catalog.WarningCode{
				"medianAnnualWage": catalog.HourlyOnly, "p10": catalog.HourlyOnly, "p25": catalog.HourlyOnly,
				"p75": catalog.HourlyOnly, "p90": catalog.HourlyOnly,
			},
			Vintage: "May 2024", Source: source},
	} {
		if diff := cmp.Diff(want, rows[want.SOCCode]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.SOCCode, diff)
		}
	}
	for group, members := range labor.Groups() {
		if _, ok := rows[group]; !ok {
			t.Errorf("the survey has no group %s", group)
		}
		for _, soc := range members {
			if _, ok := rows[soc]; ok {
				t.Errorf("the survey publishes %s beside its group %s", soc, group)
			}
		}
	}
}

func TestOfficialProjections(t *testing.T) {
	projections, err := ReadProjections(official(t, "bls/projections_2024-34_occupation.xlsx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(projections) != 832 {
		t.Errorf("%d line items", len(projections))
	}
	rows := map[string]labor.Projection{}
	openings := 0
	for _, p := range projections {
		rows[p.SOCCode] = p
		openings += *p.AnnualOpenings
	}
	if total := 18_863_300; openings < total-832*50 || openings > total+832*50 {
		t.Errorf("line items have %d openings, all occupations %d", openings, total)
	}
	growth, education := 0.158, "Bachelor's degree"
	want := labor.Projection{SOCCode: "15-1252", Name: "Software developers", ProjectedGrowth: &growth,
		AnnualOpenings:   num(115200),
		TypicalEducation: &education, Vintage: "2024-34", Source: "BLS Employment Projections, 2024-34, United States"}
	if diff := cmp.Diff(want, rows["15-1252"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for group := range labor.Groups() {
		if _, ok := rows[group]; !ok {
			t.Errorf("the projections have no group %s", group)
		}
	}
}

func TestOfficialRegions(t *testing.T) {
	metros, err := ReadRegions(official(t, "regions/cbsa2fipsxw.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	states, err := ReadRegions(official(t, "regions/state_fips_master.csv"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(metros) != 935 || len(states) != 50 {
		t.Errorf("%d areas, %d states", len(metros), len(states))
	}
	listed := map[labor.Area]labor.Region{}
	for _, r := range append(metros, states...) {
		listed[r.Area] = r
	}
	for _, want := range []labor.Region{
		{Area: labor.Area{RegionType: labor.State, Region: "06"}, Name: "California"},
		{Area: labor.Area{RegionType: labor.MSA, Region: "42660"}, Name: "Seattle-Tacoma-Bellevue, WA", State: "53"},
		{Area: labor.Area{RegionType: labor.MSA, Region: "35620"}, Name: "New York-Newark-Jersey City, NY-NJ"},
		{Area: labor.Area{RegionType: labor.MSA, Region: "41980"}, Name: "San Juan-Bayamón-Caguas, PR", State: "72"},
	} {
		if diff := cmp.Diff(want, listed[want.Area]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, m := range metros {
		if got := labor.StateOfMetro(m.Name); got != m.State {
			t.Errorf("%s: counties are in state %q, title says %q", m.Name, m.State, got)
		}
	}
	starter, err := labor.Starter().Regions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range starter {
		if want, ok := listed[r.Area]; ok && r != want {
			t.Errorf("starter has %v, the lists %v", r, want)
		}
	}
}

func TestStatePublications(t *testing.T) {
	washington, err := ReadWages(official(t, "bls/oews-washington.csv"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(washington.Wages) != 6920-447-419 || washington.Skipped != 447+419 || len(washington.Regions) != 14 ||
		washington.Vintage != "2022" {
		t.Errorf("washington: %d rows, %d skipped, %d regions, vintage %q", len(washington.Wages), washington.Skipped,
			len(washington.Regions), washington.Vintage)
	}
	state := labor.Area{RegionType: labor.State, Region: "53"}
	source := "OEWS as published by the state of Washington, 2022, Washington"
	rows := map[string]labor.Wage{}
	for _, w := range washington.Wages {
		if w.Area == state {
			rows[w.SOCCode] = w
		}
	}
	for _, want := range []labor.Wage{
		{Area: state, SOCCode: "11-1021", Name: "General and Operations Managers", TotalEmployment: num(48024),
			MedianAnnualWage: num(119450),
			WagePercentiles:  labor.WagePercentiles{P25: num(83370), P75: num(163780)},
			Reasons:          map[string]catalog.WarningCode{"p10": catalog.Suppressed, "p90": catalog.Suppressed},
			Vintage:          "2022", Source: source},
		{Area: state, SOCCode: "27-2011", Name: "Actors", TotalEmployment: num(315),
			Reasons: map[string]catalog.WarningCode{
				"medianAnnualWage": catalog.HourlyOnly, "p10": catalog.HourlyOnly, "p25": catalog.HourlyOnly,
				"p75": catalog.HourlyOnly, "p90": catalog.HourlyOnly,
			},
			Vintage: "2022", Source: source},
		{Area: state, SOCCode: "25-1011", Name: "Business Teachers, Postsecondary", TotalEmployment: num(1402),
			Reasons: map[string]catalog.WarningCode{
				"medianAnnualWage": catalog.Suppressed, "p10": catalog.Suppressed, "p25": catalog.Suppressed,
				"p75": catalog.Suppressed, "p90": catalog.Suppressed,
			},
			Vintage: "2022", Source: source},
	} {
		if diff := cmp.Diff(want, rows[want.SOCCode]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	newYork, err := ReadWages(official(t, "bls/oews-newyork.csv"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(newYork.Regions) != 1 || newYork.Regions[0].Area != (labor.Area{RegionType: labor.State, Region: "36"}) ||
		newYork.Vintage != "undated" {
		t.Errorf("new york: regions %v, vintage %q", newYork.Regions, newYork.Vintage)
	}
	want := labor.Wage{Area: labor.Area{RegionType: labor.State, Region: "36"}, SOCCode: "11-1011",
		Name: "Chief Executives", TotalEmployment: num(4910), MedianAnnualWage: num(233777),
		Reasons: map[string]catalog.WarningCode{
			"p10": catalog.Suppressed, "p25": catalog.Suppressed, "p75": catalog.Suppressed, "p90": catalog.Suppressed,
		},
		Vintage: "undated", Source: "OEWS as published by the state of New York, undated, New York State"}
	if diff := cmp.Diff(want, newYork.Wages[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dated, err := ReadWages(official(t, "bls/oews-newyork.csv"), "2025", nil)
	if err != nil {
		t.Fatal(err)
	}
	if dated.Vintage != "2025" || dated.Wages[0].Vintage != "2025" {
		t.Errorf("the given vintage is lost: %q", dated.Vintage)
	}
}

// starterCodes lists the first column of a starter table.
func starterCodes(t *testing.T, table string) (codes []string) {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "starter", table+".csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := csv.NewReader(file)
	r.Comment = '#'
	lines, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range lines[1:] {
		codes = append(codes, cells[0])
	}
	return codes
}

// TestStarterIsOfficial compares every fact of the starter tables with the files it is from.
func TestStarterIsOfficial(t *testing.T) {
	crosswalk := officialCrosswalk(t)
	wages, err := ReadWages(official(t, "bls/national_M2024_dl.xlsx"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	projections, err := ReadProjections(official(t, "bls/projections_2024-34_occupation.xlsx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	areas := []labor.Area{labor.Nation}
	for _, state := range []string{"washington", "newyork"} {
		file, err := ReadWages(official(t, "bls/oews-"+state+".csv"), "", nil)
		if err != nil {
			t.Fatal(err)
		}
		wages.Wages = append(wages.Wages, file.Wages...)
		for _, region := range file.Regions {
			areas = append(areas, region.Area)
		}
	}
	full, starter := labor.NewTables(crosswalk, nil, wages.Wages, projections), labor.Starter()
	programs, occupations := starterCodes(t, "programs"), starterCodes(t, "occupations")
	wantScope, err := full.Scope(t.Context(), labor.Nation, programs)
	if err != nil {
		t.Fatal(err)
	}
	gotScope, err := starter.Scope(t.Context(), labor.Nation, programs)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wantScope, gotScope); diff != "" || len(gotScope.CIPs) != len(programs) {
		t.Errorf("%d programs, %d of them known (-file +starter):\n%s", len(programs), len(gotScope.CIPs), diff)
	}
	want, err := full.Facts(t.Context(), areas, occupations)
	if err != nil {
		t.Fatal(err)
	}
	got, err := starter.Facts(t.Context(), areas, occupations)
	if err != nil {
		t.Fatal(err)
	}
	for _, cip := range gotScope.CIPs {
		for _, soc := range cip.SOCCodes {
			if got.Names[soc] != crosswalk.Names[soc] {
				t.Errorf("%s is %q, in the file %q", soc, got.Names[soc], crosswalk.Names[soc])
			}
		}
	}
	unnamed := cmp.Options{cmpopts.IgnoreFields(labor.Wage{}, "Name"), cmpopts.IgnoreFields(labor.Projection{}, "Name")}
	if diff := cmp.Diff(want.Wages, got.Wages, unnamed); diff != "" {
		t.Errorf("wages (-file +starter):\n%s", diff)
	}
	if diff := cmp.Diff(want.Projections, got.Projections, unnamed); diff != "" {
		t.Errorf("projections (-file +starter):\n%s", diff)
	}
}

// TestLookupOnOfficialFiles walks from a program to wages in a state and a metropolitan
// area, and compares the starter's national answers with those of the files.
func TestLookupOnOfficialFiles(t *testing.T) {
	crosswalk := officialCrosswalk(t)
	wages, err := ReadWages(official(t, "bls/national_M2024_dl.xlsx"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	washington, err := ReadWages(official(t, "bls/oews-washington.csv"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	projections, err := ReadProjections(official(t, "bls/projections_2024-34_occupation.xlsx"), nil)
	if err != nil {
		t.Fatal(err)
	}
	tables := labor.NewTables(crosswalk, washington.Regions, append(wages.Wages, washington.Wages...), projections)

	for _, code := range starterCodes(t, "programs") {
		q := labor.Query{CIPCodes: []string{code}, Area: labor.Nation}
		want, err := labor.Lookup(t.Context(), tables, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := labor.Lookup(t.Context(), labor.Starter(), q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.Data, got.Data); diff != "" {
			t.Errorf("%s (-files +starter):\n%s", code, diff)
		}
		if diff := cmp.Diff(told(want.Warnings), told(got.Warnings)); diff != "" {
			t.Errorf("%s warnings (-files +starter):\n%s", code, diff)
		}
	}

	nurses := func(area labor.Area) (labor.Occupation, []string) {
		answer, err := labor.Lookup(t.Context(), tables, labor.Query{CIPCodes: []string{"51.3801"}, Area: area})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range answer.Data.Occupations {
			if o.SOCCode == "29-1141" {
				return o, told(answer.Warnings)
			}
		}
		t.Fatal("no nurses")
		return labor.Occupation{}, nil
	}
	for area, source := range map[labor.Area]string{
		labor.Nation:                            "BLS OEWS, May 2024, United States; ",
		{RegionType: labor.State, Region: "53"}: "OEWS as published by the state of Washington, 2022, Washington; ",
		{RegionType: labor.MSA, Region: "42660"}: "OEWS as published by the state of Washington, 2022, " +
			"Seattle-Tacoma-Bellevue, WA; ",
	} {
		o, warnings := nurses(area)
		if o.Source != source+"BLS Employment Projections, 2024-34, United States" || o.TotalEmployment == nil ||
			o.MedianAnnualWage == nil {
			t.Errorf("%v: %+v", area, o)
		}
		if slices.Contains(warnings, "region_fallback 29-1141") ||
			slices.Contains(warnings, "region_fallback") != (area != labor.Nation) {
			t.Errorf("%v: warnings %v", area, warnings)
		}
	}
	answer, err := labor.Lookup(t.Context(), tables, labor.Query{
		CIPCodes: []string{"11.0701"}, Area: labor.Area{RegionType: labor.MSA, Region: "47460"},
	})
	if err != nil {
		t.Fatal(err)
	}
	ofState := 0
	for _, o := range answer.Data.Occupations {
		if strings.Contains(o.Source, "2022, Washington;") {
			ofState++
		}
	}
	if ofState == 0 || !strings.Contains(answer.Data.Vintage.Wages, "2022") {
		t.Errorf("Walla Walla takes nothing from its state: %+v", answer.Data)
	}
}

func num(n int) *int { return &n }

// told is a warning without its text.
func told(warnings []catalog.Warning) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, strings.TrimSpace(string(w.Code)+" "+w.CIPCode+w.SOCCode))
	}
	return all
}
