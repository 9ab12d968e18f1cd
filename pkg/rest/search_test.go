package rest_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"skillscurriculum/pkg/search"
)

// ids returns the ids of a page.
func (r reply) ids() (ids []string) {
	r.t.Helper()
	for i := range r.get("data").([]any) {
		ids = append(ids, r.text(fmt.Sprintf("data.%d.id", i)))
	}
	return ids
}

func searchFor(list, query string) string { return list + "?query=" + url.QueryEscape(query) }

// Every list is searched by words of code and name, best matches first, with limit, offset and an exact total, in the
// caller's organization alone.
func TestSearchLists(t *testing.T) {
	t.Parallel()
	s := newService(t)
	for _, k := range []struct{ list, body string }{
		{"/courses", `{"name":%q,"code":%q}`},
		{"/programs", `{"name":%q,"code":%q}`},
		{"/credentials", `{"name":%q,"code":%q}`},
		{"/transfer-packages", `{"name":%q,"uniqueTag":%q,"transferFromInstitution":"I"}`},
	} {
		id := map[string]string{}
		create := func(letter, name, code string) {
			id[letter] = s.one.must(201, "POST", k.list, fmt.Sprintf(k.body, name, code)).text("id")
		}
		create("a", "Web Design", "X 1")
		create("b", "computing", "CS-101")
		create("c", "Advanced Computing", "CS 1010")
		create("d", "CS 101 for all", "Y 1")
		create("e", "Música: CS", "Z.101")
		s.two.must(201, "POST", k.list, fmt.Sprintf(k.body, "computing", "CS-101"))
		for query, want := range map[string]string{
			"cs101": "b c", "CS 101": "b c d e", "comp": "b c", "musica": "e", "des we": "a", "cs": "c b d e", "x1": "a", "none": "",
		} {
			var wanted []string
			for letter := range strings.FieldsSeq(want) {
				wanted = append(wanted, id[letter])
			}
			r := s.reader.must(200, "GET", searchFor(k.list, query), "")
			r.want("pagination.total", len(wanted))
			if got := r.ids(); !slices.Equal(got, wanted) {
				t.Errorf("%s %q finds %v, want %v", k.list, query, got, wanted)
			}
			for offset := range wanted {
				r := s.one.must(200, "GET", fmt.Sprintf("%s&limit=1&offset=%d", searchFor(k.list, query), offset), "")
				r.want("data.0.id", wanted[offset])
				r.want("pagination.total", len(wanted))
			}
		}
		for _, bad := range []string{"", " ", strings.Repeat("é", 101)} {
			s.one.must(400, "GET", searchFor(k.list, bad), "").want("code", "invalid_parameter")
		}
		s.one.must(200, "GET", searchFor(k.list, strings.Repeat("é", 100)), "").want("data", []any{})
	}
	job := s.one.job("Analyst, data")
	s.one.must(200, "GET", searchFor("/jobs", "data AN"), "").want("data.0.id", job.text("id"))
	for _, other := range []string{"/sections?externalId=x&query=x", "/reports?query=x", "/articulations?query=x"} {
		s.one.must(400, "GET", other, "")
	}
	next := s.one.must(200, "GET", searchFor("/courses", "cs 101")+"&limit=1", "").header("Link")
	if !strings.Contains(next, "offset=1&query=cs+101>; rel=\"next\"") {
		t.Errorf("Link %s", next)
	}
}

// With other filters, all must hold.
func TestSearchWithFilters(t *testing.T) {
	t.Parallel()
	s := newService(t)
	first := s.one.must(201, "POST", "/courses", `{"name":"Logic","code":"CS 1","externalId":"E1"}`).text("id")
	second := s.one.must(201, "POST", "/courses", `{"name":"Algebra logic","code":"CS01","externalId":"E2"}`).text("id")
	s.one.must(201, "POST", "/courses", `{"name":"Logic","code":"CS 2"}`)
	for filter, want := range map[string][]string{
		"query=logic&code=cs-1": {first, second}, "query=alg&code=cs-1": {second}, "query=cs&code=cs1&externalId=E1": {first},
		"query=alg&externalId=E2": {second}, "query=alg&externalId=E1": nil, "code=cs2&externalId=E1": nil, "query=cs&code=-": nil,
	} {
		r := s.one.must(200, "GET", "/courses?"+filter, "")
		r.want("pagination.total", len(want))
		if got := r.ids(); !slices.Equal(got, want) {
			t.Errorf("%s finds %v, want %v", filter, got, want)
		}
	}
}

