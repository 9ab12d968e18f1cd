package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/schollz/progressbar/v3"

	"skillscurriculum/infra/bench/budget"
	"skillscurriculum/pkg/catalog"
	"skillscurriculum/pkg/dynamo"
)

const (
	// maxSpread is how much more the dearest of the offsets may cost than the cheapest.
	maxSpread = 1.5
	// maxListWrite is what creating or deleting a listed record may cost where the
	// directory takes one kilobyte; each further one costs perKilobyte more.
	maxListWrite = 10
	perKilobyte  = 2
	// maxCold is the trips of a page whose directory nobody has read yet.
	maxCold = 2
)

const longDirectory = "The directory packs well as long as few records were deleted. At random places, a tenth of 100,000 makes it 3 KB: 2 units for each KB beyond the first. Larger counts would be shorter, and a page would read more rows than 1.5 times its own (docs/scale.md)."

// listSizes are the records of an organization for which lists are measured.
var listSizes = []int{100, 10_000, 100_000}

// pages are the figures of one way to page, at the first, a middle and the last page.
type pages [3]budget.Cost

func (p pages) spread(of func(budget.Cost) float64) float64 {
	all := []float64{of(p[0]), of(p[1]), of(p[2])}
	return slices.Max(all) / slices.Min(all)
}

func reads(c budget.Cost) float64 { return c.Read }
func trips(c budget.Cost) float64 { return c.Trips }

// lists measures pages, creation and deletion at each size, before and after a
// tenth of the records was deleted at random, next to the ways that people use. It
// draws the largest size in the file chart, "" for none.
func lists(ctx context.Context, s *service, sizes []int, chart string) ([]*table, error) {
	paging := newTable("Lists: 100 records at offset 0, middle and end, 1 KB records",
		"records", "way", "units at 0", "middle", "end", "trips at 0", "middle", "end", "dearest / cheapest", "target", "")
	writing := newTable("Lists: one record created, one deleted",
		"records", "trips, create", "delete", "target", "write units, create", "delete", "target", "cold page, trips", "target", "")
	finding := newTable("Lists: one record found by its externalId", "records", "trips", "target", "read units", "target", "")
	var lines []listLine
	for _, size := range sizes {
		l, err := newList(ctx, s, size)
		if err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		name := grouped(size)
		if err := l.find(ctx, finding, name); err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		ours, err := l.measure(ctx, paging, writing, name)
		if err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		all, skip, err := l.naive(ctx, paging, name)
		if err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		lines = []listLine{{"count and filter", l.offsets(), all}, {"counter and skip", l.offsets(), skip}, {"directory (ours)", l.offsets(), ours}}
		if err := l.thin(ctx); err != nil {
			return nil, fmt.Errorf("%d records: %w", size, err)
		}
		if _, err := l.measure(ctx, paging, writing, name+" - 10 %"); err != nil {
			return nil, fmt.Errorf("%d records less a tenth: %w", size, err)
		}
	}
	if chart != "" {
		return []*table{paging, writing, finding}, listChart(chart, lines)
	}
	return []*table{paging, writing, finding}, nil
}

// grouped writes 100000 as 100,000.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}

// directoryKeys is what a directory's row holds besides its counts, in bytes.
const directoryKeys = 120

// list is an organization with many jobs.
type list struct {
	client
	dir  *catalog.Directory
	jobs []*catalog.Job
}

// inTransaction is how many records are created with one change of the directory.
const inTransaction = 48 // and as many external ids

