package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"skillscurriculum/infra/bench/budget"
	"skillscurriculum/pkg/catalog"
)

// articulationSizes are the articulations of an organization for which look-ups and
// filtered lists are measured.
var articulationSizes = []int{1000, 100_000}

const (
	lookupCodes = 50
	// maxFiltered is the trips of a filtered page, and of a look-up.
	maxFiltered = 2
	// articulationsAtOnce is how many are created in one transaction: each with a row for
	// itself, its code, and the facets of its code and its institution.
	articulationsAtOnce = 18
)

// shelf is an organization with many articulations.
type shelf struct {
	client
	size int
}

// articulations measures look-ups and filtered pages, next to what a filter expression
// costs.
func articulations(ctx context.Context, s *service, sizes []int) ([]*table, error) {
	looking := newTable("Articulations: look-up of 50 codes, all of which are granted", "articulations", "trips", "target", "write units", "read units", "target", "")
	paging := newTable("Articulations: 100 of those that filters select",
		"articulations", "way", "units at 0", "middle", "end", "trips at 0", "middle", "end", "dearest / cheapest", "target", "")
	least := 0.0
	for _, size := range sizes {
		l, err := newShelf(ctx, s, size)
		if err != nil {
			return nil, fmt.Errorf("%d articulations: %w", size, err)
		}
		cost, err := l.lookup(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d articulations: %w", size, err)
		}
		if least == 0 {
			least = cost.Read
		}
		looking.row(looking.judge(cost.Trips > maxFiltered || cost.Read > least, ""), grouped(size), cost.Trips, target(maxFiltered), cost.Write, cost.Read, fmt.Sprintf("<= %v", least))
		for _, way := range []string{"status=APPROVED", "status=APPROVED&published=true&asOf=" + asOf} {
			if err := l.pages(ctx, paging, way); err != nil {
				return nil, fmt.Errorf("%d articulations: %w", size, err)
			}
		}
		all, err := l.filter(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d articulations: %w", size, err)
		}
		paging.pages("", grouped(size), "filter and count", pages{all, all, all}, "")
	}
	return []*table{looking, paging}, nil
}

const asOf = "2026-11-22"

// newShelf creates articulations as approvals leave them. The first ones are those that
// look-ups ask for; the others are of a thousand institutions, a fifth of them drafts, a
// tenth ended.
func newShelf(ctx context.Context, s *service, size int) (*shelf, error) {
	c, err := s.client(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := s.store.Directory(ctx, c.org, catalog.ArticulationKind)
	if err != nil {
		return nil, err
	}
	bar := progress(size, "create "+grouped(size)+" articulations")
	for made := 0; made < size; {
		var change catalog.Change
		for range min(articulationsAtOnce, size-made) {
			change.Add(nth(made), ids, dir, c.org, now())
			a := change.Created[len(change.Created)-1].(*catalog.Articulation)
			if a.Status == catalog.ArticulationApproved {
				change.Enter(a, under(a))
			}
			made++
		}
		if err := s.store.Commit(ctx, c.org, &change); err != nil {
			return nil, err
		}
		_ = bar.Add(len(change.Created))
	}
	return &shelf{c, size}, bar.Finish()
}

// under are the rows of an articulation whose codes no other one has.
func under(a *catalog.Articulation) (rows []*catalog.Approved) {
	for _, key := range a.ExactKeys() {
		rows = append(rows, &catalog.Approved{Key: key})
	}
	return rows
}

func nth(i int) *catalog.Articulation {
	a := &catalog.Articulation{
		SendingInstitution: catalog.Institution{Name: "First College"},
		Sending:            []catalog.Alternative{{Courses: []catalog.SendingCourse{{Code: fmt.Sprint("CODE ", i)}}}},
		Receiving:          []catalog.Grant{{Label: new("Elective")}}, Decision: catalog.Elective, Status: catalog.ArticulationApproved,
		EffectiveFrom: "2025-08-01", ProgramIDs: []string{}, PublicNote: new(filler(300)), Published: i%2 == 0,
	}
	if i >= lookupCodes {
		a.SendingInstitution.Name = fmt.Sprint("College ", i%1000)
		switch i % 10 {
		case 0, 1:
			a.Status = catalog.ArticulationDraft
		case 2:
			a.EffectiveTo = new(fmt.Sprintf("2026-%02d-28", 1+i%7))
		}
	}
	return a
}

func (l *shelf) lookup(ctx context.Context) (budget.Cost, error) {
	var codes []string
	for i := range lookupCodes {
		codes = append(codes, fmt.Sprint("CODE ", i))
	}
	get := call(http.MethodGet, "/articulations/lookup?institution=first-college&codes="+url.QueryEscape(strings.Join(codes, ",")), "")
	response, err := l.do(ctx, get) // makes the caller known
	if err != nil {
		return budget.Cost{}, err
	}
	if data := response["data"].([]any); len(data) != lookupCodes {
		return budget.Cost{}, fmt.Errorf("%d codes are granted", len(data))
	}
	cost, _, err := l.measure(ctx, get)
	return cost, err
}

// pages measures the first, a middle and the last page of what a filter selects.
func (l *shelf) pages(ctx context.Context, t *table, filter string) error {
	response, err := l.do(ctx, call(http.MethodGet, "/articulations?limit=1&"+filter, ""))
	if err != nil {
		return err
	}
	total := int(response["pagination"].(map[string]any)["total"].(float64))
	if total < l.size/4 {
		return fmt.Errorf("%s selects %d", filter, total)
	}
	var p pages
	last := max(0, total-budget.Page)
	for i, offset := range []int{0, last / 2, last} {
		get := call(http.MethodGet, fmt.Sprintf("/articulations?limit=%d&offset=%d&%s", budget.Page, offset, filter), "")
		if p[i], _, err = l.measure(ctx, get); err != nil {
			return err
		}
	}
	broken := p.spread(reads) > maxSpread || p[0].Trips > maxFiltered || p.spread(trips) > 1
	t.pages(t.judge(broken, ""), grouped(l.size), filter, p, fmt.Sprintf("<= %v", maxSpread))
	return nil
}

// filter measures what a page with its total costs that reads all and lets DynamoDB
// filter.
func (l *shelf) filter(ctx context.Context) (cost budget.Cost, err error) {
	in := &dynamodb.QueryInput{
		TableName: &tableName, KeyConditionExpression: aws.String("pk = :pk"), FilterExpression: aws.String("#status = :status"), Select: types.SelectCount,
		ExpressionAttributeNames: map[string]string{"#status": "status"}, Limit: aws.Int32(inQuery),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk":     &types.AttributeValueMemberS{Value: "o#" + string(l.org) + "#" + string(catalog.ArticulationKind)},
			":status": &types.AttributeValueMemberS{Value: "APPROVED"},
		},
	}
	calls := l.counter.during(func() {
		for {
			var out *dynamodb.QueryOutput
			if out, err = l.store.Client.Query(ctx, in); err != nil || out.LastEvaluatedKey == nil {
				return
			}
			in.ExclusiveStartKey = out.LastEvaluatedKey
		}
	})
	cost, _ = costOf(calls)
	return cost, err
}

