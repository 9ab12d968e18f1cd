package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"strings"

	"skillscurriculum/pkg/catalog"
)

// articulationSizes are the numbers of articulations for which look-ups and filtered lists are measured.
var articulationSizes = []int{1000, 100_000}

const (
	lookupCodes = 50
	// articulationsPerTransaction leaves room for four more rows each: code, and facets of code and institution.
	articulationsPerTransaction = 18
)

// articulations measures look-ups and filtered pages.
func articulations(ctx context.Context, s *service, sizes []int) ([]*table, error) {
	looking := newTable("Articulations: look-up of 50 codes, all granted",
		"articulations", "trips", "target", "write units", "read units", "target", "")
	paging := pagingTable("Articulations: filtered pages of 100", "articulations")
	least := 0.0
	for _, size := range sizes {
		l, err := withArticulations(ctx, s, size)
		if err != nil {
			return nil, fmt.Errorf("%d articulations: %w", size, err)
		}
		cost, err := l.lookup(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d articulations: %w", size, err)
		}
		if least == 0 {
			least = cost.read
		}
		looking.row(cost.trips > maxTrips || cost.read > least, "",
			grouped(size), cost.trips, target(maxTrips), cost.write, cost.read, fmt.Sprintf("<= %v", least))
		for _, filter := range []string{"status=APPROVED", "status=APPROVED&published=true&asOf=" + asOf} {
			response, err := l.do(ctx, call(http.MethodGet, "/articulations?limit=1&"+filter, ""))
			if err != nil {
				return nil, err
			}
			total := int(response["pagination"].(map[string]any)["total"].(float64))
			if total < size/4 {
				return nil, fmt.Errorf("%s selects %d of %d articulations", filter, total, size)
			}
			if err := l.pages(ctx, paging, grouped(size)+", "+filter, "/articulations?"+filter, total); err != nil {
				return nil, fmt.Errorf("%d articulations: %w", size, err)
			}
		}
	}
	return []*table{looking, paging}, nil
}

const asOf = "2026-11-22"

// withArticulations returns a new organization with articulations. Look-ups ask for the first ones; the others belong
// to a thousand institutions, a fifth of them drafts, a tenth ended.
func withArticulations(ctx context.Context, s *service, size int) (client, error) {
	c, err := s.client(ctx)
	if err != nil {
		return client{}, err
	}
	dir, err := s.store.Directory(ctx, c.org, catalog.ArticulationKind)
	if err != nil {
		return client{}, err
	}
	log.Printf("creating %s articulations", grouped(size))
	return c, c.fill(ctx, size, articulationsPerTransaction, func(change *catalog.Change, i int) {
		a := nth(i)
		change.Add(a, ids, dir, now)
		if a.Status == catalog.ArticulationApproved {
			change.AddEntries(a, approvedRows(a))
		}
	})
}

// approvedRows returns the rows of an approved articulation whose codes are unique.
func approvedRows(a *catalog.Articulation) (rows []*catalog.Approved) {
	for _, key := range a.ExactKeys() {
		rows = append(rows, &catalog.Approved{Key: key})
	}
	return rows
}

// nth returns the i-th articulation.
func nth(i int) *catalog.Articulation {
	a := &catalog.Articulation{
		SendingInstitution: catalog.Institution{Name: "First College"},
		Sending:            []catalog.Alternative{{Courses: []catalog.SendingCourse{{Code: fmt.Sprint("CODE ", i)}}}},
		Receiving:          []catalog.Grant{{Label: new("Elective")}}, Decision: catalog.Elective,
		Status:        catalog.ArticulationApproved,
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

func (c client) lookup(ctx context.Context) (price, error) {
	var codes []string
	for i := range lookupCodes {
		codes = append(codes, fmt.Sprint("CODE ", i))
	}
	query := url.Values{"institution": {"first-college"}, "codes": {strings.Join(codes, ",")}}
	get := call(http.MethodGet, "/articulations/lookup?"+query.Encode(), "")
	response, err := c.do(ctx, get) // caches the caller
	if err != nil {
		return price{}, err
	}
	if data := response["data"].([]any); len(data) != lookupCodes {
		return price{}, fmt.Errorf("%d codes are granted", len(data))
	}
	return c.measure(ctx, get)
}

// articulation returns the body of an articulation of one course.
func articulation(code, courseID, from string) map[string]any {
	return map[string]any{
		"sendingInstitution": map[string]any{"name": "Institution", "codeType": "IPEDS", "code": "123456"},
		"sending":            []any{map[string]any{"courses": []any{map[string]any{"code": code}}}},
		"receiving":          []any{map[string]any{"courseId": courseID}}, "decision": "EQUIVALENT", "effectiveFrom": from,
	}
}

// move returns the request that moves an articulation to a status.
func move(id, status string) request {
	body := map[string]any{"status": status, "decidedBy": map[string]any{"name": "Registrar"}}
	return postOf("/articulations/"+id+"/status", body)
}

// reviewed creates an articulation and moves it to IN_REVIEW.
func (w *world) reviewed(body map[string]any) string {
	id := w.create("/articulations", body)
	w.send(move(id, "IN_REVIEW"))
	return id
}

// compared measures the approval of an articulation with evidence: an extracted transfer course is compared with an
// extracted section of the granted course.
func (w *world) compared() measurement {
	course := w.create("/courses", newCourse)
	section := w.create("/courses/"+course+"/sections", map[string]any{"name": "Section", "syllabusHref": href})
	transfer, _ := w.transferCourse()
	own := catalog.ExtractionJob{OrganizationID: w.org, Kind: catalog.SectionKind, ID: section}
	for _, job := range []catalog.ExtractionJob{own, transfer} {
		if w.err == nil {
			_, w.err = w.extraction(job)(context.Background())
		}
	}
	body := articulation(ids.New("C"), course, "2026-08-01")
	sending := map[string]any{"code": ids.New("C"), "transferCourseId": transfer.ID}
	body["sending"] = []any{map[string]any{"courses": []any{sending}}}
	return w.approval(body)
}

// approval measures the approval of an articulation that supersedes an approved one a year later.
func (w *world) approval(body map[string]any) measurement {
	old := w.reviewed(body)
	w.send(move(old, "APPROVED"))
	body = with(with(body, "effectiveFrom", "2027-08-01"), "supersedes", old)
	return w.run(move(w.reviewed(body), "APPROVED"))
}
