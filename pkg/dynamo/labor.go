package dynamo

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// Reference data is stored in data sets. An import writes the rows of a new generation and then switches the row that
// lists the current generations (dataRow), so that readers see all of an import or none of it.
//
//	row            partition (pk)            sort key (sk)
//	data sets      r                         current
//	crosswalk      r#crosswalk#<generation>    all
//	projections    r#projections#<generation>  all
//	regions        r#regions#<generation>      all
//	wages          r#wages#<generation>        <area>, one row each; regions
//
// Every row is one compressed list; the largest, the 831 occupations of an area, has about 40 KB.
const (
	crosswalkSet   = "crosswalk"
	projectionsSet = "projections"
	regionsSet     = "regions"
	wagesSet       = "wages"

	wholeSet    = "all"
	wageRegions = "regions"
)

// DataSeenWithin is the maximum time, in ms, until readers see an import.
const DataSeenWithin = 10_000

// dataKept is how long, in ms, superseded rows are kept: longer than any request takes that began before the switch.
const dataKept = 600_000

var currentKey = key{api.DataVersionRows.Key(), "current"}

func dataKey(set, generation, part string) key {
	return key{api.DataRows.Key(set, generation), part}
}

func areaPart(a labor.Area) string { return string(a.RegionType) + ":" + a.Region }

// DataSet describes an import of reference data. It replaces older ones of the same set that
// have no area which it lacks.
type DataSet struct {
	Set        string       `json:"set"`
	Generation string       `json:"generation"`
	Vintage    string       `json:"vintage"`
	Source     string       `json:"source"` // name of the file
	ImportedAt catalog.Time `json:"importedAt"`
	Entries    int          `json:"entries"`
	Areas      []labor.Area `json:"areas,omitempty"` // of wages; only region types for regions
}

// covers reports whether d replaces an older data set.
func (d DataSet) covers(older DataSet) bool {
	lacks := func(a labor.Area) bool { return !slices.Contains(d.Areas, a) }
	return d.Set == older.Set && !slices.ContainsFunc(older.Areas, lacks)
}

// dataRow lists the current data sets, the latest last, and the superseded partitions with
// the instants from which they may be emptied.
type dataRow struct {
	Sets    []DataSet               `json:"sets"`
	Trash   map[string]catalog.Time `json:"trash"`
	version int
}

func (s *Store) dataRow(ctx context.Context, strong bool) (*dataRow, error) {
	row, err := s.row(ctx, currentKey, strong)
	d := &dataRow{Trash: map[string]catalog.Time{}}
	if err != nil || row == nil {
		return d, err
	}
	d.version = integer(row[version])
	return d, unpackRow(row, d)
}

// changeData updates the data row, and retries on concurrent updates.
func (s *Store) changeData(ctx context.Context, change func(*dataRow)) error {
	for {
		d, err := s.dataRow(ctx, true)
		if err != nil {
			return err
		}
		change(d)
		row, err := packRow(currentKey, d)
		if err != nil {
			return err
		}
		row[version] = number(d.version + 1)
		var e expression
		e.counted(version, d.version)
		if saved, err := s.putItem(ctx, currentKey, row, &e); saved || err != nil {
			return err
		}
	}
}

// packRow returns a row with a compressed value.
func packRow(k key, v any) (item, error) {
	value, err := packed(v)
	if err == nil && len(value.Value) > rowBytes {
		err = fmt.Errorf("%s is too large for a row of the table", k.sk)
	}
	return item{"data": value}, err
}

// unpackRow parses the value of a row into v.
func unpackRow(row item, v any) error {
	data, err := unpacked(row, "data")
	if err != nil {
		return err
	}
	if data == nil {
		return fmt.Errorf("row %s has no data", keyOfRow(row).sk)
	}
	return json.Unmarshal(data, v)
}

// DataSets lists the current imports, the latest last.
func (s *Store) DataSets(ctx context.Context) ([]DataSet, error) {
	d, err := s.dataRow(ctx, true)
	if err != nil {
		return nil, err
	}
	return d.Sets, nil
}

// Origin is the source of reference data: the name of the file, and a unique name of the import.
type Origin struct {
	Source     string
	Generation string
}

// ImportCrosswalk replaces the crosswalk.
func (s *Store) ImportCrosswalk(ctx context.Context, from Origin, c *labor.Crosswalk) error {
	set := DataSet{Set: crosswalkSet, Vintage: c.Vintage, Entries: len(c.CIPs)}
	return s.importData(ctx, from, set, map[string]any{wholeSet: c}, nil)
}

// ImportProjections replaces the projections.
func (s *Store) ImportProjections(ctx context.Context, from Origin, projections []labor.Projection) error {
	set := DataSet{Set: projectionsSet, Entries: len(projections)}
	if len(projections) > 0 {
		set.Vintage = projections[0].Vintage
	}
	return s.importData(ctx, from, set, map[string]any{wholeSet: projections}, nil)
}