// What is created, renamed and deleted is found, or not, within 10 s; what a page shows is never other than its record.
func TestSearchIsFresh(t *testing.T) {
	t.Parallel()
	s := newService(t)
	random := rand.New(rand.NewPCG(10, 23))
	names := map[string]string{}
	create := func(name string) {
		names[s.one.must(201, "POST", "/programs", fmt.Sprintf(`{"name":%q}`, name)).text("id")] = name
	}
	words := []string{"alpha", "beta", "gamma", "delta"}
	name := func() string { return words[random.IntN(4)] + " " + words[random.IntN(4)] }
	for range 10 {
		create(name())
	}
	s.one.must(200, "GET", "/programs?query=alpha", "")
	for round := range 12 {
		for range random.IntN(4) {
			ids := make([]string, 0, len(names))
			for id := range names {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			id := ids[random.IntN(len(ids))]
			switch random.IntN(3) {
			case 0:
				create(name())
			case 1:
				names[id] = name()
				s.one.must(200, "PATCH", "/programs/"+id, fmt.Sprintf(`{"name":%q}`, names[id]))
			default:
				s.one.must(204, "DELETE", "/programs/"+id, "")
				delete(names, id)
			}
		}
		// At once, every record matches, although the total may be that of the last 10 s.
		for _, id := range s.one.must(200, "GET", "/programs?limit=100&query=beta", "").ids() {
			if !strings.Contains(names[id], "beta") {
				t.Errorf("round %d: %q is found by beta", round, names[id])
			}
		}
		s.clock.Add(9_900)
		var entries []search.Entry
		for id, name := range names {
			entries = append(entries, search.NewEntry(id, "", name))
		}
		search.Sort(entries)
		for _, word := range words {
			var want []string
			for _, e := range search.Parse(word).Find(entries) {
				want = append(want, e.ID)
			}
			r := s.one.must(200, "GET", "/programs?limit=100&query="+word, "")
			r.want("pagination.total", len(want))
			if got := r.ids(); !slices.Equal(got, want) {
				t.Fatalf("round %d: %s finds %v, want %v", round, word, got, want)
			}
		}
	}
}

// Replicas that lag behind do not show what was changed before.
func TestSearchReadsLaggingReplicas(t *testing.T) {
	t.Parallel()
	s := newService(t)
	w := s.tap()
	w.through(lagging)
	first := s.one.course("First")
	s.one.must(200, "GET", "/courses?query=f", "").want("data.0.id", first.text("id"))
	second := s.one.course("Fast")
	s.clock.Add(9_000)
	s.one.must(200, "GET", "/courses?query=f", "").want("data.0.id", second.text("id"))
}

func TestSearchOccupationsAndPrograms(t *testing.T) {
	t.Parallel()
	s := newService(t)
	r := s.reader.must(200, "GET", "/labor-market/occupations?query=software+dev", "")
	r.want("data.0", map[string]any{"socCode": "15-1252", "name": "Software Developers"})
	r.want("pagination.total", 1)
	if cost := r.header("X-RateLimit-Cost"); cost != "1" {
		t.Errorf("it costs %s", cost)
	}
	s.one.must(200, "GET", "/labor-market/occupations?query=151252", "").want("data.0.name", "Software Developers")
	s.one.must(200, "GET", "/labor-market/occupations?query=15-12", "").want("data.0.socCode", "15-1221")
	r = s.one.must(200, "GET", "/labor-market/cip-codes?query=11.0701", "")
	r.want("data.0.title", "Computer Science.")
	r.want("data.0.cipCode", "11.0701")
	if socs := r.get("data.0.socCodes").([]any); !slices.Contains(socs, any("15-1252")) {
		t.Errorf("11.0701 leads to %v", socs)
	}
	for _, list := range []string{"/labor-market/occupations", "/labor-market/cip-codes"} {
		all := s.one.must(200, "GET", list+"?limit=2", "")
		if total := all.number("pagination.total"); total < 250 {
			t.Errorf("%s lists %d", list, total)
		}
		last := s.one.must(200, "GET", fmt.Sprintf("%s?limit=2&offset=%d", list, all.number("pagination.total")-1), "")
		last.want("data.1", absent{})
		if len(last.get("data").([]any)) != 1 {
			t.Errorf("the last page of %s is %s", list, last.Body)
		}
		s.one.must(200, "GET", list+"?query=zzzz", "").want("data", []any{})
		s.one.must(400, "GET", list+"?query=", "")
	}
}
