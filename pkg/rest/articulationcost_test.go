package rest_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"skillscurriculum/pkg/catalog"
)

// largeArticulations are approved articulations of one code, each with long texts and much
// evidence. The first one begins last; each fifth has two issues, the others one.
func (s *service) largeArticulations(n int) (all []*catalog.Articulation) {
	s.t.Helper()
	matches := make([]catalog.SkillMatch, 100)
	for i := range matches {
		matches[i] = catalog.SkillMatch{SkillID: strings.Repeat("s", 36), MatchType: "EXACT", TransferLevel: 3, InstitutionalLevel: 3, MatchScore: 1}
	}
	today := catalog.DateOf(s.clock.Now())
	for len(all) < n {
		dir, err := s.store.Directory(s.t.Context(), s.one.customer.OrganizationID, catalog.ArticulationKind)
		if err != nil {
			s.t.Fatal(err)
		}
		var change catalog.Change
		var under []*catalog.Approved
		for range min(5, n-len(all)) {
			a := &catalog.Articulation{
				SendingInstitution: catalog.Institution{Name: "Hill College"}, Status: catalog.ArticulationApproved, Decision: catalog.Elective,
				Receiving: []catalog.Grant{{Label: new("Elective")}}, ProgramIDs: []string{}, EffectiveTo: &today,
				EffectiveFrom: fmt.Sprintf("20%02d-01-01", 25-min(len(all), 1)), PublicNote: new(strings.Repeat("n", 10_000)), PrivateNote: new(strings.Repeat("n", 10_000)),
				Evidence: &catalog.DecisionEvidence{SkillMatches: matches},
				Sending:  []catalog.Alternative{{Courses: []catalog.SendingCourse{{Code: "BIG 1"}}}},
			}
			for i := range 90 {
				if i%10 == 0 {
					a.Sending = append(a.Sending, catalog.Alternative{})
				}
				courses := &a.Sending[len(a.Sending)-1].Courses
				*courses = append(*courses, catalog.SendingCourse{Code: fmt.Sprintf("CODE %d", i%9), Title: new(strings.Repeat("t", 255))})
			}
			if len(all)%5 == 0 {
				a.ReviewAfter = new("2020-01-01")
			}
			change.Add(a, ids, dir, s.clock.Now)
			if under == nil {
				if under, err = s.store.Approved(s.t.Context(), a.OrganizationID, a.ExactKeys()[:1]); err != nil {
					s.t.Fatal(err)
				}
			}
			change.AddEntries(a, under)
			all = append(all, a)
		}
		if err := s.store.Commit(s.t.Context(), s.one.customer.OrganizationID, &change); err != nil {
			s.t.Fatal(err)
		}
	}
	return all
}

// heap measures how much memory is in use, at most, while a call's reads come back.
func (s *service) heap(w *wire, do func()) (most int) {
	live := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := live()
	var mu sync.Mutex
	w.through(func(c call) (any, error) {
		out, err := c.next()
		if _, ok := c.input.(*sdk.BatchGetItemInput); ok {
			mu.Lock()
			defer mu.Unlock()
			most = max(most, live()-before)
		}
		return out, err
	})
	do()
	w.through(nil)
	return most
}

// TestManyLargeArticulations: a look-up and the pages of issues cost what they read, and
// have a part of it in memory. It does not run beside other tests, whose memory it would
// measure.
func TestManyLargeArticulations(t *testing.T) {
	s := newService(t, limited(100_000))
	w := s.tap()
	all := s.largeArticulations(250)
	const bound = 24 << 20 // a page of 100 as it is read

	used := s.used(s.one)
	if most := s.heap(w, func() {
		r := s.one.lookup("Hill College", "BIG 1")
		r.want("data.0.articulationId", all[0].ID)
		r.want("data.0.publicNote", *all[0].PublicNote)
		if r.cost() != 6 || s.used(s.one)-used != 6 {
			t.Errorf("a look-up of 250 costs %d, takes %d", r.cost(), s.used(s.one)-used)
		}
	}); most > bound || most < 1<<20 {
		t.Errorf("a look-up holds %d KB", most>>10)
	}
	if r := s.one.lookup("Hill College", "BIG 1", "include", "trace"); r.cost() != 6 {
		t.Errorf("with a trace it costs %d", r.cost())
	}
	if r := s.one.lookup("Hill College", "NONE 1"); r.cost() != 1 {
		t.Errorf("a look-up of nothing costs %d", r.cost())
	}

	var want, got []catalog.ArticulationIssue
	for _, a := range all {
		want = append(want, a.Issues(catalog.GrantedNow{}, catalog.DateOf(s.clock.Now()))...)
	}
	if len(want) != 300 {
		t.Fatalf("%d issues", len(want))
	}
	most := s.heap(w, func() {
		for offset := 0; offset < len(want); offset += 70 {
			r := s.one.must(200, "GET", fmt.Sprintf("/articulations/health?limit=70&offset=%d", offset), "")
			r.want("pagination.total", len(want))
			var page struct{ Data []catalog.ArticulationIssue }
			if err := json.Unmarshal(r.Body, &page); err != nil || r.cost() != 2 {
				t.Errorf("a page of issues costs %d, %v", r.cost(), err)
			}
			got = append(got, page.Data...)
		}
	})
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("issues\n%v\nwant\n%v", got, want)
	}
	if most > bound {
		t.Errorf("health holds %d KB", most>>10)
	}
	if r := s.one.must(200, "GET", "/articulations/health?offset=300", ""); r.cost() != 1 || r.get("pagination.total") == nil {
		t.Errorf("an empty page costs %d", r.cost())
	}
}

// TestLookupThatDoesNotFit is charged nothing.
func TestLookupThatDoesNotFit(t *testing.T) {
	t.Parallel()
	s := newService(t, limited(9))
	s.one.approved(elective("A 1")) // 6 units
	s.one.must(200, "GET", "/articulations?limit=1", "")
	s.one.must(200, "GET", "/articulations?limit=1", "")
	if r := s.one.must(429, "GET", "/articulations/lookup?institution=Hill+College&codes=A1", ""); r.cost() != 0 || s.used(s.one) != 8 {
		t.Errorf("it costs %d, used are %d", r.cost(), s.used(s.one))
	}
	if r := s.one.lookup("Hill College", "B 1"); r.cost() != 1 {
		t.Errorf("what fits costs %d", r.cost())
	}
}