// ImportRegions replaces earlier lists of regions of the same type. They extend the regions that are built in.
func (s *Store) ImportRegions(ctx context.Context, from Origin, regions []labor.Region) error {
	set := DataSet{Set: regionsSet, Entries: len(regions)}
	for _, r := range regions {
		if kind := (labor.Area{RegionType: r.RegionType}); !slices.Contains(set.Areas, kind) {
			set.Areas = append(set.Areas, kind)
		}
	}
	return s.importData(ctx, from, set, map[string]any{wholeSet: regions}, nil)
}

// ImportWages replaces the wages of the areas in the file. progress is called with the number of areas written.
func (s *Store) ImportWages(
	ctx context.Context, from Origin, file *labor.WageFile, progress labor.Progress,
) error {
	set := DataSet{Set: wagesSet, Vintage: file.Vintage, Entries: len(file.Wages)}
	byArea := map[labor.Area][]labor.Wage{}
	for _, w := range file.Wages {
		if _, ok := byArea[w.Area]; !ok {
			set.Areas = append(set.Areas, w.Area)
		}
		byArea[w.Area] = append(byArea[w.Area], w)
	}
	parts := map[string]any{wageRegions: file.Regions}
	for area, wages := range byArea {
		parts[areaPart(area)] = wages
	}
	return s.importData(ctx, from, set, parts, progress)
}

// importData writes a generation and switches to it. Until the switch its partition is listed
// as trash, so that the rows of an interrupted import are deleted later.
func (s *Store) importData(
	ctx context.Context, from Origin, set DataSet, parts map[string]any, progress labor.Progress,
) error {
	set.Source, set.Generation, set.ImportedAt = from.Source, from.Generation, s.Now()
	own := dataKey(set.Set, set.Generation, "").pk
	var due []string
	err := s.changeData(ctx, func(d *dataRow) {
		due = due[:0]
		for pk, at := range d.Trash {
			if at < s.Now() {
				due = append(due, pk)
			}
		}
		d.Trash[own] = s.Now() + dataKept
	})
	if err != nil {
		return err
	}
	for _, pk := range due {
		if err := s.empty(ctx, pk); err != nil {
			return err
		}
	}
	done := 0
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		k := dataKey(set.Set, set.Generation, part)
		row, err := packRow(k, parts[part])
		if err != nil {
			return err
		}
		if _, err := s.putItem(ctx, k, row, nil); err != nil {
			return err
		}
		if done++; progress != nil {
			progress(done, len(parts))
		}
	}
	return s.changeData(ctx, func(d *dataRow) {
		for _, pk := range due {
			delete(d.Trash, pk)
		}
		delete(d.Trash, own)
		d.Sets = slices.DeleteFunc(d.Sets, func(older DataSet) bool {
			superseded := set.covers(older)
			if superseded {
				d.Trash[dataKey(older.Set, older.Generation, "").pk] = s.Now() + dataKept
			}
			return superseded
		})
		d.Sets = append(d.Sets, set)
	})
}

// empty deletes all rows of a partition.
func (s *Store) empty(ctx context.Context, pk string) error {
	in := partitionQuery(pk, true)
	in.ProjectionExpression = aws.String("pk, sk")
	return s.query(ctx, in, func(row item) (bool, error) {
		return true, s.deleteRow(ctx, row)
	})
}

// Market looks up the imported reference data, and built-in data for sets that were never
// imported. It is safe for concurrent use.
type Market struct {
	Store *Store

	mu    sync.Mutex
	state *market
	wages map[key]map[string]labor.Wage // of areas requested so far, by row
}

// market is a snapshot of the reference data.
type market struct {
	row    *dataRow
	readAt catalog.Time
	tables *labor.Tables // without imported wages
}

// maxWageAreas limits the areas whose wages a Market caches: a few megabytes.
const maxWageAreas = 12

// current returns a snapshot at most DataSeenWithin old, or an older one if the table cannot be reached.
func (m *Market) current(ctx context.Context) (*market, error) {
	m.mu.Lock()
	last := m.state
	m.mu.Unlock()
	now := m.Store.Now()
	if last != nil && now-last.readAt < DataSeenWithin && now >= last.readAt {
		return last, nil
	}
	row, err := m.Store.dataRow(ctx, false)
	if err != nil {
		if last != nil && ctx.Err() == nil {
			return last, nil
		}
		return nil, err
	}
	fresh := &market{row: row, readAt: now}
	if last != nil && last.row.version == row.version {
		fresh.tables = last.tables
	} else if fresh.tables, err = m.Store.tables(ctx, row.Sets); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state = fresh
	return fresh, nil
}

