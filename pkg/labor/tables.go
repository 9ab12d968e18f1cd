package labor

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Tables is an in-memory Source built from the data sets that the readers return. It is
// immutable and safe for concurrent use.
type Tables struct {
	crosswalk   *Crosswalk
	regions     map[Area]Region
	wages       map[Area]map[string]Wage
	projections map[string]Projection
	vintage     Vintage
}

// NewTables builds Tables from data sets. A later region or wage row replaces an earlier one
// for the same area, or area and occupation; the nation is always among the regions.
func NewTables(crosswalk *Crosswalk, regions []Region, wages []Wage, projections []Projection) *Tables {
	t := &Tables{
		crosswalk:   crosswalk,
		regions:     map[Area]Region{Nation: {Area: Nation, Name: "United States"}},
		wages:       map[Area]map[string]Wage{},
		projections: map[string]Projection{},
		vintage:     Vintage{Crosswalk: crosswalk.Vintage},
	}
	for _, r := range regions {
		t.regions[r.Area] = r
	}
	for _, w := range wages {
		if t.wages[w.Area] == nil {
			t.wages[w.Area] = map[string]Wage{}
		}
		t.wages[w.Area][w.SOCCode] = w
		if w.Area == Nation {
			t.vintage.Wages = w.Vintage
		}
	}
	for _, p := range projections {
		t.projections[p.SOCCode] = p
		t.vintage.Projections = p.Vintage
	}
	return t
}

// Imported has the tables that replace built-in ones; nil ones replace nothing.
type Imported struct {
	Crosswalk   *Crosswalk
	Projections []Projection
	Surveyed    []Region // as the wage survey names them; used where the tables have no name
	Regions     []Region // take precedence over all others
	Vintage     Vintage  // of the imported data, including wages; empty fields change nothing
}

// With returns the tables with the imported ones in place of their own.
func (t *Tables) With(d Imported) *Tables {
	with := *t
	with.regions = map[Area]Region{}
	for _, list := range [][]Region{d.Surveyed, slices.Collect(maps.Values(t.regions)), d.Regions} {
		for _, r := range list {
			with.regions[r.Area] = r
		}
	}
	with.crosswalk = cmp.Or(d.Crosswalk, t.crosswalk)
	if d.Projections != nil {
		with.projections = map[string]Projection{}
		for _, p := range d.Projections {
			with.projections[p.SOCCode] = p
		}
	}
	with.vintage = Vintage{
		Wages:       cmp.Or(d.Vintage.Wages, t.vintage.Wages),
		Projections: cmp.Or(d.Vintage.Projections, t.vintage.Projections),
		Crosswalk:   cmp.Or(d.Vintage.Crosswalk, t.vintage.Crosswalk),
	}
	return &with
}

// Scope implements Source.
func (t *Tables) Scope(_ context.Context, area Area, cips []string) (Scope, error) {
	scope := Scope{CIPs: map[string]CIP{}, Vintage: t.vintage}
	if r, ok := t.regions[area]; ok {
		scope.Region = &r
	}
	for _, code := range cips {
		if cip, ok := t.crosswalk.CIPs[code]; ok {
			scope.CIPs[code] = cip
		}
	}
	return scope, nil
}

// Facts implements Source.
func (t *Tables) Facts(_ context.Context, areas []Area, socs []string) (Facts, error) {
	facts := Facts{
		Names:       pick(t.crosswalk.Names, socs),
		Projections: pick(t.projections, socs),
		Wages:       map[Area]map[string]Wage{},
	}
	for _, area := range areas {
		facts.Wages[area] = pick(t.wages[area], socs)
	}
	return facts, nil
}

// Regions lists the regions of a type, or of all types if it is empty: the nation first, then
// states, then the rest, each by code.
func (t *Tables) Regions(_ context.Context, regionType RegionType) ([]Region, error) {
	regions := []Region{}
	for _, r := range t.regions {
		if regionType == "" || r.RegionType == regionType {
			regions = append(regions, r)
		}
	}
	SortRegions(regions)
	return regions, nil
}

// SortRegions sorts regions in list order: the nation, states, metropolitan areas, each by code.
func SortRegions(regions []Region) {
	rank := []RegionType{National, State, MSA}
	slices.SortFunc(regions, func(a, b Region) int {
		return cmp.Or(
			cmp.Compare(slices.Index(rank, a.RegionType), slices.Index(rank, b.RegionType)),
			cmp.Compare(a.Region, b.Region))
	})
}

// NamedOccupation is an occupation of SOC 2018.
type NamedOccupation struct {
	SOCCode string `json:"socCode"`
	Name    string `json:"name" doc:"Title of the occupation"`
}

// Occupations lists all occupations by code.
func (t *Tables) Occupations() []NamedOccupation {
	all := make([]NamedOccupation, 0, len(t.crosswalk.Names))
	for _, soc := range slices.Sorted(maps.Keys(t.crosswalk.Names)) {
		all = append(all, NamedOccupation{soc, t.crosswalk.Names[soc]})
	}
	return all
}

// CIPs lists all instructional programs by code.
func (t *Tables) CIPs() []CIP {
	byCode := func(a, b CIP) int { return cmp.Compare(a.CIPCode, b.CIPCode) }
	return slices.SortedFunc(maps.Values(t.crosswalk.CIPs), byCode)
}

// Vintage dates the national wages, the projections and the crosswalk.
func (t *Tables) Vintage() Vintage { return t.vintage }

// Surveyed lists the regions with wages of their own, these and imported ones, in list order.
func (t *Tables) Surveyed(imported []Area) []Region {
	areas := map[Area]bool{}
	for _, area := range slices.Concat(slices.Collect(maps.Keys(t.wages)), imported) {
		areas[area] = true
	}
	var surveyed []Region
	for area := range areas {
		region, known := t.regions[area]
		if !known {
			region = Region{Area: area, Name: area.Region}
		}
		surveyed = append(surveyed, region)
	}
	SortRegions(surveyed)
	return surveyed
}

func pick[V any](all map[string]V, keys []string) map[string]V {
	some := map[string]V{}
	for _, key := range keys {
		if v, ok := all[key]; ok {
			some[key] = v
		}
	}
	return some
}
