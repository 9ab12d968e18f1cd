package official

import (
	"io"
	"maps"
	"slices"

	"skillscurriculum/pkg/labor"
)

// ReadRegions reads one of two region lists, as CSV or XLSX, recognized by the header. It
// returns the regions in the order of their codes:
//
//   - the relation of counties to core based statistical areas (cbsa2fipsxw.csv):
//     metropolitan and micropolitan areas, each once. An area whose counties are all in
//     one state belongs to that state.
//   - the states and their FIPS codes (state_fips_master.csv, which has the 50 states but
//     not the District of Columbia or Puerto Rico).
//
// A list has regions of one kind only: callers add them to the regions they have.
func ReadRegions(r io.Reader, progress labor.Progress) ([]labor.Region, error) {
	b, err := openBook(r, progress)
	if err != nil {
		return nil, err
	}
	defer b.close()
	counties, err := b.open(named("cbsacode", "cbsatitle", "fipsstatecode")...)
	if err == nil {
		return readRegions(counties, countyLine)
	}
	states, other := b.open(named("state_name", "fips")...)
	if other != nil {
		return nil, err
	}
	return readRegions(states, stateLine)
}

func readRegions(t *table, line func(*table, map[labor.Area]labor.Region)) ([]labor.Region, error) {
	byArea := map[labor.Area]labor.Region{}
	for t.scan() {
		line(t, byArea)
	}
	if err := t.end(len(byArea), "region"); err != nil {
		return nil, err
	}
	regions := slices.Collect(maps.Values(byArea))
	labor.SortRegions(regions)
	return regions, nil
}

func countyLine(t *table, byArea map[labor.Area]labor.Region) {
	code, title := t.code("cbsacode", labor.IsCBSA, "41860"), t.text("cbsatitle")
	state := labor.StateArea(t.code("fipsstatecode", labor.IsState, "06")).Region
	area := labor.Area{RegionType: labor.MSA, Region: code}
	region, ok := byArea[area]
	switch {
	case !ok:
		region = labor.Region{Area: area, Name: title, State: state}
	case region.Name != title:
		t.fail("cbsatitle", "%s is named %q above, here %q", code, region.Name, title)
	case region.State != state:
		region.State = ""
	}
	byArea[area] = region
}

func stateLine(t *table, byArea map[labor.Area]labor.Region) {
	fips, name := t.code("fips", labor.IsState, "6"), t.text("state_name")
	area := labor.StateArea(fips)
	if _, twice := byArea[area]; twice {
		t.fail("fips", "%s is a duplicate of a line above", fips)
	}
	byArea[area] = labor.Region{Area: area, Name: name}
}
