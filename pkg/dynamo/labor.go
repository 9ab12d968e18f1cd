package dynamo

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/pkg/api"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/labor"
)

// Reference data is kept in data sets. An import writes the rows of a new
// generation, which nobody reads, and then switches the one row that names which
// generations count (dataRow): readers see all of an import or nothing of it.
//
//	row            partition (pk)            sort key (sk)
//	what counts    r                         current
//	crosswalk      r#crosswalk#<generation>    all
//	projections    r#projections#<generation>  all
//	regions        r#regions#<generation>      all
//	wages          r#wages#<generation>        <area>, one row each; regions
//
// Every row is one packed list: the largest, the 831 occupations of an area, has
// some 40 KB, so that a response about three areas reads three rows.
const (
	crosswalkSet   = "crosswalk"
	projectionsSet = "projections"
	regionsSet     = "regions"
	wagesSet       = "wages"

	wholeSet    = "all"
	wageRegions = "regions"
)

// DataSeenWithin is how long, in ms, a reader may not know of an import yet.
const DataSeenWithin = 10_000

// dataKept is how long, in ms, rows stay that no longer count: longer than any
// request that began before takes.
const dataKept = 600_000

var currentKey = key{api.DataVersionRows.Key(), "current"}

func dataKey(set, generation, part string) key {
	return key{api.DataRows.Key(set, generation), part}
}

func areaPart(a labor.Area) string { return string(a.RegionType) + ":" + a.Region }

// DataSet is an import of reference data. A later one takes the place of those
// whose areas it has all.
type DataSet struct {
	Set        string       `json:"set"`
	Generation string       `json:"generation"`
	Vintage    string       `json:"vintage"`
	Source     string       `json:"source"` // name of the file
	ImportedAt catalog.Time `json:"importedAt"`
	Entries    int          `json:"entries"`
	Areas      []labor.Area `json:"areas,omitempty"` // of wages; the kind of regions
}

// covers reports whether nothing of an older data set counts besides this one.
func (d DataSet) covers(older DataSet) bool {
	return d.Set == older.Set && !slices.ContainsFunc(older.Areas, func(a labor.Area) bool { return !slices.Contains(d.Areas, a) })
}

// dataRow is what counts: the data sets, the latest last, and the partitions
// that are to be emptied from an instant on.
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
	packed, err := unpackRow(row)
	if err == nil {
		err = json.Unmarshal(packed, d)
	}
	d.version = integer(row["version"])
	return d, err
}

// changeData changes what counts, again and again until nobody came in between.
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
		row["version"] = number(d.version + 1)
		var e expression
		if d.version == 0 {
			e.conditions = []string{"attribute_not_exists(pk)"}
		} else {
			e.conditions = []string{e.name("version") + " = " + e.value(number(d.version))}
		}
		_, err = s.Client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &s.Table, Item: row, ConditionExpression: e.condition(), ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
		})
		var changed *types.ConditionalCheckFailedException
		if !errors.As(err, &changed) {
			return unavailable(err)
		}
	}
}

// packRow returns a row that holds a value packed.
func packRow(k key, v any) (item, error) {
	packed, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	row := k.attributes()
	row["data"] = binary(compress(packed))
	if size := len(row["data"].(*types.AttributeValueMemberB).Value); size > rowBytes {
		return nil, fmt.Errorf("%s holds more than a row of the table takes", k.sk)
	}
	return row, nil
}

func unpackRow(row item) ([]byte, error) {
	packed, ok := row["data"].(*types.AttributeValueMemberB)
	if !ok {
		return nil, fmt.Errorf("reference data row %v holds nothing", row[api.SortKey])
	}
	return decompress(packed.Value)
}

// DataSets lists the imports that count, the latest last.
func (s *Store) DataSets(ctx context.Context) ([]DataSet, error) {
	d, err := s.dataRow(ctx, true)
	if err != nil {
		return nil, err
	}
	return d.Sets, nil
}

// Origin is where reference data comes from: the file's name, and a unique name
// of the import.
type Origin struct {
	Source     string
	Generation string
}

// ImportCrosswalk takes the place of the crosswalk.
func (s *Store) ImportCrosswalk(ctx context.Context, from Origin, c *labor.Crosswalk) error {
	set := DataSet{Set: crosswalkSet, Vintage: c.Vintage, Entries: len(c.CIPs)}
	return s.importData(ctx, from, set, map[string]any{wholeSet: c}, nil)
}

// ImportProjections takes the place of the projections.
func (s *Store) ImportProjections(ctx context.Context, from Origin, projections []labor.Projection) error {
	set := DataSet{Set: projectionsSet, Entries: len(projections)}
	if len(projections) > 0 {
		set.Vintage = projections[0].Vintage
	}
	return s.importData(ctx, from, set, map[string]any{wholeSet: projections}, nil)
}

