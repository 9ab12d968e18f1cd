package labor

import (
	"cmp"
	"context"
	"slices"
)

// Tables is a Source in memory, made of the data sets that readers return. It is not
// changed once it is asked, and so is safe for concurrent use.
type Tables struct {
	crosswalk   *Crosswalk
	regions     map[Area]Region
	wages       map[Area]map[string]Wage
	projections map[string]Projection
	vintage     Vintage
}

// NewTables makes Tables of data sets. A later region or wage row replaces an earlier
// one of the same area, or area and occupation; the nation is always among the regions.
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

// Regions lists the regions of a type, or of all types where it is empty, the nation
// first, then states, then the rest, each by code.
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

// SortRegions orders regions as lists show them: the nation, states, metropolitan
// areas, each by code.
func SortRegions(regions []Region) {
	rank := []RegionType{National, State, MSA}
	slices.SortFunc(regions, func(a, b Region) int {
		return cmp.Or(
			cmp.Compare(slices.Index(rank, a.RegionType), slices.Index(rank, b.RegionType)),
			cmp.Compare(a.Region, b.Region))
	})
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
