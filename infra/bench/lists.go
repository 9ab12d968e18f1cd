package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"slices"

	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

const (
	// maxSpread bounds the cost of a page at one offset relative to another.
	maxSpread = 1.5
	// maxListWrite is the write units for creating or deleting a listed record with a directory of at most 1 KB. Each
	// further KB costs perKilobyte more.
	maxListWrite = 10
	perKilobyte  = 2
	// maxTrips is the round trips of a page, whether or not the directory is cached.
	maxTrips = 2
)

const longDirectory = "The directory packs well as long as few records were deleted: 2 units for each KB beyond " +
	"the first (docs/scale.md)."

// listSizes are the numbers of records for which lists are measured.
var listSizes = []int{100, 10_000, 100_000}

// lists measures pages, creation and deletion at each size, before and after deleting a random tenth of the records,
// and a look-up.
func lists(ctx context.Context, s *service, sizes []int) ([]*table, error) {
	paging := pagingTable("Lists: 100 records at offset 0, middle and end, 1 KB records", "records")
	writing := newTable("Lists: one record created, one deleted",
		"records", "trips, create", "delete", "target", "write units, create", "delete", "target",
		"cold page, trips", "target", "")
	finding := newTable("Lists: one record found by its externalId",
		"records", "trips", "target", "read units", "target", "")
	for _, size := range sizes {
		l, err := newList(ctx, s, size)
		if err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		name := grouped(size)
		if err := l.find(ctx, finding, name); err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		for i, name := range []string{name, name + " - 10 %"} {
			if i == 1 {
				err = l.thin(ctx)
			}
			if err == nil {
				err = l.pages(ctx, paging, name, "/jobs?", len(l.jobs))
			}
			if err == nil {
				err = l.writes(ctx, writing, name)
			}
			if err != nil {
				return nil, fmt.Errorf("%s records: %w", name, err)
			}
		}
	}
	return []*table{paging, writing, finding}, nil
}

// grouped formats 100000 as 100,000.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// directoryKeys is the size of a directory's row without its counts, in bytes.
const directoryKeys = 120

// list is an organization with many jobs.
type list struct {
	client
	dir  *catalog.Directory
	jobs []*catalog.Job
}

// jobsPerTransaction leaves room for as many rows of external ids.
const jobsPerTransaction = 48

func newList(ctx context.Context, s *service, size int) (*list, error) {
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	l := &list{client: c}
	if l.dir, err = s.store.Directory(ctx, c.org, catalog.JobKind); err != nil {
		return nil, err
	}
	log.Printf("creating %s jobs", grouped(size))
	description := filler(700)
	return l, l.fill(ctx, size, jobsPerTransaction, func(change *catalog.Change, i int) {
		job := &catalog.Job{
			Meta:     catalog.NewMeta(ids.Sequenced(catalog.JobKind, l.dir.Take()), c.org, now()),
			External: catalog.External{ExternalID: new(externalID(i))},
			Name:     fmt.Sprint("Job ", i), EmployerID: "employer", Description: &description,
			Skills: []catalog.SkillRef{}, Locations: []catalog.JobLocation{},
		}
		change.Create(job, l.dir)
		l.jobs = append(l.jobs, job)
	})
}

// fill commits size additions in transactions of perTransaction each; add adds the i-th one to a Change.
func (c client) fill(ctx context.Context, size, perTransaction int, add func(change *catalog.Change, i int)) error {
	for from := 0; from < size; from += perTransaction {
		var change catalog.Change
		for i := from; i < min(from+perTransaction, size); i++ {
			add(&change, i)
		}
		if err := c.store.Commit(ctx, c.org, &change); err != nil {
			return err
		}
	}
	return nil
}

// externalID returns the externalId of the i-th job.
func externalID(i int) string { return fmt.Sprintf("SIS-%07d", i) }