// ImportRegions takes the place of an earlier list of regions of the same type.
// Regions add to those that the service knows by itself.
func (s *Store) ImportRegions(ctx context.Context, from Origin, regions []labor.Region) error {
	set := DataSet{Set: regionsSet, Entries: len(regions)}
	for _, r := range regions {
		if kind := (labor.Area{RegionType: r.RegionType}); !slices.Contains(set.Areas, kind) {
			set.Areas = append(set.Areas, kind)
		}
	}
	return s.importData(ctx, from, set, map[string]any{wholeSet: regions}, nil)
}

// ImportWages takes the place of the wages of the file's areas; those of other
// areas stay. progress is called with how many areas are written.
func (s *Store) ImportWages(ctx context.Context, from Origin, file *labor.WageFile, progress labor.Progress) error {
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

// importData writes a generation and switches to it. Until the switch its
// partition is trash, so that an import that broke off leaves nothing for long.
func (s *Store) importData(ctx context.Context, from Origin, set DataSet, parts map[string]any, progress labor.Progress) error {
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
		row, err := packRow(dataKey(set.Set, set.Generation, part), parts[part])
		if err != nil {
			return err
		}
		if _, err := s.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Table, Item: row}); err != nil {
			return unavailable(err)
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
	return s.query(ctx, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("pk = :pk"), ExpressionAttributeValues: item{":pk": text(pk)},
		ProjectionExpression: aws.String("pk, sk"), ConsistentRead: aws.Bool(true),
	}, func(row item) (bool, error) {
		_, err := s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.Table, Key: row})
		return true, unavailable(err)
	})
}

// Builtin is the reference data that there is without any import.
type Builtin interface {
	labor.Source
	Regions(ctx context.Context, regionType labor.RegionType) ([]labor.Region, error)
}

// Market looks up the imported reference data, and with what is built in
// where a data set was never imported. It is safe for concurrent use.
type Market struct {
	Store   *Store
	Builtin Builtin

	mu    sync.Mutex
	state *market
	wages map[key]map[string]labor.Wage // of areas that were asked for, by generation
}

// market is the reference data at one moment, wages excepted.
type market struct {
	row         *dataRow
	readAt      catalog.Time
	crosswalk   *labor.Crosswalk // nil where it was never imported
	projections map[string]labor.Projection
	regions     map[labor.Area]labor.Region
	vintage     labor.Vintage // of what is imported
}

// maxWageAreas bounds how many areas' wages a Market remembers: a few megabytes.
const maxWageAreas = 12

// current returns the reference data, which is at most DataSeenWithin old unless the
// table cannot be reached.
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
	next := last
	if last == nil || last.row.version != row.version {
		if next, err = m.read(ctx, row); err != nil {
			return nil, err
		}
	}
	fresh := *next
	fresh.readAt = now
	m.mu.Lock()
	m.state = &fresh
	m.mu.Unlock()
	return &fresh, nil
}

