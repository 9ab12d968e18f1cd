package labor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"skillscurriculum/pkg/catalog"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestLookupGolden(t *testing.T) {
	answer, err := Lookup(t.Context(), Starter(), Query{CIPCodes: []string{"11.0701"}, Area: Nation})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/11.0701-national.json"
	if *update {
		if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(bytes.TrimSpace(want)), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// market is a small world: 11.1111 leads to a developer, an actor, an aide that is
// published as one of a group, and a soldier that no source covers.
func market() *Tables {
	const (
		yakima   = "49420" // in Washington
		portland = "38900" // in two states
	)
	source := map[Area]string{Nation: "survey of the nation", {State, "53"}: "survey of Washington",
		{MSA, yakima}: "survey of Yakima", {MSA, portland}: "survey of Portland"}
	wage := func(area Area, soc string, jobs, median int) Wage {
		w := Wage{Area: area, SOCCode: soc, Name: "survey's " + soc, TotalEmployment: num(jobs),
			MedianAnnualWage: num(median),
			WagePercentiles:  WagePercentiles{num(median - 2), num(median - 1), num(median + 1), num(median + 2)},
			Vintage:          "May 2024", Source: source[area]}
		if area == (Area{State, "53"}) {
			w.Vintage = "2022"
		}
		return w
	}
	withheld := wage(Area{MSA, yakima}, "15-1252", 0, 90)
	withheld.TotalEmployment, withheld.WagePercentiles.P90 = nil, num(239200)
	withheld.Reasons = map[string]catalog.WarningCode{"totalEmployment": catalog.Suppressed, "p90": catalog.TopCoded}
	actor := Wage{Area: Nation, SOCCode: "27-2011", Name: "survey's actor", TotalEmployment: num(500), Vintage: "May 2024",
		Source: source[Nation],
		Reasons: map[string]catalog.WarningCode{
			"medianAnnualWage": catalog.HourlyOnly, "p10": catalog.HourlyOnly, "p25": catalog.HourlyOnly,
			"p75": catalog.HourlyOnly, "p90": catalog.HourlyOnly,
		}}
	projection := func(soc string) Projection {
		growth, education := 0.1, "Bachelor's degree"
		return Projection{SOCCode: soc, Name: "projected " + soc, ProjectedGrowth: &growth, AnnualOpenings: num(7),
			TypicalEducation: &education,
			Vintage:          "2024-34", Source: "projections"}
	}
	unprojected := projection("27-2011")
	unprojected.ProjectedGrowth, unprojected.TypicalEducation = nil, nil
	return NewTables(
		&Crosswalk{Vintage: "CIP 2020 - SOC 2018",
			CIPs: map[string]CIP{
				"11.1111": {"11.1111", "Everything.", []string{"15-1252", "27-2011", "31-1121", "55-3016"}},
				"22.2222": {"22.2222", "Software.", []string{"15-1252"}},
				"33.3333": {"33.3333", "Leisure.", []string{}},
			},
			Names: map[string]string{"15-1252": "Developer", "27-2011": "Actor", "31-1121": "Aide", "55-3016": "Soldier"}},
		[]Region{{Area: Area{State, "53"}, Name: "Washington"}, {Area: Area{State, "06"}, Name: "California"},
			{Area: Area{MSA, yakima}, Name: "Yakima, WA", State: "53"}, {Area: Area{MSA, portland}, Name: "Portland, OR-WA"}},
		[]Wage{withheld, actor, wage(Nation, "15-1252", 1000, 100), wage(Nation, "31-1120", 2000, 50),
			wage(Area{State, "53"}, "15-1252", 100, 95), wage(Area{State, "53"}, "31-1120", 200, 45)},
		[]Projection{projection("15-1252"), unprojected, projection("31-1120")})
}

// told is a warning without its text.
func told(warnings []catalog.Warning) []string {
	var all []string
	for _, w := range warnings {
		all = append(all, strings.TrimSpace(string(w.Code)+" "+w.CIPCode+w.SOCCode))
	}
	return all
}

func TestLookup(t *testing.T) {
	type figures struct {
		soc    string
		cips   string
		jobs   *int
		median *int
		source string
	}
	for name, c := range map[string]struct {
		query    Query
		region   string
		wages    string
		want     []figures
		warnings []string
	}{
		"the nation; a group's figures stand for its member": {
			query: Query{CIPCodes: []string{"22.2222", "11.1111"}, Area: Nation}, region: "United States", wages: "May 2024",
			want: []figures{
				{"31-1121", "11.1111", num(2000), num(50), "survey of the nation; projections"},
				{"15-1252", "22.2222 11.1111", num(1000), num(100), "survey of the nation; projections"},
				{"27-2011", "11.1111", num(500), nil, "survey of the nation; projections"},
				{"55-3016", "11.1111", nil, nil, ""},
			},
			warnings: []string{
				"occupation_group 31-1121", "occupation_group 31-1121", "hourly_only 27-2011", "suppressed 27-2011",
				"no_figures 55-3016", "no_figures 55-3016",
			},
		},
		"a state falls back to the nation, occupation by occupation": {
			query: Query{CIPCodes: []string{"11.1111"}, Area: Area{State, "53"}}, region: "Washington", wages: "2022, May 2024",
			want: []figures{
				{"27-2011", "11.1111", num(500), nil, "survey of the nation; projections"},
				{"31-1121", "11.1111", num(200), num(45), "survey of Washington; projections"},
				{"15-1252", "11.1111", num(100), num(95), "survey of Washington; projections"},
				{"55-3016", "11.1111", nil, nil, ""},
			},
			warnings: []string{"region_fallback", "region_fallback 27-2011", "hourly_only 27-2011", "suppressed 27-2011",
				"occupation_group 31-1121", "occupation_group 31-1121", "no_figures 55-3016", "no_figures 55-3016"},
		},
		"a state without any figures": {
			query: Query{CIPCodes: []string{"22.2222"}, Area: Area{State, "06"}}, region: "California", wages: "May 2024",
			want:     []figures{{"15-1252", "22.2222", num(1000), num(100), "survey of the nation; projections"}},
			warnings: []string{"region_fallback", "region_fallback 15-1252"},
		},
		"a metropolitan area: what its row suppresses stays null, what has no row is its state's": {
			query:  Query{CIPCodes: []string{"22.2222"}, SOCCodes: []string{"31-1120"}, Area: Area{MSA, "49420"}},
			region: "Yakima, WA", wages: "2022, May 2024",
			want: []figures{
				{"31-1120", "", num(200), num(45), "survey of Washington; projections"},
				{"15-1252", "22.2222", nil, num(90), "survey of Yakima; projections"},
			},
			warnings: []string{"region_fallback", "region_fallback 31-1120", "suppressed 15-1252", "top_coded 15-1252"},
		},
		"a metropolitan area in two states falls back to the nation": {
			query: Query{CIPCodes: []string{"22.2222"}, Area: Area{MSA, "38900"}}, region: "Portland, OR-WA", wages: "May 2024",
			want:     []figures{{"15-1252", "22.2222", num(1000), num(100), "survey of the nation; projections"}},
			warnings: []string{"region_fallback", "region_fallback 15-1252"},
		},
		"unknown codes, no match": {
			query:  Query{CIPCodes: []string{"99.0000", "33.3333", "22.2222"}, SOCCodes: []string{"10-0000"}, Area: Nation},
			region: "United States", wages: "May 2024",
			want:     []figures{{"15-1252", "22.2222", num(1000), num(100), "survey of the nation; projections"}},
			warnings: []string{"unknown_cip 99.0000", "no_match 33.3333", "unknown_soc 10-0000"},
		},
		"nothing known at all": {
			query: Query{CIPCodes: []string{"99.0000"}, Area: Nation}, region: "United States", wages: "May 2024",
			warnings: []string{"unknown_cip 99.0000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			answer, err := Lookup(t.Context(), market(), c.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []figures
			for _, o := range answer.Data.Occupations {
				got = append(got, figures{
					o.SOCCode, strings.Join(o.CIPCodes, " "), o.TotalEmployment, o.MedianAnnualWage, o.Source,
				})
			}
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(figures{})); diff != "" {
				t.Errorf("occupations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.warnings, told(answer.Warnings)); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			d := answer.Data
			if d.RegionName != c.region || (Area{d.RegionType, d.Region}) != c.query.Area {
				t.Errorf("region %s %s %q", d.RegionType, d.Region, d.RegionName)
			}
			if diff := cmp.Diff(Vintage{c.wages, "2024-34", "CIP 2020 - SOC 2018"}, d.Vintage); diff != "" {
				t.Errorf("vintage (-want +got):\n%s", diff)
			}
			if d.Occupations == nil || d.CIPCodes == nil || answer.Warnings == nil {
				t.Errorf("a list is nil: %+v", answer)
			}
		})
	}
}

func TestLookupUnknownRegion(t *testing.T) {
	_, err := Lookup(t.Context(), market(), Query{CIPCodes: []string{"22.2222"}, Area: Area{State, "99"}})
	var refused *catalog.Error
	if !errors.As(err, &refused) || refused.Code != catalog.InvalidParameter {
		t.Errorf("state 99: %v", err)
	}
}

// A failing store must not look like an empty answer.
func TestLookupStoreFault(t *testing.T) {
	down := errors.New("down")
	for name, src := range map[string]Source{"scope": broken{scope: down}, "facts": broken{facts: down}} {
		_, err := Lookup(t.Context(), src, Query{CIPCodes: []string{"22.2222"}, Area: Nation})
		if !errors.Is(err, down) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type broken struct{ scope, facts error }

func (b broken) Scope(ctx context.Context, area Area, cips []string) (Scope, error) {
	scope, _ := market().Scope(ctx, area, cips)
	return scope, b.scope
}

func (b broken) Facts(context.Context, []Area, []string) (Facts, error) { return Facts{}, b.facts }

// asked notes what Lookup asks of a source.
type asked struct {
	Source
	t             *rapid.T
	scopes, facts int
}

func (a *asked) Scope(ctx context.Context, area Area, cips []string) (Scope, error) {
	a.scopes++
	return a.Source.Scope(ctx, area, cips)
}

func (a *asked) Facts(ctx context.Context, areas []Area, socs []string) (Facts, error) {
	a.facts++
	if len(areas) < 1 || len(areas) > 3 || areas[len(areas)-1] != Nation {
		a.t.Errorf("asked for areas %v", areas)
	}
	if !slices.IsSorted(socs) || len(slices.Compact(slices.Clone(socs))) != len(socs) {
		a.t.Errorf("asked for %v", socs)
	}
	return a.Source.Facts(ctx, areas, socs)
}

// about is a warning without its text.
type about struct {
	catalog.WarningCode
	occupation, program string
}

// TestLookupLaws checks on the starter tables what holds for every question.
func TestLookupLaws(t *testing.T) {
	starter := Starter()
	var codes []string
	for code := range starter.crosswalk.CIPs {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	regions, _ := starter.Regions(t.Context(), "")
	rapid.Check(t, func(t *rapid.T) {
		q := Query{
			CIPCodes: rapid.SliceOfNDistinct(rapid.SampledFrom(append(codes, "99.0000")), 1, MaxCIPs,
				rapid.ID[string]).Draw(t, "cips"),
			Area: rapid.SampledFrom(regions).Draw(t, "region").Area,
		}
		src := &asked{Source: starter, t: t}
		answer, err := Lookup(context.Background(), src, q)
		if err != nil {
			t.Fatal(err)
		}
		if src.scopes != 1 || src.facts > 1 {
			t.Errorf("%d and %d questions", src.scopes, src.facts)
		}
		warned := map[about]bool{}
		for _, w := range answer.Warnings {
			warned[about{w.Code, w.SOCCode, w.CIPCode}] = true
		}
		want := map[string][]string{}
		for _, code := range q.CIPCodes {
			program, known := starter.crosswalk.CIPs[code]
			socs := program.SOCCodes
			if known == warned[about{catalog.UnknownCIP, "", code}] || (known && len(socs) == 0) != warned[about{
				catalog.NoMatch, "", code,
			}] {
				t.Errorf("%s known %v, %d occupations, warnings %v", code, known, len(socs), answer.Warnings)
			}
			for _, soc := range socs {
				want[soc] = append(want[soc], code)
			}
		}
		got := map[string][]string{}
		last := Occupation{TotalEmployment: num(1 << 40)}
		for _, o := range answer.Data.Occupations {
			got[o.SOCCode] = o.CIPCodes
			if order := descending(last.TotalEmployment, o.TotalEmployment); order > 0 || order == 0 &&
				last.SOCCode >= o.SOCCode {
				t.Errorf("%s stands before %s", last.SOCCode, o.SOCCode)
			}
			last = o
			checkFigures(t, o, q.Area, warned)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("occupations (-want +got):\n%s", diff)
		}
		again, _ := Lookup(context.Background(), starter, q)
		if diff := cmp.Diff(answer, again); diff != "" {
			t.Errorf("a second answer differs:\n%s", diff)
		}
	})
}

// checkFigures reports a figure that lacks, or is of another area, without a warning.
func checkFigures(t *rapid.T, o Occupation, area Area, warned map[about]bool) {
	p := o.WagePercentiles
	for _, figure := range []*int{o.TotalEmployment, o.MedianAnnualWage, p.P10, p.P25, p.P75, p.P90} {
		if figure == nil && !warned[about{catalog.Suppressed, o.SOCCode, ""}] &&
			!warned[about{catalog.HourlyOnly, o.SOCCode, ""}] && !warned[about{catalog.NoFigures, o.SOCCode, ""}] {
			t.Errorf("%s lacks a figure without a warning", o.SOCCode)
		}
	}
	fallback := warned[about{catalog.RegionFallback, o.SOCCode, ""}]
	if o.WageArea != (Area{}) && fallback != (o.WageArea != area) {
		t.Errorf("%s has figures of %v, asked for %v, warned %t", o.SOCCode, o.WageArea, area, fallback)
	}
	if o.Name == "" {
		t.Errorf("%s has no name", o.SOCCode)
	}
}

func TestStarterHolds(t *testing.T) {
	starter := Starter()
	regions := map[RegionType]int{}
	for area := range starter.regions {
		regions[area.RegionType]++
	}
	if diff := cmp.Diff(map[RegionType]int{National: 1, State: 52, MSA: 393}, regions); diff != "" {
		t.Error(diff)
	}
	for _, code := range []string{
		"11.0701", "11.0101", "11.0103", "13.1202", "14.0801", "24.0101", "26.0101", "42.0101", "43.0104", "45.1001",
		"51.3801", "52.0201", "52.0301",
	} {
		if socs := starter.crosswalk.CIPs[code].SOCCodes; len(socs) == 0 {
			t.Errorf("%s leads to %v", code, socs)
		}
	}
	for _, soc := range []string{"15-1252", "29-1141"} {
		if w, p := starter.wages[Nation][soc], starter.projections[soc]; w.MedianAnnualWage == nil ||
			p.ProjectedGrowth == nil {
			t.Errorf("%s has no figures", soc)
		}
	}
	for code, cip := range starter.crosswalk.CIPs {
		if cip.SOCCodes == nil || !slices.IsSorted(cip.SOCCodes) || !IsCIP(code) || cip.CIPCode != code {
			t.Errorf("%+v", cip)
		}
		for _, soc := range cip.SOCCodes {
			if starter.crosswalk.Names[soc] == "" || !IsSOC(soc) {
				t.Errorf("%s leads to %q, which has no title", code, soc)
			}
		}
	}
}

// BenchmarkLookup looks up as many programs as one question may name.
func BenchmarkLookup(b *testing.B) {
	starter := Starter()
	var codes []string
	for code := range starter.crosswalk.CIPs {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	q := Query{CIPCodes: codes[:MaxCIPs], Area: Area{State, "53"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Lookup(b.Context(), starter, q); err != nil {
			b.Fatal(err)
		}
	}
}

func num(n int) *int { return &n }