// tables reads data sets, except wages, in one round trip.
func (s *Store) tables(ctx context.Context, sets []DataSet) (*labor.Tables, error) {
	var imported labor.Imported
	rows := map[key]any{}
	var surveyed, listed []*[]labor.Region
	regions := func(lists *[]*[]labor.Region) any {
		*lists = append(*lists, new([]labor.Region))
		return (*lists)[len(*lists)-1]
	}
	for _, set := range sets {
		part := wholeSet
		var into any
		switch set.Set {
		case crosswalkSet:
			into, imported.Vintage.Crosswalk = &imported.Crosswalk, set.Vintage
		case projectionsSet:
			into, imported.Vintage.Projections = &imported.Projections, set.Vintage
		case regionsSet:
			into = regions(&listed)
		case wagesSet:
			into, part = regions(&surveyed), wageRegions
			if slices.Contains(set.Areas, labor.Nation) {
				imported.Vintage.Wages = set.Vintage
			}
		}
		rows[dataKey(set.Set, set.Generation, part)] = into
	}
	if err := s.readPacked(ctx, rows); err != nil {
		return nil, err
	}
	for _, list := range surveyed {
		imported.Surveyed = append(imported.Surveyed, *list...)
	}
	for _, list := range listed {
		imported.Regions = append(imported.Regions, *list...)
	}
	return labor.Starter().With(imported), nil
}

// readPacked reads rows into the values of a map.
func (s *Store) readPacked(ctx context.Context, into map[key]any) error {
	rows, err := s.rows(ctx, slices.Collect(maps.Keys(into)), false)
	if err != nil {
		return err
	}
	if len(rows) < len(into) {
		return catalog.Errorf(catalog.Unavailable, "Reference data is being replaced at the moment.")
	}
	for _, row := range rows {
		if err := unpackRow(row, into[keyOfRow(row)]); err != nil {
			return fmt.Errorf("reference data %v: %w", keyOfRow(row), err)
		}
	}
	return nil
}

// Scope implements labor.Source.
func (m *Market) Scope(ctx context.Context, area labor.Area, cips []string) (labor.Scope, error) {
	now, err := m.current(ctx)
	if err != nil {
		return labor.Scope{}, err
	}
	return now.tables.Scope(ctx, area, cips)
}

// Facts implements labor.Source.
func (m *Market) Facts(ctx context.Context, areas []labor.Area, socs []string) (labor.Facts, error) {
	now, err := m.current(ctx)
	if err != nil {
		return labor.Facts{}, err
	}
	imported, err := m.wagesOf(ctx, now, areas)
	if err != nil {
		return labor.Facts{}, err
	}
	facts, err := now.tables.Facts(ctx, areas, socs)
	for area, wages := range imported {
		facts.Wages[area] = map[string]labor.Wage{}
		for _, soc := range socs {
			if w, ok := wages[soc]; ok {
				facts.Wages[area][soc] = w
			}
		}
	}
	return facts, err
}

// wagesOf returns the imported wages by area, without areas that have none. Wages that are
// not cached are read in one round trip.
func (m *Market) wagesOf(
	ctx context.Context, now *market, areas []labor.Area,
) (map[labor.Area]map[string]labor.Wage, error) {
	at := map[labor.Area]key{}
	for _, set := range now.row.Sets { // the latest last
		for _, area := range areas {
			if set.Set == wagesSet && slices.Contains(set.Areas, area) {
				at[area] = dataKey(wagesSet, set.Generation, areaPart(area))
			}
		}
	}
	known := map[labor.Area]map[string]labor.Wage{}
	missing := map[key]any{}
	m.mu.Lock()
	for area, k := range at {
		if known[area] = m.wages[k]; known[area] == nil {
			missing[k] = new([]labor.Wage)
		}
	}
	m.mu.Unlock()
	if len(missing) == 0 {
		return known, nil
	}
	if err := m.Store.readPacked(ctx, missing); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.wages == nil || len(m.wages)+len(missing) > maxWageAreas {
		m.wages = map[key]map[string]labor.Wage{}
	}
	for area, k := range at {
		if known[area] != nil {
			continue
		}
		known[area] = map[string]labor.Wage{}
		for _, w := range *missing[k].(*[]labor.Wage) {
			known[area][w.SOCCode] = w
		}
		m.wages[k] = known[area]
	}
	return known, nil
}

// Tables returns the current tables; they lack imported wages, whose areas it returns.
func (m *Market) Tables(ctx context.Context) (*labor.Tables, []labor.Area, error) {
	now, err := m.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	var imported []labor.Area
	for _, set := range now.row.Sets {
		if set.Set == wagesSet {
			imported = append(imported, set.Areas...)
		}
	}
	return now.tables, imported, nil
}

// Regions lists the regions of a type; "" for all.
func (m *Market) Regions(ctx context.Context, regionType labor.RegionType) ([]labor.Region, error) {
	now, err := m.current(ctx)
	if err != nil {
		return nil, err
	}
	return now.tables.Regions(ctx, regionType)
}