func newList(ctx context.Context, s *service, size int) (*list, error) {
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	l := &list{client: c}
	if l.dir, err = s.store.Directory(ctx, c.org, catalog.JobKind); err != nil {
		return nil, err
	}
	bar := progress(size, "create "+grouped(size)+" jobs")
	description := filler(700)
	for len(l.jobs) < size {
		var change catalog.Change
		for range min(inTransaction, size-len(l.jobs)) {
			job := &catalog.Job{
				Meta:     catalog.NewMeta(ids.Sequenced(catalog.JobKind, l.dir.Take()), c.org, now()),
				External: catalog.External{ExternalID: new(externalID(len(l.jobs)))},
				Name:     fmt.Sprint("Job ", len(l.jobs)), EmployerID: "employer", Description: &description, Skills: []catalog.SkillRef{}, Locations: []catalog.JobLocation{},
			}
			change.Create(job, l.dir)
			l.jobs = append(l.jobs, job)
		}
		if err := s.store.Commit(ctx, c.org, &change); err != nil {
			return nil, err
		}
		_ = bar.Add(len(change.Created))
	}
	return l, bar.Finish()
}

// externalID is the name of the i-th job in another system.
func externalID(i int) string { return fmt.Sprintf("SIS-%07d", i) }

// find measures the look-up of the last record by its externalId, and of none.
func (l *list) find(ctx context.Context, finding *table, name string) error {
	most := budget.FindRecord
	for _, way := range []struct {
		of, externalID string
		found          int
	}{{name, externalID(len(l.jobs) - 1), 1}, {name + ", unknown", "nobody", 0}} {
		get := call(http.MethodGet, "/jobs?externalId="+way.externalID, "")
		response, err := l.do(ctx, get) // makes the caller known
		if err != nil {
			return err
		}
		if data := response["data"].([]any); len(data) != way.found {
			return fmt.Errorf("externalId %s: %d records", way.externalID, len(data))
		}
		cost, _, err := l.client.measure(ctx, get)
		if err != nil {
			return err
		}
		finding.row(finding.judge(cost.Trips > most.Trips || cost.Read > most.Read, ""), way.of, cost.Trips, target(most.Trips), cost.Read, target(most.Read))
	}
	return nil
}

// progress shows people how far a long piece of work is.
func progress(size int, what string) *progressbar.ProgressBar {
	terminal := false
	if info, err := os.Stderr.Stat(); err == nil {
		terminal = info.Mode()&os.ModeCharDevice != 0
	}
	return progressbar.NewOptions(size, progressbar.OptionSetWriter(os.Stderr), progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetPredictTime(true), progressbar.OptionThrottle(200*time.Millisecond), progressbar.OptionSetVisibility(terminal),
		progressbar.OptionClearOnFinish())
}

// thin deletes a tenth of the records, drawn at random from a fixed seed.
func (l *list) thin(ctx context.Context) error {
	var err error
	if l.dir, err = l.store.Directory(ctx, l.org, catalog.JobKind); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(2026, 11))
	random.Shuffle(len(l.jobs), func(i, j int) { l.jobs[i], l.jobs[j] = l.jobs[j], l.jobs[i] })
	doomed := l.jobs[:len(l.jobs)/10]
	l.jobs = l.jobs[len(doomed):]
	bar := progress(len(doomed), "delete "+grouped(len(doomed))+" of them")
	for jobs := range slices.Chunk(doomed, inTransaction) {
		var change catalog.Change
		for _, job := range jobs {
			change.Delete(job, now(), l.dir)
		}
		if err := l.store.Commit(ctx, l.org, &change); err != nil {
			return err
		}
		_ = bar.Add(len(jobs))
	}
	return bar.Finish()
}

// offsets of the first, a middle and the last full page.
func (l *list) offsets() [3]int {
	last := max(0, len(l.jobs)-budget.Page)
	return [3]int{0, last / 2, last}
}

func (l *list) measure(ctx context.Context, paging, writing *table, name string) (p pages, err error) {
	for i, offset := range l.offsets() {
		get := call(http.MethodGet, fmt.Sprintf("/jobs?limit=%d&offset=%d", budget.Page, offset), "")
		response, err := l.do(ctx, get) // makes the directory known
		if err != nil {
			return p, err
		}
		if data := response["data"].([]any); len(data) != min(budget.Page, len(l.jobs)-offset) || response["pagination"].(map[string]any)["total"] != float64(len(l.jobs)) {
			return p, fmt.Errorf("offset %d: %d records, pagination %v", offset, len(data), response["pagination"])
		}
		if p[i], _, err = l.client.measure(ctx, get); err != nil {
			return p, err
		}
	}
	broken := p.spread(reads) > maxSpread || p.spread(trips) > maxSpread || p[0].Trips > maxCold
	paging.pages(paging.judge(broken, ""), name, "directory (ours)", p, fmt.Sprintf("<= %v", maxSpread))
	return p, l.writes(ctx, writing, name)
}