// articulation is the body of an articulation of one course.
func articulation(code, courseID, from string) map[string]any {
	return map[string]any{
		"sendingInstitution": map[string]any{"name": "Institution", "codeType": "IPEDS", "code": "123456"},
		"sending":            []any{map[string]any{"courses": []any{map[string]any{"code": code}}}},
		"receiving":          []any{map[string]any{"courseId": courseID}}, "decision": "EQUIVALENT", "effectiveFrom": from,
	}
}

// moved moves an articulation.
func moved(id, status string) request {
	body, _ := json.Marshal(map[string]any{"status": status, "decidedBy": map[string]any{"name": "Registrar"}})
	return call(http.MethodPost, "/articulations/"+id+"/status", string(body))
}

// reviewed creates an articulation that is IN_REVIEW.
func (c client) reviewed(ctx context.Context, body map[string]any) (string, error) {
	id, err := c.create(ctx, "/articulations", body)
	if err == nil {
		_, err = c.do(ctx, moved(id, "IN_REVIEW"))
	}
	return id, err
}

// successor creates an approved articulation and one that supersedes it, which is
// IN_REVIEW, and measures the approval of that one.
func (w *world) successor() (measurement, error) {
	ctx := context.Background()
	course, err := w.create(ctx, "/courses", newCourse)
	if err != nil {
		return nil, err
	}
	return w.approval(ctx, articulation(ids.New("C"), course, "2026-08-01"))
}

// compared does the same for articulations that name a transfer course, which is
// compared with a section of the course that they grant; both were extracted.
func (w *world) compared() (measurement, error) {
	ctx := context.Background()
	course, err := w.create(ctx, "/courses", newCourse)
	if err != nil {
		return nil, err
	}
	section, err := w.create(ctx, "/courses/"+course+"/sections", map[string]any{"name": "Section", "syllabusHref": href})
	if err != nil {
		return nil, err
	}
	pack, err := w.create(ctx, "/transfer-packages", newPackage)
	if err != nil {
		return nil, err
	}
	transfer, err := w.createCourse(ctx, pack)
	if err != nil {
		return nil, err
	}
	for _, job := range []catalog.ExtractionJob{
		{OrganizationID: w.org, Kind: catalog.SectionKind, ID: section},
		{OrganizationID: w.org, Kind: catalog.TransferCourseKind, ID: transfer, PackageID: pack},
	} {
		run, err := w.extraction(job)
		if err == nil {
			_, _, err = run(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	body := articulation(ids.New("C"), course, "2026-08-01")
	sent := body["sending"].([]any)[0].(map[string]any)["courses"].([]any)[0].(map[string]any)
	sent["transferCourseId"] = transfer
	return w.approval(ctx, body)
}

// approval creates an approved articulation and one of a year later that supersedes it,
// and measures the approval of that one.
func (w *world) approval(ctx context.Context, body map[string]any) (measurement, error) {
	old, err := w.reviewed(ctx, body)
	if err != nil {
		return nil, err
	}
	if _, err := w.do(ctx, moved(old, "APPROVED")); err != nil {
		return nil, err
	}
	id, err := w.reviewed(ctx, with(with(body, "effectiveFrom", "2027-08-01"), "supersedes", old))
	if err != nil {
		return nil, err
	}
	return w.run(moved(id, "APPROVED"))
}