// find measures the look-up of the last record by its externalId, and of an unknown externalId.
func (l *list) find(ctx context.Context, finding *table, name string) error {
	for _, c := range []struct {
		name, externalID string
		found            int
	}{{name, externalID(len(l.jobs) - 1), 1}, {name + ", unknown", "unknown", 0}} {
		get := call(http.MethodGet, "/jobs?externalId="+c.externalID, "")
		response, err := l.do(ctx, get) // caches the caller
		if err != nil {
			return err
		}
		if data := response["data"].([]any); len(data) != c.found {
			return fmt.Errorf("externalId %s: %d records", c.externalID, len(data))
		}
		cost, err := l.client.measure(ctx, get)
		if err != nil {
			return err
		}
		finding.row(cost.exceeds(findRecord), "", c.name,
			cost.trips, target(findRecord.trips), cost.read, target(findRecord.read))
	}
	return nil
}

// thin deletes a tenth of the records at random, with a fixed seed.
func (l *list) thin(ctx context.Context) error {
	var err error
	if l.dir, err = l.store.Directory(ctx, l.org, catalog.JobKind); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(2026, 11))
	random.Shuffle(len(l.jobs), func(i, j int) { l.jobs[i], l.jobs[j] = l.jobs[j], l.jobs[i] })
	doomed := l.jobs[:len(l.jobs)/10]
	l.jobs = l.jobs[len(doomed):]
	return l.fill(ctx, len(doomed), jobsPerTransaction, func(change *catalog.Change, i int) {
		change.Delete(doomed[i], now(), l.dir)
	})
}

// pagingTable returns a table of pages.
func pagingTable(title, what string) *table {
	return newTable(title, what, "units at 0", "middle", "end", "trips at 0", "middle", "end",
		"highest / lowest", "target", "")
}

// pages measures the first, a middle and the last page of 100 of the records that a query selects.
func (c client) pages(ctx context.Context, t *table, name, query string, total int) error {
	var reads, trips []float64
	row := []any{name}
	last := max(0, total-pageSize)
	for _, offset := range []int{0, last / 2, last} {
		get := call(http.MethodGet, fmt.Sprintf("%s&limit=%d&offset=%d", query, pageSize, offset), "")
		response, err := c.do(ctx, get) // caches the directory
		if err != nil {
			return err
		}
		data, pagination := response["data"].([]any), response["pagination"].(map[string]any)
		if len(data) != min(pageSize, total-offset) || pagination["total"] != float64(total) {
			return fmt.Errorf("%s, offset %d: %d records, pagination %v", query, offset, len(data), pagination)
		}
		cost, err := c.measure(ctx, get)
		if err != nil {
			return err
		}
		reads, trips = append(reads, cost.read), append(trips, cost.trips)
		row = append(row, cost.read)
	}
	spread := slices.Max(reads) / slices.Min(reads)
	broken := spread > maxSpread || slices.Min(trips) < slices.Max(trips) || trips[0] > maxTrips
	row = append(row, trips[0], trips[1], trips[2], fmt.Sprintf("%.2f", spread), target(maxSpread))
	t.row(broken, "", row...)
	return nil
}

// writes measures the creation and deletion of one record, and a page read without a cached directory.
func (l *list) writes(ctx context.Context, writing *table, name string) error {
	var create, remove price
	for range 2 { // the first one warms up
		id, err := "", error(nil)
		calls := l.counter.during(func() { id, err = l.create(ctx, "/jobs", newJob) })
		if err != nil {
			return err
		}
		create = costOf(calls)
		if remove, err = l.client.measure(ctx, call(http.MethodDelete, "/jobs/"+id, "")); err != nil {
			return err
		}
	}
	var err error
	cold := &dynamo.Store{Client: l.store.Client, Table: l.store.Table, Now: now}
	calls := l.counter.during(func() { _, _, err = cold.Page(ctx, l.org, catalog.JobKind, len(l.jobs)/2, pageSize) })
	if err != nil {
		return err
	}
	first := costOf(calls)
	dir, err := l.store.Directory(ctx, l.org, catalog.JobKind)
	if err != nil {
		return err
	}
	held, why := float64(maxListWrite), ""
	if size := len(dir.Pack()) + directoryKeys; size > 1024 {
		held, why = held+perKilobyte*float64((size-1)/1024), longDirectory
	}
	broken := max(create.trips, remove.trips) > 2 || max(create.write, remove.write) > held || first.trips > maxTrips
	writing.row(broken, why, name, create.trips, remove.trips, "<= 2",
		create.write, remove.write, bound(maxListWrite, held), first.trips, target(maxTrips))
	return nil
}
