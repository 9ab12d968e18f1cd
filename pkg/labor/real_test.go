package labor

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// official opens a file of ../shared/data, beside the module's root.
func official(t testing.TB, name string) *bytes.Reader {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = filepath.Dir(root)
	}
	data, err := os.ReadFile(filepath.Join(root, "..", "shared", "data", name))
	if err != nil {
		t.Skip("the official files are not beside the module: ", err)
	}
	return bytes.NewReader(data)
}

func officialCrosswalk(t testing.TB) *Crosswalk {
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
	socs, known := fromCSV.SOCs("11.0701")
	if diff := cmp.Diff([]string{"11-3021", "15-1212", "15-1221", "15-1231", "15-1243", "15-1251", "15-1252",
		"15-1253", "15-1254", "15-1255", "15-1299", "15-2051", "25-1021"}, socs); diff != "" || !known {
		t.Errorf("11.0701 known %v: %s", known, diff)
	}
	if socs, known := fromCSV.SOCs("01.0508"); !known || socs == nil || len(socs) != 0 {
		t.Errorf("01.0508 has no match: %v %v", socs, known)
	}
	if socs, known := fromCSV.SOCs("99.9999"); known || socs != nil {
		t.Errorf("99.9999 is no program: %v %v", socs, known)
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
	if diff := cmp.Diff([]Region{{Area: Nation, Name: "United States"}}, file.Regions); diff != "" {
		t.Error(diff)
	}
	rows := map[string]Wage{}
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
	for _, want := range []Wage{
		{Area: Nation, SOCCode: "29-1141", Name: "Registered Nurses", TotalEmployment: num(3282010), MedianAnnualWage: num(93600),
			WagePercentiles: WagePercentiles{num(66030), num(78610), num(107960), num(135320)}, Vintage: "May 2024", Source: source},
		{Area: Nation, SOCCode: "11-1011", Name: "Chief Executives", TotalEmployment: num(211850), MedianAnnualWage: num(206420),
			WagePercentiles: WagePercentiles{num(73710), num(126080), num(239200), num(239200)},
			Reasons:         map[string]Reason{"p75": TopCoded, "p90": TopCoded}, Vintage: "May 2024", Source: source},
		{Area: Nation, SOCCode: "27-2011", Name: "Actors", TotalEmployment: num(38800),
			Reasons: map[string]Reason{"medianAnnualWage": HourlyOnly, "p10": HourlyOnly, "p25": HourlyOnly, "p75": HourlyOnly, "p90": HourlyOnly},
			Vintage: "May 2024", Source: source},
	} {
		if diff := cmp.Diff(want, rows[want.SOCCode]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.SOCCode, diff)
		}
	}
	for group, members := range groups {
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
	rows := map[string]Projection{}
	openings := 0
	for _, p := range projections {
		rows[p.SOCCode] = p
		openings += *p.AnnualOpenings
	}
	if total := 18_863_300; openings < total-832*50 || openings > total+832*50 {
		t.Errorf("line items have %d openings, all occupations %d", openings, total)
	}
	growth, education := 0.158, "Bachelor's degree"
	want := Projection{SOCCode: "15-1252", Name: "Software developers", ProjectedGrowth: &growth, AnnualOpenings: num(115200),
		TypicalEducation: &education, Vintage: "2024-34", Source: "BLS Employment Projections, 2024-34, United States"}
	if diff := cmp.Diff(want, rows["15-1252"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for group := range groups {
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
	tables := NewTables(&Crosswalk{}, append(metros, states...), nil, nil)
	for _, want := range []Region{
		{Area: Area{State, "06"}, Name: "California"},
		{Area: Area{MSA, "42660"}, Name: "Seattle-Tacoma-Bellevue, WA", State: "53"},
		{Area: Area{MSA, "35620"}, Name: "New York-Newark-Jersey City, NY-NJ"},
		{Area: Area{MSA, "41980"}, Name: "San Juan-Bayamón-Caguas, PR", State: "72"},
	} {
		if diff := cmp.Diff(want, tables.regions[want.Area]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	for _, m := range metros {
		if got := stateOfMetro(m.Name); got != m.State {
			t.Errorf("%s: counties are in state %q, title says %q", m.Name, m.State, got)
		}
	}
	starter, err := Starter().Regions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range starter {
		if want, ok := tables.regions[r.Area]; ok && r != want {
			t.Errorf("starter has %v, the lists %v", r, want)
		}
	}
}

func TestStatePublications(t *testing.T) {
	washington, err := ReadWages(official(t, "bls/oews-washington.csv"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(washington.Wages) != 6920-447-419 || washington.Skipped != 447+419 || len(washington.Regions) != 14 || washington.Vintage != "2022" {
		t.Errorf("washington: %d rows, %d skipped, %d regions, vintage %q", len(washington.Wages), washington.Skipped, len(washington.Regions), washington.Vintage)
	}
	state := Area{State, "53"}
	source := "OEWS as published by the state of Washington, 2022, Washington"
	tables := NewTables(&Crosswalk{}, washington.Regions, washington.Wages, nil)
	for _, want := range []Wage{
		{Area: state, SOCCode: "11-1021", Name: "General and Operations Managers", TotalEmployment: num(48024), MedianAnnualWage: num(119450),
			WagePercentiles: WagePercentiles{P25: num(83370), P75: num(163780)},
			Reasons:         map[string]Reason{"p10": Suppressed, "p90": Suppressed}, Vintage: "2022", Source: source},
		{Area: state, SOCCode: "27-2011", Name: "Actors", TotalEmployment: num(315),
			Reasons: map[string]Reason{"medianAnnualWage": HourlyOnly, "p10": HourlyOnly, "p25": HourlyOnly, "p75": HourlyOnly, "p90": HourlyOnly},
			Vintage: "2022", Source: source},
		{Area: state, SOCCode: "25-1011", Name: "Business Teachers, Postsecondary", TotalEmployment: num(1402),
			Reasons: map[string]Reason{"medianAnnualWage": Suppressed, "p10": Suppressed, "p25": Suppressed, "p75": Suppressed, "p90": Suppressed},
			Vintage: "2022", Source: source},
	} {
		if diff := cmp.Diff(want, tables.wages[state][want.SOCCode]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}

	newYork, err := ReadWages(official(t, "bls/oews-newyork.csv"), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(newYork.Regions) != 1 || newYork.Regions[0].Area != (Area{State, "36"}) || newYork.Vintage != "undated" {
		t.Errorf("new york: regions %v, vintage %q", newYork.Regions, newYork.Vintage)
	}
	want := Wage{Area: Area{State, "36"}, SOCCode: "11-1011", Name: "Chief Executives", TotalEmployment: num(4910), MedianAnnualWage: num(233777),
		Reasons: map[string]Reason{"p10": Suppressed, "p25": Suppressed, "p75": Suppressed, "p90": Suppressed},
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
	full, starter := NewTables(crosswalk, nil, wages.Wages, projections), Starter()
	if starter.vintage != full.vintage {
		t.Errorf("vintage %v, the files' %v", starter.vintage, full.vintage)
	}
	for code, cip := range starter.crosswalk.CIPs {
		if diff := cmp.Diff(crosswalk.CIPs[code], cip); diff != "" {
			t.Errorf("%s (-file +starter):\n%s", code, diff)
		}
		for _, soc := range cip.SOCCodes {
			if starter.crosswalk.Names[soc] != crosswalk.Names[soc] {
				t.Errorf("%s is %q, in the file %q", soc, starter.crosswalk.Names[soc], crosswalk.Names[soc])
			}
		}
	}
	for soc := range starter.crosswalk.Names {
		want, got := full.wages[Nation][soc], starter.wages[Nation][soc]
		want.Name, got.Name = "", ""
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-file +starter):\n%s", soc, diff)
		}
		wantP, gotP := full.projections[soc], starter.projections[soc]
		wantP.Name, gotP.Name = "", ""
		if diff := cmp.Diff(wantP, gotP); diff != "" {
			t.Errorf("%s (-file +starter):\n%s", soc, diff)
		}
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
	tables := NewTables(crosswalk, washington.Regions, append(wages.Wages, washington.Wages...), projections)

	for code := range Starter().crosswalk.CIPs {
		q := Query{CIPCodes: []string{code}, Area: Nation}
		want, err := Lookup(t.Context(), tables, q)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Lookup(t.Context(), Starter(), q)
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

	nurses := func(area Area) (Occupation, []string) {
		answer, err := Lookup(t.Context(), tables, Query{CIPCodes: []string{"51.3801"}, Area: area})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range answer.Data.Occupations {
			if o.SOCCode == "29-1141" {
				return o, told(answer.Warnings)
			}
		}
		t.Fatal("no nurses")
		return Occupation{}, nil
	}
	for area, source := range map[Area]string{
		Nation:         "BLS OEWS, May 2024, United States; ",
		{State, "53"}:  "OEWS as published by the state of Washington, 2022, Washington; ",
		{MSA, "42660"}: "OEWS as published by the state of Washington, 2022, Seattle-Tacoma-Bellevue, WA; ",
	} {
		o, warnings := nurses(area)
		if o.Source != source+"BLS Employment Projections, 2024-34, United States" || o.TotalEmployment == nil || o.MedianAnnualWage == nil {
			t.Errorf("%v: %+v", area, o)
		}
		if slices.Contains(warnings, "region_fallback 29-1141") || slices.Contains(warnings, "region_fallback") != (area != Nation) {
			t.Errorf("%v: warnings %v", area, warnings)
		}
	}
	answer, err := Lookup(t.Context(), tables, Query{CIPCodes: []string{"11.0701"}, Area: Area{MSA, "47460"}})
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