// read reads what counts, wages excepted, in one trip.
func (m *Market) read(ctx context.Context, row *dataRow) (*market, error) {
	next := &market{row: row, regions: map[labor.Area]labor.Region{}}
	var keys []key
	for _, set := range row.Sets {
		part := wholeSet
		if set.Set == wagesSet {
			part = wageRegions
		}
		keys = append(keys, dataKey(set.Set, set.Generation, part))
	}
	packed, err := m.Store.packedRows(ctx, keys)
	if err != nil {
		return nil, err
	}
	for _, set := range row.Sets {
		switch whole := packed[dataKey(set.Set, set.Generation, wholeSet)]; set.Set {
		case crosswalkSet:
			err = json.Unmarshal(whole, &next.crosswalk)
			next.vintage.Crosswalk = set.Vintage
		case projectionsSet:
			var list []labor.Projection
			err = json.Unmarshal(whole, &list)
			next.projections = map[string]labor.Projection{}
			for _, p := range list {
				next.projections[p.SOCCode] = p
			}
			next.vintage.Projections = set.Vintage
		case wagesSet:
			err = next.addRegions(packed[dataKey(set.Set, set.Generation, wageRegions)])
			if slices.Contains(set.Areas, labor.Nation) {
				next.vintage.Wages = set.Vintage
			}
		}
		if err != nil {
			return nil, fmt.Errorf("reference data %s of generation %s: %w", set.Set, set.Generation, err)
		}
	}
	// Titles of the region lists count more than the built-in ones, and these more
	// than the survey's.
	builtin, err := m.Builtin.Regions(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, r := range builtin {
		next.regions[r.Area] = r
	}
	for _, set := range row.Sets {
		if set.Set == regionsSet {
			if err := next.addRegions(packed[dataKey(set.Set, set.Generation, wholeSet)]); err != nil {
				return nil, fmt.Errorf("regions of generation %s: %w", set.Generation, err)
			}
		}
	}
	return next, nil
}

func (m *market) addRegions(packed []byte) error {
	var regions []labor.Region
	if err := json.Unmarshal(packed, &regions); err != nil {
		return err
	}
	for _, r := range regions {
		m.regions[r.Area] = r
	}
	return nil
}

// packedRows reads rows that hold packed values.
func (s *Store) packedRows(ctx context.Context, keys []key) (map[key][]byte, error) {
	found := make(map[key][]byte, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	rows, err := s.rows(ctx, slices.Clone(keys), false)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		var k struct {
			PK string `json:"pk"`
			SK string `json:"sk"`
		}
		if err := decode(row, &k); err != nil {
			return nil, err
		}
		if found[key{k.PK, k.SK}], err = unpackRow(row); err != nil {
			return nil, err
		}
	}
	if len(found) < len(keys) {
		return nil, catalog.Errorf(catalog.Unavailable, "Reference data is being replaced at the moment.")
	}
	return found, nil
}

// Scope implements labor.Source.
func (m *Market) Scope(ctx context.Context, area labor.Area, cips []string) (labor.Scope, error) {
	now, err := m.current(ctx)
	if err != nil {
		return labor.Scope{}, err
	}
	scope, err := m.Builtin.Scope(ctx, area, cips)
	if err != nil {
		return labor.Scope{}, err
	}
	scope.Region = nil
	if r, ok := now.regions[area]; ok {
		scope.Region = &r
	}
	if now.crosswalk != nil {
		scope.CIPs = map[string]labor.CIP{}
		for _, code := range cips {
			if cip, ok := now.crosswalk.CIPs[code]; ok {
				scope.CIPs[code] = cip
			}
		}
	}
	scope.Vintage = labor.Vintage{
		Wages:       cmp.Or(now.vintage.Wages, scope.Vintage.Wages),
		Projections: cmp.Or(now.vintage.Projections, scope.Vintage.Projections),
		Crosswalk:   cmp.Or(now.vintage.Crosswalk, scope.Vintage.Crosswalk),
	}
	return scope, nil
}

// Facts implements labor.Source.
func (m *Market) Facts(ctx context.Context, areas []labor.Area, socs []string) (labor.Facts, error) {
	now, err := m.current(ctx)
	if err != nil {
		return labor.Facts{}, err
	}
	facts, err := m.Builtin.Facts(ctx, areas, socs)
	if err != nil {
		return labor.Facts{}, err
	}
	if now.crosswalk != nil {
		facts.Names = map[string]string{}
	}
	if now.projections != nil {
		facts.Projections = map[string]labor.Projection{}
	}
	wages, err := m.wagesOf(ctx, now, areas)
	if err != nil {
		return labor.Facts{}, err
	}
	for area := range wages {
		facts.Wages[area] = map[string]labor.Wage{}
	}
	for _, soc := range socs {
		if now.crosswalk != nil && now.crosswalk.Names[soc] != "" {
			facts.Names[soc] = now.crosswalk.Names[soc]
		}
		if p, ok := now.projections[soc]; ok {
			facts.Projections[soc] = p
		}
		for area, bySOC := range wages {
			if w, ok := bySOC[soc]; ok {
				facts.Wages[area][soc] = w
			}
		}
	}
	return facts, nil
}

// wagesOf returns the imported wages of areas, by area; areas without any are left
// out. What it has not read before it reads in one trip.
func (m *Market) wagesOf(ctx context.Context, now *market, areas []labor.Area) (map[labor.Area]map[string]labor.Wage, error) {
	at := map[labor.Area]key{}
	for _, set := range now.row.Sets { // the latest last
		for _, area := range areas {
			if set.Set == wagesSet && slices.Contains(set.Areas, area) {
				at[area] = dataKey(wagesSet, set.Generation, areaPart(area))
			}
		}
	}
	known := map[labor.Area]map[string]labor.Wage{}
	var missing []key
	m.mu.Lock()
	for area, k := range at {
		if wages, ok := m.wages[k]; ok {
			known[area] = wages
		} else {
			missing = append(missing, k)
		}
	}
	m.mu.Unlock()
	if len(missing) == 0 {
		return known, nil
	}
	packed, err := m.Store.packedRows(ctx, missing)
	if err != nil {
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
		var list []labor.Wage
		if err := json.Unmarshal(packed[k], &list); err != nil {
			return nil, fmt.Errorf("wages of %s: %w", areaPart(area), err)
		}
		bySOC := make(map[string]labor.Wage, len(list))
		for _, w := range list {
			bySOC[w.SOCCode] = w
		}
		known[area], m.wages[k] = bySOC, bySOC
	}
	return known, nil
}

// Regions lists the regions of a type, all for the empty one.
func (m *Market) Regions(ctx context.Context, regionType labor.RegionType) ([]labor.Region, error) {
	now, err := m.current(ctx)
	if err != nil {
		return nil, err
	}
	regions := []labor.Region{}
	for _, r := range now.regions {
		if regionType == "" || r.RegionType == regionType {
			regions = append(regions, r)
		}
	}
	labor.SortRegions(regions)
	return regions, nil
}