// pages adds a row of figures.
func (t *table) pages(verdict, name, way string, p pages, target string) {
	t.row(verdict, name, way, p[0].Read, p[1].Read, p[2].Read, p[0].Trips, p[1].Trips, p[2].Trips, fmt.Sprintf("%.2f", p.spread(reads)), target)
}

// writes measures the creation and the deletion of one record, and a page that is
// read by somebody who does not know the directory.
func (l *list) writes(ctx context.Context, writing *table, name string) error {
	var create, remove budget.Cost
	for range 2 { // the first warms
		id, err := "", error(nil)
		calls := l.counter.during(func() { id, err = l.create(ctx, "/jobs", newJob) })
		if err != nil {
			return err
		}
		create, _ = costOf(calls)
		if remove, _, err = l.client.measure(ctx, call(http.MethodDelete, "/jobs/"+id, "")); err != nil {
			return err
		}
	}
	var err error
	cold := &dynamo.Store{Client: l.store.Client, Table: l.store.Table, Now: now}
	calls := l.counter.during(func() { _, _, err = cold.Jobs(ctx, l.org, l.offsets()[1], budget.Page) })
	if err != nil {
		return err
	}
	first, _ := costOf(calls)
	dir, err := l.store.Directory(ctx, l.org, catalog.JobKind)
	if err != nil {
		return err
	}
	held, why := float64(maxListWrite), ""
	if size := len(dir.Pack()) + directoryKeys; size > 1024 {
		held, why = held+perKilobyte*float64((size-1)/1024), longDirectory
	}
	broken := max(create.Trips, remove.Trips) > 2 || max(create.Write, remove.Write) > held || first.Trips > maxCold
	writing.row(writing.judge(broken, why), name, create.Trips, remove.Trips, "<= 2", create.Write, remove.Write, bound(maxListWrite, held), first.Trips, target(maxCold))
	return nil
}

// inQuery is how many rows of 1 KB one Query reads: DynamoDB stops at 1 MB.
const inQuery = 1024

// naive measures what lists cost without a directory: counting everything for
// each page, and a counter with a skip of the records before the page.
func (l *list) naive(ctx context.Context, paging *table, name string) (everything, skip pages, err error) {
	query := func(most int) (cost budget.Cost, err error) {
		in := &dynamodb.QueryInput{
			TableName: &tableName, KeyConditionExpression: aws.String("pk = :pk"), Select: types.SelectCount,
			ExpressionAttributeValues: map[string]types.AttributeValue{":pk": &types.AttributeValueMemberS{Value: "o#" + string(l.org) + "#" + string(catalog.JobKind)}},
		}
		calls := l.counter.during(func() {
			for most > 0 {
				in.Limit = aws.Int32(int32(min(most, inQuery)))
				var out *dynamodb.QueryOutput
				if out, err = l.store.Client.Query(ctx, in); err != nil || out.LastEvaluatedKey == nil {
					return
				}
				most -= int(out.Count)
				in.ExclusiveStartKey = out.LastEvaluatedKey
			}
		})
		cost, _ = costOf(calls)
		return cost, err
	}
	all, err := query(len(l.jobs) + 1)
	if err != nil {
		return everything, skip, err
	}
	everything = pages{all, all, all}
	paging.pages("", name, "count and filter", everything, "")
	for i, offset := range l.offsets() {
		if skip[i], err = query(offset + budget.Page); err != nil {
			return everything, skip, err
		}
		skip[i].Read += 0.5 // the counter, read in parallel
	}
	paging.pages("", name, "counter and skip", skip, "")
	return everything, skip, nil
}
