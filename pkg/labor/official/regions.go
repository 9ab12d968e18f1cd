package official

import (
	"io"

	"skillscurriculum/pkg/labor"
)

// ReadRegions reads one of two region lists, as csv or xlsx, told apart by the header,
// in the order of codes:
//
//   - the relation of counties to core based statistical areas (cbsa2fipsxw.csv):
//     metropolitan and micropolitan areas, each once. An area whose counties are all
//     of one state belongs to that state.
//   - the states and their FIPS codes (state_fips_master.csv, which has the 50 states
//     and neither the District of Columbia nor Puerto Rico).
//
// A list of one kind says nothing about regions of another: who keeps regions adds
// those of a file to what there is.
func ReadRegions(r io.Reader, progress labor.Progress) ([]labor.Region, error) {
	b, err := openBook(r, progress)
	if err != nil {
		return nil, err
	}
	defer b.close()
	counties, err := b.open(col("cbsacode", "cbsacode"), col("cbsatitle", "cbsatitle"), col("fipsstatecode", "fipsstatecode"))
	if err == nil {
		defer counties.close()
		return readRegions(counties, countyLine)
	}
	states, other := b.open(col("state_name", "state_name"), col("fips", "fips"))
	if other != nil {
		return nil, err
	}
	defer states.close()
	return readRegions(states, stateLine)
}

func readRegions(t *table, line func(*table, map[labor.Area]labor.Region) error) ([]labor.Region, error) {
	byArea := map[labor.Area]labor.Region{}
	for {
		more, err := t.scan()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		if err := line(t, byArea); err != nil {
			return nil, err
		}
	}
	if len(byArea) == 0 {
		return nil, &FileError{Sheet: t.sheet, Line: t.line, Reason: "no region below the header"}
	}
	regions := make([]labor.Region, 0, len(byArea))
	for _, r := range byArea {
		regions = append(regions, r)
	}
	labor.SortRegions(regions)
	return regions, nil
}

func countyLine(t *table, byArea map[labor.Area]labor.Region) error {
	code, err := t.code("cbsacode", labor.IsCBSA, "41860")
	if err != nil {
		return err
	}
	title, err := t.text("cbsatitle")
	if err != nil {
		return err
	}
	state, err := t.code("fipsstatecode", labor.IsState, "06")
	if err != nil {
		return err
	}
	state = labor.StateArea(state).Region
	area := labor.Area{RegionType: labor.MSA, Region: code}
	region, ok := byArea[area]
	switch {
	case !ok:
		region = labor.Region{Area: area, Name: title, State: state}
	case region.Name != title:
		return t.errorAt("cbsatitle", "%s was %q before, now %q", code, region.Name, title)
	case region.State != state:
		region.State = ""
	}
	byArea[area] = region
	return nil
}

func stateLine(t *table, byArea map[labor.Area]labor.Region) error {
	fips, err := t.code("fips", labor.IsState, "6")
	if err != nil {
		return err
	}
	name, err := t.text("state_name")
	if err != nil {
		return err
	}
	area := labor.StateArea(fips)
	if _, twice := byArea[area]; twice {
		return t.errorAt("fips", "%s stands above already", fips)
	}
	byArea[area] = labor.Region{Area: area, Name: name}
	return nil
}
